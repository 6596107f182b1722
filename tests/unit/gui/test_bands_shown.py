"""Bands as people read them: two digits, and never one that leaves its own value outside."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.gui.viewmodels.flow import band_digits, number
from designer.sources import Estimate


@pytest.mark.parametrize(
    ("low", "value", "high", "shown"),
    [
        (36e9, 55.5e9, 63e9, "36.0–63.0"),
        # to two digits 125 would read 120, below the value itself
        (122e9, 125e9, 125e9, "122–125"),
        (292e9, 444e9, 504e9, "292–504"),
    ],
)
def test_a_band_holds_its_value(low: float, value: float, high: float, shown: str) -> None:
    assert number("rate", Estimate(value, low, high, "B/s")).band == shown


@given(st.floats(1e-9, 1e12), st.floats(0, 1), st.floats(0, 1))
def test_the_value_is_between_the_ends_that_are_shown(value: float, down: float, up: float) -> None:
    estimate = Estimate(value, value * (1 - down), value * (1 + up), "B/s")
    digits = band_digits(estimate)
    low, shown, high = (float(f"{x:.{n}g}") for x, n in ((estimate.low, digits), (value, 3), (estimate.high, digits)))
    if digits == 3:
        assert low <= shown <= high
    else:
        assert low <= value <= high
