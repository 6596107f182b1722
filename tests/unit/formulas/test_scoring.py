"""The score every area is graded with."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.formulas.scoring import (
    Scored,
    Sided,
    band_score,
    group_medians,
    log_error,
    macro_mean,
    one_sided_error,
)

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
