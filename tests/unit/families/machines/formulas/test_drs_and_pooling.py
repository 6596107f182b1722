"""DRS rhythm, and dedicated against shared accelerators."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import AnalysisError
from designer.families.machines.formulas.drs_cadence import drs_cadence
from designer.families.machines.formulas.pooling import erlang_c, pooling, pooling_ends, queue


@pytest.mark.parametrize(
    ("threshold", "large", "small", "loaded"),
    [(1, 40, 15, 0.5), (2, 40, 15, 0.5), (3, 40, 15, 0.5), (4, 20, 10, 0.3), (5, 10, 5, 0.3)],
)
def test_look_back_and_load(threshold: int, large: float, small: float, loaded: float) -> None:
    big = drs_cadence(threshold, 4, 30, machine_memory=64e9)
    little = drs_cadence(threshold, 4, 30, machine_memory=2e9)
    assert (big.look_back, little.look_back) == (large * 60, small * 60)
    assert big.loaded_above == loaded


def test_faster_moves_make_more_of_them() -> None:
    slow, fast = drs_cadence(3, 12, 30), drs_cadence(3, 12, 10)
    assert (slow.moves_per_period, fast.moves_per_period) == (2, 6)
    assert (slow.rebalance_time, fast.rebalance_time) == (360, 120)
    assert drs_cadence(3, 2, 90).rebalance_time == 240


def test_what_drs_does_not_move() -> None:
    assert math.isinf(drs_cadence(1, 4, 30).rebalance_time)
    gpu = drs_cadence(3, 4, 30, has_vgpu=True)
    assert not gpu.balances
    assert "never moved for balance" in gpu.reason
    with pytest.raises(AnalysisError, match="threshold 6"):
        drs_cadence(6, 1, 1)


def test_erlang_c_by_hand() -> None:
    """M/M/2 at half load: a third must wait."""
    assert erlang_c(1, 0.5) == pytest.approx(0.5)
    assert erlang_c(2, 1.0) == pytest.approx(1 / 3)


def test_one_server_is_pollaczek_khinchine() -> None:
    found = queue(1, 0.8, 1.0, 0.0)
    assert found.mean_wait == pytest.approx(0.8 / (2 * 0.2))


def test_sharing_idle_accelerators_saves_most_of_them() -> None:
    """Twenty owners at 15 % use each."""
    found = pooling(20, 1, 0.15 / 3600, 3600)
    assert found.dedicated.utilisation == pytest.approx(0.15)
    assert found.saved >= 14
    assert found.smallest.mean_wait <= found.dedicated.mean_wait
    assert found.shared.mean_wait < 0.01 * found.dedicated.mean_wait


def test_too_much_work_waits_for_ever() -> None:
    found = pooling(4, 1, 1.1, 1.0)
    assert math.isinf(found.dedicated.mean_wait)
    assert found.smallest.accelerators == 5 or math.isinf(found.shared.mean_wait)


@given(st.integers(1, 30), st.integers(1, 8), st.floats(0.01, 0.95), st.floats(1, 1e5), st.floats(0, 4))
def test_sharing_never_waits_longer(owners: int, each: int, load: float, job: float, variation: float) -> None:
    found = pooling(owners, each, load * each / job, job, variation=variation)
    assert found.shared.mean_wait <= found.dedicated.mean_wait * (1 + 1e-9)
    assert found.shared.utilisation == pytest.approx(found.dedicated.utilisation)
    assert 0 <= found.saved < owners * each
    assert found.smallest.mean_wait <= found.dedicated.mean_wait * (1 + 1e-9)


def test_a_month_of_jobs_at_random_by_hand() -> None:
    """Four owners, 14 jobs in a million seconds each: 145.2 a month. Exponential: 1.2816 sqrt(2 / 145.2) = .150.

    Eight accelerators, jobs of 20 h: .504 busy, in a month between .504 e^-.150 = .434 and .504 e^.150 = .586.
    """
    given_ = 4, 2, 14e-6, 72_000.0
    less, more = pooling_ends(*given_)
    assert pooling(*given_).shared.utilisation == pytest.approx(0.504)
    assert less.shared.utilisation == pytest.approx(0.434, abs=0.001)
    assert more.shared.utilisation == pytest.approx(0.586, abs=0.001)


@given(st.integers(1, 9), st.integers(1, 4), st.floats(0.05, 0.8), st.floats(60, 1e5), st.floats(0, 3))
def test_ends_of_a_pool_hold_its_mean(owners: int, each: int, load: float, job: float, variation: float) -> None:
    found = pooling(owners, each, load * each / job, job, variation=variation)
    less, more = pooling_ends(owners, each, load * each / job, job, variation=variation)
    assert less.shared.utilisation < found.shared.utilisation < more.shared.utilisation or load * each > 0.99
    for name in ("dedicated", "shared"):
        waits = [getattr(one, name).mean_wait for one in (less, found, more)]
        assert waits[0] <= waits[1] <= waits[2]


def test_bad_input() -> None:
    with pytest.raises(AnalysisError, match="owners"):
        pooling(0, 1, 1, 1)
    with pytest.raises(AnalysisError, match="job_time"):
        pooling(1, 1, 1, 0)
    with pytest.raises(AnalysisError, match="accelerators would be needed"):
        pooling(1, 1, 1e6, 1e6)
