"""The cases that are drawn as templates, each predicted once for all tests of one process."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from designer.decisions.validation import Outcome, Validation, predict, score
from designer.design.document import Design
from tests.case_files import read_cases

HERE = Path(__file__).parent


@cache
def predictions(area: str) -> tuple[tuple[Design, Outcome], ...]:
    """Every drawn case of an area, predicted the whole way."""
    return tuple((design, predict(design, measured)) for design, measured in read_cases(HERE / area / "drawn.json"))


@cache
def of(area: str) -> Validation:
    """The score of the drawn cases of an area."""
    return score([outcome for _, outcome in predictions(area)])
