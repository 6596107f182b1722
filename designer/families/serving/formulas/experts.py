"""Experts of a layer: how many a step touches, how evenly ranks are used, and what is sent between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heappush
from statistics import NormalDist
from typing import Final

from designer.families.serving.formulas._number_format import NumberFormat, number_format
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, Ratio


def experts_touched(experts: int, per_token: int, tokens: float) -> float:
    """Experts that at least one of `tokens` chose, each choosing `per_token` of them evenly [1]."""
    if tokens <= 0 or experts <= 0:
        return 0.0
    return experts * -math.expm1(tokens * math.log1p(-per_token / experts)) if per_token < experts else float(experts)


def expert_dispatch(experts: int, per_token: int, ranks: int) -> float:
    """Ranks that hold at least one of the experts a token chose, so that it is sent there once [1].

    Parameters
    ----------
    experts, per_token
        Of a layer, and how many of them a token chooses, evenly.
    ranks
        Devices, or groups of them, that each hold some experts whole.
    """
    if ranks <= 1 or experts <= 0:
        return 1.0
    held = experts / ranks
    missed = math.prod(max(0.0, experts - held - k) / (experts - k) for k in range(min(per_token, experts)))
    return ranks * (1 - missed)


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


def _published_constant(value: float, low: float, high: float, unit: str, note: str) -> Constant:
    return Constant(value, low, high, "deepep-v1", Status.DERIVED, unit, note)


#: of either kernel, before the first byte: the rest of the 14 published latencies is bytes over the two rates below
START: Final = _published_constant(
    3.0e-5, 2.4e-5, 4.0e-5, "s", "8 to 256 ranks, 128 tokens; within 9 % of each latency"
)


#: share of the line rate of the NICs: 400 Gb/s carry 43 to 46 GB/s without what stays inside the server
NETWORK_SHARE: Final = _published_constant(0.89, 0.8, 0.93, "1", "EP16 to EP256, both kernels")


#: share of the links inside a server: 139 of 200 GB/s on H800, 635 of 900 on B200
INSIDE_SHARE: Final = _published_constant(0.7, 0.6, 0.76, "1", "EP8 and EP16, both kernels; B200 by version 2")


#: tokens of a device beyond which the low-latency kernels are not used: their buffers grow with them
LOW_LATENCY_LIMIT: Final = _published_constant(
    256.0, 256.0, 256.0, "1", "recommended most of num_max_dispatch_tokens_per_rank"
)


#: multiprocessors that the normal kernels take from products that run at the same time
UNITS: Final = _published_constant(24.0, 12.0, 24.0, "1", "Buffer.set_num_sms; version 2 takes 4 to 12")


#: values are dispatched in 8 bit with a scale of 4 B for every 128, and come back in 16 bit
SCALED: Final = Constant(1 + 4 / 128, 1.0, 1.05, "deepep-v1", Status.PRIMARY, "B", "FP8 dispatch, BF16 combine")


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies of a token that a device sends in a dispatch, and gets back in a combine.

    Parameters
    ----------
    inside, between
        Over links inside its server, and over its NIC.
    """

    inside: float
    between: float


def expert_copies(
    experts: int, per_token: int, ranks: int, servers: int, devices: int, groups: int = 0, *, low_latency: bool
) -> Copies:
    """Copies of one token.

    Parameters
    ----------
    experts, per_token
        Of a layer, and how many of them a token chooses.
    ranks
        Devices, or groups of them, that each hold some experts whole.
    servers, devices
        Servers the experts are spread over, and devices of each.
    groups
        Groups of experts that a token is limited to; 0 for any.
    low_latency
        True for the kernels of decoding, which send every choice by itself; else a token crosses the network once for
        each server and is copied to the devices there.
    """
    inside_share, outside_share = 1 - 1 / devices, 1 - 1 / servers
    if low_latency:
        return Copies(per_token / servers * inside_share, per_token * outside_share)
    reached = expert_dispatch(experts, per_token, servers)
    reached = min(reached, groups) if groups else reached
    return Copies(expert_dispatch(experts, per_token, ranks) * inside_share, reached * outside_share)


def gathers(ranks: int, per_token: int) -> bool:
    """True if engines gather the tokens of all groups on every device and reduce what comes back.

    Notes
    -----
    A token reaches nearly all of so few ranks. TensorRT-LLM keeps all-to-all off where there are no more of them than
    experts a token chooses (``select_alltoall_method_type``); vLLM (``allgather_reducescatter``) and SGLang (none)
    leave it off unless another is asked for, which is done for more ranks.
    """
    return 1 < ranks <= per_token


def gathered(devices: int, servers: int) -> Copies:
    """Copies of a token in an all-gather to `devices` of `servers` each, and in the reduce-scatter back."""
    return Copies(float(devices - 1), float(servers - 1))


def dispatched(hidden: int, narrow: bool) -> tuple[Bytes, Bytes]:
    """Bytes of one copy of a token in a dispatch and in a combine [B].

    Parameters
    ----------
    narrow
        True where experts multiply in 8 bit or fewer.
    """
    whole = Bytes(hidden * number_format("bf16").size.value)
    return Bytes(hidden * SCALED.value) if narrow else whole, whole


def gathered_sizes(hidden: int, weights: NumberFormat) -> tuple[Bytes, Bytes]:
    """Bytes of a token in an all-gather and in a reduce-scatter [B].

    Notes
    -----
    TensorRT-LLM gathers in 4 bit what is multiplied in it (FP4 all-gather); scales of 8 bit are found afterwards.
    """
    whole = Bytes(hidden * number_format("bf16").size.value)
    return Bytes(hidden * weights.size.value) if weights.runs[0] == "fp4" else whole, whole


FORMULAS: Final = (
    Formula(
        "expert-coverage",
        "Experts touched",
        experts_touched,
        ("counted-training",),
        "routing without favourites, as with random text; real text may load some experts more",
    ),
    Formula(
        "expert-dispatch",
        "Devices a token is sent to",
        expert_dispatch,
        ("counted-serving",),
        "routing without favourites or groups of experts; engines that limit a token to some nodes reach fewer",
    ),
    Formula(
        "expert-imbalance",
        "Busiest device of experts",
        expert_imbalance,
        ("counted-serving",),
        "routing without favourites, as with random text; real text may load some experts more",
    ),
    Formula(
        "expert-balance",
        "Lasting imbalance of experts",
        lasting_imbalance,
        ("eplb", "counted-serving"),
        "the balancer knows the distribution of the load; popularity that drifts leaves more",
    ),
    Formula(
        "expert-exchange",
        "Dispatch and combine of expert layers",
        expert_copies,
        ("deepep-v1", "trtllm-alltoall"),
        "kernels as those of DeepEP on NVLink and RDMA; routing without favorites",
    ),
)
