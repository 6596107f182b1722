"""Each algorithm against its formula by hand, its limits, and what it refuses."""

from dataclasses import replace

import pytest

from designer.formulas.collectives import CollectiveKind, CollectiveSituation, NetworkKind, PathClass, Protocol
from designer.formulas.collectives import _constants as c
from designer.formulas.collectives._situation import AlgorithmTime
from designer.formulas.collectives._terms import generation, network_rate, protocols, tree_network_bytes
from designer.formulas.collectives.algorithms.aggregated_tree import aggregated_tree
from designer.formulas.collectives.algorithms.direct import direct
from designer.formulas.collectives.algorithms.double_binary_tree import double_binary_tree
from designer.formulas.collectives.algorithms.hierarchical import hierarchical
from designer.formulas.collectives.algorithms.in_network import in_network
from designer.formulas.collectives.algorithms.in_switch import in_switch
from designer.formulas.collectives.algorithms.point_to_point import point_to_point
from designer.formulas.collectives.algorithms.ring import ring

GIB = 2.0**30
A100 = CollectiveSituation(CollectiveKind.ALL_REDUCE, 8, GIB, 300e9, architecture="sm_80")
H100 = CollectiveSituation(CollectiveKind.ALL_REDUCE, 8, GIB, 450e9, architecture="sm_90", in_switch_reduction=True)
CLUSTER = replace(H100, ranks=64, servers=8, inter_bandwidth=400e9, nics_per_server=8)


def simple(times: tuple[AlgorithmTime, ...]) -> AlgorithmTime:
    return next(one for one in times if one.protocol is Protocol.SIMPLE)


def test_ring_by_hand() -> None:
    # 14 steps of 3.4 µs and a base of 8.4; 7/4 of a GiB at 0.785 × 300 GB/s
    one = simple(ring(A100))
    assert one.latency_term - c.LAUNCH.value == pytest.approx(8.4e-6 + 14 * 3.4e-6)
    assert one.bandwidth_term == pytest.approx(1.75 * GIB / (c.NVLINK_RING[80].value * 300e9))
    assert one.time == pytest.approx(one.latency_term + one.bandwidth_term + one.pipeline_term)


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        (CollectiveKind.ALL_REDUCE, 1.75),
        (CollectiveKind.ALL_GATHER, 0.875),
        (CollectiveKind.REDUCE_SCATTER, 0.875),
        (CollectiveKind.BROADCAST, 1.0),
    ],
)
def test_bytes_a_ring_moves(kind: CollectiveKind, share: float) -> None:
    one = simple(ring(replace(A100, kind=kind)))
    assert one.bandwidth_term == pytest.approx(share * GIB / (c.NVLINK_RING[80].value * 300e9))


def test_a_ring_over_servers_runs_at_its_slowest_part() -> None:
    slow_network = simple(ring(replace(CLUSTER, inter_bandwidth=100e9)))
    moved = 2 * 63 / 64 * GIB
    assert slow_network.bandwidth_term == pytest.approx(moved / (c.NETWORK[NetworkKind.INFINIBAND].value * 100e9))
    assert simple(ring(CLUSTER)).bandwidth_term == pytest.approx(moved / (c.NVLINK_RING[90].value * 450e9))


def dtree_busiest(servers: int) -> float:
    """Egress of the busiest server of two explicit complementary in-order trees, in messages."""

    def parent(rank: int) -> int:
        if rank == 0:
            return -1
        bit = rank & -rank
        up = (rank ^ bit) | (bit << 1)
        return up if up < servers else rank ^ bit

    egress = [0.0] * servers
    for mirrored in (False, True):

        def place(rank: int, flip: bool = mirrored) -> int:
            if not flip:
                return rank
            return servers - 1 - rank if servers % 2 == 0 else (rank + 1) % servers

        for rank in range(1, servers):
            egress[place(rank)] += 0.5
            egress[place(parent(rank))] += 0.5
    return max(egress)


@pytest.mark.parametrize("servers", range(2, 40))
def test_network_bytes_of_explicit_trees(servers: int) -> None:
    assert tree_network_bytes(servers) == pytest.approx(dtree_busiest(servers))


