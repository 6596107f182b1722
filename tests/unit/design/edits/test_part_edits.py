"""Edits of parts: what they change, what follows, what they refuse."""

from __future__ import annotations

import pytest

from designer.catalog.parttype import PartType
from designer.design.address import block_at
from designer.design.document import Block, Design, Group, Link, Part, VirtualMachine, Wiring
from designer.design.edits.parts import (
    AddParts,
    ChangeParts,
    RemoveParts,
    SetAttribute,
    SetParent,
    SetPartId,
    SetType,
    SetValue,
    add_part,
)
from designer.errors import DocumentError
from designer.fields import Quantity

H100 = PartType(id="gpu/nvidia/h100", kind="gpu", title="H100")


def small() -> Design:
    """A server with two GPUs at a switch, and a group of two boxes connected to it."""
    content = Block.model_validate({"parts": [Part(id="nic0", kind="nic"), Part(id="nic1", kind="nic")]})
    return Design.model_validate(
        {
            "name": "small",
            "parts": [
                Part(id="server", kind="server"),
                Part(id="gpu0", kind="gpu", parent="server"),
                Part(id="gpu1", kind="gpu", parent="server"),
                Part(id="leaf", kind="switch"),
            ],
            "links": [
                Link(id="peer", a="gpu0", b="gpu1", kind="nvlink"),
                Link(id="single", a="boxes[1]/nic0", b="leaf", kind="ethernet"),
            ],
            "groups": [Group(id="boxes", replicas=2, content=content)],
            "wirings": [Wiring(id="up", pattern="spread", a="boxes[*]/nic1", b="leaf", kind="ethernet")],
            "vms": [VirtualMachine(id="vm", host="server")],
        }
    )


def test_a_part_is_added_with_its_type() -> None:
    design = add_part(Part(id="gpu2", kind="gpu", type=H100.id, parent="server"), H100).apply(small())
    assert design.parts["gpu2"].parent == "server"
    assert design.part_types[H100.id] is H100


def test_a_part_without_its_type_is_refused() -> None:
    with pytest.raises(DocumentError, match="does not have the part type") as caught:
        add_part(Part(id="gpu2", kind="gpu", type=H100.id)).apply(small())
    assert caught.value.place == "parts.gpu2.type"


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (Part(id="gpu0", kind="gpu"), "already a part 'gpu0'"),
        (Part(id="new", kind="gpu", parent="nobody"), "no part 'nobody'"),
        (Part(id="new", kind="gpu", parent="new"), "contain itself"),
    ],
)
def test_a_part_that_does_not_fit_is_refused(part: Part, text: str) -> None:
    with pytest.raises(DocumentError, match=text):
        AddParts((part,)).apply(small())


def test_removing_a_container_takes_its_contents_and_links_and_frees_its_machines() -> None:
    design = RemoveParts(("server",)).apply(small())
    assert set(design.parts) == {"leaf"}
    assert set(design.links) == {"single"}
    assert design.vms["vm"].host is None


def test_removing_a_part_of_a_group_takes_the_links_that_reach_into_it() -> None:
    before = small()
    assert "single" not in RemoveParts(("nic0",), within=("boxes",)).apply(before).links
    assert "up" not in RemoveParts(("nic1",), within=("boxes",)).apply(before).wirings
    alone = RemoveParts(("nic0",), within=(("boxes", 0),)).apply(before)
    assert "single" in alone.links, "the link ends at the other member"
    assert set(alone.groups["boxes"].exceptions) == {0}
    kept = RemoveParts(("nic1",), within=(("boxes", 0),)).apply(before)
    assert "up" in kept.wirings, "the other member still has what the wiring chooses"


def test_a_change_shares_everything_else_and_none_is_the_same_design() -> None:
    before = small()
    after = ChangeParts(("gpu0",), {"name": "first"}).apply(before)
    assert after.parts["gpu0"].name == "first"
    assert after.parts["gpu1"] is before.parts["gpu1"]
    assert after.links is before.links
    assert ChangeParts(("gpu0",), {"name": "first"}).apply(after) is after


