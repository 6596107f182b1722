"""Pages for newcomers name files that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest


@pytest.mark.parametrize("page", ["tour.md", "adding.md", "architecture.md"])
def test_every_file_named_is_there(checkout: Path, page: str) -> None:
    text = (checkout / "docs" / page).read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    named = re.findall(r"`((?:designer|assets|tests)/[^`<>]+)`", prose)
    assert len(named) >= 8
    assert [name for name in named if not (checkout / name).exists()] == []
