"""Which node of a built fabric is which of the design: by name where names agree, else by the cables around it.

Without common names the graphs are matched by structure. Nodes get a colour for each distance (kind, then kinds and
cables of their neighbours, and so on); matching starts from the pair whose colours agree the farthest and grows along
cables: the pair that shares most cables with what is matched comes next. Of nodes that nothing distinguishes any may be
taken; where the choice is between nodes that do differ, it is a guess and is stated as one.
Sources: Weisfeiler & Leman 1968 for colours; Yartseva & Grossglauser 2013 (percolation graph matching) for growing.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from designer.catalog.partkind import Domain
from designer.catalog.parttype import Capability, link_kinds, part_kinds
from designer.design.document import Design
from designer.design.elaborate import Netlist, elaborate
from designer.design.naming import homes, node_names
from designer.design.rates import raw_rate
from designer.sources import Status

#: colours look so many cables far
_DEPTH: Final = 3
Pair = tuple[int, int]


class How(StrEnum):
    """What a match rests on."""

    NAME = "name"
    CABLES = "cables"
    #: any of several nodes that nothing distinguishes
    EQUIVALENT = "alike"
    #: one of several nodes that differ elsewhere
    GUESS = "guess"


@dataclass(frozen=True, slots=True)
class FabricGraph:
    """The network of a design: a node a switch or server, cables by pair of nodes."""

    net: Netlist
    nodes: tuple[int, ...]
    names: dict[int, str]
    #: what exports call each node
    exported: dict[int, str]
    kinds: dict[int, str]
    cables: dict[Pair, int]
    #: rate of one cable [B/s], slowest of the pair; missing where a rate is assumed
    rates: dict[Pair, float]
    links: dict[Pair, list[int]]

    def path(self, node: int) -> str:
        """Path of a node."""
        return self.net.path(node)

    def between(self, a: int, b: int) -> int:
        """Cables between two nodes."""
        return self.cables.get((a, b) if a <= b else (b, a), 0)


@dataclass(frozen=True, slots=True)
class Match:
    """Nodes of the design to nodes of the dump, and what each rests on."""

    pairs: dict[int, int]
    how: dict[int, How]

    def count(self, how: How) -> int:
        """How many rest on it."""
        return sum(one is how for one in self.how.values())


def fabric_of(design: Design, only: str = "") -> FabricGraph:
    """The network of a design; its links of the kind `only` where one is given."""
    net = elaborate(design)
    kinds = part_kinds()
    of_def = [
        "switch" if Capability.SWITCH in kinds[d.kind].capabilities and d.kind == "switch" else d.kind
        for d in net.part_defs
    ]
    home = homes(net)
    joins = {name for name, kind in link_kinds().items() if kind.domain is Domain.NETWORK}
    network = [d.kind == only if only else d.kind in joins for d in net.link_defs]
    known = [raw_rate(d) for d in net.link_defs]
    cables: Counter[Pair] = Counter()
    rates: dict[Pair, float] = {}
    links: defaultdict[Pair, list[int]] = defaultdict(list)
    for i, (a, b, d) in enumerate(zip(net.link_a.tolist(), net.link_b.tolist(), net.link_def.tolist(), strict=True)):
        if not network[d]:
            continue
        low, high = sorted((home[a], home[b]))
        pair = (low, high)
        cables[pair] += net.link_defs[d].count
        links[pair].append(i)
        rate, status = known[d]
        if status is not Status.ASSUMED:
            before = rates.get(pair)
            rates[pair] = rate if before is None or rate < before else before
    nodes = tuple(sorted({n for pair in cables for n in pair}))
    return FabricGraph(
        net,
        nodes,
        {n: _name(net, n) for n in nodes},
        {n: name.lower() for n, name in node_names(net, nodes).items()},
        {n: of_def[int(net.part_def[n])] for n in nodes},
        dict(cables),
        rates,
        dict(links),
    )


def _name(net: Netlist, node: int) -> str:
    """What a node is called: its name where it is drawn by itself, its path where it is one of a group."""
    path = net.path(node)
    return (path if "[" in path else net.part(node).label).strip().lower()


def match(plan: FabricGraph, real: FabricGraph) -> Match:
    """Nodes of the plan to nodes of the dump."""
    found: dict[int, int] = {}
    taken: set[int] = set()
    # a list of cables does not say what its devices are: names count where kinds differ, too
    for key in (_kind_and_name, _kind_and_export, _kind_and_host, _export):
        mine = _group_by_key({n: key(plan, n) for n in plan.nodes if n not in found})
        theirs = _group_by_key({n: key(real, n) for n in real.nodes if n not in taken})
        for name, group in mine.items():
            others = theirs.get(name, [])
            if len(group) == len(others) == 1:
                found[group[0]] = others[0]
                taken.add(others[0])
    return _Growing(plan, real, found).run()


def _kind_and_name(fabric: FabricGraph, node: int) -> tuple[object, ...]:
    return fabric.kinds[node], fabric.names[node]


def _kind_and_export(fabric: FabricGraph, node: int) -> tuple[object, ...]:
    return fabric.kinds[node], fabric.exported[node]


def _kind_and_host(fabric: FabricGraph, node: int) -> tuple[object, ...]:
    """Names without the domain."""
    return fabric.kinds[node], fabric.names[node].split(".")[0]


def _export(fabric: FabricGraph, node: int) -> tuple[object, ...]:
    return (fabric.exported[node],)


def _group_by_key(keys: dict[int, tuple[object, ...]]) -> dict[object, list[int]]:
    groups: dict[object, list[int]] = {}
    for node, key in keys.items():
        if key[-1]:
            groups.setdefault(key, []).append(node)
    return groups


def _neighbours(fabric: FabricGraph) -> dict[int, list[int]]:
    around: dict[int, list[int]] = defaultdict(list)
    for a, b in fabric.cables:
        if a != b:
            around[a].append(b)
            around[b].append(a)
    return around


class _Growing:
    """A match that grows along cables."""

    def __init__(self, plan: FabricGraph, real: FabricGraph, found: dict[int, int]) -> None:
        self.plan, self.real = plan, real
        self.found = dict(found)
        self.how = dict.fromkeys(found, How.NAME)
        self.taken = set(found.values())
        self.mine, self.theirs = _neighbours(plan), _neighbours(real)
        self.colours, self.others = _colours(plan, self.mine, real, self.theirs)
        #: cables a pair shares with what is matched, by node of the plan
        self.shared: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self.queue: list[tuple[int, int, int, int]] = []

    def run(self) -> Match:
        """Everything that can be matched."""
        for x, y in list(self.found.items()):
            self._shared_neighbour_cables(x, y)
        self._grow()
        while (start := self._start()) is not None:
            self._take(*start)
            self._grow()
        return Match(self.found, self.how)

    def _agree(self, x: int, y: int) -> int:
        """How far the colours of two nodes agree; −1 where not even their kinds do."""
        depth = -1
        for one, other in zip(self.colours[x], self.others[y], strict=True):
            if one != other:
                break
            depth += 1
        return depth

    def _shared_neighbour_cables(self, x: int, y: int) -> None:
        """The cables that neighbours of a matched pair share."""
        for n in self.mine[x]:
            if n in self.found:
                continue
            cables = self.plan.between(x, n)
            for m in self.theirs[y]:
                if m in self.taken or self.plan.kinds[n] != self.real.kinds[m]:
                    continue
                self.shared[n][m] += min(cables, self.real.between(y, m))
                heapq.heappush(self.queue, (-self.shared[n][m], -self._agree(n, m), n, m))

    def _grow(self) -> None:
        while self.queue:
            score, depth, x, y = heapq.heappop(self.queue)
            if x in self.found or y in self.taken or self.shared[x][y] != -score:
                continue
            self._take(x, y, self._certainty(x, y, -score, -depth))

    def _certainty(self, x: int, y: int, score: int, depth: int) -> How:
        """Whether another node of the dump, or another one of the plan, would do as well."""
        best = [
            m for m, s in self.shared[x].items() if s == score and m not in self.taken and self._agree(x, m) == depth
        ]
        if len(best) == 1:
            return How.CABLES
        same = {self.others[m] for m in best}
        return How.EQUIVALENT if len(same) == 1 and depth == _DEPTH else How.GUESS

    def _take(self, x: int, y: int, how: How) -> None:
        self.found[x] = y
        self.how[x] = how
        self.taken.add(y)
        self._shared_neighbour_cables(x, y)

    def _start(self) -> tuple[int, int, How] | None:
        """The surest pair in parts of the fabrics in which nothing is matched yet."""
        mine = _unmatched_components(self.plan.nodes, self.mine, self.found)
        theirs = _unmatched_components(self.real.nodes, self.theirs, self.taken)
        for depth in range(_DEPTH, -1, -1):
            one, other = _classes(mine, self.colours, depth), _classes(theirs, self.others, depth)
            common = [key for key in one if key in other]
            if common:
                key = min(common, key=lambda k: (len(one[k]) != len(other[k]), len(one[k]), one[k][0]))
                sure = How.CABLES if len(one[key]) == len(other[key]) == 1 else How.EQUIVALENT
                return one[key][0], other[key][0], sure if depth == _DEPTH else How.GUESS
        return None


def _unmatched_components(
    nodes: tuple[int, ...], around: dict[int, list[int]], known: dict[int, int] | set[int]
) -> list[int]:
    """Nodes of connected parts without any that is known."""
    seen: set[int] = set()
    found: list[int] = []
    for node in nodes:
        if node in seen:
            continue
        part, edge = {node}, [node]
        while edge:
            near = [m for n in edge for m in around[n] if m not in part]
            part.update(near)
            edge = near
        seen |= part
        if not any(n in known for n in part):
            found += sorted(part)
    return found


def _classes(nodes: list[int], colours: dict[int, tuple[int, ...]], depth: int) -> dict[tuple[int, ...], list[int]]:
    found: dict[tuple[int, ...], list[int]] = {}
    for node in nodes:
        found.setdefault(colours[node][: depth + 1], []).append(node)
    return found


def _colours(
    plan: FabricGraph, mine: dict[int, list[int]], real: FabricGraph, theirs: dict[int, list[int]]
) -> tuple[dict[int, tuple[int, ...]], dict[int, tuple[int, ...]]]:
    """Colours of all nodes for each distance, the same numbers in both fabrics."""
    numbers: dict[object, int] = {}

    def number(key: object) -> int:
        return numbers.setdefault(key, len(numbers))

    found: list[dict[int, tuple[int, ...]]] = [
        {n: (number(fabric.kinds[n]),) for n in fabric.nodes} for fabric in (plan, real)
    ]
    for _ in range(_DEPTH):
        for k, (fabric, around) in enumerate(((plan, mine), (real, theirs))):
            last = {n: colours[-1] for n, colours in found[k].items()}
            found[k] = {
                n: (*colours, number((last[n], tuple(sorted((last[m], fabric.between(n, m)) for m in around[n])))))
                for n, colours in found[k].items()
            }
    return found[0], found[1]
