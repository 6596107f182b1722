"""What binds, as sets, and what comes behind it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from designer.analysis.flows import Incidence, binding, next_bottleneck, solve
from tests.bench.instances import permutation
from tests.unit.analysis.flows.cases import INF, random_incidence, ring


def test_binding_is_where_the_level_is_highest_not_where_the_path_is_full():
    """The first link is full because of the fast activity; the slow one is bound by the second link alone."""
    incidence = Incidence.from_rows([[(0, 1.0)], [(0, 1.0), (1, 1.0)]], [10.0, 2.0])
    bottleneck = binding(incidence, solve(incidence))
    assert bottleneck.of(0).tolist() == [0]
    assert bottleneck.of(1).tolist() == [1]


def test_ties_give_the_whole_set():
    bottleneck = binding(ring(4), solve(ring(4)))
    assert bottleneck.of(0).tolist() == [0, 5]
    assert bottleneck.union(range(4)).tolist() == list(range(8))


def test_demand_alone_and_demand_together_with_a_resource():
    incidence = Incidence.from_rows([[(0, 1.0)], [(0, 1.0)], [(1, 1.0)]], [10.0, 10.0], demand=[5.0, INF, 4.0])
    bottleneck = binding(incidence, solve(incidence))
    assert bottleneck.by_demand.tolist() == [True, False, True]
    assert bottleneck.of(0).tolist() == [0]
    assert bottleneck.of(1).tolist() == [0]
    assert bottleneck.of(2).tolist() == []
    assert bottleneck.union([]).tolist() == []


def test_equals_the_definition_activity_by_activity():
    for seed in range(20):
        incidence = random_incidence(seed, 30, 10, tied=seed % 2 == 0)
        answer = solve(incidence)
        bottleneck = binding(incidence, answer)
        load = np.bincount(incidence.resource, incidence.usage * answer.rate[incidence.rows], incidence.n_resources)
        for activity in range(30):
            expected = [
                r
                for r in incidence.resource[incidence.ptr[activity] : incidence.ptr[activity + 1]]
                if load[r] >= incidence.capacity[r] * (1 - 1e-9)
                and answer.level[activity] >= answer.level[incidence.columns.users(r)].max() * (1 - 1e-9)
            ]
            assert bottleneck.of(activity).tolist() == sorted(expected)
            assert len(expected) or bottleneck.by_demand[activity]


def test_next_behind_a_single_bottleneck():
    incidence = Incidence.from_rows([[(0, 1.0), (1, 1.0), (2, 1.0)]], [25.0, 50.0, 63.0])
    behind = next_bottleneck(incidence, 0)
    assert behind.first.tolist() == [0]
    assert behind.then.tolist() == [1]
    assert behind.rate_now.tolist() == [25.0]
    assert behind.rate_then.tolist() == [50.0]


def test_next_behind_a_tied_set():
    """Sending and receiving bind together; behind both stands PCIe."""
    incidence = ring(4)
    behind = next_bottleneck(incidence, range(4), solve(incidence))
    assert behind.first.tolist() == list(range(8))
    assert behind.then.tolist() == list(range(8, 12))
    assert_allclose(behind.rate_then / behind.rate_now, 63 / 50)


def test_next_is_the_demand():
    incidence = Incidence.from_rows([[(0, 1.0)], [(0, 1.0)]], [10.0], demand=[8.0, INF])
    behind = next_bottleneck(incidence, 0)
    assert behind.then.tolist() == []
    assert behind.by_demand.tolist() == [True]
    assert behind.rate_then.tolist() == [8.0]


def test_nothing_behind():
    incidence = Incidence.from_rows([[(0, 1.0)], [(0, 1.0), (1, 1.0)]], [10.0, 7.0])
    behind = next_bottleneck(incidence, [0, 1])
    assert behind.first.tolist() == [0]
    assert behind.then.tolist() == [1]
    assert behind.rate_then.tolist() == [INF, 7.0]


def test_demand_bottleneck_has_no_bottleneck_to_remove():
    behind = next_bottleneck(Incidence.from_rows([[(0, 1.0)]], [10.0], demand=[2.0]), 0)
    assert behind.first.tolist() == []
    assert behind.rate_then.tolist() == [2.0]


def test_next_agrees_with_a_very_fast_replacement():
    for seed in range(20):
        incidence = random_incidence(seed, 12, 8, capped=False)
        now = solve(incidence)
        slow = int(np.argmin(now.rate))
        behind = next_bottleneck(incidence, slow, now)
        capacity = incidence.capacity.copy()
        capacity[behind.first] *= 1e7
        fast = solve(incidence.with_capacity(capacity)).rate[slow]
        if np.isfinite(behind.rate_then[0]):
            assert fast == pytest.approx(behind.rate_then[0], rel=1e-9)
        else:
            assert fast > 1e5 * now.rate[slow]


def test_many_activities_at_once():
    incidence = permutation(128)
    answer = solve(incidence)
    bottleneck = binding(incidence, answer)
    assert (bottleneck.by_demand | (np.diff(bottleneck.ptr) > 0)).all()
    behind = next_bottleneck(incidence, np.flatnonzero(answer.level == answer.level.min()), answer)
    assert (behind.rate_then >= behind.rate_now).all()
