"""Constants of the collective models. Latencies from the planning table of NCCL, fractions from measurements.

The fits use the 84 published collective measurements kept in ``tests/validation/collectives/cases.json``; the note of a
fitted constant names the points and the residual. 80 % bands throughout.
"""

from __future__ import annotations

from typing import Final

from designer.formulas.collectives._situation import NetworkKind, PathClass, Protocol
from designer.sources import Constant, Status

_NCCL: Final = "nccl-tuning"
_FIT: Final = "collectives-fit"
_BOOK: Final = "ml-engineering-network"
_LL, _LL128, _SIMPLE = Protocol.LL, Protocol.LL128, Protocol.SIMPLE

# ------------------------------------------------------------------ launch
LAUNCH: Final = Constant(
    3e-6,
    0.0,
    2.5e-5,
    _FIT,
    Status.DERIVED,
    "s",
    "empty all-reduce of 4 A100 takes 12.5 µs of which 10.2 are steps; frameworks add up to 25 µs",
)

#: the same inside a CUDA graph: the device starts one kernel after the other
LAUNCH_GRAPH: Final = Constant(
    2.6e-6, 0.0, 5e-6, "cuda-graphs", Status.UNVERIFIED, "s", "0.4 µs less a kernel than by the host, and no framework"
)

#: one call for one of the GPUs that a single thread serves in turn, calls following each other
LAUNCH_EACH: Final = Constant(
    5e-6,
    3.4e-6,
    7e-6,
    "nccl-tests-one-process",
    Status.DERIVED,
    "s",
    "least time ÷ GPUs of 7 machines with nccl-tests -g N: 3.3 to 6.8 µs; one more takes 12.8",
)

