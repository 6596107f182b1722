"""Bytes that dispatch and combine of an expert layer send over the network, and what their kernels reach of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from designer.families.serving.formulas._number_format import NumberFormat, number_format
from designer.families.serving.formulas.expert_dispatch import expert_dispatch
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes


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


FORMULA: Final = Formula(
    "expert-exchange",
    "Dispatch and combine of expert layers",
    expert_copies,
    ("deepep-v1", "trtllm-alltoall"),
    "kernels as those of DeepEP on NVLink and RDMA; routing without favorites",
)
