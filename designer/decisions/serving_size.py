"""The smallest set of accelerators that serves a load within its limits.

Every width that the model and the servers allow is tried; units are added until the limits hold, beyond those drawn if
need be. Where more is free to choose, the closed forms of all ways order them, and only the smallest are run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from designer.decisions.search import Space, explore
from designer.decisions.serving_ways import (
    POD_WIDTHS_LIMIT,
    Pods,
    Replicas,
    Way,
    fewest_by_form,
    pods_of,
    replicas_of,
)
from designer.engine.network import Network
from designer.engine.results import Bottleneck
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.families.serving.answers import too_long
from designer.families.serving.closed_form import Mean, operated
from designer.families.serving.deployment import Deployment, Limits, Serving
from designer.families.serving.limits import Outcome
from designer.families.serving.load import sent_to_one
from designer.families.serving.placement import Placement, place_deployment
from designer.findings import Finding
from designer.progress import UNWATCHED, Watch
from designer.units import format_quantity

#: widths that are tried: powers of two
_WIDTHS_LIMIT: Final = 8
#: units are added one by one up to this many, then in larger strides
_STRIDE_LIMIT: Final = 8
#: so many of the ways that a closed form finds smallest are run, and so many are listed
_RUN_LIMIT: Final = 6
#: where these need more than the closed form said, others are run that it finds smaller than the smallest, up to this
_BOUND_LIMIT: Final = 24
_LISTED_LIMIT: Final = 16
#: ways between two reports of progress
_REPORT_LIMIT: Final = 64
_NOTHING: Final = Outcome(False, math.nan, math.nan, math.nan, 0.0)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to serve the load.

    Parameters
    ----------
    why
        Why it lost, or what decides it.
    replicas
        The fewest units that hold the limits; 0 where none do.
    most
        Requests per second that one unit can take, with the band; None where it was not run.
    outcome
        Of these, or of the last that were run.
    cost
        What ways are compared by before anything else, where several kinds of accelerators are: money or watts.
    """

    tensor: int
    why: str
    choice: str = ""
    replicas: int = 0
    accelerators: int = 0
    most: tuple[float, float, float] | None = None
    outcome: Outcome = _NOTHING
    cost: float = 0.0
    way: Way | None = None

    @property
    def holds(self) -> bool:
        """Whether the limits hold."""
        return self.replicas > 0

    @property
    def ttft(self) -> float:
        """Time to the first token at the share of requests that limits hold for [s]."""
        return self.outcome.ttft

    @property
    def tpot(self) -> float:
        """Mean time per token [s]."""
        return self.outcome.tpot

    @property
    def latency(self) -> float:
        """Time of a whole answer at the share of requests that limits hold for [s]."""
        return self.outcome.latency

    @property
    def replicated(self) -> str:
        """The number of replicas in words."""
        return _counted(self.replicas, "replica")

    @property
    def needed(self) -> str:
        """The number of accelerators in words."""
        return _counted(self.accelerators, "accelerator")

    @property
    def words(self) -> str:
        """The way and what comes of it, in words."""
        chosen = f", {self.choice}" if self.choice else ""
        found = f"{self.replicated}, {self.needed}" if self.holds else self.why
        return f"tensor parallel {self.tensor}{chosen}: {found}"

    def compared_with(self, best: Candidate) -> Candidate:
        """With what it takes more than the best."""
        if self.holds and self.accelerators > best.accelerators:
            more = self.accelerators - best.accelerators
            return replace(self, why=f"needs {self.accelerators} accelerators, {more} more than the smallest")
        if self.holds and self.cost > best.cost > 0:
            return replace(self, why=f"costs {self.cost / best.cost:.3g} times as much")
        return self


@dataclass(frozen=True, slots=True)
class Sized:
    """What a search found: the smallest first, then those that lost."""

    candidates: tuple[Candidate, ...]
    drawn: int
    binding: tuple[Bottleneck, ...] = ()
    looked: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def best(self) -> Candidate | None:
        """The way with the fewest accelerators; None where nothing holds."""
        return self.candidates[0] if self.candidates and self.candidates[0].holds else None


