"""No collective beats the slowest edge of its pattern: hand-worked cases, and all templates against the network."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from designer.analysis.study import analyze
from designer.design.document import Quantity, with_changes
from designer.engine.network import Network, build_network
from designer.engine.question import Question
from designer.engine.results import Bottleneck
from designer.engine.routes.hops import legs_of
from designer.engine.routes.legs import Legs
from designer.engine.routes.selection import Traffic, resolve
from designer.engine.transfers import evaluate_legs
from designer.engine.transfers.limits import NO_LIMITS
from designer.errors import AnalysisError
from designer.families.collective import answer as family
from designer.families.collective.activities import Activity
from designer.families.collective.communicator import ALGORITHMS, Communicator, make_communicator
from designer.families.collective.evaluation import asked_group, time_of
from designer.families.collective.routed_groups import staged_for_library
from designer.findings import Finding, Severity
from designer.formulas.collectives import CollectiveKind, CollectiveTime
from designer.formulas.formula import Formula
from designer.interchange.changes import apply_changes
from designer.interchange.templates import list_templates, open_design
from designer.registry import discover
from designer.workload.program import Collective, Measure, Move, Program, Step
from tests.budget import in_turn

GIB = 2.0**30
LARGE = 16 * GIB
TEMPLATES = [t.id for t in list_templates() if 2 <= t.gpus <= 256]


MEASURES = (Measure("communication_time", "s", "period", "collective"),)


class Answered(NamedTuple):
    """A collective by its formula, and as it is answered."""

    time: CollectiveTime
    binding: tuple[Bottleneck, ...]
    findings: tuple[Finding, ...]


def answered(network: Network, asked: Collective) -> Answered:
    program = Program("c", (Step("collective", asked),), math.inf, measures=MEASURES)
    result, _ = family.answer(network, program, Question("c", "collective", "c", "workloads.c", curves=False))
    return Answered(time_of(asked_group(network, asked, "workloads.c"), asked), result.binding, result.findings)


def answer(template: str, kind: str, algorithm: str = "auto", group: str = "gpus", peers: str = "auto") -> Answered:
    design = apply_changes(open_design(template), {"policy": {"peer_level": peers}}, "test")
    return answered(build_network(design), Collective(kind, group, LARGE, algorithm))


def test_a_ring_across_sockets_gets_what_the_socket_link_gives_peers() -> None:
    """Four H100 PCIe, two a socket, a ring 0 → 1 → 2 → 3 → 0: one hop crosses the sockets each way.

    The link has three UPI lanes of 32 GB/s: 96 GB/s raw. Peer traffic keeps 0.30 of that: 28.8 GB/s, less than the
    37.5 GB/s (0.70 × 0.85 × 63.0) of a ring over PCIe Gen5. So 28.8, and the socket link is what limits.
    """
    found = answer("dell-r760xa", "all-reduce", peers="system")
    assert found.time.bus_bandwidth == pytest.approx(28.8e9, rel=0.01)
    assert found.time.bus_bandwidth < 28.8e9
    assert {b.label for b in found.binding} == {"cpu0 → cpu1 (upi ×3)", "cpu1 → cpu0 (upi ×3)"}


def test_all_to_all_crosses_the_sockets_more_often_than_a_ring() -> None:
    """Each of the two ranks of a socket sends two of its three parts across: 2 × 2/3 of what a rank sends.

    So 28.8 ÷ (4/3) = 21.6 GB/s for every rank, of which an exchange reaches 0.92: 19.9 GB/s.
    """
    found = answer("dell-r760xa", "all-to-all", peers="system")
    assert found.time.bus_bandwidth == pytest.approx(0.92 * 21.6e9, rel=0.01)


def test_on_intel_hosts_the_library_stops_in_memory_beyond_a_switch() -> None:
    """The same four H100 as NCCL joins them unless NCCL_P2P_LEVEL says otherwise, and four A100 in pairs on AMD.

    Every PCIe link carries a copy into memory and one out of it: 63.0 x .85 x .88 = 47.1 GB/s, of which chunks one
    after the other keep .80: 37.7. On the AMD host peers write to each other across sockets, and stop where asked to.
    """
    intel = answer("dell-r760xa", "all-reduce").time
    assert intel.bus_bandwidth == pytest.approx(63.015e9 * 0.85 * 0.88 * 0.80, rel=0.01)
    amd, as_asked, stopping = (
        answer("azure-ncv4-a100-pcie", "all-reduce", peers=peers).time for peers in ("auto", "system", "switch")
    )
    assert amd.time == as_asked.time < stopping.time
    # four V100 below one switch write to each other on every host
    below = [answer("dell-c4140-b", "all-reduce", peers=peers).time.time for peers in ("auto", "switch", "system")]
    assert len(set(below)) == 1


def test_a_bridged_pair_ring_is_held_by_its_one_way_pcie_hops() -> None:
    """The cloud demands 25 GB/s of a ring over four A100 in bridged pairs, so its hops across sockets carry that.

    31.5 GB/s × 0.82 of a copy × 0.85 across sockets × 1.18 as this machine is known to do better: 25.9 GB/s.
    """
    found = answer("azure-ncv4-a100-pcie", "all-reduce")
    assert 25e9 < found.time.bus_bandwidth < 31.508e9 * 0.82 * 0.85 * 1.18
    network = build_network(open_design("azure-ncv4-a100-pcie"))
    crossing = Move("gpu1", "gpu2")
    edge = evaluate_legs(network, *_single(network, crossing), NO_LIMITS, "t").rate.min()
    assert found.time.bus_bandwidth < edge


def _single(network: Network, transfer: Move) -> tuple[Traffic, np.ndarray]:
    source, target = resolve(network, transfer.source, "t"), resolve(network, transfer.target, "t")
    return Traffic(Legs.of(source, target), source, target), np.full(len(source), np.inf)


def test_peers_both_ways_on_one_pcie_link_keep_what_a_ring_was_measured_to_carry() -> None:
    """31.5 × 0.82 one way; a ring of four on one switch carries 22 GB/s each way: 0.852 of that."""
    network = build_network(open_design("dell-r750xa"))
    # both below one socket: 0.97 as well, 31.508 × 0.82 × 0.97 × 0.852 = 21.35 GB/s each
    found = evaluate_legs(network, *_single(network, Move("gpu0,gpu1", "gpu1,gpu0")), NO_LIMITS, "t")
    assert found.rate == pytest.approx([21.35e9, 21.35e9], rel=0.001)


@cache
def group_of(template: str) -> Communicator:
    network = build_network(open_design(template))
    return make_communicator(network, resolve(network, "gpus", "group"), "group")


def solved(group: Communicator, legs: Legs) -> float:
    """What the network gives the slowest of these hops when all send at once, found by sharing fairly."""
    source, target = legs.source, legs.target
    legs = staged_for_library(group.network, legs)
    found = evaluate_legs(group.network, Traffic(legs, source, target), np.full(len(source), np.inf), NO_LIMITS, "t")
    return float(found.rate.min())


def all_legs(group: Communicator, activity: Activity) -> Legs:
    """All hops, not the listed ones alone."""
    listed = activity.hops.legs
    if activity.n_legs == len(listed):
        return listed
    inside, between, _ = legs_of(group.network, group.parts[None])
    found = between if activity is group.between else inside
    assert len(found) == activity.n_legs
    return found


def on_an_edge(group: Communicator, time: CollectiveTime, kind: str) -> float:
    """What a rank sends inside its server [B/s]: bytes by the definition of each algorithm, over the time."""
    local = group.situation.ranks / group.situation.servers
    if time.algorithm.startswith("nvls"):
        return time.algorithm_bandwidth * (1 + 1 / local)
    if kind == "all-to-all":
        return time.algorithm_bandwidth * (local - 1) / group.situation.ranks
    if time.algorithm == "tree":
        return time.algorithm_bandwidth * 2 * (local - 1) / local
    if time.algorithm == "hierarchical":
        # each pass (g − 1)/g of the message in the server, where a ring over all n ranks sends (n − 1)/n of it
        n = group.situation.ranks
        return time.bus_bandwidth * (local - 1) / local * n / (n - 1)
    return time.bus_bandwidth


@pytest.mark.parametrize(
    ("template", "kind"),
    in_turn(TEMPLATES, ["all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all"]),
)
def test_no_collective_beats_the_slowest_edge_of_its_pattern(template: str, kind: str) -> None:
    group = group_of(template)
    group = group.exchanging() if kind == "all-to-all" else group
    for algorithm in ("auto", "ring", "tree", "in-switch", "hierarchical"):
        try:
            time = group.time(kind, LARGE, algorithm)
        except AnalysisError:
            continue
        if group.inside is not None:
            edge = solved(group, all_legs(group, group.inside))
            assert on_an_edge(group, time, kind) <= edge * 1.001, (algorithm, "inside")
        if group.between is not None and kind != "all-to-all" and time.algorithm == "ring":
            assert time.bus_bandwidth <= solved(group, all_legs(group, group.between)) * 1.001, (algorithm, "between")


def test_names_of_algorithms_are_those_the_formulas_give() -> None:
    """Every name a user may choose runs somewhere: one server, several, all-to-all, switches that reduce."""
    formulas = discover("designer.formulas.collectives.algorithms", "FORMULA", Formula).values()
    group = group_of("su-h100-32")
    assert group.reduces
    given: set[str] = set()
    for kind in CollectiveKind:
        for inside in (True, False):
            situation = replace(group.situation, kind=kind, message=GIB, in_network_reduction=True)
            if not inside:
                situation = replace(situation, ranks=situation.servers)
            given |= {time.algorithm for formula in formulas for time in formula.function(situation)}
    for name, wanted in ALGORITHMS.items():
        assert wanted & given, name


@pytest.mark.parametrize("algorithm", ["ring", "tree", "in-switch", "in-network", "hierarchical"])
def test_every_algorithm_runs_where_it_can(algorithm: str) -> None:
    assert answer("su-h100-32", "all-reduce", algorithm).time.algorithm in ALGORITHMS[algorithm]


def test_reduction_in_the_network_sends_the_message_once() -> None:
    """Four servers of eight 400 Gb/s NICs: 400 GB/s raw, 0.96 achieved, 0.9 with reduction in the switches.

    A server sends S instead of 2S·3/4, so the network alone would give S ÷ 345.6 GB/s, or a bus bandwidth of
    2 · 31/32 × 345.6 = 670 GB/s. Inside, 2 · 7/8 · S at 0.83 × 450 = 373.5 GB/s takes longer: S ÷ 213.4 GB/s,
    a bus bandwidth of 413 GB/s before filling the pipeline.
    """
    found = answer("su-h100-32", "all-reduce", "in-network")
    assert found.time.algorithm == "sharp"
    assert found.time.bandwidth_term == pytest.approx(LARGE / (0.83 * 450e9 / 1.75), rel=0.001)
    assert found.time.bus_bandwidth > answer("su-h100-32", "all-reduce").time.bus_bandwidth


def test_reduction_in_the_network_is_said_to_be_left_out() -> None:
    (finding,) = [f for f in answer("su-h100-32", "all-reduce").findings if f.code == "COLL-SHARP-OFF"]
    assert "in-network" in finding.remedy


def test_reduction_in_ethernet_switches_is_refused_with_a_reason() -> None:
    design = open_design("vsphere-cluster-4")
    switch = design.parts["storage_switch"]
    yes = with_changes(switch, overrides={"in_switch_reduction": Quantity(value=True, source="assumed")})
    changed = with_changes(design, parts={**design.parts, switch.id: yes})
    network = build_network(changed)
    asked = Collective("all-reduce", "gpus", LARGE)
    codes = {f.code for f in answered(network, asked).findings}
    assert "COLL-SHARP-OFF" in codes
    with pytest.raises(AnalysisError, match="InfiniBand"):
        answered(network, replace(asked, algorithm="in-network"))


def test_all_reduce_over_the_storage_network_is_said() -> None:
    (finding,) = answer("vsphere-cluster-4", "all-reduce").findings
    assert finding.code == "COLL-OTHER-NETWORK"
    assert finding.severity is Severity.WARNING
    assert "storage network" in finding.text
    assert len(finding.where) == 4


def test_no_finding_where_compute_nics_join_the_servers() -> None:
    codes = {f.code for f in answer("su-h100-32", "all-reduce").findings}
    assert "COLL-OTHER-NETWORK" not in codes
    (result,) = analyze(open_design("dgx-h100"), ["all-reduce"], curves=False).workloads
    assert not result.findings
