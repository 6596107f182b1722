"""What is asked of a design: containment, neighbours, peers, its graph, its elaboration, and differences of two."""

from __future__ import annotations

import networkx

from designer.design.address import Ref
from designer.design.diff import diff
from designer.design.document import Annotation, Block, Design, Group, Link, Part, Position
from designer.design.edits.annotations import AddAnnotations
from designer.design.edits.groups import ChangeGroups, SetReplicas
from designer.design.edits.parts import ChangeParts, RemoveParts, SetValue
from designer.design.edits.placement import Place
from designer.design.edits.properties import SetPolicy, SetProperties
from designer.design.edits.structure import Delete
from designer.design.elaborate import elaborate
from designer.design.graph import to_networkx
from designer.design.peers import degraded_links
from designer.design.query import (
    children,
    contents,
    count_groups,
    links_of,
    neighbours,
    roots,
    summarize,
)
from designer.fields import Quantity
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import dumps
from designer.sources import Status
from tests.designs import one_server, one_unit, pods
from tests.made_edits import MakeException

# Containment, neighbours and counts.


def test_containment_and_neighbours() -> None:
    server = one_server()
    assert [p.id for p in roots(server)] == ["server"]
    assert len(children(server, "server")) == len(server.parts) - 1
    assert contents(server, ["server"]) == set(server.parts)
    assert set(neighbours(server, "gpu0")) == {"psw0", "nvsw0", "nvsw1", "nvsw2", "nvsw3"}
    assert {x.id for x in links_of(server, "cpu0")} >= {"upi", "bus0"}


def test_an_index_does_not_outlive_a_change() -> None:
    server = one_server()
    assert "psw0" in neighbours(server, "gpu0")
    smaller = Delete((Ref("parts", "psw0"),)).apply(server)
    assert "psw0" not in neighbours(smaller, "gpu0")


def test_summary_counts_after_elaboration_by_hand() -> None:
    summary = summarize(pods(2), "pods.design.json")
    servers = 2 * 32
    assert summary["design"] == {"name": "pods2", "file": "pods.design.json"}
    assert summary["parts"] == {
        "cpu": 2 * servers,
        "gpu": 8 * servers,
        "memory": 2 * servers,
        "nic": 10 * servers,
        "nvswitch": 4 * servers,
        "pcie_switch": 8 * servers,
        "server": servers,
        "switch": 2 * (8 + 4) + 32,
    }
    # rails: 8 NICs a server; leaves to spines: 8 leaves × 4 spines × 8; spines to cores: 8 spines × 8 cores × 8
    assert summary["links"]["infiniband"] == 8 * servers + 2 * 8 * 4 * 8 + 8 * 8 * 8
    assert summary["links"]["nvlink"] == 8 * 18 * servers
    assert (summary["groups"], summary["workloads"], summary["vms"]) == (5, [], 0)


def test_counts_agree_with_elaboration_where_members_are_exceptions() -> None:
    design = Delete((Ref("parts", "gpu3"), Ref("parts", "nic4")), within=(("servers", 1),)).apply(one_unit(4))
    net = elaborate(design)
    summary = summarize(design)
    assert sum(summary["parts"].values()) == net.n_parts
    assert sum(summary["links"].values()) == sum(net.link(i).count for i in range(net.n_links))
    assert count_groups(design) == 3


# A design as a networkx graph.


def test_every_part_is_a_node_and_every_link_two_edges() -> None:
    design = one_unit(2)
    graph, net = to_networkx(design), elaborate(design)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (net.n_parts, 2 * net.n_links)
    assert graph.nodes["servers[1]/gpu0"]["parent"] == "servers[1]/server"
    edge = graph.edges["servers[0]/gpu0", "servers[0]/nvsw1", "servers[0]/gpu0--nvsw1"]
    assert edge["bandwidth_per_direction"] == 25e9
    assert (edge["capacity"], edge["count"], edge["kind"]) == (125e9, 5, "nvlink")
    for a, b, key, data in graph.edges(keys=True, data=True):
        assert graph.edges[b, a, key] == data
        assert data["link"] == key
    assert len({key for _, _, key in graph.edges(keys=True)}) == net.n_links


