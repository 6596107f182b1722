"""The page of the source articles: every row has a command and its answer, and the commands give it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.cli.calling import call

pytestmark = pytest.mark.without_qt

#: figures of the page are compared within this share
_NEAR = 0.15
_UNITS = {"ms": 1e-3, "s": 1, "min": 60, "h": 3600, "days": 86_400, "MB/s": 1e6, "GB/s": 1e9, "GB": 1e9, "TB": 1e12}
_ROW = re.compile(r"^\| ([A-E]\d+) \|.*\| ([^|]+) \| `designer ([^`]+)` \|$", re.MULTILINE)


def _rows() -> dict[str, tuple[str, str]]:
    page = Path(__file__).parents[2] / "docs" / "articles.md"
    return {row: (answer, command) for row, answer, command in _ROW.findall(page.read_text("utf-8"))}


def test_every_row_of_the_articles_has_its_command_and_answer() -> None:
    counts = {"A": 11, "B": 7, "C": 14, "D": 4, "E": 4}
    rows = _rows()
    assert set(rows) == {f"{letter}{k}" for letter, most in counts.items() for k in range(1, most + 1)}
    assert all(re.search(r"\d", answer) for answer, _ in rows.values())


@pytest.mark.parametrize("row", _rows())
def test_a_command_of_the_page_gives_its_answer(row: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer, command = _rows()[row]
    metric = re.match(r"`(\w+)` ([\d.]+) ?(\S*)$", answer)
    found = call(capsys, *shlex.split(command), *(["--json"] if metric else []))
    assert found.code == 0, found.err
    if metric is None:
        assert answer in found.out
        return
    name, number, unit = metric.groups()
    metrics = [w["metrics"][name]["value"] for w in json.loads(found.out)["workloads"] if name in w["metrics"]]
    stated = float(number) * (_UNITS | {"%": 0.01, "/s": 1, "": 1})[unit]
    assert metrics[0] == pytest.approx(stated, rel=_NEAR)
