"""Names: of parts and links in the drawing, of members of groups, new ids, and addresses through groups."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from designer.design.address import Ref, address_text, block_at, get_item, place, split_path, with_block
from designer.design.document import Block, Design, Group, Part, check_id
from designer.design.elaborate import elaborate
from designer.design.ids import Numberer, next_id, renumbered
from designer.design.name_pattern import check_pattern
from designer.design.naming import homes, in_names, link_title, member_name, node_names, part_title
from designer.design.references import reaches
from designer.engine.network import build_network
from designer.errors import DocumentError
from designer.interchange.templates import open_design
from tests.designs import one_unit, pods

# What parts and links are called in the drawing, by hand.

SWITCH = Block(parts={"switch": Part(id="switch", kind="switch", name="QM9700")})


HOST = Block(
    parts={
        "server": Part(id="server", kind="server", name="Host"),
        "gpu0": Part(id="gpu0", kind="gpu", name="GPU 0", parent="server"),
        "nic0": Part(id="nic0", kind="nic", name="NIC", parent="server"),
        "nic1": Part(id="nic1", kind="nic", name="NIC", parent="server"),
    }
)


OTHER = Block(parts={"server": Part(id="server", kind="server", name="Spare")})


DESIGN = Block(
    parts={"nfs": Part(id="nfs", kind="storage", name="Storage")},
    groups={
        "hosts": Group(id="hosts", name="ESXi hosts", replicas=4, content=HOST, exceptions={2: OTHER}),
        "leaves": Group(id="leaves", name="Leaves", replicas=2, content=SWITCH),
    },
)


@pytest.mark.parametrize(
    ("path", "titles"),
    {
        "nfs": ("Storage", "Storage"),
        "hosts[1]/gpu0": ("ESXi host 2, GPU 0", "GPU 0"),
        "hosts[1]/server": ("ESXi host 2", "ESXi host 2"),
        "hosts[*]/gpu0": ("ESXi hosts, GPU 0", "GPU 0"),
        "hosts[1]": ("ESXi host 2", "ESXi host 2"),
        "leaves[0]/switch": ("Leaf 1", "Leaf 1"),
        # two are called so
        "hosts[0]/nic1": ("ESXi host 1, NIC [hosts[0]/nic1]", "NIC [hosts[0]/nic1]"),
        # what is not there stays as it is: a member without that part, a number beyond the members, no such group
        "hosts[2]/gpu0": ("hosts[2]/gpu0", "hosts[2]/gpu0"),
        "hosts[4]/gpu0": ("hosts[4]/gpu0", "hosts[4]/gpu0"),
        "racks[0]/gpu0": ("racks[0]/gpu0", "racks[0]/gpu0"),
        "Storage (media)": ("Storage (media)", "Storage (media)"),
        "": ("", ""),
    }.items(),
)
def test_parts_are_called_as_in_the_drawing(path: str, titles: tuple[str, str]) -> None:
    assert (part_title(DESIGN, path), part_title(DESIGN, path, alone=True)) == titles


def test_links_are_called_by_both_ends() -> None:
    assert link_title(DESIGN, "hosts[1]/gpu0 → nfs (pcie ×4)") == "ESXi host 2, GPU 0 → Storage (pcie ×4)"
    assert link_title(DESIGN, "leaves[0]/switch ↔ hosts[0]/gpu0 (ethernet)") == "Leaf 1 ↔ ESXi host 1, GPU 0 (ethernet)"
    assert link_title(DESIGN, "hosts[1]/gpu0 → leaves[1]/switch", alone=True) == "GPU 0 → Leaf 2"
    assert link_title(DESIGN, "nfs") == "Storage"


def test_links_in_a_sentence_are_called_by_their_names() -> None:
    text = "hosts[1]/gpu0 → nfs (pcie), hosts[0]/gpu0 ↔ leaves[0]/switch; nothing → else"
    assert in_names(DESIGN, text) == (
        "ESXi host 2, GPU 0 → Storage (pcie), ESXi host 1, GPU 0 ↔ Leaf 1; nothing → else"
    )


def test_members_of_groups_in_what_binds_are_called_by_their_names() -> None:
    assert (
        link_title(DESIGN, "vMotion streams of hosts[0]/gpu0, out: 1")
        == "vMotion streams of ESXi host 1, GPU 0, out: 1"
    )
    assert link_title(DESIGN, "client of nfs on hosts[1]") == "client of nfs on ESXi host 2"
    assert link_title(DESIGN, "shelves[0] of nothing") == "shelves[0] of nothing"


@pytest.mark.parametrize("template", ["hgx-h100-8", "su-h100-32", "vsphere-cluster-4"])
def test_every_part_of_a_design_has_a_title_of_its_own(template: str) -> None:
    design = open_design(template)
    net = build_network(design).net
    paths = [net.path(i) for i in range(min(net.n_parts, 2000))]
    titles = [part_title(design, path) for path in paths]
    assert len(set(titles)) == len(paths)


def test_a_text_without_end_is_searched_no_further_than_it_is_read() -> None:
    """A word of so many letters was looked through again from each of them, for minutes."""
    assert in_names(DESIGN, "x" * 300_000) == "x" * 300_000


# Names of members by the pattern of their group.


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


# New ids, and addresses through groups.


@pytest.mark.parametrize(
    ("taken", "wish", "given_id"),
    [
        ([], "gpu0", "gpu0"),
        (["gpu0"], "gpu0", "gpu1"),
        (["gpu0", "gpu1", "gpu3"], "gpu0", "gpu2"),
        (["rack09"], "rack09", "rack10"),
        (["rack099"], "rack099", "rack100"),
        (["leaf"], "leaf", "leaf2"),
        (["9"], "9", "10"),
        (["a" * 200], "a" * 200, "a" * 190 + "2"),
    ],
)
def test_natural_numbering(taken: list[str], wish: str, given_id: str) -> None:
    assert next_id(taken, wish) == given_id


WISHES = st.lists(st.from_regex(r"[a-c]{1,2}[0-9]{0,3}", fullmatch=True), max_size=30)


@given(WISHES, st.sets(st.sampled_from(["a0", "a1", "b", "c09"])))
def test_ids_are_new_and_valid(wishes: list[str], taken: set[str]) -> None:
    numberer = Numberer(taken)
    given_ids = [numberer.take(wish) for wish in wishes]
    assert len(set(given_ids)) == len(wishes)
    assert not set(given_ids) & taken
    assert all(check_id(i) for i in given_ids)


def test_names_follow_numbers() -> None:
    assert renumbered("GPU 0", "gpu0", "gpu8") == "GPU 8"
    assert renumbered("GPU 1", "gpu0", "gpu8") == "GPU 1"
    assert renumbered("", "gpu0", "gpu8") == ""


def test_addresses_lead_to_blocks_and_places() -> None:
    design = pods(2)
    within = ("pods", ("servers", 3))
    assert block_at(design, within) is block_at(design, ("pods", "servers"))
    assert address_text(within) == "pods[*]/servers[3]"
    assert place(within, "parts", "gpu0") == "groups.pods.content.groups.servers.exceptions.3.parts.gpu0"
    assert split_path("pods[1]/servers[*]/gpu0") == ((("pods", 1), ("servers", None)), "gpu0")
    assert get_item(block_at(design, within), Ref("parts", "gpu0")).kind == "gpu"
    for bad in (("x",), ("pods", ("servers", 32)), ("servers",)):
        with pytest.raises(DocumentError):
            block_at(design, bad)


def test_exchanging_a_block_shares_the_rest() -> None:
    design = pods(2)
    assert with_block(design, ("pods", "servers"), block_at(design, ("pods", "servers"))) is design
    changed = with_block(design, ("pods", ("servers", 3)), Block())
    servers = changed.groups["pods"].content.groups["servers"]
    assert dict(servers.exceptions) == {3: Block()}
    assert servers.content is design.groups["pods"].content.groups["servers"].content
    assert changed.groups["cores"] is design.groups["cores"]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("servers[0]/gpu0", True),
        ("servers[*]/gpu*", True),
        ("servers/gpu7", True),
        ("servers[0-1]/gpu{0-7}", True),
        ("servers[2]/gpu0", False),
        ("servers[0]/gpu8", False),
        ("gpu0", False),
        ("x[0]/gpu0", False),
        ("servers[0-2]/gpu0", False),
        ("servers[a]/gpu0", False),
        ("servers[0]/", False),
    ],
)
def test_reaching(path: str, found: bool) -> None:
    assert reaches(one_unit(2), path) is found
