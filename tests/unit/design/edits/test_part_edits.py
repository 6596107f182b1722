"""Edits of parts, and what the clipboard takes and brings."""

from __future__ import annotations

import json

import pytest

from designer.catalog.parttype import PartType
from designer.design.address import Ref, block_at
from designer.design.document import Annotation, Block, Design, Group, Link, Part, Position, VirtualMachine, Wiring
from designer.design.edits.clipboard import Duplicate, Paste, Replicate, copy, is_clip
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
from designer.design.query import count_kinds, count_links
from designer.errors import DocumentError
from designer.fields import Quantity
from tests.designs import one_server, one_unit

# Edits of parts: what they change, what follows, what they refuse.

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


# Copy as text, paste, duplicate, replicate.


def pair() -> Design:
    """Two named GPUs at a switch."""
    parts = [
        Part(id=f"gpu{i}", kind="gpu", type=H100.id, name=f"GPU {i}", position=Position(x=10 * i, y=0))
        for i in range(2)
    ]
    return Design.model_validate(
        {
            "name": "pair",
            "parts": [*parts, Part(id="nvsw", kind="nvswitch")],
            "links": [
                Link(id="n0", a="gpu0", b="gpu1", kind="nvlink"),
                Link(id="n1", a="gpu0", b="nvsw", kind="nvlink"),
            ],
            "annotations": [Annotation(id="note", text="hi", position=Position(x=5, y=5))],
            "part_types": [H100],
        }
    )


GPUS = (Ref("parts", "gpu0"), Ref("parts", "gpu1"))


def test_what_is_pasted_gets_new_ids_and_names_and_brings_its_types() -> None:
    text = copy(pair(), (*GPUS, Ref("annotations", "note")))
    empty = Design(name="empty")
    once = Paste(text, at=(100, 100)).apply(empty)
    assert set(once.parts) == {"gpu0", "gpu1"}
    assert once.part_types[H100.id] == H100
    assert once.parts["gpu0"].position == Position(x=100, y=100)
    twice = Paste(text, (1, 2)).apply(once)
    assert set(twice.parts) == {"gpu0", "gpu1", "gpu2", "gpu3"}
    assert twice.parts["gpu3"].name == "GPU 3"
    assert {(x.a, x.b) for x in twice.links.values()} == {("gpu0", "gpu1"), ("gpu2", "gpu3")}
    assert twice.annotations["note2"].position == Position(x=6, y=7)


def test_a_copy_never_has_the_name_of_another() -> None:
    """A name without a number of its own is numbered; what is in a copied container keeps its name."""
    names = {"gpu0": "DGX A100", "gpu1": "left"}
    design = pair().model_copy(
        update={"parts": {i: p.model_copy(update={"name": names.get(i, "")}) for i, p in pair().parts.items()}}
    )
    many = Replicate((GPUS[0],), 4).apply(Duplicate((GPUS[1],)).apply(design))
    assert sorted(p.name for p in many.parts.values() if p.name) == [
        "DGX A100",
        "DGX A100 2",
        "DGX A100 3",
        "DGX A100 4",
        "left",
        "left 2",
    ]
    again = Duplicate((Ref("parts", next(i for i, p in many.parts.items() if p.name == "DGX A100 2")),)).apply(many)
    assert len({p.label for p in again.parts.values()}) == len(again.parts)
    inner = Part(id="nic", kind="nic", name="uplink", parent="gpu0")
    held = design.model_copy(update={"parts": {**design.parts, "nic": inner}})
    assert [p.name for p in Duplicate((GPUS[0],)).apply(held).parts.values() if p.kind == "nic"] == ["uplink"] * 2


def test_a_clip_keeps_only_what_lies_inside() -> None:
    data = json.loads(copy(one_server(), (Ref("parts", "gpu0"), Ref("parts", "psw0"))))
    assert [x["id"] for x in data["content"]["links"]] == ["psw0--gpu0"]
    assert all("parent" not in p for p in data["content"]["parts"])
    whole = Paste(copy(one_server(), (Ref("parts", "server"),))).apply(Design(name="x"))
    assert whole.parts == one_server().parts


