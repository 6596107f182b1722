"""MLPerf Storage v3.0, drawn with the servers the submissions describe: feeding, and checkpoints of 1 to 32 hosts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from designer.formulas.scoring import Scored, band_score, group_medians, macro_mean
from tests.validation.storage.newer import rows, scored


@pytest.fixture(scope="module")
def points() -> Sequence[Scored]:
    found = [scored(row) for row in rows()]
    if not found:
        pytest.skip("the newer measurements are not beside the checkout")
    return found


def test_feeding_and_writes_are_met(points: Sequence[Scored]) -> None:
    """15 rates of six submitters; one cluster reads checkpoints at 0.62 of what it feeds accelerators with."""
    assert len(points) == 15
    assert macro_mean(points) <= 0.14
    errors = group_medians(points)
    assert max(error for name, error in errors.items() if name.endswith("/write")) <= 0.24
    assert max(error for name, error in errors.items() if name.endswith("/feed")) <= 0.07


def test_bands_hold_writes(points: Sequence[Scored]) -> None:
    """All seven; none where the servers are not drawn and links alone bind."""
    writes = [point for point in points if point.group.endswith("/write")]
    assert len(writes) == 7
    assert band_score(writes).coverage >= 0.85