# ------------------------------------------------------------------ base and step latencies
RING_BASE: Final = {
    _LL: Constant(6.6e-6, 4.5e-6, 9e-6, _NCCL, Status.PRIMARY, "s"),
    _LL128: Constant(14e-6, 9e-6, 2e-5, _NCCL, Status.PRIMARY, "s"),
    _SIMPLE: Constant(8.4e-6, 5.5e-6, 1.2e-5, _NCCL, Status.PRIMARY, "s"),
}
TREE_BASE: Final = {
    _LL: Constant(6.8e-6, 4.5e-6, 9e-6, _NCCL, Status.PRIMARY, "s"),
    _LL128: Constant(14e-6, 9e-6, 2e-5, _NCCL, Status.PRIMARY, "s"),
    _SIMPLE: Constant(8.4e-6, 5.5e-6, 1.2e-5, _NCCL, Status.PRIMARY, "s"),
}
NVLINK_RING_STEP: Final = {
    _LL: Constant(0.6e-6, 0.4e-6, 0.9e-6, _NCCL, Status.PRIMARY, "s"),
    _LL128: Constant(1.9e-6, 1.3e-6, 2.6e-6, _NCCL, Status.PRIMARY, "s"),
    _SIMPLE: Constant(3.4e-6, 2.3e-6, 4.8e-6, _NCCL, Status.PRIMARY, "s"),
}
PCIE_RING_STEP: Final = {
    _LL: Constant(1.0e-6, 0.7e-6, 1.5e-6, _NCCL, Status.PRIMARY, "s"),
    _LL128: Constant(2.5e-6, 1.7e-6, 3.5e-6, _NCCL, Status.PRIMARY, "s"),
    _SIMPLE: Constant(5.7e-6, 3.9e-6, 8.1e-6, _NCCL, Status.PRIMARY, "s"),
}
NETWORK_RING_STEP: Final = {
    _LL: Constant(2.7e-6, 1.8e-6, 4e-6, _NCCL, Status.PRIMARY, "s"),
    _LL128: Constant(4.0e-6, 2.7e-6, 6e-6, _NCCL, Status.PRIMARY, "s"),
    _SIMPLE: Constant(14e-6, 9e-6, 2e-5, _NCCL, Status.PRIMARY, "s"),
}
NVLINK_TREE_STEP: Final = {
    _LL: Constant(0.6e-6, 0.4e-6, 0.9e-6, _NCCL, Status.PRIMARY, "s"),
    _LL128: Constant(1.25e-6, 0.8e-6, 1.8e-6, _NCCL, Status.PRIMARY, "s"),
    _SIMPLE: Constant(4.0e-6, 2.7e-6, 5.7e-6, _NCCL, Status.PRIMARY, "s"),
}
PCIE_TREE_STEP: Final = {
    _LL: Constant(1.0e-6, 0.7e-6, 1.5e-6, _NCCL, Status.PRIMARY, "s"),
    _LL128: Constant(1.9e-6, 1.3e-6, 2.7e-6, _NCCL, Status.PRIMARY, "s"),
    _SIMPLE: Constant(4.0e-6, 2.7e-6, 5.7e-6, _NCCL, Status.PRIMARY, "s"),
}
NETWORK_TREE_STEP: Final = {
    _LL: Constant(5.0e-6, 3.4e-6, 7e-6, _NCCL, Status.PRIMARY, "s"),
    _LL128: Constant(8.5e-6, 5.7e-6, 1.2e-5, _NCCL, Status.PRIMARY, "s"),
    _SIMPLE: Constant(14e-6, 9e-6, 2e-5, _NCCL, Status.PRIMARY, "s"),
}
IN_SWITCH_STEP: Final = Constant(25e-6, 1.7e-5, 3.5e-5, _NCCL, Status.PRIMARY, "s")
IN_SWITCH_NETWORK_STEP: Final = Constant(20.9e-6, 1.4e-5, 3e-5, _NCCL, Status.PRIMARY, "s")
IN_NETWORK_STEP: Final = Constant(31e-6, 2.1e-5, 4.4e-5, _NCCL, Status.PRIMARY, "s")
IN_NETWORK_INTRA_STEP: Final = Constant(3.7e-6, 2.5e-6, 5.3e-6, _NCCL, Status.PRIMARY, "s")
AGGREGATED_BASE: Final = Constant(8.0e-6, 5.4e-6, 1.2e-5, _NCCL, Status.PRIMARY, "s")
AGGREGATED_PER_RANK: Final = Constant(2.8e-6, 1.9e-6, 4e-6, _NCCL, Status.PRIMARY, "s")
AGGREGATED_OVERLAP: Final = Constant(
    3.5, 2.5, 4.5, _NCCL, Status.PRIMARY, "1", "network steps hidden behind each other"
)
#: posting a network operation from the host, by its maker, per step of a ring that crosses servers; three in Simple
NETWORK_POST: Final = {
    "intel": Constant(1e-6, 0.7e-6, 1.5e-6, _NCCL, Status.PRIMARY, "s"),
    "amd": Constant(2e-6, 1.4e-6, 3e-6, _NCCL, Status.PRIMARY, "s"),
    "": Constant(1.5e-6, 1e-6, 2e-6, _NCCL, Status.PRIMARY, "s", "1 µs on Intel, 2 µs on AMD hosts"),
}
NETWORK_POSTS_SIMPLE: Final = Constant(3.0, 2.0, 4.0, _NCCL, Status.PRIMARY)
PEER_POST: Final = Constant(
    1.2e-6, 0.5e-6, 2.5e-6, "assumed-collectives", Status.ASSUMED, "s", "per peer of a direct exchange"
)
IN_NETWORK_ARITY: Final = Constant(0.4e-6, 0.3e-6, 0.6e-6, _NCCL, Status.PRIMARY, "s", "per rank gathered at a NIC")

