"""Power over a step: what all accelerators and the servers around them draw while a synchronous step runs."""

from __future__ import annotations

from dataclasses import dataclass

from designer.catalog.parttype import Capability, part_kinds
from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.formulas.power.server_power import AROUND, accelerator_power
from designer.formulas.power.step_load import COMMUNICATING, StepLoad, profile, step_load
from designer.report.figure import Axis, Figure, FigureKind, LineSeries
from designer.report.inventory import inventory
from designer.units import Ratio, Seconds, Watts

#: parts of a step in which accelerators compute; in the others they communicate or wait
_COMPUTING = ("compute", "optimizer")
#: of the memory bandwidth, while an accelerator computes; how much is used is not known
_MEMORY = 0.5


@dataclass(frozen=True, slots=True)
class JobLoad:
    """Power of a training job over a step.

    Parameters
    ----------
    one
        Of one accelerator.
    without
        Of one accelerator without power smoothing.
    accelerators
        How many are in step.
    around
        What the servers draw besides, which does not swing [W].
    phases
        Length [s] and power of the job [W] of each part of the step.
    """

    one: StepLoad
    without: StepLoad
    accelerators: int
    around: float
    phases: tuple[tuple[float, float], ...]

    @property
    def swing(self) -> float:
        """By how much the job's load rises and falls once a step [W]."""
        return self.one.swing * self.accelerators


def job_load(design: Design, result: WorkloadResult) -> JobLoad | None:
    """Power of a training workload over its step; None for others, and where accelerators state no power."""
    curves, mfu = result.curves.get("step-timeline", ()), result.metrics.get("mfu")
    if not curves or mfu is None or result.kind != "training":
        return None
    stock = inventory(design)
    known = [
        (c, c.count * unit.count)
        for unit in stock.classes
        for c in unit.contents
        if (k := part_kinds().get(c.part.kind)) is not None and Capability.ACCELERATE in k.capabilities
    ]
    limits = [stock.number(c.part, "power_per_part") for c, _ in known]
    if not known or any(limit is None for limit in limits):
        return None
    limit = max(w for w in limits if w is not None)
    caps = [w for c, _ in known if (w := stock.number(c.part, "power_cap")) is not None]
    floors = [w for c, _ in known if (w := stock.number(c.part, "power_floor")) is not None]
    parts = [(c.name, c.x[1] - c.x[0]) for c in curves]
    step = sum(seconds for _, seconds in parts)
    computing = sum(seconds for name, seconds in parts if name in _COMPUTING)
    if computing <= 0 or step <= 0:
        return None
    busy = min(1.0, mfu.value * step / computing)
    high = min(accelerator_power(Watts(limit), Ratio(busy), Ratio(_MEMORY)), *caps, limit)
    low = COMMUNICATING.value * limit
    floor = max(floors, default=0.0) * limit
    count = sum(n for _, n in known)
    phases = (Watts(high), Watts(low), Seconds(computing), Seconds(step - computing))
    one, without = step_load(*phases, Watts(min(floor, high))), step_load(*phases, Watts(0.0))
    around = AROUND.value * count
    watts = tuple((seconds, around + count * (one.high if name in _COMPUTING else one.low)) for name, seconds in parts)
    return JobLoad(one, without, count, around, watts)


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """Two steps of the job, one after the other; None where nothing states the power."""
    del analysis
    found = job_load(design, result)
    if found is None:
        return None
    times, watts = profile((*found.phases, *found.phases))
    mean = found.around + found.accelerators * found.one.mean
    lines = (
        LineSeries("servers with their accelerators", times, watts),
        LineSeries("mean", (times[0], times[-1]), (mean, mean), role="ideal"),
    )
    return Figure("Power over two steps", Axis("Time", "s", zero=True), Axis("Power", "W", zero=True), lines)


FIGURE = FigureKind("power-step", "Power over a step", "timeline", build, order=90)