def test_two_servers_exchange_half_of_what_a_ring_sends() -> None:
    two = replace(CLUSTER, ranks=16, servers=2, inter_bandwidth=25e9)
    tree, flat = simple(double_binary_tree(two)), simple(ring(two))
    inside = c.NVLINK_RING[90].value * c.TREE_SHARE.value * two.intra_bandwidth
    outside = c.NETWORK[NetworkKind.INFINIBAND].value * c.TREE_SHARE.value * 25e9
    # a chunk of 512 KiB in each channel, two for each NIC and at least four, passes all steps up and down
    chunks = 2**19 * 2 * max(2, two.nics_per_server)
    filling = 2 * chunks * (7 / inside + 1 / outside)
    assert flat.bandwidth_term / (tree.bandwidth_term - filling) == pytest.approx(2 * 15 / 16 * c.TREE_SHARE.value)


def test_small_messages_go_in_smaller_chunks_of_which_a_slot_holds_one() -> None:
    """Four NICs, eight channels, a tree of depth 8. 64 MiB are 64 chunks of 128 KiB in a channel, 8 MiB 16 of 64 KiB.

    Eight are on the way for 280 us: 64 MiB take eight turns, 2.24 ms where the line needs 1.54; 8 MiB two, .56 ms.
    2 GiB are 512 chunks of 512 KiB, 64 turns of 17.9 ms in all, and the line needs 49.1.
    """
    cloud = replace(CLUSTER, ranks=16, servers=2, inter_bandwidth=50e9, nics_per_server=4, network=NetworkKind.EFA)
    rates = (c.NVLINK_RING[90].value * cloud.intra_bandwidth, c.NETWORK[NetworkKind.EFA].value * 50e9)
    inside, outside = (rate * c.TREE_SHARE.value for rate in rates)
    for size, chunk, longest in ((8, 2**16, 0.56e-3), (64, 2**17, 2.24e-3), (2048, 2**19, 2**31 / outside)):
        tree = simple(double_binary_tree(replace(cloud, message=size * 2.0**20)))
        filling = 2 * 8 * chunk * (7 / inside + 1 / outside)
        assert tree.bandwidth_term == pytest.approx(longest + filling)
    anywhere = simple(double_binary_tree(replace(cloud, message=2.0**23, network=NetworkKind.INFINIBAND)))
    assert anywhere.bandwidth_term < 0.3e-3


def test_trees_take_logarithmic_steps() -> None:
    def latency(servers: int) -> float:
        return simple(double_binary_tree(replace(CLUSTER, ranks=8 * servers, servers=servers))).latency_term

    doubling = latency(4) - latency(2)
    assert doubling > 0
    for servers in (8, 64, 1024):
        assert latency(2 * servers) - latency(servers) == pytest.approx(doubling)


@pytest.mark.parametrize("ranks", [5, 6, 7, 8])
def test_in_switch_reduction_by_hand(ranks: int) -> None:
    (one,) = in_switch(replace(H100, ranks=ranks))
    assert one.algorithm == "nvls"
    assert one.bandwidth_term == pytest.approx(GIB * (1 + 1 / ranks) / (c.IN_SWITCH[90].value * 450e9))


@pytest.mark.parametrize(
    "change",
    [
        {"ranks": 4},
        {"architecture": "sm_80"},
        {"in_switch_reduction": False},
        {"intra_path": PathClass.NVLINK_MESH},
        {"kind": CollectiveKind.ALL_GATHER},
    ],
)
def test_in_switch_reduction_needs_the_switch(change: dict[str, object]) -> None:
    assert in_switch(H100) != ()
    assert in_switch(replace(H100, **change)) == ()  # pyright: ignore[reportArgumentType]


def test_in_switch_trees_join_servers() -> None:
    (one,) = in_switch(CLUSTER)
    network = c.NETWORK[NetworkKind.INFINIBAND].value * 400e9
    assert one.algorithm == "nvls-tree"
    # 64 KiB × 16 channels × 8 heads are 8 MiB a round: one and six stages of the tree wait for one each
    assert one.bandwidth_term == pytest.approx(2 * (GIB + 7 * 8 * 2**20) / network)