#: what a network kind adds to each step over the RDMA the planning table was made on
NETWORK_EXTRA: Final = {
    NetworkKind.INFINIBAND: Constant(0.0, 0.0, 1e-6, _NCCL, Status.PRIMARY, "s"),
    NetworkKind.ROCE: Constant(1e-6, 0.0, 4e-6, "assumed-collectives", Status.ASSUMED, "s"),
    NetworkKind.EFA: Constant(
        18e-6,
        9e-6,
        2.8e-5,
        "efa-machines",
        Status.DERIVED,
        "s",
        "floors of two servers: 17 of 8 A100 and of 8 V100 (162, 163 µs, Simple), 13 of 8 B200 (54, LL); mid sizes 19",
    ),
    NetworkKind.TCPX: Constant(20e-6, 1e-5, 5e-5, "assumed-collectives", Status.ASSUMED, "s", "between EFA and TCP"),
    NetworkKind.TCPXO: Constant(8e-6, 2e-6, 2.5e-5, "assumed-collectives", Status.ASSUMED, "s", "from RoCE to EFA"),
    NetworkKind.TCP: Constant(30e-6, 1.5e-5, 8e-5, "assumed-collectives", Status.ASSUMED, "s"),
}
SWITCH_HOP: Final = {
    NetworkKind.INFINIBAND: Constant(0.13e-6, 0.09e-6, 0.25e-6, "switch-latency", Status.SECONDARY, "s"),
    NetworkKind.ROCE: Constant(0.7e-6, 0.4e-6, 1.2e-6, "switch-latency", Status.UNVERIFIED, "s"),
    NetworkKind.EFA: Constant(0.7e-6, 0.4e-6, 1.2e-6, "switch-latency", Status.UNVERIFIED, "s"),
    NetworkKind.TCPX: Constant(0.7e-6, 0.4e-6, 1.2e-6, "switch-latency", Status.UNVERIFIED, "s"),
    NetworkKind.TCPXO: Constant(0.7e-6, 0.4e-6, 1.2e-6, "switch-latency", Status.UNVERIFIED, "s"),
    NetworkKind.TCP: Constant(0.7e-6, 0.4e-6, 1.2e-6, "switch-latency", Status.UNVERIFIED, "s"),
}

# ------------------------------------------------------------------ pipelines
RING_PIPELINE: Final = Constant(
    0.35, 0.15, 0.6, _FIT, Status.DERIVED, "1", "rings over NVLink and networks, trees with flags: A100 8–1024 MiB"
)
#: bytes of a chunk of a ring with large chunks, which passes in two slices
RING_CHUNK: Final = Constant(2.0**21, 2.0**21, 2.0**21, _NCCL, Status.PRIMARY, "B", "4 of 8 slots of a 4 MiB buffer")
#: slices that pass by themselves until the last one is through, over PCIe
RING_SLICES: Final = Constant(
    0.5, 0.0, 1.0, "assumed-collectives", Status.ASSUMED, "1", "none if the last copy hides, one if it does not"
)
TREE_PIPELINE: Final = Constant(
    0.5,
    0.25,
    0.9,
    "assumed-collectives",
    Status.ASSUMED,
    "1",
    "reductions in the network and PAT, as a tree",
)
#: largest chunk of a tree, a slot of a 4 MiB buffer; chunks in a channel that keep it for each level, and smaller ones
TREE_CHUNK: Final = Constant(524288.0, 524288.0, 1048576.0, _NCCL, Status.PRIMARY, "B", "src/enqueue.cc of 2.18")
TREE_CHUNKS: Final = (
    (
        Constant(8.0, 8.0, 8.0, _NCCL, Status.PRIMARY),
        Constant(131072.0, 131072.0, 131072.0, _NCCL, Status.PRIMARY, "B"),
    ),
    (Constant(4.0, 4.0, 4.0, _NCCL, Status.PRIMARY), Constant(65536.0, 65536.0, 65536.0, _NCCL, Status.PRIMARY, "B")),
    (Constant(1.0, 1.0, 1.0, _NCCL, Status.PRIMARY), Constant(32768.0, 32768.0, 32768.0, _NCCL, Status.PRIMARY, "B")),
)
#: how long a chunk of a tree takes a slot of a buffer, by network, where that is longer than the line needs
NETWORK_SLOT: Final = {
    NetworkKind.EFA: Constant(
        2.8e-4, 1.5e-4, 3.5e-4, _FIT, Status.DERIVED, "s", "two p4de: 295 µs at 64 MiB, 270 at 8 MiB; one sweep"
    ),
}
#: slots of a connection's buffer: no rank runs further ahead, so longer rings fill no deeper
PIPELINE_SLOTS: Final = Constant(8.0, 8.0, 8.0, "nccl-tuning", Status.PRIMARY, "1", "src/include/device.h")
IN_SWITCH_PIPELINE: Final = Constant(0.35, 0.15, 0.6, _FIT, Status.DERIVED, "1", "H100 and H200, 8–1024 MiB")

