"""Training: step, throughput, scaling, memory and time to train on the drawn design."""

from __future__ import annotations

import math
from collections.abc import Mapping

from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import Bottleneck, ChannelLoads, Rows, WorkloadResult
from designer.families.collective.evaluation import role_findings
from designer.families.training.curves import curves
from designer.families.training.loads import flows, loads, n_flows
from designer.families.training.metrics import metrics
from designer.families.training.preparation import prepare
from designer.families.training.steady import steady
from designer.families.training.step import RoutedStep, route_step
from designer.families.training.tasks import TrainStep
from designer.findings import Finding, Severity
from designer.sources import Estimate
from designer.units import format_quantity
from designer.workload.program import Program


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A training workload."""
    task = program.first(TrainStep)
    assert task is not None
    plan = prepare(network, task.job, question.place)
    repeated = steady(network, route_step(network, plan, task), question)
    routed_step, binding, after = repeated.step, repeated.binding, repeated.next
    found = metrics(network, routed_step, task)
    if task.run.online and found["samples_per_second"].value < routed_step.step.samples_per_second:
        after, binding = binding, (_arrivals(task, routed_step),)
    result = question.result(
        found,
        binding,
        after,
        Rows(lambda: flows(routed_step)),
        n_flows(routed_step),
        (
            *routed_step.findings,
            *(_roles(routed_step) if question.explained else ()),
            *_cadence(found, task),
            *_late_checkpoints(found, task),
        ),
        curves(network, routed_step, task) if question.curves else {},
    )
    return result, loads(network, routed_step)


def _roles(routed_step: RoutedStep) -> list[Finding]:
    """Networks meant for something else that the collectives of the step run over, each listed once."""
    found = [f for _, _, one in routed_step.routed.used.values() for f in role_findings(one)]
    return list({f.text: f for f in found}.values())


def _arrivals(training: TrainStep, routed_step: RoutedStep) -> Bottleneck:
    arriving, able = training.run.arrival_rate, routed_step.step.samples_per_second
    why = f"{format_quantity(arriving, 'frequency')} arrive, training could take {format_quantity(able, 'frequency')}"
    gain = min(2.0, able / arriving)
    return Bottleneck("limit", "arrivals", "samples arriving", why, gain, gain)


def _late_checkpoints(found: Mapping[str, Estimate], training: TrainStep) -> list[Finding]:
    """Checkpoints behind training that are not written when the next is due."""
    write, step, run = found.get("checkpoint_time"), found.get("step_time"), training.run
    if write is None or step is None or not run.snapshot:
        return []
    due = run.checkpoint_every * step.value
    if write.value <= due:
        return []
    takes, every, waits = (format_quantity(s, "duration") for s in (write.value, due, write.value - due))
    text = (
        f"writing a checkpoint takes {takes} and the next is due after {every}: training waits {waits} for each; the "
        "step time leaves these waits out, the time to train holds them"
    )
    steps = math.ceil(write.value / step.value)
    return [Finding("TRAIN-CHECKPOINT", Severity.WARNING, text, (), f"write one every {steps:,} steps, or faster")]


def _cadence(found: Mapping[str, Estimate], training: TrainStep) -> list[Finding]:
    """Retraining that is not done when the next begins."""
    share = found.get("retraining_share")
    if share is None or share.value <= 1:
        return []
    takes, every = (format_quantity(s, "duration") for s in (found["time_to_train"].value, training.run.retrain_every))
    text = f"a retraining takes {takes} and the next begins every {every}: they pile up"
    return [Finding("TRAIN-CADENCE", Severity.WARNING, text, (), "retrain less often, on less data or on more parts")]
