"""Power: rated, and under a workload by how busy its accelerators are; one row a kind of unit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from designer.analysis.results import Analysis, WorkloadResult
from designer.catalog.parttype import Capability, part_kinds
from designer.design.document import Design
from designer.formulas.power.server_power import (
    AROUND,
    FIT_ERROR,
    FLOOR,
    IDLE,
    MEMORY,
    RATED,
    accelerator_power,
    wall_power,
)
from designer.report.inventory import Inventory, UnitClass, group_name, inventory
from designer.report.tables.table_sheet import Column, TableSheet, Value
from designer.sources import Estimate, Status, weakest
from designer.units import Ratio, Watts

#: what of a server's rating its power supplies may exceed
_SOURCES: Final = ("ml-energy-fit", "wall-readings")


@dataclass(frozen=True, slots=True)
class Rated:
    """Rated power of one unit [W], None where neither it nor its parts state one; how sure; whether it is a sum."""

    value: float | None
    status: Status
    summed: bool = False


def rated_of(stock: Inventory, unit: UnitClass) -> Rated:
    """Rated power of a unit: as stated, else the sum of what its parts state, which is a lower end."""
    own = stock.number(unit.part, "power_max")
    if own is not None:
        return Rated(own, stock.status(unit.part, "power_max"))
    stated = [(c, stock.number(c.part, "power_per_part")) for c in unit.contents]
    known = [(c, w) for c, w in stated if w is not None]
    if not known:
        return Rated(None, Status.ASSUMED)
    around = AROUND.value * unit.accelerators()
    accelerators = sum(w * c.count for c, w in known if _accelerates(c.part.kind))
    rest = sum(w * c.count for c, w in known if not _accelerates(c.part.kind))
    status = weakest(*(stock.status(c.part, "power_per_part") for c, _ in known), Status.DERIVED)
    return Rated(accelerators + max(around, rest), status, summed=True)


def _accelerates(kind: str) -> bool:
    found = part_kinds().get(kind)
    return found is not None and Capability.ACCELERATE in found.capabilities


@dataclass(frozen=True, slots=True)
class Draw:
    """What a kind of unit draws.

    Parameters
    ----------
    rated
        Of one unit.
    load
        Of one under the workload [W]; None where nothing is known of it.
    """

    name: str
    model: str
    count: int
    rated: Rated
    load: Estimate | None
    how: str
    unit: UnitClass


def utilisation(result: WorkloadResult | None) -> tuple[float, float, float] | None:
    """Share of the peak rate of arithmetic in use while a workload runs, with its band; None where it is not told."""
    mfu = result.metrics.get("mfu") if result is not None else None
    return (mfu.value, mfu.low, mfu.high) if mfu is not None else None


def draws(design: Design, result: WorkloadResult | None) -> list[Draw]:
    """Every kind of unit with its power, servers first."""
    stock = inventory(design)
    return [_draw(stock, unit, result) for unit in stock.classes]


def _draw(stock: Inventory, unit: UnitClass, result: WorkloadResult | None) -> Draw:
    rated = rated_of(stock, unit)
    name = group_name(stock, int(unit.members[0]))
    busy = utilisation(result)
    load, how = None, ""
    limits = [(c.count, stock.number(c.part, "power_per_part")) for c in unit.contents if _accelerates(c.part.kind)]
    if limits and all(w is not None for _, w in limits) and busy is not None:
        load, how = _under(limits, busy, rated), "from arithmetic in use"
    elif not unit.accelerators() and rated.value is not None and not rated.summed:
        # switches and stores draw nearly the same busy or not; the rating is the upper end
        load = Estimate(rated.value * 0.8, rated.value * 0.5, rated.value, "W", ("wall-readings",))
        how = "share of the rating, assumed"
    return Draw(name, stock.title(unit.part), unit.count, rated, load, how, unit)


def _under(limits: list[tuple[int, float | None]], busy: tuple[float, float, float], rated: Rated) -> Estimate:
    """A server at work: its accelerators by the fit, and what is around them [W]."""
    total = {"value": 0.0, "low": 0.0, "high": 0.0}
    for count, limit in limits:
        watts = Watts(limit or 0.0)
        # how much of the memory bandwidth is used is not known here: half, and anything in the band
        value = accelerator_power(watts, Ratio(busy[0]), Ratio(0.5))
        low = accelerator_power(watts, Ratio(busy[1]), Ratio(0.0)) * (1 - FIT_ERROR.value)
        high = accelerator_power(watts, Ratio(busy[2]), Ratio(1.0)) * (1 + FIT_ERROR.value)
        total["value"] += wall_power(Watts(value * count), count)
        total["low"] += max(low, watts * IDLE.value) * count + AROUND.low * count
        total["high"] += min(high, watts) * count + AROUND.high * count
    most = rated.value if rated.value is not None and not rated.summed else math.inf
    value = min(total["value"], most)
    return Estimate(value, min(total["low"], value), max(value, min(total["high"], most)), "W", _SOURCES)


def total(found: list[Draw]) -> tuple[float, Estimate | None, list[str]]:
    """Rated power of all units together [W], what they draw under the workload, and what states no power."""
    rated = sum((d.rated.value or 0.0) * d.count for d in found)
    missing = [d.model for d in found if d.rated.value is None]
    known = [d for d in found if d.load is not None]
    if not known:
        return rated, None, missing
    value = sum(d.load.value * d.count for d in known if d.load)
    low = sum(d.load.low * d.count for d in known if d.load)
    high = sum(d.load.high * d.count for d in known if d.load)
    return rated, Estimate(value, low, high, "W", _SOURCES), missing


def busiest(analysis: Analysis) -> WorkloadResult | None:
    """The workload that keeps accelerators busiest, whose power a design must stand."""
    told = [w for w in analysis.workloads if utilisation(w) is not None]
    return max(told, key=lambda w: w.metrics["mfu"].value, default=None)


def sheet(design: Design, analysis: Analysis | None = None) -> TableSheet:
    """The table: rated, and under the busiest workload where there is an analysis."""
    result = busiest(analysis) if analysis is not None else None
    rows: list[tuple[Value, ...]] = []
    for d in draws(design, result):
        load = (d.load.value, d.load.low, d.load.high) if d.load else (None, None, None)
        rows.append((d.name, d.model, d.count, d.rated.value, str(d.rated.status), *load, d.how))
    columns = (
        Column("Units"),
        Column("Model"),
        Column("Count"),
        Column("Rated, one", "W"),
        Column("How sure"),
        Column("Under load, one", "W"),
        Column("Low", "W"),
        Column("High", "W"),
        Column("How"),
    )
    note = f"Under load: {result.title}." if result is not None else "No workload tells how busy accelerators are."
    return TableSheet("Power", "Power", columns, tuple(rows), (note,))


#: what the fits are, for the report: name, value, error
FITS: Final[Mapping[str, str]] = {
    "accelerator": (
        f"{FLOOR.value:.0f} + {MEMORY.value:.0f} u(memory) + 862 u(arithmetic) W at a limit of {RATED.value:.0f} W"
    ),
    "error": "median error 7.3 %",
    "around": f"{AROUND.value:.0f} W for each accelerator beside it",
}
