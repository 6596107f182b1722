"""Power of a device that serves: what it takes when it runs at all, and more with use of memory and arithmetic."""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Ratio, Watts


def _share(value: float, low: float, high: float, note: str) -> Constant:
    return Constant(value, low, high, "mlenergy-h100", Status.DERIVED, "1", note)


#: shares of the power limit: 411 W + 111 W x use of memory + 862 W x use of arithmetic, of 700 W
RUNNING: Final = _share(0.587, 0.52, 0.66, "eight dense models on H100, 7.3 % in the median")
MEMORY: Final = _share(0.159, 0.05, 0.3, "use of the data sheet's bandwidth")
ARITHMETIC: Final = _share(1.231, 0.9, 1.4, "use of the data sheet's peak")
IDLE: Final = Constant(0.15, 0.08, 0.2, "aic-kernels", Status.DERIVED, "1", "tiny kernels take 148 of 700 W")


def serving_power(limit: Watts, busy: Ratio, memory: Ratio, arithmetic: Ratio) -> Watts:
    """Mean power of a device [W].

    Parameters
    ----------
    limit
        Power limit [W].
    busy
        Share of time in which steps run [1].
    memory, arithmetic
        Used over data sheet while it runs [1].
    """
    running = min(1.0, RUNNING.value + MEMORY.value * memory + ARITHMETIC.value * arithmetic)
    return Watts(limit * (busy * running + (1 - busy) * IDLE.value))


FORMULA: Final = Formula(
    "serving-power", "Power while serving", serving_power, ("mlenergy-h100",), "H100, vLLM; others by their power limit"
)
