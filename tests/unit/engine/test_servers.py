"""Servers whose answers are known: who shares which link, and which way traffic goes."""

from __future__ import annotations

import pytest

from designer.design.document import Policy, replaced, with_changes
from designer.design.peers import degraded_links
from designer.engine.network import build_network
from designer.errors import AnalysisError, DocumentError
from designer.formulas.transfer._constants import PCIE_BOTH_DIRECTIONS
from designer.formulas.transfer.pcie_rate import pcie_rate
from designer.interchange.templates import open_design
from tests.unit.engine.small_designs import draw, paths, rates, server, shares, study, transfer, way

NVLINKS = [f"gpu{g} nvsw{k}: nvlink {n}* 25 GB/s" for g in range(4) for k, n in enumerate((4, 5, 5, 4))]


class TestPcieSwitch:
    """Two GPUs and two NICs below one switch."""

    lines = (
        "cpu0 mem0: memory_bus 300 GB/s",
        "cpu0 psw0: pcie 4x16",
        "psw0 gpu0: pcie 4x16",
        "psw0 gpu1: pcie 4x16",
        "psw0 nic0: pcie 4x16",
        "psw0 nic1: pcie 4x16",
        "nic0 sw0: ethernet 200 Gb/s",
        "nic1 sw0: ethernet 200 Gb/s",
        "store0 sw0: ethernet 8* 200 Gb/s",
    )

    def test_host_traffic_of_both_gpus_shares_the_uplink_each_way(self):
        design = draw(*self.lines)
        alone = rates(design, "mem0", "gpu0")["mem0->gpu0"]
        down = rates(design, "memory", "gpus")
        assert list(down.values()) == pytest.approx([alone / 2] * 2)
        both = transfer(design, "memory", "gpus", both_ways=True)
        kept = PCIE_BOTH_DIRECTIONS[4]
        assert both.rate == pytest.approx([kept.value * alone / 2] * 4)
        assert [b.id for b in both.binding] == ["both:cpu0--psw0:ab"]
        assert both.binding[0].gain_if_doubled == pytest.approx(1 / kept.value)
        assert {b.id for b in both.next} >= {"cpu0--psw0:ab", "cpu0--psw0:ba"}

    def test_nics_and_gpus_share_the_uplink_too(self):
        """From memory to GPUs and out of the NICs at once: four flows over one uplink."""
        design = draw(*self.lines)
        alone = rates(design, "mem0", "gpu0")["mem0->gpu0"]
        assert list(rates(design, "memory", "gpus,nics", pairing="all").values()) == pytest.approx([alone / 4] * 4)

    def test_peers_below_one_switch_leave_the_uplink_alone(self):
        design = draw(*self.lines)
        assert way(design, "gpu0", "gpu1") == ["psw0--gpu0:ba", "psw0--gpu1:ab"]
        assert way(design, "gpu0", "nic1") == ["psw0--gpu0:ba", "psw0--nic1:ab"]
        remote = transfer(design, "store0", "gpus", pairing="all")
        assert all("cpu0--psw0" not in c for f in remote.flows for c in f.via)

    def test_access_control_sends_peers_to_the_root(self):
        design = draw(*self.lines, policy=Policy(pcie_acs=True))
        assert way(design, "gpu0", "gpu1") == ["psw0--gpu0:ba", "cpu0--psw0:ba", "cpu0--psw0:ab", "psw0--gpu1:ab"]
        # Only peers turn: traffic of the host goes the way it went.
        assert way(design, "mem0", "gpu1") == ["cpu0--mem0:ba", "cpu0--psw0:ab", "psw0--gpu1:ab"]

    def test_access_control_below_cascaded_switches(self):
        lines = ["cpu0 psw0: pcie 4x16", "psw0 psw1: pcie 4x16", "psw1 gpu0: pcie 4x16", "psw1 gpu1: pcie 4x16"]
        assert "cpu0--psw0:ba" in way(draw(*lines, policy=Policy(pcie_acs=True)), "gpu0", "gpu1")
        assert way(draw(*lines), "gpu0", "gpu1") == ["psw1--gpu0:ba", "psw1--gpu1:ab"]


