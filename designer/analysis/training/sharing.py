"""Whether the collectives of a step and the flows of its input have room for each other on all links."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from designer.analysis.network import TIE_TOLERANCE
from designer.analysis.network.frame import STRUCTURES_LIMIT
from designer.analysis.network.partition import SAME_TOLERANCE
from designer.analysis.routes.folding import Fold
from designer.analysis.routes.hop_loads import Common, Hops
from designer.analysis.training.costs import arrangement_of
from designer.analysis.training.parameter_servers import ServerCosts
from designer.analysis.training.step import RoutedStep
from designer.analysis.transfers import FlowProblem
from designer.memo import memo

Bool = npt.NDArray[np.bool_]
Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]


def has_room(step: RoutedStep) -> bool:
    """Whether all collectives at once, and all readers beside them, go as fast as each does alone.

    False also where that is not known: with parameter servers, and where classes of links are not used equally.
    """
    if step.feed is None:
        return True
    if isinstance(step.costs, ServerCosts):
        return False
    problem, rates = step.feed.answer.problem, step.feed.answer.rates.rate
    flows = problem.incidence
    reading = np.bincount(flows.resource, flows.usage * np.repeat(rates, np.diff(flows.ptr)), len(flows.capacity))
    used = reading.copy()
    for group in step.costs.used:
        for one in step.plan.ranks.communicators(arrangement_of(step.plan.layout, group)):
            for activity in (one.inside, one.between):
                common = on_classes(problem, activity.hops) if activity is not None else None
                if activity is not None and common is None:
                    return False
                if activity is not None and common is not None:
                    used[common.resource] += common.usage * activity.rate
    return not ((used > flows.capacity * (1 + TIE_TOLERANCE)) & (reading > 0)).any()


@memo(most=STRUCTURES_LIMIT)
def on_classes(problem: FlowProblem, hops: Hops) -> Common | None:
    """What hops put on the resources of a problem in classes that its flows use; None where it is not alike in one."""
    lead, usage = hops.every.resource, hops.every.usage
    alike = np.ones(len(lead), dtype=bool)
    if problem.used is None:
        return Common(lead, usage)
    if problem.fold is not None:
        lead, usage, alike = _on_leads(problem.fold, hops)
    if not len(problem.used):
        return Common(lead[:0], usage[:0])
    place = np.minimum(np.searchsorted(problem.used, lead), len(problem.used) - 1)
    rows = np.flatnonzero(problem.used[place] == lead)
    return Common(place[rows], usage[rows]) if alike[rows].all() else None


@memo(most=STRUCTURES_LIMIT)
def _on_leads(fold: Fold, hops: Hops) -> tuple[Int, Float, Bool]:
    """The first resource of each class that hops meet, what they put on it, and whether on all of the class alike."""
    every = hops.every
    stands_for = fold.every_resource()
    lead = stands_for[every.resource]
    first, at, of, met = np.unique(lead, return_index=True, return_inverse=True, return_counts=True)
    usage = every.usage[at]
    alike = met == np.bincount(stands_for)[first]
    alike[of[~np.isclose(every.usage, usage[of], SAME_TOLERANCE, 0.0)]] = False
    return first, usage, alike
