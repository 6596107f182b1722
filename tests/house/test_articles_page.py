"""The page of the source articles: every row has a command, and the commands run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.calling import call

pytestmark = pytest.mark.without_qt


def _rows() -> dict[str, str]:
    page = Path(__file__).parents[2] / "docs" / "articles.md"
    return dict(re.findall(r"^\| ([A-E]\d+) \|.*\| `(designer [^`]+)` \|$", page.read_text("utf-8"), re.MULTILINE))


def test_every_row_of_the_articles_has_its_command() -> None:
    counts = {"A": 11, "B": 7, "C": 14, "D": 4, "E": 4}
    assert set(_rows()) == {f"{letter}{k}" for letter, most in counts.items() for k in range(1, most + 1)}


@pytest.mark.parametrize("command", sorted(set(_rows().values())))
def test_a_command_of_the_page_runs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = call(capsys, *shlex.split(command)[1:])
    assert found.code == 0, found.err
    assert found.out.strip()
