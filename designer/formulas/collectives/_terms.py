"""Terms the algorithms share: achieved rates, step latencies, and how terms and their bands add up to a time."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from designer.formulas.collectives import _constants as c
from designer.formulas.collectives._situation import (
    AlgorithmTime,
    Bound,
    CollectiveSituation,
    EdgeRate,
    Load,
    NetworkKind,
    PathClass,
    Protocol,
)
from designer.sources import Constant, Status

T = TypeVar("T")
_DIGITS = re.compile(r"(?:sm|compute)_?(\d+)", re.IGNORECASE)
_AMPERE, _HOPPER, _FIRST_LL128 = "sm_80", "sm_90", "sm_70"


def generation(architecture: str) -> int:
    """Compute capability × 10 of an NVIDIA architecture, e.g. 90; AMD and unknown ones count as 80 [1]."""
    found = _DIGITS.match(architecture) or _DIGITS.match(_AMPERE)
    assert found is not None
    return int(found.group(1))


def generation_name(architecture: str) -> str:
    """``sm_90`` for every spelling of an NVIDIA architecture, others as they are."""
    return f"sm_{generation(architecture)}" if _DIGITS.match(architecture) else architecture


def fabric(situation: CollectiveSituation) -> str:
    """What the slowest part of a group runs over: the path inside one server, or what joins several."""
    if situation.servers == 1:
        return situation.intra_path
    domains = situation.ranks_per_server > c.BASEBOARD_RANKS.value
    return f"{situation.network} between NVLink domains" if domains else situation.network


def by_generation(table: Mapping[int, Constant], architecture: str) -> Constant:
    """The entry of the newest generation that is not newer than the given one; the oldest if all are newer."""
    wanted = generation(architecture)
    return table[max((key for key in table if key <= wanted), default=min(table))]


def by_host(table: Mapping[str, T], situation: CollectiveSituation) -> T:
    """The entry for the maker of processors of the hosts: as for the library, any but AMD counts as Intel."""
    if not situation.host:
        return table[""]
    return table.get(situation.host, table["intel"])


_ALL = (Protocol.LL, Protocol.LL128, Protocol.SIMPLE)


@dataclass(frozen=True, slots=True)
class Rate:
    """An achieved bandwidth [B/s] with its 80 % band, the raw one under it that nothing passes, and what bounds it.

    The lowest of the bounds is the value.
    """

    value: float
    low: float
    high: float
    raw: float = math.inf
    bounds: tuple[tuple[Bound, float], ...] = ()

    def times(self, fraction: Constant) -> Rate:
        """This rate after losing a fraction; relative bands add in squares [B/s]."""
        if math.isinf(self.value):
            return self
        return self._scaled(fraction.value, fraction.low / fraction.value, fraction.high / fraction.value)

    def _scaled(self, factor: float, low: float, high: float) -> Rate:
        down = math.hypot(1 - self.low / self.value, 1 - low)
        up = math.hypot(self.high / self.value - 1, high - 1)
        value = self.value * factor
        bounds = tuple((bound, rate * factor) for bound, rate in self.bounds)
        return Rate(value, value / (1 + down), value * (1 + up), self.raw, bounds)

    def at_most(self, ceiling: Rate) -> Rate:
        """The lower of two rates [B/s]."""
        lower = self if self.value <= ceiling.value else ceiling
        return replace(lower, raw=min(self.raw, ceiling.raw), bounds=(*self.bounds, *ceiling.bounds))

    def within(self, edge: EdgeRate | None, bound: Bound = Bound.INSIDE_EDGE) -> Rate:
        """This rate, but nowhere more than the links under it carry [B/s]."""
        if edge is None:
            return self
        ends = min(self.value, edge.value), min(self.low, edge.low), min(self.high, edge.high)
        return Rate(*ends, self.raw, (*self.bounds, (bound, edge.value)))


def exactly(bandwidth: float, bound: Bound) -> Rate:
    """A raw bandwidth as a rate without spread [B/s]."""
    return Rate(bandwidth, bandwidth, bandwidth, bandwidth, ((bound, bandwidth),))


def ceiling(constant: Constant) -> Rate:
    """A constant bandwidth as a rate [B/s]."""
    return Rate(constant.value, constant.low, constant.high, bounds=((Bound.PROTOCOL, constant.value),))


UNLIMITED = Rate(math.inf, math.inf, math.inf, math.inf)


def intra_rate(situation: CollectiveSituation) -> Rate:
    """What rings with large chunks achieve inside a server, per rank and direction [B/s]."""
    if situation.ranks == situation.servers:
        return UNLIMITED
    return _ring_rate(situation, situation.intra_bandwidth, situation.intra_edge).within(situation.intra_edge)


def direct_rate(situation: CollectiveSituation) -> Rate:
    """What a rank sends to all its peers in the server at once [B/s]."""
    if situation.ranks == situation.servers:
        return UNLIMITED
    edge = situation.direct_edge or situation.intra_edge
    return _ring_rate(situation, situation.direct_bandwidth or situation.intra_bandwidth, edge).within(edge)


def pair_rate(situation: CollectiveSituation) -> Rate:
    """What a rank sends to one peer of its server, where every rank does so at once [B/s]."""
    raw = situation.pair_bandwidth or situation.intra_bandwidth
    edge = situation.intra_edge
    if edge is not None and 0 < raw < situation.intra_bandwidth:
        edge = edge.scaled(raw / situation.intra_bandwidth)
    return _ring_rate(situation, raw, edge).within(edge)


def _ring_rate(situation: CollectiveSituation, raw: float, edge: EdgeRate | None) -> Rate:
    return _of_channels(situation, _links_rate(situation, raw, edge))


def _links_rate(situation: CollectiveSituation, raw: float, edge: EdgeRate | None) -> Rate:
    path = situation.intra_path
    if path is PathClass.HOST_MEMORY and edge is not None:
        # copies into host memory and out of it: what the platform gives them, chunk after chunk
        staged = Rate(edge.value, edge.low, edge.high, raw, ((Bound.INSIDE_EDGE, edge.value),))
        return staged.times(c.STAGED_RING)
    rate = exactly(raw, Bound.INSIDE)
    if path is PathClass.XGMI:
        return rate.times(c.XGMI_RING)
    if path in c.ON_CHIP_LINKS:
        return rate.times(c.ON_CHIP_LINKS[path])
    if path.is_nvlink:
        rate = rate.times(by_generation(c.NVLINK_RING, situation.architecture))
        return rate.times(c.PAIR) if situation.ranks == 2 else rate
    rate = rate.times(c.PCIE_ONE_WAY if situation.bridged_pairs else c.PCIE_RING)
    detour = {PathClass.CROSS_SOCKET: c.CROSS_SOCKET_RING, PathClass.HOST_MEMORY: c.HOST_MEMORY_RING}
    if situation.bridged_pairs:
        # the pairs that were measured sit on two sockets, as the bridges leave no other way to place them
        del detour[PathClass.CROSS_SOCKET]
    return rate.times(detour[path]) if path in detour else rate


def _of_channels(situation: CollectiveSituation, rate: Rate) -> Rate:
    """What as many channels as are allowed move of a rate [B/s]; all of it where the library decides."""
    if not situation.channels:
        return rate
    each = by_generation(c.CHANNEL_RATE, situation.architecture)
    n = situation.channels
    most = Constant(n * each.value, n * each.low, n * each.high, each.source, each.status, each.unit)
    return rate.at_most(ceiling(most))


def network_rate(situation: CollectiveSituation, *, channels: bool = True) -> Rate:
    """What a server achieves into the network per direction, NIC, PCIe path and placement counted [B/s].

    Parameters
    ----------
    channels
        False where every rank uses its own NIC: else the library has one NIC for each of its channels, and a domain
        of more NICs than channels leaves the others idle.
    """
    if situation.servers == 1:
        return UNLIMITED
    rate = exactly(situation.inter_bandwidth, Bound.BETWEEN).times(c.NETWORK[situation.network])
    if channels and 0 < situation.channels < situation.nics_per_server:
        # a channel leaves through one NIC
        share = situation.channels / situation.nics_per_server
        rate = rate.times(Constant(share, share, share, "nccl-tuning", Status.PRIMARY))
    elif channels and situation.nics_per_server > c.NETWORK_CHANNELS.value:
        share, nics = c.NETWORK_CHANNELS, situation.nics_per_server
        rate = rate.times(
            Constant(share.value / nics, share.low / nics, min(1.0, share.high / nics), share.source, share.status, "1")
        )
    if situation.nic_path in c.NIC_PATH:
        rate = rate.times(c.NIC_PATH[situation.nic_path])
    if situation.host_bandwidth > 0:
        rate = rate.at_most(exactly(situation.host_bandwidth, Bound.HOST).times(c.HOST_RDMA))
    return rate.within(situation.inter_edge, Bound.BETWEEN_EDGE)


def protocols(situation: CollectiveSituation) -> tuple[Protocol, ...]:
    """Protocols the library would allow here, and the plug-in of its network."""
    new = generation(situation.architecture) >= generation(_HOPPER)
    crosses = situation.servers > 1
    if crosses and situation.network is NetworkKind.EFA and not new:
        return (Protocol.SIMPLE,)  # the first generations do not keep bytes in order
    if crosses and situation.network is NetworkKind.TCPX:
        return (Protocol.SIMPLE,)
    inside = situation.ranks == situation.servers or not situation.intra_path.is_pcie
    # the library's rule knows paths, not networks; sockets stage in host memory
    outside = not crosses or (
        situation.network is not NetworkKind.TCP
        and (situation.nic_path is PathClass.PCIE_SWITCH or (new and situation.nic_path is PathClass.PCIE_CPU))
    )
    if inside and outside and generation(situation.architecture) >= generation(_FIRST_LL128):
        return _ALL[1:] if crosses and situation.network is NetworkKind.TCPXO else _ALL
    return (Protocol.SIMPLE,) if crosses and situation.network is NetworkKind.TCPXO else (Protocol.LL, Protocol.SIMPLE)


def ll_ceiling(situation: CollectiveSituation) -> Rate:
    """The most an LL ring or tree moves, as bus bandwidth [B/s]."""
    if situation.servers == 1:
        return ceiling(by_generation(c.LL_CEILING, situation.architecture))
    return ceiling(by_host(c.LL_CEILING_SERVERS, situation)[situation.servers > 2])


def intra_step(
    situation: CollectiveSituation,
    nvlink: Mapping[Protocol, Constant],
    pcie: Mapping[Protocol, Constant],
    protocol: Protocol,
) -> float:
    """Latency of one step inside a server [s]."""
    return (pcie if situation.intra_path.is_pcie else nvlink)[protocol].value


def network_extra(situation: CollectiveSituation, protocol: Protocol) -> float:
    """What this network adds to a step between servers [s]. Simple pays twice: data, then the flush behind it."""
    usual = c.SWITCH_HOP[situation.network].value
    # the step of a network holds one usual switch already
    switches = situation.switch_latency or max(1, situation.switch_hops) * usual
    once = max(0.0, c.NETWORK_EXTRA[situation.network].value + switches - usual)
    return 2 * once if protocol is Protocol.SIMPLE else once


def tree_network_bytes(servers: int) -> float:
    """Bytes per byte of message that the busiest server of a double binary tree sends [1].

    Each tree carries half the message. A server is a leaf of one tree (half up) and inner in the other (half down to
    each child, half up to a parent). Only from four servers on does an inner server with two children have a parent.
    """
    if servers == 1:
        return 0.0
    children = min(2, servers - 1)
    has_parent = servers - 1 > 2
    return 0.5 + 0.5 * children + (0.5 if has_parent else 0.0)


def assemble(
    algorithm: str,
    protocol: Protocol,
    latency: float,
    loads: tuple[tuple[float, Rate], ...],
    pipeline: Constant | None,
    depth: float = 1.0,
    more_chunks: float = 0.0,
) -> AlgorithmTime:
    """Time of an algorithm from its terms [s].

    The bandwidth term is the slowest of the loads (bytes, rate), which overlap. A pipeline of k chunks over a path
    costs (k + steps − 1)(α + β·S/k), at best a + b + 2√(ab); the library's fixed chunks leave a share of that root.
    Depth is the share of the latency that chunks can fill [1]. Where the size of chunks is known, `more_chunks` says
    how many more than the message has pass until the last one is through, as a share of the message [1].
    """
    passing = 1 + more_chunks
    seconds = [(load * passing / rate.value, rate) for load, rate in loads if rate.value < math.inf]
    bandwidth, rate = max(seconds, key=lambda pair: pair[0], default=(0.0, UNLIMITED))
    filling = 2 * pipeline.value * math.sqrt(depth * latency * bandwidth) if pipeline else 0.0
    floor = max((load / rate.raw for load, rate in loads), default=0.0)
    launch = c.LAUNCH
    time = launch.value + latency + bandwidth + filling
    longer, shorter = (rate.value / rate.low, rate.value / rate.high) if bandwidth else (1.0, 1.0)
    spread_latency, spread_pipeline = math.exp(c.SPREAD_LATENCY.value), math.exp(c.SPREAD_PIPELINE.value)
    spread_model = math.exp(c.SPREAD_MODEL.value)
    waited = bandwidth * more_chunks / passing
    more = (
        launch.high - launch.value,
        latency * (spread_latency - 1),
        bandwidth * (longer - 1),
        (filling + waited) * (spread_pipeline - 1),
        time * (spread_model - 1),
    )
    less = (
        launch.value - launch.low,
        latency * (1 - 1 / spread_latency),
        bandwidth * (1 - shorter),
        (filling + waited) * (1 - 1 / spread_pipeline),
        time * (1 - 1 / spread_model),
    )
    return AlgorithmTime(
        algorithm=algorithm,
        protocol=protocol,
        time=time,
        low=max(time - math.hypot(*less), min(floor, time)),
        high=time + math.hypot(*more),
        latency_term=launch.value + latency,
        bandwidth_term=bandwidth,
        pipeline_term=filling,
        floor=min(floor, time),
        launch=launch.value,
        loads=tuple(Load(load * passing, rate.bounds) for load, rate in loads if rate.value < math.inf),
    )
