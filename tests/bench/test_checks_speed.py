"""Rules on 16,384 GPUs, rules after an edit on a server, a thousand tests: each against work of the same kind."""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from designer.checks.runner import Promise, State, run
from designer.checks.world import World
from designer.design.edits.properties import SetPolicy
from designer.engine.network import build_network
from designer.interchange.templates import open_design
from designer.memo import forget
from designer.rules.runner import check
from tests.bench.ratios import against, timed


def test_rules_on_16384_gpus(benchmark: Any) -> None:
    """Against building the network they look at; 6 s are aimed at."""
    design = open_design("cluster-16384")

    def built() -> None:
        forget()
        build_network(design)

    ratio = against(benchmark, lambda: check(design), built, turns=3)
    benchmark.pedantic(lambda: None, rounds=1)
    assert ratio <= 32


@pytest.mark.parametrize(("template", "most"), [("dgx-h100", 13), ("su-h100-32", 20)])
def test_rules_after_an_edit(template: str, most: float, benchmark: Any) -> None:
    """Against building the network of the same edit; 10 ms are aimed at on a server, 20 ms on 32 of them."""
    design = open_design(template)
    check(design)
    checked: list[float] = []
    built: list[float] = []
    for k in range(15):
        edited = SetPolicy({"hash_seed": k + 1}).apply(design)
        built.append(timed(lambda edited=edited: build_network(edited)))
        checked.append(timed(lambda edited=edited: check(edited)))
    ratio = statistics.median(checked) / statistics.median(built)
    benchmark.extra_info |= {"ratio": ratio, "milliseconds": 1e3 * statistics.median(checked)}
    benchmark.pedantic(lambda: None, rounds=1)
    assert ratio <= most


def test_a_thousand_tests_beyond_their_analyses(benchmark: Any) -> None:
    """Against as many expressions that Python reads and works out; 2 s are aimed at."""
    world = World(open_design("dgx-h100"))
    promises = [Promise(str(k), f'h2d.rate >= {k + 1} MB/s and count("gpu") == 8') for k in range(1000)]
    texts = [f"rate >= {k + 1} * 1e6 and len(gpus) == 8" for k in range(1000)]
    known = {"rate": 1e12, "gpus": range(8)}
    run(world, promises[:1])
    ratio = against(benchmark, lambda: run(world, promises), lambda: [eval(text, {}, known) for text in texts])
    benchmark.pedantic(lambda: None, rounds=1)
    assert ratio <= 19
    assert {o.state for o in run(world, promises)} == {State.HELD}
