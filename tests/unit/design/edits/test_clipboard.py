"""Copy as text, paste, duplicate, replicate."""

from __future__ import annotations

import json

import pytest

from designer.catalog.parttype import PartType
from designer.design.address import Ref
from designer.design.document import Annotation, Design, Link, Part, Position, Wiring
from designer.design.edits.clipboard import Duplicate, Paste, Replicate, copy, is_clip
from designer.design.query import count_kinds, count_links
from designer.errors import DocumentError
from tests.designs import one_server, one_unit

H100 = PartType(id="gpu/nvidia/h100", kind="gpu", title="H100")


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
