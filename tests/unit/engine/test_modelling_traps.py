"""Mistakes that models of AI servers are known for, each on a drawn design that catches it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from designer.design.document import Policy, with_changes
from designer.engine.network import build_network
from designer.errors import AnalysisError, DesignerError
from designer.families.collective.evaluation import make_communicator
from tests.designs import one_server, one_unit, pods
from tests.unit.engine.small_designs import draw, rates, server, shares, study, transfer, way

SOCKETS = ("cpu0 mem0: memory_bus 900 GB/s", "cpu1 mem1: memory_bus 900 GB/s", "cpu2 mem2: memory_bus 900 GB/s")


def test_1_a_collective_is_one_activity_not_a_flow_per_hop():
    """Hops in lockstep: the slow one holds all of them, and the fast ones do not run ahead."""
    ring = [f"gpu{i} gpu{(i + 1) % 4}: nvlink {1 if i == 2 else 4}* 25 GB/s" for i in range(4)]
    answer = study(draw(*ring), "collective", algorithm="ring")[1]
    assert len({round(f.rate) for f in answer.flows}) == 1
    network = build_network(draw(*ring))
    group = make_communicator(network, network.parts_of_kind("gpu"), "w")
    assert group.inside is not None
    assert group.inside.n_legs > 1
    # Both directions of the ring are used, 25 GB/s each through the slow link.
    assert group.inside.rate == pytest.approx(50e9)
    assert {b.id for b in answer.binding} == {"gpu2--gpu3:ab", "gpu2--gpu3:ba"}


def test_2_fairness_not_the_greatest_sum():
    """A flow over two socket links and one over each: all three get half, though starving the long one moves more."""
    design = draw(*SOCKETS, "cpu0 cpu1: upi 40 GB/s", "cpu1 cpu2: upi 40 GB/s")
    found = rates(design, "mem0,mem0,mem1", "mem2,mem1,mem2", pairing="all")
    long, one, two = found["mem0->mem2"], found["mem0->mem1"], found["mem1->mem2"]
    assert long == pytest.approx(one) == pytest.approx(two)
    assert long > 0.3 * 40e9


def test_3_a_link_per_direction_a_bus_for_both():
    design = draw("cpu0 mem0: memory_bus 60 GB/s", "cpu0 gpu0: pcie 5x16")
    network = build_network(design)
    full = dict(zip(design.links, network.full.tolist(), strict=True))
    assert full == {"cpu0--mem0": False, "cpu0--gpu0": True}
    one, both = (transfer(design, "mem0", "gpu0", both_ways=b).rate for b in (False, True))
    assert both.sum() < 60e9
    assert 2 * one[0] > 60e9


def test_4_memory_is_crossed_twice_without_a_direct_path():
    policy = Policy(gpudirect=False)
    lines = [*server(), "nic0 sw0: infiniband 400 Gb/s", "store0 sw0: infiniband 400 Gb/s"]
    stop, direct = draw(*lines, policy=policy), draw(*lines)
    carried = {c.id: c.load for c in study(stop, "transfer", **{"from": "store0", "to": "gpu0"})[0].channels}
    assert carried["cpu0--mem0:ab"] == pytest.approx(carried["cpu0--mem0:ba"]) != 0
    assert carried["cpu0--mem0:ab"] == pytest.approx(transfer(stop, "store0", "gpu0").rate[0])
    none = {c.id: c.load for c in study(direct, "transfer", **{"from": "store0", "to": "gpu0"})[0].channels}
    assert none["cpu0--mem0:ab"] == none["cpu0--mem0:ba"] == 0


def test_5_one_uplink_for_all_below_a_switch_and_none_for_peers():
    design = draw(*server())
    alone, down = transfer(design, "mem0", "gpu0").rate[0], transfer(design, "mem0", "gpu0,gpu1", pairing="all").rate
    assert_allclose(down, alone / 2)
    assert not any("cpu0" in c for c in way(design, "gpu0", "gpu1"))
    # PCIe overhead is taken once: payload below raw, channel full.
    assert alone < 63.02e9
    channels = study(design, "transfer", **{"from": "mem0", "to": "gpu0"})[0].channels
    assert max(c.utilization for c in channels) == pytest.approx(1.0)


def test_6_the_other_socket_costs_the_socket_link():
    slow, wide = draw(*server("upi 15 GB/s")), draw(*server("upi 75 GB/s"))
    near = rates(slow, "mem0", "gpu0,gpu1", pairing="all")
    far = rates(slow, "mem0", "gpu2,gpu3", pairing="all")
    assert sum(far.values()) < 15e9 < sum(near.values())
    assert sum(rates(wide, "mem0", "gpu2,gpu3", pairing="all").values()) > 3 * sum(far.values())


def test_7_fixed_shares_over_the_nvswitches():
    found = shares(one_server(), "gpu0", "gpu7")
    assert [found[f"gpu0--nvsw{k}:ab"] * 18 for k in range(4)] == pytest.approx([4, 5, 5, 4])


def test_8_in_network_reduction_sends_each_byte_once():
    """Bytes per GPU port: ring 2(n−1)/n, in the switch about 1 + 1/n."""
    lines = [f"gpu{g} nvsw{k}: nvlink {n}* 25 GB/s" for g in range(8) for k, n in enumerate((4, 5, 5, 4))]
    hopper = {f"gpu{g}": {"compute_capability": "9.0"} for g in range(8)}
    reducing = hopper | {f"nvsw{k}": {"in_switch_reduction": True} for k in range(4)}
    plain = hopper | {f"nvsw{k}": {"in_switch_reduction": False} for k in range(4)}
    with_it, without = (study(draw(*lines, values=v), "collective", size="8 GiB")[1].metrics for v in (reducing, plain))
    assert with_it["algorithm_bandwidth"].note.startswith("nvls")
    assert with_it["algorithm_bandwidth"].value > 1.2 * without["algorithm_bandwidth"].value
    ratio = without["bus_bandwidth"].value / without["algorithm_bandwidth"].value
    assert ratio == pytest.approx(2 * 7 / 8)


def test_9_gpus_nics_and_memory_are_ends():
    """The shortest way from socket to socket would lead through a GPU's NVLink or a two-homed NIC."""
    lines = [
        "cpu0 gpu0: pcie 5x16",
        "cpu1 gpu1: pcie 5x16",
        "gpu0 gpu1: nvlink 4* 25 GB/s",
        "cpu0 nic0: pcie 5x8",
        "cpu1 nic0: pcie 5x8",
        "cpu0 mem0: memory_bus 300 GB/s",
        "cpu1 mem1: memory_bus 300 GB/s",
    ]
    with pytest.raises(AnalysisError, match="no way"):
        rates(draw(*lines), "mem0", "mem1")
    assert way(draw(*lines, "cpu0 cpu1: upi 30 GB/s"), "mem0", "mem1") == [
        "cpu0--mem0:ba",
        "cpu0--cpu1:ab",
        "cpu1--mem1:ab",
    ]


