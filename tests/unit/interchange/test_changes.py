"""Variants of designs written as data: clusters of a server, links that follow new types, fields of groups, racks."""

from __future__ import annotations

from typing import Any

import pytest

from designer.analysis.study import analyze
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.design.elaborate import elaborate
from designer.design.query import summarize
from designer.errors import FormatError
from designer.interchange.changes import apply_changes, make_cluster
from designer.interchange.native.reader import load, loads
from designer.interchange.native.writer import dumps
from designer.interchange.overrides import overridden
from designer.interchange.templates import find_template, open_design

# Variants of designs written as data.


def test_values_types_and_links_change_where_they_are_named() -> None:
    design = open_design("hgx-h100-8")
    changed = apply_changes(
        design,
        {
            "parts": {"gpu*": {"type": "gpu/nvidia/h200-sxm"}, "nvme0": {"read_bandwidth": "3 GB/s"}},
            "links": {"psw0--gpu0": {"generation": 4}},
            "policy": {"gpudirect": False},
        },
        "case",
    )
    assert {p.type for p in changed.parts.values() if p.kind == "gpu"} == {"gpu/nvidia/h200-sxm"}
    assert changed.parts["nvme0"].overrides["read_bandwidth"].source == "case"
    assert changed.links["psw0--gpu0"].generation == 4
    assert changed.links["psw1--gpu1"] == design.links["psw1--gpu1"]
    assert not changed.policy.gpudirect
    assert apply_changes(design, {}, "case") is design


def test_groups_grow_and_shrink_and_hold_changes_inside() -> None:
    design = open_design("su-h100-32")
    group = next(g.id for g in design.groups.values() if g.replicas == 32)
    changed = apply_changes(
        design, {"groups": {group: 4}, "parts": {f"{group}/gpu*": {"memory_capacity": "96 GB"}}}, "case"
    )
    assert summarize(changed, None)["parts"]["gpu"] == 32
    wiring = next(iter(design.wirings))
    faster = apply_changes(design, {"wirings": {wiring: {"bandwidth_per_direction": "100 GB/s"}}}, "case")
    assert faster.wirings[wiring].bandwidth_per_direction == "100 GB/s"
    content = changed.groups[group].content
    assert {p.overrides["memory_capacity"].value for p in content.parts.values() if p.kind == "gpu"} == {"96 GB"}


def test_a_name_alone_reaches_into_groups() -> None:
    """As in racks, where trays are groups; nothing outside them is called so."""
    rack = apply_changes(open_design("gb200-nvl72"), {"parts": {"gpu*": {"memory_capacity": "288 GB"}}}, "case")
    parts = [p for group in rack.groups.values() for p in group.content.parts.values()]
    assert {p.overrides["memory_capacity"].value for p in parts if p.kind == "gpu"} == {"288 GB"}
    others = [p.overrides for p in parts if p.kind != "gpu" and "memory_capacity" in p.overrides]
    assert others
    assert "288 GB" not in [stated["memory_capacity"].value for stated in others]
    unit = apply_changes(open_design("su-h100-32"), {"parts": {"gpu*": {"type": "gpu/nvidia/h200-sxm"}}}, "case")
    assert {p.type for p in unit.groups["servers"].content.parts.values() if p.kind == "gpu"} == {"gpu/nvidia/h200-sxm"}


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ([], "changes"),
        ({"weather": {}}, "changes"),
        ({"parts": {"gpu0": []}}, "changes.parts.gpu0"),
        ({"parts": {"gpu99": {"memory_capacity": "1 GB"}}}, "changes.parts.gpu99"),
        ({"parts": {"x*": {"memory_capacity": "1 GB"}}}, "changes.parts.x*"),
        ({"parts": {"nowhere/gpu0": {"memory_capacity": "1 GB"}}}, "changes.parts.nowhere/gpu0"),
        ({"parts": {"gpu0": {"memory_capacity": "1 GB/s"}}}, "changes.parts.gpu0.memory_capacity"),
        ({"parts": {"gpu0": {"memory_capacity": 80}}}, "changes.parts.gpu0.memory_capacity"),
        ({"parts": {"gpu0": {"memory_capacity": 80.5}}}, "changes.parts.gpu0.memory_capacity"),
        ({"parts": {"gpu0": {"colour": "red"}}}, "changes.parts.gpu0.colour"),
        ({"parts": {"gpu0": {"type": "gpu/nobody/x1"}}}, "changes.parts.gpu0.type"),
        ({"links": {"psw0--gpu0": {"colour": "red"}}}, "changes.links.psw0--gpu0"),
        ({"groups": {"gpu0": 2}}, "changes.groups.gpu0"),
        ({"groups": {"hosts": "4"}}, "changes.groups.hosts"),
        ({"policy": {"weather": True}}, "changes.policy"),
    ],
)
def test_what_cannot_be_changed_is_named(changes: Any, place: str) -> None:
    with pytest.raises(FormatError) as caught:
        apply_changes(open_design("hgx-h100-8"), changes, "case")
    assert caught.value.place == place
    assert caught.value.remedy


