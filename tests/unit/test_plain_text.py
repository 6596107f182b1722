"""Text of others made fit to be shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.plain_text import DIRECTIONAL, LONGEST, counted, harmless, shortened


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