class TestDuplex:
    @pytest.mark.parametrize("generation", [3, 4, 5])
    def test_copies_both_ways_leave_each_other_less_of_a_pcie_link(self, generation: int):
        design = draw("cpu0 mem0: memory_bus 300 GB/s", f"cpu0 gpu0: pcie {generation}x16")
        one, both = transfer(design, "mem0", "gpu0"), transfer(design, "mem0", "gpu0", both_ways=True)
        kept = PCIE_BOTH_DIRECTIONS[generation]
        assert both.rate == pytest.approx([kept.value * one.rate[0]] * 2)
        assert both.low[0] <= kept.low * one.rate[0] < both.rate[0] < kept.high * one.rate[0] <= both.high[0]
        assert [b.label for b in both.binding] == ["cpu0 ↔ gpu0 (pcie), both ways at once"]

    def test_nothing_opposite_leaves_a_link_as_it_was(self):
        design = draw("cpu0 mem0: memory_bus 300 GB/s", "cpu0 gpu0: pcie 4x16", "cpu0 gpu1: pcie 4x16")
        alone = rates(design, "mem0", "gpu0")["mem0->gpu0"]
        assert list(rates(design, "mem0", "gpus").values()) == pytest.approx([alone] * 2)

    def test_an_accelerator_link_carries_both_directions_in_full(self):
        design = draw("gpu0 gpu1: nvlink 100 GB/s")
        one, both = rates(design, "gpu0", "gpu1"), rates(design, "gpu0", "gpu1", both_ways=True)
        assert both["gpu0->gpu1"] == both["gpu1->gpu0"] == pytest.approx(one["gpu0->gpu1"])

    def test_a_nic_keeps_its_line_both_ways(self):
        lines = ("cpu0 gpu0: pcie 5x16", "cpu0 nic0: pcie 5x16", "nic0 sw0: ethernet 100 Gb/s")
        design = draw(*lines, "cpu1 gpu1: pcie 5x16", "cpu1 nic1: pcie 5x16", "nic1 sw0: ethernet 100 Gb/s")
        one, both = rates(design, "gpu0", "gpu1"), rates(design, "gpu0", "gpu1", both_ways=True)
        assert both["gpu0->gpu1"] == pytest.approx(one["gpu0->gpu1"])

    def test_a_memory_bus_shares_reads_and_writes(self):
        design = draw("cpu0 mem0: memory_bus 40 GB/s", "cpu0 gpu0: pcie 5x16")
        one, both = transfer(design, "mem0", "gpu0"), transfer(design, "mem0", "gpu0", both_ways=True)
        assert both.rate == pytest.approx([one.rate[0] / 2] * 2)
        assert [b.id for b in both.binding] == ["cpu0--mem0:ab"]
        bus = [c for c in study(design, "transfer", both_ways=True)[0].channels if c.kind == "memory_bus"]
        assert [c.utilization for c in bus] == pytest.approx([1.0, 1.0])


class TestMemoryStop:
    """Remote data lands in host memory where there is no direct path: the bus carries it twice."""

    lines = (
        "cpu0 mem0: memory_bus 40 GB/s",
        "cpu0 gpu0: pcie 5x16",
        "cpu0 nic0: pcie 5x16",
        "nic0 sw0: ethernet 400 Gb/s",
        "store0 sw0: ethernet 400 Gb/s",
    )

    def test_the_bus_is_used_twice(self):
        bus = shares(draw(*self.lines), "mem0", "gpu0")["cpu0--mem0:ba"]
        assert bus == 1.0
        design = draw(*self.lines, policy=Policy(gpudirect=False))
        through = transfer(design, "store0", "gpu0")
        reference = rates(design, "mem0", "gpu0")["mem0->gpu0"]
        assert through.rate[0] == pytest.approx(reference / 2)
        assert [b.id for b in through.binding] == ["cpu0--mem0:ab"]
        assert through.flows[0].via == (
            "store0--sw0:ab",
            "nic0--sw0:ba",
            "cpu0--nic0:ba",
            "cpu0--mem0:ab",
            "cpu0--mem0:ba",
            "cpu0--gpu0:ab",
        )

    def test_not_at_all_with_a_direct_path(self):
        direct = transfer(draw(*self.lines), "store0", "gpu0")
        assert not any("mem0" in c for c in direct.flows[0].via)
        assert direct.rate[0] > rates(draw(*self.lines), "mem0", "gpu0")["mem0->gpu0"]

    def test_in_the_memory_of_the_own_socket(self):
        design = draw(
            *server(), "nic0 sw0: ethernet 400 Gb/s", "store0 sw0: ethernet 400 Gb/s", policy=Policy(gpudirect=False)
        )
        via = transfer(design, "store0", "gpu2").flows[0].via
        assert "cpu1--mem1:ab" in via
        assert "cpu1--mem1:ba" in via
        assert not any("mem0" in c for c in via)


