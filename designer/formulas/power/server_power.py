"""Power of an accelerator from how busy it is, and of a server at the wall."""

from __future__ import annotations

import math
from typing import Final

from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Ratio, Watts

#: a fit of H100 serving at a limit of 700 W: at rest between kernels, with memory busy, with arithmetic busy
RATED: Final = Constant(
    700.0, 700.0, 700.0, "ml-energy-fit", Status.DERIVED, "W", "limit of the accelerator of the fit"
)
FLOOR: Final = Constant(411.0, 380.0, 441.0, "ml-energy-fit", Status.DERIVED, "W")
MEMORY: Final = Constant(111.0, 56.0, 166.0, "ml-energy-fit", Status.DERIVED, "W")
ARITHMETIC: Final = Constant(862.0, 776.0, 948.0, "ml-energy-fit", Status.DERIVED, "W")
#: relative error of the fit: the median is 7.3 %
FIT_ERROR: Final = Constant(0.073, 0.0, 0.14, "ml-energy-fit", Status.DERIVED)
#: 80 % band of the fit, as a logarithm: nine of ten of its points lie within 15.8 %
FIT_SPREAD: Final = Constant(0.15, 0.12, 0.25, "ml-energy-fit", Status.DERIVED)
#: what is added for accelerators of another model than that of the fit; nobody published enough to check it
OTHER_MODEL: Final = Constant(0.12, 0.05, 0.25, "ml-energy-fit", Status.ASSUMED, "1", "readings of B200 alone")
#: what a server draws next to its accelerators, for each of them: 2.6 kW with eight
AROUND: Final = Constant(325.0, 240.0, 360.0, "wall-readings", Status.DERIVED, "W")
#: an accelerator that waits
IDLE: Final = Constant(0.25, 0.15, 0.30, "wall-readings", Status.DERIVED, "1", "share of the limit, tiny kernels only")


def accelerator_power(limit: Watts, arithmetic: Ratio, memory: Ratio) -> Watts:
    """Power of an accelerator while it works [W], never above its limit.

    Parameters
    ----------
    limit
        What it may draw [W]; the fit of one model is taken relative to this.
    arithmetic, memory
        Shares of its dense peak rate and of its memory bandwidth in use, 0 to 1.

    Sources
    -------
    ML.ENERGY measurements of H100 serving; other accelerators are assumed to behave the same relative to their limit.
    """
    share = (FLOOR.value + MEMORY.value * memory + ARITHMETIC.value * arithmetic) / RATED.value
    return Watts(limit * min(1.0, share))


def power_at_work(
    limit: Watts, arithmetic: tuple[Ratio, Ratio, Ratio] | None, same_model: bool
) -> tuple[Watts, Watts, Watts]:
    """Power of an accelerator while it works [W]: value, low and high end of the 80 % band, never above its limit.

    Parameters
    ----------
    limit
        What it may draw [W].
    arithmetic
        Share of its dense peak rate in use, with its band; None where nothing states how busy it is.
    same_model
        Whether it is the model of the fit.
    """
    spread = math.exp(FIT_SPREAD.value if same_model else math.hypot(FIT_SPREAD.value, OTHER_MODEL.value))
    idle = limit * IDLE.value
    # how much of the memory bandwidth is used is not known: half, and anything in the band
    if arithmetic is None:
        rest = accelerator_power(limit, Ratio(0.0), Ratio(0.5))
        value = Watts((rest + limit) / 2)
        low, high = accelerator_power(limit, Ratio(0.0), Ratio(0.0)) / spread, limit
    else:
        value = accelerator_power(limit, arithmetic[0], Ratio(0.5))
        low = accelerator_power(limit, arithmetic[1], Ratio(0.0)) / spread
        high = Watts(accelerator_power(limit, arithmetic[2], Ratio(1.0)) * spread)
    return value, Watts(max(low, idle)), Watts(min(high, limit))


def wall_power(accelerators: Watts, count: int) -> Watts:
    """Power of a server at the wall [W] with `count` accelerators that draw `accelerators` together."""
    return Watts(accelerators + AROUND.value * count)


FORMULA: Final = Formula(
    "server-power",
    "Server power",
    accelerator_power,
    ("ml-energy-fit", "wall-readings"),
    "accelerators at work; other models than the H100 are assumed to behave the same relative to their limit",
)
