"""Speed of the engine on whole designs, as ratios inside one run; run with ``--benchmark-only``."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache

import networkx as nx
import numpy as np
import pytest

from designer.analysis.study import analyze
from designer.design.document import Design, replaced, with_changes
from designer.design.graph import to_networkx
from designer.engine.flows import check, solve
from designer.engine.network import build_network
from designer.engine.routes import route
from designer.engine.routes.selection import pair_up
from designer.interchange.templates import open_design
from tests.bench.engine_timing import PERMUTATION, best, cluster, problem

pytestmark = pytest.mark.alone

LIBRARIES = "import numpy, scipy.sparse, networkx, pydantic"


def re_analysed(design: Design, workload: str) -> Callable[[], object]:
    """An edit of one link, and the answer of a workload."""
    lanes = itertools.cycle((8, 16))

    def run() -> object:
        if design.groups:
            group = next(iter(design.groups.values()))
            edited = with_changes(design, groups=replaced(design.groups, [with_changes(group, note=str(next(lanes)))]))
        else:
            link = next(k for k in design.links.values() if k.kind == "pcie")
            edited = with_changes(design, links=replaced(design.links, [with_changes(link, lanes=next(lanes))]))
        found = analyze(edited, [workload], curves=False).workloads[0]
        return found.metrics, found.binding

    return run


def test_growth_of_the_allocation_from_1k_to_98k_gpus(benchmark):
    """Hashed permutations, routed on elaborated designs: certificate included, no two equal."""
    sizes, times = [], []
    for units in (4, 16, 64, 384):
        incidence = problem(cluster(units))
        answer = solve(incidence)
        assert check(incidence, answer.rate).ok
        capacity = incidence.capacity.copy()
        times.append(best(lambda i=incidence, c=capacity: solve(i.with_capacity(c)), 5))
        sizes.append(incidence.nnz)
    exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    benchmark.extra_info["exponent"] = exponent
    benchmark.extra_info["seconds by entries"] = dict(zip(sizes, times, strict=True))
    small = problem(cluster(1))
    benchmark.pedantic(lambda: solve(small.with_capacity(small.capacity.copy())), rounds=5)
    assert exponent <= 1.3


def test_routing_all_flows_at_16k_gpus_costs_less_than_one_pair_by_enumeration(benchmark):
    design = cluster(64)
    network = build_network(design)
    legs = pair_up(network, PERMUTATION, "bench").legs
    textbook = nx.DiGraph(to_networkx(design))
    ends = "pods[0]/servers[0]/gpu0", "pods[63]/servers[31]/gpu0"
    pair, all_flows, solved = [], [], []
    incidence = problem(design)
    for _ in range(4):  # by turns, so that a busy machine slows all
        pair.append(best(lambda: list(nx.all_shortest_paths(textbook, *ends)), 1))
        all_flows.append(best(lambda: route(network, legs), 2))
        solved.append(best(lambda: solve(incidence.with_capacity(incidence.capacity.copy())), 2))
    benchmark.pedantic(lambda: route(network, legs), rounds=3)
    benchmark.extra_info["all flows / one pair"] = min(all_flows) / min(pair)
    benchmark.extra_info["allocation / one pair"] = min(solved) / min(pair)
    assert min(all_flows) < 0.5 * min(pair)
    assert min(solved) < 0.2 * min(pair)


@pytest.mark.parametrize("workload", ["h2d", "all-reduce"])
def test_one_server_edited_and_answered(benchmark, workload):
    """Against loading the libraries once: some thirty answers fit into it."""
    run = re_analysed(open_design("hgx-h100-8"), workload)
    run()
    benchmark(run)
    _against_libraries(benchmark, best(run, 30), 0.06)


@pytest.mark.parametrize("workload", ["permutation", "h2d", "all-reduce"])
def test_256_gpus_edited_and_answered(benchmark, workload):
    run = re_analysed(cluster(1, "split"), workload)
    run()
    benchmark(run)
    _against_libraries(benchmark, best(run, 10), 0.25)


def _against_libraries(benchmark, seconds: float, most: float) -> None:
    baseline = _libraries()
    benchmark.extra_info["milliseconds"] = seconds * 1e3
    benchmark.extra_info["answer / loading the libraries"] = seconds / baseline
    assert seconds < most * baseline


@cache
def _libraries() -> float:
    """Shortest time of loading the libraries [s]."""
    return min(_process("-c", LIBRARIES) for _ in range(5))


def _process(*arguments: str) -> float:
    # an installed program has its bytecode, as the libraries of the baseline have
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - start


@pytest.mark.parametrize(
    ("command", "most"), [(("analyze", "hgx-h100-8", "--json"), 1.9), (("--help",), 0.3)], ids=["analyze", "help"]
)
def test_start_of_a_process(benchmark, command, most):
    """A whole run of the program against loading its libraries; 1.5 is aimed at, 1.71 to 1.78 was seen."""
    baseline, run = [], []
    for _ in range(5):
        baseline.append(_process("-c", LIBRARIES))
        run.append(_process("-m", "designer", *command))
    benchmark.pedantic(lambda: _process("-m", "designer", *command), rounds=1)
    ratio = min(run) / min(baseline)
    benchmark.extra_info["run / libraries"] = ratio
    assert ratio <= most
