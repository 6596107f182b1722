"""How much of the prompts is found in a cache, by the room it has: between measured points by the logarithm of room."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from designer.formulas.formula import Formula
from designer.units import Ratio


def reused(curve: Sequence[tuple[float, float]], room: float) -> Ratio:
    """Share of prompt tokens found [1].

    Parameters
    ----------
    curve
        Room in tokens and the share found with it, in order.
    room
        Tokens that fit.

    Notes
    -----
    Below the first point in proportion to the room; beyond the last no more is found.
    """
    if not curve or room <= 0:
        return Ratio(0.0)
    first, last = curve[0], curve[-1]
    if room <= first[0]:
        return Ratio(first[1] * room / first[0])
    for (low, less), (high, more) in pairwise(curve):
        if room <= high:
            return Ratio(less + (more - less) * math.log(room / low) / math.log(high / low))
    return Ratio(last[1])


FORMULA: Final = Formula(
    "reuse", "Prefixes found by room", reused, ("counted-serving",), "caches that forget the oldest"
)
