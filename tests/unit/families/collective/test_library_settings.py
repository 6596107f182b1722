"""What is set of the library: protocol, channels, launch, and the transports of clouds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from designer.engine.network import build_network
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.families.collective.communicator import Communicator, make_communicator
from designer.families.collective.evaluation import better_choice
from designer.formulas.collectives import AlgorithmTime, CollectiveKind, CollectiveSituation, NetworkKind, Protocol
from designer.formulas.collectives import _constants as c
from designer.formulas.collectives.collective_time import collective_time
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design
from designer.workload.program import Collective

MIB = 2.0**20
TWO_H100 = CollectiveSituation(
    CollectiveKind.ALL_REDUCE,
    16,
    64 * MIB,
    450e9,
    servers=2,
    architecture="sm_90",
    in_switch_reduction=True,
    inter_bandwidth=200e9,
    nics_per_server=4,
)


@pytest.fixture(scope="module")
def a100() -> Communicator:
    network = build_network(open_design("dgx-a100"))
    return make_communicator(network, resolve(network, "gpus", "group"), "group")


def test_a_protocol_is_forced(a100: Communicator) -> None:
    for protocol in Protocol:
        assert a100.time("all-reduce", 64 * MIB, protocol=protocol).protocol is protocol
    assert a100.time("all-reduce", 64 * MIB).protocol is Protocol.SIMPLE


def test_a_protocol_the_algorithm_lacks_is_refused_with_those_it_has(a100: Communicator) -> None:
    with pytest.raises(AnalysisError, match="no allowed algorithm") as refused:
        a100.time("all-to-all", MIB, protocol="ll")
    assert "direct (simple)" in str(refused.value)


def test_channels_by_hand(a100: Communicator) -> None:
    """4 channels of 24 GB/s: 1 GiB x 14/8 over 96 GB/s are 19.6 ms; 12 and more reach what the links give."""
    four, all_of_them = a100.time("all-reduce", 1024 * MIB, channels=4), a100.time("all-reduce", 1024 * MIB)
    assert four.bandwidth_term == pytest.approx(1.75 * 1024 * MIB / 96e9 if four.algorithm == "ring" else 0)
    assert a100.time("all-reduce", 1024 * MIB, channels=12).time == all_of_them.time
    assert four.time > 2 * all_of_them.time
    with pytest.raises(AnalysisError, match="-1 channels"):
        a100.time("all-reduce", MIB, channels=-1)


def test_a_channel_leaves_through_one_nic() -> None:
    for algorithm in ("nvls-tree", "ring"):
        asked = frozenset({algorithm})
        two = collective_time(replace(TWO_H100, message=1024 * MIB, channels=2), asked)
        assert two.time > 1.8 * collective_time(replace(TWO_H100, message=1024 * MIB), asked).time


def test_a_graph_saves_its_launch_and_narrows_small_messages(a100: Communicator) -> None:
    eager, graph = a100.time("all-reduce", 1024), a100.time("all-reduce", 1024, launch="graph")
    assert eager.time - graph.time == pytest.approx(c.LAUNCH.value - c.LAUNCH_GRAPH.value)
    assert graph.high - graph.time < 0.5 * (eager.high - eager.time)
    assert graph.low <= graph.time


def test_one_thread_launches_for_all_of_its_gpus_in_turn(a100: Communicator) -> None:
    """8 launches of 5 us are 40 us: 1 KiB, 18 us by itself, takes as long; 16 MiB waits for nothing."""
    eager, turns = (a100.time("all-reduce", 1024, launch=launch) for launch in ("eager", "one-process"))
    assert eager.time < 20e-6
    assert turns.time == pytest.approx(8 * 5e-6)
    assert turns.latency_term == turns.time - turns.bandwidth_term - turns.pipeline_term
    assert (turns.algorithm, turns.protocol) == (eager.algorithm, eager.protocol)
    assert turns.low < turns.time < turns.high
    large = [a100.time("all-reduce", 16 * MIB, launch=launch).time for launch in ("eager", "one-process")]
    assert large[0] == large[1]


#: least time of an all-reduce of nccl-tests with -g N, by machine: GPUs and time [s]
ONE_PROCESS = {
    "4 V100 PCIe, NCCL 2.8": (4, 13.4e-6),
    "4 A100 PCIe": (4, 22.9e-6),
    "4 A100 SXM, NCCL 2.13": (4, 14.7e-6),
    "2 RTX 4090": (2, 8.97e-6),
    "4 RTX 4090": (4, 18.9e-6),
    "8 RTX 4090, 2 EPYC 7542": (8, 38.7e-6),
    "8 RTX 3090": (8, 54.2e-6),
}


def test_published_runs_of_one_process_lie_around_it() -> None:
    each = sorted(time / gpus for gpus, time in ONE_PROCESS.values())
    assert each[len(each) // 2] == pytest.approx(c.LAUNCH_EACH.value, rel=0.06)
    inside = [c.LAUNCH_EACH.low <= one <= c.LAUNCH_EACH.high for one in each]
    assert sum(inside) == 6


def test_processors_of_hosts_decide_how_fast_flags_and_posts_are() -> None:
    """16 ranks on two servers. Flags: 15/8 MiB over 39 GB/s (Intel) are 50.4 us, over 22.5 GB/s (AMD) 87.4.

    A step of large chunks posts three times: 3 us on Intel, less than the 3.4 us of a step inside, 6 us on AMD. That
    is 2 x 14 x 2.6 = 72.8 us more.
    """

    def ring(host: str, protocol: Protocol) -> AlgorithmTime:
        asked = replace(TWO_H100, message=MIB, host=host)
        return collective_time(asked, frozenset({"ring"}), frozenset({protocol})).allowed[0]

    assert ring("intel", Protocol.LL).bandwidth_term == pytest.approx(50.4e-6, rel=1e-3)
    assert ring("amd", Protocol.LL).bandwidth_term == pytest.approx(87.4e-6, rel=1e-3)
    intel, amd = (ring(host, Protocol.SIMPLE).latency_term for host in ("intel", "amd"))
    assert amd - intel == pytest.approx(72.8e-6)
    assert ring("nvidia", Protocol.SIMPLE).latency_term == intel
    assert intel < ring("", Protocol.SIMPLE).latency_term < amd


@pytest.mark.parametrize(("cpu", "host"), [("intel/xeon-spr", "intel"), ("amd/epyc-genoa", "amd")])
def test_the_maker_of_processors_is_that_of_the_drawing(cpu: str, host: str) -> None:
    changes = {"parts": {"cpu*": {"type": f"cpu/{cpu}"}}, "servers": {"count": 2, "kind": "infiniband"}}
    network = build_network(apply_changes(open_design("hgx-h100-8"), changes, "test"))
    assert make_communicator(network, resolve(network, "gpus", "g"), "g").situation.host == host


def test_transports_of_clouds_run_what_their_plug_ins_are_configured_for() -> None:
    def ways(network: NetworkKind) -> set[tuple[str, Protocol]]:
        found = collective_time(replace(TWO_H100, network=network)).candidates
        return {(one.algorithm, one.protocol) for one in found if one.algorithm != "hierarchical"}

    assert ways(NetworkKind.TCPX) == {("ring", Protocol.SIMPLE)}
    assert {protocol for _, protocol in ways(NetworkKind.TCPXO)} == {Protocol.SIMPLE, Protocol.LL128}
    assert {algorithm for algorithm, _ in ways(NetworkKind.TCPXO)} == {"ring", "tree", "nvls-tree"}
    assert "nvls-tree" in {algorithm for algorithm, _ in ways(NetworkKind.ROCE)}


def test_transports_of_clouds_lie_between_rdma_and_sockets() -> None:
    kinds = (NetworkKind.INFINIBAND, NetworkKind.TCPXO, NetworkKind.TCPX, NetworkKind.TCP)
    for size in (MIB, 1024 * MIB):
        ring = [
            collective_time(
                replace(TWO_H100, message=size, network=kind), frozenset({"ring"}), frozenset({Protocol.SIMPLE})
            ).time
            for kind in kinds
        ]
        assert ring == sorted(ring)


def test_a_better_choice_is_said_where_there_is_one() -> None:
    """At 16 MiB on two servers the plan takes the switch; a tree of LL128 is estimated at 202 against 288 us."""
    one = replace(TWO_H100, message=16 * MIB)
    (finding,) = better_choice(Collective("all-reduce", "gpus", 16 * MIB), collective_time(one))
    assert finding.code == "COLL-PLAN"
    assert "tree with ll128 would take 30% less" in finding.text
    assert better_choice(Collective("all-reduce", "gpus", 16 * MIB, "ring"), collective_time(one)) == []
    large = collective_time(replace(one, message=8192 * MIB))
    assert better_choice(Collective("all-reduce", "gpus", 8192 * MIB), large) == []
