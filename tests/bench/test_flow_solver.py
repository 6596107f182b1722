"""Speed of the flow solver as ratios inside one run; run with ``--benchmark-only``.

Every solve is the public one: certificate included, routes prepared, capacities edited.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from designer.engine.flows import Incidence, binding, solve
from tests.bench.instances import chain, load, permutation, random_dense
from tests.bench.naive import naive

pytestmark = pytest.mark.alone


def best(function: Callable[[], object], repeats: int) -> float:
    """Shortest of some runs [s]."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def resolve(incidence: Incidence) -> Callable[[], object]:
    """An edit of capacities and its solution."""
    capacity = incidence.capacity.copy()
    return lambda: solve(incidence.with_capacity(capacity))


def test_one_server(benchmark):
    incidence = load(1)
    solve(incidence)
    benchmark(resolve(incidence))
    slow = best(lambda: naive(incidence), 20)
    assert slow / best(resolve(incidence), 200) > 2


@pytest.mark.parametrize(("make", "least"), [(load, 50), (permutation, 1000)])
def test_faster_than_the_naive_filling_at_1024_gpus(benchmark, make, least):
    """Aimed at a hundred times; one round of plain numpy against plain Python is 78 to 130 from machine to machine."""
    incidence = make(128)
    start = time.perf_counter()
    expected = naive(incidence)
    slow, fast = [time.perf_counter() - start], [best(resolve(incidence), 50)]
    assert_allclose(solve(incidence).rate, expected, rtol=1e-9)
    benchmark(resolve(incidence))
    for _ in range(9 if make is load else 0):  # by turns, so that a busy machine slows both
        slow.append(best(lambda: naive(incidence), 1))
        fast.append(best(resolve(incidence), 50))
    if benchmark.stats:
        fast.append(benchmark.stats.stats.min)
    ratio = min(slow) / min(fast)
    benchmark.extra_info["ratio to naive"] = ratio
    assert ratio >= least


def test_growth_from_1k_to_98k_gpus(benchmark):
    sizes, times = [], []
    for servers in (128, 512, 2048, 12288):
        incidence = permutation(servers)
        solve(incidence)
        sizes.append(incidence.nnz)
        times.append(best(resolve(incidence), 5))
    exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    benchmark.extra_info["exponent"] = exponent
    benchmark.extra_info["seconds"] = dict(zip(sizes, times, strict=True))
    benchmark.pedantic(resolve(permutation(128)), rounds=5)
    assert exponent <= 1.3


@pytest.mark.parametrize(
    "make", [lambda: chain(10_000), lambda: random_dense(10_000, 1_000, 8)], ids=["chain", "dense"]
)
def test_changing_to_the_heap_pays(benchmark, make):
    incidence = make()
    times: dict[str, list[float]] = {"auto": [], "rounds": [], "heap": []}
    for method in ("auto", "heap", "rounds", "auto", "heap", "auto", "heap"):  # by turns
        times[method].append(best(lambda method=method: solve(incidence, method=method), 1))
    automatic, rounds, heap = (min(times[method]) for method in ("auto", "rounds", "heap"))
    benchmark.extra_info["rounds / automatic"] = rounds / automatic
    benchmark.pedantic(resolve(incidence), rounds=3)
    assert automatic <= 2 * min(rounds, heap)


def test_rounds_beat_the_heap_on_a_cluster(benchmark):
    incidence = permutation(512)
    ratio = best(lambda: solve(incidence, method="heap"), 2) / best(resolve(incidence), 10)
    benchmark.extra_info["heap / automatic"] = ratio
    benchmark.pedantic(resolve(incidence), rounds=5)
    assert ratio > 2


def test_bottlenecks_cost_no_more_than_a_few_solves(benchmark):
    incidence = permutation(2048)
    answer = solve(incidence)
    once = best(resolve(incidence), 10)
    assert best(lambda: binding(incidence, answer), 5) < 3 * once
    benchmark.pedantic(lambda: binding(incidence, answer), rounds=5)
