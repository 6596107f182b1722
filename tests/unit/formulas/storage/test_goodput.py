"""Goodput with failures: by hand, against Daly's paper, and the closed form against the seeded simulation."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import AnalysisError
from designer.formulas.storage.checkpoint import best_interval
from designer.formulas.storage.goodput import Interruptions, effective_time, most_effective_interval, simulated, spares
from designer.units import Seconds

HOUR, MINUTE = 3600.0, 60.0


def failing(between: float, restart: float, stall: float, behind: float = 0.0) -> Interruptions:
    return Interruptions(Seconds(between), Seconds(restart), Seconds(stall), Seconds(behind))


def test_ettr_by_hand() -> None:
    """Failures every 100 s, 10 s to restart, 5 s a checkpoint, 20 s of work: a failure is 100 s away in the mean, of
    which exp(−0.1) ÷ (exp(0.25) − 1) = 3.1858 checkpoints are reached, 20 s of work each: 63.7 of 100 s."""
    assert effective_time(Seconds(20.0), failing(100.0, 10.0, 5.0)) == pytest.approx(0.63716, rel=1e-4)


def test_without_failures_only_the_stalls_are_lost() -> None:
    """60 s in each 3,660 s: 3600/3660."""
    assert effective_time(Seconds(3600.0), failing(1e12, 600.0, 60.0)) == pytest.approx(3600 / 3660, rel=1e-6)


@pytest.mark.parametrize(("between", "minutes"), [(24 * HOUR, 117), (6 * HOUR, 57), (15 * MINUTE, 9.1)])
def test_the_best_interval_is_that_of_dalys_figures(between: float, minutes: float) -> None:
    """Figures 3 to 5 of the paper: 5 min to write, 10 min to restart; it gives 117, 57 and 9.1 min from its series,
    which the exact optimum meets within 2 %."""
    found = most_effective_interval(failing(between, 10 * MINUTE, 5 * MINUTE))
    assert found / MINUTE == pytest.approx(minutes, rel=0.02)


@given(st.floats(0.001, 2.0), st.floats(0.0, 0.5))
def test_no_other_interval_is_better(stall: float, restart: float) -> None:
    failures = failing(10.0, restart, stall)
    best = most_effective_interval(failures)
    most = effective_time(best, failures)
    assert 0 < most < 1
    for times in (0.5, 0.9, 1.1, 2.0):
        assert effective_time(Seconds(best * times), failures) <= most + 1e-12


def test_for_rare_failures_it_is_youngs() -> None:
    found = most_effective_interval(failing(1e7, 0.0, 1.0))
    assert found == pytest.approx(best_interval(Seconds(1.0), Seconds(1e7)), rel=1e-3)


@pytest.mark.parametrize("behind", [0.0, 8.0])
@pytest.mark.parametrize(("interval", "restart", "stall"), [(20.0, 10.0, 5.0), (50.0, 0.0, 1.0), (5.0, 60.0, 2.0)])
def test_the_simulation_agrees(interval: float, restart: float, stall: float, behind: float) -> None:
    """Forty runs of 500 failures each: their mean meets the closed form within three standard errors."""
    failures = failing(100.0, restart, stall, behind)
    means = [float(simulated(Seconds(interval), failures, Seconds(50_000.0), seed, 1)[0]) for seed in range(40)]
    mean = sum(means) / 40
    error = math.sqrt(sum((m - mean) ** 2 for m in means) / 39 / 40)
    # the first start is not a restart, which 500 failures make small
    assert mean == pytest.approx(float(effective_time(Seconds(interval), failures)), abs=3 * error + restart / 50_000)


def test_the_same_seed_is_the_same_run() -> None:
    failures = failing(100.0, 10.0, 5.0)
    first = simulated(Seconds(20.0), failures, Seconds(1e4), 7)
    assert first == simulated(Seconds(20.0), failures, Seconds(1e4), 7)
    assert first != simulated(Seconds(20.0), failures, Seconds(1e4), 8)
    assert first[1] <= first[0] <= first[2]


def test_spares_by_hand() -> None:
    """A failure each day, a day to repair: one is out in the mean. More than 3 are with 1 − e⁻¹(1 + 1 + 1/2 + 1/6) =
    1.9 %, more than 4 with 0.37 %: 4 spares."""
    assert spares(Seconds(86_400.0), Seconds(86_400.0)) == 4
    assert spares(Seconds(86_400.0), Seconds(0.0)) == 0
    # of a thousand out in the mean the deviation is 31.6, and 2.33 of them are reached in one hour of a hundred
    assert spares(Seconds(1.0), Seconds(1000.0)) == pytest.approx(1000 + 2.33 * math.sqrt(1000), abs=3)


def test_what_makes_no_sense_is_refused() -> None:
    for wrong in (lambda: failing(0.0, 1.0, 1.0), lambda: failing(1.0, -1.0, 1.0), lambda: failing(1.0, math.inf, 1.0)):
        with pytest.raises(AnalysisError):
            wrong()
    with pytest.raises(AnalysisError):
        effective_time(Seconds(0.0), failing(1.0, 1.0, 1.0))
    with pytest.raises(AnalysisError):
        simulated(Seconds(1.0), failing(1.0, 1.0, 1.0), Seconds(0.0))
