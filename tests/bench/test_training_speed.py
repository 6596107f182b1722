"""Speed of training estimates on drawn designs, against building the network they run on."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from designer.analysis.study import analyze, run_workload
from designer.design.document import Design, WorkloadSpec
from designer.engine.network import Network, build_network
from designer.interchange.templates import open_design
from tests.bench.ratios import against

#: template and workload; 20 and 100 ms are aimed at
JOBS = [("hgx-h100-8", "llama-2-7b-fsdp"), ("cluster-1024", "llama-2-70b")]
#: in times of building the network: an estimate again, from an edited link on, with other settings
AGAIN = {"hgx-h100-8": 10.5, "cluster-1024": 12.5}
EDITED = {"hgx-h100-8": 36, "cluster-1024": 48}
OTHERWISE = {"hgx-h100-8": 29, "cluster-1024": 32}
WHOLE, LAYOUT = 330, 0.016


def prepared(template: str, workload: str) -> tuple[Network, WorkloadSpec]:
    design = open_design(template)
    network, spec = build_network(design), design.workloads[workload]
    run_workload(network, spec, curves=False)
    return network, spec


@pytest.mark.parametrize(("template", "workload"), JOBS)
def test_estimating_again_costs_some_networks(benchmark: Any, template: str, workload: str) -> None:
    network, spec = prepared(template, workload)
    design = open_design(template)
    benchmark(lambda: run_workload(network, spec, curves=False))
    ratio = against(benchmark, lambda: run_workload(network, spec, curves=False), lambda: built(design))
    assert ratio <= AGAIN[template]


def built(design: Design) -> Network:
    """The network of a design nobody has asked about."""
    return build_network(design.model_copy())


def edited(block: Any, kind: str, rate: str) -> Any:
    """The block with the rate of its first link of a kind changed, in a group where the block has none; else None."""
    found = next((link for link in block.links.values() if link.kind == kind), None)
    if found is not None:
        links = {**block.links, found.id: found.model_copy(update={"bandwidth_per_direction": rate})}
        return block.model_copy(update={"links": links})
    for group in block.groups.values():
        content = edited(group.content, kind, rate)
        if content is not None:
            groups = {**block.groups, group.id: group.model_copy(update={"content": content})}
            return block.model_copy(update={"groups": groups})
    return None


@pytest.mark.parametrize("kind", ["pcie", "nvlink"])
@pytest.mark.parametrize(("template", "workload"), JOBS)
def test_estimating_after_an_edit_costs_some_networks(benchmark: Any, template: str, workload: str, kind: str) -> None:
    """From an edited design to the result: the rate of one link, another each time."""
    design = open_design(template)
    spec = design.workloads[workload]
    rates = count(400)

    def estimate(changed: Design) -> None:
        run_workload(build_network(changed), spec, curves=False)

    estimate(design)
    benchmark.pedantic(lambda: None, rounds=1)
    changes = iter([edited(design, kind, f"{next(rates)} Gb/s") for _ in range(7)])
    assert against(benchmark, lambda: estimate(next(changes)), lambda: built(design)) <= EDITED[template]


@pytest.mark.parametrize(("template", "workload"), JOBS)
def test_estimating_after_a_change_of_settings_costs_some_networks(
    benchmark: Any, template: str, workload: str
) -> None:
    """Another sequence each time: computing and messages change, the network stays."""
    network, spec = prepared(template, workload)
    tokens = count(2048, 16)

    def changed() -> WorkloadSpec:
        return spec.model_copy(update={"settings": {**spec.settings, "sequence": next(tokens)}})

    benchmark.pedantic(lambda: None, rounds=1)
    design = open_design(template)
    ratio = against(benchmark, lambda: run_workload(network, changed(), curves=False), lambda: built(design))
    assert ratio <= OTHERWISE[template]


def test_a_whole_estimate_on_sixteen_thousand_accelerators(benchmark: Any) -> None:
    """Llama 2 70B with all curves, from the design on, against building the network; 3 s are aimed at."""
    spec = open_design("cluster-1024").workloads["llama-2-70b"]
    spec = spec.model_copy(update={"settings": {**spec.settings, "global_batch": 2048}})
    design = open_design("cluster-16384").model_copy(update={"workloads": {spec.id: spec}})
    analyze(design)
    benchmark.pedantic(lambda: None, rounds=1)
    assert against(benchmark, lambda: analyze(design.model_copy()), lambda: built(design), turns=3) <= WHOLE


def test_ten_thousand_layouts(benchmark: Any) -> None:
    """Each against an estimate with other settings; 1 ms is aimed at."""
    settings = {
        "model": "llama-2-70b",
        "global_batch": 1536,
        "software": "transformer-engine",
        "most_context": 8,
        "keep": 5,
    }
    network = build_network(open_design("cluster-1024"))
    spec = WorkloadSpec(id="s", kind="layout_search", settings=settings)
    results = []
    _, one = prepared("cluster-1024", "llama-2-70b")
    tokens = count(2048, 16)

    def estimates() -> None:
        for _ in range(20):
            changed = one.model_copy(update={"settings": {**one.settings, "sequence": next(tokens)}})
            run_workload(network, changed, curves=False)

    ratio = against(benchmark, lambda: results.append(run_workload(network, spec, curves=False)[0]), estimates, turns=1)
    benchmark.pedantic(lambda: None, rounds=1)
    looked = results[0].metrics["candidates"].value
    assert looked >= 10_000
    assert 20 * ratio / looked <= LAYOUT
