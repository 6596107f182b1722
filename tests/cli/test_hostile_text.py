"""What comes from a file is shown on a terminal, not obeyed, and never runs over pages."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from designer.report.drawing.elements import Picture
from designer.report.drawing.svg import to_svg

ESCAPE, TURN = "\x1b[31m\x07", "\u202e"


def called(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "designer", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        timeout=120,
        check=False,
    )


def test_an_endless_key_with_control_characters_is_refused_in_few_lines(tmp_path: Path, checkout: Path) -> None:
    file = tmp_path / "hostile.design.json"
    key = ESCAPE + TURN + "k" * 1_000_000
    file.write_text(
        json.dumps(
            {
                "format": "designer-design",
                "version": 1,
                "written_by": "designer 0.1.0",
                "design": {"name": "x", key: 1, "parts": [{"id": "a" * 3000, "kind": key}]},
            }
        )
    )
    done = called("summary", str(file), cwd=checkout)
    assert done.returncode == 2
    assert 0 < len(done.stderr) < 8000
    for bad in (*ESCAPE, TURN):
        if bad.isprintable():
            continue
        assert bad not in done.stderr
        assert bad not in done.stdout
    assert "hostile.design.json" in done.stderr


def test_arguments_are_shown_and_not_obeyed(tmp_path: Path, checkout: Path) -> None:
    done = called("analyze", "--no-such\x1b[31m", cwd=checkout)
    assert done.returncode == 2
    assert "\x1b" not in done.stderr


def test_svg_keeps_no_mark_of_direction() -> None:
    text = to_svg(Picture((), 0, 0, 10, 10, "#ffffff", title=f"abc{TURN}cba\u2066x{ESCAPE}"))
    assert not set(text) & {TURN, "\u2066", "\x1b", "\x07"}
    assert "abc" in ET.fromstring(text)[0].text  # type: ignore[operator]
