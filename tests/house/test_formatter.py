"""The formatter lays out every line: nothing asks to be left as it is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEFT_ALONE = re.compile(r"#\s*(fmt|yapf):\s*(skip|off)")


def test_no_line_asks_the_formatter_to_leave_it() -> None:
    files = [f for part in ("designer", "tests", "packaging") for f in (ROOT / part).rglob("*.py")]
    found = [str(f.relative_to(ROOT)) for f in files if LEFT_ALONE.search(f.read_text(encoding="utf-8"))]
    assert found == []
