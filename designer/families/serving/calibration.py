"""What a benchmark of a deployment showed of its engine: factors on the shipped release, and how sure they are."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError

_TEXT: Final = re.compile(
    r"steps ([\d.]+) ± ([\d.]+) ?%, prompts ([\d.]+) ± ([\d.]+) ?%"
    r"(?:, measured with (\S+)(?: in (\S+))?(?: on (\S+))?)?"
)
_LARGEST: Final = 100.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """Factors on what a release takes.

    Parameters
    ----------
    steps
        Of all a device and its engine do in a step; what crosses links is not in it [1].
    prompts
        More for work on prompts and the way of a request [1].
    step_spread, first_spread
        80 % bands of time per token and first token: natural logarithm of the factor either way [1].
    model, weights, architecture
        What was measured; empty where not known.
    """

    steps: float
    prompts: float
    step_spread: float
    first_spread: float
    model: str = ""
    weights: str = ""
    architecture: str = ""

    def text(self) -> str:
        """As a setting says it: ``steps 1.083 ± 12 %, prompts 0.912 ± 20 %, measured with llama-3-8b``."""
        steps, first = (100 * math.expm1(spread) for spread in (self.step_spread, self.first_spread))
        found = f"steps {self.steps:.4g} ± {steps:.1f} %, prompts {self.prompts:.4g} ± {first:.1f} %"
        if self.model and " " not in self.model:
            found += f", measured with {self.model}"
            found += f" in {self.weights}" if self.weights else ""
            found += f" on {self.architecture}" if self.architecture else ""
        return found


def read_calibration(text: str, place: str = "calibration") -> Calibration | None:
    """What a setting says; None for an empty one.

    Raises
    ------
    AnalysisError
        If it cannot be read.
    """
    if not text.strip():
        return None
    found = _TEXT.fullmatch(text.strip())
    remedy = "write it as `designer calibrate` does: steps 1.08 ± 12 %, prompts 0.91 ± 20 %"
    if found is None:
        raise AnalysisError(f"{text!r} is no calibration", place=place, remedy=remedy)
    try:
        steps, step_spread, prompts, first_spread = (float(found[n]) for n in range(1, 5))
    except ValueError:
        raise AnalysisError(f"{text!r} is no calibration", place=place, remedy=remedy) from None
    if not (1 / _LARGEST <= steps <= _LARGEST and 1 / _LARGEST <= prompts <= _LARGEST):
        raise AnalysisError(f"a factor outside 0.01 to {_LARGEST:g}", place=place, remedy=remedy)
    spreads = math.log1p(step_spread / 100), math.log1p(first_spread / 100)
    return Calibration(steps, prompts, *spreads, found[5] or "", found[6] or "", found[7] or "")
