"""Deleting with healing, inserting, grouping, exceptions."""

from __future__ import annotations

import pytest

from designer.design.address import Ref, block_at
from designer.design.diff import diff
from designer.design.document import Block, Design, Group, Link, Part, Position, VirtualMachine, Wiring
from designer.design.edits.parts import AddParts, ChangeParts
from designer.design.edits.structure import (
    Delete,
    InsertIntoLink,
    MakeGroup,
    ResetException,
    Ungroup,
)
from designer.design.elaborate import elaborate
from designer.design.query import count_kinds, count_links
from designer.errors import DocumentError
from tests.designs import one_server, one_unit
from tests.made_edits import MakeException


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