def test_values_are_in_si_units_and_overrides_win() -> None:
    values = {
        "memory_capacity": {"value": "80 GB"},
        "architecture": {"value": "Hopper"},
        "nvlink_links": {"value": 18},
    }
    gpu = {"id": "gpu/x/y", "kind": "gpu", "title": "Y", "values": values}
    part = {"id": "a", "kind": "gpu", "type": "gpu/x/y", "overrides": {"memory_capacity": {"value": "96 GB"}}}
    node = to_networkx(Design.model_validate({"name": "x", "parts": [part], "part_types": [gpu]})).nodes["a"]
    assert node == {
        "kind": "gpu",
        "type": "gpu/x/y",
        "name": "a",
        "memory_capacity": 96e9,
        "architecture": "Hopper",
        "nvlink_links": 18.0,
    }


def test_it_can_be_written_as_graphml() -> None:
    text = "\n".join(networkx.generate_graphml(to_networkx(one_unit(2))))
    assert networkx.parse_graphml(text, force_multigraph=True).number_of_nodes() == elaborate(one_unit(2)).n_parts


# Links compared with those of equal parts.


def _part(part_id: str, kind: str = "nic", product: str = "CX") -> Part:
    return Part(id=part_id, kind=kind, attributes={"product": product} if product else {})


def _design(*lanes: int, status: Status = Status.PRIMARY, product: str = "CX") -> Design:
    parts = [_part("numa0", "numa"), *(_part(f"nic{n}", product=product) for n in range(len(lanes)))]
    links = [
        Link(id=f"l{n}", kind="pcie", a="numa0", b=f"nic{n}", generation=4, lanes=width, status=status)
        for n, width in enumerate(lanes)
    ]
    return Design(name="d", parts={p.id: p for p in parts}, links={v.id: v for v in links})


def test_the_slower_twin_is_named() -> None:
    (finding,) = degraded_links(_design(16, 8, 16))
    assert finding.where == ("nic1", "l1")
    assert "Gen4 x8" in finding.text


def test_equal_unknown_and_assumed_links_are_quiet() -> None:
    assert degraded_links(_design(16, 16)) == ()
    assert degraded_links(_design(16, 8, status=Status.ASSUMED)) == ()
    assert degraded_links(_design(16, 8, product="")) == ()
    assert degraded_links(Design(name="empty")) == ()


def test_a_lost_nvlink_is_named() -> None:
    parts = [_part("nvswitch0", "nvswitch"), *(_part(f"gpu{n}", "gpu", "H100") for n in range(3))]
    links = [
        Link(id=f"l{n}", kind="nvlink", a=f"gpu{n}", b="nvswitch0", count=18 - (n == 2), status=Status.PRIMARY)
        for n in range(3)
    ]
    (finding,) = degraded_links(Design(name="d", parts={p.id: p for p in parts}, links={v.id: v for v in links}))
    assert finding.where == ("gpu2",)
    assert "17 NVLinks" in finding.text


def test_members_of_groups_are_compared_once() -> None:
    whole, half = (Block(**{k: getattr(_design(n), k) for k in ("parts", "links")}) for n in (16, 8))
    group = Group(id="servers", replicas=1000, content=whole, exceptions={7: half})
    (finding,) = degraded_links(Design(name="d", groups={"servers": group}))
    assert finding.where == ("servers[7]/nic0", "servers[7]/l0")


# Elaborated designs and what is kept of them.


def test_netlists_of_many_designs_do_not_pile_up() -> None:
    """A netlist keeps its design alive, so it weighs what the definitions of its parts weigh, not only its arrays."""
    parts = {f"gpu{n}": Part(id=f"gpu{n}", kind="gpu") for n in range(2000)}
    designs = [Design(name=f"d{n}", parts=parts) for n in range(80)]
    first, last = elaborate(designs[0]), None
    for design in designs:
        last = elaborate(design)
    assert elaborate(designs[-1]) is last
    assert elaborate(designs[0]) is not first


# What changed between two designs.


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
