"""Power: rated, and under a workload by how busy its accelerators are; one row a kind of unit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from designer.catalog.parttype import Capability, part_kinds
from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.formulas.power.server_power import AROUND, FLOOR, MEMORY, RATED, power_at_work, wall_power
from designer.report.inventory import Content, Inventory, UnitClass, group_name, inventory
from designer.report.tables.table_sheet import Column, TableSheet, Value
from designer.sources import Estimate, Status, weakest
from designer.units import Ratio, Watts

#: what of a server's rating its power supplies may exceed
_SOURCES: Final = ("ml-energy-fit", "wall-readings")
#: the accelerator of the fit
_FITTED: Final = frozenset({"gpu/nvidia/h100-sxm5"})


@dataclass(frozen=True, slots=True)
class Rated:
    """Rated power of one unit [W], None where neither it nor its parts state one; how sure; whether it is a sum."""

    value: float | None
    status: Status
    summed: bool = False


def rated_of(stock: Inventory, unit: UnitClass) -> Rated:
    """Rated power of a unit: as stated, else the limits of its parts.

    What is around the accelerators counts with the most that was read: feeds are planned for a rating, and no load
    may exceed it.
    """
    own = stock.number(unit.part, "power_max")
    if own is not None:
        return Rated(own, stock.status(unit.part, "power_max"))
    stated = [(c, stock.number(c.part, "power_per_part")) for c in unit.contents]
    known = [(c, w) for c, w in stated if w is not None]
    if not known:
        return Rated(None, Status.ASSUMED)
    around = AROUND.high * unit.accelerators()
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
    """Share of the peak rate of arithmetic in use while a workload runs, with its band; None where it is not given."""
    mfu = result.metrics.get("mfu") if result is not None else None
    return (mfu.value, mfu.low, mfu.high) if mfu is not None else None


def draws(design: Design, result: WorkloadResult | None) -> list[Draw]:
    """Every kind of unit with its power, servers first."""
    stock = inventory(design)
    return [_draw(stock, unit, result) for unit in stock.classes]


def _draw(stock: Inventory, unit: UnitClass, result: WorkloadResult | None) -> Draw:
    rated = rated_of(stock, unit)
    name = group_name(stock, int(unit.members[0]))
    busy, given = utilisation(result), _stated_power(result)
    load, how = None, ""
    known = [_Accelerators(c, w) for c in unit.contents if _accelerates(c.part.kind) and (w := _limit(stock, c))]
    if known and sum(k.content.count for k in known) == unit.accelerators():
        load = _under(known, busy, given, rated)
        how = "power of the workload" if given else "from arithmetic in use" if busy else "at work, use not known"
    elif not stock.accelerators and given is not None and unit.inside("cpu"):
        # processors do the work: what is around them, and no source states, is in the upper end alone
        count = unit.inside("cpu")
        load = Estimate(given.value * count, given.low * count, given.high * count, "W", given.sources)
        if rated.value is not None:
            load = replace(load, high=max(load.high, rated.value))
        how = "power of the workload, processors alone"
    elif not unit.accelerators() and rated.value is not None and not rated.summed:
        typical = stock.number(unit.part, "power_typical")
        if typical is not None and typical <= rated.value:
            # optics in none or in all of the cages; which cables are plugged in is not known
            load = Estimate((typical + rated.value) / 2, typical, rated.value, "W", ("switch-power",))
            how = "typical to largest, by its cables"
        else:
            # switches and stores draw nearly the same busy or not; the rating is the upper end
            load = Estimate(rated.value * 0.8, rated.value * 0.5, rated.value, "W", ("wall-readings",))
            how = "share of the rating, assumed"
    return Draw(name, stock.title(unit.part), unit.count, rated, load, how, unit)


@dataclass(frozen=True, slots=True)
class _Accelerators:
    """Equal accelerators of a server, and what one may draw [W]."""

    content: Content
    limit: float


def _limit(stock: Inventory, content: Content) -> float | None:
    return stock.number(content.part, "power_per_part")


def _stated_power(result: WorkloadResult | None) -> Estimate | None:
    """What one accelerator draws, where the workload itself says [W]."""
    if result is None:
        return None
    power, count = result.metrics.get("power"), result.metrics.get("accelerators")
    if power is None or count is None or count.value < 1:
        return None
    return Estimate(power.value / count.value, power.low / count.value, power.high / count.value, "W", power.sources)


def _under(
    known: list[_Accelerators], busy: tuple[float, float, float] | None, given: Estimate | None, rated: Rated
) -> Estimate:
    """A server at work: its accelerators by the fit, and what is around them [W]."""
    shares = _ratios(busy)
    value = low = high = 0.0
    for one in known:
        count, limit = one.content.count, Watts(one.limit)
        if given is not None:
            ends = min(given.value, limit), given.low, min(given.high, limit)
        else:
            ends = power_at_work(limit, shares, one.content.part.type in _FITTED)
        value += wall_power(Watts(ends[0] * count), count)
        low += (ends[1] + AROUND.low) * count
        high += (ends[2] + AROUND.high) * count
    most = rated.value if rated.value is not None and not rated.summed else math.inf
    value = min(value, most)
    return Estimate(value, min(low, value), max(value, min(high, most)), "W", _SOURCES)


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


def busiest(design: Design, analysis: Analysis) -> WorkloadResult | None:
    """The workload under which the design draws most, whose power it must stand."""
    given = [w for w in analysis.workloads if utilisation(w) is not None or _stated_power(w) is not None]

    def watts(result: WorkloadResult) -> float:
        load = total(draws(design, result))[1]
        return load.value if load is not None else 0.0

    return max(given, key=watts, default=None)


def _ratios(busy: tuple[float, float, float] | None) -> tuple[Ratio, Ratio, Ratio] | None:
    return (Ratio(busy[0]), Ratio(busy[1]), Ratio(busy[2])) if busy is not None else None


def sheet(design: Design, analysis: Analysis | None = None) -> TableSheet:
    """The table: rated, and under the busiest workload where there is an analysis."""
    result = busiest(design, analysis) if analysis is not None else None
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
    unknown = "No workload says how busy accelerators are: anything from waiting to their limit."
    note = f"Under load: {result.title}." if result is not None else unknown
    return TableSheet("Power", "Power", columns, tuple(rows), (note,))


#: what the fits are, for the report: name, value, error
FITS: Final[Mapping[str, str]] = {
    "accelerator": (
        f"{FLOOR.value:.0f} + {MEMORY.value:.0f} u(memory) + 862 u(arithmetic) W at a limit of {RATED.value:.0f} W"
    ),
    "error": "median error 7.3 %, nine of ten within 15.8 %; other models wider",
    "around": f"{AROUND.value:.0f} W for each accelerator next to it",
}
