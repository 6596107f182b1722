"""The page of formats names every reader and writer there is, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from designer.interchange.exporting import exporters
from designer.interchange.importing import MAX_BYTES, importers

pytestmark = pytest.mark.without_qt


def _names(page: str, chapter: str) -> list[str]:
    text = page.split(f"## {chapter}\n")[1].split("\n## ")[0]
    rows = [row.split("|")[1] for row in text.splitlines() if row.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_every_format_is_on_the_page_once(checkout: Path) -> None:
    page = (checkout / "docs" / "formats.md").read_text("utf-8")
    assert sorted(_names(page, "Read")) == sorted(importers())
    assert sorted(_names(page, "Written")) == sorted(exporters())
    assert f"{MAX_BYTES // 2**20} MiB" in page
