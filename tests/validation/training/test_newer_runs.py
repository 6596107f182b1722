"""Rates of MLPerf Training v4.1 to v5.1 on Hopper, Blackwell and MI300X to MI355X."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from designer.formulas.scoring import Scored, band_score, macro_mean
from tests.validation.training import left_out
from tests.validation.training.newer import runs, scored


@pytest.fixture(scope="module")
def points() -> Sequence[Scored]:
    found = [scored(run) for run in runs()]
    if not found:
        pytest.skip("the newer measurements are not beside the checkout")
    return found


def test_newer_runs_are_predicted(points: Sequence[Scored]) -> None:
    """4.7 % over groups."""
    assert len(points) > 160
    assert macro_mean(points) <= 0.052


def test_bands_hold_newer_runs(points: Sequence[Scored]) -> None:
    assert band_score(points).coverage >= 0.78


@pytest.mark.parametrize("scheme", ["submitter", "generation"])
def test_bands_hold_what_was_left_out(points: Sequence[Scored], scheme: left_out.Scheme) -> None:
    """Stated 80 %, of fits without a submitter, and without a generation of accelerators."""
    held, _, width = left_out.bands(scheme)
    assert points
    assert 0.78 <= held <= 0.91
    assert width < 0.17
