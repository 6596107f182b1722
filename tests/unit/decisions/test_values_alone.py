"""Searches compare values: what only bands need is not computed for them."""

from __future__ import annotations

import pytest

import designer
from designer.decisions.failures_survey import survive
from designer.decisions.suggest import suggest
from designer.families.serving import alone, answers


@pytest.fixture
def factors(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Factors of the step times of all runs of engines; 0 for each frontier."""
    asked: list[float] = []
    settled, frontier = answers.settled, alone.frontier

    def counted(placement: object, requests: object, factor: float, cancelled: object = None) -> object:
        asked.append(factor)
        return settled(placement, requests, factor, cancelled)  # type: ignore[arg-type]

    def drawn(served: object, cancelled: object = None) -> object:
        asked.append(0.0)
        return frontier(served, cancelled)  # type: ignore[arg-type]

    monkeypatch.setattr(answers, "settled", counted)
    monkeypatch.setattr(alone, "frontier", drawn)
    return asked


def test_changes_are_compared_by_values_alone(factors: list[float]) -> None:
    found = suggest(designer.open_design("serving-h100-8"), "chat-70b")
    assert found.steps
    assert factors
    assert set(factors) == {1.0}


def test_failures_are_compared_by_values_alone(factors: list[float]) -> None:
    design = designer.open_design("serving-h100-8")
    assert not design.assertions
    assert survive(design, "chat-70b").losses
    # the whole machine is answered once with its bands and its frontier
    assert sum(factor != 1.0 for factor in factors) == 3
    assert len(factors) > 6