@pytest.mark.parametrize(
    "changes", [{"no_such": 1}, {"id": "x"}, {"parent": "leaf"}, {"size": {"width": 1, "height": 9}}]
)
def test_a_change_that_cannot_be_is_refused_with_its_place(changes: dict[str, object]) -> None:
    with pytest.raises(DocumentError) as caught:
        ChangeParts(("gpu0",), changes).apply(small())
    assert (caught.value.place or "").startswith(f"parts.gpu0.{next(iter(changes))}")


def test_a_place_within_groups_names_the_whole_way() -> None:
    with pytest.raises(DocumentError) as caught:
        ChangeParts(("nic0",), {"no_such": 1}, within=(("boxes", 1),)).apply(small())
    assert caught.value.place == "groups.boxes.exceptions.1.parts.nic0.no_such"


@pytest.mark.parametrize("within", [("nowhere",), (("boxes", 2),), (("boxes", -1),)])
def test_an_address_that_is_not_there_is_refused(within: tuple[object, ...]) -> None:
    with pytest.raises(DocumentError):
        ChangeParts(("nic0",), {"name": "x"}, within=within).apply(small())  # type: ignore[arg-type]


def test_a_value_is_checked_by_the_kind_and_reset_by_none() -> None:
    design = SetValue(("gpu0", "gpu1"), "memory_capacity", Quantity(value="80 GiB")).apply(small())
    assert design.quantity(design.parts["gpu1"], "memory_capacity") == Quantity(value="80 GiB")
    assert SetValue(("gpu0", "gpu1"), "memory_capacity", None).apply(design) == small()
    with pytest.raises(DocumentError, match="no value 'cores'"):
        SetValue(("gpu0",), "cores", Quantity(value=3)).apply(small())
    with pytest.raises(DocumentError, match="not a unit of size"):
        SetValue(("gpu0",), "memory_capacity", Quantity(value="80 GQ")).apply(small())


def test_a_type_brings_its_kind_along() -> None:
    design = SetType(("leaf",), H100.id, H100).apply(small())
    assert design.parts["leaf"].kind == "gpu"
    with pytest.raises(DocumentError):
        SetType(("leaf",), "gpu/none/none").apply(small())


def test_attributes_come_and_go() -> None:
    design = SetAttribute(("gpu0",), "bus", "0000:17:00.0").apply(small())
    assert design.parts["gpu0"].attributes == {"bus": "0000:17:00.0"}
    assert SetAttribute(("gpu0",), "bus", None).apply(design) == small()


def test_everything_follows_a_new_id() -> None:
    design = SetPartId("server", "box").apply(small())
    assert design.parts["gpu0"].parent == "box"
    assert design.vms["vm"].host == "box"
    design = SetPartId("gpu0", "first").apply(design)
    assert (design.links["peer"].a, design.links["peer"].b) == ("first", "gpu1")
    design = SetPartId("nic1", "up", within=("boxes",)).apply(design)
    assert design.wirings["up"].a == "boxes[*]/up"
    with pytest.raises(DocumentError, match="already"):
        SetPartId("gpu1", "leaf").apply(design)
    with pytest.raises(DocumentError, match="cannot be an id"):
        SetPartId("gpu1", "a/b").apply(design)


def test_a_new_id_in_one_member_is_refused_where_a_wiring_reaches_all() -> None:
    with pytest.raises(DocumentError, match="together with others") as caught:
        SetPartId("nic1", "up", within=(("boxes", 0),)).apply(small())
    assert caught.value.place == "wirings.up"


def test_containers_do_not_contain_themselves() -> None:
    design = SetParent(("leaf",), "gpu0", ("boxes",), {"leaf": (3, 4)}).apply(small())
    assert design.parts["leaf"].parent == design.groups["boxes"].parent == "gpu0"
    assert design.parts["leaf"].position is not None
    with pytest.raises(DocumentError, match="contain itself"):
        SetParent(("server",), "leaf").apply(design)
    assert SetParent(("leaf",), None, ("boxes",)).apply(design).parts["leaf"].parent is None


def test_a_member_is_edited_as_an_exception_and_the_others_stay() -> None:
    design = ChangeParts(("nic0",), {"name": "odd"}, within=(("boxes", 1),)).apply(small())
    assert block_at(design, (("boxes", 1),)).parts["nic0"].name == "odd"
    assert block_at(design, (("boxes", 0),)).parts["nic0"].name == ""
    assert block_at(design, ("boxes",)).parts["nic0"].name == ""
