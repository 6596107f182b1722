"""Rates against hand cases, linear programs and a second algorithm."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from designer.engine.flows import Incidence, binding, check, solve
from designer.errors import AnalysisError
from tests.bench.instances import chain, load, permutation, random_dense
from tests.bench.naive import naive
from tests.unit.engine.flows.cases import INF, random_incidence, ring
from tests.unit.engine.flows.lexicographic import lexicographic_rates

METHODS = ("auto", "rounds", "heap")


@pytest.mark.parametrize("method", METHODS)
class TestHandCases:
    def test_equal_share(self, method):
        assert solve(Incidence.from_rows([[(0, 1.0)]] * 4, [10.0]), method=method).rate.tolist() == [2.5] * 4

    def test_slow_elsewhere_leaves_room(self, method):
        incidence = Incidence.from_rows([[(0, 1.0)], [(0, 1.0), (1, 1.0)]], [10.0, 2.0])
        assert solve(incidence, method=method).rate.tolist() == [8.0, 2.0]

    def test_weights_are_shares(self, method):
        incidence = Incidence.from_rows([[(0, 1.0)]] * 3, [60.0], weight=[1, 2, 3])
        answer = solve(incidence, method=method)
        assert_allclose(answer.rate, [10, 20, 30], rtol=1e-15)
        assert_allclose(answer.level, [10, 10, 10], rtol=1e-15)

    def test_usage_weighs_on_the_resource_not_on_the_share(self, method):
        incidence = Incidence.from_rows([[(0, 2.0)], [(0, 1.0)]], [30.0])
        assert_allclose(solve(incidence, method=method).rate, [10, 10], rtol=1e-15)

    def test_demand_is_met_exactly_and_leaves_room(self, method):
        incidence = Incidence.from_rows([[(0, 1.0)]] * 3, [9.0], weight=[3.0, 1.0, 1.0], demand=[0.7, INF, INF])
        answer = solve(incidence, method=method)
        assert answer.rate[0] == 0.7
        assert_allclose(answer.rate[1:], [4.15, 4.15], rtol=1e-15)

    def test_no_demand_is_no_rate(self, method):
        incidence = Incidence.from_rows([[(0, 1.0)]] * 2, [9.0], demand=[0.0, INF])
        assert solve(incidence, method=method).rate.tolist() == [0.0, 9.0]

    def test_three_levels_one_after_the_other(self, method):
        rows = [[(0, 1.0), (1, 1.0)], [(0, 1.0)], [(1, 1.0), (2, 1.0)], [(2, 1.0)]]
        answer = solve(Incidence.from_rows(rows, [2.0, 6.0, 20.0]), method=method)
        assert_allclose(answer.rate, [1, 1, 5, 15], rtol=1e-15)

    def test_without_resource_the_demand_is_the_rate(self, method):
        incidence = Incidence.from_rows([[], [(0, 1.0)]], [4.0], weight=[2.0, 1.0], demand=[6.0, INF])
        answer = solve(incidence, method=method)
        assert answer.rate.tolist() == [6.0, 4.0]
        assert answer.level.tolist() == [3.0, 4.0]

    def test_unlimited_resource_limits_nobody(self, method):
        incidence = Incidence.from_rows([[(0, 1.0), (1, 1.0)], [(0, 1.0)]], [INF, 5.0], demand=[INF, 7.0])
        assert solve(incidence, method=method).rate.tolist() == [5.0, 7.0]

    @pytest.mark.parametrize("capacity", [[INF, 1.0], [INF, INF]])
    def test_unbounded_is_refused_by_name(self, method, capacity):
        rows = [[(0, 1.0), (1, 1.0)], [(0, 1.0)], [(0, 1.0)]]
        with pytest.raises(AnalysisError, match="nothing limits") as caught:
            solve(Incidence.from_rows(rows, capacity, demand=[3.0, INF, INF]), method=method)
        assert caught.value.place == "activity 1"

    def test_rowless_without_demand_is_refused_by_name(self, method):
        with pytest.raises(AnalysisError, match="nothing limits") as caught:
            solve(Incidence.from_rows([[(0, 1.0)], []], [1.0]), method=method)
        assert caught.value.place == "activity 1"
        assert caught.value.remedy

    def test_nothing_to_share(self, method):
        assert solve(Incidence.from_rows([], [1.0]), method=method).rate.tolist() == []
        assert solve(Incidence.from_rows([], []), method=method).rate.tolist() == []
        assert solve(Incidence.from_rows([[]], [], demand=[2.0]), method=method).rate.tolist() == [2.0]


@pytest.mark.parametrize("method", ["rounds", "heap"])
@pytest.mark.parametrize("tied", [False, True])
def test_equals_the_linear_programs(method, tied):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        activities, resources = int(rng.integers(1, 14)), int(rng.integers(1, 10))
        incidence = random_incidence(seed, activities, resources, capped=seed % 2 == 0, tied=tied)
        assert_allclose(solve(incidence, method=method).rate, lexicographic_rates(incidence), rtol=1e-9)


@pytest.mark.parametrize(
    "incidence",
    [load(1), load(4), permutation(8), permutation(64), random_dense(400, 60, 6), chain(200), ring(16)],
    ids=["one server", "load", "permutation", "two units", "dense", "chain", "ring"],
)
def test_all_methods_and_the_naive_filling_agree(incidence):
    expected = naive(incidence)
    for method in METHODS:
        assert_allclose(solve(incidence, method=method).rate, expected, rtol=1e-9)


def test_larger_problems_agree_between_methods():
    for incidence in (permutation(256), random_dense(5000, 500, 8)):
        rounds, heap = solve(incidence, method="rounds"), solve(incidence, method="heap")
        assert (rounds.method, heap.method) == ("rounds", "heap")
        assert_allclose(rounds.rate, heap.rate, rtol=1e-9)


def test_a_long_chain_changes_to_the_heap():
    """Ten thousand bottlenecks, each of which waits for the one before: a round would settle one of them."""
    n = 10_000
    answer = solve(chain(n))
    assert answer.method == "rounds, then heap"
    expected, before = [], 0.0
    for capacity in np.cumsum(np.linspace(1, 2, n + 1))[:n].tolist():
        before = capacity - before
        expected.append(before)
    assert_allclose(answer.rate, expected, rtol=1e-9)
    assert answer.rounds == n


def test_shallow_problems_are_done_by_rounds():
    assert solve(load(64)).method == "rounds"
    assert solve(permutation(2048)).rounds <= 20


def test_who_is_bottleneck_by_a_resource_is_the_last_to_be_settled_on_it():
    incidence = random_incidence(5, 40, 12)
    for method in METHODS:
        answer = solve(incidence, method=method)
        assert answer.frozen_in.max() == answer.rounds
        bottleneck = binding(incidence, answer)
        for activity in np.flatnonzero(~bottleneck.by_demand):
            last = [answer.frozen_in[incidence.columns.users(r)].max() for r in bottleneck.of(activity)]
            assert answer.frozen_in[activity] in last


def test_the_answer_is_read_only():
    answer = solve(ring())
    for array in (answer.rate, answer.level, answer.frozen_in):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_an_edit_solves_as_a_fresh_problem_does():
    incidence = permutation(16)
    solve(incidence)
    capacity = incidence.capacity.copy()
    capacity[::7] *= 0.5
    fresh = Incidence(incidence.ptr, incidence.resource, incidence.usage, capacity, incidence.weight, incidence.demand)
    assert solve(incidence.with_capacity(capacity)).rate.tolist() == solve(fresh).rate.tolist()


def test_deep_cancellation_keeps_the_order_of_levels():
    """What a giant leaves of a link is rounding; its small neighbours must still get no less than its level."""
    rows = [[(0, 1.0), (1, 1.0)], [(1, 1.0)], [(1, 1.0), (2, 1.0)]]
    for shortfall in (0.0, 1.0, 1e-3):
        capacity = [1e15 - shortfall, 1e15 + 1, 1e-12]
        for method in METHODS:
            incidence = Incidence.from_rows(rows, capacity, weight=[1e15, 1.0, 1e-12])
            answer = solve(incidence, method=method)
            assert answer.level[1] >= answer.level[0] * (1 - 1e-9)
            assert check(incidence, answer.rate).ok


def test_a_giant_does_not_settle_a_resource_over_the_head_of_a_dwarf():
    """The dwarf's share is below the tie tolerance of the sum, and it looks elsewhere first."""
    rows = [[(0, 0.5)]] * 6 + [[(1, 2.6e10)], [(0, 0.5)], [(0, 0.5), (1, 0.5)]]
    weight = [0.5] * 5 + [1e10] + [0.5] * 3
    incidence = Incidence.from_rows(rows, [0.5, 0.5], weight, [INF] * 6 + [0.0, INF, INF])
    for method in METHODS:
        assert_allclose(solve(incidence, method=method).level[[0, 5, 7, 8]], 0.5 / 5e9, rtol=1e-8)


def test_near_ties_are_one_level():
    capacity = 100 * (1 + 1e-13 * np.arange(50))
    rows = [[(i, 1.0), ((i + 1) % 50, 1.0)] for i in range(50)]
    assert solve(Incidence.from_rows(rows, capacity)).rounds == 1
    # ten times the tolerance apart, they are not: the rounds walk from the lowest
    capacity = 100 * (1 + 1e-9 * np.arange(50))
    assert solve(Incidence.from_rows(rows, capacity), method="rounds").rounds > 1
