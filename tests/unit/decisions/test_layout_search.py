"""The layout search: the fastest layouts that fit, against every layout estimated one by one."""

from __future__ import annotations

import dataclasses

import pytest

from designer.errors import AnalysisError
from designer.families.training.formulas.layouts import SearchLimits, layouts
from designer.families.training.formulas.transformer_step import TransformerStep
from designer.families.training.layout_search import search_layouts
from designer.formulas.layout import Layout
from designer.formulas.software import software
from designer.units import Bytes
from designer.workload.models import model
from tests.unit.formulas.machines import BF16, NETWORK, ROUND, SMALL, step_model

LIMITS = SearchLimits(8, most_pipeline=8, most_context=2)


def test_a_search_returns_the_fastest_that_fits() -> None:
    tight = dataclasses.replace(ROUND, memory_capacity=Bytes(6e9))
    trainer = TransformerStep(SMALL, tight, BF16, software("transformer-engine"), 1024)
    result = search_layouts(trainer, 16, 64, NETWORK.costs, LIMITS, keep=5)
    assert result.candidates > result.fitting > 5
    times = [found.step_time for found in result.best]
    assert times == sorted(times)
    every = [
        trainer.estimate(layout, 64, NETWORK.costs(layout), must_fit=False)
        for layout in layouts(SMALL, 16, 64, 1024, LIMITS)
        if trainer.memory(layout, layout.microbatches(64)).fits
    ]
    assert times[0] == min(found.step_time for found in every)
    assert all(found.memory.fits and found.layout.ranks == 16 for found in result.best)


def test_layout_costs_do_not_depend_on_what_was_asked_before() -> None:
    layout = Layout(tensor=2, pipeline=2, data=4, micro_batch=2)
    warm = step_model()
    search_layouts(warm, 16, 64, NETWORK.costs, LIMITS, keep=1)
    assert warm.estimate(layout, 64, NETWORK.costs(layout)) == step_model().estimate(layout, 64, NETWORK.costs(layout))


def test_a_search_that_finds_nothing_says_why() -> None:
    with pytest.raises(AnalysisError, match="no layout divides"):
        search_layouts(step_model(), 7, 3, NETWORK.costs, SearchLimits(1, most_pipeline=1), 10)
    with pytest.raises(AnalysisError, match="times the memory"):
        search_layouts(step_model(model("gpt-1t"), 2048), 8, 8, NETWORK.costs, SearchLimits(8), 10)
    with pytest.raises(AnalysisError, match="1 or more"):
        search_layouts(step_model(), 0, 8, NETWORK.costs, SearchLimits(8), 10)
