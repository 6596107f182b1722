"""Answers of served models without latency against load, which takes most of their time and few tests look at."""

from __future__ import annotations

import pytest


@pytest.fixture
def frontier() -> None:
    """Asked for by tests that look at the frontier."""


@pytest.fixture(autouse=True)
def _without_frontier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "frontier" not in request.fixturenames:
        monkeypatch.setattr("designer.families.serving.alone.frontier", lambda *_: None)
