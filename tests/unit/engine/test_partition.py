"""Partitions: rows of equal numbers, after a split, by refinement; loads in classes are the loads of all channels."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis.study import analyze
from designer.engine.network.partition import Partition, by_value, numbered, refined
from designer.engine.results import ChannelLoads, LoadsOfClasses
from designer.interchange.templates import open_design

numbers = st.lists(st.integers(0, 6), min_size=1, max_size=40)


@given(numbers)
def test_classes_are_of_equal_numbers_and_led_by_their_first(chosen: list[int]) -> None:
    for size in (7, 10**9):  # marked, and sorted
        classes = numbered(np.array(chosen), size)
        assert np.array_equal(np.array(chosen)[classes.first][classes.of], chosen)
        assert [chosen.index(chosen[i]) for i in classes.first.tolist()] == classes.first.tolist()
        assert len(classes) == len(set(chosen))


@given(numbers, st.sets(st.integers(0, 6)), st.integers(0, 45))
def test_members_are_the_first_channels_of_the_classes(chosen: list[int], wanted: set[int], most: int) -> None:
    classes = numbered(np.array(chosen), 7)
    asked = np.array([k for k, i in enumerate(classes.first.tolist()) if chosen[i] in wanted], dtype=np.int64)
    assert classes.members(asked, most).tolist() == [i for i, one in enumerate(chosen) if one in wanted][:most]
    assert classes.many.tolist() == [chosen.count(chosen[i]) for i in classes.first.tolist()]


@given(numbers, st.data())
def test_sizes_follow_a_split(chosen: list[int], data: st.DataObject) -> None:
    """Channels that became others are counted where they are now, and no others need be."""
    classes = numbered(np.array(chosen), 7)
    rows = sorted(data.draw(st.sets(st.integers(0, len(chosen) - 1))))
    sign = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows))), dtype=np.int64)
    counted = Partition(classes.of, classes.first, classes.many)
    found, was = counted.split(np.array(rows, dtype=np.int64), sign)
    assert found.many.tolist() == np.bincount(found.of, minlength=len(found)).tolist()
    assert np.array_equal(np.array(chosen)[found.first], np.array(chosen)[classes.first[was]])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_channels_are_alike_together_where_both_say_so(pairs: list[tuple[int, int]]) -> None:
    one, other = (numbered(np.array(column), 4) for column in zip(*pairs, strict=True))
    both = one.together(other)
    assert len(both) == len(set(pairs))
    assert [pairs[i] for i in both.first[both.of].tolist()] == pairs


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 1.0, 5.0]), st.sampled_from([0.0, 0.2, 0.9])), min_size=1, max_size=6),
    numbers,
    st.integers(0, 45),
)
def test_the_busiest_are_those_of_all_channels_in_the_same_order(
    values: list[tuple[float, float]], chosen: list[int], most: int
) -> None:
    """Two classes may be as full as each other: then channels of both stand by number."""
    classes = numbered(np.array(chosen) % len(values), len(values))
    load, used = np.array(values).T[:, (np.array(chosen) % len(values))[classes.first]]
    stated = ChannelLoads.made(lambda: LoadsOfClasses(classes, load, used))
    flat = ChannelLoads(stated.load, stated.utilization)
    assert np.array_equal(stated.busiest(most), flat.busiest(most))
    some = np.arange(len(chosen))[::2]
    assert np.array_equal(stated.at(some), flat.at(some))
    assert np.array_equal(flat.in_classes().load, flat.load)


@pytest.mark.parametrize("name", ["hgx-h100-8", "cluster-1024"])
def test_loads_of_a_cluster_are_kept_once_for_each_class(name: str) -> None:
    """A cluster of 128 servers has hardly more classes than one of them, and what goes in comes out of each part."""
    found = analyze(open_design(name), curves=False)
    for loads in found.loads.values():
        stated = loads.in_classes()
        assert len(stated.classes) < 400
        assert loads.load.shape == stated.classes.of.shape
        assert (loads.utilization <= 1 + 1e-9).all()


pairs_of_a_graph = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 2)), min_size=1, max_size=12, unique=True
)


@given(pairs_of_a_graph, st.integers(1, 5), st.randoms(use_true_random=False))
def test_refined_colours_are_equitable_and_the_coarsest(
    pairs: list[tuple[int, int, int]], copies: int, draw: random.Random
) -> None:
    """Copies of a graph, each pair joined to copies at random: no more classes than the graph has nodes, and in each
    class every node has as many neighbours of every class by every label."""
    rows: list[tuple[int, int, int]] = []
    for one, other, label in pairs:
        targets = draw.sample(range(copies), copies)
        rows += [(one * copies + k, other * copies + targets[k], label) for k in range(copies)]
    columns = np.array(rows, dtype=np.int64).T
    colour = refined(np.zeros(6 * copies, dtype=np.uint64), [(columns[0], columns[1], columns[2].view(np.uint64))])
    classes = by_value(colour)
    assert len(classes) <= 6
    around: list[list[tuple[int, int, int]]] = [[] for _ in range(6 * copies)]
    for one, other, label in rows:
        around[one].append((0, label, int(classes.of[other])))
        around[other].append((1, label, int(classes.of[one])))
    for node, near in enumerate(around):
        assert sorted(near) == sorted(around[int(classes.first[classes.of[node]])])


def test_a_node_that_stands_for_several_counts_as_often() -> None:
    """A node with two neighbours, and one with a neighbour that represents two, have the same colour."""
    one, other = np.array([0, 0, 1]), np.array([2, 3, 4])
    label = np.zeros(3, dtype=np.uint64)
    for times, equal in ((np.array([1, 1, 1, 1, 2]), True), (np.ones(5, dtype=np.int64), False)):
        colour = refined(np.array([1, 1, 2, 2, 2], dtype=np.uint64), [(one, other, label)], times)
        assert bool(colour[0] == colour[1]) == equal