@pytest.mark.parametrize(("mebibytes", "round_of"), [(8, 4), (16, 8), (64, 16), (128, 32), (1024, 32)])
def test_two_servers_wait_for_three_rounds_of_chunks(mebibytes: int, round_of: int) -> None:
    """32 channels × 8 heads: rounds of 128 KiB are 32 MiB from 128 MiB on, of 64 KiB 16 MiB from 32 MiB on.

    64 MiB over 0.96 × 400 GB/s take (64 + 3 × 16) MiB ÷ 384 GB/s = 306 µs; a message of one round is cut in two.
    """
    two = replace(CLUSTER, ranks=16, servers=2, architecture="sm_100", intra_bandwidth=900e9, message=mebibytes * 2**20)
    (one,) = in_switch(two)
    assert one.bandwidth_term == pytest.approx((mebibytes + 3 * round_of) * 2**20 / (0.96 * 400e9))
    assert one.floor == pytest.approx(mebibytes * 2**20 / 400e9)


def test_rack_scale_domains_are_reported_with_a_wide_band_below_a_baseboard() -> None:
    # so large that the slices in flight are nothing next to it
    (board,) = in_switch(replace(H100, ranks=8, message=64 * GIB))
    (rack,) = in_switch(replace(H100, ranks=72, message=64 * GIB))
    share = (1 + 1 / 72) / (1 + 1 / 8)
    assert rack.bandwidth_term == pytest.approx(board.bandwidth_term * share / c.IN_SWITCH_RACK.value)
    assert rack.high / rack.time > board.high / board.time + 0.05
    assert rack.low < board.time < rack.high


def test_small_messages_go_through_the_switch_in_smaller_chunks() -> None:
    """32 channels and 8 heads: 8 chunks of 64 KiB are 128 MiB, 64 of 128 KiB 2 GiB; of 540 GB/s .74 and .93 are left.

    64 MiB take 1.125 × 64 MiB ÷ (.74 × .93 × 540 GB/s) = 203 µs.
    """
    b200 = replace(H100, intra_bandwidth=900e9, architecture="sm_100")
    rate = c.IN_SWITCH[100].value * 900e9
    shares = {64: 0.74 * 0.93, 96: (0.5 + 0.5 * 0.74) * 0.93, 128: 0.93, 1024: 0.93, 1536: 0.965, 2048: 1.0}
    for size, share in shares.items():
        (one,) = in_switch(replace(b200, message=size * 2.0**20))
        assert one.bandwidth_term == pytest.approx(1.125 * size * 2**20 / (share * rate))
    sizes = [in_switch(replace(b200, message=2.0**k))[0].time for k in range(10, 34)]
    assert sizes == sorted(sizes)


def test_two_racks_take_longer_than_one() -> None:
    """Slices of 72 ranks fill in a rack whether or not trees join it to another one."""
    rack = replace(H100, ranks=72, intra_bandwidth=900e9, architecture="sm_100")
    two = replace(rack, ranks=144, servers=2, inter_bandwidth=72 * 50e9, nics_per_server=72)
    for size in (2.0**26, GIB, 8 * GIB):
        (one,), (both,) = in_switch(replace(rack, message=size)), in_switch(replace(two, message=size))
        assert both.time > one.time


def test_heads_and_channels_decide_how_two_racks_fill() -> None:
    """8 GiB over two racks: 32 heads x 32 channels x 64 KiB are 64 MiB, of which 1 + 2 pass before the last is stored.

    Inside 900 x .60 x .84 x .94 = 426.4 GB/s: (8192 + 192) MiB x (1 + 1/72) take 20.9 ms; the 32 NICs, at 1,536 GB/s,
    5.7 ms for 8384 MiB. 3 us launch, 25 us inside, 2 x 20.9 us between, and 72 x 3.3 MB not overlapped, .557 ms, are
    .627 ms more: 21.5 ms, or 792 GB/s of bus bandwidth. With 72 heads it was 23.2 ms.
    """
    size = 8 * GIB
    rack = replace(H100, ranks=72, intra_bandwidth=900e9, architecture="sm_100", message=size)
    (two,) = in_switch(replace(rack, ranks=144, servers=2, inter_bandwidth=72 * 50e9, nics_per_server=72))
    assert two.time == pytest.approx(21.53e-3, rel=1e-3)
    assert size * 2 * 143 / 144 / two.time == pytest.approx(792e9, rel=2e-3)
    inside, between = (load.bytes / min(rate for _, rate in load.bounds) for load in two.loads)
    assert inside == pytest.approx(20.90e-3, rel=1e-3)
    assert between == pytest.approx(5.72e-3, rel=1e-3)


