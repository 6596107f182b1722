"""As built against as designed: the fabric a dump shows next to the design it was to be.

Nodes are matched by name first (as drawn or as exported, case and domain suffix aside), then by what they are joined
to: a node whose matched neighbours agree with no other node's is that node. Each cable between matched nodes is then
looked for on both sides; parallel cables count. Rates are compared where both sides know them. A dump of nothing but
InfiniBand is compared with the InfiniBand cables of the design alone.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Final

from designer.catalog.partkind import Domain
from designer.catalog.parttype import Capability, link_kinds, part_kinds
from designer.design.document import Design, LinkValues
from designer.design.elaborate import Netlist, elaborate
from designer.design.naming import homes, node_names
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.findings import Finding, Severity
from designer.plain_text import counted
from designer.sources import Status
from designer.units import format_quantity

_PLACES: Final = 50
_ROUNDS: Final = 64
#: the network whose dumps show no other
_ALONE: Final = "infiniband"
#: rates closer than this are the same: tools print rounded ones
_SAME: Final = 0.02
_Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FabricGraph:
    """The network of a design: a node a switch or server, cables by pair of nodes."""

    net: Netlist
    nodes: tuple[int, ...]
    names: dict[int, str]
    #: what exports call each node
    exported: dict[int, str]
    kinds: dict[int, str]
    cables: dict[_Pair, int]
    #: rate of one cable [B/s], slowest of the pair; missing where a rate is assumed
    rates: dict[_Pair, float]
    links: dict[_Pair, list[int]]

    def path(self, node: int) -> str:
        """Path of a node."""
        return self.net.path(node)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs, and how much was matched."""

    findings: tuple[Finding, ...]
    matched: int
    cables_as_designed: int
    cables_missing: int
    cables_extra: int
    degraded: int
    #: share of the designed network capacity that is there [0, 1]
    capacity: float


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
    cables: Counter[_Pair] = Counter()
    rates: dict[_Pair, float] = {}
    links: defaultdict[_Pair, list[int]] = defaultdict(list)
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


def compare_built(designed: Design, built: Design) -> Comparison:
    """What of `designed` is not as in `built`.

    Raises
    ------
    ExchangeError
        If one of them has no network, or nothing of one can be found in the other.
    """
    plan, real = fabric_of(designed), fabric_of(built)
    others = 0
    if real.cables and all(real.net.link(i).kind == _ALONE for links in real.links.values() for i in links):
        whole, plan = sum(plan.cables.values()), fabric_of(designed, _ALONE)
        others = whole - sum(plan.cables.values())
    for fabric, which in ((plan, "design"), (real, "dump")):
        if not fabric.cables:
            raise ExchangeError(
                f"the {which} has no network links", remedy="compare a design with a dump of its fabric"
            )
    match = _match(plan, real)
    if not match:
        raise ExchangeError(
            "no node of the dump could be found in the design",
            remedy="give switches and servers of the design the names they have in the dump",
        )
    return _Messages(plan, real, match).run(others)


def _match(plan: FabricGraph, real: FabricGraph) -> dict[int, int]:
    """Nodes of the plan to nodes of the dump."""
    found: dict[int, int] = {}
    taken: set[int] = set()

    def pair(groups: dict[object, list[int]], others: dict[object, list[int]]) -> bool:
        new = False
        for key, mine in groups.items():
            theirs = others.get(key, [])
            if len(mine) == len(theirs) == 1:
                found[mine[0]] = theirs[0]
                taken.add(theirs[0])
                new = True
        return new

    # a list of cables does not say what its devices are: names count where kinds differ, too
    for key in (_kind_and_name, _kind_and_export, _kind_and_host, _export):
        pair(
            _grouped({n: key(plan, n) for n in plan.nodes if n not in found}),
            _grouped({n: key(real, n) for n in real.nodes if n not in taken}),
        )
    mine, theirs = _neighbours(plan), _neighbours(real)
    for _ in range(_ROUNDS):
        back = {b: a for a, b in found.items()}
        one = {n: _around(plan, mine, n, {m: m for m in found}) for n in plan.nodes if n not in found}
        two = {n: _around(real, theirs, n, back) for n in real.nodes if n not in taken}
        if pair(_grouped(one), _grouped(two)):
            continue
        # nodes that nothing distinguishes, such as nameless adapters on one leaf, are as good as each other
        others = _grouped(two)
        alike = [(x, y) for key, mine in _grouped(one).items() for x, y in zip(mine, others.get(key, []), strict=False)]
        if not alike:
            break
        found.update(alike)
        taken.update(y for _, y in alike)
    return found


