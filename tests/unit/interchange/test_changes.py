"""Variants of designs written as data."""

from __future__ import annotations

from typing import Any

import pytest

from designer.design.query import summarize
from designer.errors import FormatError
from designer.interchange.changes import apply_changes
from designer.interchange.templates import open_design


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
