"""The cheapest edits that lift what binds a workload, then the next; each answer analysed again before it is stated.

Among few candidates every set of them is looked at in the order of its cost, so the first that reaches the goal is the
cheapest there is. Among many the best for its cost is taken again and again and what turns out not to be needed is
dropped; the answer says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from designer.analysis.study import run_workload
from designer.decisions.failures_survey import workload_of
from designer.decisions.search import Space, explore
from designer.decisions.suggest_accelerators import accelerator_candidates
from designer.decisions.suggest_candidates import Candidate, Prices, candidates
from designer.decisions.suggest_cost import Cost
from designer.design.document import Design, WorkloadSpec
from designer.design.edits.together import Together
from designer.engine.account.worth import share_of, worth_of
from designer.engine.network import Network, build_network
from designer.engine.results import Bottleneck, WorkloadResult
from designer.errors import AnalysisError, DesignerError
from designer.findings import Severity
from designer.progress import UNWATCHED, Cancel, Progress, Watch
from designer.rules.runner import check
from designer.sources import Constant, Status

#: up to so many candidates all sets of them are looked at
EXACT_LIMIT: Final = 12
#: of designs of more parts than `LARGE` only so many
EXACT_LARGE_LIMIT: Final = 5
LARGE: Final = 1000
#: a bottleneck counts as lifted by this gain
LIFTED: Final = Constant(0.05, 0.02, 0.1, "assumed-suggestions", Status.ASSUMED, "1", "gain of throughput worth a step")
#: gains this close are equal
_SAME: Final = 1e-9
#: share of the requests that may miss their limits after an edit and did not before
_LATER: Final = Constant(0.01, 0.0, 0.02, "assumed-suggestions", Status.ASSUMED, "1", "of those within their limits")
#: more steps than this are not stated
STEPS_LIMIT: Final = 5
#: a design of more channels is searched on request alone
QUICK_CHANNELS: Final = 2_000


@dataclass(frozen=True, eq=False)
class Step:
    """One purchase: edits that lift what binds.

    Parameters
    ----------
    lifted
        What bound before it.
    before, after
        The metric that counts.
    exact
        True if no cheaper set of the candidates reaches as much; false where they were too many to look at all.
    considered
        How many candidates there were; `analysed` how many sets were worked out.
    """

    edits: tuple[Candidate, ...]
    cost: Cost
    lifted: tuple[Bottleneck, ...]
    before: float
    after: float
    gain: float
    binding: tuple[Bottleneck, ...]
    exact: bool
    considered: int
    analysed: int

    @property
    def edit(self) -> Together:
        """All of it as one step that can be undone."""
        words = "; ".join(one.words for one in self.edits)
        return Together(tuple(one.edit for one in self.edits), f"{words[:1].upper()}{words[1:]}")


@dataclass(frozen=True, eq=False)
class Suggestions:
    """Steps one after the other, each from the design that the one before leaves.

    Parameters
    ----------
    stuck
        What binds in the end, and why nothing is suggested for it; empty where only the number of steps ended it.
    """

    design: str
    workload: str
    metric: str
    unit: str
    value: float
    steps: tuple[Step, ...]
    stuck: str
    currency: str = ""


class Searcher:
    """One design and its candidates; sets of them are analysed once each."""

    def __init__(
        self,
        design: Design,
        spec: WorkloadSpec,
        prices: Prices,
        watch: Watch = UNWATCHED,
        whole: WorkloadResult | None = None,
        replaced: Collection[str] = (),
    ) -> None:
        self.design, self.spec, self.watch = design, spec, watch
        network = build_network(design)
        self.whole = whole or _evaluate(network, spec, watch)
        self.metric = worth_of(self.whole)
        found = (*candidates(network, self.whole, prices), *accelerator_candidates(network, spec, self.whole, prices))
        # what a step before bought is not thrown away again
        found = [one for one in found if one.about not in replaced]
        self.candidates = tuple(sorted(found, key=lambda one: (one.cost.key, one.title)))
        self._small = network.net.n_parts <= LARGE
        self._gains: dict[frozenset[int], float] = {}

    @property
    def analysed(self) -> int:
        """How many sets were worked out."""
        return len(self._gains)

    def edited(self, chosen: Sequence[int]) -> Design | None:
        """The design with some candidates applied; None where they do not go together."""
        about = [self.candidates[k].about for k in chosen]
        if len(set(about)) < len(about):
            return None
        design = self.design
        try:
            for k in sorted(chosen):
                design = self.candidates[k].edit.apply(design)
        except DesignerError:
            return None
        return design

    def gain(self, chosen: Sequence[int]) -> float:
        """How many times more gets done with some candidates; 0 where they do not go together or nothing runs."""
        key = frozenset(chosen)
        known = self._gains.get(key)
        if known is None:
            known = self._gains[key] = self._gain(chosen)
        return known

    def _gain(self, chosen: Sequence[int]) -> float:
        self.watch.check()
        design = self.edited(chosen)
        if design is None:
            return 0.0
        try:
            spec = _current_workload(design, self.spec)
            network = build_network(design)
            result = _evaluate(network, spec, self.watch, explained=False)
        except AnalysisError:
            return 0.0
        before, after = (r.metrics.get("goodput") for r in (self.whole, result))
        if before is not None and after is not None and after.value < before.value * (1 - _LATER.value):
            return 0.0  # it could do more, but of what is asked more comes later than it may
        return share_of(self.whole, result)

    def reaches(self, chosen: Sequence[int], goal: float) -> bool:
        """True if some candidates reach a gain and break no rule that held."""
        if self.gain(chosen) < goal:
            return False
        design = self.edited(chosen)
        return design is not None and _errors(design) <= self._current_errors

    @cached_property
    def _current_errors(self) -> frozenset[str]:
        return _errors(self.design)

    @property
    def exact(self) -> bool:
        """True if there are so few candidates that all sets of them are looked at."""
        return len(self.candidates) <= (EXACT_LIMIT if self._small else EXACT_LARGE_LIMIT)

    def cost(self, chosen: Sequence[int]) -> Cost:
        """What some candidates cost together."""
        return sum((self.candidates[k].cost for k in chosen), Cost())

    def cheapest(self, goal: float) -> tuple[tuple[int, ...], bool] | None:
        """The cheapest candidates that reach a gain, and whether that is certain; None where none do."""
        if self.exact:
            found = next((chosen for chosen in self.by_cost() if self.reaches(chosen, goal)), None)
            return None if found is None else (found, True)
        greedy = self._greedy(goal)
        return None if greedy is None else (greedy, False)

    def by_cost(self) -> Iterator[tuple[int, ...]]:
        """All sets of candidates but the empty one, cheapest first; among equal costs smaller ones first."""

        def branches(node: tuple[tuple[int, ...], bool]) -> list[tuple[tuple[int, ...], bool]] | None:
            chosen, whole = node
            if whole:
                return None
            # no cost is below zero, so a set is never cheaper than what it grew from
            grown = [((*chosen, k), False) for k in range(chosen[-1] + 1 if chosen else 0, len(self.candidates))]
            return [(chosen, True), *grown] if chosen else grown

        space = Space(((), False), branches, lambda node: (self.cost(node[0]).key, len(node[0]), node[0]))
        return (chosen for chosen, _ in explore(space, watch=self.watch))

    def _greedy(self, goal: float) -> tuple[int, ...] | None:
        """The candidate that gains most for its cost, again and again; then what is not needed is dropped."""
        singles: list[tuple[int, ...]] = [(k,) for k in range(len(self.candidates)) if self.reaches((k,), goal)]
        if singles:
            return min((self.cost(c).key, c) for c in singles)[1]
        chosen: tuple[int, ...] = ()
        while not chosen or not self.reaches(chosen, goal):
            free = [k for k in range(len(self.candidates)) if k not in chosen]
            rows = [((*chosen, k), self.gain((*chosen, k))) for k in free]
            rows = [row for row in rows if row[1] > 0]
            if not rows or len(chosen) >= EXACT_LIMIT:
                return None
            best = max(gain for _, gain in rows)
            chosen = min((self.cost(c).key, c) for c, gain in rows if gain >= best * (1 - _SAME))[1]
        for k in sorted(chosen, key=lambda k: self.candidates[k].cost.key, reverse=True):
            rest = tuple(j for j in chosen if j != k)
            if rest and self.reaches(rest, goal):
                chosen = rest
        return tuple(sorted(chosen))


def _evaluate(network: Network, spec: WorkloadSpec, watch: Watch, *, explained: bool = True) -> WorkloadResult:
    """The values of a workload, and what binds it where that is asked for."""
    return run_workload(network, spec, False, None, watch.cancelled, explained=explained, banded=False)[0]


def _current_workload(design: Design, spec: WorkloadSpec) -> WorkloadSpec:
    """The workload as a design has it now: an edit may have spread it otherwise."""
    return design.workloads.get(spec.id, spec)


def _errors(design: Design) -> frozenset[str]:
    """Errors the design rules find, by code and place."""
    return frozenset(f.key for f in check(design).findings if f.severity is Severity.ERROR)


def suggest(
    design: Design,
    workload: str | None = None,
    *,
    prices: Prices | None = None,
    gain: float | None = None,
    steps: int = 3,
    progress: Progress | None = None,
    cancelled: Cancel | None = None,
) -> Suggestions:
    """The cheapest edits that lift what binds a workload, then what binds next, and so on.

    Parameters
    ----------
    gain
        How many times better each step has to make it; just noticeably by default.

    Raises
    ------
    AnalysisError
        If there is no such workload or it cannot run.
    Cancelled
        If `cancelled` says so.
    """
    spec, watch = workload_of(design, workload), Watch(progress, cancelled)
    listed = prices or Prices()
    goal = 1 + LIFTED.value if gain is None else gain
    found: list[Step] = []
    first: WorkloadResult | None = None
    whole: WorkloadResult | None = None
    stuck = ""
    for number in range(min(steps, STEPS_LIMIT)):
        watch.report(number / max(steps, 1), f"step {number + 1}")
        replaced = {one.about for step in found for one in step.edits if one.about.startswith("type:")}
        search = Searcher(design, _current_workload(design, spec), listed, watch, whole, replaced)
        first = first or search.whole
        taken = _step(search, goal)
        if taken is None:
            stuck = _no_gain_text(search)
            break
        step, design, whole = taken
        found.append(step)
    watch.report(1.0, "done")
    if first is None:
        first = _evaluate(build_network(design), spec, watch)
    name = worth_of(first)
    estimate = first.metrics[name]
    return Suggestions(design.name, spec.id, name, estimate.unit, estimate.value, tuple(found), stuck, listed.currency)


def best_single_change(
    design: Design, workload: str, whole: WorkloadResult | None = None, cancelled: Cancel | None = None
) -> Suggestions:
    """The cheapest single edit that lifts what binds a workload: as quick as the number of candidates allows.

    Parameters
    ----------
    whole
        The answer of the workload, where it is known.

    Raises
    ------
    AnalysisError
        If there is no such workload or it cannot run.
    Cancelled
        If `cancelled` says so.
    """
    search = Searcher(design, workload_of(design, workload), Prices(), Watch(cancelled=cancelled), whole)
    goal = 1 + LIFTED.value
    # candidates are in the order of their cost
    first = next(((k,) for k in range(len(search.candidates)) if search.reaches((k,), goal)), None)
    taken = _taken(search, goal, first, search.exact) if first is not None else None
    estimate = search.whole.metrics[search.metric]
    steps = (taken[0],) if taken is not None else ()
    stuck = "" if steps else _no_gain_text(search)
    return Suggestions(design.name, workload, search.metric, estimate.unit, estimate.value, steps, stuck)


def _step(search: Searcher, goal: float) -> tuple[Step, Design, WorkloadResult] | None:
    """One step, the design it leads to, and the answer there; None where no candidates reach the goal."""
    answer = search.cheapest(goal)
    if answer is None:
        return None
    return _taken(search, goal, *answer)


def _taken(
    search: Searcher, goal: float, chosen: tuple[int, ...], exact: bool
) -> tuple[Step, Design, WorkloadResult] | None:
    """Chosen candidates as a step; None where the whole answer gains less than the quick one."""
    design = search.edited(chosen)
    assert design is not None, "its gain was worked out"
    after = _evaluate(build_network(design), _current_workload(design, search.spec), search.watch)
    gain = share_of(search.whole, after)
    if gain < goal * (1 - _SAME):
        return None
    value = after.metrics[search.metric].value
    return (
        Step(
            tuple(search.candidates[k] for k in chosen),
            search.cost(chosen),
            search.whole.binding,
            search.whole.metrics[search.metric].value,
            value,
            gain,
            after.binding,
            exact,
            len(search.candidates),
            search.analysed,
        ),
        design,
        after,
    )


def _no_gain_text(search: Searcher) -> str:
    labels = [b.label for b in search.whole.binding[:2]]
    limits = f"{' and '.join(labels) or 'nothing that is drawn'} {'limit' if len(labels) > 1 else 'limits'} it"
    count = len(search.candidates)
    if not count:
        return f"{limits}, and nothing of the catalog or the route policy widens that"
    if count == 1:
        return f"{limits}; the one change considered does not help"
    none = "none" if search.exact else "no combination that was tried"
    return f"{limits}; {none} of the {count} changes considered helps"
