"""Texts: frequencies as people write them, and text of others made fit to be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import UnitError
from designer.plain_text import DIRECTIONAL, LONGEST, counted, harmless, shortened
from designer.units import format_quantity, parse

# How often in a second, as people write it.


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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("20 req/s", 20.0),
        ("20 requests/s", 20.0),
        ("20 rps", 20.0),
        ("5k QPS", 5000.0),
        ("2 k req/s", 2000.0),
        ("42 k images/s", 42_000.0),
        ("1200/min", 20.0),
        ("72 1/h", 0.02),
        ("86400 requests/d", 1.0),
    ],
)
def test_what_is_counted_and_in_which_time(text: str, value: float) -> None:
    assert parse(text, "frequency") == pytest.approx(value)


@pytest.mark.parametrize("text", ["20", "20 s", "20 GB/s", "20 req", "20/week", "20 req/s/s"])
def test_what_is_no_frequency_is_refused(text: str) -> None:
    with pytest.raises(UnitError):
        parse(text, "frequency")


def test_the_smallest_keep_their_digits() -> None:
    assert format_quantity(1.28e-7, "frequency") == "1.28e-07/s"
    assert format_quantity(0.004, "frequency") == "0.004/s"


# Text of others made fit to be shown.


@given(st.text())
def test_nothing_is_left_that_a_terminal_would_obey(text: str) -> None:
    shown = harmless(text)
    assert len(shown) == len(text)
    assert not any(ord(c) in DIRECTIONAL or (ord(c) < 32 and c not in "\t\n\r") or 127 <= ord(c) < 160 for c in shown)
    assert harmless(shown) == shown


def test_letters_of_all_scripts_stay() -> None:
    text = "Größe, 大きさ, גודל, حجم, 👍 — line\n\tnext"
    assert harmless(text) == text


@pytest.mark.parametrize("n", [0, 1, LONGEST, LONGEST + 1, 1_000_000])
def test_long_texts_keep_their_beginning_and_their_end(n: int) -> None:
    text = "begin" + "x" * n + "the remedy"
    shown = shortened(text)
    assert shown.startswith("begin")
    assert shown.endswith("the remedy")
    assert len(shown) <= LONGEST + 40
    assert (shown == text) == (len(text) <= LONGEST)


def test_what_is_counted_agrees_with_its_number() -> None:
    assert counted(1, "cable is", "cables are") == "1 cable is"
    assert counted(0, "cable is", "cables are") == "0 cables are"
    assert counted(1280, "cable") == "1,280 cables"
