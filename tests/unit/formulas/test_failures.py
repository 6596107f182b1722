"""How often parts fail and how long that holds work up; the score every area is graded with."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.formulas.failures import (
    JOB,
    PARTS,
    TRANSPORT_TIMEOUT,
    job_time_between_failures,
    outage,
    time_between_failures,
)
from designer.formulas.scoring import Scored, Sided, band_score, group_medians, log_error, macro_mean, one_sided_error
from designer.units import Seconds

# How often parts fail, and how long a failure holds work up: worked by hand.

HOUR = 3600.0


def test_a_published_run_is_found_again() -> None:
    """Llama 3: 419 interruptions in 54 days on 16,384 GPUs: 1,296 h ÷ 419 = 3.093 h; of a 16th, 49.5 h."""
    assert job_time_between_failures(16_384).value == pytest.approx(3.093 * HOUR, rel=1e-3)
    assert job_time_between_failures(1_024).value == pytest.approx(49.49 * HOUR, rel=1e-3)
    assert math.isinf(job_time_between_failures(0).value)


def test_the_band_holds_two_research_clusters() -> None:
    """Kokolis et al. project 1.8 h for 16,384 GPUs from 6.5 failures of a server in 1,000 days: 2,048 × 0.0065 = 13.3 a
    day, one in 1.80 h. At 2.34 it is one in 5.01 h."""
    found = job_time_between_failures(16_384)
    assert found.low == pytest.approx(1.803 * HOUR, rel=1e-3)
    assert found.high == pytest.approx(5.008 * HOUR, rel=1e-3)
    assert JOB.low < JOB.value < JOB.high


def test_rates_add_up() -> None:
    """268 of the 419 were GPUs: 16,384 × 1,296 h ÷ 268 = 79,231 h for one. Two GPUs fail twice as often; a GPU and a
    drive of 1,000,000 h together every 1 ÷ (1/79,231 + 1/1e6) = 73,414 h."""
    assert time_between_failures({"gpu": 1}).value == pytest.approx(79_231 * HOUR, rel=1e-4)
    assert time_between_failures({"gpu": 2}).value == pytest.approx(79_231 / 2 * HOUR, rel=1e-4)
    assert time_between_failures({"gpu": 1, "drive": 1}).value == pytest.approx(73_414 * HOUR, rel=1e-4)
    assert math.isinf(time_between_failures({"gpu": 0}).value)
    assert all(PARTS[kind].low < PARTS[kind].value < PARTS[kind].high for kind in PARTS)


def test_what_holds_work_up() -> None:
    """4.096 µs × 2^20 = 4.295 s, seven times 30.06 s; then 10 s to make the communicators again, or 10 min cold."""
    assert TRANSPORT_TIMEOUT.value == pytest.approx(30.06, abs=0.01)
    assert outage(False).value == pytest.approx(1.0)
    assert outage(True).value == pytest.approx(40.06, abs=0.01)
    assert outage(True, Seconds(600.0)).value == pytest.approx(630.06, abs=0.01)


# The score every area is graded with.

positive = st.floats(1e-6, 1e12)


@settings(deadline=None)
@given(positive, positive, st.floats(0.01, 100))
def test_log_error_is_symmetric_and_without_unit(a: float, b: float, unit: float) -> None:
    assert log_error(a, b) == pytest.approx(log_error(b, a))
    assert log_error(a * unit, b * unit) == pytest.approx(log_error(a, b), abs=1e-9)


def test_log_error_of_ten_percent() -> None:
    assert log_error(110, 100) == pytest.approx(math.log(1.1))
    assert log_error(0, 100) == math.inf


def test_one_sided_points_cost_nothing_when_satisfied() -> None:
    assert one_sided_error(120, 100, Sided.LOWER) == 0
    assert one_sided_error(80, 100, Sided.LOWER) == pytest.approx(math.log(100 / 80))
    assert one_sided_error(80, 100, Sided.UPPER) == 0
    assert one_sided_error(120, 100, Sided.UPPER) == pytest.approx(math.log(1.2))


def test_a_bound_passed_by_more_than_its_slack_costs() -> None:
    assert one_sided_error(114, 100, Sided.LOWER, 1.15) == 0
    assert one_sided_error(130, 100, Sided.LOWER, 1.15) == pytest.approx(math.log(1.30 / 1.15))


def test_groups_count_alike_whatever_their_size() -> None:
    many = [Scored("many", 1.0, 1.0)] * 99 + [Scored("many", 9.0, 1.0)]
    one = [Scored("one", math.e, 1.0)]
    assert dict(group_medians(many + one)) == {"many": 0.0, "one": 1.0}
    assert macro_mean(many + one) == 0.5
    assert math.isnan(macro_mean([]))


def test_bands_report_coverage_and_width() -> None:
    points = [
        Scored("a", 1.0, 1.05, 0.9, 1.1),
        Scored("a", 1.0, 1.5, 0.9, 1.1),
        Scored("a", 1.0, 1.5),
        Scored("a", 1.0, 0.1, 0.9, 1.1, Sided.LOWER),
    ]
    score = band_score(points)
    assert (score.coverage, score.points) == (0.5, 2)
    assert score.width == pytest.approx(math.log(1.1 / 0.9) / 2)
    assert band_score([]).points == 0
