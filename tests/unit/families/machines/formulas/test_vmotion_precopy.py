"""vMotion pre-copy: the documented checks, the closed form, and what must hold for every guest and link."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from designer.errors import AnalysisError
from designer.families.machines.formulas import Verdict
from designer.families.machines.formulas.vmotion_precopy import vmotion_precopy
from designer.units import parse_rate
from tests.geometric_precopy import precopy_geometric

GB = 1e9
SHARE = 0.94
RESUME = 0.2


@pytest.mark.parametrize(
    ("memory", "link", "dirty", "passes", "precopy", "switchover"),
    [
        (64, "10 Gb/s", 0.1, 2, 59.1, 0.39),
        (512, "10 Gb/s", 0.5, 8, 757.7, 0.47),
        (512, "25 Gb/s", 0.5, 4, 209.9, 0.15),
        (512, "100 Gb/s", 0.5, 2, 45.4, 0.08),
        (1024, "100 Gb/s", 2.0, 3, 104.5, 0.43),
    ],
)
def test_orders_of_magnitude(
    memory: float, link: str, dirty: float, passes: int, precopy: float, switchover: float
) -> None:
    done = vmotion_precopy(memory * GB, SHARE * parse_rate(link), dirty * GB)
    assert done.verdict is Verdict.CONVERGES
    assert len(done.rounds) == passes
    assert done.precopy_time.value == pytest.approx(precopy, abs=0.06)
    assert done.downtime.value - RESUME == pytest.approx(switchover, abs=0.006)


def test_a_guest_slowed_from_the_start() -> None:
    """1 TB over 25 GbE at 4 GB/s, when the guest is slowed in all of the first pass."""
    done = vmotion_precopy(1024 * GB, SHARE * parse_rate("25 Gb/s"), 4 * GB, sdps_delay=0)
    assert len(done.rounds) == 5
    assert done.precopy_time.value == pytest.approx(435.6, abs=0.1)
    assert done.downtime.value - RESUME == pytest.approx(0.11, abs=0.005)
    assert done.slowdown.value == pytest.approx(1 - 2.9375 / 5 / 4)


def test_the_delay_before_slowing_costs_time() -> None:
    """What is dirtied in the first 30 s must be sent again, which a factor over whole passes leaves out."""
    done = vmotion_precopy(1024 * GB, SHARE * parse_rate("25 Gb/s"), 4 * GB)
    first = 30 * 4 * GB + (done.rounds[0].duration - 30) * 2.9375 * GB / 5
    assert done.rounds[0].dirtied == pytest.approx(first)
    assert done.verdict is Verdict.SLOWED
    assert done.precopy_time.low < 479 < done.precopy_time.high


def test_zero_dirty_rate_is_one_pass() -> None:
    done = vmotion_precopy(64 * GB, 1 * GB, setup_time=0)
    assert len(done.rounds) == 1
    assert done.transferred.value == 64 * GB
    assert done.total_time.value == pytest.approx(64 + RESUME)


@pytest.mark.parametrize("ratio", [1.0, 1.5, 40.0])
def test_never_converging_is_an_answer(ratio: float) -> None:
    done = vmotion_precopy(64 * GB, 1 * GB, ratio * GB, sdps=False)
    assert done.verdict is Verdict.NEVER
    assert not done.converged
    assert math.isinf(done.total_time.value)
    assert done.remaining[-1] >= 0.5 * GB
    assert "slows" in done.reason


def test_a_small_working_set_lets_a_fast_writer_through() -> None:
    """It is dirty again at once, but it fits into the switch-over."""
    done = vmotion_precopy(64 * GB, 1 * GB, 40 * GB, working_set=0.4 * GB, sdps=False)
    assert done.verdict is Verdict.CONVERGES
    assert done.downtime.value == pytest.approx(0.4 + RESUME)


def test_device_state_lengthens_the_pause_only() -> None:
    plain = vmotion_precopy(64 * GB, 1 * GB, 0.1 * GB)
    loaded = vmotion_precopy(64 * GB, 1 * GB, 0.1 * GB, checkpoint=2 * GB)
    assert loaded.downtime.value - plain.downtime.value == pytest.approx(2)
    assert loaded.precopy_time == plain.precopy_time
    assert loaded.transferred.value - plain.transferred.value == pytest.approx(2 * GB)


@pytest.mark.parametrize(
    "wrong",
    [
        {"memory": 0},
        {"memory": -1},
        {"memory": math.nan},
        {"bandwidth": 0},
        {"bandwidth": math.inf},
        {"dirty_rate": -1},
        {"working_set": -1},
        {"switchover_goal": 0},
        {"checkpoint": -1},
        {"setup_time": -1},
    ],
)
def test_bad_input_is_refused_by_name(wrong: dict[str, Any]) -> None:
    good: dict[str, Any] = {"memory": 1 * GB, "bandwidth": 1 * GB, "dirty_rate": 0.0}
    with pytest.raises(AnalysisError, match=next(iter(wrong))):
        vmotion_precopy(**(good | wrong))


memories = st.floats(1e8, 2e12)
bandwidths = st.floats(1e7, 2.5e10)
dirty_rates = st.floats(0, 5e10)


@given(memories, bandwidths, dirty_rates, st.floats(1e6, 2e12), st.booleans())
def test_what_always_holds(memory: float, bandwidth: float, dirty: float, working_set: float, sdps: bool) -> None:
    done = vmotion_precopy(memory, bandwidth, dirty, working_set=working_set, sdps=sdps)
    for estimate in (done.total_time, done.precopy_time, done.downtime, done.transferred, done.slowdown):
        assert estimate.low <= estimate.value <= estimate.high
    assert all(earlier <= later for earlier, later in pairwise(done.time))
    assert all(left >= 0 for left in done.remaining)
    assert done.converged or not sdps or dirty > 0
    if done.converged:
        assert done.remaining[-1] == 0
        assert done.time[-1] == pytest.approx(done.total_time.value)
        assert done.transferred.value >= memory * (1 - 1e-9)
        assert done.downtime.value <= done.longest_downtime * (1 + 1e-9)


@given(memories, bandwidths, dirty_rates)
def test_slowing_always_ends_it(memory: float, bandwidth: float, dirty: float) -> None:
    assert vmotion_precopy(memory, bandwidth, dirty).converged


@given(memories, bandwidths, st.floats(0, 1 / 1.3 - 0.01), st.booleans())
def test_closed_form_agrees_below_the_progress_threshold(
    memory: float, bandwidth: float, ratio: float, sdps: bool
) -> None:
    series = precopy_geometric(memory, bandwidth, ratio * bandwidth)
    done = vmotion_precopy(memory, bandwidth, ratio * bandwidth, sdps=sdps, setup_time=0)
    # A rest on the very edge of the goal may take one pass more or less.
    assume(abs(series.switchover_time - 0.5) > 1e-9)
    assert len(done.rounds) == series.passes
    assert done.precopy_time.value == pytest.approx(series.precopy_time, rel=1e-9)
    assert done.downtime.value - RESUME == pytest.approx(series.switchover_time, rel=1e-6, abs=1e-12)


@given(memories, bandwidths, dirty_rates, st.floats(1, 10), st.floats(1e6, 2e12))
def test_more_bandwidth_never_lengthens_it_without_slowing(
    memory: float, bandwidth: float, dirty: float, factor: float, working_set: float
) -> None:
    slow = vmotion_precopy(memory, bandwidth, dirty, working_set=working_set, sdps=False)
    fast = vmotion_precopy(memory, bandwidth * factor, dirty, working_set=working_set, sdps=False)
    assert fast.total_time.value <= slow.total_time.value * (1 + 1e-9)


@given(memories, bandwidths, dirty_rates, st.floats(1, 10))
def test_more_bandwidth_never_lengthens_it_under_the_same_regime(
    memory: float, bandwidth: float, dirty: float, factor: float
) -> None:
    """Crossing the 130 % threshold ends the slowing, which is allowed to cost time; so is another number of whole
    passes before the slowing begins, hence a first pass longer than its delay."""
    assume((bandwidth < 1.3 * dirty) == (bandwidth * factor < 1.3 * dirty))
    assume(bandwidth >= 1.3 * dirty or memory / (bandwidth * factor) >= 30)
    slow = vmotion_precopy(memory, bandwidth, dirty)
    fast = vmotion_precopy(memory, bandwidth * factor, dirty)
    assert fast.total_time.value <= slow.total_time.value * (1 + 1e-9)


@given(memories, bandwidths, dirty_rates, st.floats(1, 10))
def test_more_writing_never_shortens_it_without_slowing(
    memory: float, bandwidth: float, dirty: float, factor: float
) -> None:
    calm = vmotion_precopy(memory, bandwidth, dirty, sdps=False)
    busy = vmotion_precopy(memory, bandwidth, dirty * factor, sdps=False)
    assert busy.precopy_time.value >= calm.precopy_time.value * (1 - 1e-9)