def test_groups_are_copied_with_their_content() -> None:
    refs = tuple(Ref("groups", g) for g in ("servers", "leaves", "spines"))
    design = Paste(copy(one_unit(2), refs)).apply(one_unit(2))
    assert count_kinds(design) == {k: 2 * n for k, n in count_kinds(one_unit(2)).items()}
    assert count_links(design) == {k: 2 * n for k, n in count_links(one_unit(2)).items()}
    assert design.wirings["rails2"].a == "servers2[*]/nic{0-7}"


def test_a_wiring_by_pattern_is_copied_as_links_of_the_copies() -> None:
    parts = [Part(id=f"nic{i}", kind="nic") for i in range(3)] + [Part(id="leaf", kind="switch")]
    wiring = Wiring(id="w", pattern="spread", a="nic*", b="leaf", kind="ethernet")
    design = Design.model_validate({"name": "x", "parts": parts, "wirings": [wiring]})
    twice = Paste(copy(design, [Ref("parts", p.id) for p in parts])).apply(design)
    assert {(x.a, x.b) for x in twice.links.values()} == {(f"nic{i}", "leaf2") for i in (3, 4, 5)}
    # the pattern of the original now also chooses the copies, which a person can see and change
    assert twice.wirings["w"] == wiring


HEAD = '{"format": "designer-clipboard", "version": 1'


LOST_PARENT = HEAD + ', "content": {"parts": [{"id": "a", "kind": "gpu", "parent": "b"}]}}'


LOST_END = HEAD + ', "content": {"links": [{"id": "a", "kind": "x", "a": "b", "b": "c"}]}}'


OTHER_TEXTS = (
    "",
    "{}",
    "gpu0",
    HEAD,
    HEAD + "}",
    HEAD.replace("1", "2") + "}",
    LOST_PARENT,
    LOST_END,
    '{"a": "designer-clipboard"}',
    "[" * 100_000,
    HEAD + ', "x": ' + "[" * 100_000,
)


@pytest.mark.parametrize("text", OTHER_TEXTS, ids=range(len(OTHER_TEXTS)))
def test_other_texts_are_refused_as_one_clear_error(text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        Paste(text).apply(pair())
    assert (caught.value.place or "").startswith("clipboard")


def test_a_clip_is_known_without_reading_it() -> None:
    assert is_clip(copy(pair(), GPUS))
    assert not is_clip("gpu0")


def test_a_duplicate_stays_in_its_container_and_may_keep_its_links() -> None:
    design = Duplicate((Ref("parts", "gpu0"),), outside_links=True).apply(one_server())
    assert design.parts["gpu8"].parent == "server"
    outside = [x for x in design.links.values() if "gpu8" in (x.a, x.b)]
    assert sorted((x.a, x.b, x.count) for x in outside) == [
        ("gpu8", "nvsw0", 4),
        ("gpu8", "nvsw1", 5),
        ("gpu8", "nvsw2", 5),
        ("gpu8", "nvsw3", 4),
        ("psw0", "gpu8", 1),
    ]
    assert set(Duplicate((Ref("parts", "gpu0"),)).apply(pair()).links) == {"n0", "n1"}


def test_replicating_numbers_row_by_row() -> None:
    design = Replicate((Ref("parts", "gpu0"),), columns=3, rows=2, dx=100, dy=50).apply(pair())
    placed = {p.id: (p.position.x, p.position.y) for p in design.parts.values() if p.position is not None}
    assert placed == {
        "gpu0": (0, 0),
        "gpu1": (10, 0),
        "gpu2": (100, 0),
        "gpu3": (200, 0),
        "gpu4": (0, 50),
        "gpu5": (100, 50),
        "gpu6": (200, 50),
    }
    same = pair()
    assert Replicate((Ref("parts", "gpu0"),), columns=1).apply(same) is same
    for columns, rows in ((0, 1), (1, -1), (10**6, 10**6)):
        with pytest.raises(DocumentError, match="copies"):
            Replicate((Ref("parts", "gpu0"),), columns, rows).apply(pair())


def test_notes_are_replicated_too() -> None:
    design = Replicate((Ref("annotations", "note"),), columns=3, dx=10).apply(pair())
    assert [n.position.x for n in design.annotations.values()] == [5, 15, 25]
