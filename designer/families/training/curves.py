"""Curves of a training step under stable names: step-timeline, scaling, memory, roofline, flow-stages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from designer.engine.network import Network
from designer.engine.results import Curve
from designer.families.training.formulas.scaling import ScalingPoint, scaling_curve
from designer.families.training.formulas.step_composition import StepEstimate
from designer.families.training.preparation import TrainingPlan
from designer.families.training.step import RoutedStep, route_step
from designer.families.training.tasks import TrainStep
from designer.formulas.calibration import share
from designer.formulas.compute.gemm import INNER_HALF
from designer.formulas.compute.roofline import MEMORY_SHARE
from designer.workload.shape import TransformerShape

#: parts of a step in the order they run
_ORDER: Final = (
    "input_stall",
    "compute",
    "recompute",
    "tensor_communication",
    "context_communication",
    "expert_communication",
    "pipeline_communication",
    "bubble",
    "data_communication",
    "optimizer",
    "waiting",
)
#: a scaling curve has a point for every doubling up to so many accelerators, and half as many above
DOUBLED_LIMIT: Final = 4096
#: points on a roofline
STEPS_LIMIT: Final = 33


def curves(network: Network, routed_step: RoutedStep, training: TrainStep) -> Mapping[str, tuple[Curve, ...]]:
    """All curves of a step."""
    found = {
        "step-timeline": _timeline(routed_step.step),
        "memory": _memory(routed_step.step),
        "roofline": _roofline(routed_step),
        "scaling": _scaling_curves(network, routed_step, training),
    }
    if routed_step.feed is not None:
        stages = {**routed_step.feed.stage_rates(), "training": routed_step.training_rate}
        found["flow-stages"] = tuple(Curve(name, (float(k),), (rate,)) for k, (name, rate) in enumerate(stages.items()))
    return found


def _timeline(step: StepEstimate) -> tuple[Curve, ...]:
    """Each part from where it begins to where it ends [s], its time as y [s]."""
    at, found = 0.0, list[Curve]()
    for name in _ORDER:
        length = float(getattr(step, name))
        if length > 0:
            found.append(Curve(name, (at, at + length), (length, length)))
            at += length
    return tuple(found)


def _memory(step: StepEstimate) -> tuple[Curve, ...]:
    names = ("weights", "gradients", "optimizer", "activations", "gathered", "reserve", "capacity")
    return tuple(Curve(name, (float(k),), (float(getattr(step.memory, name)),)) for k, name in enumerate(names))


def _roofline(routed_step: RoutedStep) -> tuple[Curve, ...]:
    """Attainable rate [FLOP/s] over operations per byte of memory traffic; the ridge is where they meet."""
    plan = routed_step.plan
    part, name = plan.accelerator, plan.precision.name
    table = part.calibration.best if isinstance(plan.shape, TransformerShape) else part.calibration.convolution
    peak = part.peak(name)
    top = min(1.0, share(table, part.runs_as(name)).value) * peak
    slope = part.memory_bandwidth * MEMORY_SHARE.value
    ridge = top / slope
    x = tuple(ridge * 2.0 ** (k / 2 - STEPS_LIMIT // (2 * 2)) for k in range(STEPS_LIMIT))
    step = routed_step.step
    rate = step.mfu * peak
    return (
        Curve("attainable", x, tuple(min(top, slope * i) for i in x)),
        Curve("peak", (x[0], x[-1]), (peak, peak)),
        Curve(plan.shape.name, (_intensity(plan),), (rate,)),
    )


def _intensity(plan: TrainingPlan) -> float:
    """Operations per byte of the work that dominates: the feed-forward product, or a whole convolutional step."""
    width = plan.precision.activation_bytes.value
    if isinstance(plan.shape, TransformerShape):
        shape, layout = plan.shape, plan.layout
        rows = layout.micro_batch * plan.job.sequence / layout.context
        inner, columns = shape.hidden, max(shape.ffn, shape.expert_ffn, INNER_HALF.value) / layout.tensor
        return 2 * rows * inner * columns / (width * (rows * inner + inner * columns + rows * columns))
    moved = plan.shape.activations * plan.software.convolution_traffic.value * width
    return (1 if plan.job.forward_only else 2 + 1) * plan.shape.flop_forward / moved


def scaling_points(
    network: Network, routed_step: RoutedStep, training: TrainStep, every: bool
) -> tuple[ScalingPoint, ...]:
    """Throughput from one replica to all, each replica with as many samples; only the ends unless `every`."""
    plan = routed_step.plan
    steps: dict[int, StepEstimate] = {plan.layout.data: routed_step.step}

    def at(count: int) -> StepEstimate:
        data = count // plan.unit
        if data not in steps:
            steps[data] = route_step(network, plan.without_releases().with_data(data), training).step
        return steps[data]

    degrees = [1]
    times = 2 if plan.layout.ranks <= DOUBLED_LIMIT else 2 * 2
    while every and degrees[-1] * times < plan.layout.data:
        degrees.append(degrees[-1] * times)
    if plan.layout.data > 1:
        degrees.append(plan.layout.data)
    return scaling_curve([d * plan.unit for d in degrees], at)


def _scaling_curves(network: Network, routed_step: RoutedStep, training: TrainStep) -> tuple[Curve, ...]:
    """Speed-up and efficiency over accelerators, then what each cause takes of perfect scaling."""
    points = scaling_points(network, routed_step, training, every=True)
    x = tuple(float(p.accelerators) for p in points)
    found = [
        Curve("samples_per_second", x, tuple(p.samples_per_second for p in points)),
        Curve("speedup", x, tuple(p.speedup for p in points)),
        Curve("scaling_efficiency", x, tuple(p.efficiency for p in points)),
    ]
    causes = sorted({name for p in points for name, value in p.losses.items() if value > 0})
    found += [Curve(f"loss:{name}", x, tuple(p.losses.get(name, 0.0) for p in points)) for name in causes]
    return tuple(found)
