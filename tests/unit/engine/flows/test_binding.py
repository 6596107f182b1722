"""What binds, as sets, and what comes behind it."""

import numpy as np

from designer.engine.flows import Incidence, binding, solve
from tests.bench.instances import permutation
from tests.unit.engine.flows.cases import INF, random_incidence, ring


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


def test_many_activities_at_once():
    incidence = permutation(128)
    answer = solve(incidence)
    bottleneck = binding(incidence, answer)
    assert (bottleneck.by_demand | (np.diff(bottleneck.ptr) > 0)).all()
