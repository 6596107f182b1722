"""A training step in its steady state: the program of loading and stepping, alone or with the transfers next to it."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.account.bottlenecks import sort_of
from designer.engine.clock.jobs import job_of
from designer.engine.clock.measures import Answer, answer
from designer.engine.costs import Priced, Prices
from designer.engine.flows import Incidence, solve
from designer.engine.network import TIE_TOLERANCE, Network
from designer.engine.network.frame import STRUCTURES_LIMIT
from designer.engine.network.partition import SAME_TOLERANCE
from designer.engine.question import Question
from designer.engine.results import Bottleneck
from designer.engine.routes.folding import Fold
from designer.engine.routes.hop_loads import Common, Hops
from designer.engine.transfers import FlowProblem
from designer.families.collective.activities import Activity
from designer.families.training.costs.load_batch import batch_of
from designer.families.training.costs.train_step import hidden_traffic, parts, whole
from designer.families.training.feeding import feed, streams
from designer.families.training.formulas.step_composition import StepEstimate
from designer.families.training.parameter_servers import ServerCosts
from designer.families.training.routed_costs import arrangement_of
from designer.families.training.step import RoutedStep
from designer.families.training.step_time import busy_time
from designer.memo import memo
from designer.sources import Estimate
from designer.units import PerSecond, Ratio, Seconds
from designer.workload.program import Measure, Program, Step

#: parts of a step this small are rounding, relative
_NOTICE_TOLERANCE: Final = 1e-9
#: what traffic next to other traffic makes longer
_TRAFFIC: Final = ("tensor", "context", "expert", "pipeline", "data")


@dataclass(frozen=True, slots=True, eq=False)
class SteadyStep:
    """A step as it repeats, what binds it, and what comes next."""

    step: RoutedStep
    binding: tuple[Bottleneck, ...]
    next: tuple[Bottleneck, ...]


def steady(network: Network, routed: RoutedStep, question: Question) -> SteadyStep:
    """A step from its parts: in closed form where they and nothing else share links that have room, else on the clock.

    Raises
    ------
    AnalysisError
        If a workload next to it is none of the design.
    """
    moves = streams(network, routed.path.background, routed.plan.place)
    feeds = [
        replace(job_of(Program(name, (Step("move", move),)), f"workloads.{name}"), start=0.0)
        for name, move in moves.items()
    ]
    prices = Prices(network, times_alone=not feeds and (has_room(routed) or _read_meanwhile(routed)))
    program = _program(prices, routed)
    found = answer(
        prices,
        job_of(program, routed.plan.place),
        neighbours=feeds,
        explained=question.explained,
        cancelled=question.cancelled,
    )
    repeated = _steady_step(routed, found)
    if not question.explained:
        return SteadyStep(repeated, (), ())
    return SteadyStep(repeated, *_bottlenecks(found, repeated, routed))


def _read_meanwhile(routed: RoutedStep) -> bool:
    """Whether a batch is read as fast as alone while accelerators compute, and delays no traffic that hides there.

    It delays that traffic by no more than the time that reading takes.
    """
    if not routed.overlapped or not readers_keep(routed):
        return False
    hidden = sum(hidden_traffic(routed.plan, routed.costs, routed.busy).values())
    return routed.input[0] + hidden <= routed.busy.step_time - routed.busy.communication


def _program(prices: Prices, routed: RoutedStep) -> Program:
    plan, path = routed.plan, routed.path
    each = whole(plan, routed.costs, routed.busy) if prices.times_alone else None
    step = Step("step", Priced(each or parts(prices, plan, routed.costs, routed.busy)), lags={"step": 1})
    measures = [Measure("step_time", "s", "period", "step"), Measure("busy", "s", "time", "step")]
    if routed.feed is None or routed.samples is None:
        return Program("training", (step,), math.inf, measures=tuple(measures))
    alone = replace(path, background="")
    fed = feed(prices.network, routed.feed.parts, alone, routed.samples, plan.place) if path.background else routed.feed
    load = Priced(batch_of(prices, fed, routed.loaded, alone))
    # a batch is used up when its step begins, which is when the step before it ends
    loading = Step("load", load, lags={"load": 1, "step": path.prefetch + 1})
    measures.append(Measure("input_time", "s", "time", "load"))
    return Program("training", (loading, replace(step, after=("load",))), math.inf, measures=tuple(measures))


def _steady_step(routed: RoutedStep, found: Answer) -> RoutedStep:
    """The step with the times and bands it has where it repeats."""
    time, busy = found.metrics["step_time"], found.metrics["busy"]
    input_time = found.metrics.get("input_time")
    took = (input_time.value, input_time.low, input_time.high) if input_time is not None else routed.input
    routed = replace(routed, low=time.low, high=time.high, input=took)
    if math.isclose(busy.value, routed.busy.step_time, rel_tol=_NOTICE_TOLERANCE):
        return routed
    return replace(
        routed, busy=_stretch_step(routed.busy, busy, busy.value), step=_stretch_step(routed.busy, busy, time.value)
    )


def _stretch_step(step: StepEstimate, busy: Estimate, time: float) -> StepEstimate:
    """A step whose traffic takes longer, so that it is `busy` for longer, and waits for its input until `time` [s]."""
    traffic = {f"{name}_communication": getattr(step, f"{name}_communication") for name in _TRAFFIC}
    more = busy.value - step.step_time
    # what was hidden and no longer is counts as traffic of replicas where no other is seen
    shown = {k: v + more * v / step.communication for k, v in traffic.items()} if step.communication > 0 else {}
    shown = shown or {"data_communication": more}
    paced = step.step_time / time
    stall = time - busy.value if time > busy.value * (1 + _NOTICE_TOLERANCE) else 0.0
    return replace(
        step,
        step_time=Seconds(time),
        low=Seconds(busy.low),
        high=Seconds(busy.high),
        **{name: Seconds(value) for name, value in shown.items()},
        input_stall=Seconds(stall),
        samples_per_second=PerSecond(step.samples_per_second * paced),
        tokens_per_second=PerSecond(step.tokens_per_second * paced),
        mfu=Ratio(step.mfu * paced),
    )


def _bottlenecks(
    found: Answer, repeated: RoutedStep, routed: RoutedStep
) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]]:
    before, after = routed.busy.communication, repeated.busy.communication
    time = busy_time(repeated.plan, repeated.costs, repeated.busy, before / after if after > 0 else 1.0)
    stall = repeated.step.input_stall / repeated.step.step_time
    waits = f"the step waits {stall:.0%} of its time for samples" if stall > 0 else ""

    def words(resource: Hashable) -> Bottleneck:
        mine = time.bottleneck(resource)
        if mine is not None:
            return mine
        plain = found.words(resource)
        return replace(plain, why="; ".join(text for text in (plain.why, waits) if text))

    network = repeated.plan.ranks.network
    return found.why.bottlenecks(words, lambda resource: sort_of(network, resource))


# Whether the collectives of a step and the flows of its input have room for each other on all links.

Bool = npt.NDArray[np.bool_]
Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]


def readers_keep(step: RoutedStep) -> bool:
    """Whether all readers go as fast next to all collectives at once as they do alone.

    False also where that is not known: with parameter servers, and where classes of links are not used equally.
    """
    shared = _shared_load(step)
    if shared is None or step.feed is None:
        return step.feed is None
    problem = step.feed.answer.problem
    flows, rates = problem.incidence, step.feed.answer.rates.rate
    rows, usage = [common.resource.astype(np.int32) for _, common in shared], [common.usage for _, common in shared]
    joint = Incidence(
        np.concatenate([flows.ptr, flows.ptr[-1] + np.cumsum([len(each) for each in rows], dtype=np.int64)]),
        np.concatenate([flows.resource, *rows]),
        np.concatenate([flows.usage, *usage]),
        flows.capacity,
        # a hop counts like a flow, so an activity of hops with small shares counts for more of them
        np.append(flows.weight, [1 / activity.hops.top_share for activity, _ in shared]),
        np.append(flows.demand, [activity.rate for activity, _ in shared]),
    )
    return bool((solve(joint).rate[: len(rates)] >= rates * (1 - TIE_TOLERANCE)).all())


def has_room(step: RoutedStep) -> bool:
    """Whether all collectives at once, and all readers next to them, go as fast as each does alone.

    False also where that is not known, as of `readers_keep`.
    """
    shared = _shared_load(step)
    if shared is None or step.feed is None:
        return step.feed is None
    flows, rates = step.feed.answer.problem.incidence, step.feed.answer.rates.rate
    reading = np.bincount(flows.resource, flows.usage * np.repeat(rates, np.diff(flows.ptr)), len(flows.capacity))
    used = reading.copy()
    for activity, common in shared:
        used[common.resource] += common.usage * activity.rate
    return not ((used > flows.capacity * (1 + TIE_TOLERANCE)) & (reading > 0)).any()


def _shared_load(step: RoutedStep) -> list[tuple[Activity, Common]] | None:
    """What every collective puts on the resources that readers use; None where that is not known."""
    if step.feed is None or isinstance(step.costs, ServerCosts):
        return None
    found: list[tuple[Activity, Common]] = []
    for group in step.costs.used:
        for one in step.plan.ranks.communicators(arrangement_of(step.plan.layout, group)):
            for activity in (one.inside, one.between):
                common = on_classes(step.feed.answer.problem, activity.hops) if activity is not None else None
                if activity is not None and common is None:
                    return None
                if activity is not None and common is not None and len(common.resource):
                    found.append((activity, common))
    return found


@memo(most=STRUCTURES_LIMIT)
def on_classes(problem: FlowProblem, hops: Hops) -> Common | None:
    """What hops put on the resources of a problem in classes that its flows use; None where it differs within one."""
    lead, usage = hops.every()
    equal = np.ones(len(lead), dtype=bool)
    if problem.used is None:
        return Common(lead, usage)
    if problem.fold.folds:
        lead, usage, equal = _on_leads(problem.fold, hops)
    if not len(problem.used):
        return Common(lead[:0], usage[:0])
    place = np.minimum(np.searchsorted(problem.used, lead), len(problem.used) - 1)
    rows = np.flatnonzero(problem.used[place] == lead)
    return Common(place[rows], usage[rows]) if equal[rows].all() else None


@memo(most=STRUCTURES_LIMIT)
def _on_leads(fold: Fold, hops: Hops) -> tuple[Int, Float, Bool]:
    """The first resource of each class that hops meet, what they put on it, and whether on all of the class."""
    resource, every = hops.every()
    represents = fold.every_resource()
    lead = represents[resource]
    first, at, of, met = np.unique(lead, return_index=True, return_inverse=True, return_counts=True)
    usage = every[at]
    equal = met == np.bincount(represents)[first]
    equal[of[~np.isclose(every, usage[of], SAME_TOLERANCE, 0.0)]] = False
    return first, usage, equal
