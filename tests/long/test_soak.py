"""An hour at the window, compressed: no crash, no mistake inside, and memory comes back when all is closed."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("PySide6", reason="the window belongs to the gui extra")

from tests.soak import soaked

pytestmark = [pytest.mark.long, pytest.mark.platform]


@pytest.mark.parametrize("seed", [1, 2])
def test_three_thousand_edits_with_messages_documents_themes_and_tabs(seed: int) -> None:
    report = soaked(3000, seed, os.environ.get("QT_QPA_PLATFORM", "offscreen"), patience=3600)
    assert report.edits >= 3000
    assert report.messages >= 500
    assert report.opened == report.closed >= 50
    assert report.analyses >= 100
    assert report.themes >= 20
    assert report.after <= 1.15 * report.before, f"memory in use grew by {report.growth:.0%}"