def test_a_domain_sends_through_as_many_nics_as_there_are_channels() -> None:
    """72 NICs of 50 GB/s, 32 channels: 0.96 × 32 × 50 = 1,536 GB/s leave a rack; every rank for itself has 3,456."""
    two = replace(H100, ranks=144, servers=2, inter_bandwidth=72 * 50e9, nics_per_server=72)
    assert network_rate(two).value == pytest.approx(0.96 * 32 * 50e9)
    assert network_rate(two, channels=False).value == pytest.approx(0.96 * 72 * 50e9)
    assert network_rate(CLUSTER).value == pytest.approx(0.96 * 400e9)


def test_ll128_needs_paths_that_keep_lines_whole_whatever_the_network() -> None:
    """The library's rule: NICs below PCIe switches, from Hopper on below the CPU too; never through host memory."""
    roce = replace(CLUSTER, network=NetworkKind.ROCE)
    assert Protocol.LL128 in protocols(CLUSTER)
    assert Protocol.LL128 in protocols(roce)
    assert Protocol.LL128 in protocols(replace(roce, nic_path=PathClass.PCIE_CPU))
    assert Protocol.LL128 not in protocols(replace(roce, nic_path=PathClass.PCIE_CPU, architecture="sm_80"))
    assert Protocol.LL128 not in protocols(replace(roce, network=NetworkKind.TCP))


@pytest.mark.parametrize(("gibibytes", "bus"), [(0.5, 586e9), (1, 681e9), (2, 758e9), (4, 839e9), (8, 835e9)])
def test_a_rack_fills_its_slices_before_reading_and_storing_overlap(gibibytes: float, bus: float) -> None:
    """72 GB200 of 900 GB/s: 72 slices of 3.3 MB, 238 MB, at .60 x .84 x 900 = 454 GB/s take .52 ms at any of these.

    Half a GiB: (1 + 1/72) x 537 MB at 454 GB/s are 1.20 ms; the slices .52 x (1 - e^(-537/238)) = .47 ms more, and a
    pipeline of the step .05 to .1 ms; 2 x 71/72 x 537 MB in about 1.8 ms are 590 GB/s of bus bandwidth.
    """
    size = gibibytes * GIB
    (rack,) = in_switch(replace(H100, ranks=72, architecture="sm_100", intra_bandwidth=900e9, message=size))
    assert size * 2 * 71 / 72 / rack.time == pytest.approx(bus, rel=0.045)
    assert rack.low <= size * 2 * 71 / 72 / bus <= rack.high


def test_small_messages_of_a_rack_read_and_then_store() -> None:
    """Far below 238 MB nothing overlaps: twice the time of the line, and the latency of a step once."""
    small = replace(H100, ranks=72, architecture="sm_100", intra_bandwidth=900e9, message=1e6)
    (rack,) = in_switch(small)
    assert rack.latency_term - c.LAUNCH.value - c.IN_SWITCH_STEP.value == pytest.approx(rack.bandwidth_term, rel=0.02)


def test_a_chain_in_a_server_sends_less_at_its_ends_unless_it_shares_pcie() -> None:
    wide = replace(CLUSTER, inter_bandwidth=1e15)
    tree = simple(double_binary_tree(wide)).floor
    two = simple(double_binary_tree(replace(wide, ranks=wide.servers * 2))).floor
    assert two / tree == pytest.approx((1 / 2) / (1 - wide.servers / wide.ranks))
    over_pcie = replace(wide, intra_path=PathClass.PCIE_SWITCH)
    few = replace(over_pcie, ranks=wide.servers * 2)
    assert simple(double_binary_tree(few)).floor == simple(double_binary_tree(over_pcie)).floor


def test_every_rank_to_the_next_sends_and_receives_as_a_ring() -> None:
    (one,) = point_to_point(replace(A100, kind=CollectiveKind.SEND_RECV, ranks=8))
    rate = c.NVLINK_RING[80].value * c.SEND_AND_RECEIVE.value * A100.intra_bandwidth
    assert one.bandwidth_term == pytest.approx(A100.message / rate)


def test_network_reduction_halves_the_network_bytes() -> None:
    slow = replace(CLUSTER, inter_bandwidth=50e9, in_network_reduction=True)
    (one,) = in_network(slow)
    rate = c.NETWORK[NetworkKind.INFINIBAND].value * c.IN_NETWORK_SHARE.value * 50e9
    assert one.bandwidth_term == pytest.approx(GIB / rate)
    assert one.bandwidth_term < 0.6 * simple(ring(slow)).bandwidth_term
    assert in_network(replace(slow, in_network_reduction=False)) == ()


