"""A training step on the drawn design: computing and collectives, and its input, each by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from designer.engine.account.expression import seconds
from designer.engine.network import Network
from designer.errors import AnalysisError, DesignerError
from designer.families.training.feeding import Feed, Samples, feed
from designer.families.training.formulas.step_composition import NO_INPUT, InputStage, StepEstimate
from designer.families.training.parameter_servers import ServerCosts, server_costs
from designer.families.training.preparation import ALONE, Int, TrainingPlan, samples_of
from designer.families.training.routed_costs import RoutedCosts
from designer.families.training.tasks import TrainStep
from designer.findings import Finding, Severity
from designer.sources import Constant, Status
from designer.units import Seconds, format_quantity
from designer.workload.datasets import Dataset
from designer.workload.jobs import InputPath

#: the estimate whose band scales a step
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
    findings: tuple[Finding, ...]

    @property
    def loaded(self) -> float:
        """Stored bytes that a reader loads for a step [B]."""
        if self.samples is None or self.feed is None:
            return 0.0
        return self.samples.loaded(self.plan.local_batch, len(self.feed.parts), self.path)

    @property
    def training_rate(self) -> float:
        """Stored bytes per second a reader uses up when it never waits [B/s]."""
        return self.loaded / self.busy.step_time

    @property
    def routed(self) -> RoutedCosts:
        """The collectives, those of parameter servers aside."""
        return self.costs.routed if isinstance(self.costs, ServerCosts) else self.costs


def route_step(network: Network, plan: TrainingPlan, training: TrainStep, *, readers: Int | None = None) -> RoutedStep:
    """The step of a plan and its input, each as it is alone, with the band of the step without its input.

    Parameters
    ----------
    readers
        All that read at once, where those of equal jobs read as well; None for its own.

    Raises
    ------
    AnalysisError
        If something cannot be reached or does not divide.
    """
    place, path = plan.place, training.input
    costs = _costs(plan, training)
    busy, findings = _fitting_step(plan, costs)
    none = (0.0, 0.0, 0.0)
    alone = RoutedStep(plan, costs, busy, busy, busy.low, busy.high, None, None, None, path, none, True, findings)
    if not path.dataset or training.run.online:
        return alone
    samples, data = samples_of(plan.job.sequence, plan.is_transformer, path, place)
    samples = replace(samples, batch=plan.handed)
    fed = feed(network, plan.readers() if readers is None else readers, path, samples, place)
    overlapped = path.prefetch > 0
    taken = float(seconds(fed.time(samples.loaded(plan.local_batch, len(fed.parts), path), overlapped)))
    return replace(
        alone,
        # the band is that of the step without its input
        step=plan.without_releases().estimate(costs, InputStage(Seconds(taken), overlapped)),
        feed=fed,
        samples=samples,
        data=data,
        input=(taken, taken, taken),
        overlapped=overlapped,
        findings=(*findings, *_mismatch_findings(plan, data), *_batch_findings(plan, samples), *fed.answer.findings),
    )


def _costs(plan: TrainingPlan, training: TrainStep) -> RoutedCosts | ServerCosts:
    servers = training.parameter_servers
    return server_costs(plan.ranks, plan.layout, servers) if servers else plan.ranks.costs(plan.layout)


def busy_step(plan: TrainingPlan, training: TrainStep) -> StepEstimate:
    """The step of a plan on the drawn network when samples are always there; given also where it does not fit.

    Raises
    ------
    AnalysisError
        If something cannot be reached or does not divide.
    """
    return _fitting_step(plan, _costs(plan, training))[0]


def _mismatch_findings(plan: TrainingPlan, data: Dataset) -> list[Finding]:
    """A dataset that is not what the model reads."""
    if plan.is_transformer == (data.tokens > 0):
        return []
    held, wanted = ("text", "pictures") if data.tokens else ("no text", "text")
    text = f"{data.title} holds {held}, {plan.shape.name} reads {wanted}: each of its samples counts as one"
    return [Finding("TRAIN-DATASET", Severity.WARNING, text, (), f"choose a dataset of {wanted}")]


def _batch_findings(plan: TrainingPlan, samples: Samples) -> list[Finding]:
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


def _fitting_step(plan: TrainingPlan, costs: RoutedCosts | ServerCosts) -> tuple[StepEstimate, tuple[Finding, ...]]:
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
    memory = plan.without_releases().estimate(ALONE, NO_INPUT).memory
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
