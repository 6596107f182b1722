"""Variants of designs written as data: clusters of a server, links that follow new types, what goes and what comes."""

from __future__ import annotations

from typing import Any

import pytest

from designer.analysis.study import analyze
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design


def variant(template: str, **changes: Any) -> Design:
    return apply_changes(open_design(template), changes, "case")


def metric(design: Design, kind: str, name: str, **settings: Any) -> float:
    spec = WorkloadSpec(id="w", kind=kind, settings=settings)
    asked = with_changes(design, workloads=[spec], default_workload="", assertions=[])
    return analyze(asked, curves=False).workloads[0].metrics[name].value


def bus(design: Design, size: str = "8 GiB", **settings: Any) -> float:
    return metric(design, "collective", "bus_bandwidth", size=size, **settings)


class TestClusters:
    def test_servers_are_joined_at_the_rate_of_their_nics(self) -> None:
        drawn = variant("dgx-h100", servers=4)
        assert drawn.groups["servers"].replicas == 4
        rates = {w.bandwidth_per_direction for w in drawn.wirings.values()}
        assert rates == {"400 Gb/s"}
        assert len(drawn.wirings) == 8, "storage NICs stay out of it"
        between = metric(drawn, "transfer", "rate", **{"from": "servers[0]/gpu0", "to": "servers[3]/gpu0"})
        assert 0.9 * 50e9 < between < 50e9

    def test_the_network_is_chosen(self) -> None:
        asked = {"count": 2, "nics": "nic0", "bandwidth": "100 Gb/s", "kind": "ethernet", "technology": "EFA"}
        drawn = variant("dgx-h100", servers=asked)
        (wiring,) = drawn.wirings.values()
        assert (wiring.kind, wiring.bandwidth_per_direction) == ("ethernet", "100 Gb/s")
        assert wiring.attributes == {"technology": "EFA"}

    def test_a_cluster_gets_another_number_of_servers(self) -> None:
        assert variant("su-h100-32", servers=5).groups["servers"].replicas == 5

    def test_shared_storage_is_not_repeated(self) -> None:
        drawn = variant("hpe-apollo-6500-parallel-storage", servers=3)
        assert "switch" in drawn.parts
        assert set(drawn.groups) >= {"servers"}
        assert not any(p.kind in ("switch", "storage") for p in drawn.groups["servers"].content.parts.values())

    def test_one_server_is_the_server_itself(self) -> None:
        assert variant("dgx-h100", servers=1) == open_design("dgx-h100")


class TestRanksThatLeave:
    """Between servers those ranks send that are nearest to the NICs, as the library's rings leave there."""

    gone = [f"nic{k}" for k in range(1, 8)]

    def test_one_nic_carries_its_line_although_most_ranks_are_far(self) -> None:
        one = variant("hgx-a100-8", remove=self.gone, servers={"count": 12, "bandwidth": "200 Gb/s"})
        assert 0.85 * 25e9 < bus(one) < 25e9

    def test_every_nic_is_used_where_each_has_ranks_near(self) -> None:
        eight = variant("hgx-a100-8", servers={"count": 12, "bandwidth": "200 Gb/s"})
        four = variant("hgx-a100-8", remove=self.gone[::2], servers={"count": 12, "bandwidth": "200 Gb/s"})
        assert 1.5 < bus(eight) / bus(four) < 2.1

    def test_a_nic_at_the_processor_is_slower_than_one_at_the_switch(self) -> None:
        at_cpu = variant(
            "hgx-a100-8",
            remove=["nic0", *self.gone],
            add={
                "parts": [{"id": "nic8", "type": "nic/nvidia/connectx-6"}],
                "links": [{"a": "cpu0", "b": "nic8", "kind": "pcie", "generation": 4, "lanes": 16}],
            },
            servers={"count": 12, "nics": "nic8", "bandwidth": "200 Gb/s"},
        )
        at_switch = variant("hgx-a100-8", remove=self.gone, servers={"count": 12, "bandwidth": "200 Gb/s"})
        assert 0.5 < bus(at_cpu) / bus(at_switch) < 0.8


class TestNewTypes:
    def test_accelerator_links_carry_what_the_new_type_has(self) -> None:
        before, after = bus(open_design("hgx-a100-8")), bus(variant("hgx-a100-8", parts={"gpu*": {"type": A800}}))
        assert after / before == pytest.approx(200 / 300, rel=0.03)

    def test_a_mesh_is_scaled_once(self) -> None:
        drawn = variant("mi300x-platform", parts={"gpu*": {"type": "gpu/amd/mi355x"}})
        (rate,) = {x.bandwidth_per_direction for x in drawn.links.values() if x.kind == "xgmi"}
        assert rate == "76.5 GB/s"

    def test_network_links_run_at_the_port_of_the_new_nic(self) -> None:
        drawn = variant("su-h100-32", parts={"servers/nic*": {"type": "nic/generic/ethernet-100g"}})
        rails = drawn.wirings["rails"]
        assert rails.bandwidth_per_direction == "100 Gb/s"
        assert drawn.wirings["storage_rails"].bandwidth_per_direction == "400 Gb/s"

    def test_what_the_switch_cannot_do_is_not_done(self) -> None:
        drawn = variant("su-h100-32", parts={"servers/nic*": {"type": "nic/generic/ethernet-800g"}})
        assert drawn.wirings["rails"].bandwidth_per_direction == "400 Gb/s"

    def test_what_is_said_of_the_link_wins(self) -> None:
        drawn = variant(
            "su-h100-32",
            parts={"servers/nic*": {"type": "nic/generic/ethernet-100g"}},
            wirings={"rails": {"bandwidth_per_direction": "200 Gb/s"}},
        )
        assert drawn.wirings["rails"].bandwidth_per_direction == "200 Gb/s"

    def test_an_older_card_runs_at_its_own_generation(self) -> None:
        drawn = variant("dell-r760xa", parts={"gpu*": {"type": "gpu/nvidia/p40"}})
        assert drawn.links["cpu0--gpu0"].generation == 3
        newer = variant("dell-r750xa", parts={"gpu*": {"type": "gpu/nvidia/h100-pcie"}})
        assert newer.links["cpu0--gpu0"].generation == 4

    def test_the_same_type_changes_no_link(self) -> None:
        before = open_design("dgx-h100")
        after = variant("dgx-h100", parts={"gpu*": {"type": "gpu/nvidia/h100-sxm5"}})
        assert after.links == before.links


A800 = "gpu/nvidia/a800-80-sxm4"


class TestMachines:
    def test_machines_come_go_and_change(self) -> None:
        drawn = variant(
            "vsphere-cluster-4", vms={"infer*": None, "web0": {"memory": "32 GiB"}, "new": {"host": "hosts[1]/server"}}
        )
        assert not any(name.startswith("infer") for name in drawn.vms)
        assert drawn.vms["web0"].memory == "32 GiB"
        assert drawn.vms["new"].host == "hosts[1]/server"
