"""Prompts on some devices, answers on others: both engines run, keys and values pulled over the drawn links between."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.network import Network
from designer.engine.routes.selection import resolve
from designer.engine.transfers import TransferAnswer, evaluate_transfer, refuse_lost
from designer.errors import AnalysisError
from designer.families.serving.answers import (
    ANSWERING,
    HANDING_OVER,
    READING,
    Scaled,
    Served,
    enough,
    factors_of,
    most_of,
    sampled,
    saturated,
    too_long,
)
from designer.families.serving.closed_form import filled
from designer.families.serving.deployment import Deployment, Load, Serving
from designer.families.serving.engine_state import Requests
from designer.families.serving.formulas.hand_over import descriptors, hand_over, left_to_move
from designer.families.serving.limits import largest_rate, outcome
from designer.families.serving.load import offered, sent_to_one
from designer.families.serving.placement import Placement
from designer.families.serving.records import Counts, ServingRun
from designer.families.serving.scheduler import run_requests
from designer.families.serving.split_clients import Side, run_split_clients
from designer.families.serving.spreads import step_spread
from designer.families.serving.tiers import with_reuse
from designer.families.serving.widths import answers_alone, placed, prompts_alone
from designer.findings import Finding
from designer.units import Bytes, BytesPerSecond, Ratio, Seconds
from designer.workload.program.tasks import Move

Int = npt.NDArray[np.int64]

#: pulls that use a path more than this leave nothing to share
_FULL_TOLERANCE: Final = 0.97
#: pulls that use a path less than this leave it to each as if alone
_LITTLE_TOLERANCE: Final = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class Pull:
    """Hand-over of a mean request.

    Parameters
    ----------
    alone, together
        What the path gives a device when one replica pulls, and when all do.
    size
        Bytes a device pulls [B].
    use
        Share of the path that pulls take [1].
    moving, time
        Of a mean request: its bytes alone, and all of it [s].
    most
        Requests a second that the path can hand over [1/s].
    """

    alone: TransferAnswer
    together: TransferAnswer
    size: float
    use: float
    moving: float
    time: float
    most: float

    @property
    def band(self) -> tuple[float, float, float]:
        """Requests a second that the path can hand over, and the high and the low end of that [1/s]."""
        rates = self.together.rate.min(), self.together.high.min(), self.together.low.min()
        value, high, low = (float(rate / rates[0]) * self.most for rate in rates)
        return value, high, low


def serve_split(
    network: Network,
    asked: Serving,
    place: str,
    cancelled: Callable[[], bool] | None = None,
    *,
    banded: bool = True,
) -> Served:
    """A load on engines for prompts and engines for answers.

    Raises
    ------
    AnalysisError
        If the groups overlap, or keys and values have no way to an engine.
    """
    answers, prompts = place_split(network, asked, place)
    asked = replace(asked, load=with_reuse(asked.load, found_in(prompts), place))
    sent = sent_to_one(asked.load, 1, place, found_in(prompts))
    requests = sent.requests
    size = answers.steps.kv.held(float(np.mean(requests.prompt)))
    spread = max(step_spread(answers), step_spread(prompts))
    rate = offered(asked.load, requests)
    pull = _pull(network, prompts, answers, requests, size, rate, place)
    at = requests.at or [0.0] * len(requests.prompt)
    reading = Requests(requests.prompt, [1] * len(requests.prompt), at, cached=requests.cached)
    saying = Requests(requests.prompt, requests.output, at, cached=[p - 1 for p in requests.prompt])
    open_loop = asked.load.kind in ("rate", "trace")
    stages = (
        (READING, most_of(prompts, reading, spread, cancelled), len(prompts.replicas)),
        (ANSWERING, most_of(answers, saying, spread, cancelled), len(answers.replicas)),
    )
    bands = [tuple(x * count for x in most) for _, most, count in stages] + [pull.band]
    least = min(range(len(bands)), key=lambda k: bands[k][0])
    most = bands[least][0], bands[least][1], bands[least][2]
    names = [name for name, _, _ in stages] + [HANDING_OVER]
    room = min(band[0] for k, band in enumerate(bands) if k != least) / most[0]
    longest = max(p + o for p, o in zip(requests.prompt, requests.output, strict=True))
    # what is true of both is stated once, with the answers
    of_prompts = [finding for finding in prompts.findings if finding not in answers.findings]
    stated: tuple[Finding, ...] = (*of_prompts, *sent_findings(sent.notes), *too_long(answers, longest))
    served = Served(answers, asked, sent, (), most, spread, stated, prompts, pull, 1, short=names[least], room=room)
    if open_loop and rate > most[0]:
        more = "give keys and values a wider way from one to the other"
        if least < len(stages):
            more = enough(rate, stages[least][1][0], (prompts, answers)[least])
        return replace(served, findings=(*stated, saturated(rate, most[0], names[least], f"for {names[least]} {more}")))
    count = len(answers.replicas)
    load = filled(asked.load, answers, requests, count, count)
    if load is not asked.load:
        asked = replace(asked, load=load)
        sent = sent_to_one(load, 1, place, found_in(prompts))
        requests = sent.requests
        reading = Requests(requests.prompt, [1] * len(requests.prompt), requests.at, cached=requests.cached)
        served = replace(served, serving=asked, sent=sent)
    # neither side is faster than its data sheet, so the band ends where the first of them does
    fast, slow = max(factors_of(prompts, spread)[0], factors_of(answers, spread)[0]), math.exp(spread)
    runs = tuple(
        _run(prompts, answers, pull, reading, requests, factor, cancelled)
        for factor in ((1.0, fast, slow) if banded else (1.0,))
        if not open_loop or rate <= most[0] / factor
    )
    return replace(served, runs=runs)


def largest_split_load(
    network: Network, asked: Serving, place: str, cancelled: Callable[[], bool] | None = None
) -> float:
    """The most requests a second that engines for prompts and for answers answer within the limits [1/s]; 0 where none.

    Raises
    ------
    AnalysisError
        If the deployment does not fit the drawing.
    """

    def served(rate: float) -> Served:
        load = replace(asked.load, kind="rate" if asked.load.kind == "clients" else asked.load.kind, rate=rate)
        return serve_split(network, replace(asked, load=load), place, cancelled, banded=False)

    def holds(rate: float) -> bool:
        found = served(rate)
        return bool(found.runs) and outcome(found.runs[0], found.sent.first, asked.limits).holds

    answers, prompts = place_split(network, asked, place)
    asked = replace(asked, deployment=pinned(asked.deployment, answers, prompts))
    # what can be answered at all is the same at every rate
    return largest_rate(served(asked.load.rate or 1.0).most[0], holds)


def place_split(
    network: Network, asked: Serving, place: str, running: Collection[str] = ()
) -> tuple[Placement, Placement]:
    """Engines for answers and engines for prompts; `running` as of `place_deployment`.

    Raises
    ------
    AnalysisError
        If the groups overlap, or parts of devices are asked for.
    """
    deployment = asked.deployment
    if deployment.part:
        raise AnalysisError(
            "a split deployment has whole devices", place=f"{place}.part", remedy="leave the part empty"
        )
    first = replace(asked, deployment=prompts_of(deployment))
    if deployment.prompt_replicas and deployment.prompts.strip() == deployment.group.strip():
        return _of_one_group(network, asked, first, place, running)
    # images are read where prompts are
    last = replace(asked, deployment=replace(deployment, images=0))
    answers = placed(network, last, place, running, times=answers_alone)
    try:
        prompts = placed(network, first, place, running, times=prompts_alone)
    except AnalysisError as error:
        at = error.place or place
        at = next((f"{place}.{own}" for name, own in _OWN if at == f"{place}.{name}"), at)
        raise AnalysisError(f"for prompts: {error.text}", place=at, remedy=error.remedy) from None
    both = np.intersect1d(answers.replicas, prompts.replicas)
    if len(both):
        raise AnalysisError(
            f"{network.net.path(int(both[0]))} is in both groups",
            place=f"{place}.prompt_group",
            remedy="give prompts and answers accelerators of their own, or one group and prompt_replicas",
        )
    return answers, prompts


def _of_one_group(
    network: Network, asked: Serving, first: Serving, place: str, running: Collection[str]
) -> tuple[Placement, Placement]:
    """Engines for answers and for prompts on one group: those for prompts take its first accelerators."""
    prompts = placed(network, first, place, running, times=prompts_alone)
    parts = resolve(network, asked.deployment.group, f"{place}.group")
    left = parts[~np.isin(parts, prompts.replicas)]
    if not len(left):
        raise AnalysisError(
            f"{len(prompts.replicas)} engines of {prompts.split.devices} for prompts leave no accelerator for answers",
            place=f"{place}.prompt_replicas",
            remedy="use fewer engines for prompts, or narrower ones",
        )
    rest = replace(asked.deployment, group=",".join(network.net.path(int(part)) for part in left), images=0)
    return placed(network, replace(asked, deployment=rest), place, running, times=answers_alone), prompts


def pinned(deployment: Deployment, answers: Placement, prompts: Placement) -> Deployment:
    """A split deployment with the widths it is placed with, so that they are not chosen again."""
    ours, theirs = answers.split, prompts.split
    return replace(
        deployment,
        tensor=ours.tensor,
        data=ours.data,
        expert=ours.expert,
        prompt_tensor=theirs.tensor,
        prompt_data=theirs.data,
        prompt_expert=theirs.expert,
        replicas=len(answers.replicas),
        prompt_replicas=len(prompts.replicas),
    )


#: settings of engines for prompts, by those they are for engines in general
_OWN: Final = (
    ("group", "prompt_group"),
    ("tensor", "prompt_tensor"),
    ("data", "prompt_data"),
    ("expert", "prompt_expert"),
    ("pipeline", "prompt_pipeline"),
    ("replicas", "prompt_replicas"),
)


def prompts_of(deployment: Deployment) -> Deployment:
    """Engines for prompts of a split deployment, as a deployment of their own."""
    return replace(
        deployment,
        group=deployment.prompts,
        tensor=deployment.prompt_tensor,
        data=deployment.prompt_data,
        expert=deployment.prompt_expert,
        pipeline=deployment.prompt_pipeline,
        replicas=deployment.prompt_replicas,
    )


def run_split(served: Served, load: Load, cancelled: Callable[[], bool] | None = None) -> tuple[ServingRun, int]:
    """Another load on a split deployment, and its first request that counts."""
    answers, prompts, pull = served.placement, served.prompts, served.pull
    assert prompts is not None
    assert isinstance(pull, Pull)
    sent = sent_to_one(load, 1, answers.place, found_in(prompts))
    load = filled(load, answers, sent.requests, len(answers.replicas), len(answers.replicas))
    sent = sent_to_one(load, 1, answers.place, found_in(prompts))
    requests = sent.requests
    rate = offered(load, requests)
    reading = Requests(requests.prompt, [1] * len(requests.prompt), requests.at, cached=requests.cached)
    shared = replace(pull, use=min(rate / pull.most, _FULL_TOLERANCE))
    return _run(prompts, answers, shared, reading, requests, 1.0, cancelled), sent.first


def found_in(prompts: Placement) -> int:
    """Tokens whose prefixes engines that read prompts have at hand, all together."""
    return prompts.capacity * len(prompts.replicas)


def sent_findings(notes: tuple[str, ...]) -> tuple[Finding, ...]:
    """What a reader should know of a load."""
    return sampled(notes)


def _pull(
    network: Network, prompts: Placement, answers: Placement, requests: Requests, size: float, rate: float, place: str
) -> Pull:
    def paths(parts: Int) -> str:
        return ",".join(network.net.path(int(p)) for p in parts.ravel().tolist())

    alone = evaluate_transfer(
        network, Move(paths(prompts.replicas[0]), paths(answers.replicas[0]), pairing="striped"), place
    )
    together = evaluate_transfer(
        network, Move(paths(prompts.replicas), paths(answers.replicas), pairing="striped"), place
    )
    for answer in (alone, together):
        refuse_lost(network, answer, "keys and values", place)
    slowest, all_of_them = float(alone.rate.min()), float(together.rate.min())
    most = len(answers.replicas) * all_of_them / size
    use = min(rate / most, _FULL_TOLERANCE)
    time = _time(prompts, answers, float(np.mean(requests.prompt)), BytesPerSecond(slowest), Ratio(use))
    return Pull(alone, together, size, rate / most, size / slowest / (1 - use), time, most)


def _time(prompts: Placement, answers: Placement, tokens: float, rate: BytesPerSecond, use: Ratio) -> float:
    """Hand-over of a prompt, nothing of it sent before it is read [s]."""
    return hand_over_overhead(prompts, answers, tokens) + answers.steps.kv.held(tokens) / rate / (1 - use)


def hand_over_overhead(prompts: Placement, answers: Placement, tokens: float) -> float:
    """What a hand-over of a prompt takes in addition to its bytes [s]."""
    widths = sorted((prompts.split.tensor, answers.split.tensor))
    pieces = descriptors(answers.shape.layers, tokens, answers.scheduling.block, widths[1] / widths[0])
    return hand_over(pieces, Bytes(0.0), BytesPerSecond(1.0))


def sent_in(prompts: Placement, tokens: float) -> float:
    """Pieces that keys and values of a prompt are sent in: all at its end, chunk by chunk, or layer by layer [1]."""
    how = prompts.deployment.hand_over or prompts.release.scheduling.hand_over
    if how == "layers":
        return float(prompts.shape.layers)
    each = prompts.scheduling.budget / prompts.split.data
    return max(1.0, math.ceil(tokens / each)) if how == "chunks" else 1.0


def handed_over(
    prompts: Placement, answers: Placement, tokens: float, rate: BytesPerSecond, use: Ratio, reading: float
) -> float:
    """From when a prompt is read until its keys and values are there [s]; `reading` is what reading it took [s]."""
    moving = Seconds(answers.steps.kv.held(tokens) / rate / (1 - use))
    left = left_to_move(moving, sent_in(prompts, tokens), Seconds(reading))
    return hand_over_overhead(prompts, answers, tokens) + left


def _run(
    prompts: Placement,
    answers: Placement,
    pull: Pull,
    reading: Requests,
    requests: Requests,
    factor: float,
    cancelled: Callable[[], bool] | None,
) -> ServingRun:
    """Every request through an engine for prompts, the hand-over, and an engine for answers."""
    if requests.clients:
        return _run_clients(prompts, answers, pull, requests, factor, cancelled)
    n = len(requests.prompt)
    ready, taken = np.full(n, np.nan), np.full(n, np.nan)
    for k in range(len(prompts.replicas)):
        mine = np.arange(k, n, len(prompts.replicas))
        run = _run_prompts(prompts, _subset(reading, mine), factor, prompts.release.overheads.path, cancelled)
        ready[mine], taken[mine] = run.done, run.taken
    use = Ratio(min(pull.use, _FULL_TOLERANCE))
    slowest = BytesPerSecond(float(pull.alone.rate.min()))
    took = (ready - taken).tolist()
    moved = [handed_over(prompts, answers, p, slowest, use, t) for p, t in zip(requests.prompt, took, strict=True)]
    there = ready + np.array(moved)
    kept = np.flatnonzero(np.isfinite(there))
    order = kept[np.argsort(there[kept], kind="stable")]
    first, done = np.full(n, np.nan), np.full(n, np.nan)
    kept_run: ServingRun | None = None
    for k in range(len(answers.replicas)):
        mine = order[k :: len(answers.replicas)]
        if not len(mine):
            continue
        asked = Requests(
            [requests.prompt[i] for i in mine],
            [requests.output[i] for i in mine],
            there[mine].tolist(),
            cached=[requests.prompt[i] - 1 for i in mine],
        )
        run = _run_prompts(answers, asked, factor, 0.0, cancelled)
        first[mine], done[mine] = run.first, run.done
        kept_run = kept_run or run
    assert kept_run is not None
    counts = kept_run.counts
    whole = Counts(
        counts.turns,
        counts.steps,
        counts.tokens_in,
        counts.tokens_out,
        counts.preempted,
        n - len(order),
        counts.kv_peak,
        counts.kv_capacity,
    )
    return ServingRun(
        np.array(requests.at),
        first,
        done,
        np.array(requests.prompt, dtype=np.int64),
        np.array(requests.output, dtype=np.int64),
        float(np.nanmax(done)),
        kept_run.turns,
        whole,
        taken,
        ready,
        there,
        kept_run.messages,
        kept_run.stream_interval,
    )


def _run_clients(
    prompts: Placement,
    answers: Placement,
    pull: Pull,
    requests: Requests,
    factor: float,
    cancelled: Callable[[], bool] | None,
) -> ServingRun:
    """Clients: run once to see how many requests pass, and again with the pulls of so many on the path."""
    slowest = BytesPerSecond(float(pull.alone.rate.min()))

    def run(use: float) -> ServingRun:
        share = Ratio(min(use, _FULL_TOLERANCE))
        sides = tuple(
            Side(
                len(one.replicas),
                one.timed if factor == 1 else Scaled(one.timed, factor),
                one.scheduling,
                one.capacity,
            )
            for one in (prompts, answers)
        )
        return run_split_clients(
            (sides[0], sides[1]),
            requests,
            prompts.release.overheads.path,
            lambda i, took: handed_over(prompts, answers, requests.prompt[i], slowest, share, took),
            cancelled,
        )

    free = run(0.0)
    passed = int(free.served.sum()) / free.end if free.end > 0 else 0.0
    use = passed / pull.most
    return run(use) if use > _LITTLE_TOLERANCE else free


def _subset(requests: Requests, which: Int) -> Requests:
    cached = [requests.cached[i] for i in which] if requests.cached else ()
    return Requests(
        [requests.prompt[i] for i in which],
        [requests.output[i] for i in which],
        [requests.at[i] for i in which],
        cached=cached,
    )


def _run_prompts(
    placement: Placement, requests: Requests, factor: float, path: float, cancelled: Callable[[], bool] | None
) -> ServingRun:
    factor *= placement.slowed(0.0)
    steps = placement.timed if factor == 1 else Scaled(placement.timed, factor)
    return run_requests(steps, requests, placement.scheduling, placement.capacity, path, cancelled=cancelled)