class TestSockets:
    def test_memory_beyond_the_socket_link(self):
        design = draw(*server("upi 20 GB/s"))
        assert way(design, "mem0", "gpu2")[:2] == ["cpu0--mem0:ba", "cpu0--cpu1:ab"]
        far = transfer(design, "mem0", "gpu2,gpu3", pairing="pairs")
        assert {b.id for b in far.binding} == {"cpu0--cpu1:ab"}
        assert far.rate[0] == pytest.approx(far.rate[1])
        # A wide socket link does no harm: the uplink binds as it does for near memory.
        assert {b.id for b in transfer(draw(*server()), "mem0", "gpu2,gpu3", pairing="pairs").binding} == {
            "cpu1--psw1:ab"
        }

    def test_each_gpu_reads_its_own_memory_by_itself(self):
        assert set(rates(draw(*server()), "memory", "gpus")) == {
            "mem0->gpu0",
            "mem0->gpu1",
            "mem1->gpu2",
            "mem1->gpu3",
        }

    def test_all_traffic_into_one_nic(self):
        """NUMA: the near GPUs get more than the far ones once the socket link is slow."""
        lines = [*server("upi 10 GB/s"), "nic0 sw0: ethernet 400 Gb/s", "store0 sw0: ethernet 800 Gb/s"]
        got = transfer(draw(*lines), "store0", "gpus")
        near, far = got.rate[:2], got.rate[2:]
        assert near[0] == pytest.approx(near[1])
        assert far[0] == pytest.approx(far[1])
        assert near[0] > 1.5 * far[0]
        assert {b for f in got.flows[2:] for b in f.bound_by} == {"cpu0--cpu1:ab"}
        harmless = transfer(draw(*[line.replace("upi 10 GB/s", "upi 75 GB/s") for line in lines]), "store0", "gpus")
        assert harmless.rate == pytest.approx([harmless.rate[0]] * 4)


class TestNvlink:
    def test_shares_over_switches_follow_the_links(self):
        found = shares(draw(*NVLINKS), "gpu0", "gpu3")
        for k, links in enumerate((4, 5, 5, 4)):
            assert found[f"gpu0--nvsw{k}:ab"] == pytest.approx(links / 18)
            assert found[f"gpu3--nvsw{k}:ba"] == pytest.approx(links / 18)

    def test_switches_have_no_limit_of_their_own(self):
        """All pairs at once: every GPU still sends what its links carry."""
        design = draw(*NVLINKS)
        one = transfer(design, "gpu0", "gpu1").rate[0]
        shifted = transfer(design, "gpus", "gpus", pairing="shift")
        assert shifted.rate == pytest.approx([one] * 4)

    def test_a_lost_link_slows_the_ring(self):
        whole = study(draw(*NVLINKS), "collective")[1]
        broken = [line.replace("5* 25", "4* 25") if line.startswith("gpu2 nvsw1") else line for line in NVLINKS]
        worse = study(draw(*broken), "collective")[1]
        before, after = (w.metrics["bus_bandwidth"].value for w in (whole, worse))
        assert after < before * 0.99
        assert any("gpu2--nvsw" in b.id for b in worse.binding)

    def test_pairs_without_a_link_go_through_the_host(self):
        design = open_design("dgx1-v100")
        via = way(design, "gpu0", "gpu5")
        assert via == ["psw0--gpu0:ba", "cpu0--psw0:ba", "cpu0--cpu1:ab", "cpu1--psw2:ab", "psw2--gpu5:ab"]
        assert way(design, "gpu0", "gpu3") == ["gpu0--gpu3:ab"]

    def test_or_through_a_neighbour_where_the_policy_says_so(self):
        design = with_changes(open_design("dgx1-v100"), policy=Policy(relay_through_gpu=True))
        found = shares(design, "gpu0", "gpu5")
        assert set(found) == {"gpu0--gpu4:ab", "gpu4--gpu5:ab", "gpu0--gpu1:ab", "gpu1--gpu5:ab"}
        # Traffic is conserved at the neighbours although their bundles differ.
        assert found["gpu0--gpu4:ab"] == pytest.approx(found["gpu4--gpu5:ab"])
        assert sum(found.values()) == pytest.approx(2.0)
        assert way(design, "gpu0", "gpu3") == ["gpu0--gpu3:ab"]

    def test_traffic_never_passes_through_a_nic_or_memory(self):
        lines = ["cpu0 gpu0: pcie 5x16", "cpu0 nic0: pcie 5x16", "cpu1 nic0: pcie 5x16", "cpu1 gpu1: pcie 5x16"]
        with pytest.raises(AnalysisError, match="no way from gpu0 to gpu1"):
            rates(draw(*lines), "gpu0", "gpu1")


