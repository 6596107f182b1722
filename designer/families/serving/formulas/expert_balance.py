"""How evenly experts are chosen over time, and what copies of the busiest of them do about it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heappush
from statistics import NormalDist
from typing import Final

from designer.families.serving.formulas.expert_imbalance import expert_imbalance, largest_deviation
from designer.formulas.formula import Formula
from designer.units import Ratio


@dataclass(frozen=True, slots=True)
class ExpertSetup:
    """How the experts of a deployment are chosen, copied and overlapped.

    Parameters
    ----------
    redundant
        Copies of experts that a balancer places next to the experts themselves, over all ranks.
    skew
        Coefficient of variation of how often experts are chosen [1]; 0 for evenly.
    overlap
        True if a step is cut into two batches, so that one computes while the other is sent.
    """

    redundant: int = 0
    skew: Ratio = Ratio(0.0)
    overlap: bool = False


def busiest_rank(experts: int, per_token: int, tokens: float, ranks: int, setup: ExpertSetup) -> Ratio:
    """Work of the busiest of `ranks` over the mean of them [1]: chance of a step, times what lasts.

    Parameters
    ----------
    experts, per_token
        Of a layer, and how many of them a token chooses.
    tokens
        Of a step.
    ranks
        Devices, or groups of them, that each hold some experts whole.
    """
    chance = expert_imbalance(experts + setup.redundant, per_token, tokens, ranks)
    return Ratio(chance * lasting_imbalance(experts, ranks, setup.redundant, setup.skew))


@lru_cache(maxsize=256)
def lasting_imbalance(experts: int, ranks: int, redundant: int, skew: Ratio) -> Ratio:
    """Expected work of the busiest rank over the mean where some experts are chosen more often for long [1].

    Notes
    -----
    Popularity is lognormal with the given variation. Without copies, experts lie in the order of the model, which is
    chance: the largest of the sums of E/r of them lies as many deviations above the mean as in normal order
    statistics. With copies it is what the published balancer leaves: each copy goes to the expert with most work per
    copy, then copies go, the busiest first, to the rank with least work that has room.
    """
    if ranks <= 1 or skew <= 0 or experts <= ranks // 2:
        return Ratio(1.0)
    if not redundant:
        held = experts / ranks
        return Ratio(1 + largest_deviation(ranks) * skew / math.sqrt(held) * math.sqrt(max(0.0, 1 - 1 / ranks)))
    room = math.ceil((experts + redundant) / ranks)
    work = [-share / count for share, count in _expert_copies(_popularity(experts, skew), redundant)]
    loads = [(0.0, 0, rank) for rank in range(ranks)]
    most = 0.0
    heapify(loads)
    for one in sorted(work):
        load, count, rank = heappop(loads)
        load -= one
        most = max(most, load)
        if count + 1 < room:
            heappush(loads, (load, count + 1, rank))
    return Ratio(max(1.0, most * ranks))


def _popularity(experts: int, skew: float) -> list[float]:
    """Shares of the choices, at even quantiles of the distribution; they add up to 1."""
    deviation = math.sqrt(math.log1p(skew * skew))
    normal = NormalDist()
    found = [math.exp(deviation * normal.inv_cdf((k + 0.5) / experts)) for k in range(experts)]
    whole = sum(found)
    return [one / whole for one in found]


def _expert_copies(shares: list[float], redundant: int) -> list[tuple[float, int]]:
    """The share of an expert and its number of copies, once for each copy."""
    heap = [(-share, share, 1) for share in shares]
    heapify(heap)
    for _ in range(redundant):
        _, share, count = heappop(heap)
        heappush(heap, (-share / (count + 1), share, count + 1))
    return [(share, count) for _, share, count in heap for _ in range(count)]


FORMULA: Final = Formula(
    "expert-balance",
    "Lasting imbalance of experts",
    lasting_imbalance,
    ("eplb", "counted-serving"),
    "the balancer knows the distribution of the load; popularity that drifts leaves more",
)
