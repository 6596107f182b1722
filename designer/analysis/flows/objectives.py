"""What a study wants to improve, as one number of the rates, with its derivative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from designer.analysis.flows.prepared import FloatArray


@dataclass(frozen=True, slots=True)
class Objective:
    """One number computed from the rates.

    Parameters
    ----------
    name
        For people.
    value
        (n_activities,) rates [B/s] → the number.
    gradient
        (n_activities,) rates [B/s] → (n_activities,) derivative of the number with respect to each rate.
    smaller_is_better
        True for times.
    """

    name: str
    value: Callable[[FloatArray], float]
    gradient: Callable[[FloatArray], FloatArray]
    smaller_is_better: bool = False

    def gain(self, before: FloatArray, after: FloatArray) -> float:
        """How many times better ``after`` is than ``before`` [1]; 1 = as good."""
        old, new = self.value(before), self.value(after)
        if self.smaller_is_better:
            old, new = new, old
        if old == new:
            return 1.0
        return new / old if old else float("inf")


def slowest() -> Objective:
    """The lowest rate [B/s]. Where several share it the derivative is spread evenly over them."""

    def gradient(rate: FloatArray) -> FloatArray:
        lowest = rate == rate.min()
        return lowest / np.count_nonzero(lowest)

    return Objective("slowest rate", lambda rate: float(rate.min()), gradient)


def total() -> Objective:
    """The sum of all rates [B/s]."""
    return Objective("total rate", lambda rate: float(rate.sum()), np.ones_like)


def harmonic_mean() -> Objective:
    """The harmonic mean of all rates [B/s]: the rate at which equal amounts, one after the other, would run."""

    def value(rate: FloatArray) -> float:
        return 0.0 if not rate.all() else float(len(rate) / (1 / rate).sum())

    def gradient(rate: FloatArray) -> FloatArray:
        return value(rate) ** 2 / (len(rate) * rate**2)

    return Objective("harmonic mean rate", value, gradient)


def completion_time(amount: ArrayLike) -> Objective:
    """The time until the last activity has moved its amount, (n_activities,) [B], at steady rates [s]."""
    amounts = np.array(amount, np.float64)

    def times(rate: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(amounts > 0, amounts / rate, 0.0)

    def gradient(rate: FloatArray) -> FloatArray:
        time = times(rate)
        last = time == time.max()
        slope = np.zeros_like(time)
        slope[last] = -amounts[last] / rate[last] ** 2 / np.count_nonzero(last)
        return slope

    return Objective("completion time", lambda rate: float(times(rate).max()), gradient, smaller_is_better=True)