class TestSlots:
    remote = ("nic0 sw0: infiniband 400 Gb/s", "nic1 sw0: infiniband 400 Gb/s")

    def test_a_400g_card_in_a_gen4_slot_is_held_by_the_slot(self):
        lines = [
            "cpu0 mem0: memory_bus 300 GB/s",
            "cpu0 nic0: pcie 4x16",
            "nic0 sw0: infiniband 400 Gb/s",
            "store0 sw0: infiniband 800 Gb/s",
        ]
        found, result = study(draw(*lines), "transfer", **{"from": "store0", "to": "mem0"})
        assert [b.id for b in result.binding] == ["cpu0--nic0:ba"]
        assert "31.5 GB/s raw" in result.binding[0].why
        slot = next(c for c in found.channels if c.id == "cpu0--nic0:ba")
        assert slot.capacity == pytest.approx(pcie_rate(4, 16)) == pytest.approx(31.5e9, rel=1e-3)
        assert result.metrics["rate"].value < slot.capacity

    def test_a_card_at_half_its_lanes_is_found_beside_its_twin_and_slows_its_rail(self):
        design = open_design("hgx-h100-8")
        # An assumed speed would prove nothing; these are as read from the machine.
        read = [with_changes(x, status="primary") for x in design.links.values() if x.kind == "pcie"]
        design = with_changes(design, links=replaced(design.links, read))
        link = next(x for x in design.links.values() if "nic" in x.a + x.b and x.kind == "pcie" and x.lanes == 16)
        slow = with_changes(design, links=replaced(design.links, [with_changes(link, lanes=8)]))
        assert not [f for f in degraded_links(design) if f.code == "LINK-DEGRADED"]
        (finding,) = [f for f in degraded_links(slow) if f.code == "LINK-DEGRADED"]
        assert link.id in finding.where
        nic = next(end for end in (link.a, link.b) if "nic" in end)
        half, whole = (transfer(d, "memory", nic, pairing="all").rate.sum() for d in (slow, design))
        assert half == pytest.approx(whole / 2, rel=0.1)


class TestTemplates:
    def test_dgx2_has_one_x16_for_four_gpus(self):
        design = open_design("dgx2")
        answer = transfer(design, "memory", "gpus")
        alone = transfer(design, "memory0", "gpu0").rate[0]
        assert answer.rate == pytest.approx([alone / 4] * 16)
        assert {b.id for b in answer.binding} == {f"cpu{s}--psw{2 * s + k}:ab" for s in range(2) for k in range(2)}
        assert "shared by 4 flows" in answer.binding[0].why

    def test_dgx_a100_uplinks_are_shared_by_two_gpus_and_two_nics(self):
        design = open_design("dgx-a100")
        answer = transfer(design, "memory", "gpus")
        alone = transfer(design, "memory0", "gpu0").rate[0]
        assert answer.rate == pytest.approx([alone / 2] * 8)
        network = build_network(design)
        uplink = answer.flows[0].bound_by[0]
        nics = [p for p in design.parts.values() if p.kind == "nic"]
        routes = paths(network, [("memory0", nic.id) for nic in nics])
        over = {
            nics[f].id
            for f, c in zip(routes.flow.tolist(), routes.channel.tolist(), strict=True)
            if network.channel_id(c) == uplink
        }
        assert len(over) == 2


