"""The pipeline bubble: time stages are idle while the pipeline fills and drains."""

from __future__ import annotations

from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.formulas.layout import Schedule
from designer.sources import Constant, Status
from designer.units import Ratio, Seconds

#: passes for gradients of weights that fill what two pipelines leave empty
DUAL_PIPE_SPARED: Final = Constant(3.0, 3.0, 3.0, "deepseek-v3-2024", Status.PRIMARY, "1", "table 2")


def bubble_fraction(stages: int, interleave: int, microbatches: int) -> Ratio:
    """Idle time over working time of a pipeline, (p - 1) / (v m) [1].

    Raises
    ------
    AnalysisError
        If any of them is below 1.

    Sources
    -------
    Narayanan et al. 2021, section 2.2.
    """
    if min(stages, interleave, microbatches) < 1:
        raise AnalysisError(
            f"a pipeline of {stages} stages, interleaved {interleave} times, with {microbatches} microbatches",
            remedy="all three are 1 or more",
        )
    return Ratio((stages - 1) / (interleave * microbatches))


def scheduled_bubble(
    schedule: Schedule, stages: int, forward: Seconds, backward: Seconds, weights: Seconds, both: Seconds
) -> Seconds:
    """Time that the stages of a pipeline that is not interleaved be paused in a step [s].

    Parameters
    ----------
    forward, backward, weights
        Passes of one microbatch through one stage, and the part of the backward pass that makes gradients of weights.
    both
        A forward and a backward pass of two microbatches that overlap.

    Notes
    -----
    1F1B (p - 1)(F + B), ZB1P (p - 1)(F + B - 2 W), DualPipe (p / 2 - 1)(F&B + B - 3 W), never below 0.

    Sources
    -------
    DeepSeek-V3 2024, table 2; Qi et al. 2023 for ZB1P.
    """
    if schedule is Schedule.DUAL_PIPE:
        return Seconds(max(0.0, (stages / 2 - 1) * (both + backward - DUAL_PIPE_SPARED.value * weights)))
    spared = 2 * weights if schedule is Schedule.ZERO_BUBBLE else 0.0
    return Seconds(max(0.0, (stages - 1) * (forward + backward - spared)))


FORMULA: Final = Formula(
    "pipeline-bubble",
    "Pipeline bubble",
    bubble_fraction,
    ("megatron-2021", "deepseek-v3-2024"),
    "one-forward-one-backward schedules with equal stages",
)