# ------------------------------------------------------------------ efficiency of raw bandwidth, large messages
#: rings over NVLink, by GPU architecture
NVLINK_RING: Final = {
    60: Constant(0.87, 0.78, 0.93, _NCCL, Status.PRIMARY, "1", "planned 18 of 20 GB/s a link; measured are within 6 %"),
    70: Constant(0.83, 0.76, 0.88, _FIT, Status.DERIVED, "1", "4 V100 83 %; 8 V100 at least 110 of 150 GB/s"),
    80: Constant(0.785, 0.73, 0.82, _FIT, Status.DERIVED, "1", "20 points ≥ 64 MiB, 5 groups; residual 3 %"),
    86: Constant(
        0.85, 0.76, 0.91, _NCCL, Status.PRIMARY, "1", "planned 12 of 14.06 GB/s a link; others measured within 6 %"
    ),
    90: Constant(0.83, 0.80, 0.85, _FIT, Status.DERIVED, "1", "11 points ≥ 64 MiB, 4 groups; residual 2 %"),
    100: Constant(0.765, 0.71, 0.81, _BOOK, Status.SECONDARY, "1", "682 GB/s of bus bandwidth on 8 B200"),
}
#: rings over xGMI
XGMI_RING: Final = Constant(
    0.72, 0.66, 0.78, _BOOK, Status.SECONDARY, "1", "MI300X: 47.7 of 64 with 2 ranks, 312.9 of 448 with 8"
)
#: exchanges by engines on the chip, of all links of a chip together
ON_CHIP_LINKS: Final = {
    PathClass.GAUDI: Constant(
        0.98,
        0.90,
        1.0,
        "gaudi-collectives",
        Status.DERIVED,
        "1",
        "8 Gaudi 3: 513 and 509 of 525 GB/s at 256 and 128 MiB",
    ),
    PathClass.TORUS: Constant(
        0.90, 0.70, 1.0, "assumed-collectives", Status.ASSUMED, "1", "nothing measured; Gaudi reaches 0.98"
    ),
}
#: one step of these; benchmarks that queue calls hide most of it
ON_CHIP_STEP: Final = Constant(
    2e-6, 1e-6, 8e-6, "gaudi-collectives", Status.DERIVED, "s", "what 128 and 256 MiB on Gaudi 3 leave"
)
#: rings over PCIe: every rank sends and receives at once
PCIE_RING: Final = Constant(
    0.70, 0.63, 0.78, _FIT, Status.DERIVED, "1", "4 L40S 22, 3 A100 20 of 31.5 GB/s; residual 5 %"
)
#: the same where every PCIe link carries one direction only (pairs bridged by NVLink)
PCIE_ONE_WAY: Final = Constant(
    0.83, 0.76, 0.88, _FIT, Status.DERIVED, "1", "4 H100 49 of 63, 4 A100 at least 25 of 31.5 GB/s; residual 5 %"
)
#: the same across sockets, relative to below one
CROSS_SOCKET_RING: Final = Constant(
    0.85,
    0.55,
    1.0,
    "nvbandwidth-50",
    Status.DERIVED,
    "1",
    "8 RTX 4090 on two Rome lose nothing, copies between two A6000 a sixth; Intel hosts stop in memory instead",
)
#: the same without peer access, relative to with it, where the host is not drawn
HOST_MEMORY_RING: Final = Constant(
    0.72, 0.58, 0.9, "rtx4090-peer-access", Status.SECONDARY, "1", "8 RTX 4090 on two Rome: 15.0 and 20.6 GB/s"
)
#: what chunks that stop in host memory one after the other keep of copies at once over the same links and memory
STAGED_RING: Final = Constant(
    0.80,
    0.45,
    0.95,
    "rtx4090-peer-access",
    Status.DERIVED,
    "1",
    "8 RTX 4090 on two Rome: 15.0 of 18.6 GB/s; 2 RTX 2080 Ti .75, 4 A100 on two Skylake .49",
)
#: two ranks move the same data through fewer concurrent steps
PAIR: Final = Constant(0.93, 0.87, 0.98, _FIT, Status.DERIVED, "1", "8 points of A100 and H100 pairs; residual 4 %")
#: multicast and reduction in the NVSwitch, by GPU architecture
IN_SWITCH: Final = {
    90: Constant(0.693, 0.67, 0.715, _FIT, Status.DERIVED, "1", "18 points ≥ 64 MiB, 5–8 ranks; residual 1.5 %"),
    100: Constant(0.60, 0.56, 0.64, _BOOK, Status.SECONDARY, "1", "838 GB/s of bus bandwidth on 8 B200"),
}
#: chunks of an in-switch reduction: their usual size, and how many for every channel and head keep it
IN_SWITCH_CHUNK: Final = Constant(65536.0, 65536.0, 131072.0, _NCCL, Status.PRIMARY, "B", "src/enqueue.cc of 2.30")
IN_SWITCH_CHUNKS: Final = Constant(8.0, 8.0, 8.0, _NCCL, Status.PRIMARY, "1", "src/enqueue.cc of 2.30")
#: the same of trees that join servers, chunks that keep it before each halving, and servers from which it is 64 KiB
IN_SWITCH_TREE_CHUNK: Final = Constant(
    131072.0, 65536.0, 131072.0, _NCCL, Status.PRIMARY, "B", "NCCL_NVLS_CHUNKSIZE; 64 KiB in 2.30 on two sm_100 servers"
)
IN_SWITCH_TREE_CHUNKS: Final = (
    Constant(4.0, 4.0, 4.0, _NCCL, Status.PRIMARY, "1", "src/enqueue.cc of 2.30"),
    Constant(1.0, 1.0, 1.0, _NCCL, Status.PRIMARY, "1", "src/enqueue.cc of 2.30"),
)
IN_SWITCH_TREE_SERVERS: Final = Constant(4.0, 4.0, 4.0, _NCCL, Status.PRIMARY, "1", "src/transport/nvls.cc of 2.30")
#: ranks of a domain that own slices of an in-switch reduction and send between servers, at most
IN_SWITCH_HEADS: Final = Constant(32.0, 32.0, 32.0, _NCCL, Status.PRIMARY, "1", "src/include/device.h of 2.30")
#: what a rank that also feeds the trees between servers keeps of its rate inside
IN_SWITCH_TREE: Final = Constant(
    0.94, 0.88, 1.0, _FIT, Status.DERIVED, "1", "2 x 8 H200, 1 to 16 GiB, residual 1 %; NCCL plans .89 of it"
)
IN_SWITCH_CHANNELS: Final = {
    90: Constant(16.0, 16.0, 24.0, _NCCL, Status.PRIMARY, "1", "src/transport/nvls.cc of 2.30"),
    100: Constant(
        32.0,
        24.0,
        32.0,
        _FIT,
        Status.DERIVED,
        "1",
        "8 B200: 64 MiB take .71 of the pace of 128 MiB, the step of 8 x 32 heads",
    ),
}
#: what chunks half as large leave of the rate
IN_SWITCH_SMALL_CHUNKS: Final = {
    90: Constant(0.80, 0.66, 1.0, _FIT, Status.DERIVED, "1", "8 H200 0.69, 8 H100 0.85 and 1.0 at 8 MiB"),
    100: Constant(0.74, 0.64, 0.86, _FIT, Status.DERIVED, "1", "8 B200, 8 to 64 MiB, residual 7 %"),
}
#: how many chunks of 128 KiB for every channel and head keep that size, and what 64 KiB leave of the rate
IN_SWITCH_LARGE_CHUNKS: Final = Constant(64.0, 64.0, 64.0, _NCCL, Status.PRIMARY, "1", "src/enqueue.cc of 2.30")
IN_SWITCH_USUAL_CHUNKS: Final = {
    90: Constant(1.0, 0.96, 1.0, _FIT, Status.DERIVED, "1", "8 H100 and H200, 64 MiB to 16 GiB: nothing seen"),
    100: Constant(
        0.93, 0.88, 0.98, _FIT, Status.DERIVED, "1", "8 B200, 6 points of 128 MiB to 4 GiB with chunks set to 512 KiB"
    ),
}
#: what a rank has in flight before reading and storing overlap
IN_SWITCH_SLICE: Final = Constant(
    3.3e6, 2e6, 4.2e6, "nccl-tests-nvl72", Status.DERIVED, "B", "72 GB200, 512 MiB to 8 GiB: .6 ms more at any size"
)
#: NVLink domains larger than one baseboard: one published sweep
IN_SWITCH_RACK: Final = Constant(
    0.84, 0.70, 0.93, "nccl-tests-nvl72", Status.SECONDARY, "1", "72 GB200: 839 and 835 GB/s at 4 and 8 GiB"
)
BASEBOARD_RANKS: Final = Constant(8.0, 8.0, 16.0, "assumed-collectives", Status.ASSUMED)
#: NCCL plans in-switch reduction inside one server from this many ranks on
IN_SWITCH_RANKS: Final = Constant(5.0, 4.0, 5.0, _FIT, Status.PRIMARY, "1", "8 H200: ring up to 4 ranks, then NVLS")
#: LL128 relative to Simple
LL128_SHARE: Final = {
    70: Constant(0.62, 0.5, 0.9, _FIT, Status.DERIVED, "1", "fitted on sm_80 alone"),
    90: Constant(0.92, 0.8, 0.94, _NCCL, Status.PRIMARY),
}
LL128_NETWORK: Final = Constant(0.9375, 0.85, 0.9375, _NCCL, Status.PRIMARY, "1", "120 B of data in 128 B")
#: most an LL ring moves, as bus bandwidth, one server
LL_CEILING: Final = {
    60: Constant(39e9, 2.8e10, 5.5e10, _NCCL, Status.PRIMARY, "B/s"),
    80: Constant(87.7e9, 6.2e10, 1.2e11, _NCCL, Status.PRIMARY, "B/s"),
    90: Constant(141e9, 1e11, 2e11, _NCCL, Status.PRIMARY, "B/s"),
    100: Constant(282e9, 2e11, 4e11, _NCCL, Status.PRIMARY, "B/s"),
}
#: the same on two servers and on more, by who made their processors; where that is not drawn, in between
LL_CEILING_SERVERS: Final = {
    "intel": (
        Constant(39e9, 2.8e10, 5.5e10, _NCCL, Status.PRIMARY, "B/s"),
        Constant(20.4e9, 1.9e10, 2.2e10, _NCCL, Status.PRIMARY, "B/s"),
    ),
    "amd": (
        Constant(22.5e9, 1.6e10, 3.2e10, _NCCL, Status.PRIMARY, "B/s"),
        Constant(19.0e9, 1.8e10, 2.04e10, _NCCL, Status.PRIMARY, "B/s"),
    ),
    "": (
        Constant(30e9, 2.25e10, 3.9e10, _NCCL, Status.PRIMARY, "B/s", "22.5 AMD, 39 Intel hosts"),
        Constant(19.7e9, 1.9e10, 2.04e10, _NCCL, Status.PRIMARY, "B/s"),
    ),
}
LL_SHARE: Final = Constant(0.5, 0.4, 0.5, _NCCL, Status.PRIMARY, "1", "4 B of flag per 4 B of data")
LL_TREE_SHARE: Final = Constant(0.263, 0.2, 0.33, _NCCL, Status.PRIMARY)
TREE_SHARE: Final = Constant(0.92, 0.80, 0.95, _NCCL, Status.PRIMARY, "1", "trees relative to rings")
TREE_LL128_SHARE: Final = Constant(0.778, 0.65, 0.9375, _NCCL, Status.PRIMARY)
DIRECT_SHARE: Final = Constant(
    0.92, 0.78, 1.0, "assumed-collectives", Status.ASSUMED, "1", "all-to-all relative to rings"
)
SEND_NVLINK: Final = Constant(
    0.93, 0.70, 0.96, _FIT, Status.DERIVED, "1", "one way over NVLink, 2 points of one publication; both ways as a ring"
)
#: where every rank sends and receives at once, relative to a ring of an all-gather
SEND_AND_RECEIVE: Final = Constant(
    0.93, 0.78, 1.0, "assumed-collectives", Status.ASSUMED, "1", "fewer channels than a ring; as a pair to a ring"
)
SEND_NETWORK: Final = Constant(
    0.80, 0.68, 0.95, _FIT, Status.DERIVED, "1", "one pair on one NIC, relative to collectives"
)
AGGREGATED_SHARE: Final = Constant(0.75, 0.6, 0.9, _NCCL, Status.PRIMARY)
IN_NETWORK_SHARE: Final = Constant(0.9, 0.75, 0.97, _NCCL, Status.PRIMARY)