class TestStorage:
    lines = (
        "cpu0 mem0: memory_bus 300 GB/s",
        "cpu0 gpu0: pcie 5x16",
        "cpu0 gpu1: pcie 5x16",
        "cpu0 nic0: pcie 5x16",
        "nic0 sw0: ethernet 400 Gb/s",
        "store0 sw0: ethernet 4* 400 Gb/s",
    )

    def test_a_mount_limits_each_client(self):
        limits = {"store0": {"client_read_bandwidth": "5 GB/s", "read_bandwidth": "100 GB/s"}}
        answer = transfer(draw(*self.lines, values=limits), "store0", "gpus")
        assert answer.rate == pytest.approx([2.5e9] * 2)
        assert [(b.what, b.id) for b in answer.binding] == [("limit", "client:store0")]
        free = transfer(draw(*self.lines), "store0", "gpus")
        assert free.rate[0] > 4 * answer.rate[0]

    def test_reads_and_writes_share_the_media_at_their_own_speeds(self):
        media = {"store0": {"read_bandwidth": "8 GB/s", "write_bandwidth": "4 GB/s"}}
        design = draw(*self.lines, values=media)
        assert rates(design, "store0", "gpu0")["store0->gpu0"] == pytest.approx(8e9)
        assert rates(design, "gpu0", "store0")["gpu0->store0"] == pytest.approx(4e9)
        mixed = transfer(design, "store0", "gpu0", both_ways=True)
        # r/8 + r/4 = 1
        assert mixed.rate == pytest.approx([8e9 / 3] * 2)
        assert [(b.what, b.id) for b in mixed.binding] == [("part", "store0")]

    def test_a_drive_of_the_server(self):
        design = draw(
            "cpu0 mem0: memory_bus 300 GB/s",
            "cpu0 ssd0: pcie 4x4",
            "cpu0 gpu0: pcie 5x16",
            values={"ssd0": {"read_bandwidth": "3 GB/s"}},
        )
        answer = transfer(design, "drives", "gpus")
        assert answer.rate == pytest.approx([3e9])
        assert answer.binding[0].what == "part"


class TestNoWay:
    def test_all_lost_is_an_error_with_a_remedy(self):
        with pytest.raises(AnalysisError, match="no way from gpu0 to gpu1") as refusal:
            rates(draw("cpu0 gpu0: pcie 5x16", "cpu1 gpu1: pcie 5x16"), "gpu0", "gpu1")
        assert refusal.value.remedy
        assert refusal.value.place == "t"

    def test_some_lost_is_a_finding(self):
        design = draw("cpu0 mem0: memory_bus 300 GB/s", "cpu0 gpu0: pcie 5x16", "cpu1 gpu1: pcie 5x16")
        answer = transfer(design, "mem0", "gpus")
        (finding,) = answer.findings
        assert (finding.code, str(finding.severity), finding.where) == ("FLOW-NO-WAY", "error", ("gpu1",))
        assert finding.remedy
        assert answer.rate[1] == 0
        assert answer.rate[0] > 0

    def test_collectives_need_all_ranks(self):
        with pytest.raises(AnalysisError, match="no way") as refusal:
            study(draw("cpu0 gpu0: pcie 5x16", "cpu1 gpu1: pcie 5x16"), "collective")
        assert refusal.value.remedy
        assert refusal.value.place == "workloads.w"

    @pytest.mark.parametrize("selector", ["gpu9", "racks[*]/gpu*", "nics", "gpu*[", ""])
    def test_selectors_that_name_nothing(self, selector: str):
        with pytest.raises(AnalysisError) as refusal:
            rates(draw("cpu0 mem0: memory_bus 300 GB/s", "cpu0 gpu0: pcie 5x16"), "mem0", selector)
        assert refusal.value.place == "t.to"

    def test_a_link_to_nowhere(self):
        design = draw("cpu0 gpu0: pcie 5x16")
        broken = with_changes(design, parts={k: p for k, p in design.parts.items() if k != "gpu0"})
        with pytest.raises(DocumentError, match="gpu0"):
            build_network(broken)
