"""Where units stand: racks as drawn, else a proposal within the height and power one rack has."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Final

from designer.design.document import Design
from designer.report.inventory import Inventory, UnitClass, group_name, inventory, unit_name
from designer.report.tables.power import rated_of
from designer.report.tables.table_sheet import Column, TableSheet, Value
from designer.sources import Constant, Status

#: a rack of the proposal: height, what it can feed, and units kept for patching and feeds
RACK_HEIGHT: Final = Constant(48, 42, 52, "assumed-racks", Status.ASSUMED, "1", "units of a rack in the proposal")
RACK_POWER: Final = Constant(
    40e3, 17e3, 60e3, "assumed-racks", Status.ASSUMED, "W", "what a rack of the proposal feeds"
)
KEPT: Final = 2
#: heights of units that do not state theirs, by kind
_HEIGHTS: Final = {"server": 2.0, "switch": 1.0, "storage": 4.0, "nvswitch": 1.0}
#: of a server that does not state its height, by the accelerators in it: so many at least, units
_BY_ACCELERATORS: Final = ((8, 8.0), (4, 4.0))
#: where a rack of the proposal stands, and what the rack itself weighs
FOOTPRINT: Final = Constant(0.72, 0.64, 0.96, "assumed-racks", Status.ASSUMED, "m²", "0.6 by 1.2 m of floor")
EMPTY: Final = Constant(150.0, 110.0, 200.0, "assumed-racks", Status.ASSUMED, "kg", "a rack without units")
GRAVITY: Final = 9.80665
#: racks in a row, distance from rack to rack and from row to row, cable up and down at each end [m]
PER_ROW: Final = 16
PITCH: Final = Constant(0.6, 0.6, 0.8, "assumed-racks", Status.ASSUMED, "m", "width of a rack")
AISLE: Final = Constant(2.4, 2.4, 3.0, "assumed-racks", Status.ASSUMED, "m", "row to row")
RISE: Final = Constant(2.0, 1.5, 2.5, "assumed-racks", Status.ASSUMED, "m", "from a port up to the tray")


@dataclass(frozen=True, slots=True)
class Placed:
    """A unit in a rack: part number, lowest unit it takes, height, name, rated power."""

    part: int
    at: float
    height: float
    name: str
    kind: str
    watts: float | None
    height_known: bool
    weight: float | None = None


@dataclass(slots=True)
class Rack:
    """A rack with what is in it, and what it feeds [W]."""

    name: str
    height: float
    power: float
    units: list[Placed] = field(default_factory=list[Placed])
    empty: float | None = None
    carries: float | None = None

    @property
    def used(self) -> float:
        """Units taken."""
        return sum(u.height for u in self.units)

    @property
    def watts(self) -> float:
        """Rated power of what is in it; units that do not state theirs count nothing [W]."""
        return sum(u.watts or 0.0 for u in self.units)

    @property
    def weight(self) -> float:
        """Weight of the rack and of what is in it; units that do not state theirs count nothing [kg]."""
        return (self.empty if self.empty is not None else EMPTY.value) + sum(u.weight or 0.0 for u in self.units)

    @property
    def unweighed(self) -> int:
        """Units that state no weight."""
        return sum(u.weight is None for u in self.units)

    @property
    def floor_load(self) -> float:
        """Pressure on the floor below the rack [kN/m²]."""
        return self.weight * GRAVITY / 1000 / FOOTPRINT.value


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Racks in their order along the rows, and the rack number of each unit."""

    racks: tuple[Rack, ...]
    of_unit: dict[int, int]
    drawn: bool

    def length(self, a: int, b: int) -> float:
        """Length of a cable between two units, up to the tray and down again [m]."""
        one, other = self.of_unit.get(a, -1), self.of_unit.get(b, -1)
        if one < 0 or other < 0:
            return math.nan
        if one == other:
            units = {u.part: u for u in self.racks[one].units}
            return 0.5 + abs(units[a].at - units[b].at) * 0.0445 if a in units and b in units else 1.0
        rows = abs(one // PER_ROW - other // PER_ROW)
        along = abs(one % PER_ROW - other % PER_ROW)
        return 2 * RISE.value + along * PITCH.value + rows * AISLE.value


def plan_of(design: Design, height: float | None = None, power: float | None = None) -> Plan:
    """The racks of a design."""
    stock = inventory(design)
    if len(stock.racks):
        return _as_placed(stock)
    return _proposed(stock, height or RACK_HEIGHT.value, power or RACK_POWER.value)


def _as_placed(stock: Inventory) -> Plan:
    racks: list[Rack] = []
    of_unit: dict[int, int] = {}
    tops: defaultdict[int, float] = defaultdict(float)
    number: dict[int, int] = {}
    for r in stock.racks.tolist():
        part = stock.net.part(r)
        number[r] = len(racks)
        racks.append(
            Rack(
                part.label,
                stock.number(part, "height") or RACK_HEIGHT.value,
                stock.number(part, "power_capacity") or 0.0,
                empty=stock.number(part, "weight"),
                carries=stock.number(part, "weight_capacity"),
            )
        )
    for unit in stock.classes:
        height = stock.number(unit.part, "height")
        for member in unit.members.tolist():
            r = int(stock.rack[member])
            if r < 0:
                continue
            high = height if height is not None else _assumed_height(unit)
            at = tops[r] + 1
            tops[r] += high
            of_unit[member] = number[r]
            racks[number[r]].units.append(
                Placed(
                    member,
                    at,
                    high,
                    unit_name(stock, member),
                    unit.part.kind,
                    rated_of(stock, unit).value,
                    height is not None,
                    stock.number(unit.part, "weight"),
                )
            )
    loose = [u for u in stock.classes if any(int(m) not in of_unit for m in u.members)]
    if loose:
        rest = _proposed(stock, RACK_HEIGHT.value, RACK_POWER.value, skip=set(of_unit))
        of_unit |= {m: k + len(racks) for m, k in rest.of_unit.items()}
        racks += rest.racks
    return Plan(tuple(racks), of_unit, drawn=not loose)


def _assumed_height(unit: UnitClass) -> float:
    """Units of height where no source states them [U]."""
    if unit.part.kind == "server":
        return next((high for least, high in _BY_ACCELERATORS if unit.accelerators() >= least), _HEIGHTS["server"])
    return _HEIGHTS.get(unit.part.kind, 1.0)


def _proposed(stock: Inventory, height: float, power: float, skip: set[int] | None = None) -> Plan:
    """Servers rack by rack; switches and storage in the middle of the row, where cables are shortest."""
    skip = skip or set()
    busy = [u for u in stock.classes if u.part.kind == "server"]
    rest = [u for u in stock.classes if u.part.kind != "server"]
    servers = _filled(stock, busy, height, power, skip)
    others = _filled(stock, rest, height, power, skip)
    small = len(servers) == 1 and len(others) == 1 and servers[0].used + others[0].used <= height - KEPT
    if small and servers[0].watts + others[0].watts <= power:
        top = max((u.at + u.height for u in servers[0].units), default=1.0)
        servers[0].units += [replace(u, at=top + u.at - 1) for u in others[0].units]
        others = []
    middle = (len(servers) + 1) // 2
    racks = [*servers[:middle], *others, *servers[middle:]]
    for n, rack in enumerate(racks, start=1):
        rack.name = f"Rack {n}"
    of_unit = {u.part: n for n, rack in enumerate(racks) for u in rack.units}
    return Plan(tuple(racks), of_unit, drawn=False)


def _filled(stock: Inventory, classes: list[UnitClass], height: float, power: float, skip: set[int]) -> list[Rack]:
    racks: list[Rack] = []
    for unit in classes:
        known = stock.number(unit.part, "height")
        high = known if known is not None else _assumed_height(unit)
        watts = rated_of(stock, unit).value
        for member in unit.members.tolist():
            if member in skip:
                continue
            rack = racks[-1] if racks else None
            full = (
                rack is None or rack.used + high > height - KEPT or (rack.units and rack.watts + (watts or 0) > power)
            )
            if rack is None or full:
                rack = Rack("", height, power)
                racks.append(rack)
            rack.units.append(
                Placed(
                    member,
                    rack.used + 1,
                    high,
                    unit_name(stock, member),
                    unit.part.kind,
                    watts,
                    known is not None,
                    stock.number(unit.part, "weight"),
                )
            )
    return racks


def kinds_of_racks(plan: Plan, stock: Inventory) -> list[tuple[Rack, int]]:
    """One rack of each kind, with how many are alike."""
    found: dict[tuple[object, ...], tuple[Rack, int]] = {}
    for rack in plan.racks:
        key = tuple((u.kind, u.at, u.height, group_name(stock, u.part), u.watts) for u in rack.units)
        first, n = found.get(key, (rack, 0))
        found[key] = (first, n + 1)
    return list(found.values())


def sheet(design: Design) -> TableSheet:
    """Every unit with its rack."""
    plan = plan_of(design)
    rows: list[tuple[Value, ...]] = [
        (rack.name, u.at, u.height, u.name, u.kind, u.watts, u.weight, "" if u.height_known else "height assumed")
        for rack in plan.racks
        for u in rack.units
    ]
    columns = (
        Column("Rack"),
        Column("Lowest unit", "U"),
        Column("Height", "U"),
        Column("Unit"),
        Column("Kind"),
        Column("Rated", "W"),
        Column("Weight", "kg"),
        Column("Note"),
    )
    notes = () if plan.drawn else ("Positions are a proposal: no racks are drawn.",)
    return TableSheet("Racks", "Rack positions", columns, tuple(rows), notes)
