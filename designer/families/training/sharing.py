"""Whether the collectives of a step and the flows of its input have room for each other on all links."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from designer.engine.flows import Incidence, solve
from designer.engine.network import TIE_TOLERANCE
from designer.engine.network.frame import STRUCTURES_LIMIT
from designer.engine.network.partition import SAME_TOLERANCE
from designer.engine.routes.folding import Fold
from designer.engine.routes.hop_loads import Common, Hops
from designer.engine.transfers import FlowProblem
from designer.families.collective.activities import Activity
from designer.families.training.parameter_servers import ServerCosts
from designer.families.training.routed_costs import arrangement_of
from designer.families.training.step import RoutedStep
from designer.memo import memo

Bool = npt.NDArray[np.bool_]
Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]


def readers_keep(step: RoutedStep) -> bool:
    """Whether all readers go as fast next to all collectives at once as they do alone.

    False also where that is not known: with parameter servers, and where classes of links are not used equally.
    """
    shared = _shared(step)
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
    shared = _shared(step)
    if shared is None or step.feed is None:
        return step.feed is None
    flows, rates = step.feed.answer.problem.incidence, step.feed.answer.rates.rate
    reading = np.bincount(flows.resource, flows.usage * np.repeat(rates, np.diff(flows.ptr)), len(flows.capacity))
    used = reading.copy()
    for activity, common in shared:
        used[common.resource] += common.usage * activity.rate
    return not ((used > flows.capacity * (1 + TIE_TOLERANCE)) & (reading > 0)).any()


def _shared(step: RoutedStep) -> list[tuple[Activity, Common]] | None:
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
