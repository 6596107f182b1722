"""Hyperparameter sweeps: trials side by side, each with its own ranks, all on the same storage and links."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, Rows, WorkloadResult
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.families.training.loads import flows, loads, n_flows
from designer.families.training.metrics import metrics
from designer.families.training.preparation import prepare
from designer.families.training.routed_costs import ranks_of
from designer.families.training.steady import steady
from designer.families.training.step import route_step
from designer.families.training.tasks import TrainStep
from designer.workload.job_settings import input_path, job, run
from designer.workload.kind import placed


def answer(network: Network, settings: Mapping[str, Any], question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A sweep: trials in rounds, as many at once as the group holds.

    Raises
    ------
    AnalysisError
        If its settings do not go together with the drawing.
    """
    place = question.place
    with placed(place):
        training = TrainStep(job(settings), "", input_path(settings), run(settings))
    each, trials = settings["accelerators_per_trial"], settings["trials"]
    parts = resolve(network, training.job.group, f"{place}.group")
    if not 1 <= each <= len(parts) or trials < 1:
        raise AnalysisError(
            f"{trials} trials of {each} accelerators on {len(parts)}",
            place=place,
            remedy="give at least one trial, of at least one accelerator and no more than there are",
        )
    at_once = min(trials, len(parts) // each)
    first = ",".join(network.net.path(int(p)) for p in parts[:each].tolist())
    plan = prepare(network, replace(training.job, group=first), place)
    # the collectives of all trials are on the links at once
    plan = replace(plan, ranks=ranks_of(network, parts[: at_once * each], place))
    # and all of them load at once: what the slowest gets decides
    repeated = steady(network, route_step(network, plan, training, readers=parts[: at_once * each]), question)
    routed_step = repeated.step
    one = dict(metrics(network, routed_step, training))
    rounds = math.ceil(trials / at_once)
    note = f"{trials} trials, {at_once} at once, {rounds} rounds"
    found = {
        name: value for name, value in one.items() if name not in ("speedup", "scaling_efficiency", "time_to_train")
    }
    if "time_to_train" in one:
        trial = one["time_to_train"]
        found["trial_time"] = trial
        found["time_to_train"] = replace(trial.scaled(rounds), note=note)
    rate = found["samples_per_second"].scaled(at_once)
    found["samples_per_second"] = replace(rate, note="all trials together")
    result = question.result(
        found,
        repeated.binding,
        repeated.next,
        Rows(lambda: flows(routed_step)),
        n_flows(routed_step),
        routed_step.findings,
    )
    return result, loads(network, routed_step)
