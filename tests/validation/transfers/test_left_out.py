"""Publications that were left out are still met, whoever measured."""

from __future__ import annotations

from statistics import mean

import pytest

from tests.validation.transfers.left_out import ALIKE, errors, left_out_share, points
from tests.validation.transfers.test_transfer_cases import CASES


def test_publications_left_out_are_near() -> None:
    found = errors()
    assert len(found) == 7
    assert sum(found.values()) / len(found) < 0.07
    assert max(found.values()) < 0.12
    assert len(points()) == 20


def test_the_nearest_measurement_of_others_is_taken() -> None:
    """PCIe of the fourth generation by its own two others, not by the third or fifth."""
    case = next(c for c in CASES if c["id"] == "bam54-a100")
    others = [c for c in CASES if c["group"] != case["group"]]
    assert left_out_share(case, others) == pytest.approx(26e9 / 31.508e9)
    assert ALIKE["c2c", "copy"] == ("nvlink", "copy")


def test_bands_hold_what_was_left_out() -> None:
    """About four of five points, and the mean over publications as well."""
    found = points()
    groups = {p.group for p in found}
    inside = [mean(p.low <= p.measured <= p.high for p in found if p.group == group) for group in groups]
    assert 0.75 <= mean(p.low <= p.measured <= p.high for p in found) <= 0.95
    assert 0.75 <= mean(inside) <= 0.95