class Test10Spread:
    """An even split is what hashing promises on average; what flows get is less."""

    @staticmethod
    def shifted(policy: Policy) -> np.ndarray:
        design = with_changes(pods(4), policy=policy)
        return transfer(design, "gpus", "gpus", pairing="shift").rate

    def test_hashing_is_worse_than_an_even_split_and_repeats(self):
        even, hashed = self.shifted(Policy()), self.shifted(Policy(ecmp="hash", hash_seed=1))
        assert np.ptp(even) < 1e-6 * even.mean()
        assert hashed.min() < 0.6 * even.min()
        assert hashed.mean() < even.mean()
        assert np.array_equal(hashed, self.shifted(Policy(ecmp="hash", hash_seed=1)))

    def test_seeds_give_other_draws_of_one_distribution(self):
        found = [self.shifted(Policy(ecmp="hash", hash_seed=s)) for s in range(6)]
        assert len({f.tobytes() for f in found}) == 6
        means = np.array([f.mean() for f in found])
        assert means.std() < 0.05 * means.mean()


def test_11_next_hops_are_split_not_paths():
    """Of two spines the first has one way down, the second two: half and half, not 1/3 and 2/3."""
    lines = [
        "cpu0 nic0: pcie 5x16",
        "cpu0 mem0: memory_bus 900 GB/s",
        "cpu1 nic1: pcie 5x16",
        "cpu1 mem1: memory_bus 900 GB/s",
        "nic0 leaf0: ethernet 400 Gb/s",
        "nic1 leaf3: ethernet 400 Gb/s",
    ]
    fabric = [
        "leaf0 spine0",
        "leaf0 spine1",
        "spine0 core0",
        "spine1 core1",
        "spine1 core2",
        "core0 leaf3",
        "core1 leaf3",
        "core2 leaf3",
    ]
    found = shares(draw(*lines, *(f"{pair}: ethernet 400 Gb/s" for pair in fabric)), "mem0", "mem1")
    assert found["leaf0--spine0:ab"] == found["leaf0--spine1:ab"] == 0.5
    assert found["core0--leaf3:ab"] == 0.5
    assert found["core1--leaf3:ab"] == found["core2--leaf3:ab"] == 0.25


def test_12_latency_and_bandwidth_are_both_reported():
    small, large = (study(one_unit(8), "collective", size=s)[1] for s in ("8 B", "8 GiB"))
    assert [b.id for b in small.binding] == ["latency"]
    assert "latency" not in {b.id for b in large.binding}
    assert small.metrics["communication_time"].value > 1e-6
    assert small.metrics["bus_bandwidth"].value < 1e-4 * large.metrics["bus_bandwidth"].value
    times = [study(one_unit(n), "collective", size="8 B", algorithm="ring")[1] for n in (8, 32)]
    short, long = (t.metrics["communication_time"].value for t in times)
    assert long > 2.5 * short  # steps grow with the ranks


