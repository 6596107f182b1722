"""The scores that the page of accuracy shows are those of today."""

from __future__ import annotations

import pytest

from tests.validation.scores import PAGE, areas, shown, table

pytestmark = pytest.mark.xdist_group("drawn")


def test_the_page_shows_the_scores() -> None:
    assert shown(PAGE.read_text("utf-8")) == table(), "python -m tests.validation.scores --write"


def test_every_area_is_scored_on_more_than_a_few_points() -> None:
    assert {name: len(area.points) for name, area in areas().items()} == {
        "collectives": 84,
        "transfers": 22,
        "training step": 230,
        "storage feed": 89,
        "migration": 43,
    }
