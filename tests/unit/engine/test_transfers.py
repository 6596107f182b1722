"""Transfers: who sends to whom, over which NICs, at what rates, and copies one after another."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis.study import run_workload
from designer.design.document import Design, Policy, WorkloadSpec
from designer.engine.account import account
from designer.engine.account.bottlenecks import ResourceClass
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from designer.engine.routes.gateways import find_doors
from designer.engine.routes.selection import Traffic, pair_up, resolve
from designer.engine.transfers import TransferAnswer, evaluate_transfer
from designer.errors import AnalysisError
from designer.interchange.templates import open_design
from designer.workload.program import Move
from tests.designs import one_server, one_unit
from tests.properties.mutated import one_by_one
from tests.unit.engine.small_designs import draw, server, shares, transfer

# Who sends to whom.

NETWORK = build_network(draw(*server(), "nic0 sw0: ethernet 100 Gb/s", "store0 sw0: ethernet 100 Gb/s"))


PAIRINGS = ["nearest", "striped", "pairs", "shift", "permutation", "all", "auto"]


def traffic(source: str, target: str, **settings: object) -> Traffic:
    return pair_up(NETWORK, Move(source, target, **settings), "t")  # type: ignore[arg-type]


def pairs(found: Traffic) -> list[str]:
    path = NETWORK.net.path
    return [f"{path(a)}->{path(b)}" for a, b in zip(found.source.tolist(), found.target.tolist(), strict=True)]


@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize(
    ("source", "target"),
    [("gpus", "gpus"), ("memory", "gpus"), ("gpus", "memory"), ("store0", "gpus"), ("memory", "memory")],
)
def test_no_flow_to_itself_and_every_flow_whole(source: str, target: str, pairing: str):
    if pairing == "pairs" and {source, target} == {"memory", "gpus"}:
        pytest.skip("as many parts on both sides are needed")
    for both_ways in (False, True):
        found = (
            traffic(source, target, pairing=pairing, both_ways=both_ways)
            if not (pairing == "pairs" and source == target)
            else None
        )
        if found is None:
            with pytest.raises(AnalysisError, match="end where it begins"):
                traffic(source, target, pairing=pairing)
            return
        legs = found.legs
        assert (legs.source != legs.target).all()
        np.testing.assert_allclose(np.bincount(legs.flow, legs.share, found.n_flows), 1)


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_both_ways_adds_the_twin_of_every_flow(pairing: str):
    there = traffic(
        "gpus" if pairing == "pairs" else "memory",
        "gpu1,gpu0,gpu3,gpu2" if pairing == "pairs" else "gpus",
        pairing=pairing,
    )
    both = traffic(
        "gpus" if pairing == "pairs" else "memory",
        "gpu1,gpu0,gpu3,gpu2" if pairing == "pairs" else "gpus",
        pairing=pairing,
        both_ways=True,
    )
    back = [f"{b}->{a}" for a, b in (p.split("->") for p in pairs(there))]
    assert pairs(both) == pairs(there) + back
    n = len(there.legs)
    assert both.legs.source[n:].tolist() == there.legs.target.tolist()


def test_auto_takes_what_fits():
    assert pairs(traffic("memory", "gpus")) == ["mem0->gpu0", "mem0->gpu1", "mem1->gpu2", "mem1->gpu3"]
    assert pairs(traffic("gpus", "memory")) == ["gpu0->mem0", "gpu1->mem0", "gpu2->mem1", "gpu3->mem1"]
    assert pairs(traffic("gpus", "gpus")) == ["gpu0->gpu2", "gpu1->gpu3", "gpu2->gpu0", "gpu3->gpu1"]
    assert pairs(traffic("gpu0", "gpu1,gpu2")) == ["gpu0->gpu1", "gpu0->gpu2"]
    assert pairs(traffic("store0", "gpus")) == ["store0->gpu0", "store0->gpu1", "store0->gpu2", "store0->gpu3"]


def test_nearest_of_one_kind_is_the_neighbour_not_itself():
    assert pairs(traffic("gpus", "gpus", pairing="nearest")) == ["gpu1->gpu0", "gpu0->gpu1", "gpu3->gpu2", "gpu2->gpu3"]


def test_pairs_that_do_not_match():
    with pytest.raises(AnalysisError, match="3 and 2") as refusal:
        traffic("gpu0,gpu1,gpu2", "memory", pairing="pairs")
    assert refusal.value.remedy


def test_too_many_pairs_are_refused_before_they_are_made():
    network = build_network(one_unit(300))
    with pytest.raises(AnalysisError, match="5,760,000"):
        pair_up(network, Move("gpus", "gpus", pairing="all"), "t")


def test_words_paths_and_lists():
    network = build_network(one_server())
    names = [network.net.path(i) for i in resolve(network, "gpu3, gpu1,gpu3 , gpu1*", "x").tolist()]
    assert names == ["gpu3", "gpu1"]
    assert len(resolve(network, "gpus", "x")) == len(resolve(network, "gpu*", "x")) == 8
    assert len(resolve(network, "nics", "x")) == 10


@given(st.integers(0, 2**63 - 1))
def test_a_permutation_is_one_and_depends_on_its_seed_only(seed: int):
    first, again = (traffic("gpus", "gpus", pairing="permutation", seed=seed) for _ in range(2))
    assert np.array_equal(first.target, again.target)
    assert len(set(first.source.tolist())) == len(set(first.target.tolist())) == first.n_flows


@given(st.floats(1, 1e12))
def test_no_flow_gets_more_than_it_asks_for(demand: float):
    answer = transfer(draw(*server()), "memory", "gpus", demand=demand)
    assert (answer.rate <= demand).all()
    assert (answer.low <= answer.rate).all()
    assert (answer.rate <= answer.high).all()


# Which NICs storage traffic takes: those nearest, then those whose role is storage, worked out by hand.

COMPUTE, STORAGE = {"role": "compute"}, {"role": "storage"}


def storing_server(uplink: str, *, storage_below: bool = False, protocol: str = "RDMA") -> Design:
    """Per socket two switches, each with two GPUs and a compute NIC; a storage NIC on each socket, or below a switch.

    All six NICs are cabled to one switch with the storage, by cables of `uplink`.
    """
    lines, values = ["cpu0 cpu1: upi 3* 32 GB/s"], {"store0": {"protocol": protocol}}
    for s in range(2):
        lines.append(f"cpu{s} mem{s}: memory_bus 300 GB/s")
        for k in (2 * s, 2 * s + 1):
            lines += [f"cpu{s} psw{k}: pcie 5x16", f"psw{k} nic{k}: pcie 5x16", f"nic{k} sw0: ethernet {uplink}"]
            lines += [f"psw{k} gpu{g}: pcie 5x16" for g in (2 * k, 2 * k + 1)]
            values[f"nic{k}"] = COMPUTE
        above = f"psw{2 * s}" if storage_below else f"cpu{s}"
        lines += [f"{above} nic{4 + s}: pcie 5x16", f"nic{4 + s} sw0: ethernet {uplink}"]
        values[f"nic{4 + s}"] = STORAGE
    return draw(*lines, "store0 sw0: ethernet 16* 400 Gb/s", values=values)


def nics_used(design: Design, source: str, target: str) -> Counter[str]:
    """How many flows enter the server through each NIC."""
    flows = transfer(design, source, target, pairing="all").flows
    return Counter(c.split("--")[0] for flow in flows for c in flow.via if c.startswith("nic") and "sw0" in c)


def test_every_gpu_reads_through_the_nic_below_its_own_switch() -> None:
    """Four NICs of 12.5 GB/s, two GPUs each; two storage NICs on the sockets would carry half of that."""
    design = storing_server("100 Gb/s")
    assert nics_used(design, "store0", "gpus") == {f"nic{k}": 2 for k in range(4)}
    whole = sum(transfer(design, "store0", "gpus", pairing="all").rate)
    two = design.model_copy(
        update={
            "links": {
                name: link for name, link in design.links.items() if name[:4] not in {f"nic{k}" for k in range(4)}
            }
        }
    )
    alone = sum(transfer(two, "store0", "gpus", pairing="all").rate)
    assert whole == pytest.approx(2 * alone)


def test_of_nics_below_one_switch_the_one_for_storage_is_used() -> None:
    """With a second server on the same network the compute NICs are there for what the servers exchange."""
    design = storing_server("100 Gb/s", storage_below=True)
    other = ["cpu8 mem8: memory_bus 300 GB/s", "cpu8 nic8: pcie 5x16", "nic8 sw0: ethernet 100 Gb/s"]
    more = draw(*other, values={"nic8": COMPUTE})
    both = design.model_copy(update={"parts": {**design.parts, **more.parts}, "links": {**design.links, **more.links}})
    used = nics_used(both, "store0", "gpus")
    # switches 0 and 2 have both kinds below them, switches 1 and 3 a compute NIC alone
    assert used == {"nic4": 2, "nic1": 2, "nic5": 2, "nic3": 2}


def test_nics_of_every_role_carry_what_a_storage_network_brings_to_host_memory() -> None:
    """Over TCP data ends in host memory: all three NICs of a socket, whether below a switch or not, share it."""
    design = storing_server("100 Gb/s", protocol="NFS over TCP")
    assert not find_doors(build_network(design)).storage ^ {0}
    into = {c: s for c, s in shares(design, "store0", "mem0").items() if c.startswith("nic")}
    assert into == pytest.approx({"nic0--sw0:ba": 1 / 3, "nic1--sw0:ba": 1 / 3, "nic4--sw0:ba": 1 / 3})


def test_a_port_in_the_storage_network_makes_a_compute_nic_a_storage_nic() -> None:
    """The second ports of all NICs join a storage network that other servers use as well."""
    design = storing_server("100 Gb/s", protocol="NFS over TCP")
    second = [f"nic{k} sw1: infiniband 400 Gb/s" for k in range(4)]
    other = ["cpu8 mem8: memory_bus 300 GB/s", "cpu8 nic8: pcie 5x16", "nic8 sw0: ethernet 100 Gb/s"]
    more = draw(*other, "nic8 sw1: infiniband 400 Gb/s", *second, values={"nic8": COMPUTE})
    parts = {**more.parts, **design.parts}
    both = design.model_copy(update={"parts": parts, "links": {**design.links, **more.links}})
    assert not find_doors(build_network(both)).storage
    into = {c for c in shares(both, "store0", "mem0") if c.startswith("nic") and "sw0" in c}
    assert {c[:4] for c in into} >= {"nic0", "nic1"}


# Copies one after another against all at once, worked out by hand.


def moved(template: str, **settings: Any) -> WorkloadResult:
    spec = WorkloadSpec(id="w", kind="transfer", settings=settings)
    return run_workload(build_network(open_design(template)), spec)[0]


def value(found: WorkloadResult, name: str) -> float:
    return found.metrics[name].value


@pytest.mark.parametrize("ends", [("memory", "gpus"), ("gpus", "memory")])
def test_copies_that_share_nothing_take_eight_times_as_long_in_turn(ends: tuple[str, str]) -> None:
    """Eight accelerators with a link each: all at once 443.6 GB/s, one after another 55.45 GB/s; both directions."""
    asked = {"from": ends[0], "to": ends[1], "size": "16 GiB"}
    at_once, in_turn = moved("hgx-h100-8", **asked), moved("hgx-h100-8", one_by_one=True, **asked)
    assert value(in_turn, "transfer_time") == pytest.approx(8 * value(at_once, "transfer_time"), rel=1e-3)
    assert value(in_turn, "rate") == pytest.approx(value(at_once, "rate") / 8, rel=1e-3)
    assert value(in_turn, "data_rate_per_gpu") == pytest.approx(value(at_once, "data_rate_per_gpu"))


def test_copies_that_share_a_link_lose_only_what_others_had_beside_it() -> None:
    """Two accelerators behind each of four switches: alone each has 12.1 GB/s, together 6.07; 4 links idle in turn."""
    asked = {"from": "memory", "to": "gpus", "size": "1 GiB"}
    at_once, in_turn = (moved("hpe-apollo-6500-nfs", one_by_one=flag, **asked) for flag in (False, True))
    assert value(in_turn, "data_rate_per_gpu") == pytest.approx(2 * value(at_once, "data_rate_per_gpu"))
    assert value(in_turn, "transfer_time") == pytest.approx(4 * value(at_once, "transfer_time"), rel=1e-3)


def test_every_small_copy_starts_for_itself() -> None:
    """4 kB to each of eight: the starts of copies add up, while all at once they pass at the same time."""
    asked = {"from": "memory", "to": "gpus", "size": "4 kB"}
    at_once, in_turn = (moved("hgx-h100-8", one_by_one=flag, **asked) for flag in (False, True))
    assert value(in_turn, "transfer_time") == pytest.approx(8 * value(at_once, "transfer_time"), rel=1e-3)
    estimate = in_turn.metrics["transfer_time"]
    assert estimate.low < 0.9 * estimate.value < 1.1 * estimate.value < estimate.high


def test_requests_to_a_store_are_in_flight_for_one_copy_alone() -> None:
    """4 KiB, one at a time: 50.8 MB/s from a drive, whether the other seven read as well or not."""
    asked = {"from": "drives", "to": "gpus", "io_size": "4 KiB"}
    at_once, in_turn = (moved("hgx-h100-8", one_by_one=flag, **asked) for flag in (False, True))
    assert value(in_turn, "rate") == pytest.approx(value(at_once, "rate") / 8, rel=1e-3)
    assert value(in_turn, "data_rate_per_gpu") == pytest.approx(4096 / (80e-6 + 4096 / 6.9e9), rel=1e-3)


def test_both_ways_at_once_is_not_one_after_another() -> None:
    with pytest.raises(AnalysisError, match="both ways"):
        moved("hgx-h100-8", one_by_one=True, both_ways=True)


# Rates of flows in scenarios: what is twice as fast, what its estimate is off, against sums by hand.


def answered(design: object, source: str, target: str) -> TransferAnswer:
    return evaluate_transfer(build_network(design), Move(source, target), "w")  # type: ignore[arg-type]


LINES = (
    "cpu0 mem0: memory_bus 900 GB/s",
    "cpu0 nic0: pcie 5x16",
    "cpu1 nic1: pcie 5x16",
    "cpu1 mem1: memory_bus 900 GB/s",
    "nic0 sw0: infiniband 400 Gb/s",
    "nic1 sw0: infiniband 400 Gb/s",
)


def test_the_time_of_an_amount_is_latency_and_amount_by_rate():
    """Twice the amount takes the same latency and twice as long on the links; a slower link takes as much longer."""
    rates = answered(draw(*LINES), "mem0", "mem1").rates
    rate, wait = float(rates.rate[0]), float(rates.latency[0, 0])
    assert wait > 0
    assert rates.time(1e9).seconds == pytest.approx(wait + 1e9 / rate, rel=1e-12)
    assert rates.time(2e9).seconds == pytest.approx(wait + 2e9 / rate, rel=1e-12)
    assert rates.time(1e9, latency=False).seconds == pytest.approx(1e9 / rate, rel=1e-12)
    bound = rates.why.binding[0].tie
    slower = dict.fromkeys(bound, 3.0)
    assert rates.time(1e9).solve(slower) == pytest.approx(wait + 3e9 / rate, rel=1e-12)


def test_gains_end_where_the_next_link_is():
    """Both ports twice as fast are held by PCIe: the gain is the rate of PCIe over that of a port."""
    found = answered(draw(*LINES), "mem0", "mem1")
    why = found.rates.why
    assert [held.alone for held in why.binding] == [(1.0, 1.0)]
    ports, (pcie,) = why.binding[0], why.next
    every = dict.fromkeys((*ports.tie, *pcie.tie), 0.5)
    assert found.rates.rates(dict.fromkeys(ports.tie, 0.5))[0] < found.rates.rates(every)[0]
    gain = found.rates.rates(dict.fromkeys(ports.tie, 0.5))[0] / found.rates.rate[0]
    assert ports.gain == pytest.approx(gain, rel=1e-12)
    assert 1 < gain < 2


def test_an_estimate_at_its_end_moves_the_rate_as_far_and_no_further_than_the_next():
    """A flow that one estimate holds back: its band is that of the estimate, or less where something else binds."""
    rates = answered(open_design("hgx-h100-8"), "memory", "gpus").rates
    for one in rates.estimates:
        for end in (one.low, one.high):
            moved = rates.rates({one.name: 1 / end}) / rates.rate
            assert (moved >= min(end, 1.0) - 1e-12).all()
            assert (moved <= max(end, 1.0) + 1e-12).all()
    low, high = rates.ends
    assert (low < rates.rate).all()
    assert (high >= rates.rate).all()


def test_what_binds_nobody_changes_nothing():
    rates = answered(open_design("hgx-h100-8"), "memory", "gpus").rates
    bound = {
        int(resource) for held in rates.why.binding for resource in held.tie if isinstance(resource, ResourceClass)
    }
    idle = {ResourceClass(int(key)): 0.5 for key in rates.key.tolist() if int(key) not in bound}
    assert rates.rates(idle) == pytest.approx(rates.rate, rel=1e-12)
    assert account(rates.time(1e9), rates.bands).value == rates.time(1e9).seconds


def test_only_members_that_bind_the_same_flows_are_doubled_together():
    """Three equal servers whose memory buses carry 8, 8, 8, 7 and fewer flows: those of 8 are doubled, not all six.

    Flows of the bus of 7 are next, at 8/7 of the rate of the slowest; drawn part by part the gain is the same.
    """
    policy = Policy(gpudirect=False, rail_affinity=False, numa_local=False, relay_through_gpu=False)
    grouped = one_unit(3, policy=policy)
    for design in (grouped, one_by_one(grouped)):
        why = evaluate_transfer(build_network(design), Move("gpus", "gpus", pairing="permutation"), "w").rates.why
        (buses,) = why.binding
        assert sum(bus.count for bus in buses.tie if isinstance(bus, ResourceClass)) == 3
        assert buses.gain == pytest.approx(8 / 7, rel=1e-9)
