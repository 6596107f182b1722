"""The proof refuses every answer but one."""

import numpy as np
import pytest

from designer.engine.flows import Incidence, check, maxmin, solve
from designer.engine.flows.certificate import Certificate
from tests.unit.engine.flows.cases import INF, random_incidence, ring
from tests.unit.engine.flows.lexicographic import highest_throughput

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
