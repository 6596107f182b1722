"""Order of cabling: which cable, transceiver and fibre serves each link, with part numbers, spares and prices.

A link takes the first product of ``assets/cabling`` that fits the connectors at both ends, its rate and its length.
Modules with several ports are shared by the links of one cage, so a switch with 63 links on twin-port cages takes 32.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from designer.catalog.cabling import COPPER, Assembly, Cabling, Fibre, Sold, Transceiver, cabling
from designer.catalog.loader import load_catalog
from designer.catalog.parttype import value_of
from designer.design.document import Design, Part
from designer.fields import Quantity, amount
from designer.report.inventory import Bundle, Inventory, bundles, inventory
from designer.report.tables.cables import LENGTHS, medium
from designer.report.tables.racks import Plan, plan_of
from designer.report.tables.table_sheet import Column, TableSheet, Value
from designer.report.wording import line_rate, listed
from designer.sources import Constant, Status

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: spare cables and modules ordered with the others
SPARES: Final = Constant(0.02, 0.0, 0.05, "assumed-cabling", Status.ASSUMED, "1", "share of spares, at least one each")
#: the role of a NIC for out-of-band management
MANAGEMENT: Final = "management"
#: cages and plugs of the QSFP family, earlier generations first
QSFP: Final = ("qsfp28", "qsfp56", "qsfp112", "qsfp-dd")
#: which products may serve a link: the first that fits, or none of copper between network ports
Media = Literal["any", "optical"]


@dataclass(frozen=True, slots=True)
class OrderLine:
    """A product to order.

    Parameters
    ----------
    item
        ``Cable``, ``Transceiver`` or ``Fibre``.
    part, number
        Part number, and the vendor's ordering number; empty where none is published.
    rate, length
        Of one link [B/s], and of the cable [m]; not a number for modules and where an end has no place.
    links
        Links it serves.
    watts
        Draw of one module, or of both ends of a cable [W]; None where not stated.
    prices
        What a price list may call it, the most specific first.
    """

    item: str
    title: str
    part: str
    number: str
    medium: str
    rate: float
    length: float
    count: int
    spares: int
    links: int
    role: str
    watts: float | None
    source: str
    status: Status
    prices: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _End:
    """One end of links: its connector, the links a cage ends at their rate, and the owner of the cage of each link."""

    connector: str
    links: int
    owner: Int


@dataclass(slots=True)
class _Tally:
    """Counts of products while links are served."""

    spares: float
    lines: dict[tuple[str, float, float], tuple[Sold, int, int, list[str]]] = field(default_factory=dict)
    modules: dict[str, tuple[Transceiver, int, list[Int], list[str]]] = field(default_factory=dict)
    unknown: dict[tuple[str, float, float], tuple[int, list[str]]] = field(default_factory=dict)

    def add(self, product: Sold, rate: float, length: float, count: int, links: int, role: str) -> None:
        """Count `count` cables of a length that serve `links` links."""
        key = (product.family, rate, length)
        _, before, served, roles = self.lines.get(key, (product, 0, 0, []))
        self.lines[key] = (product, before + count, served + links, [*roles, role])

    def plug(self, module: Transceiver, split: int, owners: Int, role: str) -> None:
        """Note the cages in which links end; modules are counted when all of them are known."""
        key = f"{module.family}/{split}"
        _, _, before, roles = self.modules.get(key, (module, split, [], []))
        self.modules[key] = (module, split, [*before, owners], [*roles, role])


def order(
    design: Design, media: Media = "any", spares: float | None = None, plan: Plan | None = None
) -> list[OrderLine]:
    """The cabling to order, modules first.

    Parameters
    ----------
    media
        ``optical`` leaves copper out wherever an optical product fits.
    spares
        Share of spares; that of `SPARES` where it is not given.
    """
    stock = inventory(design)
    found = _Tally(SPARES.value if spares is None else spares)
    where = _Places(plan or plan_of(design), stock)
    for bundle in bundles(stock):
        _serve(stock, bundle, where, media, found)
    return [*_modules(found), *_cables(found), *_unknown(found)]


class _Places:
    """Lengths of cables between units, for many at once."""

    def __init__(self, plan: Plan, stock: Inventory) -> None:
        self.plan = plan
        self.rack = np.full(stock.net.n_parts, -1, dtype=np.int64)
        self.at = np.zeros(stock.net.n_parts)
        for unit, rack in plan.of_unit.items():
            self.rack[unit] = rack
        for rack in plan.racks:
            for unit in rack.units:
                self.at[unit.part] = unit.at

    def lengths(self, a: Int, b: Int) -> Float:
        """Length between units [m]; not a number where one has no place. As `Plan.length`, each pair of racks once."""
        one, other = self.rack[a], self.rack[b]
        found = np.full(len(a), np.nan)
        apart = (one != other) & (one >= 0) & (other >= 0)
        pairs, which = np.unique(np.stack((one[apart], other[apart])), axis=1, return_inverse=True)
        members = {int(r): unit for unit, r in reversed(self.plan.of_unit.items())}
        between = [self.plan.length(members[int(x)], members[int(y)]) for x, y in pairs.T]
        found[apart] = np.array(between, dtype=np.float64)[which.reshape(-1)] if between else 0.0
        inside = np.flatnonzero((one == other) & (one >= 0))
        keys = np.stack((one[inside], np.abs(self.at[a] - self.at[b])[inside]))
        _, first, which = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        at = [self.plan.length(int(a[inside[k]]), int(b[inside[k]])) for k in first]
        found[inside] = np.array(at, dtype=np.float64)[which.reshape(-1)] if at else 0.0
        return found


def _serve(stock: Inventory, bundle: Bundle, where: _Places, media: Media, found: _Tally) -> None:
    """Count the products of all links of a bundle, those between equal parts together."""
    net = stock.net
    a, b = np.repeat(bundle.a, bundle.each), np.repeat(bundle.b, bundle.each)
    lengths = where.lengths(stock.unit[a], stock.unit[b])
    kinds = np.stack([net.part_def[x] for x in (a, stock.unit[a], b, stock.unit[b])])
    _, which = np.unique(kinds, axis=1, return_inverse=True)
    for k in range(int(which.max()) + 1 if len(a) else 0):
        own = np.flatnonzero(which.reshape(-1) == k)
        ends = (_end(stock, a[own], bundle.rate), _end(stock, b[own], bundle.rate))
        _Served(cabling(), bundle, ends, lengths[own], found).all(media)


def _end(stock: Inventory, parts: Int, rate: float) -> _End:
    part, unit = stock.net.part(int(parts[0])), stock.net.part(int(stock.unit[parts[0]]))
    stated = _value_of(stock.design, part, "connector")
    connector = str(stated.value) if stated is not None else ""
    ports = _number(stock.design, part, "ports") or 1.0
    port = _number(stock.design, part, "port_bandwidth_per_direction") or rate
    cages = _number(stock.design, part, "cages") or ports
    shared = _number(stock.design, unit, "ports_per_cage") if connector.startswith("osfp") else None
    links = max(1, math.floor(ports * port / cages / rate + 1e-6)) * int(shared or 1)
    return _End(connector, links, stock.unit[parts] if shared else parts)


def _value_of(design: Design, part: Part, name: str) -> Quantity | None:
    """A value of a part; that of the catalog where the design's own copy of the type does not have it."""
    found = design.quantity(part, name)
    if found is not None or not part.type or part.type not in load_catalog():
        return found
    return load_catalog().get(part.type).values.get(name)


