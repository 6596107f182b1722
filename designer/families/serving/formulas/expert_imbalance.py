"""How much more than its share the busiest of the devices that share experts has to do."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Final

from designer.formulas.formula import Formula
from designer.units import Ratio


def expert_imbalance(experts: int, per_token: int, tokens: float, ranks: int) -> Ratio:
    """Work of the busiest of `ranks` over the mean of them [1].

    Parameters
    ----------
    experts, per_token
        Of a layer, and how many of them a token chooses, evenly.
    tokens
        Of a step.
    ranks
        Devices, or groups of them, that each hold some experts whole.

    Notes
    -----
    Of the k choices of a token those that fall on one rank are hypergeometric: mean k/r, variance
    k/r (1 - 1/r) (E - k)/(E - 1). Tokens add up, and the largest of r of them lies as many deviations above the mean
    as in the normal order statistics of Blom, sqrt(r/(r - 1)) times as many because they have one sum. Where r does
    not divide E, the fullest rank has more experts, too.
    """
    if ranks <= 1 or experts <= 1 or tokens <= 0 or per_token <= 0:
        return Ratio(1.0)
    fullest = math.ceil(experts / ranks) * ranks / experts
    share = fullest / ranks
    mean = tokens * per_token * share
    variance = tokens * per_token * share * (1 - share) * (experts - per_token) / (experts - 1)
    # a token puts no more on a rank than it has choices or the rank has experts, and no rank is the busiest by less
    most = tokens * min(per_token, math.ceil(experts / ranks))
    busiest = min(most, mean + largest_deviation(ranks) * math.sqrt(max(0.0, variance)))
    return Ratio(busiest * ranks / (tokens * per_token))


@lru_cache(maxsize=64)
def largest_deviation(ranks: int) -> float:
    """Standard deviations by which the largest of so many shares of one sum lies above their mean [1]."""
    return NormalDist().inv_cdf((ranks - 3 / 8) / (ranks + 1 / 4)) * math.sqrt(ranks / (ranks - 1))


FORMULA: Final = Formula(
    "expert-imbalance",
    "Busiest device of experts",
    expert_imbalance,
    ("counted-serving",),
    "routing without favourites, as with random text; real text may load some experts more",
)
