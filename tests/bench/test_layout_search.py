"""Speed of the layout search against estimating every candidate afresh; run with ``--benchmark-only``."""

import time

from designer.families.training.formulas.layouts import SearchLimits, layouts
from designer.families.training.formulas.transformer_step import TransformerStep
from designer.families.training.layout_search import search_layouts
from designer.formulas.precision import precision
from designer.formulas.software import software
from designer.workload.models import model
from tests.validation.training.machines import PARTS, network_of

PART = PARTS["H100"]
LIMITS = SearchLimits(8, most_pipeline=64, most_context=4)


def trainer() -> TransformerStep:
    return TransformerStep(model("gpt-175b"), PART, precision("bf16"), software("transformer-engine"), 4096)  # type: ignore[arg-type]


def test_ten_thousand_candidates(benchmark) -> None:
    """A search keeps layer costs; a fresh estimate of a hundred of its candidates is the baseline."""
    network = network_of(PART, 8)
    start = time.perf_counter()
    result = search_layouts(trainer(), 1024, 1536, network.costs, LIMITS, 10)
    each = (time.perf_counter() - start) / result.candidates
    benchmark.pedantic(lambda: None, rounds=1)
    assert result.candidates >= 10_000
    some = [layout for _, layout in zip(range(100), layouts(trainer().shape, 1024, 1536, 4096, LIMITS), strict=False)]
    start = time.perf_counter()
    for layout in some:
        trainer().estimate(layout, 1536, network.costs(layout), must_fit=False)
    afresh = (time.perf_counter() - start) / len(some)
    assert each < afresh