def size_serving(
    network: Network,
    asked: Serving,
    place: str,
    watch: Watch = UNWATCHED,
    search: Sequence[str] = (),
    others: Mapping[str, Network] | None = None,
    cost_of: Callable[[Placement], float] | None = None,
) -> Sized:
    """The fewest accelerators of the kind drawn that serve a rate of requests within limits.

    A deployment that is split into engines for prompts and for answers is sized as that, on all of its accelerators.

    Parameters
    ----------
    search
        What else to choose, see `serving_ways.CHOICES`; ``split``: prompts and answers on devices of their own as well.
    others
        The same with other accelerators, by their names.
    cost_of
        What one accelerator costs; by default all cost the same.

    Raises
    ------
    AnalysisError
        If the load has no rate, or no width fits at all.
    Cancelled
        If the work has to stop.
    """
    if asked.load.kind not in ("rate", "trace"):
        raise AnalysisError(
            "a size is found for requests that arrive", place=f"{place}.load", remedy="use a rate or a trace"
        )
    kinds = {"": network, **(others or {})}
    free = tuple(name for name in search if name != "split")
    prompts, is_split = asked.deployment.prompts, bool(asked.deployment.prompts)
    if is_split:
        group = asked.deployment.group
        if _one_kind(network, f"{prompts}, {group}", place):
            prompts, group = "", f"{prompts}, {group}"
        asked = replace(asked, deployment=replace(asked.deployment, group=group, prompts="", prompt_tensor=0))
    placed, found = _widths(kinds, asked, place, free, watch)
    load = Mean.of(asked, placed[0])
    placed = [operated(p, asked, load.prompt, load.output, lambda one: True)[0] for p in placed]
    size = _Search(asked, load, cost_of, watch)
    if is_split and not free:
        ways, found = list[Replicas](), []
    elif free or others:
        several = len({p.device.name for p in placed}) > 1
        ways = [way for p in placed for way in replicas_of(p, free, p.device.name if several else "")]
        found += size.smallest(ways)
    else:
        ways = [Replicas(p) for p in placed]
        found += [size.run(way) for way in ways]
    looked = len(ways)
    if is_split or "split" in search:
        for name, other in kinds.items():
            pods = _pods(other, asked, place, name, prompts)
            found += size.smallest(pods)
            looked += len(pods)
    found.sort(key=lambda c: (not c.holds, c.cost, c.accelerators, c.latency))
    best = found[0]
    binding: tuple[Bottleneck, ...] = ()
    if best.holds and best.way is not None:
        found[1:] = [candidate.compared_with(best) for candidate in found[1:]]
        binding = best.way.binding(asked, best.replicas)
    # requests longer than the model was made for are so whichever way is taken
    requests = sent_to_one(asked.load, 1, placed[0].place, placed[0].capacity).requests
    findings = too_long(placed[0], max(p + o for p, o in zip(requests.prompt, requests.output, strict=True)))
    watch.report(1.0, "done")
    drawn = max(p.accelerators for p in placed) + (len(_paths(network, prompts, place)) if is_split and prompts else 0)
    return Sized(tuple(found), drawn, binding, looked, tuple(findings))


def _widths(
    kinds: Mapping[str, Network], asked: Serving, place: str, free: Sequence[str], watch: Watch
) -> tuple[list[Placement], list[Candidate]]:
    """The deployment at every width, and the widths at which it has no place."""
    every = [(name, 2**k) for name in kinds for k in range(_WIDTHS_LIMIT.bit_length())]
    placed: list[Placement] = []
    lost: list[Candidate] = []
    refused: AnalysisError | None = None
    for number, (name, tensor) in enumerate(every):
        watch.step(number / len(every), f"{name} tensor parallel {tensor}".lstrip())
        deployment = replace(asked.deployment, tensor=tensor, replicas=0, prompts="")
        try:
            placed.append(_placed(kinds[name], deployment, place, free))
        except AnalysisError as error:
            refused = error
            lost.append(Candidate(tensor, error.text, name))
    if not placed and refused is not None:
        raise refused
    return placed, lost


def _placed(network: Network, deployment: Deployment, place: str, free: Sequence[str]) -> Placement:
    """The deployment; where weights are to be chosen and these do not fit, that of the narrowest."""
    try:
        return place_deployment(network, deployment, place)
    except AnalysisError:
        if not {"weights", "all"} & set(free):
            raise
        return place_deployment(network, replace(deployment, weights="int4"), place)


def _pods(network: Network, asked: Serving, place: str, name: str, prompts: str = "") -> list[Pods]:
    """Pods of prompts and answers on devices of their own; `prompts` are those of another kind that read prompts."""
    engines = _engines(network, asked.deployment, place)
    parts = _paths(network, asked.deployment.group, f"{place}.group")
    if not prompts:
        return list(pods_of(engines, parts, name))
    reading = _engines(network, replace(asked.deployment, group=prompts), place)
    return list(pods_of(engines, parts, name, reading, _paths(network, prompts, f"{place}.prompt_group")))


