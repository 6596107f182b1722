"""Power over a synchronous training step: high while all compute, low while all wait for the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from designer.formulas.formula import Formula
from designer.formulas.power.server_power import IDLE
from designer.sources import Constant, Status
from designer.units import Ratio, Seconds, Watts

#: what an accelerator draws while it only communicates or waits; production traces show phases from the limit to near
#: idle
COMMUNICATING: Final = Constant(
    0.4, 0.25, 0.6, "power-stabilization", Status.ASSUMED, "1", "share of the limit while a step communicates"
)
#: power above idle over clock, as an exponent. By V² f it is 3; BERT on V100 under 150 of 250 W took 6.8 % longer with
#: 13.7 % less energy, so it drew 150 x 1.068 / 0.863 = 186 W without a cap, and ln(0.711) / ln(1 / 1.068) = 5.2
EXPONENT: Final = Constant(4.0, 2.5, 5.5, "power-cap-bert", Status.DERIVED, "1", "power above idle over clock")


@dataclass(frozen=True, slots=True)
class StepLoad:
    """What one accelerator draws over a step.

    Parameters
    ----------
    high, low, mean
        While it computes, while it communicates, and over the step [W].
    swing
        High less low [W].
    seconds
        Length of the step; once in it the load rises and falls [s].
    """

    high: float
    low: float
    mean: float
    swing: float
    seconds: float


def capped_clock(drawn: Watts, cap: Watts, limit: Watts, exponent: Ratio = Ratio(EXPONENT.value)) -> Ratio:
    """Clock under a power cap over the clock without one [1]; arithmetic rates follow it.

    Parameters
    ----------
    drawn
        What the accelerator draws without a cap [W].
    cap, limit
        The cap, and the limit of the accelerator, of which it draws a share while idle [W].
    exponent
        Power above idle over clock.
    """
    idle = IDLE.value * limit
    if cap >= drawn or drawn <= idle:
        return Ratio(1.0)
    return Ratio(max(0.0, (cap - idle) / (drawn - idle)) ** (1 / exponent))


def step_load(computing: Watts, communicating: Watts, compute: Seconds, communicate: Seconds, floor: Watts) -> StepLoad:
    """What one accelerator draws over a step of which it communicates a part; smoothing keeps it at least at `floor`.

    Parameters
    ----------
    computing, communicating
        What it draws in either phase [W].
    compute, communicate
        Length of the phases [s].
    floor
        Least power while the step runs [W]; 0 without smoothing.
    """
    high, low = max(computing, floor), min(max(computing, floor), max(communicating, floor))
    seconds = compute + communicate
    mean = (high * compute + low * communicate) / seconds if seconds > 0 else high
    return StepLoad(high, low, mean, high - low, seconds)


def profile(phases: Sequence[tuple[float, float]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Corners of a step function: times [s] and powers [W] of phases given by length [s] and power [W]."""
    at, times, powers = 0.0, list[float](), list[float]()
    for seconds, watts in phases:
        times += [at, at + seconds]
        powers += [watts, watts]
        at += seconds
    return tuple(times), tuple(powers)


FORMULA: Final = Formula(
    "step-load",
    "Power over a training step",
    step_load,
    ("power-stabilization", "power-cap-bert"),
    "all accelerators of a job in step; phases overlap as the step does",
)
