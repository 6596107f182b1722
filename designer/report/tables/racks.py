"""Where units stand: in racks as drawn or given, else as a proposal within the height and power one rack has."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Final

from designer.design.document import Design, RackPlace
from designer.design.ids import split_number
from designer.errors import DocumentError
from designer.fields import amount
from designer.report.inventory import Inventory, UnitClass, group_name, inventory, unit_name
from designer.report.tables.power import rated_of
from designer.report.tables.rack_layout import Fixture, Stretch, fixtures, read_layout
from designer.report.tables.table_sheet import Column, TableSheet, Value
from designer.sources import Constant, Status

#: a rack of the proposal: height, what it can feed, and units kept for patching and feeds
RACK_HEIGHT: Final = Constant(48, 42, 52, "assumed-racks", Status.ASSUMED, "1", "units of a rack in the proposal")
RACK_POWER: Final = Constant(
    40e3, 17e3, 60e3, "assumed-racks", Status.ASSUMED, "W", "what a rack of the proposal feeds"
)
KEPT: Final = 2
#: heights of units that do not state theirs, by kind; an NVSwitch by itself is one of two in a tray
_HEIGHTS: Final = {"server": 2.0, "switch": 1.0, "storage": 4.0, "nvswitch": 0.5}
#: of a server that does not state its height, by the accelerators in it: so many at least, units
_BY_ACCELERATORS: Final = ((8, 8.0), (4, 4.0))
#: position of a rack of the proposal, and what the rack itself weighs
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
    feed: str = ""

    @property
    def top(self) -> float:
        """The first rack unit above it."""
        return self.at + self.height


@dataclass(slots=True)
class Rack:
    """A rack with what is in it, and what it feeds while one of its feeds is lost [W].

    Parameters
    ----------
    empty, carries
        Its own weight, and that of what it may hold [kg].
    key
        Id of the design's elevation of it; empty for a proposal, or where the drawing states all.
    drawn
        Number of the part it is; −1 where it is not drawn.
    layout, fixed
        Which height units its type keeps for which kind of unit, and what is fixed in it.
    """

    name: str
    height: float
    power: float
    units: list[Placed] = field(default_factory=list[Placed])
    empty: float | None = None
    carries: float | None = None
    feeds: int = 2
    key: str = ""
    drawn: int = -1
    layout: tuple[Stretch, ...] = ()
    fixed: tuple[Fixture, ...] = ()

    @property
    def proposed(self) -> bool:
        """True if neither a drawing nor an elevation describes it."""
        return self.drawn < 0 and not self.key

    def lowest_free(self, height: float) -> float:
        """The lowest rack unit where so many are free, above all others where none are."""
        at = 1.0
        for unit in sorted((*self.units, *self.fixed), key=lambda u: u.at):
            if at + height <= unit.at:
                break
            at = max(at, unit.top)
        return at

    def next_of(self, kind: str, height: float) -> float | None:
        """The lowest free height unit that the layout keeps for a kind of unit; None where there is none."""
        for stretch in self.layout:
            if stretch.kind != kind:
                continue
            at = max((u.top for u in self.units if stretch.first <= u.at <= stretch.last), default=float(stretch.first))
            if at + height <= stretch.last + 1:
                return at
        return None

    @property
    def used(self) -> float:
        """Units taken."""
        return sum(u.height for u in self.units) + sum(f.height for f in self.fixed)

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


@dataclass(frozen=True, slots=True)
class Feed:
    """What one power feed of a rack carries: with all feeds there, at most with another one lost, and its limit [W]."""

    name: str
    all_there: float
    one_lost: float
    limit: float


def feeds_of(rack: Rack) -> tuple[Feed, ...]:
    """The feeds of a rack. Units on no feed of their own share all that are there; the others hang on theirs alone."""
    names = "ABCD"[: max(1, rack.feeds)]
    own = {name: sum(u.watts or 0.0 for u in rack.units if u.feed == name) for name in names}
    shared = rack.watts - sum(own.values())
    left = max(1, len(names) - 1)
    # the rack is fed whole while one feed is lost, so the others carry all of it
    limit = rack.power / left
    return tuple(Feed(n, shared / len(names) + own[n], shared / left + own[n], limit) for n in names)


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
    if len(stock.racks) or design.racks:
        return _as_placed(stock)
    return _proposed(stock, height or RACK_HEIGHT.value, power or RACK_POWER.value)


def _as_placed(stock: Inventory) -> Plan:
    racks, where = _standing(stock)
    of_drawn = {rack.drawn: n for n, rack in enumerate(racks) if rack.drawn >= 0}
    fixed = {n for n, _ in where.values()}
    tops: defaultdict[int, float] = defaultdict(float)
    of_unit: dict[int, int] = {}
    for stated in (True, False):
        for unit in stock.classes:
            height = stock.number(unit.part, "height")
            high = height if height is not None else _assumed_height(unit)
            watts, weight = rated_of(stock, unit).value, stock.number(unit.part, "weight")
            for member in unit.members.tolist():
                n, place = where.get(member, (of_drawn.get(int(stock.rack[member]), -1), None))
                if n < 0 or (place is not None) is not stated:
                    continue
                rack = racks[n]
                if place is not None:
                    at = float(place.unit)
                elif rack.layout:
                    at = rack.next_of(unit.part.kind, high) or rack.lowest_free(high)
                else:
                    at = rack.lowest_free(high) if n in fixed else tops[n] + 1
                tops[n] += high
                of_unit[member] = n
                name, feed = unit_name(stock, member), place.feed if place is not None else ""
                kind, known = unit.part.kind, height is not None
                rack.units.append(Placed(member, at, high, name, kind, watts, known, weight, feed))
    loose = [u for u in stock.classes if any(int(m) not in of_unit for m in u.members)]
    if loose:
        rest = _proposed(stock, RACK_HEIGHT.value, RACK_POWER.value, skip=set(of_unit), first=len(racks) + 1)
        of_unit |= {m: k + len(racks) for m, k in rest.of_unit.items()}
        racks += rest.racks
    return Plan(tuple(racks), of_unit, drawn=not loose)


def _standing(stock: Inventory) -> tuple[list[Rack], dict[int, tuple[int, RackPlace]]]:
    """The racks that are drawn, then those that only stand, in the order of their numbers; and the places given."""
    design, racks = stock.design, list[Rack]()
    for r in stock.racks.tolist():
        part = stock.net.part(r)
        named = unit_name(stock, r)
        laid = read_layout(stock.text(part, "layout"))
        racks.append(
            Rack(
                named,
                stock.number(part, "height") or RACK_HEIGHT.value,
                stock.number(part, "power_capacity") or 0.0,
                empty=stock.number(part, "weight"),
                carries=stock.number(part, "weight_capacity"),
                feeds=int(stock.number(part, "feeds") or 2),
                drawn=r,
                layout=laid,
                fixed=fixtures(laid),
            )
        )
    at = {rack.drawn: n for n, rack in enumerate(racks)}
    where: dict[int, tuple[int, RackPlace]] = {}
    for stated in sorted(design.racks.values(), key=lambda e: _by_number(e.id)):
        if stated.part is None:
            n = len(racks)
            racks.append(
                Rack(
                    stated.label,
                    float(stated.height or RACK_HEIGHT.value),
                    amount(stated.power, "power") if stated.power else 0.0,
                    carries=amount(stated.weight_capacity, "mass") if stated.weight_capacity else None,
                    feeds=stated.feeds or 2,
                    key=stated.id,
                )
            )
        else:
            n = at.get(_number(stock, stated.part), -1)
            if n < 0:
                continue
            racks[n].key = stated.id
        for path, place in stated.units.items():
            member = _number(stock, path)
            around = int(stock.rack[member]) if member >= 0 else -1
            # what a rack is drawn around is in that rack
            if member >= 0 and int(stock.unit[member]) == member and around in (-1, racks[n].drawn):
                where.setdefault(member, (n, place))
    return racks, where


def _by_number(name: str) -> tuple[str, int, str]:
    stem, digits = split_number(name)
    return stem, int(digits or 0), name


def _number(stock: Inventory, path: str) -> int:
    """Number of the part at a path; −1 where there is none any more."""
    try:
        return stock.net.index_of(path)
    except DocumentError:
        return -1


def _assumed_height(unit: UnitClass) -> float:
    """Units of height where no source states them [U]."""
    if unit.part.kind == "server":
        return next((high for least, high in _BY_ACCELERATORS if unit.accelerators() >= least), _HEIGHTS["server"])
    return _HEIGHTS.get(unit.part.kind, 1.0)


def _proposed(stock: Inventory, height: float, power: float, skip: set[int] | None = None, first: int = 1) -> Plan:
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
    for n, rack in enumerate(racks, start=first):
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
    """One rack of each kind, with how many are equivalent."""
    found: dict[tuple[object, ...], tuple[Rack, int]] = {}
    for rack in plan.racks:
        key = (rack.layout, *((u.kind, u.at, u.height, group_name(stock, u.part), u.watts) for u in rack.units))
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
    rows += [
        (rack.name, f.at, f.height, f.name, "part of the rack", None, None, "")
        for rack in plan.racks
        for f in rack.fixed
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
