"""Published measurements against designs drawn as templates: the whole way from the drawing to the number."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from designer.analysis.validation import Validation, predict, score
from designer.formulas.scoring import Sided
from designer.interchange.cases import read_cases

HERE = Path(__file__).parent
#: area → mean over groups of the median error, at most
AREAS = {"collectives": 0.06, "transfers": 0.03, "training": 0.06, "storage": 0.06}


@cache
def of(area: str) -> Validation:
    return score([predict(*case) for case in read_cases(HERE / area / "drawn.json")])


@pytest.mark.parametrize("area", AREAS)
def test_every_case_is_predicted_and_the_area_is_near(area: str) -> None:
    found = of(area)
    assert [o.problem for o in found.outcomes if o.predicted is None] == []
    assert found.areas[area] < AREAS[area]


def test_one_sided_cases_hold() -> None:
    sided = [o for area in AREAS for o in of(area).outcomes if o.measured.sided is not Sided.BOTH]
    assert len(sided) >= 4
    assert all(o.error == 0 for o in sided)


def test_bands_of_training_and_collectives_hold() -> None:
    found = score([*of("training").outcomes, *of("collectives").outcomes])
    assert found.coverage >= 0.78
    assert found.width < 0.18