def _number(design: Design, part: Part, name: str) -> float | None:
    stated = _value_of(design, part, name)
    return value_of(part.kind, name, stated) if stated is not None else None


class _Served:
    """Links between equal parts, served product by product until none are left."""

    def __init__(
        self, products: Cabling, bundle: Bundle, ends: tuple[_End, _End], lengths: Float, found: _Tally
    ) -> None:
        self.products = products
        self.bundle = bundle
        self.ends = ends
        self.lengths = lengths
        self.found = found
        self.rest = np.arange(len(lengths))

    def all(self, media: Media) -> None:
        """Serve them."""
        for cable in self.products.assembly:
            if media == "any" or cable.medium not in COPPER or cable.medium == "twisted pair":
                self._by_cable(cable)
        for one, other, splits in self._pairs():
            self._by_modules(one, other, splits)
        kind = self.bundle.definition.kind
        for length in np.unique(sold := _next_length(LENGTHS, self.lengths[self.rest])).tolist():
            n = int((sold == length).sum()) if not math.isnan(length) else int(np.isnan(sold).sum())
            count, roles = self.found.unknown.get((kind, self.bundle.rate, length), (0, []))
            self.found.unknown[kind, self.bundle.rate, length] = (count + n, [*roles, self.bundle.name])

    def _by_cable(self, cable: Assembly) -> None:
        hub = next((k for k in (0, 1) if self._fits(cable, self.ends[k], self.ends[1 - k])), None)
        if hub is None or not self._runs(cable):
            return
        own = self.rest[self.lengths[self.rest] <= cable.longest + 1e-9]
        if not len(own):
            return
        sold = _next_length(sorted(cable.lengths), self.lengths[own])
        if cable.links > 1:
            near, far = self.ends[hub].owner[own], self.ends[1 - hub].owner[own]
            groups = (near, sold) if cable.b_links == 1 else (near, far, sold)
            whole = _filled_groups(groups, cable.links)
            own, sold = own[whole], sold[whole]
        for length in np.unique(sold).tolist():
            n = int((sold == length).sum())
            self.found.add(cable, self.bundle.rate, length, n // cable.links, n, self.bundle.name)
        self.rest = np.setdiff1d(self.rest, own)

    def _runs(self, cable: Assembly) -> bool:
        own = amount(cable.rate, "rate")
        return self.bundle.definition.kind in cable.networks and abs(own - self.bundle.rate) <= own * 1e-3

    @staticmethod
    def _fits(cable: Assembly, near: _End, far: _End) -> bool:
        plugs = _takes(near.connector, cable.a) and _takes(far.connector, cable.b)
        return plugs and (cable.links, cable.b_links) == (near.links, far.links)

    def _pairs(self) -> Iterator[tuple[Transceiver, Transceiver, tuple[int, int]]]:
        """Modules for both ends that share a fibre, preferred ones first."""
        fitting: list[list[tuple[Transceiver, int]]] = []
        for end in self.ends:
            fits = [
                (m, split)
                for m in self.products.transceiver
                if _takes(end.connector, m.connector) and self.bundle.definition.kind in m.networks
                if (split := m.split(self.bundle.rate)) and end.links in (m.ports * split, m.ports)
            ]
            fitting.append(fits)
        for one, near in fitting[0]:
            for other, far in fitting[1]:
                if one.fibre == other.fibre:
                    yield one, other, (near, far)

    def _by_modules(self, one: Transceiver, other: Transceiver, splits: tuple[int, int]) -> None:
        """Serve what the fibre reaches; of ends without a place no length is known, and the first module is taken."""
        left = self.lengths[self.rest]
        own = self.rest[np.isnan(left) | (left <= min(one.reach, other.reach) + 1e-9)]
        if not len(own):
            return
        modules = (one, other)
        # one port of a twin-port module fans out to two links of half its rate
        hub = next((k for k in (0, 1) if splits[k] == 2 and self.ends[k].links == modules[k].ports * 2), None)
        fibre = self.products.fibre_of(one.fibre if hub is None or splits != (2, 2) else one.splitter)
        sold = _next_length(sorted(fibre.lengths), self.lengths[own])
        for length in np.unique(sold).tolist():
            mine = np.isnan(sold) if math.isnan(length) else sold == length
            n = int(mine.sum())
            count = (
                n if fibre.links == 1 or hub is None else _count_shared(self.ends[hub].owner[own][mine], fibre.links)
            )
            self.found.add(fibre, self.bundle.rate, length, count, n, self.bundle.name)
        for k, module in enumerate(modules):
            used = splits[k] if self.ends[k].links == module.ports * splits[k] else 1
            self.found.plug(module, used, self.ends[k].owner[own], self.bundle.name)
        self.rest = np.setdiff1d(self.rest, own)


def _takes(cage: str, plug: str) -> bool:
    """Whether a plug fits a cage: cages of the QSFP family take plugs of earlier generations."""
    if cage == plug:
        return True
    return cage in QSFP and plug in QSFP and QSFP.index(plug) < QSFP.index(cage)


def _next_length(lengths: list[float] | tuple[float, ...], wanted: Float) -> Float:
    """The next length sold [m]; beyond the longest, and where none is listed, the next of `LENGTHS`, then tens."""
    listed_ = np.array(lengths or LENGTHS, dtype=np.float64)
    usual = np.array(LENGTHS, dtype=np.float64)
    made = np.where(
        wanted > usual[-1],
        np.ceil(wanted / 10) * 10,
        usual[np.minimum(np.searchsorted(usual, wanted - 1e-9), len(usual) - 1)],
    )
    at = np.searchsorted(listed_, wanted - 1e-9)
    found = np.where(at < len(listed_), listed_[np.minimum(at, len(listed_) - 1)], made)
    return np.where(np.isnan(wanted), np.nan, found)


def _filled_groups(groups: tuple[npt.NDArray[np.generic], ...], size: int) -> Int:
    """Places of the members that fill groups of `size`; what is left over in a group is not among them."""
    keys = np.stack([np.unique(g, return_inverse=True)[1].reshape(-1) for g in groups])
    _, which, counts = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    by_group = np.argsort(which, kind="stable")
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    place = np.empty(len(which), dtype=np.int64)
    place[by_group] = np.arange(len(which)) - np.repeat(starts, counts)
    return np.flatnonzero(place < counts[which] // size * size)


def _count_shared(owners: Int, size: int) -> int:
    """How many things of `size` places the members of each owner take."""
    _, counts = np.unique(owners, return_counts=True)
    return int(np.ceil(counts / size).sum())


def _modules(found: _Tally) -> list[OrderLine]:
    lines: list[OrderLine] = []
    by_family: defaultdict[str, list[tuple[Transceiver, int, int, list[str]]]] = defaultdict(list)
    for module, split, owners, roles in found.modules.values():
        all_of = np.concatenate(owners)
        by_family[module.family].append((module, _count_shared(all_of, module.ports * split), len(all_of), roles))
    for own in by_family.values():
        module, count = own[0][0], sum(n for _, n, _, _ in own)
        rate = amount(module.rate, "rate")
        named = (module.order, module.family, f"transceiver/{module.connector}/{module.ports}x{_rate(rate)}")
        lines.append(
            OrderLine(
                "Transceiver",
                module.title,
                module.family,
                module.order,
                module.medium,
                rate,
                math.nan,
                count,
                _spares(count, found.spares),
                sum(links for _, _, links, _ in own),
                _roles([r for _, _, _, roles in own for r in roles]),
                amount(module.power, "power") if module.power else None,
                module.source,
                module.status,
                tuple(n for n in named if n),
            )
        )
    return lines


def _cables(found: _Tally) -> list[OrderLine]:
    lines: list[OrderLine] = []
    for (_, rate, length), (product, count, links, roles) in sorted(found.lines.items(), key=_by_length):
        numbers = product.lengths.get(length, ())
        part = numbers[0] if numbers else ""
        lines.append(
            OrderLine(
                "Fibre" if isinstance(product, Fibre) else "Cable",
                product.title,
                part or product.family,
                numbers[1] if len(numbers) > 1 else "",
                product.medium,
                rate,
                length,
                count,
                _spares(count, found.spares),
                links,
                _roles(roles),
                2 * amount(product.power, "power") if product.power else None,
                product.source,
                product.status if part else Status.ASSUMED,
                tuple(n for n in (*reversed(numbers), product.family, *_generic(product.medium, rate, length)) if n),
            )
        )
    return lines


def _by_length(item: tuple[tuple[str, float, float], object]) -> tuple[str, float, bool, float]:
    family, rate, length = item[0]
    return family, rate, math.isnan(length), 0.0 if math.isnan(length) else length


def _unknown(found: _Tally) -> list[OrderLine]:
    """Links whose ends state no connector, or for which no product is known."""
    lines: list[OrderLine] = []
    for (kind, rate, length), (count, roles) in sorted(found.unknown.items(), key=_by_length):
        made_of = medium(rate, length)
        name = {"infiniband": "InfiniBand", "ethernet": "Ethernet"}.get(kind, "Fabric")
        lines.append(
            OrderLine(
                "Cable",
                f"{name} {line_rate(rate)} link, product to choose",
                "",
                "",
                made_of,
                rate,
                length,
                count,
                _spares(count, found.spares),
                count,
                _roles(roles),
                None,
                "assumed-cabling",
                Status.ASSUMED,
                (*_generic(made_of, rate, length), f"cable/{kind}/{_rate(rate)}"),
            )
        )
    return lines


def _generic(made_of: str, rate: float, length: float) -> tuple[str, ...]:
    """Names of a cable by medium, rate and length, and by medium and rate."""
    words = made_of.lower().replace(" ", "-")
    whole = f"cable/{words}/{_rate(rate)}"
    return (whole,) if math.isnan(length) else (f"{whole}/{length:g}m", whole)


def _rate(rate: float) -> str:
    return line_rate(rate).replace("\u00a0", "")


def _spares(count: int, share: float) -> int:
    return math.ceil(count * share - 1e-9)


def _roles(names: list[str]) -> str:
    return listed(list(dict.fromkeys(names)), 3)


def absent(design: Design, plan: Plan) -> list[str]:
    """What a room needs next to the cables of the drawing, in words: management ports and power distribution."""
    stock = inventory(design)
    units = [u for u in stock.classes if u.part.kind in ("server", "switch", "storage")]
    if not units:
        return []
    notes: list[str] = []
    managed = {k for k, d in enumerate(stock.net.part_defs) if d.attributes.get("role") == MANAGEMENT}
    with_port = int(np.isin(stock.net.part_def, list(managed)).sum())
    missing = sum(u.count for u in units) - with_port
    if missing > 0:
        notes.append(f"The drawing has no out-of-band management for {missing:,} units: each needs a port and a cable.")
    feeds = sum(max(1, rack.feeds) for rack in plan.racks if rack.units)
    if feeds:
        notes.append(f"Power distribution is not drawn: {feeds:,} units for {len(plan.racks):,} racks, one a feed.")
    return notes


def sheet(design: Design, media: Media = "any", spares: float | None = None) -> TableSheet:
    """The order as a table."""
    plan = plan_of(design)
    rows: list[tuple[Value, ...]] = [
        (
            line.item,
            line.title,
            line.part,
            line.number,
            line.medium,
            line_rate(line.rate).replace("\u00a0", " "),
            None if math.isnan(line.length) else line.length,
            line.count,
            line.spares,
            line.links,
            line.role,
            line.watts,
            line.source,
            line.status.value,
        )
        for line in order(design, media, spares, plan)
    ]
    columns = (
        Column("Item"),
        Column("Product"),
        Column("Part number"),
        Column("Ordering number"),
        Column("Medium"),
        Column("Rate of a link"),
        Column("Length", "m"),
        Column("Count"),
        Column("Spares"),
        Column("Links"),
        Column("Between"),
        Column("Draw, one", "W"),
        Column("Source"),
        Column("How sure"),
    )
    share = SPARES.value if spares is None else spares
    notes = [f"Spares are {share:.3g} of each line{' (assumed)' if spares is None else ''}."]
    notes += absent(design, plan)
    if not plan.drawn:
        notes.append("Lengths follow from proposed rack positions: no racks are drawn.")
    return TableSheet("Cabling order", "Cables and transceivers to order", columns, tuple(rows), tuple(notes))
