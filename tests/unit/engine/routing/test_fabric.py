"""Distances and ways through switches, against a textbook search."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from designer.engine.routes.routing.fabric import SwitchGraph, hashed_paths, measure, split_paths


def random_graph(seed: int, n: int, links: int) -> tuple[SwitchGraph, nx.MultiDiGraph]:
    """Random bundles, parallel ones too; not always connected."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, n, links), rng.integers(0, n, links)
    a, b = a[a != b], b[a != b]
    cables = rng.integers(1, 5, len(a))
    channel = 2 * np.arange(len(a))
    graph = SwitchGraph.of(
        n, np.concatenate([a, b]), np.concatenate([b, a]), np.concatenate([channel, channel + 1]), np.tile(cables, 2)
    )
    textbook = nx.MultiDiGraph()
    textbook.add_nodes_from(range(n))
    for x, y, c, w in zip(a.tolist(), b.tolist(), channel.tolist(), cables.tolist(), strict=True):
        textbook.add_edge(x, y, key=c, cables=w)
        textbook.add_edge(y, x, key=c + 1, cables=w)
    return graph, textbook


def expected_shares(textbook: nx.MultiDiGraph, source: int, target: int) -> dict[int, float]:
    """Hop by hop: what a switch has goes to the next hops on shortest ways, in proportion to their cables."""
    far = nx.single_source_shortest_path_length(textbook.reverse(), target)
    has, carried = {source: 1.0}, {}
    while has:
        at = max(has, key=far.__getitem__)
        amount = has.pop(at)
        steps = [(y, k, d["cables"]) for _, y, k, d in textbook.out_edges(at, keys=True, data=True)]
        steps = [s for s in steps if far.get(s[0]) == far[at] - 1]
        total = sum(s[2] for s in steps)
        for y, k, w in steps:
            carried[k] = carried.get(k, 0.0) + amount * w / total
            if y != target:
                has[y] = has.get(y, 0.0) + amount * w / total
    return carried


SEEDS, SIZES = st.integers(0, 2**31), st.integers(2, 90)


@given(SEEDS, SIZES, st.floats(0.3, 3))
def test_distances_are_those_of_a_breadth_first_search(seed: int, n: int, density: float):
    graph, textbook = random_graph(seed, n, int(n * density))
    distances = measure(graph, [[t] for t in range(n)])
    table = np.full((n, n), -1)
    for source, found in nx.all_pairs_shortest_path_length(textbook):
        for target, far in found.items():
            table[source, target] = far
    source, target = np.divmod(np.arange(n * n), n)
    assert np.array_equal(distances.of(source, target), table.ravel())


@given(SEEDS, SIZES, st.lists(st.integers(0, 89), min_size=1, max_size=5))
def test_a_target_may_be_several_switches(seed: int, n: int, chosen: list[int]):
    graph, textbook = random_graph(seed, n, 2 * n)
    target = sorted({c % n for c in chosen})
    distances = measure(graph, [target])
    found = distances.of(np.arange(n), np.zeros(n, dtype=np.int64))
    nearest = nx.multi_source_dijkstra_path_length(textbook, target)
    assert found.tolist() == [nearest.get(s, -1) for s in range(n)]


@given(SEEDS, st.integers(3, 40))
def test_splits_are_hop_by_hop_and_count_cables(seed: int, n: int):
    graph, textbook = random_graph(seed, n, 3 * n)
    rng = np.random.default_rng(seed)
    pairs = [(int(a), int(b)) for a, b in rng.integers(0, n, (8, 2)) if a != b and nx.has_path(textbook, a, b)]
    if not pairs:
        return
    switch, goal = np.array(pairs).T
    targets = sorted(set(goal.tolist()))
    distances = measure(graph, [[t] for t in targets])
    number = np.searchsorted(targets, goal)
    ways = split_paths(graph, distances, np.arange(len(pairs)), switch, number, np.ones(len(pairs)))
    for i, (a, b) in enumerate(pairs):
        mine = ways.request == i
        found = np.bincount(ways.channel[mine], ways.share[mine], minlength=1)
        expected = expected_shares(textbook, a, b)
        assert set(np.flatnonzero(found)) == set(expected)
        for channel, share in expected.items():
            assert_allclose(found[channel], share, atol=1e-12)
        last = ways.last_request == i
        assert ways.last_switch[last].tolist() == [b]
        assert_allclose(ways.last_share[last], 1)


@given(SEEDS, st.integers(3, 40))
def test_a_hashed_way_is_one_of_the_shortest(seed: int, n: int):
    graph, textbook = random_graph(seed, n, 3 * n)
    far = nx.single_source_shortest_path_length(textbook.reverse(), 0)
    switch = np.array(sorted(s for s in far if s))
    if not len(switch):
        return
    distances = measure(graph, [[0]])
    ways = hashed_paths(graph, distances, np.arange(len(switch)), switch, np.zeros(len(switch), dtype=np.int64), seed)
    ends = {k: (x, y) for x, y, k in textbook.edges(keys=True)}
    for i, start in enumerate(switch.tolist()):
        at = start
        for channel in ways.channel[ways.request == i].tolist():
            assert ends[channel][0] == at
            assert far[ends[channel][1]] == far[at] - 1
            at = ends[channel][1]
        assert at == 0


def test_hashing_is_even_over_cables():
    """Three bundles of 1, 2 and 5 cables to the same place: requests follow the cables."""
    source, target, cables = np.array([0, 0, 0]), np.array([1, 1, 1]), np.array([1, 2, 5])
    graph = SwitchGraph.of(2, source, target, np.array([0, 2, 4]), cables)
    n = 8000
    ways = hashed_paths(
        graph, measure(graph, [[1]]), np.arange(n), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), 7
    )
    assert_allclose(np.bincount(ways.channel, minlength=5)[[0, 2, 4]] / n, cables / 8, atol=0.02)


def test_no_switch_and_no_step():
    empty = SwitchGraph.of(*([0] + [np.empty(0, dtype=np.int64)] * 4))
    assert measure(empty, []).of(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)).tolist() == []
    single = SwitchGraph.of(1, *[np.empty(0, dtype=np.int64)] * 4)
    assert measure(single, [[0]]).of(np.array([0]), np.array([0])).tolist() == [0]
