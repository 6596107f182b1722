"""Where axes are marked."""

import itertools
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.drawing.fonts import text_width
from designer.report.charts.hops import Hop, hops
from designer.report.drawing.elements import Label
from designer.report.ticks import ticks

ENDS = st.floats(-1e12, 1e12, allow_nan=False)
UNITS = st.sampled_from(["", "s", "B", "B/s"])


def at_most(number: int) -> Callable[[Sequence[float]], bool]:
    return lambda marks: len(marks) <= number


def test_the_finest_steps_that_fit() -> None:
    # steps of 1 give eleven marks, steps of 2 six
    assert ticks(0.0, 10.0, at_most(11)) == pytest.approx(list(range(11)))
    assert ticks(0.0, 10.0, at_most(6)) == pytest.approx([0, 2, 4, 6, 8, 10])


def test_long_times_are_marked_at_whole_minutes_hours_and_days() -> None:
    assert ticks(0.0, 700.0, at_most(5), unit="s") == [0, 300, 600]
    assert ticks(0.0, 6 * 3600.0, at_most(7), unit="s") == [3600.0 * k for k in range(7)]
    assert ticks(0.0, 20 * 86_400.0, at_most(5), unit="s") == [5 * 86_400.0 * k for k in range(5)]
    assert ticks(0.0, 100.0, at_most(6), unit="s") == [0, 20, 40, 60, 80, 100]


def test_logarithmic_axes_are_marked_at_powers() -> None:
    assert ticks(1.0, 1e6, at_most(7), log=True) == pytest.approx([10.0**k for k in range(7)])
    assert ticks(1.0, 1e6, at_most(4), log=True) == pytest.approx([1, 1e2, 1e4, 1e6])
    assert ticks(1024.0, 2.0**20, at_most(3), unit="B", log=True) == [2.0**12, 2.0**15, 2.0**18]
    # within a power of ten: 1, 2 and 5 times it, and if that is too few, as on a straight axis
    assert ticks(1.5, 60.0, at_most(6), log=True) == pytest.approx([2, 5, 10, 20, 50])
    assert ticks(10.5, 19.0, at_most(5), log=True) == pytest.approx([12, 14, 16, 18])


@given(ENDS, ENDS, UNITS, st.integers(1, 12))
def test_marks_rise_inside_the_ends_and_fit(one: float, other: float, unit: str, most: int) -> None:
    low, high = sorted((one, other))
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        return
    found = ticks(low, high, at_most(most), unit=unit)
    room = (high - low) * 1e-6
    assert len(found) <= most
    assert all(low - room <= v <= high + room for v in found)
    assert all(a < b for a, b in itertools.pairwise(found))


@given(st.floats(1e-12, 1e12), st.floats(1.01, 1e9), UNITS, st.integers(1, 12))
def test_marks_of_powers_rise_inside_the_ends_and_fit(low: float, times: float, unit: str, most: int) -> None:
    found = ticks(low, low * times, at_most(most), unit=unit, log=True)
    assert len(found) <= most
    assert all(low * (1 - 1e-6) <= v <= low * times * (1 + 1e-6) for v in found)
    assert all(a < b for a, b in itertools.pairwise(found))


@pytest.mark.parametrize("rates", [(103e9, 160e9, 207e9), (25e9, 43e9, 439e9), (1e9, 9e12)])
def test_rates_below_a_ladder_of_hops_stand_apart(rates: tuple[float, ...]) -> None:
    """Marks of a logarithmic scale once ran into each other."""
    picture = hops([Hop(f"hop {n}", "", rate, rate * 1.2, rates[0]) for n, rate in enumerate(rates)])
    lowest = max(e.y for e in picture.elements if isinstance(e, Label))
    marks = sorted(
        (e.x, text_width(e.text, e.size)) for e in picture.elements if isinstance(e, Label) and e.y > lowest - 1
    )
    assert marks
    assert all(b - a >= (wide + other) / 2 for (a, wide), (b, other) in itertools.pairwise(marks))
