"""As built against as designed: the fabric a dump shows next to the design it was to be.

Nodes are matched by name, else by the cables around them, see ``fabric_matching``. Each cable between matched nodes is
then looked for on both sides; parallel cables count. Rates are compared where both sides know them. A dump of nothing
but InfiniBand is compared with the InfiniBand cables of the design alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from designer.decisions.fabric_matching import FabricGraph, How, Match, Pair, fabric_of, match
from designer.design.document import Design, LinkValues
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.findings import Finding, Severity
from designer.plain_text import counted, shortened
from designer.units import format_quantity

_PLACES: Final = 50
_LONGEST: Final = 80
#: the network whose dumps show no other
_ALONE: Final = "infiniband"
#: rates closer than this are the same: tools print rounded ones
_SAME: Final = 0.02


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
    differences: Differences


@dataclass(frozen=True, slots=True)
class Differences:
    """What differs, by pairs of nodes of the design.

    Parameters
    ----------
    missing
        Cables of the design that are not in the dump.
    extra
        Cables that are in the dump and not in the design, without those that lead elsewhere.
    moved
        Cables that lead elsewhere: the end that is right, where the other was to be, and where it is.
    slow
        Cables that run slower: how many, and at which rate [B/s].
    """

    plan: FabricGraph
    match: Match
    missing: Mapping[Pair, int]
    extra: Mapping[Pair, int]
    moved: tuple[tuple[int, int, int], ...]
    slow: Mapping[Pair, tuple[int, float]]


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
    found = match(plan, real)
    if not found.pairs:
        raise ExchangeError(
            "no node of the dump could be found in the design",
            remedy="give switches and servers of the design the names they have in the dump",
        )
    return _Messages(plan, real, found).run(others)


def _link_rate(values: LinkValues) -> float:
    """Rate of one link [B/s]."""
    return raw_rate(values)[0]


class _Messages:
    """Findings of one comparison."""

    def __init__(self, plan: FabricGraph, real: FabricGraph, found: Match) -> None:
        self.plan, self.real, self.found = plan, real, found
        self.match = found.pairs
        self.back = {b: a for a, b in self.match.items()}
        self.moved: list[tuple[int, int, int]] = []
        self.slow: dict[Pair, tuple[int, float]] = {}
        self.findings: list[Finding] = []

    def run(self, others: int = 0) -> Comparison:
        """Everything that differs; `others` is how many cables of other networks the dump cannot show."""
        if others:
            text = f"{counted(others, 'cable')} of other networks: the dump shows InfiniBand alone"
            self.findings.append(Finding("BUILT-OTHER-NETWORK", Severity.INFO, text, ()))
        self._nodes()
        self._by_structure()
        missing: dict[Pair, int] = {}
        extra: dict[Pair, int] = {}
        for (a, b), count in self.plan.cables.items():
            there = self._cables_in_dump(a, b)
            if there is None or there < count:
                missing[a, b] = count - (there or 0)
        for (a, b), count in self.real.cables.items():
            if a in self.back and b in self.back:
                low, high = sorted((self.back[a], self.back[b]))
                planned = self.plan.cables.get((low, high), 0)
                if count > planned:
                    extra[low, high] = count - planned
        spare = self._find_miswired(missing, extra)
        slow, lost = self._report_degraded()
        self._report_missing(missing, lost)
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
            Differences(self.plan, self.found, missing, spare, tuple(self.moved), self.slow),
        )

    def _rate(self, pair: Pair) -> float:
        known = self.plan.rates.get(pair)
        if known is not None:
            return known
        links = self.plan.links.get(pair)
        return _link_rate(self.plan.net.link(links[0])) if links else 0.0

    def _cables_in_dump(self, a: int, b: int) -> int | None:
        """Cables of the dump between what two nodes of the plan became; None where one is not there."""
        if a not in self.match or b not in self.match:
            return None
        low, high = sorted((self.match[a], self.match[b]))
        return self.real.cables.get((low, high), 0)

    def _nodes(self) -> None:
        absent = [n for n in self.plan.nodes if n not in self.match]
        if absent:
            self._add_finding(
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

    def _by_structure(self) -> None:
        """State how much of the match rests on cables alone."""
        by_cables = [n for n, how in self.found.how.items() if how is not How.NAME]
        if not by_cables:
            return
        guesses = [n for n, how in self.found.how.items() if how is How.GUESS]
        equal = self.found.count(How.EQUIVALENT)
        shown = ", ".join(self._label(n) for n in by_cables[:3])
        text = f"{len(by_cables)} nodes are matched by their cables, not by name: {shown}"
        if equal:
            text += f"; {equal} of them could be exchanged with equal ones"
        self._add_finding(
            "BUILT-BY-CABLES", Severity.INFO, text, by_cables, "give nodes of the design the names of the dump"
        )
        if guesses:
            names = ", ".join(self._label(n) for n in guesses[:3])
            text = f"{len(guesses)} nodes are guesses, another node of the dump fits as well: {names}"
            self._add_finding("BUILT-GUESSED", Severity.WARNING, text, guesses, "name them, and compare again")

    def _find_miswired(self, missing: dict[Pair, int], extra: dict[Pair, int]) -> dict[Pair, int]:
        """A cable that is missing at one place and too many at another, with one end in common, was plugged wrongly.

        Returned are the other cables that are too many.
        """
        at: dict[int, list[Pair]] = defaultdict(list)
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
                self.moved.append((shared, meant, got))
                self._add_finding(
                    "BUILT-MISWIRED",
                    Severity.ERROR,
                    f"{self._label(shared)} is cabled to {self._label(got)} and not to {self._label(meant)}",
                    [shared, meant, got],
                    "move the cable",
                )
        spare = {pair: n for pair, n in left.items() if n}
        if spare:
            nodes = [n for pair in spare for n in pair]
            text = f"{sum(spare.values())} cables are in the dump and not in the design"
            self._add_finding("BUILT-EXTRA", Severity.WARNING, text, nodes, "draw them, or take them out")
        return spare

    def _report_missing(self, missing: dict[Pair, int], lost: dict[Pair, float]) -> None:
        del lost
        for pair, count in missing.items():
            planned = self.plan.cables[pair]
            rate = format_quantity(self._rate(pair) * count, "rate")
            here, there = (self._label(n) for n in pair)
            text = (
                f"{count} of {planned} cables between {here} and {there} are missing: {rate} of "
                f"{format_quantity(self._rate(pair) * planned, 'rate')} per direction is lost"
            )
            where = [self.plan.net.link_path(i) for i in self.plan.links[pair][:_PLACES]]
            self.findings.append(Finding("BUILT-MISSING", Severity.ERROR, text, tuple(where), "check cable and ports"))

    def _report_degraded(self) -> tuple[int, dict[Pair, float]]:
        lost: dict[Pair, float] = {}
        for pair, rate in self.plan.rates.items():
            if pair[0] not in self.match or pair[1] not in self.match:
                continue
            low, high = sorted((self.match[pair[0]], self.match[pair[1]]))
            there = self.real.rates.get((low, high))
            if there is None or there >= rate * (1 - _SAME):
                continue
            slow = [i for i in self.real.links[low, high] if _link_rate(self.real.net.link(i)) < rate * (1 - _SAME)]
            count = sum(self.real.net.link(i).count for i in slow)
            self.slow[pair] = (count, there)
            lost[pair] = sum(self.real.net.link(i).count * (rate - _link_rate(self.real.net.link(i))) for i in slow)
            here, far = (self._label(n) for n in pair)
            text = (
                f"{count} of {self.plan.cables[pair]} cables between {here} and {far} run at "
                f"{format_quantity(there, 'rate')}, designed for {format_quantity(rate, 'rate')}: "
                f"{format_quantity(lost[pair], 'rate')} per direction is lost"
            )
            where = tuple(self.plan.net.link_path(i) for i in self.plan.links[pair][:_PLACES])
            self.findings.append(Finding("BUILT-DEGRADED", Severity.ERROR, text, where, "check cable and ports"))
        return len(lost), lost

    def _label(self, node: int) -> str:
        text = shortened(self.plan.names[node], _LONGEST)
        if self.found.how.get(node, How.NAME) is How.NAME:
            return text
        return f"{text} ({shortened(self.real.names[self.match[node]], _LONGEST)} in the dump)"

    def _add_finding(self, code: str, severity: Severity, text: str, nodes: list[int], remedy: str) -> None:
        where = tuple(dict.fromkeys(self.plan.path(n) for n in nodes[:_PLACES]))
        self.findings.append(Finding(code, severity, text, where, remedy))
