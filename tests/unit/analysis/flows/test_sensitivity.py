"""Derivatives against finite differences, what-ifs against re-solves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from designer.analysis.flows import (
    Incidence,
    adjoint,
    binding,
    completion_time,
    gain_if_doubled,
    harmonic_mean,
    maxmin,
    sensitivity,
    slowest,
    solve,
    total,
)
from designer.errors import AnalysisError
from tests.bench.instances import chain, random_dense
from tests.unit.analysis.flows.cases import INF, random_incidence, ring

OBJECTIVES = {
    "slowest": lambda n: slowest(),
    "total": lambda n: total(),
    "harmonic": lambda n: harmonic_mean(),
    "completion": lambda n: completion_time(np.linspace(1, 3, n)),
}


def finite_differences(incidence, objective, relative=1e-6):
    slopes = []
    for resource in range(incidence.n_resources):
        values = []
        for sign in (1, -1):
            capacity = incidence.capacity.copy()
            capacity[resource] *= 1 + sign * relative
            values.append(objective.value(solve(incidence.with_capacity(capacity)).rate))
        slopes.append((values[0] - values[1]) / (2 * relative * incidence.capacity[resource]))
    return np.array(slopes)


@pytest.mark.parametrize("method", ["rounds", "heap"])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_adjoint_equals_finite_differences(name, method):
    for seed in range(25):
        incidence = random_incidence(seed, 12, 8, capped=seed % 2 == 0)
        objective = OBJECTIVES[name](12)
        answer = solve(incidence, method=method)
        slopes = adjoint(incidence, answer, objective.gradient(answer.rate))
        assert_allclose(slopes, finite_differences(incidence, objective), rtol=1e-4, atol=1e-6)


def test_adjoint_of_a_larger_problem_and_of_mixed_methods():
    incidence = random_dense(300, 60, 5)
    answers = [solve(incidence, method=method) for method in ("auto", "rounds", "heap")]
    assert answers[0].method == "rounds, then heap"
    slopes = [adjoint(incidence, answer, np.ones(300)) for answer in answers]
    assert_allclose(slopes[0], slopes[1], atol=1e-9)
    assert_allclose(slopes[0], slopes[2], atol=1e-9)
    assert_allclose(slopes[0], finite_differences(incidence, total()), rtol=1e-3, atol=1e-5)


def test_adjoint_passes_through_a_long_chain():
    """Raising the first of a chain takes from its neighbour, which leaves it to the next, and so on."""
    incidence = Incidence.from_rows([[(i, 1.0), (i + 1, 1.0)] for i in range(6)], [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 99.0])
    answer = solve(incidence)
    assert_allclose(answer.rate, [1, 2, 3, 4, 5, 6])
    assert_allclose(adjoint(incidence, answer, [0, 0, 0, 0, 0, 1.0]), [-1, 1, -1, 1, -1, 1, 0])


def test_adjoint_of_met_demands_is_zero():
    incidence = Incidence.from_rows([[(0, 1.0)], [(0, 1.0)]], [10.0], demand=[3.0, 4.0])
    assert adjoint(incidence, solve(incidence), [1.0, 1.0]).tolist() == [0.0]


def test_adjoint_of_a_demand_behind_a_bottleneck():
    incidence = Incidence.from_rows([[(0, 1.0)], [(0, 1.0)]], [10.0], demand=[3.0, INF])
    assert adjoint(incidence, solve(incidence), [1.0, 1.0]).tolist() == [1.0]


def test_adjoint_with_unused_resources_and_rowless_activities():
    incidence = Incidence.from_rows([[], [(1, 2.0)]], [10.0, 10.0], demand=[3.0, INF])
    assert adjoint(incidence, solve(incidence), [1.0, 1.0]).tolist() == [0.0, 0.5]


@pytest.mark.parametrize("method", ["rounds", "heap"])
def test_adjoint_splits_ties_so_that_a_joint_raise_is_right(method):
    incidence = ring(8)
    answer = solve(incidence, method=method)
    slopes = adjoint(incidence, answer, slowest().gradient(answer.rate))
    assert_allclose(slopes[:16], 1 / 16)
    assert_allclose(slopes[16:], 0)
    # all sends and receives up by 1 B/s: the slowest gains 1 B/s
    capacity = incidence.capacity.copy()
    capacity[:16] += 1
    gained = solve(incidence.with_capacity(capacity)).rate.min() - answer.rate.min()
    assert slopes[:16].sum() == pytest.approx(gained)


def test_adjoint_refuses_a_wrong_gradient():
    incidence = ring(4)
    answer = solve(incidence)
    with pytest.raises(AnalysisError, match="4 activities"):
        adjoint(incidence, answer, [1.0])
    with pytest.raises(AnalysisError, match="finite"):
        adjoint(incidence, answer, [1.0, 1.0, 1.0, INF])


def test_gain_is_the_exact_ratio():
    for seed in range(10):
        incidence = random_incidence(seed, 12, 8)
        now = solve(incidence)
        candidates = [[r] for r in range(8)] + [[0, 1], range(8)]
        gains = gain_if_doubled(incidence, candidates, total(), now)
        for candidate, gain in zip(candidates, gains, strict=True):
            capacity = incidence.capacity.copy()
            capacity[list(candidate)] *= 2
            assert gain == pytest.approx(
                solve(incidence.with_capacity(capacity)).rate.sum() / now.rate.sum(), rel=1e-12
            )


def test_what_binds_nobody_is_answered_without_a_solve(monkeypatch):
    incidence = ring(4)
    now = solve(incidence)
    monkeypatch.setattr(sensitivity, "solve", lambda *_: pytest.fail("solved in vain"))
    assert gain_if_doubled(incidence, [[8], [9, 10, 11], [0], []], allocation=now) == [1.0] * 4


def test_time_gains_are_above_one_when_time_falls():
    incidence = Incidence.from_rows([[(0, 1.0)], [(1, 1.0)]], [10.0, 40.0])
    goal = completion_time([100.0, 100.0])
    assert goal.value(solve(incidence).rate) == 10.0
    assert gain_if_doubled(incidence, [[0], [1], [0, 1]], goal) == [2.0, 1.0, 2.0]


def test_a_gain_can_be_a_loss():
    """A faster first link lets its activity take more of a later one, from the slowest there."""
    rows = [[(0, 1.0), (1, 1.0)], [(1, 1.0)]]
    incidence = Incidence.from_rows(rows, [2.0, 10.0])
    gain = gain_if_doubled(incidence, [[0]], completion_time([0.0, 1.0]))[0]
    assert gain == pytest.approx(6 / 8)


def test_candidates_must_exist():
    for wrong in ([99], [-1]):
        with pytest.raises(AnalysisError, match=str(wrong[0])):
            gain_if_doubled(ring(4), [wrong])


def test_objectives():
    rate = np.array([1.0, 2.0, 4.0, 1.0])
    assert slowest().value(rate) == 1.0
    assert slowest().gradient(rate).tolist() == [0.5, 0.0, 0.0, 0.5]
    assert total().value(rate) == 8.0
    assert harmonic_mean().value(rate) == pytest.approx(4 / 2.75)
    assert harmonic_mean().value(np.array([0.0, 1.0])) == 0.0
    goal = completion_time([1.0, 8.0, 0.0, 1.0])
    assert goal.value(rate) == 4.0
    assert goal.gradient(rate).tolist() == [0.0, -2.0, 0.0, 0.0]
    assert goal.value(np.zeros(4)) == INF


def test_gain_from_nothing_is_infinite():
    assert slowest().gain(np.array([0.0]), np.array([1.0])) == INF
    assert slowest().gain(np.array([0.0]), np.array([0.0])) == 1.0


def test_deep_problems_are_swept_in_order():
    incidence = chain(3000)
    answer = solve(incidence)
    slopes = adjoint(incidence, answer, np.ones(3000))
    bottleneck = binding(incidence, answer).union(range(3000))
    assert set(np.flatnonzero(slopes)) <= set(bottleneck)
    assert maxmin.solve(incidence).rounds == answer.rounds
