"""Fair rates of flows: max-min, its certificate, what binds, incidence, and known traps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from numpy.testing import assert_allclose

from designer.engine.flows import Incidence, binding, check, maxmin, solve
from designer.engine.flows.certificate import Certificate
from designer.engine.flows.incidence import MATRIX_ENTRIES, MATRIX_FROM
from designer.errors import AnalysisError
from tests.bench.instances import chain, load, permutation, random_dense
from tests.bench.naive import naive
from tests.unit.engine.flows.cases import INF, random_incidence, ring
from tests.unit.engine.flows.lexicographic import highest_throughput, lexicographic_rates

# Rates against hand cases, linear programs and a second algorithm.

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


# What binds, as sets, and what comes behind it.


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


# The proof refuses every answer but one.

SHARED = Incidence.from_rows([[(0, 1.0)], [(0, 1.0), (1, 1.0)]], [10.0, 2.0], demand=[INF, 3.0])


def test_accepts_the_answer():
    proof = check(SHARED, np.array([8.0, 2.0]))
    assert proof.ok
    assert proof.unbound == 0
    assert proof.worst_overload == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("rate", "overload", "unbound"),
    [
        ([8.1, 2.0], 0.01, 0),  # too much
        ([7.0, 2.0], 0.0, 1),  # room left
        ([9.0, 1.0], 0.0, 1),  # full, but the slow one could take from the fast one
        ([8.0, 3.5], 0.75, 0),  # over capacity and demand
        ([8.0, -1.0], INF, 2),
        ([8.0, float("nan")], INF, 2),
        ([INF, 2.0], INF, 0),
    ],
)
def test_refuses_others(rate, overload, unbound):
    proof = check(SHARED, np.array(rate))
    assert not proof.ok
    assert proof.worst_overload == pytest.approx(overload, abs=1e-12)
    assert proof.unbound == unbound


def test_a_rate_above_its_demand_is_an_overload():
    roomy = Incidence.from_rows([[(0, 1.0)]], [100.0], demand=[4.0])
    assert check(roomy, np.array([5.0])).worst_overload == pytest.approx(0.25)
    nothing = Incidence.from_rows([[(0, 1.0)]], [100.0], demand=[0.0])
    assert check(nothing, np.array([5.0])).worst_overload == INF


def test_full_is_not_yet_a_bottleneck():
    """All on a full link, but on it the slow one is not among the fastest."""
    incidence = Incidence.from_rows([[(0, 1.0)], [(0, 1.0)]], [10.0])
    assert check(incidence, np.array([6.0, 4.0])).unbound == 1


def test_no_activity_needs_no_proof():
    assert check(Incidence.from_rows([], [1.0]), np.zeros(0)).ok


def test_refuses_any_visible_change_of_a_rate():
    for seed in range(30):
        incidence = random_incidence(seed)
        rate = solve(incidence).rate
        for activity in range(len(rate)):
            for factor in (1 - 1e-6, 1 + 1e-6):
                changed = rate.copy()
                changed[activity] *= factor
                assert not check(incidence, changed).ok


def test_refuses_the_highest_throughput():
    line = Incidence.from_rows([[(0, 1.0), (1, 1.0), (2, 1.0)], [(0, 1.0)], [(1, 1.0)], [(2, 1.0)]], [10.0] * 3)
    greedy = highest_throughput(line)
    assert greedy.sum() > solve(line).rate.sum()
    assert check(line, greedy).unbound == 1


def test_a_solver_that_fails_its_proof_is_stopped(monkeypatch):
    monkeypatch.setattr(maxmin, "check", lambda incidence, rate: Certificate(False, 0.5, 3))
    with pytest.raises(AssertionError, match="unbound=3"):
        solve(ring())


# The input of the flow studies: refuses what cannot be computed, and cannot be damaged afterwards.

GOOD = {
    "ptr": [0, 2, 3],
    "resource": [0, 1, 1],
    "usage": [1.0, 2.0, 1.0],
    "capacity": [10.0, 20.0],
    "weight": [1.0, 1.0],
    "demand": [INF, 5.0],
}


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("ptr", [0, 3], "weight"),
        ("ptr", [1, 2, 3], "ptr"),
        ("ptr", [0, 3, 2], "ptr"),
        ("ptr", [0, 2, 4], "ptr"),
        ("ptr", [], "ptr"),
        ("ptr", [0.0, 2.0, 3.0], "ptr"),
        ("resource", [0, 1, 2], "resource[2]"),
        ("resource", [0, -1, 1], "resource[1]"),
        ("resource", [0.0, 1.0, 1.0], "resource"),
        ("usage", [1.0, 0.0, 1.0], "usage[1]"),
        ("usage", [1.0, float("nan"), 1.0], "usage[1]"),
        ("usage", [1.0, INF, 1.0], "usage[1]"),
        ("usage", [1.0, 2.0], "usage"),
        ("capacity", [10.0, 0.0], "capacity[1]"),
        ("capacity", [-1.0, 1.0], "capacity[0]"),
        ("capacity", [10.0, float("nan")], "capacity[1]"),
        ("weight", [0.0, 1.0], "weight[0]"),
        ("weight", [1.0, INF], "weight[1]"),
        ("demand", [INF, -1.0], "demand[1]"),
        ("demand", [float("nan"), 1.0], "demand[0]"),
        ("demand", [[1.0, 1.0]], "demand"),
    ],
)
def test_refuses_with_the_place(field, value, place):
    with pytest.raises(AnalysisError) as caught:
        Incidence(**{**GOOD, field: value})
    assert caught.value.place == f"incidence.{place}"


def test_counts_how_many_more_are_wrong():
    with pytest.raises(AnalysisError, match=r"1 more like it"):
        Incidence(**{**GOOD, "capacity": [0.0, 0.0]})


def test_sizes_and_types():
    incidence = Incidence(**GOOD)
    assert (incidence.n_activities, incidence.n_resources, incidence.nnz) == (2, 2, 3)
    assert (incidence.ptr.dtype, incidence.resource.dtype, incidence.usage.dtype) == (np.int64, np.int32, np.float64)


def test_a_resource_named_twice_counts_with_both_usages():
    twice = Incidence.from_rows([[(0, 1.0), (1, 1.0), (0, 2.0)], [(0, 1.0)]], [12.0, 100.0])
    once = Incidence.from_rows([[(0, 3.0), (1, 1.0)], [(0, 1.0)]], [12.0, 100.0])
    assert twice.nnz == 3
    assert twice.ptr.tolist() == once.ptr.tolist()
    assert twice.resource.tolist() == once.resource.tolist()
    assert twice.usage.tolist() == once.usage.tolist()


def test_twins_are_merged_beside_empty_rows():
    incidence = Incidence.from_rows([[], [(2, 1.0), (0, 1.0), (2, 1.0)], [], [(2, 4.0)]], [1.0] * 3, demand=[1.0] * 4)
    assert incidence.ptr.tolist() == [0, 0, 2, 2, 3]
    assert incidence.usage.tolist() == [1.0, 2.0, 4.0]


def test_order_inside_a_row_is_kept_when_nothing_is_double():
    assert Incidence.from_rows([[(2, 1.0), (0, 1.0)]], [1.0] * 3).resource.tolist() == [2, 0]


def test_arrays_are_copies_and_read_only():
    given = {name: np.array(value) for name, value in GOOD.items()}
    incidence = Incidence(**given)
    before = solve(incidence).rate.tolist()
    for array in given.values():
        array[:] = 1
    assert solve(incidence).rate.tolist() == before
    for name in GOOD:
        with pytest.raises(ValueError, match="read-only"):
            getattr(incidence, name)[0] = 1
    for derived in (incidence.rows, incidence.columns.entry, incidence.layout.pull):
        with pytest.raises(ValueError, match="read-only"):
            derived[0] = 1
    with pytest.raises(AttributeError):
        incidence.weight = np.ones(2)


def test_edits_share_the_routes_and_leave_the_original():
    incidence = random_incidence(1)
    layout = incidence.layout
    edited = incidence.with_capacity(incidence.capacity * 2).with_demand(np.full(10, INF))
    assert edited.resource is incidence.resource
    assert edited.layout is layout
    assert edited.capacity[0] == 2 * incidence.capacity[0]
    assert np.isfinite(incidence.demand).any()
    assert not np.isfinite(edited.demand).any()
    assert not edited.capacity.flags.writeable


def test_a_layout_made_by_an_edit_serves_the_original():
    incidence = random_incidence(2)
    edited = incidence.with_capacity(incidence.capacity * 2)
    assert edited.layout is incidence.layout


def test_edits_are_checked():
    incidence = Incidence(**GOOD)
    with pytest.raises(AnalysisError, match="above 0"):
        incidence.with_capacity([1.0, 0.0])
    with pytest.raises(AnalysisError, match="2 values"):
        incidence.with_capacity([1.0])
    with pytest.raises(AnalysisError, match="0 or more"):
        incidence.with_demand([-1.0, 1.0])


def test_columns_list_the_users_of_a_resource():
    incidence = Incidence.from_rows([[(1, 1.0), (0, 2.0)], [(1, 3.0)], [(0, 4.0)]], [1.0, 1.0, 1.0])
    columns = incidence.columns
    assert columns.users(0).tolist() == [0, 2]
    assert columns.users(1).tolist() == [0, 1]
    assert columns.users(2).tolist() == []
    assert incidence.usage[columns.entry].tolist() == [2.0, 4.0, 1.0, 3.0]


def test_products_outside_the_floats_are_refused():
    incidence = Incidence.from_rows([[(0, 1e-200)]], [1.0], weight=[1e-200])
    with pytest.raises(AnalysisError, match="usage times weight"):
        solve(incidence)


def test_loads_and_entries_are_the_same_however_often_they_are_asked_for():
    rng = np.random.default_rng(5)
    n, m, k = 3000, 700, 6
    resource = np.sort(np.argsort(rng.random((n, m)), axis=1)[:, :k], axis=1).ravel()
    incidence = Incidence(
        np.arange(0, n * k + 1, k),
        resource.astype(np.int32),
        rng.uniform(0.5, 2, n * k),
        rng.uniform(1, 9, m + 5),
        np.ones(n),
        np.full(n, np.inf),
    )
    assert incidence.nnz >= MATRIX_ENTRIES
    rate, some = rng.uniform(0, 3, n), rng.random(m + 5) < 0.02
    first, entries = incidence.load(rate), incidence.entries_of(some)
    expected = np.zeros(m + 5)
    np.add.at(expected, incidence.resource, rate[incidence.rows] * incidence.usage)
    for _ in range(MATRIX_FROM):
        again = incidence.with_capacity(incidence.capacity + 1.0).load(rate)
    np.testing.assert_allclose(first, expected, rtol=1e-12)
    np.testing.assert_allclose(again, expected, rtol=1e-12)
    assert incidence.entries_of(some).tolist() == entries.tolist() == np.flatnonzero(some[incidence.resource]).tolist()
    assert len(incidence.entries_of(np.zeros(m + 5, dtype=bool))) == 0
    assert len(incidence.entries_of(np.ones(m + 5, dtype=bool))) == incidence.nnz


# Mistakes that flow models are known for, each as a case that catches it.


def gain_if_doubled(incidence: Incidence, candidates: Sequence[Iterable[int]]) -> list[float]:
    """How many times the slowest rate grows with all resources of a candidate twice as wide."""
    found: list[float] = []
    for candidate in candidates:
        capacity = incidence.capacity.copy()
        capacity[list(candidate)] *= 2
        found.append(float(solve(incidence.with_capacity(capacity)).rate.min() / solve(incidence).rate.min()))
    return found


def test_a_collective_is_one_activity():
    """Hops of a ring run in lockstep: as separate flows the fast hops would run away from the slow one."""
    capacity = [50.0, 50.0, 20.0, 50.0]
    hops = solve(Incidence.from_rows([[(i, 1.0)] for i in range(4)], capacity))
    assert hops.rate.tolist() == capacity
    together = solve(Incidence.from_rows([[(i, 1.0) for i in range(4)]], capacity))
    assert together.rate.tolist() == [20.0]


def test_greatest_throughput_starves_fairness_does_not():
    n = 6
    rows = [[(i, 1.0) for i in range(n)]] + [[(i, 1.0)] for i in range(n)]
    line = Incidence.from_rows(rows, [10.0] * n)
    assert highest_throughput(line)[0] == pytest.approx(0.0, abs=1e-9)
    assert solve(line).rate.tolist() == [5.0] * (n + 1)


class TestTies:
    """In a balanced fabric no single part is worth buying; the set is."""

    def test_no_single_part_and_no_single_type_gains(self):
        n = 8
        singles = [[r] for r in range(3 * n)]
        types = [range(n), range(n, 2 * n), range(2 * n, 3 * n)]
        assert gain_if_doubled(ring(n), [*singles, *types]) == [1.0] * (3 * n + 3)

    def test_both_together_gain_until_the_next_binds(self):
        n = 8
        both = range(2 * n)
        assert gain_if_doubled(ring(n), [both])[0] == pytest.approx(63 / 50)

    def test_port_and_uplink_of_a_store(self):
        """Storage port and uplink both 100: 1.00 times each, 2.00 times together."""
        rows = [[(0, 1.0), (1, 1.0), (2 + i, 1.0)] for i in range(4)]
        store = Incidence.from_rows(rows, [100.0, 100.0] + [63.0] * 4)
        assert gain_if_doubled(store, [[0], [1], [0, 1]]) == [1.0, 1.0, 2.0]
        assert binding(store, solve(store)).of(0).tolist() == [0, 1]

    def test_full_because_of_faster_neighbours_is_no_bottleneck(self):
        """The switch port is full, yet what holds the slow group is its NIC."""
        rows = [[(0, 1.0), (1, 1.0)]] * 2 + [[(1, 1.0)]] * 2
        shared = Incidence.from_rows(rows, [50.0, 450.0])
        bottleneck = binding(shared, solve(shared))
        assert bottleneck.of(0).tolist() == [0]
        assert bottleneck.of(2).tolist() == [1]
        assert gain_if_doubled(shared, [[1], [0]]) == [1.0, 2.0]


class TestNumerics:
    def test_zero_weights_and_capacities_are_refused(self):
        with pytest.raises(AnalysisError, match="weight"):
            Incidence.from_rows([[(0, 1.0)]], [1.0], weight=[0.0])
        with pytest.raises(AnalysisError, match="capacity"):
            Incidence.from_rows([[(0, 1.0)]], [0.0])

    def test_sums_that_do_not_come_out_even(self):
        """Ten times a tenth is not one in floats; still all ten are settled together and fill the link."""
        incidence = Incidence.from_rows([[(0, 0.1)]] * 10, [1.0])
        for method in ("rounds", "heap"):
            answer = solve(incidence, method=method)
            assert answer.rounds == 1
            assert_allclose(answer.rate, 1.0)

    def test_a_caller_who_sorts_its_arrays_later_changes_nothing(self):
        routes = np.array([3, 0, 2, 1], np.int32)
        usage = np.array([1.0, 2.0, 1.0, 2.0])
        capacity = np.array([10.0, 20.0, 30.0, 40.0])
        incidence = Incidence(np.array([0, 2, 4]), routes, usage, capacity, np.ones(2), np.full(2, np.inf))
        before = solve(incidence).rate.tolist()
        routes.sort()
        usage.sort()
        capacity[:] = 1.0
        assert solve(incidence).rate.tolist() == before == [5.0, 10.0]

    @pytest.mark.parametrize("scale", [1e-12, 1e-6, 1.0, 1e9, 1e15])
    def test_the_unit_does_not_matter(self, scale):
        rows = [[(0, 1.0), (1, 1.0)], [(0, 1.0)], [(1, 1.0), (2, 1.0)], [(2, 1.0)]]
        incidence = Incidence.from_rows(rows, np.array([2.0, 6.0, 20.0]) * scale)
        assert_allclose(solve(incidence).rate, np.array([1.0, 1.0, 5.0, 15.0]) * scale, rtol=1e-12)
