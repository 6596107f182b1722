"""Edits of annotations, placements, links, groups and structure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.design.address import Ref, block_at
from designer.design.diff import diff
from designer.design.document import (
    Annotation,
    Block,
    Design,
    Group,
    Link,
    Part,
    Position,
    Size,
    VirtualMachine,
    Wiring,
)
from designer.design.edits.annotations import OrderAnnotations
from designer.design.edits.groups import ChangeGroups, SetGroupId, SetReplicas
from designer.design.edits.links import AddLinks, ChangeLinks, Reconnect, RemoveLinks
from designer.design.edits.parts import AddParts, ChangeParts
from designer.design.edits.placement import DEFAULT_EXTENT, Align, Distribute, MatchSize, Place, Resize, SetCollapsed
from designer.design.edits.structure import Delete, InsertIntoLink, MakeGroup, ResetException, Ungroup
from designer.design.edits.wirings import AddWirings, ChangeWirings, RemoveWirings
from designer.design.elaborate import elaborate
from designer.design.geometry import lay_out
from designer.design.history import History
from designer.design.query import count_kinds, count_links
from designer.errors import DocumentError
from tests.designs import one_server, one_unit
from tests.made_edits import AddGroup, MakeException

# What lies in front of what among notes and frames.

IDS = ("f1", "f2", "n1", "n2", "n3")


def notes() -> Design:
    made = {
        i: Annotation(id=i, text=i, position=Position(x=0, y=0), style="frame" if i[0] == "f" else "note") for i in IDS
    }
    return Design(name="notes", annotations=made)


def drawn(design: Design) -> list[str]:
    """From back to front, as the canvas and pictures draw them."""
    return [ref.id for ref in lay_out(design).refs]


def test_bringing_to_front_and_sending_to_back_is_one_step_that_can_be_undone() -> None:
    history = History(notes())
    assert drawn(history.design) == list(IDS)
    history.do(OrderAnnotations(("n1",), front=True))
    assert drawn(history.design) == ["f1", "f2", "n2", "n3", "n1"]
    history.do(OrderAnnotations(("f2", "n3"), front=False))
    assert drawn(history.design) == ["f2", "f1", "n3", "n2", "n1"]
    history.undo()
    history.undo()
    assert history.design == notes()


@given(st.lists(st.tuples(st.sets(st.sampled_from(IDS), min_size=1), st.booleans()), max_size=6))
def test_the_others_keep_their_order_and_frames_stay_behind(steps: list[tuple[set[str], bool]]) -> None:
    design = notes()
    for chosen, front in steps:
        before = drawn(design)
        design = OrderAnnotations(tuple(chosen), front).apply(design)
        after = drawn(design)
        assert [i[0] for i in after] == ["f", "f", "n", "n", "n"]
        for style in "fn":
            was = [i for i in before if i[0] == style]
            mine, others = [i for i in was if i in chosen], [i for i in was if i not in chosen]
            assert [i for i in after if i[0] == style] == (others + mine if front else mine + others)


def test_what_is_there_already_stays_the_same_design_and_strangers_are_refused() -> None:
    design = notes()
    assert OrderAnnotations(("n3",), front=True).apply(design) is design
    assert OrderAnnotations(("n1", "n2", "n3"), front=False).apply(design) is design
    with pytest.raises(DocumentError):
        OrderAnnotations(("n9",), front=True).apply(design)


# Placing, aligning and distributing on the canvas.

COORDINATE = st.integers(-5000, 5000)


A, B, C = (Ref("parts", x) for x in "abc")


def three(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> Design:
    """Three parts at given places, each of another size."""
    parts = [
        Part(id=i, kind="gpu", position=Position(x=x, y=y), size=Size(width=40 + 20 * k, height=30 + 10 * k))
        for k, (i, (x, y)) in enumerate(zip("abc", (a, b, c), strict=True))
    ]
    return Design.model_validate({"name": "three", "parts": parts})


def box(design: Design, ref: Ref) -> tuple[int, int, int, int]:
    """Left, top, right and bottom."""
    part = design.parts[ref.id]
    assert part.position is not None
    assert part.size is not None
    return (
        part.position.x,
        part.position.y,
        part.position.x + part.size.width,
        part.position.y + part.size.height,
    )


def test_place_puts_parts_groups_and_notes_where_they_shall_be() -> None:
    design = Design.model_validate(
        {
            "name": "x",
            "parts": [Part(id="a", kind="gpu")],
            "groups": [Group.model_validate({"id": "a", "replicas": 1, "content": {}})],
            "annotations": [Annotation(id="a", text="", position=Position(x=0, y=0))],
        }
    )
    refs = [Ref("parts", "a"), Ref("groups", "a"), Ref("annotations", "a")]
    design = Place({ref: (10 * i, i) for i, ref in enumerate(refs)}).apply(design)
    assert [getattr(design, r.what)["a"].position for r in refs] == [Position(x=10 * i, y=i) for i in range(3)]
    assert Place({refs[1]: (10, 1)}).apply(design) is design
    with pytest.raises(DocumentError, match="a group holds no note"):
        Place({refs[2]: (1, 1)}, within=("a",)).apply(design)


@given(a=st.tuples(COORDINATE, COORDINATE), b=st.tuples(COORDINATE, COORDINATE), c=st.tuples(COORDINATE, COORDINATE))
def test_aligned_things_share_a_side_within_the_old_bounds(
    a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]
) -> None:
    design = three(a, b, c)
    old = [box(design, r) for r in (A, B, C)]
    for side, edge, bound in (("left", 0, min), ("top", 1, min), ("right", 2, max), ("bottom", 3, max)):
        new = [box(Align((A, B, C), side).apply(design), r)[edge] for r in (A, B, C)]  # type: ignore[arg-type]
        assert new == [bound(o[edge] for o in old)] * 3
    middle = [box(Align((A, B, C), "center").apply(design), r) for r in (A, B, C)]
    assert max(m[0] + m[2] for m in middle) - min(m[0] + m[2] for m in middle) <= 2


@given(a=st.tuples(COORDINATE, COORDINATE), b=st.tuples(COORDINATE, COORDINATE), c=st.tuples(COORDINATE, COORDINATE))
def test_distributed_things_have_equal_gaps_and_the_outermost_stay(
    a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]
) -> None:
    design = three(a, b, c)
    order = sorted((A, B, C), key=lambda r: (box(design, r)[0], r))
    after = Distribute((A, B, C), "horizontal").apply(design)
    first, middle, last = (box(after, r) for r in order)
    assert (first, last) == (box(design, order[0]), box(design, order[2]))
    assert abs((middle[0] - first[2]) - (last[0] - middle[2])) <= 1


def test_sizes() -> None:
    design = three((0, 0), (9, 9), (21, 3))
    same = MatchSize((C, A), height=False).apply(design)
    assert same.parts["a"].size == Size(width=80, height=30)
    resized = Resize(A, (200, 1), (-4, 0)).apply(design).parts["a"]
    assert (resized.size, resized.position) == (Size(width=200, height=8), Position(x=-4, y=0))
    assert Resize(A, None).apply(design).parts["a"].size is None
    assert SetCollapsed((A,), True).apply(design).parts["a"].collapsed
    unsized = MatchSize((Ref("parts", "a"), B)).apply(Resize(A, None).apply(design))
    assert unsized.parts["b"].size == Size(width=DEFAULT_EXTENT[0], height=DEFAULT_EXTENT[1])


# Edits of links, groups and wirings.


def small(replicas: int = 4) -> Design:
    """A group of boxes with a NIC each, and two leaves."""
    content = Block.model_validate({"parts": [Part(id="nic", kind="nic")]})
    boxes = Group(id="boxes", replicas=replicas, content=content, exceptions={3: Block(parts=content.parts)})
    return Design.model_validate(
        {
            "name": "small",
            "parts": [Part(id="leaf0", kind="switch"), Part(id="leaf1", kind="switch")],
            "links": [
                Link(id="up", a="leaf0", b="leaf1", kind="ethernet", a_port="p1", b_port="p2"),
                Link(id="last", a="boxes[3]/nic", b="leaf0", kind="ethernet"),
            ],
            "groups": [boxes],
            "wirings": [
                Wiring(id="all", pattern="mesh", a="boxes[*]/nic", b="leaf{0-1}", kind="ethernet"),
                Wiring(id="some", pattern="mesh", a="boxes[1-3]/nic", b="leaf0", kind="ethernet"),
            ],
        }
    )


def test_a_link_needs_two_single_parts() -> None:
    for a, b, text in (
        ("leaf0", "leaf9", "does not exist"),
        ("leaf0", "leaf0", "same part"),
        ("boxes[*]/nic", "leaf0", "many parts"),
        ("boxes[4]/nic", "leaf0", "does not exist"),
    ):
        with pytest.raises(DocumentError, match=text):
            AddLinks((Link(id="new", a=a, b=b, kind="ethernet"),)).apply(small())
    design = AddLinks((Link(id="new", a="boxes[0]/nic", b="leaf1", kind="ethernet"),)).apply(small())
    assert design.links["new"].b == "leaf1"


def test_links_change_reconnect_and_go() -> None:
    design = ChangeLinks(("up", "last"), {"count": 3}).apply(small())
    assert {x.count for x in design.links.values()} == {3}
    with pytest.raises(DocumentError, match="no unit"):
        ChangeLinks(("up",), {"bandwidth_per_direction": "400"}).apply(design)
    with pytest.raises(DocumentError, match="cannot be changed"):
        ChangeLinks(("up",), {"a": "leaf1"}).apply(design)
    design = Reconnect("up", "b", "boxes[0]/nic").apply(design)
    assert (design.links["up"].b, design.links["up"].b_port) == ("boxes[0]/nic", "")
    with pytest.raises(DocumentError, match="same part"):
        Reconnect("up", "b", "leaf0").apply(design)
    assert set(RemoveLinks(("up",)).apply(design).links) == {"last"}
    with pytest.raises(DocumentError, match="no link 'nothing'"):
        RemoveLinks(("nothing",)).apply(design)


def test_fewer_replicas_take_what_reached_the_lost_members() -> None:
    design = SetReplicas("boxes", 3).apply(small())
    assert not design.groups["boxes"].exceptions
    assert set(design.links) == {"up"}
    assert design.wirings["some"].a == "boxes[1-2]/nic"
    assert SetReplicas("boxes", 2).apply(small()).wirings["some"].a == "boxes[1]/nic"
    assert set(SetReplicas("boxes", 1).apply(small()).wirings) == {"all"}
    assert elaborate(design).n_parts == 5


def test_replicas_stay_within_reason() -> None:
    assert SetReplicas("boxes", 4).apply(small()).groups["boxes"].replicas == 4
    with pytest.raises(DocumentError, match="1000000"):
        SetReplicas("boxes", 10**9).apply(small())
    with pytest.raises(DocumentError):
        SetReplicas("boxes", 0).apply(small())
    inner = Group(id="in", replicas=10**6, content=Block.model_validate({"parts": [Part(id="gpu", kind="gpu")]}))
    with pytest.raises(DocumentError, match="more than 4,000,000"):
        AddGroup(Group(id="out", replicas=5, content=Block.model_validate({"groups": [inner]}))).apply(small())


def test_a_group_is_renamed_changed_and_removed_with_what_reaches_it() -> None:
    design = SetGroupId("boxes", "servers").apply(small())
    assert design.links["last"].a == "servers[3]/nic"
    assert design.wirings["all"].a == "servers[*]/nic"
    assert ChangeGroups(("servers",), {"name": "row"}).apply(design).groups["servers"].name == "row"
    with pytest.raises(DocumentError, match="cannot be changed"):
        ChangeGroups(("servers",), {"replicas": 9}).apply(design)
    gone = Delete((Ref("groups", "servers"),)).apply(design)
    assert (set(gone.links), set(gone.wirings)) == ({"up"}, set())


def test_a_wiring_that_joins_nothing_is_refused_with_the_reason_of_its_pattern() -> None:
    def wiring(**changes: object) -> Wiring:
        fields = {"id": "new", "pattern": "pairs", "a": "boxes[*]/nic", "b": "leaf*", "kind": "ethernet"}
        return Wiring.model_validate({**fields, **changes})

    for changes, text in (
        ({}, "as many parts on both sides"),
        ({"pattern": "knot"}, "no wiring pattern 'knot'"),
        ({"a": "boxes[*]/gpu"}, "no part"),
        ({"a": "gone[*]/nic"}, "no group 'gone'"),
        ({"b": "x*"}, "chooses no parts"),
    ):
        with pytest.raises(DocumentError, match=text):
            AddWirings((wiring(**changes),)).apply(small())
    design = AddWirings((wiring(pattern="spread"),)).apply(small())
    assert ChangeWirings(("new",), {"count": 2}).apply(design).wirings["new"].count == 2
    with pytest.raises(DocumentError, match="as many parts"):
        ChangeWirings(("new",), {"pattern": "pairs"}).apply(design)
    assert RemoveWirings(("new",)).apply(design) == small()


# Deleting with healing, inserting, grouping, exceptions.


def chain() -> Design:
    """cpu – x4 – switch – x16 – gpu."""
    return Design.model_validate(
        {
            "name": "chain",
            "parts": [Part(id="cpu", kind="cpu"), Part(id="psw", kind="pcie_switch"), Part(id="gpu", kind="gpu")],
            "links": [
                Link(id="up", a="cpu", b="psw", kind="pcie", generation=4, lanes=4),
                Link(id="down", a="psw", b="gpu", kind="pcie", generation=4, lanes=16),
            ],
        }
    )


def test_healing_joins_the_neighbours_at_the_slower_speed() -> None:
    design = Delete((Ref("parts", "psw"),), heal=True).apply(chain())
    (link,) = design.links.values()
    assert ({link.a, link.b}, link.lanes) == ({"cpu", "gpu"}, 4)
    assert not Delete((Ref("parts", "psw"),)).apply(chain()).links
    assert not Delete((Ref("parts", "gpu"),), heal=True).apply(chain()).parts.get("gpu")


def test_a_whole_chain_heals() -> None:
    design = InsertIntoLink("down", Part(id="psw1", kind="pcie_switch")).apply(chain())
    refs = (Ref("parts", "psw"), Ref("parts", "psw1"))
    assert [{x.a, x.b} for x in Delete(refs, heal=True).apply(design).links.values()] == [{"cpu", "gpu"}]


def test_delete_takes_things_of_every_sort() -> None:
    design = one_unit(2)
    gone = Delete((Ref("groups", "spines"), Ref("wirings", "rails"))).apply(design)
    assert (set(gone.groups), set(gone.wirings)) == ({"servers", "leaves"}, set())
    with pytest.raises(DocumentError):
        Delete((Ref("links", "nothing"),)).apply(design)


def test_inserting_makes_two_links_of_one() -> None:
    design = InsertIntoLink("down", Part(id="mid", kind="pcie_switch")).apply(chain())
    ends = {(x.a, x.b, x.lanes) for x in design.links.values()}
    assert ends == {("cpu", "psw", 4), ("psw", "mid", 16), ("mid", "gpu", 16)}
    with pytest.raises(DocumentError, match="no port for pcie"):
        InsertIntoLink("down", Part(id="mid", kind="switch")).apply(chain())


def ends(design: Design) -> set[frozenset[str]]:
    """Which parts are linked."""
    return {frozenset((x.a, x.b)) for x in design.links.values()}


def refs_of(design: Design) -> tuple[Ref, ...]:
    """All parts of a design."""
    return tuple(Ref("parts", p) for p in design.parts)


@pytest.mark.parametrize("replicas", [1, 3])
def test_grouping_repeats_parts_links_and_the_links_to_outside(replicas: int) -> None:
    design = one_server()
    inside = tuple(r for r in refs_of(design) if r.id[:3] in ("gpu", "psw", "nic"))
    grouped = MakeGroup(inside, "half", replicas).apply(design)
    outside = len(design.parts) - len(inside)
    assert elaborate(grouped).n_parts == outside + replicas * len(inside)
    crossing = sum(x.count for x in design.links.values() if ("cpu" in x.a) != ("cpu" in x.b) and "psw" in x.b)
    nvlinks = sum(x.count for x in design.links.values() if x.kind == "nvlink")
    counts = count_links(grouped)
    assert counts["nvlink"] == replicas * nvlinks
    assert counts["pcie"] == 2 + replicas * (crossing + 16)
    assert grouped.groups["half"].parent == "server"


def test_ungrouping_undoes_grouping_but_for_ids_of_links() -> None:
    design = one_server()
    inside = tuple(r for r in refs_of(design) if r.id != "cpu0")
    back = Ungroup("all").apply(MakeGroup(tuple(r for r in inside if r.id != "server"), "all").apply(design))
    assert back.parts == design.parts
    assert {frozenset((x.a, x.b)) for x in back.links.values()} == {
        frozenset((x.a, x.b)) for x in design.links.values()
    }


def test_ungrouping_replicas_keeps_every_count() -> None:
    design = one_unit(3)
    for group in ("leaves", "servers", "spines"):
        before = (count_kinds(design), count_links(design))
        design = Ungroup(group).apply(design)
        assert (count_kinds(design), count_links(design)) == before
    assert not design.groups
    assert not design.wirings


def test_groups_keep_places_on_the_canvas() -> None:
    parts = [Part(id=f"gpu{i}", kind="gpu", position=Position(x=100 + i, y=50)) for i in range(2)]
    design = Design.model_validate({"name": "x", "parts": parts})
    grouped = MakeGroup(refs_of(design), "pair").apply(design)
    assert grouped.groups["pair"].position == Position(x=100, y=50)
    assert grouped.groups["pair"].content.parts["gpu1"].position == Position(x=1, y=0)
    assert Ungroup("pair").apply(grouped) == design


def test_references_follow_into_and_out_of_a_group() -> None:
    content = Block.model_validate({"parts": [Part(id="host", kind="server"), Part(id="nic0", kind="nic")]})
    design = Design.model_validate(
        {
            "name": "x",
            "parts": [Part(id="leaf", kind="switch")],
            "groups": [Group(id="boxes", replicas=2, content=content)],
            "links": [Link(id="one", a="boxes[1]/nic0", b="leaf", kind="ethernet")],
            "wirings": [Wiring(id="all", pattern="spread", a="boxes[*]/nic*", b="leaf", kind="ethernet")],
            "vms": [VirtualMachine(id="vm", host="boxes[0]/host")],
        }
    )
    inner = MakeGroup((Ref("parts", "host"), Ref("parts", "nic0")), "half", within=("boxes",)).apply(design)
    assert inner.links["one"].a == "boxes[1]/half[0]/nic0"
    assert inner.wirings["all"].a == "boxes[*]/half[*]/nic*"
    assert inner.vms["vm"].host == "boxes[0]/half[0]/host"
    assert Ungroup("half", within=("boxes",)).apply(inner) == design
    dissolved = Ungroup("boxes").apply(design)
    assert dissolved.vms["vm"].host == "boxes0-host"
    assert count_links(dissolved) == count_links(design)


def test_a_selection_that_cuts_a_pattern_is_refused() -> None:
    parts = [Part(id="nic0", kind="nic"), Part(id="nic1", kind="nic"), Part(id="leaf", kind="switch")]
    wiring = Wiring(id="w", pattern="spread", a="nic*", b="leaf", kind="ethernet")
    design = Design.model_validate({"name": "x", "parts": parts, "wirings": [wiring]})
    with pytest.raises(DocumentError, match="inside and outside") as caught:
        MakeGroup((Ref("parts", "nic0"),), "g").apply(design)
    assert caught.value.place == "wirings.w"
    with pytest.raises(DocumentError, match="different containers"):
        MakeGroup((Ref("parts", "gpu0"), Ref("parts", "extra")), "g").apply(
            AddParts((Part(id="extra", kind="gpu"),)).apply(one_server())
        )


def test_an_exception_begins_equal_and_can_be_reset() -> None:
    design = MakeException("servers", 1).apply(one_unit(4))
    assert elaborate(design).n_parts == elaborate(one_unit(4)).n_parts
    assert MakeException("servers", 1).apply(design) is design
    odd = AddParts((Part(id="nic99", kind="nic"),), within=(("servers", 1),)).apply(design)
    assert "nic99" in block_at(odd, (("servers", 1),)).parts
    linked = odd.model_copy(
        update={"links": {"x": Link(id="x", a="servers[1]/nic99", b="leaves[0]/switch", kind="infiniband")}}
    )
    reset = ResetException("servers").apply(linked)
    assert reset == one_unit(4)
    with pytest.raises(DocumentError, match="like the others already"):
        ResetException("servers", (2,)).apply(odd)
    with pytest.raises(DocumentError, match="no member 4"):
        MakeException("servers", 4).apply(design)


def test_a_wiring_leaves_a_gap_where_a_member_lacks_the_part() -> None:
    design = one_unit(4)
    odd = Delete((Ref("parts", "nic3"),), within=(("servers", 2),)).apply(design)
    assert "rails" in odd.wirings
    before, after = elaborate(design), elaborate(odd)
    all_ends = {(before.path(int(a)), before.path(int(b))) for a, b in zip(before.link_a, before.link_b, strict=True)}
    left = {(after.path(int(a)), after.path(int(b))) for a, b in zip(after.link_a, after.link_b, strict=True)}
    assert {pair for pair in all_ends if "servers[2]/nic3" in pair} == all_ends - left
    assert left < all_ends


def test_a_change_of_the_common_content_leaves_exceptions_alone() -> None:
    design = MakeException("servers", 0).apply(one_unit(2))
    after = ChangeParts(("gpu0",), {"name": "A"}, within=("servers",)).apply(design)
    assert block_at(after, (("servers", 0),)).parts["gpu0"].name == ""
    assert list(diff(design, after).blocks) == [(("servers", None),)]
