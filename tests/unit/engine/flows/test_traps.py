"""Mistakes that flow models are known for, each as a case that catches it."""

from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from numpy.testing import assert_allclose

from designer.engine.flows import Incidence, binding, solve
from designer.errors import AnalysisError
from tests.unit.engine.flows.cases import ring
from tests.unit.engine.flows.lexicographic import highest_throughput


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
