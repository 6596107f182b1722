"""Hosts and the network that joins them: hosts in rows at the bottom, switches in tiers above, storage at the side.

Within a tier things are in the order that crosses fewest links: by the average place of what they are linked to,
swept up and down a few times, equals by name, so that rails keep their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from designer.catalog.parttype import Domain, part_kinds
from designer.design.address import Ref
from designer.design.arrange.joints import Joint
from designer.design.arrange.roles import Item, Places, Role, link_domain, role_of
from designer.design.arrange.sizes import GAP, GRID, ROW_GAP, grid_down, grid_up
from designer.design.selectors import natural_key


@dataclass(slots=True)
class Tree:
    """A part with what hangs below it. ``item`` is None for the heap of accelerators that hang on nothing."""

    item: Item | None
    level: int
    inner: list[Tree] = field(default_factory=list["Tree"])
    memory: list[Item] = field(default_factory=list[Item])
    leaves: list[Item] = field(default_factory=list[Item])
    accelerators: list[Item] = field(default_factory=list[Item])
    memory_left: bool = False


@dataclass(slots=True)
class Forest:
    """All trees of a machine: the roots from left to right, and every tree, parents before children."""

    roots: list[Tree]
    trees: list[Tree]


def in_order(items: Sequence[Item]) -> list[Item]:
    """Items by name, gpu2 before gpu10."""
    return sorted(items, key=lambda i: (natural_key(i.ref.id), i.ref))


def _leaf_key(item: Item) -> tuple[int, str, object]:
    """NICs in front of drives, each kind by name."""
    kind = part_kinds().get(item.kind)
    return (kind.order if kind is not None else 1000, item.kind, natural_key(item.ref.id))


def grow(items: Sequence[Item], joints: Sequence[Joint]) -> Forest:
    """The trees of a machine; parts that hang on nothing are left out, but for accelerators."""
    grower = _Grower(in_order(items), joints)
    grower.grow()
    return Forest(grower.roots, grower.trees)


class _Grower:
    def __init__(self, items: list[Item], joints: Sequence[Joint]) -> None:
        self.items = items
        self.by_ref = {i.ref: i for i in items}
        self.role = {i.ref: role_of(i.kind) for i in items}
        self.near = self._neighbours(joints, host=True)
        self.linked = self._neighbours(joints, host=False)
        self.hung: set[Ref] = set()
        self.roots: list[Tree] = []
        self.trees: list[Tree] = []

    def _neighbours(self, joints: Sequence[Joint], host: bool) -> Mapping[Ref, list[Ref]]:
        """What each part is linked to by links of the host, or by all others, by name."""
        found: dict[Ref, list[Ref]] = {i.ref: [] for i in self.items}
        for joint in joints:
            if joint.a in found and joint.b in found and (link_domain(joint.kind) is Domain.HOST) == host:
                found[joint.a].append(joint.b)
                found[joint.b].append(joint.a)
        rank = {item.ref: n for n, item in enumerate(self.items)}
        for near in found.values():
            near.sort(key=rank.__getitem__)
        return found

    def grow(self) -> None:
        for wanted in (Role.SOCKET, Role.DOMAIN):
            self._spread([self._root(i) for i in self.items if self.role[i.ref] is wanted and i.ref not in self.hung])
        for item in self.items:
            if self.role[item.ref] is Role.HOST_SWITCH and item.ref not in self.hung:
                self._spread([self._root(item)])
        for tree in self.trees:
            if tree.item is not None and self.role[tree.item.ref] in (Role.SOCKET, Role.DOMAIN):
                for ref in self.linked[tree.item.ref]:
                    if self.role[ref] is Role.ACCELERATOR and ref not in self.hung:
                        self._hang(tree, tree.item, ref)
        loose = [i for i in self.items if self.role[i.ref] is Role.ACCELERATOR and i.ref not in self.hung]
        if loose:
            heap = Tree(None, -1, accelerators=loose)
            self.hung.update(i.ref for i in loose)
            self.roots.append(heap)
            self.trees.append(heap)
        self._hang_memory()

    def _root(self, item: Item) -> Tree:
        tree = Tree(item, 0)
        self.hung.add(item.ref)
        self.roots.append(tree)
        self.trees.append(tree)
        return tree

    def _spread(self, trees: list[Tree]) -> None:
        """Hang everything reachable below the trees, breadth first, so that each part hangs as high as it can."""
        while trees:
            below: list[Tree] = []
            for tree in trees:
                assert tree.item is not None
                for ref in self.near[tree.item.ref]:
                    if ref not in self.hung:
                        below += self._hang(tree, tree.item, ref)
            trees = below

    def _hang(self, tree: Tree, item: Item, ref: Ref) -> list[Tree]:
        role = self.role[ref]
        if role is Role.HOST_SWITCH or (role is Role.DOMAIN and self.role[item.ref] is Role.SOCKET):
            child = Tree(self.by_ref[ref], tree.level + 1)
            tree.inner.append(child)
            self.trees.append(child)
            self.hung.add(ref)
            return [child]
        if role in (Role.ACCELERATOR, Role.LEAF, Role.STORAGE):
            (tree.accelerators if role is Role.ACCELERATOR else tree.leaves).append(self.by_ref[ref])
            self.hung.add(ref)
        return []

    def _hang_memory(self) -> None:
        """Memory goes to the first part it is linked to: next to it, or below it where nothing else hangs."""
        owner = {tree.item.ref: tree for tree in self.trees if tree.item is not None}
        for item in self.items:
            if self.role[item.ref] is not Role.MEMORY:
                continue
            tree = next((owner[ref] for ref in self.near[item.ref] if ref in owner), None)
            if tree is not None:
                tree.memory.append(item)
        for tree in self.trees:
            tree.leaves.sort(key=_leaf_key)
            if tree.level > 0 and not (tree.inner or tree.leaves or tree.accelerators):
                tree.leaves, tree.memory = tree.memory, []
        tops = [t for t in self.roots if t.item is not None]
        for n, tree in enumerate(tops):
            tree.memory_left = 2 * n < len(tops) - 1


#: between tiers: room for the links of a whole tier
_TIER_GAP: Final = 104
#: between neighbours of a tier
_SIDE_GAP: Final = 32
#: hosts are in several rows when one would be wider than this, scene units
_WIDEST: Final = 2400
#: wanted width of a field of hosts, in heights
_ASPECT: Final = 2.2
_SWEEPS: Final = 4


def arrange_fabric(items: Sequence[Item], joints: Sequence[Joint]) -> Places:
    """Top left corners, from (0, 0) on, for hosts, switches and storage."""
    role = {i.ref: role_of(i.kind) for i in items}
    near: dict[Ref, list[Ref]] = {i.ref: [] for i in items}
    for joint in joints:
        if joint.a in near and joint.b in near:
            near[joint.a].append(joint.b)
            near[joint.b].append(joint.a)
    sorted_items = in_order(items)
    stores = [i for i in sorted_items if role[i.ref] is Role.STORAGE]
    below = [i for i in sorted_items if role[i.ref] is Role.ACCELERATOR_SWITCH]
    switches = [i for i in sorted_items if role[i.ref] is Role.NETWORK_SWITCH]
    taken = {i.ref for i in (*stores, *below, *switches)}
    hosts = [i for i in sorted_items if i.ref not in taken]
    order = _order_tiers([[*hosts, *stores], *_tiers(switches, [*hosts, *stores], near)], near)
    bottom = order[0] if len(order) > 1 else [*hosts, *stores]
    order[0] = [i for i in bottom if role[i.ref] is not Role.STORAGE] or stores
    stores = [i for i in bottom if role[i.ref] is Role.STORAGE] if hosts else []
    return _place_tiers(order, stores, below, near)


def _tiers(switches: Sequence[Item], ends: Sequence[Item], near: Mapping[Ref, Sequence[Ref]]) -> list[list[Item]]:
    """Switches by how many links they are away from hosts and storage; those that reach none are in the first tier."""
    tier: dict[Ref, int] = {}
    todo = {i.ref for i in switches}
    edge = {i.ref for i in ends}
    distance = 0
    while edge and todo:
        distance += 1
        edge = {other for ref in edge for other in near[ref] if other in todo}
        tier.update(dict.fromkeys(edge, distance))
        todo -= edge
    for ref in todo:
        tier[ref] = 1
    tiers: list[list[Item]] = [[] for _ in range(max(tier.values(), default=0))]
    for item in switches:
        tiers[tier[item.ref] - 1].append(item)
    return [t for t in tiers if t]


def _order_tiers(tiers: list[list[Item]], near: Mapping[Ref, Sequence[Ref]]) -> list[list[Item]]:
    """The tiers with few crossings, starting from and preferring the order of names."""
    best, fewest = tiers, _crossings(tiers, near)
    current = tiers
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        current = _sweep(current, near, upwards=sweep % 2 == 0)
        crossings = _crossings(current, near)
        if crossings < fewest:
            best, fewest = current, crossings
    return best


def _sweep(tiers: list[list[Item]], near: Mapping[Ref, Sequence[Ref]], upwards: bool) -> list[list[Item]]:
    new = [list(t) for t in tiers]
    numbers = range(1, len(new)) if upwards else range(len(new) - 2, -1, -1)
    for n in numbers:
        fixed = new[n - 1] if upwards else new[n + 1]
        place = {item.ref: (k + 0.5) / len(fixed) for k, item in enumerate(fixed)}
        old = {item.ref: (k + 0.5) / len(new[n]) for k, item in enumerate(new[n])}

        def centre(item: Item, place: Mapping[Ref, float] = place, old: Mapping[Ref, float] = old) -> float:
            known = [place[r] for r in near[item.ref] if r in place]
            return round(sum(known) / len(known), 6) if known else old[item.ref]

        new[n] = sorted(new[n], key=centre)
    return new


def _crossings(tiers: Sequence[Sequence[Item]], near: Mapping[Ref, Sequence[Ref]]) -> int:
    """How many pairs of links between neighbouring tiers cross."""
    total = 0
    for lower, upper in pairwise(tiers):
        place = {item.ref: k for k, item in enumerate(upper)}
        tree = [0] * (len(upper) + 1)  # counts of upper ends seen so far, as a Fenwick tree
        seen = 0
        for item in lower:
            ends = sorted(place[r] for r in near[item.ref] if r in place)
            for end in ends:
                total += seen - _count_up_to(tree, end)
            for end in ends:
                seen += 1
                k = end + 1
                while k < len(tree):
                    tree[k] += 1
                    k += k & -k
    return total


def _count_up_to(tree: list[int], end: int) -> int:
    k, found = end + 1, 0
    while k:
        found += tree[k]
        k -= k & -k
    return found


def _place_tiers(
    tiers: list[list[Item]], stores: list[Item], below: list[Item], near: Mapping[Ref, Sequence[Ref]]
) -> Places:
    at: Places = {}
    hosts, *switches = tiers
    rows = _host_rows(hosts)
    widest = max(map(_width, rows), default=0.0)
    width = max(widest, *(_width(row) for row in (*switches, below)))
    y = 0.0
    for tier in reversed(switches):
        _put_row(tier, at, grid_down((width - _width(tier)) / 2), y)
        y = grid_up(y + max(i.height for i in tier) + _TIER_GAP)
    top = y
    for row in rows:
        _put_row(row, at, grid_down((width - widest) / 2), y)
        y = grid_up(y + max(i.height for i in row) + _SIDE_GAP)
    bottom = y - _SIDE_GAP
    right = max((at[i.ref][0] + i.width for i in hosts), default=-3.0 * GAP)
    _put_column(stores, at, grid_up(right + 3 * GAP), top, bottom)
    if below:
        _put_row(below, at, grid_down((width - _width(below)) / 2), grid_up(bottom + _TIER_GAP))
    _pull_switches(switches, at, near, [*hosts, *stores])
    _start_at_zero(at)
    return at


def _start_at_zero(at: Places) -> None:
    left = min((x for x, _ in at.values()), default=0.0)
    if left != 0:
        at.update({ref: (x - left, y) for ref, (x, y) in at.items()})


def _host_rows(hosts: list[Item]) -> list[list[Item]]:
    if _width(hosts) <= _WIDEST:
        return [hosts] if hosts else []
    area = sum((i.width + _SIDE_GAP) * (i.height + _SIDE_GAP) for i in hosts)
    wanted = max((area * _ASPECT) ** 0.5, max(i.width for i in hosts))
    equal = len({(i.width, i.height) for i in hosts}) == 1
    if equal:
        columns = max(1, round(wanted / (hosts[0].width + _SIDE_GAP)))
        columns = next((c for c in range(columns, columns + 5) if len(hosts) % c == 0), columns)
        return [hosts[k : k + columns] for k in range(0, len(hosts), columns)]
    rows: list[list[Item]] = [[]]
    taken = 0.0
    for item in hosts:
        if rows[-1] and taken + grid_up(item.width) > wanted:
            rows.append([])
            taken = 0.0
        rows[-1].append(item)
        taken += grid_up(item.width) + _SIDE_GAP
    return rows


def _width(row: Sequence[Item]) -> float:
    return sum(grid_up(i.width) + _SIDE_GAP for i in row) - _SIDE_GAP if row else 0


def _put_row(row: Sequence[Item], at: Places, x: float, y: float) -> None:
    for item in row:
        at[item.ref] = (x, y)
        x += grid_up(item.width) + _SIDE_GAP


def _pull_switches(
    tiers: Sequence[Sequence[Item]], at: Places, near: Mapping[Ref, Sequence[Ref]], ends: Sequence[Item]
) -> None:
    """Move the switches of a tier over what they join, as far as their order and the gaps allow."""
    below: dict[Ref, Item] = {i.ref: i for i in ends}
    for tier in tiers:
        wanted: list[float] = []
        for item in tier:
            centres = [at[r][0] + below[r].width / 2 for r in near[item.ref] if r in below]
            wanted.append(sum(centres) / len(centres) - item.width / 2 if centres else at[item.ref][0])
        for item, x in zip(tier, _spaced_places(wanted, [grid_up(i.width) + _SIDE_GAP for i in tier]), strict=True):
            at[item.ref] = (x, at[item.ref][1])
        below = {i.ref: i for i in tier}


def _spaced_places(wanted: Sequence[float], steps: Sequence[float]) -> list[float]:
    """The places nearest to `wanted`, in the same order, each at least a step behind the one before, on the grid.

    Pool adjacent violators: neighbours that would overlap become one block around their common middle.
    """
    offset, total = [0.0], 0.0
    for step in steps[:-1]:
        total += step
        offset.append(total)
    blocks: list[list[float]] = []  # sum of wishes, how many
    for want, off in zip(wanted, offset, strict=True):
        blocks.append([want - off, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            last = blocks.pop()
            blocks[-1] = [blocks[-1][0] + last[0], blocks[-1][1] + last[1]]
    places: list[float] = []
    for wishes, many in blocks:
        places += [wishes / many] * int(many)
    return [grid_down(place + GRID / 2) + off for place, off in zip(places, offset, strict=True)]


def _put_column(stores: Sequence[Item], at: Places, x: float, top: float, bottom: float) -> None:
    """Storage in columns at the right, in the middle of the hosts' height."""
    if not stores:
        return
    a_column = max(1, int((bottom - top + GAP) // (max(i.height for i in stores) + GAP)), round(len(stores) ** 0.5))
    for start in range(0, len(stores), a_column):
        column = stores[start : start + a_column]
        height = sum(i.height + GAP for i in column) - GAP
        y = max(0.0, grid_up((top + bottom - height) / 2))
        for item in column:
            at[item.ref] = (x, y)
            y = grid_up(y + item.height + GAP)
        x = grid_up(x + max(i.width for i in column) + ROW_GAP)