#: most one channel moves inside a server, as bus bandwidth, by GPU architecture
CHANNEL_RATE: Final = {
    70: Constant(26.5e9, 2e10, 2.8e10, _NCCL, Status.PRIMARY, "B/s", "perChMaxTreeBws, one server"),
    80: Constant(24e9, 2e10, 2.6e10, _NCCL, Status.PRIMARY, "B/s", "perChMaxTreeBws, one server"),
    90: Constant(38.7e9, 3.6e10, 4.2e10, _NCCL, Status.PRIMARY, "B/s", "perChMaxTreeBws, one server"),
    100: Constant(70e9, 4e10, 7.5e10, _NCCL, Status.PRIMARY, "B/s", "perChMaxTreeBws, one server"),
}
#: algorithms planned within so much of the best are not separated, up to two servers and from three on
PLAN_MARGIN: Final = Constant(
    0.15, 0.0, 0.3, "assumed-collectives", Status.ASSUMED, "1", "planned speeds are rounded to steps of 10 to 25 %"
)
PLAN_MARGIN_SERVERS: Final = Constant(
    0.4, 0.1, 0.6, "assumed-collectives", Status.ASSUMED, "1", "most per channel rose from 10 to 17.8 GB/s by release"
)
#: channels that leave a server or a rack, each through one NIC
NETWORK_CHANNELS: Final = Constant(
    32.0, 24.0, 64.0, _NCCL, Status.PRIMARY, "1", "src/init.cc of 2.30: half of MAXCHANNELS; as many heads"
)
#: efficiency of the line, by network kind
NETWORK: Final = {
    NetworkKind.INFINIBAND: Constant(
        0.96, 0.92, 0.98, _NCCL, Status.PRIMARY, "1", "plans 12 of 12.5 GB/s; 46–48 of 50"
    ),
    NetworkKind.ROCE: Constant(0.91, 0.84, 0.97, _FIT, Status.DERIVED, "1", "21.4 of 25 GB/s; residual 4 %"),
    NetworkKind.EFA: Constant(
        0.95,
        0.74,
        0.98,
        "efa-machines",
        Status.DERIVED,
        "1",
        "two p4de, residual 10 %; two p4d of another publication .72",
    ),
    NetworkKind.TCPX: Constant(0.80, 0.6, 0.92, "assumed-collectives", Status.ASSUMED, "1", "between TCP and EFA"),
    NetworkKind.TCPXO: Constant(0.90, 0.78, 0.96, "assumed-collectives", Status.ASSUMED, "1", "as RoCE at best"),
    NetworkKind.TCP: Constant(0.65, 0.4, 0.85, "assumed-collectives", Status.ASSUMED, "1", "bound by host cores"),
}
#: a rank's PCIe path to its NIC, when that is narrower than the NIC
HOST_RDMA: Final = Constant(0.85, 0.75, 0.90, "assumed-collectives", Status.ASSUMED, "1", "as the copy engine")
#: what is left of it when the NIC does not sit below the PCIe switch of its rank
NIC_PATH: Final = {
    PathClass.PCIE_CPU: Constant(0.667, 0.55, 0.95, "nccl-412", Status.SECONDARY, "1", "16 of 24 GB/s"),
    PathClass.CROSS_SOCKET: Constant(0.49, 0.35, 0.85, "rdma-cross-socket", Status.UNVERIFIED),
    PathClass.HOST_MEMORY: Constant(
        0.85,
        0.60,
        1.0,
        "assumed-collectives",
        Status.ASSUMED,
        "1",
        "a buffer in host memory: copies of accelerators and reads of NICs meet in both directions of each link",
    ),
}

