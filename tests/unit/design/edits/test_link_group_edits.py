"""Edits of links, groups and wirings."""

from __future__ import annotations

import pytest

from designer.design.address import Ref
from designer.design.document import Block, Design, Group, Link, Part, Wiring
from designer.design.edits.groups import ChangeGroups, SetGroupId, SetReplicas
from designer.design.edits.links import AddLinks, ChangeLinks, Reconnect, RemoveLinks
from designer.design.edits.structure import Delete
from designer.design.edits.wirings import AddWirings, ChangeWirings, RemoveWirings
from designer.design.elaborate import elaborate
from designer.errors import DocumentError
from tests.made_edits import AddGroup


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
