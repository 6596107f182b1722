"""Which algorithm and protocol NCCL plans: its tuning model, by which it picks the least time.

The figures are those of ``src/graph/tuning.cc``, ``search.cc`` and ``topo.h`` of NCCL 2.30 (2026-06). They are plans,
not predictions: the algorithms price what the planned choice really takes. Plug-ins of clouds that bring a tuner of
their own (EFA from Hopper on, TCPXO) and RCCL plan otherwise, so there the cheapest is taken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, TypeVar

from designer.formulas.collectives import _constants as c
from designer.formulas.collectives._situation import (
    AlgorithmTime,
    CollectiveKind,
    CollectiveSituation,
    NetworkKind,
    Protocol,
)
from designer.formulas.collectives._terms import by_host, generation
from designer.sources import Constant, Status

T = TypeVar("T")
_SOURCE: Final = "nccl-tuning"


def _read(value: float, unit: str = "1", note: str = "") -> Constant:
    return Constant(value, value, value, _SOURCE, Status.PRIMARY, unit, note)


def _row(*values: float, unit: str = "B/s") -> tuple[Constant, ...]:
    """One column each for one, two, and three and more servers, or for sizes."""
    return tuple(_read(value, unit) for value in values)


#: planned share of raw NVLink bandwidth by architecture
_NVLINK: Final = {60: _read(0.9), 70: _read(0.8), 86: _read(0.853), 90: _read(0.824), 100: _read(0.802)}
#: planned share of raw PCIe and network bandwidth: 12 of 15.75 and of 12.5 GB/s
_PCIE: Final = _read(0.762)
_NETWORK: Final = _read(0.96)
#: most a channel takes from the network, and most the search gives one inside a server [B/s]
_CHANNEL_NETWORK: Final = {60: _read(48e9, "B/s"), 100: _read(96e9, "B/s")}
_CHANNEL_INSIDE: Final = {60: _read(40e9, "B/s"), 90: _read(60e9, "B/s"), 100: _read(90e9, "B/s")}
#: most of a channel on one, two and more servers [B/s]
_TREE_CHANNEL: Final = {
    60: _row(26.5e9, 18.5e9, 10.0e9),
    80: _row(24.0e9, 23.6e9, 17.8e9),
    90: _row(38.7e9, 41.4e9, 36.0e9),
    100: _row(70.0e9, 42.8e9, 24.0e9),
}
_TREE_LL128_CHANNEL: Final = {
    60: _row(20.0e9, 20.0e9, 20.0e9),
    90: _row(36.7e9, 36.7e9, 29.0e9),
    100: _row(55.6e9, 31.67e9, 20.0e9),
}
_RING_LL128_CHANNEL: Final = {60: _read(20.0e9, "B/s"), 90: _read(36.7e9, "B/s"), 100: _read(40.0e9, "B/s")}
_SWITCH_TREE_CHANNEL: Final = {90: _row(57.7e9, 57.7e9, 45.5e9), 100: _row(96.0e9, 96.0e9, 80.0e9)}
#: channels of rings inside a server: 12 of the search over NVLink of A100 and H100, 2 over PCIe, twice
_NVLINK_CHANNELS: Final = _read(24.0)
_PCIE_CHANNELS: Final = _read(4.0)
#: efficiency of in-switch reductions
_SWITCH: Final = {90: _read(0.85), 100: _read(0.74)}
#: message of an in-switch reduction per byte on its line, up to release 2.26
_SWITCH_RATIO: Final = _read(5 / 6)
_RING_LL128: Final = _read(0.92)
#: latency of rings with large chunks between servers counts so many times, before Ampere and from it on
_PLATEAU: Final = {60: _read(1.9), 80: _read(1.4)}
#: correction of trees at messages of 64 B, 128 B and so on
_CORRECTION: Final = {
    Protocol.LL: _row(
        *(1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9), unit="1"
    ),
    Protocol.LL128: _row(
        *(1, 1, 1, 1, 1, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9), unit="1"
    ),
    Protocol.SIMPLE: _row(
        *(0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5),
        *(0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9),
        unit="1",
    ),
}
_SMALLEST_CORRECTED: Final = _read(64.0, "B")
_PLANNED_NETWORKS: Final = (NetworkKind.INFINIBAND, NetworkKind.ROCE, NetworkKind.TCP)


def plans(situation: CollectiveSituation) -> bool:
    """True if the tuning model of the library decides here: no plug-in with a tuner of its own, and NCCL itself."""
    nvidia = situation.architecture.lower().startswith(("sm", "compute"))
    planned = situation.servers == 1 or situation.network in _PLANNED_NETWORKS
    # the tuner of EFA begins with Hopper
    before = situation.network is NetworkKind.EFA and generation(situation.architecture) < min(_SWITCH)
    return nvidia and (planned or before)


def planned_time(situation: CollectiveSituation, one: AlgorithmTime) -> float:
    """Time that the tuning model gives an algorithm with a protocol [s]; infinite for those it does not have.

    Parameters
    ----------
    one
        A candidate; its latency without the launch is that of the model.
    """
    bandwidth = _bandwidth(situation, one)
    if bandwidth <= 0:
        return math.inf
    latency = one.latency_term - one.launch
    crossing = situation.servers > 1 and situation.kind is CollectiveKind.ALL_REDUCE
    if crossing and one.algorithm == "ring" and one.protocol is Protocol.SIMPLE:
        latency *= _of(_PLATEAU, situation).value
    return latency + situation.message / bandwidth


def _bandwidth(situation: CollectiveSituation, one: AlgorithmTime) -> float:
    """Planned message ÷ time of a long message [B/s]."""
    n, all_reduce = situation.ranks, situation.kind is CollectiveKind.ALL_REDUCE
    inside, outside, channels = _lines(situation)
    line = min(inside, outside)
    if one.algorithm == "ring":
        passes = 2 if all_reduce else 1
        bus = {
            Protocol.SIMPLE: line,
            Protocol.LL: min(line * c.LL_SHARE.value, _ll_ceiling(situation)),
            Protocol.LL128: min(line * _RING_LL128.value, channels * _of(_RING_LL128_CHANNEL, situation).value),
        }[one.protocol]
        return bus if situation.kind is CollectiveKind.BROADCAST else bus * n / (passes * (n - 1))
    if one.algorithm == "tree":
        return _tree(situation, one.protocol, inside, outside, channels) / 2
    if one.algorithm in ("nvls", "nvls-tree"):
        return _switch(situation, inside, outside) * n / (2 * (n - 1))
    if one.algorithm == "pat":
        return line * c.AGGREGATED_SHARE.value
    # nothing else competes with what it does: exchanges, and reduction in the network where it is switched on
    return line


def _tree(situation: CollectiveSituation, protocol: Protocol, inside: float, outside: float, channels: float) -> float:
    column = _column(situation)
    # trees over two servers are planned at what they get inside, at most twice the network
    line = min(inside, outside * (2 if situation.servers == 2 else 1))
    bus = min(line * c.TREE_SHARE.value, channels * _of(_TREE_CHANNEL, situation)[column].value)
    if protocol is Protocol.LL:
        bus = min(bus * c.LL_TREE_SHARE.value, _ll_ceiling(situation))
    if protocol is Protocol.LL128:
        share = c.TREE_LL128_SHARE.value if situation.servers == 1 else c.LL128_NETWORK.value
        bus = min(bus * share, channels * _of(_TREE_LL128_CHANNEL, situation)[column].value)
    return bus * _correction(situation.message, protocol)


def _switch(situation: CollectiveSituation, inside: float, outside: float) -> float:
    heads = situation.ranks_per_server
    share = _of(_SWITCH, situation).value
    if situation.servers == 1:
        # heads need no way back to the network, so they get more of the links than a ring
        line = min(inside * heads / (heads - 1), heads * _of(_CHANNEL_INSIDE, situation).value)
        return line * share * _SWITCH_RATIO.value * 2 * (heads - 1) / heads
    reduced = 2 * inside * share * (heads - 1) / heads
    column = _column(situation)
    bus = min(
        reduced,
        outside * (2 if situation.servers == 2 else 1),
        heads * _of(_SWITCH_TREE_CHANNEL, situation)[column].value,
    )
    newest = generation(situation.architecture) >= max(_SWITCH)
    return bus * (_correction(situation.message, Protocol.SIMPLE) if newest else 1.0)


def planned_inside(situation: CollectiveSituation) -> float:
    """Planned bandwidth of all channels of a ring inside a server [B/s]; infinite with one rank a server."""
    if situation.ranks == situation.servers:
        return math.inf
    share = _PCIE if situation.intra_path.is_pcie else _of(_NVLINK, situation)
    return situation.intra_bandwidth * share.value


def ring_channels(situation: CollectiveSituation) -> float:
    """Channels of rings and trees: those of the search twice, as ``src/graph/connect.cc`` duplicates them [1].

    They do not follow bandwidths here, as the search does in steps, so that a slower link never helps.
    """
    if situation.servers > 1:
        found = 2 * max(2.0, situation.nics_per_server)
    else:
        found = (_PCIE_CHANNELS if situation.intra_path.is_pcie else _NVLINK_CHANNELS).value
    return _allowed(situation, found)


def _lines(situation: CollectiveSituation) -> tuple[float, float, float]:
    """Planned bandwidth of a ring inside servers and between them [B/s], and its channels."""
    inside = planned_inside(situation)
    if situation.servers == 1:
        # channels faster than half of the most are halved and doubled in number
        return (
            inside,
            math.inf,
            _allowed(situation, max(1.0, 2 * math.floor(inside / _of(_CHANNEL_INSIDE, situation).value))),
        )
    outside = situation.inter_bandwidth * _NETWORK.value
    if situation.host_bandwidth > 0:
        outside = min(outside, situation.host_bandwidth * _PCIE.value)
    per_nic = math.ceil(outside / situation.nics_per_server / _of(_CHANNEL_NETWORK, situation).value)
    # a lone NIC serves two channels
    return inside, outside, _allowed(situation, max(2.0, situation.nics_per_server * per_nic))


def _allowed(situation: CollectiveSituation, found: float) -> float:
    return min(found, situation.channels) if situation.channels else found


def _column(situation: CollectiveSituation) -> int:
    """Column of the tables: one, two, three and more servers."""
    return min(situation.servers, len(next(iter(_TREE_CHANNEL.values())))) - 1


def _correction(message: float, protocol: Protocol) -> float:
    smallest = _SMALLEST_CORRECTED.value
    place = int(math.log2(max(message, smallest) / smallest))
    table = _CORRECTION[protocol]
    return table[place].value if place < len(table) else 1.0


def _ll_ceiling(situation: CollectiveSituation) -> float:
    if situation.servers == 1:
        return _of(c.LL_CEILING, situation).value
    return by_host(c.LL_CEILING_SERVERS, situation)[situation.servers > 2].value


def _of(table: Mapping[int, T], situation: CollectiveSituation) -> T:
    wanted = generation(situation.architecture)
    return table[max((key for key in table if key <= wanted), default=min(table))]