def _engines(network: Network, asked: Deployment, place: str) -> dict[int, Placement]:
    """Engines of a pod by width, on one group."""
    engines: dict[int, Placement] = {}
    for width in POD_WIDTHS_LIMIT:
        with suppress(AnalysisError):
            engines[width] = place_deployment(network, replace(asked, tensor=width, replicas=0, prompts=""), place)
    return engines


def _paths(network: Network, group: str, place: str) -> list[str]:
    return [network.net.path(int(n)) for n in resolve(network, group, place)]


def _one_kind(network: Network, group: str, place: str) -> bool:
    """True if the accelerators of a group are all of one type."""
    return len({network.net.part(int(n)).type for n in resolve(network, group, place)}) == 1


@dataclass(frozen=True, slots=True)
class _Search:
    """Ways to serve one load: ordered by their closed forms, and run."""

    asked: Serving
    load: Mean
    cost_of: Callable[[Placement], float] | None
    watch: Watch

    def smallest(self, ways: Sequence[Way]) -> list[Candidate]:
        """The smallest ways by the closed form, run, and those behind them."""
        formed = [
            (way, self._formed(way))
            for way in self.watch.each(ways, len(ways), "{done:,} ways looked at", _REPORT_LIMIT)
        ]
        order = {id(way): key for way, key in formed}
        space: Space[Way | None] = Space(None, lambda way: None if way else ways, lambda way: order.get(id(way), ()))
        found: list[Candidate] = []
        for number, way in enumerate(explore(space, watch=self.watch)):
            assert way is not None, "the root has branches"
            least = min((self._spent(c) for c in found if c.holds), default=math.inf)
            if number < _RUN_LIMIT or (number < _BOUND_LIMIT and order[id(way)][0] < least):
                found.append(self.run(way))
            elif number < _LISTED_LIMIT:
                found.append(Candidate(way.tensor, self._lost(way), way.choice))
        return found

    def _formed(self, way: Way) -> tuple[float, ...]:
        """What ways are ordered by: what they cost, accelerators, time of an answer."""
        units = fewest_by_form(way, self.load, self.asked.limits)
        if units is None:
            return math.inf, math.inf, math.inf
        accelerators = way.accelerators(units)
        ttft, tpot = way.times(self.load, units)
        return accelerators * (self._each(way) or 1.0), accelerators, ttft + tpot * self.load.output

    def _each(self, way: Way) -> float:
        """Cost of an accelerator; 0 where accelerators alone count."""
        return self.cost_of(way.placement) if self.cost_of is not None else 0.0

    def _spent(self, candidate: Candidate) -> float:
        return candidate.cost if self.cost_of is not None else candidate.accelerators

    def _lost(self, way: Way) -> str:
        """Why a way that was not run lost."""
        units = fewest_by_form(way, self.load, self.asked.limits)
        if units is None:
            return f"no number of {way.unit}s keeps the limits, by the closed form"
        tpot = format_quantity(way.times(self.load, units)[1], "duration")
        return f"{way.accelerators(units)} accelerators by the closed form, {tpot} a token"

    def run(self, way: Way) -> Candidate:
        """The fewest units that hold the limits; none where none do, or where no request has room."""
        try:
            return self._run(way)
        except AnalysisError as error:
            return Candidate(way.tensor, error.text, way.choice)

    def _run(self, way: Way) -> Candidate:
        rate, units = self.load.rate, way.first(self.asked, self.load, self.watch.cancelled)
        last: Outcome | None = None
        while units <= way.units_limit:
            tried = way.run(self.asked, units, self.watch.cancelled)
            now = tried.outcome
            if now.holds:
                accelerators = way.accelerators(units)
                why, cost = way.takes(rate / units, tried.most), accelerators * self._each(way)
                return Candidate(way.tensor, why, way.choice, units, accelerators, tried.most, now, cost, way)
            if last is not None and now.kept <= last.kept and rate / units < tried.most[0] / _STRIDE_LIMIT:
                break
            last = now
            units += max(1, units // _STRIDE_LIMIT)
        assert last is not None, "the first number is within the limit"
        return Candidate(way.tensor, _missed(last, self.asked.limits, way.unit), way.choice, outcome=last)


def _missed(tried: Outcome, limits: Limits, unit: str) -> str:
    """Which limit even an idle unit does not keep."""
    pairs = (
        (limits.ttft, tried.ttft, "first token"),
        (limits.tpot, tried.tpot, "token"),
        (limits.latency, tried.latency, "whole answer"),
    )
    for limit, value, words in pairs:
        if limit and value > limit:
            found, most = format_quantity(value, "duration"), format_quantity(limit, "duration")
            return f"even with hardly any load the {words} takes {found}, above {most}"
    return f"only {tried.kept:.0%} of the requests keep the limits, however many {unit}s there are"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
