"""What an hour of a design costs, and what one token, step or request then does; every price is an input of the reader.

Nothing is converted: sums are made for each currency alone, and what has no price is stated and never guessed.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from designer.design.document import Design
from designer.engine.results import WorkloadResult
from designer.report.inventory import inventory
from designer.report.settings import Chosen, Cost, Settings
from designer.report.tables.cost import priced, totals
from designer.report.tables.power import draws, total
from designer.sources import Estimate

#: hours of a year
_YEAR: Final = 8766.0
_HOUR: Final = 3600.0
_KILO: Final = 1e3
#: what a workload makes: its metric, how many are priced together, and what they are called
MADE: Final = (
    ("tokens_per_second", 1e6, "a million tokens"),
    ("samples_per_second", 1e6, "a million samples"),
    ("requests_per_second", 1e6, "a million requests"),
)
#: what a workload takes as a whole
TAKES: Final = (("step_time", "a training step"), ("time_to_train", "the whole training"), ("epoch_time", "an epoch"))


@dataclass(frozen=True, slots=True)
class Hourly:
    """What an hour costs in one currency, and what of it is for what; ``assumed`` names inputs that were not given."""

    currency: str
    value: float
    low: float
    high: float
    pieces: Mapping[str, float]
    assumed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """What one thing costs: what it is called, the cost with its band, and which metric it rests on."""

    name: str
    cost: Estimate
    metric: str


def owned(capital: float, years: float, busy: float) -> float:
    """What an hour in use costs of what was bought, written off evenly."""
    return capital / (years * _YEAR) / busy


def energy(watts: float, pue: float, price: float) -> float:
    """What an hour of drawing so much [W] costs at a price of one kWh."""
    return watts / _KILO * pue * price


def rent(design: Design, inputs: Cost) -> float:
    """What the accelerators and servers of a design are rented for an hour; 0 without a rent."""
    stock = inventory(design)
    servers = sum(unit.count for unit in stock.classes if unit.part.kind == "server")
    return (inputs.rent or 0.0) * stock.accelerators + (inputs.server_rent or 0.0) * servers


def hourly(
    design: Design, settings: Settings, result: WorkloadResult | None, today: datetime.date | None = None
) -> tuple[Hourly, ...]:
    """What an hour costs while a workload runs, by currency; nothing without an input."""
    chosen, found = settings.chosen, dict[str, dict[str, tuple[float, float, float]]]()
    inputs, assumed = chosen.cost, list[str]()
    rented = rent(design, inputs)
    if rented:
        _add_line(found, inputs.currency, "rent", rented)
    elif settings.prices is not None and inputs.years is not None:
        for currency, capital in totals(priced(design, settings.prices, today)).items():
            _add_line(found, currency, "hardware", owned(capital, inputs.years, inputs.busy or 1.0))
        if inputs.busy is None:
            assumed.append("in use all the time")
    load = total(draws(design, result))[1]
    tariff, pays = chosen.energy, not rented or not inputs.energy_in_rent
    if tariff.price is not None and load is not None and pays:
        pue = tariff.pue or 1.0
        ends = (energy(watts, pue, tariff.price) for watts in (load.value, load.low, load.high))
        found.setdefault(tariff.currency, {})["energy"] = (next(ends), next(ends), next(ends))
        if tariff.pue is None:
            assumed.append("PUE 1")
    return tuple(_sum(currency, pieces, tuple(assumed)) for currency, pieces in found.items())


def _sum(currency: str, pieces: Mapping[str, tuple[float, float, float]], assumed: tuple[str, ...]) -> Hourly:
    value, low, high = (sum(piece[k] for piece in pieces.values()) for k in range(3))
    return Hourly(currency, value, low, high, {name: piece[0] for name, piece in pieces.items()}, assumed)


def _add_line(found: dict[str, dict[str, tuple[float, float, float]]], currency: str, name: str, value: float) -> None:
    found.setdefault(currency, {})[name] = (value, value, value)


def units(result: WorkloadResult, cost: Hourly) -> tuple[Unit, ...]:
    """What each thing that a workload makes costs in one currency."""
    found: list[Unit] = []
    for metric, many, name in MADE:
        rate = result.metrics.get(metric)
        if rate is None or rate.value <= 0:
            continue
        value, low = (h / (r * _HOUR) * many for h, r in ((cost.value, rate.value), (cost.low, rate.high)))
        high = cost.high / (rate.low * _HOUR) * many if rate.low > 0 else float("inf")
        found.append(Unit(name, Estimate(value, low, high, cost.currency, ("asked",)), metric))
    for metric, name in TAKES:
        time = result.metrics.get(metric)
        if time is not None:
            ends = (h * t / _HOUR for h, t in ((cost.value, time.value), (cost.low, time.low), (cost.high, time.high)))
            found.append(Unit(name, Estimate(next(ends), next(ends), next(ends), cost.currency, ("asked",)), metric))
    return tuple(found)


def asked(chosen: Chosen) -> bool:
    """Whether anything was given from which a cost of running follows."""
    cost = chosen.cost
    return (
        cost.rent is not None
        or cost.server_rent is not None
        or cost.years is not None
        or chosen.energy.price is not None
    )
