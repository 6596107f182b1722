"""Rules on 16,384 GPUs, rules after an edit on a server, a thousand tests: processor time, loosely."""

from __future__ import annotations

import time
from collections.abc import Callable

from designer.analysis.network import build_network
from designer.checks.runner import Promise, State, run
from designer.checks.world import World
from designer.design.edits.properties import SetPolicy
from designer.interchange.templates import open_design
from designer.rules.runner import check


def took(what: Callable[[], object]) -> float:
    begun = time.process_time()
    what()
    return time.process_time() - begun


def test_rules_on_16384_gpus() -> None:
    design = open_design("cluster-16384")
    assert took(lambda: check(design)) < 6.0


def test_rules_after_an_edit_on_a_server() -> None:
    design = open_design("dgx-h100")
    check(design)
    times: list[float] = []
    for k in range(9):
        edited = SetPolicy({"hash_seed": k + 1}).apply(design)
        build_network(edited)
        times.append(took(lambda edited=edited: check(edited)))
    assert sorted(times)[4] < 0.03


def test_a_thousand_tests_beyond_their_analyses() -> None:
    world = World(open_design("dgx-h100"))
    promises = [Promise(str(k), f'h2d.rate >= {k + 1} MB/s and count("gpu") == 8') for k in range(1000)]
    run(world, promises[:1])
    begun = time.process_time()
    outcomes = run(world, promises)
    assert time.process_time() - begun < 2.0
    assert {o.state for o in outcomes} == {State.HELD}
