"""Bracket lists of names, read and written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import ExchangeError
from designer.interchange.foreign.hostlist import compress, expand


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n[001-003,020]", ["n001", "n002", "n003", "n020"]),
        ("a,b", ["a", "b"]),
        ("", []),
        ("j-[1-2]-[01-02]", ["j-1-01", "j-1-02", "j-2-01", "j-2-02"]),
        ("s[8-10]x", ["s8x", "s9x", "s10x"]),
    ],
)
def test_reading(text: str, names: list[str]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize("text", ["n[1-", "n]1[", "n[3-1]", "n[a-b]", "n[1-999999]", "n[[1]]", "n[1-1000][1-1000]"])
def test_refusals(text: str) -> None:
    with pytest.raises(ExchangeError):
        expand(text)


@given(st.lists(st.from_regex(r"[a-z-]{1,3}[0-9]{0,4}", fullmatch=True), max_size=40))
def test_what_is_written_reads_back(names: list[str]) -> None:
    assert sorted(expand(compress(names))) == sorted(set(names))
