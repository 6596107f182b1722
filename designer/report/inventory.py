"""What is in a design as one orders it: units (servers, switches, storage, racks) with what is inside them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability, Domain, link_kinds, part_kinds, value_of
from designer.design.document import Design, Link, Part, Wiring
from designer.design.elaborate import Netlist, elaborate
from designer.design.naming import one_of
from designer.design.rates import raw_rate
from designer.memo import Memo
from designer.sources import Status

Int = npt.NDArray[np.int64]
#: the kind of part that holds units but is not one
RACK: Final = "rack"
#: parts without a type are called by their name without its number
_NUMBERED: Final = re.compile(r"\s*\d+$")


@dataclass(frozen=True, slots=True)
class Content:
    """Equal parts inside a unit."""

    part: Part
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class UnitClass:
    """Equal units: what they are, how many, what is in each, and their part numbers."""

    part: Part
    contents: tuple[Content, ...]
    members: Int

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.members)

    def inside(self, kind: str) -> int:
        """How many parts of a kind are in one of them."""
        return sum(c.count for c in self.contents if c.part.kind == kind)

    def accelerators(self) -> int:
        """How many accelerators are in one of them."""
        kinds = part_kinds()
        return sum(
            c.count for c in self.contents if (k := kinds.get(c.part.kind)) and Capability.ACCELERATE in k.capabilities
        )


@dataclass(frozen=True, slots=True, eq=False)
class Inventory:
    """All units of a design.

    Parameters
    ----------
    unit : (n_parts,) part number of the unit each part belongs to, of a rack its own
    rack : (n_parts,) part number of the rack around it, −1 for none
    """

    design: Design
    net: Netlist
    unit: Int
    rack: Int
    classes: tuple[UnitClass, ...]
    racks: Int

    def of_kind(self, kind: str) -> int:
        """How many parts of a kind there are."""
        chosen = np.array([p.kind == kind for p in self.net.part_defs], dtype=bool)
        return int(chosen[self.net.part_def].sum()) if len(chosen) else 0

    @property
    def accelerators(self) -> int:
        """How many accelerators there are."""
        kinds = part_kinds()
        chosen = np.array(
            [
                (k := kinds.get(p.kind)) is not None and Capability.ACCELERATE in k.capabilities
                for p in self.net.part_defs
            ],
            dtype=bool,
        )
        return int(chosen[self.net.part_def].sum()) if len(chosen) else 0

    def title(self, part: Part) -> str:
        """What a part is sold as; its name where it has no type, its kind where that is no more than a numbered id."""
        found = self.design.type_of(part)
        if found is not None:
            return found.title
        bare = _NUMBERED.sub("", part.label).rstrip(" _-")
        kind = part_kinds().get(part.kind)
        return kind.title if kind is not None and not part.name and bare == part.kind else bare

    def number(self, part: Part, name: str) -> float | None:
        """A value of a part in SI units, None where it is not stated."""
        quantity = self.design.quantity(part, name)
        return value_of(part.kind, name, quantity) if quantity is not None else None

    def text(self, part: Part, name: str) -> str:
        """A value of a part that is text; empty where it is not stated."""
        quantity = self.design.quantity(part, name)
        return str(quantity.value) if quantity is not None else ""

    def status(self, part: Part, name: str) -> Status:
        """How sure a value of a part is."""
        quantity = self.design.quantity(part, name)
        return quantity.status if quantity is not None else Status.ASSUMED


def _take(design: Design) -> Inventory:
    net = elaborate(design)
    n = net.n_parts
    kind_is_rack = np.array([p.kind == RACK for p in net.part_defs], dtype=bool)
    is_rack = kind_is_rack[net.part_def] if n else np.zeros(0, dtype=bool)
    unit = np.arange(n)
    above = net.parent.copy()
    while True:
        moves = (above >= 0) & ~is_rack[np.maximum(above, 0)]
        if not moves.any():
            break
        unit = np.where(moves, above, unit)
        above = np.where(moves, net.parent[np.maximum(above, 0)], above)
    rack = np.where(above >= 0, above, -1)
    return Inventory(design, net, unit, rack, _classes(net, unit, is_rack), np.flatnonzero(is_rack))


def _classes(net: Netlist, unit: Int, is_rack: npt.NDArray[np.bool_]) -> tuple[UnitClass, ...]:
    """Units with equal contents together, in the order of their first member."""
    inside = np.flatnonzero(~is_rack)
    if not len(inside):
        return ()
    width = len(net.part_defs)
    # definitions of one type and kind are one thing to order
    same: dict[tuple[str, str, str], int] = {}
    merged = np.array(
        [same.setdefault((p.kind, p.type, "" if p.type else p.name), k) for k, p in enumerate(net.part_defs)]
    )
    pairs, counts = np.unique(unit[inside].astype(np.int64) * width + merged[net.part_def[inside]], return_counts=True)
    held: dict[int, list[tuple[int, int]]] = {}
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        held.setdefault(pair // width, []).append((pair % width, count))
    found: dict[tuple[int, tuple[tuple[int, int], ...]], list[int]] = {}
    for number, contents in held.items():
        own = int(merged[net.part_def[number]])
        found.setdefault((own, tuple(contents)), []).append(number)
    classes: list[UnitClass] = []
    for (own, contents), members in found.items():
        rest = tuple(
            Content(net.part_defs[k], count - (k == own)) for k, count in contents if count > (1 if k == own else 0)
        )
        order = sorted(rest, key=lambda c: (_order(c.part.kind), c.part.type))
        classes.append(UnitClass(net.part_defs[own], tuple(order), np.array(members)))
    return tuple(sorted(classes, key=lambda c: (_order(c.part.kind), int(c.members[0]))))


def _order(kind: str) -> int:
    found = part_kinds().get(kind)
    return found.order if found is not None else 1000


#: what is in a design; kept as long as the design lives
inventory = Memo(_take, most=16)


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """Cables of one definition between units.

    Parameters
    ----------
    a, b : (n,) part numbers of their ends, one entry a link; each link is ``each`` cables
    rate
        Raw, of one cable and direction [B/s].
    """

    name: str
    definition: Link | Wiring
    a: Int
    b: Int
    each: int
    rate: float
    status: Status

    @property
    def cables(self) -> int:
        """How many cables."""
        return len(self.a) * self.each


def bundles(stock: Inventory) -> tuple[Bundle, ...]:
    """Network cables between different units, by definition."""

    net, kinds = stock.net, link_kinds()
    found: list[Bundle] = []
    between = stock.unit[net.link_a] != stock.unit[net.link_b] if net.n_links else np.zeros(0, dtype=bool)
    order = np.argsort(net.link_def, kind="stable")
    cuts = np.searchsorted(net.link_def[order], np.arange(len(net.link_defs) + 1))
    merged: dict[tuple[str, str, int, float, str, str], list[tuple[Link | Wiring, Int, Status]]] = {}
    for k, definition in enumerate(net.link_defs):
        kind = kinds.get(definition.kind)
        own = order[cuts[k] : cuts[k + 1]]
        own = own[between[own]]
        if not len(own) or kind is None or kind.domain is not Domain.NETWORK:
            continue
        rate, status = raw_rate(definition)
        first = int(own[0])
        sides = (group_name(stock, int(net.link_a[first])), group_name(stock, int(net.link_b[first])))
        label = definition.id if isinstance(definition, Wiring) else ""
        merged.setdefault((label, definition.kind, definition.count, rate, *sides), []).append(
            (definition, own, status)
        )
    for (_, _, each, rate, a, b), pieces in merged.items():
        links = np.concatenate([own for _, own, _ in pieces])
        definition, _, status = pieces[0]
        found.append(Bundle(f"{a} → {b}", definition, net.link_a[links], net.link_b[links], each, rate, status))
    return tuple(sorted(found, key=lambda b: -b.cables))


#: so many bundles stand one by one on a page
_APART: Final = 24


def gathered(stock: Inventory) -> tuple[bool, tuple[Bundle, ...]]:
    """Whether there are too many bundles to read, and the bundles: those between equal kinds of units together then."""
    found = bundles(stock)
    if len(found) <= _APART:
        return False, found
    kinds = part_kinds()

    def plural(member: int) -> str:
        kind = kinds.get(stock.net.part(int(stock.unit[member])).kind)
        return kind.plural.lower() if kind is not None else "others"

    merged: dict[tuple[str, str, str, float, int, Status], list[Bundle]] = {}
    for b in found:
        # a cable has no direction: servers and switches are the same two whichever is named first
        one, other = sorted((plural(int(b.a[0])), plural(int(b.b[0]))))
        key = (one, other, b.definition.kind, b.rate, b.each, b.status)
        merged.setdefault(key, []).append(b)
    together = [
        Bundle(
            f"{a} → {z}" if a != z else f"between {a}",
            own[0].definition,
            np.concatenate([b.a for b in own]),
            np.concatenate([b.b for b in own]),
            each,
            rate,
            status,
        )
        for (a, z, _, rate, each, status), own in merged.items()
    ]
    return True, tuple(sorted(together, key=lambda b: -b.cables))


def _groups_around(stock: Inventory, index: int) -> tuple[list[tuple[str, int]], Part, bool]:
    """Groups around the unit of a part with the member in each, the unit itself, and whether it is alone there."""
    net, at = stock.net, int(stock.unit[index])
    way: list[tuple[str, int]] = []
    while True:
        group = next((g for g in net.groups if int(g.part_start[0]) <= at < int(g.part_start[-1])), None)
        if group is None:
            break
        member = int(np.searchsorted(group.part_start, at, side="right")) - 1
        drawn = net.block.groups.get(group.id)
        way.append(((drawn.label if drawn is not None else group.id).replace("_", " "), member))
        at -= int(group.part_start[member])
        net = group.net(member)
    alone = sum(1 for p in net.part_defs[: net.own_parts] if p.parent is None) <= 1
    return way, net.part(at), alone


def group_name(stock: Inventory, index: int) -> str:
    """What people call the unit of a part: the innermost group it is a member of, else its own name."""
    way, part, alone = _groups_around(stock, index)
    return part.label if not way else way[-1][0] if alone else f"{way[-1][0]}: {part.label}"


def unit_name(stock: Inventory, index: int) -> str:
    """The name of one unit: its groups with their numbers, else its own name."""
    way, part, alone = _groups_around(stock, index)
    if not way:
        return part.label
    own = " · ".join(f"{one_of(name)} {member + 1}" for name, member in way)
    return own if alone else f"{own} · {part.label}"


def ports_used(stock: Inventory) -> Mapping[int, int]:
    """Network cables at each unit that joins others, by part number of the unit."""
    net, kinds = stock.net, link_kinds()
    network = np.array(
        [(k := kinds.get(d.kind)) is not None and k.domain is Domain.NETWORK for d in net.link_defs], dtype=bool
    )
    each = np.array([d.count for d in net.link_defs], dtype=np.int64)
    if not net.n_links:
        return {}
    own = np.flatnonzero(network[net.link_def])
    used = np.zeros(net.n_parts, dtype=np.int64)
    for side in (net.link_a, net.link_b):
        np.add.at(used, side[own], each[net.link_def[own]])
    return {int(k): int(used[k]) for k in np.flatnonzero(used)}
