"""The network of a design as other programs see it: switches and hosts by safe names, one entry a bundle of cables.

Names are letters, digits, ``. _ -`` and unique; what a node is really called goes along, so that a format can show it
where it can be escaped. NICs belong to their server; ports are numbered where the design does not name them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from math import inf
from typing import Final

from designer.catalog.partkind import Capability, Domain
from designer.catalog.parttype import link_kinds, part_kinds
from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.design.name_pattern import safe
from designer.design.naming import homes, node_names
from designer.design.rates import raw_rate
from designer.errors import ExchangeError

_MOST: Final = 400_000
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Node:
    """A switch, or a host: a server, else the part a cable ends at; ``part`` is its number in the elaborated design."""

    name: str
    title: str
    switch: bool
    gpus: int
    model: str
    part: int = -1
    storage: bool = False


@dataclass(frozen=True, slots=True)
class Cable:
    """A bundle of equal cables between two nodes; ports of the first of them, the others follow."""

    a: int
    b: int
    a_port: str
    b_port: str
    count: int
    rate: float
    kind: str


@dataclass(frozen=True, slots=True)
class NetworkView:
    """Nodes, and cables by their numbers."""

    nodes: tuple[Node, ...]
    cables: tuple[Cable, ...]

    def singles(self) -> list[Cable]:
        """Every cable of its own, ports counted on where they are numbers."""
        return [
            Cable(c.a, c.b, _next(c.a_port, i), _next(c.b_port, i), 1, c.rate, c.kind)
            for c in self.cables
            for i in range(c.count)
        ]

    def _hops(self, starts: list[int]) -> list[float]:
        """Cables between each node and the nearest of `starts`; infinite where none is reached."""
        around: defaultdict[int, set[int]] = defaultdict(set)
        for cable in self.cables:
            around[cable.a].add(cable.b)
            around[cable.b].add(cable.a)
        hops = [inf] * len(self.nodes)
        reached = set(starts)
        distance = 0
        while reached:
            for n in reached:
                hops[n] = distance
            distance += 1
            reached = {m for n in reached for m in around[n] if hops[m] == inf}
        return hops

    def without_storage(self) -> NetworkView:
        """The same network without its storage systems, and without switches nearer to them than to any server.

        Raises
        ------
        ExchangeError
            If nothing but storage is on the network.
        """
        to_storage = self._hops([n for n, node in enumerate(self.nodes) if node.storage])
        to_server = self._hops([n for n, node in enumerate(self.nodes) if not node.storage and not node.switch])
        stays = (n for n, node in enumerate(self.nodes) if not node.storage and to_server[n] <= to_storage[n])
        kept = {old: new for new, old in enumerate(stays)}
        if all(self.nodes[n].switch for n in kept):
            raise ExchangeError("the network has no servers", remedy="join NICs of servers to its switches")
        cables = [c for c in self.cables if c.a in kept and c.b in kept]
        return NetworkView(
            tuple(self.nodes[n] for n in kept), tuple(replace(c, a=kept[c.a], b=kept[c.b]) for c in cables)
        )


def _next(port: str, step: int) -> str:
    if step == 0:
        return port
    return str(int(port) + step) if port.isascii() and port.isdigit() else f"{port}.{step}"


def interface_name(port: str) -> str:
    """What an inventory calls the interface of a port: ``port7`` where the design only counts it."""
    return f"port{port}" if port.isascii() and port.isdigit() else port


def one_line(text: str) -> str:
    """`text` in one line without control characters, of bounded length."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return plain if len(plain) <= _SHOWN else f"{plain[: _SHOWN - 1]}…"


