"""Speed of training estimates on drawn designs, against building the network they run on."""

from __future__ import annotations

import time
from typing import Any

import pytest

from designer.analysis.network import Network, build_network
from designer.analysis.study import run_workload
from designer.design.document import WorkloadSpec
from designer.interchange.templates import open_design

#: template, workload, budget [s]
JOBS = [("hgx-h100-8", "llama-2-7b-fsdp", 0.020), ("cluster-1024", "llama-2-70b", 0.100)]


def prepared(template: str, workload: str) -> tuple[Network, WorkloadSpec]:
    design = open_design(template)
    network, spec = build_network(design), design.workloads[workload]
    run_workload(network, spec, curves=False)
    return network, spec


@pytest.mark.parametrize(("template", "workload", "budget"), JOBS)
def test_estimating_again_stays_in_its_budget(benchmark: Any, template: str, workload: str, budget: float) -> None:
    network, spec = prepared(template, workload)
    benchmark(lambda: run_workload(network, spec, curves=False))
    start = time.perf_counter()
    network.memo.clear()
    run_workload(network, spec, curves=False)
    afresh = time.perf_counter() - start
    assert benchmark.stats.stats.min < afresh
    assert benchmark.stats.stats.min < budget


def test_ten_thousand_layouts_in_ten_seconds(benchmark: Any) -> None:
    settings = {
        "model": "llama-2-70b", "global_batch": 1536, "software": "transformer-engine", "most_context": 8, "keep": 5,
    }  # fmt: skip
    network = build_network(open_design("cluster-1024"))
    spec = WorkloadSpec(id="s", kind="layout_search", settings=settings)
    result = benchmark.pedantic(lambda: run_workload(network, spec, curves=False)[0], rounds=1, iterations=1)
    looked = result.metrics["candidates"].value
    assert looked >= 10_000
    assert benchmark.stats.stats.min / looked < 10 / 10_000
