"""Loads told in classes of channels are the loads of all channels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis.channel_classes import classes_by, together
from designer.analysis.class_splits import split
from designer.analysis.results import ChannelLoads, LoadsOfClasses
from designer.analysis.study import analyze
from designer.interchange.templates import open_design

numbers = st.lists(st.integers(0, 6), min_size=1, max_size=40)


@given(numbers)
def test_classes_are_of_equal_numbers_and_led_by_their_first(chosen: list[int]) -> None:
    for size in (7, 10**9):  # marked, and sorted
        classes = classes_by(np.array(chosen), size)
        assert np.array_equal(np.array(chosen)[classes.first][classes.of], chosen)
        assert [chosen.index(chosen[i]) for i in classes.first.tolist()] == classes.first.tolist()
        assert len(classes) == len(set(chosen))


@given(numbers, st.sets(st.integers(0, 6)), st.integers(0, 45))
def test_members_are_the_first_channels_of_the_classes(chosen: list[int], wanted: set[int], most: int) -> None:
    classes = classes_by(np.array(chosen), 7)
    asked = np.array([k for k, i in enumerate(classes.first.tolist()) if chosen[i] in wanted], dtype=np.int64)
    assert classes.members(asked, most).tolist() == [i for i, one in enumerate(chosen) if one in wanted][:most]
    assert classes.size.tolist() == [chosen.count(chosen[i]) for i in classes.first.tolist()]


@given(numbers, st.data())
def test_sizes_follow_a_split(chosen: list[int], data: st.DataObject) -> None:
    """Channels that became others are counted where they are now, and no others need be."""
    classes = classes_by(np.array(chosen), 7)
    rows = sorted(data.draw(st.sets(st.integers(0, len(chosen) - 1))))
    sign = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows))), dtype=np.int64)
    found = split(classes.of, classes.first, np.array(rows, dtype=np.int64), sign)
    assert found.sizes(classes.size).tolist() == np.bincount(found.of, minlength=len(found.first)).tolist()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40))
def test_channels_are_alike_together_where_both_say_so(pairs: list[tuple[int, int]]) -> None:
    one, other = (classes_by(np.array(column), 4) for column in zip(*pairs, strict=True))
    both = together(one, other)
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
    classes = classes_by(np.array(chosen) % len(values), len(values))
    load, used = np.array(values).T[:, (np.array(chosen) % len(values))[classes.first]]
    told = ChannelLoads.made(lambda: LoadsOfClasses(classes, load, used))
    flat = ChannelLoads(told.load, told.utilization)
    assert np.array_equal(told.busiest(most), flat.busiest(most))
    some = np.arange(len(chosen))[::2]
    assert np.array_equal(told.at(some), flat.at(some))
    assert np.array_equal(flat.in_classes().load, flat.load)


@pytest.mark.parametrize("name", ["hgx-h100-8", "cluster-1024"])
def test_loads_of_a_cluster_are_kept_once_for_each_class(name: str) -> None:
    """A cluster of 128 servers has hardly more classes than one of them, and what goes in comes out of each part."""
    found = analyze(open_design(name), curves=False)
    for loads in found.loads.values():
        told = loads.in_classes()
        assert len(told.classes) < 400
        assert loads.load.shape == told.classes.of.shape
        assert (loads.utilization <= 1 + 1e-9).all()