def network_view(design: Design) -> NetworkView:
    """The network of a design.

    Raises
    ------
    ExchangeError
        If it has none, or is larger than such files are good for.
    """
    net = elaborate(design)
    if max(net.n_parts, net.n_links) > _MOST * 4:
        raise ExchangeError(f"the design elaborates to {net.n_links:,} links", remedy="use fewer replicas")
    kinds = part_kinds()
    of_def = [d.kind for d in net.part_defs]
    definition = net.part_def.tolist()
    home = homes(net)
    joins = {name for name, kind in link_kinds().items() if kind.domain is Domain.NETWORK}
    number: dict[int, int] = {}
    used: Counter[int] = Counter()
    cables: list[Cable] = []
    for i, (a, b, d) in enumerate(zip(net.link_a.tolist(), net.link_b.tolist(), net.link_def.tolist(), strict=True)):
        link = net.link_defs[d]
        if link.kind not in joins:
            continue
        ends = [number.setdefault(home[part], len(number)) for part in (a, b)]
        if ends[0] == ends[1]:
            continue
        ports: list[str] = []
        for part, end, stated in zip((a, b), ends, ("a_port", "b_port"), strict=True):
            first = used[end] + 1
            used[end] += link.count
            named = str(getattr(link, stated, ""))
            inside = of_def[definition[part]] not in ("switch", "server")
            ports.append(safe(named) if named else (safe(net.path(part).rsplit("/", 1)[-1]) if inside else str(first)))
        cables.append(Cable(ends[0], ends[1], ports[0], ports[1], link.count, raw_rate(link)[0], link.kind))
        if len(cables) > _MOST or i > 8 * _MOST:
            raise ExchangeError(f"the network has more than {_MOST:,} cables", remedy="use fewer replicas")
    if not cables:
        raise ExchangeError("the design has no network", remedy="join NICs and switches first")
    gpus: Counter[int] = Counter()
    for part, d in enumerate(definition):
        if Capability.ACCELERATE in kinds[of_def[d]].capabilities:
            gpus[home[part]] += 1
    names = node_names(net, number)
    nodes: list[Node] = []
    for part in number:
        path = net.path(part)
        group = path.rpartition("/")[0]
        title = one_line(net.part(part).label if not group else f"{group} {net.part(part).label}")
        kind = of_def[definition[part]]
        stores = Capability.STORE in kinds[kind].capabilities
        model = net.part(part).type.rsplit("/", 1)[-1]
        nodes.append(Node(names[part], title, kind == "switch", gpus[part], model, part, stores))
    return NetworkView(tuple(nodes), tuple(cables))


def tree_of(view: NetworkView) -> list[list[tuple[str, list[int], list[str]]]]:
    """The network as a tree of switch groups, level by level from the hosts: name, switches, what hangs below.

    Switches that share something below are one group, so that everything has one group above it: eight rails are one
    leaf, the spines that join them one switch above. Below are names of hosts on the first level, of groups on others.
    """
    # imported here: few formats have trees, and it takes long
    from networkx.utils import UnionFind

    around: defaultdict[int, list[int]] = defaultdict(list)
    for cable in view.cables:
        around[cable.a].append(cable.b)
        around[cable.b].append(cable.a)
    below = {n: view.nodes[n].name for n, node in enumerate(view.nodes) if not node.switch}
    seen: set[int] = set()
    levels: list[list[tuple[str, list[int], list[str]]]] = []
    while below:
        fresh = dict.fromkeys(sorted({m for n in below for m in around[n] if view.nodes[m].switch and m not in seen}))
        if not fresh:
            break
        joined = UnionFind(fresh)
        above = [(name, m) for n, name in below.items() for m in around[n] if m in fresh]
        first: dict[str, int] = {}
        for name, m in above:
            joined.union(first.setdefault(name, m), m)
        groups: dict[int, list[int]] = {}
        for m in fresh:
            groups.setdefault(joined[m], []).append(m)
        hangs: dict[int, dict[str, None]] = {}
        for name, m in above:
            hangs.setdefault(joined[m], {})[name] = None
        levels.append([(view.nodes[ms[0]].name, ms, list(hangs.get(key, {}))) for key, ms in groups.items()])
        seen |= set(fresh)
        below = {m: view.nodes[ms[0]].name for ms in groups.values() for m in ms}
    return levels
