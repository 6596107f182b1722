"""The pipeline bubble: time stages stand still while the pipeline fills and drains."""

from __future__ import annotations

from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.units import Ratio


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


FORMULA: Final = Formula(
    "pipeline-bubble",
    "Pipeline bubble",
    bubble_fraction,
    ("megatron-2021",),
    "one-forward-one-backward schedules with equal stages",
)
