"""The tree that classes of distance allow: nested groups of devices, and the class two devices have in it.

``nvidia-smi topo -m`` tells for each pair how far apart it is: PIX is one PCIe switch, PXB several, PHB one host
bridge, NODE one NUMA domain, SYS several. Devices joined by NVLink hide their class, so some pairs stay open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

#: classes from near to far
CLASSES: Final = ("PIX", "PXB", "PHB", "NODE", "SYS")
_RANK: Final = {name: rank for rank, name in enumerate(CLASSES)}
_NODE: Final = _RANK["NODE"]


@dataclass(frozen=True, slots=True)
class Domain:
    """Devices of one NUMA domain: host bridges, in them families (PXB), in those groups that share a switch (PIX).

    Parameters
    ----------
    key
        What the table calls it, empty where nothing does.
    """

    key: str
    bridges: tuple[tuple[tuple[tuple[int, ...], ...], ...], ...]

    @property
    def members(self) -> list[int]:
        """Its devices in order."""
        return sorted(i for bridge in self.bridges for family in bridge for group in family for i in group)


@dataclass(frozen=True, slots=True)
class ClassTree:
    """Domains in the order of their first device, and where the table contradicts itself.

    Parameters
    ----------
    moved
        Devices the table puts into another domain than their classes allow, with its name.
    apart
        Devices whose names of a domain are equal although their class is SYS.
    lost
        Pairs that come out in another class than the table has: (one, other, table, tree).
    """

    domains: tuple[Domain, ...]
    moved: Mapping[int, str]
    apart: frozenset[int]
    lost: tuple[tuple[int, int, str, str], ...]


def class_tree(count: int, cell: Callable[[int, int], str], keys: Mapping[int, str]) -> ClassTree:
    """The tree of `count` devices; `keys` names the domains of those whose domain the table tells.

    Classes decide. Names join what classes leave open, never what they keep apart.
    """
    ranks = {(a, b): _RANK[text] for a in range(count) for b in range(a + 1, count) if (text := cell(a, b)) in _RANK}
    levels = [_components(count, ranks, rank) for rank in range(_NODE + 1)]
    far = _far(ranks, levels[_NODE])
    groups = _members(levels[_NODE])
    named = {first: _common([keys[i] for i in members if i in keys]) for first, members in groups.items()}
    joined = _join(named, far)
    moved = {i: key for i, key in keys.items() if key != named[levels[_NODE][i]]}
    homes: dict[str, set[int]] = {}
    for place, firsts in enumerate(joined):
        for first in firsts:
            homes.setdefault(named[first], set()).add(place)
    apart = frozenset(
        i
        for firsts in joined
        for first in firsts
        if named[first] and len(homes[named[first]]) > 1
        for i in groups[first]
    )
    domains = tuple(
        Domain(named[firsts[0]], _nested([i for first in firsts for i in groups[first]], levels))
        for firsts in sorted(joined)
    )
    place = {i: number for number, domain in enumerate(domains) for i in domain.members}
    lost: list[tuple[int, int, str, str]] = []
    for (a, b), rank in ranks.items():
        found = next((r for r, level in enumerate(levels) if level[a] == level[b]), _NODE + (place[a] != place[b]))
        if found != rank:
            lost.append((a, b, CLASSES[rank], CLASSES[found]))
    return ClassTree(domains, moved, apart, tuple(lost))


def _components(count: int, ranks: Mapping[tuple[int, int], int], most: int) -> list[int]:
    """The first device of the group each one is in, joined by classes no farther than `most`."""
    first = list(range(count))

    def root(i: int) -> int:
        while first[i] != i:
            first[i] = first[first[i]]
            i = first[i]
        return i

    for (a, b), rank in ranks.items():
        if rank <= most:
            low, high = sorted((root(a), root(b)))
            first[high] = low
    return [root(i) for i in range(count)]


def _members(level: Sequence[int]) -> dict[int, list[int]]:
    groups: dict[int, list[int]] = {}
    for index, first in enumerate(level):
        groups.setdefault(first, []).append(index)
    return groups


def _far(ranks: Mapping[tuple[int, int], int], level: Sequence[int]) -> frozenset[tuple[int, int]]:
    """Pairs of groups that lie SYS apart somewhere."""
    found = {(level[a], level[b]) for (a, b), rank in ranks.items() if rank > _NODE}
    return frozenset(found | {(b, a) for a, b in found})


def _common(names: Sequence[str]) -> str:
    """The name most devices have, the first of several; empty where none has one."""
    return max(dict.fromkeys(names), key=names.count) if names else ""


def _join(named: Mapping[int, str], far: frozenset[tuple[int, int]]) -> list[list[int]]:
    """Groups of one name in one domain, unless they are SYS apart."""
    domains: list[list[int]] = []
    of_name: dict[str, list[list[int]]] = {}
    for first, name in named.items():
        open_to = (d for d in of_name.get(name, []) if not any((first, other) in far for other in d))
        domain = next(open_to, None)
        if domain is None:
            domain = []
            domains.append(domain)
            of_name.setdefault(name, []).append(domain)
        domain.append(first)
    return domains


def _nested(
    members: Sequence[int], levels: Sequence[Sequence[int]]
) -> tuple[tuple[tuple[tuple[int, ...], ...], ...], ...]:
    tree: dict[int, dict[int, dict[int, list[int]]]] = {}
    for i in sorted(members):
        pix, pxb, phb = (levels[rank][i] for rank in range(3))
        tree.setdefault(phb, {}).setdefault(pxb, {}).setdefault(pix, []).append(i)
    return tuple(
        tuple(tuple(tuple(group) for group in family.values()) for family in bridge.values())
        for bridge in tree.values()
    )
