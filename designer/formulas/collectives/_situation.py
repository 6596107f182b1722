"""What a collective is asked to do, and what comes back. Plain numbers in SI units."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from designer.errors import AnalysisError


class CollectiveKind(StrEnum):
    """Collective operations, spelled as in MPI and NCCL."""

    ALL_REDUCE = "all-reduce"
    REDUCE_SCATTER = "reduce-scatter"
    ALL_GATHER = "all-gather"
    ALL_TO_ALL = "all-to-all"
    BROADCAST = "broadcast"
    SEND_RECV = "send-recv"


class PathClass(StrEnum):
    """What the slowest hop between two ranks of one server, or between a rank and its NIC, runs over."""

    NVLINK_SWITCH = "nvlink-switch"  #: every GPU on NVSwitch chips
    NVLINK_MESH = "nvlink-mesh"  #: direct links, all pairs equal; also one bridged pair
    NVLINK_RINGS = "nvlink-rings"  #: partial mesh, e.g. the hybrid cube mesh: edge-disjoint rings
    XGMI = "xgmi"  #: AMD GPU to GPU
    GAUDI = "gaudi"  #: ports of Gaudi, all pairs equal
    TORUS = "torus"  #: links of TPU and Trainium, with routers on the chips
    PCIE_SWITCH = "pcie-switch"  #: below one PCIe switch
    PCIE_CPU = "pcie-cpu"  #: through the root complex of one socket
    CROSS_SOCKET = "cross-socket"  #: through the link between sockets
    HOST_MEMORY = "host-memory"  #: PCIe without peer access: through a buffer in host memory

    @property
    def is_nvlink(self) -> bool:
        """True if the hop is NVLink, of any shape."""
        return self in (PathClass.NVLINK_SWITCH, PathClass.NVLINK_MESH, PathClass.NVLINK_RINGS)

    @property
    def is_pcie(self) -> bool:
        """True if the hop is PCIe, with or without the link between sockets."""
        return not self.is_nvlink and self not in (PathClass.XGMI, PathClass.GAUDI, PathClass.TORUS)


class NetworkKind(StrEnum):
    """What the servers are joined by."""

    INFINIBAND = "infiniband"
    ROCE = "roce"
    EFA = "efa"  #: scalable reliable datagrams of a cloud
    TCPX = "gpudirect-tcpx"  #: sockets of a cloud whose payload lands in GPU memory; rings in Simple alone
    TCPXO = "gpudirect-tcpxo"  #: the same with the stack on the NIC, and a tuner of its own
    TCP = "tcp"  #: sockets, through host memory


class Protocol(StrEnum):
    """How the library signals that data has arrived."""

    LL = "ll"  #: 4 B of flag per 4 B of data: least latency, half the bandwidth
    LL128 = "ll128"  #: 8 B of flag per 120 B of data; needs stores of 128 B that arrive whole
    SIMPLE = "simple"  #: large chunks and fences: full bandwidth


class Launch(StrEnum):
    """Who starts the kernels of a collective."""

    EAGER = "eager"  #: the host at each call, a process for each rank
    GRAPH = "graph"  #: the device, as part of a CUDA graph
    ONE_PROCESS = "one-process"  #: the host at each call, one thread for all ranks of a server in turn


class Bound(StrEnum):
    """What bounds the rate at which an algorithm moves bytes."""

    INSIDE = "inside"  #: the links that the pattern inside a server runs over
    BETWEEN = "between"  #: the links between servers
    HOST = "host"  #: the links between ranks and their NICs
    INSIDE_EDGE = "inside-edge"  #: links inside a server, by what single transfers over them reach
    BETWEEN_EDGE = "between-edge"  #: links between servers, by what single transfers over them reach
    PROTOCOL = "protocol"  #: what a protocol reaches on any link


@dataclass(frozen=True, slots=True)
class Load:
    """Bytes that one part of a pattern moves and waits for [B], and all that bounds the rate of that [B/s]."""

    bytes: float
    bounds: tuple[tuple[Bound, float], ...]


@dataclass(frozen=True, slots=True)
class EdgeRate:
    """What the links on the way let one edge of a pattern carry while all its edges are busy, with its band [B/s]."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float) -> EdgeRate:
        """That many times as much [B/s]."""
        return EdgeRate(self.value * factor, self.low * factor, self.high * factor)