def _speed(values: LinkValues) -> float:
    """Rate of one link [B/s]."""
    return raw_rate(values)[0]


def _kind_and_name(fabric: FabricGraph, node: int) -> tuple[object, ...]:
    return fabric.kinds[node], fabric.names[node]


def _kind_and_export(fabric: FabricGraph, node: int) -> tuple[object, ...]:
    return fabric.kinds[node], fabric.exported[node]


def _kind_and_host(fabric: FabricGraph, node: int) -> tuple[object, ...]:
    """Names without the domain."""
    return fabric.kinds[node], fabric.names[node].split(".")[0]


def _export(fabric: FabricGraph, node: int) -> tuple[object, ...]:
    return (fabric.exported[node],)


def _grouped(keys: dict[int, tuple[object, ...]]) -> dict[object, list[int]]:
    groups: dict[object, list[int]] = {}
    for node, key in keys.items():
        if key[-1]:
            groups.setdefault(key, []).append(node)
    return groups


def _neighbours(fabric: FabricGraph) -> dict[int, list[int]]:
    around: dict[int, list[int]] = defaultdict(list)
    for a, b in fabric.cables:
        around[a].append(b)
        around[b].append(a)
    return around


def _around(
    fabric: FabricGraph, neighbours: dict[int, list[int]], node: int, known: dict[int, int]
) -> tuple[object, ...]:
    seen = frozenset(
        (known[m], fabric.cables[(node, m) if node <= m else (m, node)]) for m in neighbours[node] if m in known
    )
    return fabric.kinds[node], len(neighbours[node]), seen


