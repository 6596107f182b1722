"""The smallest set that serves a load within its limits, and the largest load that a set serves within them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from designer.analysis.network import Network
from designer.analysis.results import Bottleneck, Cell, Column, Table
from designer.analysis.serving.answers import most_of, serve, settled, too_long
from designer.analysis.serving.apart import sized_apart
from designer.analysis.serving.bottlenecks import bottlenecks
from designer.analysis.serving.filling import filled
from designer.analysis.serving.load import offered, sent_to_one
from designer.analysis.serving.placement import Placement, place_deployment
from designer.analysis.serving.readings import read, within
from designer.analysis.serving.searching import reason_lost, screened
from designer.analysis.serving.spreads import step_spread
from designer.errors import AnalysisError, Cancelled
from designer.findings import Finding
from designer.units import format_quantity
from designer.workload.serving import Deployment, Limits, Serving

#: widths that are tried: powers of two
_WIDTHS_LIMIT: Final = 8
#: replicas are added one by one up to this many, then in larger strides
_STRIDE_LIMIT: Final = 8
#: more replicas than this are never the answer
_REPLICAS_LIMIT: Final = 4096
#: a load within limits is found this closely
_LOAD_TOLERANCE: Final = 0.01
#: so many of the ways that a closed form finds smallest are run, and so many are told
_RUN_LIMIT: Final = 6
#: where these need more than the closed form said, others are run that it finds smaller than the smallest, up to this
_BOUND_LIMIT: Final = 24
_TOLD_LIMIT: Final = 16


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to serve the load.

    Parameters
    ----------
    replicas
        The fewest that hold the limits; 0 where none do.
    kept
        Share of requests within all limits [1].
    why
        Why it lost, or what decides it.
    cost
        What ways are compared by before anything else, where several kinds of accelerators are: money or watts.
    """

    tensor: int
    replicas: int
    accelerators: int
    ttft: float
    tpot: float
    latency: float
    kept: float
    why: str
    choice: str = ""
    deployment: Deployment | None = None
    cost: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the limits hold."""
        return self.replicas > 0

    @property
    def replicated(self) -> str:
        """The number of replicas in words."""
        return _counted(self.replicas, "replica")

    @property
    def needed(self) -> str:
        """The number of accelerators in words."""
        return _counted(self.accelerators, "accelerator")


@dataclass(frozen=True, slots=True)
class Sized:
    """What a search found: the smallest first, then those that lost."""

    candidates: tuple[Candidate, ...]
    drawn: int
    place: str
    binding: tuple[Bottleneck, ...] = ()
    looked: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def best(self) -> Candidate | None:
        """The way with the fewest accelerators; None where nothing holds."""
        return self.candidates[0] if self.candidates and self.candidates[0].holds else None

    def table(self) -> Table:
        """All ways as rows."""
        columns = (
            Column("tensor parallel"),
            Column("replicas"),
            Column("accelerators"),
            Column("first token", "s"),
            Column("per token", "s"),
            Column("answer", "s"),
            Column("why"),
        )
        rows: list[tuple[Cell, ...]] = [
            (c.tensor, c.replicas, c.accelerators, c.ttft, c.tpot, c.latency, c.why)
            if c.holds
            else (c.tensor, None, None, None, None, None, c.why)
            for c in self.candidates
        ]
        return Table("Ways to serve", columns, tuple(rows))


@dataclass(frozen=True, slots=True)
class _Tried:
    holds: bool
    ttft: float
    tpot: float
    latency: float
    kept: float


def size_serving(
    network: Network,
    asked: Serving,
    place: str,
    progress: Callable[[float, str], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    search: Sequence[str] = (),
    others: Mapping[str, Network] | None = None,
    cost_of: Callable[[Placement], float] | None = None,
) -> Sized:
    """The fewest accelerators of the kind drawn that serve a rate of requests within limits.

    Parameters
    ----------
    search
        What else to choose, see `searching.CHOICES`: a closed form screens all combinations, the best are run.
        ``split``: prompts and answers on devices of their own as well.
    others
        The same with other accelerators, by their names.
    cost_of
        What one accelerator costs; by default all cost the same.

    Notes
    -----
    Every width that the model and the servers allow is tried; replicas are added until the limits hold, beyond those
    drawn if need be. Widths at which more replicas change nothing lose with the reason.

    Raises
    ------
    AnalysisError
        If no rate is asked for, or no width fits at all.
    """
    if asked.load.kind not in ("rate", "trace"):
        raise AnalysisError(
            "a size is found for requests that arrive", place=f"{place}.load", remedy="use a rate or a trace"
        )
    found: list[Candidate] = []
    drawn = 0
    refused: AnalysisError | None = None
    placed: list[Placement] = []
    apart = "split" in search
    search = tuple(name for name in search if name != "split")
    kinds = {"": network, **(others or {})}
    every = [(name, 2**k) for name in kinds for k in range(_WIDTHS_LIMIT.bit_length())]
    for number, (name, tensor) in enumerate(every):
        if progress is not None:
            progress(number / len(every), f"{name} tensor parallel {tensor}".lstrip())
        if cancelled is not None and cancelled():
            raise Cancelled("stopped")
        deployment = replace(asked.deployment, tensor=tensor, replicas=0, prompts="")
        try:
            placement = _placed(kinds[name], deployment, place, search)
        except AnalysisError as error:
            refused = error
            found.append(Candidate(tensor, 0, 0, math.nan, math.nan, math.nan, 0.0, error.text, name))
            continue
        drawn = max(drawn, placement.accelerators)
        placed.append(placement)
        if not search and not others:
            found.append(_fewest(placement, asked, cancelled))
    if refused is not None and not drawn:
        raise refused
    looked = len(placed)
    if search or others:
        looked, more = _searched(placed, asked, search, cost_of, progress, cancelled)
        found += more
    if apart:
        for name, other in kinds.items():
            more_looked, pods = _pods(other, asked, name, place, cost_of, cancelled)
            looked += more_looked
            found += pods
    found.sort(key=lambda c: (not c.holds, c.cost, c.accelerators, c.latency))
    best = found[0]
    if best.holds:
        found[1:] = [_beaten(c, best) for c in found[1:]]
    binding = () if "for prompts" in best.choice else _binding(_network_of(best, placed, network), asked, best, place)
    if progress is not None:
        progress(1.0, "done")
    return Sized(tuple(found), drawn, place, binding, looked, _findings(placed, asked))


def _findings(placed: Sequence[Placement], asked: Serving) -> tuple[Finding, ...]:
    """What a reader should know whichever way is taken: requests longer than the model was made for."""
    requests = sent_to_one(asked.load, 1, placed[0].place, placed[0].capacity).requests
    return tuple(too_long(placed[0], max(p + o for p, o in zip(requests.prompt, requests.output, strict=True))))


def _network_of(best: Candidate, placed: Sequence[Placement], otherwise: Network) -> Network:
    """The network of the accelerators that were chosen."""
    return next((p.network for p in placed if best.choice.startswith(p.device.name)), otherwise)


def _beaten(one: Candidate, best: Candidate) -> Candidate:
    """With what it takes more than the best."""
    if one.holds and one.accelerators > best.accelerators:
        return replace(one, why=f"needs {one.accelerators} accelerators, {one.accelerators - best.accelerators} more")
    if one.holds and one.cost > best.cost > 0:
        return replace(one, why=f"costs {one.cost / best.cost:.3g} times as much")
    return one


def _pods(
    network: Network,
    asked: Serving,
    name: str,
    place: str,
    cost_of: Callable[[Placement], float] | None,
    cancelled: Callable[[], bool] | None,
) -> tuple[int, list[Candidate]]:
    """Prompts and answers on devices of their own."""
    try:
        placement = place_deployment(network, replace(asked.deployment, tensor=0, replicas=0, prompts=""), place)
    except AnalysisError:
        return 0, []
    each = cost_of(placement) if cost_of is not None else 0.0
    looked, found = sized_apart(network, asked, _load_of(asked, placement), place, cancelled)
    return looked, [
        Candidate(
            a.pod.width,
            a.pods,
            a.pods * a.pod.devices,
            a.ttft,
            a.tpot,
            a.latency,
            a.kept,
            a.why,
            f"{name} {a.pod.words}".lstrip(),
            cost=a.pods * a.pod.devices * each,
        )
        for a in found
    ]


def _load_of(asked: Serving, placement: Placement) -> tuple[float, float, float]:
    """Requests a second [1/s], mean prompt and output [tokens]."""
    one = sent_to_one(asked.load, 1, placement.place, placement.capacity).requests
    rate = offered(asked.load, one)
    return rate, sum(one.prompt) / len(one.prompt), sum(one.output) / len(one.output)


def _placed(network: Network, deployment: Deployment, place: str, search: Sequence[str]) -> Placement:
    """The deployment; where weights are to be chosen and these do not fit, that of the narrowest."""
    try:
        return place_deployment(network, deployment, place)
    except AnalysisError:
        if not {"weights", "all"} & set(search):
            raise
        return place_deployment(network, replace(deployment, weights="int4"), place)


def _searched(
    placed: Sequence[Placement],
    asked: Serving,
    search: Sequence[str],
    cost_of: Callable[[Placement], float] | None,
    progress: Callable[[float, str], None] | None,
    cancelled: Callable[[], bool] | None,
) -> tuple[int, list[Candidate]]:
    """How many ways were looked at, and the smallest of them: run, and beside them those that lost unrun."""
    several = len({p.device.name for p in placed}) > 1
    ways = screened(placed, search, _load_of(asked, placed[0]), asked.limits, progress, cancelled)
    if cost_of is not None:
        ways.sort(key=lambda way: way.accelerators * cost_of(way.placement))
    found: list[Candidate] = []
    for number, way in enumerate(ways):
        tensor = way.placement.split.tensor
        way = replace(way, choice=f"{way.placement.device.name} {way.choice}".strip() if several else way.choice)
        # ways are compared by cost where there is one, else by accelerators
        each = cost_of(way.placement) if cost_of is not None else 0.0
        least = min((c.cost if cost_of is not None else c.accelerators for c in found if c.holds), default=math.inf)
        told = way.accelerators * each if cost_of is not None else way.accelerators
        if number < _RUN_LIMIT or (number < _BOUND_LIMIT and told < least):
            run = _fewest(way.placement, asked, cancelled)
            cost = run.accelerators * each
            found.append(replace(run, choice=way.choice, deployment=way.placement.deployment, cost=cost))
        elif number < _TOLD_LIMIT:
            nan = math.nan
            found.append(Candidate(tensor, 0, 0, nan, nan, nan, 0.0, reason_lost(way), way.choice))
    return len(ways), found


def _binding(network: Network, asked: Serving, best: Candidate, place: str) -> tuple[Bottleneck, ...]:
    """What binds prompts and decoding in the smallest set, by as many of its replicas as are drawn."""
    if not best.holds:
        return ()
    chosen = best.deployment or asked.deployment
    deployment = replace(chosen, tensor=best.tensor, replicas=0, prompts="")
    placement = place_deployment(network, deployment, place)
    here = min(best.replicas, len(placement.replicas))
    placement = replace(placement, replicas=placement.replicas[:here])
    load = (
        asked.load if asked.load.kind == "trace" else replace(asked.load, rate=asked.load.rate * here / best.replicas)
    )
    return bottlenecks(serve(placement, replace(asked, load=load), banded=False))[0]


def _fewest(placement: Placement, asked: Serving, cancelled: Callable[[], bool] | None) -> Candidate:
    """The fewest replicas that hold the limits; none where none do, or where no request has room."""
    try:
        return _fewest_of(placement, asked, cancelled)
    except AnalysisError as error:
        nan = math.nan
        return Candidate(placement.split.tensor, 0, 0, nan, nan, nan, 0.0, error.text)


def _fewest_of(placement: Placement, asked: Serving, cancelled: Callable[[], bool] | None) -> Candidate:
    one = sent_to_one(asked.load, 1, placement.place, placement.capacity)
    requests = one.requests
    rate = offered(asked.load, requests)
    most, fast, slow = most_of(placement, requests, step_spread(placement), cancelled)
    width = placement.split.devices
    beside = placement.each
    replicas = max(1, math.ceil(rate / most))
    last: _Tried | None = None
    if replicas > _REPLICAS_LIMIT:
        each = format_quantity(most, "frequency")
        why = f"a replica takes {each} at most: it needs {replicas:,}, above {_REPLICAS_LIMIT:,} none are looked for"
        return Candidate(placement.split.tensor, 0, 0, math.nan, math.nan, math.nan, 0.0, why)
    while replicas <= _REPLICAS_LIMIT:
        tried = _try(placement, asked, replicas, cancelled)
        if tried.holds:
            each, able, least, best = (format_quantity(x, "frequency") for x in (rate / replicas, most, slow, fast))
            why = f"{each} each of {able} it can take ({least} to {best} within the band)"
            return Candidate(
                placement.split.tensor,
                replicas,
                math.ceil(replicas / beside) * width,
                tried.ttft,
                tried.tpot,
                tried.latency,
                tried.kept,
                why,
            )
        if last is not None and tried.kept <= last.kept and rate / replicas < most / _STRIDE_LIMIT:
            break
        last = tried
        replicas += max(1, replicas // _STRIDE_LIMIT)
    assert last is not None
    return Candidate(
        placement.split.tensor, 0, 0, last.ttft, last.tpot, last.latency, last.kept, _missed(last, asked.limits)
    )


def _missed(tried: _Tried, limits: Limits) -> str:
    """Which limit even an idle replica does not keep."""
    pairs = (
        (limits.ttft, tried.ttft, "first token"),
        (limits.tpot, tried.tpot, "token"),
        (limits.latency, tried.latency, "whole answer"),
    )
    for limit, value, words in pairs:
        if limit and value > limit:
            found, most = format_quantity(value, "duration"), format_quantity(limit, "duration")
            return f"even with hardly any load the {words} takes {found}, above {most}"
    return f"only {tried.kept:.0%} of the requests keep the limits, however many replicas there are"


def _try(placement: Placement, asked: Serving, replicas: int, cancelled: Callable[[], bool] | None) -> _Tried:
    sent = sent_to_one(asked.load, replicas, placement.place, placement.capacity)
    load = filled(asked.load, placement, sent.requests, replicas)
    sent = sent_to_one(load, replicas, placement.place, placement.capacity)
    run = settled(placement, sent.requests, 1.0, cancelled)
    values = read(run, sent.first).values
    share = f"p{asked.limits.share:.0%}".removesuffix("%")
    # refused requests keep no limit
    kept = within(run, sent.first, asked.limits)
    named = (values[f"ttft_{share}"], values.get("tpot", 0.0), values[f"latency_{share}"])
    return _Tried(bool(kept >= asked.limits.share), *named, kept)


def largest_load(placement: Placement, asked: Serving, cancelled: Callable[[], bool] | None = None) -> float:
    """The most requests a second that the placed replicas answer within the limits [1/s]; 0 where none."""
    replicas = len(placement.replicas)
    requests = sent_to_one(asked.load, replicas, placement.place, placement.capacity).requests
    most = most_of(placement, requests, step_spread(placement), cancelled)[0] * replicas

    def holds(rate: float) -> bool:
        return _try(placement, replace(asked, load=replace(asked.load, rate=rate)), replicas, cancelled).holds

    low, high = 0.0, most
    if holds(most):
        return most
    while high - low > _LOAD_TOLERANCE * most:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def ways(found: Sequence[Candidate]) -> list[str]:
    """The ways in words, best first."""
    return [
        f"tensor parallel {c.tensor}{_with(c)}: {c.replicated}, {c.needed}"
        if c.holds
        else f"tensor parallel {c.tensor}{_with(c)}: {c.why}"
        for c in found
    ]


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _with(one: Candidate) -> str:
    return f", {one.choice}" if one.choice else ""