@dataclass(frozen=True, slots=True)
class CollectiveSituation:
    """One collective on one group of ranks, with the raw bandwidth the drawn routes give it.

    Raw means after line encoding and after sharing, before what the library achieves; the efficiency is
    put on here, once. A broken link, a slow link or a shared uplink is a smaller raw bandwidth.

    Parameters
    ----------
    kind
        The operation.
    ranks, servers
        Ranks in the group, and servers they are spread over. A domain of NVLink over several trays is one server.
    message
        Size in the sense of nccl-tests [B]: the whole buffer; for all-gather, reduce-scatter and all-to-all the
        larger one (ranks × shard).
    intra_bandwidth
        Raw bandwidth per rank and direction that the routed ring inside the server gets [B/s]. Unused with one
        rank per server.
    intra_path
        Class of the slowest hop of that ring.
    bridged_pairs
        The ring alternates NVLink bridges and PCIe, so each rank's PCIe link carries it one way only.
    architecture
        ``sm_70`` … ``sm_120`` or ``gfx90a``, ``gfx942`` …; an unknown one is treated as the nearest older one.
    in_switch_reduction
        The NVSwitch can reduce and multicast (NVLink SHARP, from the third generation).
    direct_bandwidth
        Raw bandwidth per rank and direction when a rank talks to all its peers at once [B/s]; 0 means as the ring.
    pair_bandwidth
        Raw bandwidth per direction between the two ranks of a send [B/s]; 0 means as the ring. One link of a mesh.
    inter_bandwidth
        Raw bandwidth per server and direction into the network, all NICs together [B/s].
    nics_per_server
        How many NICs carry it.
    host_bandwidth
        Raw PCIe bandwidth per server and direction between the ranks and those NICs [B/s]; 0 means not limiting.
    nic_path
        Class of the slowest hop between a rank and its NIC.
    network
        Kind of network.
    in_network_reduction
        Its switches can reduce (SHARP).
    switch_hops
        Switches between two servers of the group, the farthest pair.
    switch_latency
        Time a byte takes through all of those switches [s]; 0 means that of usual switches of such a network.
    intra_edge, direct_edge, inter_edge
        What single transfers over the same links reach when all edges of the ring, of the direct exchange and between
        the servers are busy at once: no algorithm passes it. None where the links are not drawn.
    channels
        Most channels the library may use (``NCCL_MAX_CTAS``); 0 leaves it to the library.
    launch
        Who starts the kernels.
    planned
        What the library plans for, where that is not this: links that are wider in thought are planned as drawn.
    host
        Who made the processors of the servers: ``intel``, ``amd``, another one, or empty where it is not known.
    """

    kind: CollectiveKind
    ranks: int
    message: float
    intra_bandwidth: float = 0.0
    servers: int = 1
    intra_path: PathClass = PathClass.NVLINK_SWITCH
    bridged_pairs: bool = False
    architecture: str = "sm_80"
    in_switch_reduction: bool = False
    direct_bandwidth: float = 0.0
    pair_bandwidth: float = 0.0
    inter_bandwidth: float = 0.0
    nics_per_server: int = 1
    host_bandwidth: float = 0.0
    nic_path: PathClass = PathClass.PCIE_SWITCH
    network: NetworkKind = NetworkKind.INFINIBAND
    in_network_reduction: bool = False
    switch_hops: int = 1
    switch_latency: float = 0.0
    intra_edge: EdgeRate | None = None
    direct_edge: EdgeRate | None = None
    inter_edge: EdgeRate | None = None
    channels: int = 0
    launch: Launch = Launch.EAGER
    planned: CollectiveSituation | None = None
    host: str = ""

    def __post_init__(self) -> None:
        if self.ranks < 1 or not 1 <= self.servers <= self.ranks:
            raise AnalysisError(
                f"{self.ranks} ranks cannot be spread over {self.servers} servers",
                place="ranks",
                remedy="give every server of the group at least one rank",
            )
        if self.channels < 0:
            raise AnalysisError(
                f"a collective cannot use {self.channels} channels",
                place="channels",
                remedy="give 0, which leaves it to the library, or more",
            )
        if not self.message >= 0:
            raise AnalysisError(f"the message has {self.message} bytes", place="message", remedy="give a size ≥ 0 B")
        if self.ranks > self.servers and not self.intra_bandwidth > 0:
            raise AnalysisError(
                "the ranks inside a server cannot reach each other",
                place="intra_bandwidth",
                remedy="join them by NVLink, xGMI or PCIe",
            )
        if self.servers > 1 and not self.inter_bandwidth > 0:
            raise AnalysisError(
                "the servers of the group cannot reach each other",
                place="inter_bandwidth",
                remedy="join their NICs through a switch",
            )

    @property
    def ranks_per_server(self) -> float:
        """Mean number of ranks in a server of the group."""
        return self.ranks / self.servers


@dataclass(frozen=True, slots=True)
class AlgorithmTime:
    """Time of one algorithm with one protocol.

    Parameters
    ----------
    time, low, high
        Time [s] and the band it lies in with 80 % confidence.
    latency_term
        Launch and steps [s]: what an empty message would cost.
    bandwidth_term
        Bytes ÷ achieved bandwidth of the busiest part [s], with the chunks it waits for where their size is known.
    pipeline_term
        Filling and draining of the chunk pipeline [s].
    floor
        Bytes ÷ raw bandwidth of the busiest part [s]: no band reaches below.
    launch
        Part of the latency term that starts the kernel [s].
    loads
        What moves at the same time; the slowest of them is the bandwidth term.
    """

    algorithm: str
    protocol: Protocol
    time: float
    low: float
    high: float
    latency_term: float
    bandwidth_term: float
    pipeline_term: float
    floor: float = 0.0
    launch: float = 0.0
    loads: tuple[Load, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectiveTime:
    """The cheapest algorithm of a situation, and all it was chosen from.

    Parameters
    ----------
    time, low, high
        Time [s] with its 80 % band.
    algorithm_bandwidth, bus_bandwidth
        Message ÷ time, and that scaled as nccl-tests does [B/s].
    bus_low, bus_high
        80 % band of the bus bandwidth [B/s].
    candidates
        Every algorithm and protocol that can run, cheapest first.
    allowed
        Those of them it was chosen from.
    floor
        Bytes ÷ raw bandwidth [s]: what the time cannot be shorter than.
    """

    algorithm: str
    protocol: Protocol
    time: float
    low: float
    high: float
    algorithm_bandwidth: float
    bus_bandwidth: float
    bus_low: float
    bus_high: float
    latency_term: float
    bandwidth_term: float
    pipeline_term: float
    candidates: tuple[AlgorithmTime, ...] = ()
    floor: float = 0.0
    allowed: tuple[AlgorithmTime, ...] = ()
