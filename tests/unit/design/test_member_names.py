"""Names of members by the pattern of their group."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from designer.design.document import Block, Design, Group, Part
from designer.design.elaborate import elaborate
from designer.design.name_pattern import check_pattern
from designer.design.naming import homes, member_name, node_names, part_title


def _servers(replicas: int, naming: str = "", *, id: str = "servers") -> Group:
    content = Block(parts={"server": Part(id="server", kind="server"), "n": Part(id="n", kind="nic", parent="server")})
    return Group(id=id, replicas=replicas, naming=naming, content=content)


def _pods(pods: int, naming: str, inner: Group, **exceptions: Group) -> Design:
    own = {int(at.removeprefix("at")): Block(groups={group.id: group}) for at, group in exceptions.items()}
    outer = Group(id="pods", replicas=pods, naming=naming, content=Block(groups={inner.id: inner}), exceptions=own)
    return Design(name="x", groups={"pods": outer})


def _names(design: Design) -> list[str]:
    net = elaborate(design)
    own = homes(net)
    return list(node_names(net, dict.fromkeys(own)).values())


@pytest.mark.parametrize(
    ("pattern", "first", "eleventh"),
    [
        ("", "servers-0", "servers-10"),
        ("node{001}", "node001", "node011"),
        ("dgx-{0}", "dgx-0", "dgx-10"),
        ("r1n{05}.pod", "r1n05.pod", "r1n15.pod"),
    ],
)
def test_a_member_has_the_number_the_pattern_begins_with(pattern: str, first: str, eleventh: str) -> None:
    names = _names(Design(name="x", groups={"servers": _servers(12, pattern)}))
    assert (names[0], names[10], len(set(names))) == (first, eleventh, 12)


def test_names_of_inner_members_take_that_of_the_outer_one() -> None:
    """The form of a large site, ``jpbo-001-01``: racks from 001, nodes from 01."""
    names = _names(_pods(3, "jpbo-{001}", _servers(2, "{outer}-{01}")))
    assert names == ["jpbo-001-01", "jpbo-001-02", "jpbo-002-01", "jpbo-002-02", "jpbo-003-01", "jpbo-003-02"]


def test_numbers_go_on_through_all_members_around() -> None:
    """Pods of 2, 5 and 2 servers: the third pod begins at 1 + 2 + 5 = 8."""
    names = _names(_pods(3, "", _servers(2, "n{all:001}"), at1=_servers(5, "n{all:001}")))
    assert names == [f"n{k:03d}" for k in range(1, 10)]
    design = _pods(3, "", _servers(2, "n{all:001}"), at1=_servers(5, "n{all:001}"))
    assert member_name(design, [("pods", 2), ("servers", 0)]) == "n008"


def test_several_nodes_of_a_member_are_told_apart_by_their_ids() -> None:
    """They used to be called pods-0 and pods-1, which is another pod."""
    content = Block(parts={"server": Part(id="server", kind="server"), "switch": Part(id="switch", kind="switch")})
    names = _names(Design(name="x", groups={"pods": Group(id="pods", replicas=2, content=content)}))
    assert sorted(names) == ["pods-0-server", "pods-0-switch", "pods-1-server", "pods-1-switch"]


def test_a_storage_system_in_a_rack_is_a_node_of_its_own() -> None:
    """Two storage systems in one rack are not the rack."""
    parts = [Part(id="rack", kind="rack"), *(Part(id=f"s{k}", kind="storage", parent="rack") for k in range(2))]
    parts.append(Part(id="n", kind="nic", parent="s1"))
    net = elaborate(Design(name="x", parts={p.id: p for p in parts}))
    assert homes(net) == [0, 1, 2, 2]


def test_equal_names_are_numbered_and_no_other_node_loses_its_own() -> None:
    """Two switches called leaf, and one called leaf2 that keeps its name."""
    parts = [Part(id=f"s{k}", kind="switch", name=name) for k, name in enumerate(["leaf", "leaf", "leaf2"])]
    names = _names(Design(name="x", parts={p.id: p for p in parts}))
    assert names == ["leaf", "leaf3", "leaf2"]


@pytest.mark.parametrize("pattern", ["node", "{outer}", "{n}", "a b{1}", "x/{1}", "{1}{", "{1:03}", "n{1}" + "x" * 70])
def test_a_pattern_that_gives_no_names_is_refused(pattern: str) -> None:
    with pytest.raises(ValidationError):
        _servers(2, pattern)


@given(st.text(alphabet="ab{}01:.-_alouter", max_size=20))
def test_every_accepted_pattern_names_members_apart(pattern: str) -> None:
    try:
        check_pattern(pattern)
    except ValueError:
        return
    design = Design(name="x", groups={"servers": _servers(12, pattern)})
    names = _names(design)
    assert len(set(names)) == len(names) == 12
    assert all(name and not set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789._-") for name in names)


def test_a_pattern_is_what_people_read_of_a_member() -> None:
    named = Design(name="x", groups={"servers": _servers(3, "dgx{01}")})
    assert part_title(named, "servers[2]/server") == "dgx03"
    assert part_title(named, "servers[*]/server") == "servers"
    assert part_title(Design(name="x", groups={"servers": _servers(3)}), "servers[2]/server") == "server 3"