class _Messages:
    """Findings of one comparison."""

    def __init__(self, plan: FabricGraph, real: FabricGraph, match: dict[int, int]) -> None:
        self.plan, self.real, self.match = plan, real, match
        self.back = {b: a for a, b in match.items()}
        self.findings: list[Finding] = []

    def run(self, others: int = 0) -> Comparison:
        """Everything that differs; `others` is how many cables of other networks the dump cannot show."""
        if others:
            text = f"{counted(others, 'cable')} of other networks: the dump shows InfiniBand alone"
            self.findings.append(Finding("BUILT-OTHER-NETWORK", Severity.INFO, text, ()))
        self._nodes()
        missing: dict[_Pair, int] = {}
        extra: dict[_Pair, int] = {}
        for (a, b), count in self.plan.cables.items():
            there = self._there(a, b)
            if there is None or there < count:
                missing[a, b] = count - (there or 0)
        for (a, b), count in self.real.cables.items():
            if a in self.back and b in self.back:
                low, high = sorted((self.back[a], self.back[b]))
                planned = self.plan.cables.get((low, high), 0)
                if count > planned:
                    extra[low, high] = count - planned
        self._miswired(missing, extra)
        slow, lost = self._degraded()
        self._missing(missing, lost)
        total = sum(self._rate(p) * n for p, n in self.plan.cables.items())
        gone = sum(self._rate(p) * n for p, n in missing.items()) + sum(lost.values())
        return Comparison(
            tuple(self.findings),
            len(self.match),
            sum(self.plan.cables.values()),
            sum(missing.values()),
            sum(extra.values()),
            slow,
            max(0.0, 1 - gone / total) if total else 0.0,
        )

    def _rate(self, pair: _Pair) -> float:
        known = self.plan.rates.get(pair)
        if known is not None:
            return known
        links = self.plan.links.get(pair)
        return _speed(self.plan.net.link(links[0])) if links else 0.0

    def _there(self, a: int, b: int) -> int | None:
        """Cables of the dump between what two nodes of the plan became; None where one is not there."""
        if a not in self.match or b not in self.match:
            return None
        low, high = sorted((self.match[a], self.match[b]))
        return self.real.cables.get((low, high), 0)

    def _nodes(self) -> None:
        absent = [n for n in self.plan.nodes if n not in self.match]
        if absent:
            self._tell(
                "BUILT-ABSENT",
                Severity.ERROR,
                f"{len(absent)} switches or servers of the design are not in the dump, "
                "or cannot be distinguished from others: " + ", ".join(self.plan.names[n][:60] for n in absent[:3]),
                absent,
                "check that they are up; give them the names of the dump",
            )
        strange = [n for n in self.real.nodes if n not in self.back]
        if strange:
            names = ", ".join(self.real.names[n][:60] for n in strange[:5])
            self.findings.append(
                Finding(
                    "BUILT-UNPLANNED",
                    Severity.WARNING,
                    f"{len(strange)} nodes of the dump are not in the design: {names}",
                    (),
                    "draw them, or give nodes of the design their names",
                )
            )

    def _miswired(self, missing: dict[_Pair, int], extra: dict[_Pair, int]) -> None:
        """A cable that is missing at one place and too many at another, with one end in common, was plugged wrongly."""
        at: dict[int, list[_Pair]] = defaultdict(list)
        for pair in extra:
            for node in pair:
                at[node].append(pair)
        left = dict(extra)
        for pair in missing:
            wrong = next((p for node in pair for p in at[node] if left.get(p)), None)
            if wrong is not None:
                left[wrong] -= 1
                shared = next(n for n in pair if n in wrong)
                meant, got = (next(n for n in p if n != shared) for p in (pair, wrong))
                self._tell(
                    "BUILT-MISWIRED",
                    Severity.ERROR,
                    f"{self._shown(shared)} is cabled to {self._shown(got)} and not to {self._shown(meant)}",
                    [shared, meant, got],
                    "move the cable",
                )
        spare = {pair: n for pair, n in left.items() if n}
        if spare:
            nodes = [n for pair in spare for n in pair]
            text = f"{sum(spare.values())} cables are in the dump and not in the design"
            self._tell("BUILT-EXTRA", Severity.WARNING, text, nodes, "draw them, or take them out")

    def _missing(self, missing: dict[_Pair, int], lost: dict[_Pair, float]) -> None:
        del lost
        for pair, count in missing.items():
            planned = self.plan.cables[pair]
            rate = format_quantity(self._rate(pair) * count, "rate")
            here, there = (self._shown(n) for n in pair)
            text = (
                f"{count} of {planned} cables between {here} and {there} are missing: {rate} of "
                f"{format_quantity(self._rate(pair) * planned, 'rate')} per direction is lost"
            )
            where = [self.plan.net.link_path(i) for i in self.plan.links[pair][:_PLACES]]
            self.findings.append(Finding("BUILT-MISSING", Severity.ERROR, text, tuple(where), "check cable and ports"))

    def _degraded(self) -> tuple[int, dict[_Pair, float]]:
        lost: dict[_Pair, float] = {}
        for pair, rate in self.plan.rates.items():
            if pair[0] not in self.match or pair[1] not in self.match:
                continue
            low, high = sorted((self.match[pair[0]], self.match[pair[1]]))
            there = self.real.rates.get((low, high))
            if there is None or there >= rate * (1 - _SAME):
                continue
            slow = [i for i in self.real.links[low, high] if _speed(self.real.net.link(i)) < rate * (1 - _SAME)]
            count = sum(self.real.net.link(i).count for i in slow)
            lost[pair] = sum(self.real.net.link(i).count * (rate - _speed(self.real.net.link(i))) for i in slow)
            here, far = (self._shown(n) for n in pair)
            text = (
                f"{count} of {self.plan.cables[pair]} cables between {here} and {far} run at "
                f"{format_quantity(there, 'rate')}, designed for {format_quantity(rate, 'rate')}: "
                f"{format_quantity(lost[pair], 'rate')} per direction is lost"
            )
            where = tuple(self.plan.net.link_path(i) for i in self.plan.links[pair][:_PLACES])
            self.findings.append(Finding("BUILT-DEGRADED", Severity.ERROR, text, where, "check cable and ports"))
        return len(lost), lost

    def _shown(self, node: int) -> str:
        text = self.plan.names[node]
        return text if len(text) <= 80 else f"{text[:79]}…"

    def _tell(self, code: str, severity: Severity, text: str, nodes: list[int], remedy: str) -> None:
        where = tuple(dict.fromkeys(self.plan.path(n) for n in nodes[:_PLACES]))
        self.findings.append(Finding(code, severity, text, where, remedy))
