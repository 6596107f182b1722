"""Offline results of MLPerf v5.1, where these are next to the checkout: none fitted, of a release nobody stated."""

from __future__ import annotations

from statistics import mean

import pytest

from tests.validation.serving.mlperf import errors, results

pytestmark = pytest.mark.skipif(not results(), reason="no results beside the checkout")


def test_bands_of_a_release_that_is_not_known_hold_every_model_on_both_systems() -> None:
    table = errors()
    assert len(table) >= 6
    for name, (_, error, band) in table.items():
        assert abs(error) <= band, name


def test_throughput_at_the_lengths_and_layouts_that_are_published() -> None:
    found = [abs(error) for _, error, _ in errors().values()]
    assert len(found) >= 6
    assert mean(found) <= 0.1
