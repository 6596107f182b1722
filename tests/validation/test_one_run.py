"""A workload analyzed and the same workload run alone over time: one value, one band, one reason."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from designer.analysis.clock.jobs import Changes, job_of
from designer.analysis.clock.player import play
from designer.analysis.clock.run import Run
from designer.analysis.costs import Prices
from designer.analysis.measures import answer, banded, bands_of, values_of
from designer.analysis.network import Network, build_network
from designer.analysis.results import Bottleneck
from designer.analysis.study import run_workload
from designer.design.document import WorkloadSpec
from designer.errors import AnalysisError
from designer.interchange.templates import list_templates, open_design
from designer.workload.kind import program_of

#: kinds that are answered by one account, by their main metric; a transfer without a size has a rate alone
KINDS = {
    "collective": "communication_time",
    "training": "step_time",
    "transfer": "transfer_time",
    "data_loading": "input_time",
    "checkpointing": "checkpoint_time",
}
#: kinds of which every metric of the program is one of the analysis
MOVING = ("transfer", "data_loading", "checkpointing")
#: kinds whose ties are listed link by link
SINGLE = ("collective", "transfer", "checkpointing", "data_loading")
#: workloads that templates do not have: the defaults of kinds that move data, and the same with what changes their way
MOVED: dict[str, tuple[str, dict[str, object]]] = {
    "transfer": ("transfer", {}),
    "transfer-sized": ("transfer", {"size": "1 GB", "both_ways": True}),
    "transfer-small": ("transfer", {"size": "4 kB"}),
    "transfer-asking": ("transfer", {"demand": "1 GB/s"}),
    "transfer-peers": ("transfer", {"from": "gpus", "to": "gpus", "pairing": "shift"}),
    "data-loading": ("data_loading", {}),
    "data-loading-drives": ("data_loading", {"source": "drives"}),
    "data-loading-serial": ("data_loading", {"source": "drives", "prefetch": 0}),
    "checkpointing": ("checkpointing", {"model": "llama-2-7b"}),
    "checkpointing-drives": ("checkpointing", {"model": "llama-2-7b", "target": "drives", "restore_from_one": True}),
    "checkpointing-behind": ("checkpointing", {"model": "llama-2-7b", "target": "drives", "snapshot": True}),
}
TEMPLATES = [t.id for t in list_templates() if t.gpus <= 64]
DRAWN = [
    (template, spec.id)
    for template in TEMPLATES
    for spec in open_design(template).workloads.values()
    if spec.kind in KINDS
]
CASES = [*DRAWN, *((template, name) for template in TEMPLATES for name in MOVED)]


@cache
def network_of(template: str) -> Network:
    return build_network(open_design(template))


def spec_of(template: str, workload: str) -> WorkloadSpec:
    drawn = network_of(template).design.workloads
    if workload in drawn:
        return drawn[workload]
    kind, settings = MOVED[workload]
    return WorkloadSpec(id=workload, kind=kind, settings=settings)


def told(bottlenecks: tuple[Bottleneck, ...]) -> list[tuple[object, ...]]:
    return sorted((b.what, b.id, b.label) for b in bottlenecks)


def gains(bottlenecks: tuple[Bottleneck, ...]) -> dict[str, tuple[float | None, float | None]]:
    return {b.id: (b.gain_if_doubled, b.gain_together) for b in bottlenecks}


@pytest.mark.parametrize(("template", "workload"), CASES)
def test_analyzed_and_run_alone_are_one_answer(template: str, workload: str):
    network, spec = network_of(template), spec_of(template, workload)
    program = program_of(spec.kind, spec.settings, "w")
    assert program is not None
    try:
        analyzed = run_workload(network, spec, curves=False)[0]
    except AnalysisError as refused:
        with pytest.raises(AnalysisError, match=re.escape(refused.text)):
            answer(Prices(network), job_of(program, f"workloads.{workload}"))
        return
    alone = answer(Prices(network), job_of(program, "w"))
    metric = KINDS[spec.kind] if KINDS[spec.kind] in analyzed.metrics else "rate"
    assert metric in alone.metrics
    for name, its in alone.metrics.items():
        if name == metric or spec.kind in MOVING:
            mine = analyzed.metrics[name]
            assert (its.value, its.low, its.high) == pytest.approx((mine.value, mine.low, mine.high), rel=1e-9), name
    # every channel is listed for the drawing where nothing but links is explained
    binding, then = alone.why.bottlenecks(alone.words) if spec.kind in SINGLE else alone.bottlenecks()
    assert told(binding) == told(analyzed.binding)
    assert told(then) == told(analyzed.next)
    theirs = gains((*binding, *then))
    for name, (one, together) in gains((*analyzed.binding, *analyzed.next)).items():
        assert theirs[name][1] == (None if together is None else pytest.approx(together, rel=1e-9))
        assert theirs[name][0] == (None if one is None else pytest.approx(one, rel=1e-9))


@pytest.mark.parametrize(("template", "workload"), [c for c in CASES if c[1] in MOVED or "to-gpus" in c[1]])
def test_the_clock_has_the_same_values_and_bands(template: str, workload: str):
    """The same programs event by event, and again with each estimate at its ends."""
    network, spec = network_of(template), spec_of(template, workload)
    program = program_of(spec.kind, spec.settings, "w")
    assert program is not None
    # a program that goes on for ever repeats itself from its first item on
    job = job_of(replace(program, times=min(program.times, 2)), "w")
    prices = Prices(network)
    try:
        run = play(prices, [job])
    except AnalysisError:
        return
    settled = answer(Prices(network), job_of(program, "w")).metrics

    def run_with(changes: Changes) -> Run:
        return play(prices, [job], changes=changes)

    values = values_of(run, job)
    groups = bands_of(prices, [step.task for step in program.steps])
    found = banded(job, values, groups, run_with)
    assert found.keys() == settled.keys()
    for name, its in found.items():
        mine = settled[name]
        assert its.value == pytest.approx(mine.value, rel=1e-9), name
        # deviations of a rate are added in squares as those of its time are
        if its.unit == "s":
            assert (its.low, its.high) == pytest.approx((mine.low, mine.high), rel=1e-6), name
