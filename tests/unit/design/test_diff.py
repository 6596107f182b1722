"""What changed between two designs."""

from __future__ import annotations

from designer.design.address import Ref
from designer.design.diff import diff
from designer.design.document import Annotation, Design, Position
from designer.design.edits.annotations import AddAnnotations
from designer.design.edits.groups import ChangeGroups, SetReplicas
from designer.design.edits.parts import ChangeParts, RemoveParts, SetValue
from designer.design.edits.placement import Place
from designer.design.edits.properties import SetPolicy, SetProperties
from designer.fields import Quantity
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import dumps
from designer.sources import Status
from tests.designs import one_unit
from tests.made_edits import MakeException


def lines(before: Design, after: Design) -> list[str]:
    """The changes in words."""
    return diff(before, after).lines()


def test_equal_designs_do_not_differ_even_as_other_objects() -> None:
    design = one_unit(2)
    assert not diff(design, design)
    assert not diff(design, loads(dumps(design)).design)


def test_every_change_is_found_at_its_address_and_reported() -> None:
    design = one_unit(2)
    named = ChangeParts(("gpu0",), {"name": "A"}, within=("servers",)).apply(design)
    found = diff(design, named)
    assert list(found.blocks) == [(("servers", None),)]
    assert found.at((("servers", None),), "parts").changed == ("gpu0",)
    assert found.fields((("servers", None),), "parts", "gpu0") == ("name",)
    assert found.lines() == ["changed GPU gpu0 (A) in servers[*]: name – → A"]
    assert lines(design, SetReplicas("servers", 4).apply(design)) == ["changed group servers × 4: replicas 2 → 4"]
    assert lines(design, SetProperties({"title": "T"}).apply(design)) == ["title: – → T"]
    assert lines(design, SetPolicy({"ecmp": "hash"}).apply(design)) == ["policy.ecmp split → hash"]
    valued = SetValue(("gpu0",), "memory_capacity", Quantity(value="80 GB"), within=("servers",)).apply(design)
    assert lines(design, valued) == ["changed GPU gpu0 in servers[*]: overrides.memory_capacity – → 80 GB"]
    cited = Quantity(value="80 GB", source="nvidia", status=Status.PRIMARY)
    again = SetValue(("gpu0",), "memory_capacity", cited, within=("servers",)).apply(valued)
    assert lines(valued, again) == [
        "changed GPU gpu0 in servers[*]: overrides.memory_capacity by another source: – (secondary) → nvidia (primary)"
    ]


def test_removals_and_additions_mirror_each_other() -> None:
    design = one_unit(2)
    gone = RemoveParts(("gpu0",), within=("servers",)).apply(design)
    there, back = diff(design, gone), diff(gone, design)
    at = (("servers", None),)
    for what in ("parts", "links"):
        assert there.at(at, what).removed == back.at(at, what).added  # type: ignore[arg-type]
    assert len(there.at(at, "links")) == 5
    assert lines(design, gone)[0] == "removed GPU gpu0 in servers[*]"


def test_an_exception_is_compared_with_what_the_member_was() -> None:
    design = one_unit(2)
    odd = ChangeParts(("gpu0",), {"name": "A"}, within=(("servers", 1),)).apply(design)
    found = diff(design, odd)
    assert found["groups"].changed == ("servers",)
    assert found.at((("servers", 1),), "parts").changed == ("gpu0",)
    assert "member 1 became an exception" in found.lines()[0]
    assert lines(odd, design)[0].endswith("member 1 is no exception any more")
    assert lines(design, MakeException("servers", 0).apply(design)) != []


def test_moving_things_and_writing_notes_changes_no_result() -> None:
    design = one_unit(2)
    moved = Place({Ref("parts", "gpu0"): (5, 5)}, within=("servers",)).apply(design)
    noted = AddAnnotations((Annotation(id="n", text="hi", position=Position(x=0, y=0)),)).apply(moved)
    opened = ChangeGroups(("servers",), {"collapsed": False}).apply(noted)
    assert diff(design, opened).only_placement
    assert not diff(design, ChangeParts(("gpu0",), {"kind": "nic"}, within=("servers",)).apply(design)).only_placement
    assert not diff(design, SetPolicy({"ecmp": "hash"}).apply(design)).only_placement
    assert not diff(design, SetReplicas("servers", 3).apply(design)).only_placement


def test_long_lists_are_cut() -> None:
    design = one_unit(2)
    gone = RemoveParts(("server",), within=("servers",)).apply(design)
    assert len(diff(design, gone).lines(limit=10)) == 11