def test_13_the_tied_set_and_what_comes_next():
    lines = [
        "cpu0 mem0: memory_bus 900 GB/s",
        "cpu0 nic0: pcie 5x16",
        "cpu1 nic1: pcie 5x16",
        "cpu1 mem1: memory_bus 900 GB/s",
        "nic0 sw0: infiniband 200 Gb/s",
        "nic1 sw0: infiniband 200 Gb/s",
    ]
    design = draw(*lines)
    answer = transfer(design, "mem0", "mem1")
    assert {b.id for b in answer.binding} == {"nic0--sw0:ab", "nic1--sw0:ba"}
    assert [b.gain_if_doubled for b in answer.binding] == [1.0, 1.0]
    assert answer.binding[0].gain_together == pytest.approx(2.0)  # PCIe gives 55 GB/s, more than twice 200 Gb/s
    assert not answer.next
    # of twice 400 Gb/s it is in the way
    faster = transfer(draw(*(line.replace("200 Gb/s", "400 Gb/s") for line in lines)), "mem0", "mem1")
    assert {b.id for b in faster.binding} == {b.id for b in answer.binding}
    assert 1 < (faster.binding[0].gain_together or 0) < 1.3
    assert {b.id for b in faster.next} == {"cpu0--nic0:ab", "cpu1--nic1:ba"}


def test_14_parallel_cables_are_one_bundle_or_single_cables():
    lines = [
        "cpu0 mem0: memory_bus 900 GB/s",
        "cpu0 nic0: pcie 6x16",
        "cpu1 nic1: pcie 6x16",
        "cpu1 mem1: memory_bus 900 GB/s",
        "nic0 leaf0: ethernet 8* 100 Gb/s",
        "leaf0 leaf1: ethernet 4* 100 Gb/s",
        "nic1 leaf1: ethernet 8* 100 Gb/s",
    ]
    bundle = transfer(draw(*lines), "mem0", "mem1").rate[0]
    cable = transfer(draw(*lines, policy=Policy(ecmp="hash")), "mem0", "mem1").rate[0]
    assert bundle == pytest.approx(4 * cable)
    assert cable < 12.5e9


class Test15Numbers:
    def test_arrays_cannot_be_changed_behind_the_engine(self):
        design = one_server()
        before = transfer(design, "memory", "gpus").rate
        network = build_network(design)
        for array in (network.net.link_a, network.net.link_b, network.net.part_def):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
        assert np.array_equal(before, transfer(design, "memory", "gpus").rate)

    @pytest.mark.parametrize("rate", ["0 Gb/s", "-5 GB/s", "nan GB/s", "inf GB/s", "five GB/s", "5 GiB", "5"])
    def test_speeds_that_are_none_are_refused(self, rate: str):
        from pydantic import ValidationError

        from designer.design.document import Link

        with pytest.raises((ValidationError, DesignerError)):
            Link(id="x", a="a", b="b", kind="ethernet", bandwidth_per_direction=rate)

    def test_extreme_but_lawful_speeds(self):
        design = draw("cpu0 mem0: memory_bus 1000000 TB/s", "cpu0 gpu0: pcie 1 B/s", "cpu0 gpu1: pcie 5x16")
        found = rates(design, "mem0", "gpus")
        assert 0 < found["mem0->gpu0"] <= 1
        assert found["mem0->gpu1"] > 10e9


def test_16_what_steady_rates_leave_out_is_said():
    (finding,) = [f for f in study(one_unit(2), "transfer")[0].findings if f.code == "FLOW-STEADY"]
    assert "queueing" in finding.text
    assert "incast" in finding.text


def test_a_cable_is_no_faster_than_the_nic_at_its_end():
    """The NIC of one host is exchanged for a slower one; the switch and its cables stay as they were drawn."""
    lines = (
        "cpu0 mem0: memory_bus 300 GB/s",
        "cpu1 mem1: memory_bus 300 GB/s",
        "cpu0 nic0: pcie 5x16",
        "cpu1 nic1: pcie 5x16",
        "nic0 sw: infiniband 400 Gb/s",
        "nic1 sw: infiniband 400 Gb/s",
    )

    def rate(**values: dict[str, object]) -> float:
        return float(transfer(draw(*lines, values=values), "mem0", "mem1").rate.sum())

    drawn = rate()
    assert rate(nic0={"bandwidth_per_direction": "400 Gb/s"}) == pytest.approx(drawn)
    assert rate(nic0={"bandwidth_per_direction": "100 Gb/s"}) == pytest.approx(drawn / 4)
    with pytest.raises(AnalysisError, match="no bandwidth"):
        rate(nic0={"bandwidth_per_direction": "0 GB/s"})