# ------------------------------------------------------------------ default sweep, as nccl-tests users print it
SWEEP_SMALLEST: Final = Constant(2.0**10, 8.0, 2.0**10, "assumed-collectives", Status.ASSUMED, "B")
SWEEP_LARGEST: Final = Constant(2.0**34, 2.0**34, 2.0**34, "assumed-collectives", Status.ASSUMED, "B")

# ------------------------------------------------------------------ spread of the model itself
SPREAD_LATENCY: Final = Constant(0.35, 0.25, 0.5, _FIT, Status.DERIVED, "1", "log spread of the latency term")
SPREAD_PIPELINE: Final = Constant(0.6, 0.4, 0.8, _FIT, Status.DERIVED, "1", "log spread of the pipeline term")
#: log spread between machines of one kind, which no other machine shows: hosts, clocks, releases and settings
SPREAD_MACHINES: Final = Constant(
    0.03,
    0.02,
    0.07,
    _FIT,
    Status.DERIVED,
    "1",
    "medians of 15 publications left out, 5 %, less scatter of points and fits; a maker left out needs no more",
)
#: further log spread of a generation of GPU, and of a fabric, that no measurement is fitted on
SPREAD_GENERATION: Final = Constant(
    0.12, 0.05, 0.17, _FIT, Status.DERIVED, "1", "derived to hold 80 % with a generation left out, 3 folds; holds 90 %"
)
SPREAD_FABRIC: Final = Constant(
    0.14, 0.05, 0.20, _FIT, Status.DERIVED, "1", "derived to hold 80 % with a fabric left out, 7 folds; holds 94 %"
)
#: generations and fabrics that are fitted on measurements: of XGMI, Gaudi and PCIe without peer access one each
FITTED_GENERATIONS: Final = frozenset({"sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "gfx942"})
FITTED_FABRICS: Final = frozenset(PathClass) - {PathClass.TORUS} | {
    NetworkKind.INFINIBAND,
    NetworkKind.ROCE,
    NetworkKind.EFA,
}
#: log spread that joining servers adds: fabrics and hosts of publications that were left out
SPREAD_SERVERS: Final = Constant(
    0.08, 0.04, 0.12, _FIT, Status.DERIVED, "1", "4 publications of several servers, medians 3–10 % off"
)
#: log spread towards longer times where latency and filling decide, of generations whose plan nothing is fitted on
SPREAD_NEWER: Final = Constant(
    0.5, 0.3, 0.7, _FIT, Status.DERIVED, "1", "one and two servers of 8 B200, 8 to 128 MiB: 6 to 45 % slower, 10 points"
)
#: the newest generation whose messages of all sizes are fitted
NEWEST_FITTED: Final = Constant(90.0, 90.0, 90.0, _FIT, Status.DERIVED, "1", "compute capability times 10")
SPREAD_MODEL: Final = Constant(0.04, 0.03, 0.06, _FIT, Status.DERIVED, "1", "log spread left at large sizes")
