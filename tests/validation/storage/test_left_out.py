"""Submitters that were left out are still met, and the worst of them is known."""

from __future__ import annotations

from tests.validation.storage.left_out import coverages, errors


def test_no_submitter_is_far_off_without_its_own_runs() -> None:
    found = errors()
    assert len(found) == 8
    assert sum(found.values()) / len(found) < 0.10
    assert max(found.values()) < 0.30


def test_bands_hold_for_submitters_that_were_left_out() -> None:
    found = coverages()
    assert len(found) >= 6
    assert sum(found.values()) / len(found) >= 0.75
