"""What the time of a step is added up from: plain seconds, or terms that keep apart which resource takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final


class Terms:
    """Seconds of each resource as plain numbers, so that the time of a step is a number [s].

    A subclass may return objects that can be added and multiplied by numbers, and keep resources apart.
    """

    #: the longest, and the least, of several times
    longest: Callable[..., Any] = staticmethod(max)
    least: Callable[..., Any] = staticmethod(min)

    def arithmetic(self, seconds: float) -> Any:
        """Seconds of calculating [s]."""
        return seconds

    def memory(self, seconds: float) -> Any:
        """Seconds of reading and writing the memory of a device [s]."""
        return seconds

    def launches(self, seconds: float) -> Any:
        """Seconds that kernels take at least [s]."""
        return seconds

    def engine(self, seconds: float) -> Any:
        """Seconds of the work of the engine itself [s]."""
        return seconds

    def kernel(self, least: float, compute: float, memory: float, sharpness: float) -> Any:
        """A kernel: the least there is, then arithmetic and memory meeting as smoothly as `sharpness` says [s].

        Notes
        -----
        t0 + (c^p + b^p)^(1/p).
        """
        most = max(compute, memory)
        return least + most * (1 + (min(compute, memory) / most) ** sharpness) ** (1 / sharpness)

    def between(self, first: Any, then: Any, share: float) -> Any:
        """A time between two others, `share` of the way from the first [s]."""
        return first + (then - first) * share


class Slower(Terms):
    """Terms that take longer by a factor, all resources together.

    Parameters
    ----------
    of
        What the terms are made by.
    factor
        How many times as long they take [1].
    """

    def __init__(self, of: Terms, factor: float) -> None:
        self._of, self._factor = of, factor
        self.longest, self.least = of.longest, of.least

    def arithmetic(self, seconds: float) -> Any:
        return self._of.arithmetic(seconds * self._factor)

    def memory(self, seconds: float) -> Any:
        return self._of.memory(seconds * self._factor)

    def launches(self, seconds: float) -> Any:
        return self._of.launches(seconds * self._factor)

    def engine(self, seconds: float) -> Any:
        return self._of.engine(seconds * self._factor)

    def kernel(self, least: float, compute: float, memory: float, sharpness: float) -> Any:
        by = self._factor
        return self._of.kernel(least * by, compute * by, memory * by, sharpness)

    def between(self, first: Any, then: Any, share: float) -> Any:
        return self._of.between(first, then, share)


NUMBERS: Final = Terms()
