"""How often in a second, as people write it."""

from __future__ import annotations

import pytest

from designer.units import format_quantity, parse


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0/s"),
        (0.5, "0.5/s"),
        (125.0, "125/s"),
        (9870.0, "9870/s"),
        (12_500.0, "12.5 k/s"),
        (999_999.0, "1 M/s"),
        (2.3e9, "2.3 G/s"),
    ],
)
def test_rates_of_events(value: float, text: str) -> None:
    """Once "125 1/s" and "2300 M/s" stood there."""
    assert format_quantity(value, "frequency") == text
    assert parse(text, "frequency") == pytest.approx(value, rel=1e-5)
