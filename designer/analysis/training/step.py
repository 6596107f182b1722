"""A training step on the drawn design: computing and collectives, then the input beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from designer.analysis.account import account
from designer.analysis.account.expression import Longest, Sum, Term
from designer.analysis.network import Network
from designer.analysis.training.costs import RoutedCosts
from designer.analysis.training.feeding import Feed, Samples, beside, feed
from designer.analysis.training.parameter_servers import ServerCosts, server_costs
from designer.analysis.training.preparation import ALONE, Int, TrainingPlan, samples_of
from designer.analysis.training.sharing import share_links
from designer.analysis.transfers import TransferAnswer
from designer.errors import AnalysisError, DesignerError
from designer.findings import Finding, Severity
from designer.formulas.pipeline.step_composition import NO_INPUT, InputStage, StepEstimate
from designer.sources import Constant, Status
from designer.units import Seconds, format_quantity
from designer.workload.datasets import Dataset
from designer.workload.jobs import InputPath
from designer.workload.program.training import TrainStep

#: whose band scales a step
ESTIMATE: Final = "training"
#: pictures of the largest batch of a published run that reached its accuracy
LARGEST_BATCH: Final = Constant(
    67_456, 57_344, 67_456, "mlperf-training", Status.PRIMARY, "1", "ResNet-50 on 4,216 A100, v2.0: 110 M samples"
)


@dataclass(frozen=True, slots=True, eq=False)
class RoutedStep:
    """One step as drawn.

    Parameters
    ----------
    busy
        The step when samples are always there.
    step
        The step with its input.
    low, high
        80 % band of the step time, that of the input included [s].
    feed, samples, data
        The input, None where it is left out.
    input
        Time to have the samples of a step ready, and its band [s].
    beside
        Workloads that run at the same time, as they do without this one; None where there are none.
    """

    plan: TrainingPlan
    costs: RoutedCosts | ServerCosts
    busy: StepEstimate
    step: StepEstimate
    low: float
    high: float
    feed: Feed | None
    samples: Samples | None
    data: Dataset | None
    path: InputPath
    input: tuple[float, float, float]
    overlapped: bool
    beside: TransferAnswer | None
    findings: tuple[Finding, ...]

    @property
    def training_rate(self) -> float:
        """Stored bytes per second a reader uses up when it never waits [B/s]."""
        return self.plan.local_batch * self.samples.stored / self.busy.step_time if self.samples else 0.0

    @property
    def routed(self) -> RoutedCosts:
        """The collectives, those of parameter servers aside."""
        return self.costs.routed if isinstance(self.costs, ServerCosts) else self.costs


def route_step(network: Network, plan: TrainingPlan, training: TrainStep, *, readers: Int | None = None) -> RoutedStep:
    """The step of a plan with its input.

    Parameters
    ----------
    readers
        All that read at once, where those of jobs alike beside this one read as well; None for its own.

    Raises
    ------
    AnalysisError
        If something cannot be reached or does not divide.
    """
    place = plan.place
    servers = training.parameter_servers
    costs = server_costs(plan.ranks, plan.layout, servers) if servers else plan.ranks.costs(plan.layout)
    busy, findings = _fitting(plan, costs)
    path = training.input
    others = beside(network, path.background, place)
    if not path.dataset or training.run.online:
        if others is not None:
            costs = share_links(plan, costs, busy, others, None, 0.0).costs(costs)
            busy, findings = _fitting(plan, costs)
        return RoutedStep(
            plan,
            costs,
            busy,
            busy,
            busy.low,
            busy.high,
            None,
            None,
            None,
            path,
            (0.0, 0.0, 0.0),
            True,
            others,
            findings,
        )
    samples, data = samples_of(plan.job.sequence, plan.is_transformer, path, place)
    samples = replace(samples, batch=plan.handed)
    fed = feed(network, plan.readers() if readers is None else readers, path, samples, place)
    overlapped = path.prefetch > 0
    # without batches ahead the step's own input is over before it communicates
    running = fed.answer if overlapped else others
    lost = 0.0
    if running is not None:
        shared = share_links(plan, costs, busy, running, fed if overlapped else None, samples.stored)
        lost = shared.lost
        if shared.slower:
            costs = shared.costs(costs)
            busy, findings = _fitting(plan, costs)
    size = plan.local_batch * samples.stored
    alone = fed.account(size, overlapped, explained=False)
    taken = alone.value + lost, alone.low + lost, alone.high + lost
    step = plan.estimate(costs, InputStage(Seconds(taken[0]), overlapped))
    # of computing only the band is asked for
    parts = Term("busy", float(busy.step_time), ESTIMATE), Sum((fed.time(size, overlapped), Term("lost", lost)))
    bands = {**fed.bands(overlapped), ESTIMATE: (busy.low / busy.step_time, busy.high / busy.step_time)}
    whole = account(Longest(parts) if overlapped else Sum(parts), bands, explained=False)
    low, high = min(whole.low, step.step_time), max(whole.high, step.step_time)
    found = (*findings, *_odd(plan, data), *_beyond(plan, samples), *fed.answer.findings)
    return RoutedStep(plan, costs, busy, step, low, high, fed, samples, data, path, taken, overlapped, others, found)


def busy_step(plan: TrainingPlan, training: TrainStep) -> StepEstimate:
    """The step of a plan on the drawn network when samples are always there; given also where it does not fit.

    Raises
    ------
    AnalysisError
        If something cannot be reached or does not divide.
    """
    servers = training.parameter_servers
    return _fitting(plan, server_costs(plan.ranks, plan.layout, servers) if servers else plan.ranks.costs(plan.layout))[
        0
    ]


def _odd(plan: TrainingPlan, data: Dataset) -> list[Finding]:
    """A dataset that is not what the model reads."""
    if plan.is_transformer == (data.tokens > 0):
        return []
    held, wanted = ("text", "pictures") if data.tokens else ("no text", "text")
    text = f"{data.title} holds {held}, {plan.shape.name} reads {wanted}: each of its samples counts as one"
    return [Finding("TRAIN-DATASET", Severity.WARNING, text, (), f"choose a dataset of {wanted}")]


def _beyond(plan: TrainingPlan, samples: Samples) -> list[Finding]:
    """A batch of more samples than there are, or of more pictures than anybody is known to have learnt from."""
    if plan.global_batch > samples.epoch:
        text = (
            f"a batch of {plan.global_batch:,} samples is larger than the dataset of {samples.epoch:,.0f}: "
            "an epoch is less than one step, so epochs and the time to train mean little"
        )
    elif not plan.is_transformer and plan.global_batch > LARGEST_BATCH.value:
        steps = math.ceil(samples.epoch / plan.global_batch)
        text = (
            f"an epoch is {steps} steps of {plan.global_batch:,} pictures: no published run reached its accuracy with "
            f"more than {LARGEST_BATCH.value:,.0f}, which took 86 epochs instead of 35"
        )
    else:
        return []
    return [Finding("TRAIN-BATCH", Severity.WARNING, text, (), "choose a smaller batch, or a larger dataset")]


def _fitting(plan: TrainingPlan, costs: RoutedCosts | ServerCosts) -> tuple[StepEstimate, tuple[Finding, ...]]:
    """The step; where it does not fit in memory, what it would be, and what would fit."""
    try:
        return plan.estimate(costs, NO_INPUT, must_fit=True), plan.findings
    except DesignerError as refusal:
        try:
            step = plan.estimate(costs, NO_INPUT)
        except DesignerError as error:
            inner = "" if not error.place or error.place.startswith(plan.place) else f".{error.place}"
            raise AnalysisError(error.text, place=f"{plan.place}{inner}", remedy=error.remedy) from None
        return step, (*plan.findings, _too_large(plan, step, refusal))


def unfit(plan: TrainingPlan) -> list[Finding]:
    """Whether a rank cannot even hold its weights, gradients and optimizer, whatever it computes."""
    memory = plan.estimate(ALONE, NO_INPUT).memory
    held = memory.weights + memory.gradients + memory.optimizer
    if held <= memory.capacity:
        return []
    sizes = format_quantity(held, "size"), format_quantity(memory.capacity, "size")
    text = f"every rank holds {sizes[0]} of weights, gradients and optimizer on an accelerator of {sizes[1]}"
    where = (plan.ranks.network.net.path(int(plan.ranks.parts[0])),)
    return [Finding("TRAIN-MEMORY", Severity.ERROR, text, where, "shard them, or use more tensor or pipeline ranks")]


def _too_large(plan: TrainingPlan, step: StepEstimate, refusal: DesignerError) -> Finding:
    """That a step does not fit, or only with less reserve and fragmentation than usual."""
    where = (plan.ranks.network.net.path(int(plan.ranks.parts[0])),)
    if not step.memory.may_fit:
        return Finding("TRAIN-MEMORY", Severity.ERROR, refusal.text, where, refusal.remedy or "")
    text = f"{refusal.text}; with little fragmentation {format_quantity(step.memory.least, 'size')} are enough"
    return Finding("TRAIN-TIGHT", Severity.WARNING, text, where, refusal.remedy or "")