def test_hierarchical_sends_once_per_server() -> None:
    slow = replace(CLUSTER, inter_bandwidth=50e9)
    (one,) = hierarchical(slow)
    assert one.bandwidth_term == pytest.approx(2 * 7 / 8 * GIB / (c.NETWORK[NetworkKind.INFINIBAND].value * 50e9))
    assert one.latency_term < simple(ring(slow)).latency_term
    assert hierarchical(A100) == ()


def test_all_to_all_sends_each_peer_its_part() -> None:
    (inside,) = direct(replace(A100, kind=CollectiveKind.ALL_TO_ALL))
    assert inside.bandwidth_term == pytest.approx(
        7 / 8 * GIB / (c.NVLINK_RING[80].value * c.DIRECT_SHARE.value * 300e9)
    )
    (across,) = direct(replace(CLUSTER, kind=CollectiveKind.ALL_TO_ALL))
    network = c.NETWORK[NetworkKind.INFINIBAND].value * c.DIRECT_SHARE.value * 400e9
    assert across.bandwidth_term == pytest.approx(8 * 56 / 64 * GIB / network)


def test_all_to_all_uses_all_links_of_a_mesh_at_once() -> None:
    mesh = replace(A100, kind=CollectiveKind.ALL_TO_ALL, intra_path=PathClass.XGMI, intra_bandwidth=64e9)
    (all_links,) = direct(replace(mesh, direct_bandwidth=448e9))
    assert direct(mesh)[0].bandwidth_term == pytest.approx(7 * all_links.bandwidth_term)


def test_send_uses_the_link_of_the_pair() -> None:
    pair = CollectiveSituation(
        CollectiveKind.SEND_RECV, 2, GIB, 448e9, intra_path=PathClass.XGMI, architecture="gfx942", pair_bandwidth=64e9
    )
    (one,) = point_to_point(pair)
    assert one.bandwidth_term == pytest.approx(GIB / (c.XGMI_RING.value * 64e9))


def test_aggregated_trees_need_one_rank_per_server() -> None:
    single = replace(CLUSTER, kind=CollectiveKind.ALL_GATHER, ranks=64, servers=64, inter_bandwidth=50e9)
    (one,) = aggregated_tree(single)
    assert one.latency_term < simple(ring(single)).latency_term
    rate = c.AGGREGATED_SHARE.value * c.NETWORK[NetworkKind.INFINIBAND].value * 50e9
    assert one.bandwidth_term == pytest.approx(63 / 64 * GIB / rate)
    assert aggregated_tree(replace(CLUSTER, kind=CollectiveKind.ALL_GATHER)) == ()


def test_protocols_follow_path_and_network() -> None:
    assert protocols(A100) == (Protocol.LL, Protocol.LL128, Protocol.SIMPLE)
    assert Protocol.LL128 not in protocols(replace(A100, intra_path=PathClass.PCIE_SWITCH))
    assert Protocol.LL128 not in protocols(replace(A100, architecture="sm_60"))
    two = replace(A100, ranks=16, servers=2, inter_bandwidth=50e9)
    assert protocols(replace(two, network=NetworkKind.EFA)) == (Protocol.SIMPLE,)
    assert Protocol.LL128 not in protocols(replace(two, network=NetworkKind.TCP))
    assert Protocol.LL128 not in protocols(replace(two, nic_path=PathClass.CROSS_SOCKET))


@pytest.mark.parametrize(
    ("text", "number"), [("sm_90", 90), ("sm90a", 90), ("SM_100", 100), ("compute_86", 86), ("gfx942", 80), ("", 80)]
)
def test_architecture_spellings(text: str, number: int) -> None:
    assert generation(text) == number


def test_paths_over_pcie_are_ordered() -> None:
    def seconds(path: PathClass, bridged: bool = False) -> float:
        one = replace(A100, intra_bandwidth=31.5e9, intra_path=path, bridged_pairs=bridged)
        return simple(ring(one)).bandwidth_term

    assert seconds(PathClass.PCIE_CPU, bridged=True) < seconds(PathClass.PCIE_CPU) == seconds(PathClass.PCIE_SWITCH)
    assert seconds(PathClass.PCIE_CPU) < seconds(PathClass.CROSS_SOCKET) < seconds(PathClass.HOST_MEMORY)
