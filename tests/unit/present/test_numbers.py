"""One format of numbers for all doors."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.present import numbers
from designer.sources import Estimate


@pytest.mark.parametrize(
    ("value", "unit", "what", "text"),
    [
        (12.2707, "1/s", "requests", "12.3 requests/s"),
        (72_021.0, "1/s", "tokens", "72,000 tokens/s"),
        (1.0, "1/s", "requests", "1.00 requests/s"),
        (55.5e9, "B/s", "", "55.5 GB/s"),
        (999.9e6, "B/s", "", "1.00 GB/s"),
        (37.4e9, "B", "", "37.4 GB"),
        (1979e12, "FLOP/s", "", "1.98 PFLOP/s"),
        (4380.0, "W", "", "4.38 kW"),
        (0.455, "s", "", "455 ms"),
        (80e-6, "s", "", "80.0 µs"),
        (14.84, "s", "", "14.8 s"),
        (152.4, "s", "", "2 min 32 s"),
        (3599.7, "s", "", "1 h"),
        (5100.0, "s", "", "1 h 25 min"),
        (25.12 * 86400, "s", "", "25.1 days"),
        (0.0, "s", "", "0 s"),
    ],
)
def test_a_value_is_written_with_three_digits_and_its_unit(value: float, unit: str, what: str, text: str) -> None:
    assert numbers.shown(value, unit, what) == text


def test_a_value_that_was_given_has_no_zeros_behind_the_point() -> None:
    assert numbers.shown(6.0, "1/s", "requests", exact=True) == "6 requests/s"
    assert numbers.shown(1.0, "1/s", "requests", exact=True) == "1 request/s"
    assert numbers.given(4_760_743) == "4,760,743"
    assert numbers.given(0.5) == "0.5"


def test_a_band_repeats_no_unit_and_is_left_out_where_it_reads_as_the_value() -> None:
    assert numbers.band(Estimate(12.27, 10.5, 14.3, "1/s")) == "10.5–14.3"
    assert numbers.band(Estimate(152.4, 137.3, 174.7, "s")) == "2 min 17 s – 2 min 55 s"
    assert numbers.band(Estimate(12.27, 12.268, 12.273, "1/s")) == ""
    assert numbers.band(Estimate(0.0, 0.0, 0.0, "s")) == ""


@pytest.mark.parametrize(
    ("factor", "text"), [(1.313, "+31%"), (1.002, "0%"), (2.0, "+100%"), (6.2, "6.2×"), (0.9, "−10%")]
)
def test_a_gain_is_in_per_cent_up_to_twice(factor: float, text: str) -> None:
    assert numbers.gain(factor) == text


@pytest.mark.parametrize(("share", "text"), [(0.31, "31%"), (0.0, "0%"), (0.0001, "below 0.1%"), (0.004, "0.4%")])
def test_a_share_that_is_not_nothing_does_not_read_as_nothing(share: float, text: str) -> None:
    assert numbers.percent(share) == text


@given(st.floats(min_value=1e-6, max_value=1e15))
def test_three_digits_are_within_half_a_per_cent_of_the_value(value: float) -> None:
    written = float(numbers.digits(value).replace(",", ""))
    assert math.isclose(written, value, rel_tol=5.1e-3)
    assert "e" not in numbers.digits(value)


@given(st.floats(min_value=1e-9, max_value=1e9))
def test_a_time_reads_back_within_half_a_per_cent(seconds: float) -> None:
    units = {
        "ns": 1e-9,
        "µs": 1e-6,
        "ms": 1e-3,
        "s": 1.0,
        "min": 60.0,
        "h": 3600.0,
        "day": 86400.0,
        "days": 86400.0,
        "year": 31557600.0,
        "years": 31557600.0,
    }
    words = numbers.shown(seconds, "s").split()
    read = sum(float(n.replace(",", "")) * units[unit] for n, unit in zip(words[::2], words[1::2], strict=True))
    assert math.isclose(read, seconds, rel_tol=9e-3)
