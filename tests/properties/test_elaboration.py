"""What elaboration keeps: counts, paths, parents, and how many links each pattern gives a part."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from designer.design.document import Block, Design, Group, Link, Part, Wiring
from designer.design.elaborate import count_links, count_parts, elaborate
from designer.design.query import count_kinds

KINDS = ("gpu", "nic", "switch")


@st.composite
def blocks(draw: st.DrawFn, depth: int = 2) -> Block:
    """Blocks with parts in parts, links, and groups with exceptions in them."""
    n = draw(st.integers(1, 4))
    parts = [
        Part(
            id=f"p{i}",
            kind=draw(st.sampled_from(KINDS)),
            parent=draw(st.sampled_from([None, *(f"p{j}" for j in range(i))])),
        )
        for i in range(n)
    ]
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=4))
    links = [Link(id=f"l{k}", a=f"p{a}", b=f"p{b}", kind="pcie") for k, (a, b) in enumerate(pairs) if a != b]
    groups: list[Group] = []
    if depth:
        for g in range(draw(st.integers(0, 2))):
            replicas = draw(st.integers(1, 4))
            odd = draw(st.sets(st.integers(0, replicas - 1), max_size=2))
            groups.append(
                Group(
                    id=f"g{g}",
                    replicas=replicas,
                    content=draw(blocks(depth=depth - 1)),
                    exceptions={k: draw(blocks(depth=depth - 1)) for k in odd},
                    parent=draw(st.sampled_from([None, "p0"])),
                )
            )
    return Block.model_validate({"parts": parts, "links": links, "groups": groups})


@given(blocks())
def test_counts_are_products_of_replicas(block: Block) -> None:
    net = elaborate(block)
    assert net.n_parts == count_parts(block)
    assert net.n_links == count_links(block)
    assert Counter(net.part(i).kind for i in range(net.n_parts)) == count_kinds(block)


@given(blocks())
def test_paths_and_numbers_are_one_to_one(block: Block) -> None:
    net = elaborate(block)
    paths = [net.path(i) for i in range(net.n_parts)]
    assert len(set(paths)) == net.n_parts
    assert [net.index_of(path) for path in paths] == list(range(net.n_parts))
    links = [net.link_path(i) for i in range(net.n_links)]
    assert len(set(links)) == net.n_links
    assert net.paths(np.arange(net.n_parts)[::-1]) == paths[::-1]
    assert net.link_paths(np.arange(net.n_links)[::-1]) == links[::-1]


@given(blocks())
def test_parents_and_ends_stay_within_their_member(block: Block) -> None:
    net = elaborate(block)
    for i in range(net.n_parts):
        own, above = net.path(i), int(net.parent[i])
        if above >= 0:
            holder = net.path(above)
            same = holder.rpartition("/")[0] == own.rpartition("/")[0]
            assert same or net.part(i).parent is None
            if same:
                assert net.part(i).parent == net.part(above).id
    for i in range(net.n_links):
        where = net.link_path(i).rpartition("/")[0]
        for end, side in ((net.link_a, "a"), (net.link_b, "b")):
            expected = getattr(net.link(i), side)
            assert net.path(int(end[i])) == (f"{where}/{expected}" if where else expected)


def connected(pattern: str, members: int, ports: int, others: int, missing: set[tuple[int, int]]) -> Design:
    """Servers with NICs, some lacking one, connected to leaves."""
    nics = [Part(id=f"nic{i}", kind="nic") for i in range(ports)]
    exceptions = {
        m: Block.model_validate({"parts": [n for i, n in enumerate(nics) if (m, i) not in missing]})
        for m in {m for m, _ in missing}
    }
    servers = Group(
        id="servers", replicas=members, content=Block.model_validate({"parts": nics}), exceptions=exceptions
    )
    leaf = Block.model_validate({"parts": [Part(id="sw", kind="switch")]})
    leaves = Group(id="leaves", replicas=others, content=leaf)
    wiring = Wiring(id="w", pattern=pattern, a="servers[*]/nic*", b="leaves[*]/sw", kind="ethernet")
    return Design.model_validate({"name": "x", "groups": [servers, leaves], "wirings": [wiring]})


@given(st.data(), st.integers(1, 6), st.integers(1, 4), st.integers(1, 3))
def test_patterns_give_every_part_its_degree(data: st.DataObject, members: int, ports: int, factor: int) -> None:
    # member 0 has all ports: what no member has is no place
    places = st.tuples(st.integers(1, max(1, members - 1)), st.integers(0, ports - 1))
    missing = data.draw(st.sets(places) if members > 1 else st.just(set[tuple[int, int]]()))
    sizes = {"mesh": factor, "spread": factor, "rails": ports * factor, "pairs": members * ports}
    for pattern, others in sizes.items():
        whole = elaborate(connected(pattern, members, ports, others, set()))
        net = elaborate(connected(pattern, members, ports, others, missing))
        left = {(net.path(int(a)), net.path(int(b))) for a, b in zip(net.link_a, net.link_b, strict=True)}
        gone = {f"servers[{m}]/nic{i}" for m, i in missing}
        full = {(whole.path(int(a)), whole.path(int(b))) for a, b in zip(whole.link_a, whole.link_b, strict=True)}
        assert left == {pair for pair in full if pair[0] not in gone}, "a gap moves no other link"
        degrees = Counter(a for a, _ in full)
        assert set(degrees.values()) == {others if pattern == "mesh" else 1}
        assert len(degrees) == members * ports
        if pattern == "rails":
            assert all(int(a.rsplit("nic", 1)[1]) == int(b[7:].split("]")[0]) % ports for a, b in full)
        if pattern == "spread":
            loads = Counter(b for _, b in full).values()
            assert max(loads) - min(loads) <= 1


def test_a_mesh_of_a_selection_with_itself_joins_every_pair_once() -> None:
    design = connected("mesh", 4, 1, 1, set())
    wiring = design.wirings["w"].model_copy(update={"b": "servers[*]/nic*"})
    net = elaborate(design.model_copy(update={"wirings": {"w": wiring}}))
    pairs = np.sort(np.stack([net.link_a, net.link_b]), axis=0)
    assert len({tuple(p) for p in pairs.T.tolist()}) == net.n_links == 6