def test_virtual_machines_change_by_id_and_by_pattern() -> None:
    design = open_design("vsphere-cluster-4")
    profile = {"devices": [{"kind": "vgpu", "profile": "grid_a100d-10c"}]}
    changed = apply_changes(design, {"vms": {"infer*": profile, "web0": {"memory": "32 GiB"}}}, "case")
    inferring = [vm for id, vm in changed.vms.items() if id.startswith("infer")]
    assert {vm.devices[0].profile for vm in inferring} == {"grid_a100d-10c"}
    assert changed.vms["web0"].memory == "32 GiB"
    assert changed.vms["train0"] == design.vms["train0"]
    with pytest.raises(FormatError, match="no virtual machine 'infer9'") as problem:
        apply_changes(design, {"vms": {"infer9": profile}}, "case")
    assert "infer" in str(problem.value.remedy)


# Variants of designs written as data: clusters of a server, links that follow new types, what goes and what comes.


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


# Fields of groups that changes and ``--set`` give.


def test_member_names_are_set_and_kept_in_the_file() -> None:
    design = overridden(open_design("su-h100-32"), ["groups.servers.naming=dgx{001}", "groups.servers.replicas=16"])
    group = design.groups["servers"]
    assert (group.naming, group.replicas) == ("dgx{001}", 16)
    assert loads(dumps(design)).design == design
    assert overridden(open_design("su-h100-32"), ["groups.servers=16"]).groups["servers"].replicas == 16


def test_changes_take_a_number_or_fields() -> None:
    design = open_design("su-h100-32")
    both = apply_changes(design, {"groups": {"servers": {"replicas": 8, "naming": "n{0}"}, "spines": 2}}, "given")
    assert (both.groups["servers"].replicas, both.groups["servers"].naming, both.groups["spines"].replicas) == (
        8,
        "n{0}",
        2,
    )


@pytest.mark.parametrize("text", ["servers.naming=dgx", "servers.content=x", "servers.replicas=no"])
def test_what_a_group_cannot_take_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        overridden(open_design("su-h100-32"), [f"groups.{text}"])


# Several racks of a rack, and a rack that is not shrunk by accident.


def test_servers_of_a_rack_are_not_taken_out_silently() -> None:
    """Two racks were meant, and a rack of two trays was answered."""
    rack = load(find_template("gb200-nvl72")).design
    with pytest.raises(FormatError, match="rack of 18 servers") as refused:
        make_cluster(rack, 2, "changes.servers")
    assert '{"racks": 2}' in str(refused.value.remedy)
    assert make_cluster(rack, 18, "changes.servers").groups["trays"].replicas == 18


def test_two_racks_are_two_of_everything_and_joined() -> None:
    rack = load(find_template("gb200-nvl72")).design
    two = make_cluster(rack, {"racks": 2}, "changes.servers")
    one, net = elaborate(rack), elaborate(two)
    assert net.n_parts == 2 * one.n_parts + 1
    gpus = sum(part.kind == "gpu" for part in map(net.part, range(net.n_parts)))
    assert gpus == 2 * 72
    switch = net.index_of("cluster_switch")
    assert ((net.link_a == switch) | (net.link_b == switch)).sum() == net.n_links - 2 * one.n_links > 0


def test_what_is_no_rack_has_no_racks() -> None:
    with pytest.raises(FormatError, match="one rack"):
        make_cluster(load(find_template("hgx-h100-8")).design, {"racks": 2}, "changes.servers")
