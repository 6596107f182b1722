"""A workload analyzed and the same workload run alone over time: one value, one band, one reason."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from designer.analysis.simulation import simulate
from designer.analysis.study import run_workload
from designer.checks.analysing import analyze
from designer.design.document import Design, WorkloadSpec, replaced, with_changes
from designer.engine.account import quickest_together
from designer.engine.clock.jobs import Changes, job_of
from designer.engine.clock.measures import answer, banded, bands_of, values_of
from designer.engine.clock.player import play
from designer.engine.clock.run import Run
from designer.engine.clock.why import changes_at
from designer.engine.costs import Prices
from designer.engine.network import Network, build_network
from designer.engine.results import Bottleneck
from designer.errors import AnalysisError
from designer.interchange.templates import list_templates, open_design
from designer.workload.kind import program_of, workload_kinds
from tests.budget import in_turn
from tests.unit.analysis.test_edge import cell

#: kinds that are answered by one account, by their main metric; a transfer without a size has a rate alone
KINDS = {
    "collective": "communication_time",
    "training": "step_time",
    "serving": "ttft",
    "inference": "latency_p99",
    "vmotion": "migration_time",
    "kvm_migration": "migration_time",
    "evacuation": "evacuation_time",
    "transfer": "transfer_time",
    "data_loading": "input_time",
    "checkpointing": "checkpoint_time",
}
#: kinds of which every metric of the program is one of the analysis
EVERY = ("transfer", "data_loading", "checkpointing", "serving", "inference")
#: asked of every template in addition to its own workloads: the defaults of kinds that move data, and what changes
#: their way
MOVED = {
    "transfer": ("transfer", {}),
    "transfer-sized": ("transfer", {"size": "1 GB", "both_ways": True}),
    "transfer-in-turn": ("transfer", {"size": "1 GB", "one_by_one": True}),
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
#: asked of a template in addition to its own workloads
MORE = {
    "vsphere-cluster-4": [
        ("kvm_migration", {"vms": "web0"}),
        ("kvm_migration", {"vms": "web0, etl0", "channels": 8, "compression": "zstd", "auto_converge": True}),
        ("kvm_migration", {"vms": "web0", "dirty_rate": "2 GB/s", "post_copy": True}),
        ("vmotion", {"vms": "web0", "round_trip": "150 ms"}),
        ("vmotion", {"vms": "lab0, web0, infer1", "release": "9.0", "disks": "100 GB"}),
        ("vmotion", {"vms": "web0", "dirty_rate": "1 GB/s", "background": "all-reduce"}),
        ("evacuation", {"hosts": "hosts[0-1]/server"}),
        ("evacuation", {"hosts": "hosts[0]/server", "release": "kvm"}),
        ("evacuation", {"hosts": "hosts[2]/server", "release": "7.0", "at_once": 1}),
    ],
    "hgx-h100-8": [
        ("serving", {}),
        ("serving", {"load": "clients", "clients": 12}),
        ("serving", {"load": "offline", "count": 400, "tensor": 2, "pipeline": 2}),
        ("serving", {"rate": "500 1/s"}),
        ("serving", {"group": "gpu4, gpu5, gpu6, gpu7", "prompt_group": "gpu0, gpu1, gpu2, gpu3", "rate": "4 1/s"}),
        ("serving", {"model": "gpt-oss-120b", "tensor": 2, "data": 2, "expert": 4, "drafts": 0}),
        ("inference", {"rate": "200 1/s"}),
        ("training", {"model": "llama-2-7b", "checkpoint_every": 10, "checkpoint_to": "drives"}),
        ("training", {"model": "llama-2-7b", "checkpoint_every": 10, "checkpoint_to": "drives", "snapshot": True}),
        ("training", {"dataset": "imagenet-1k", "checkpoint_every": 5, "checkpoint_to": "drives"}),
        ("training", {"exchange": "parameter-server", "dataset": "imagenet-1k"}),
        ("training", {"dataset": "imagenet-1k", "prefetch": 0}),
    ],
    "serving-l40s-4": [
        ("inference", {"scenario": "offline"}),
        ("inference", {"scenario": "single-stream"}),
        ("inference", {"scenario": "multi-stream", "model": "bert-large"}),
        ("inference", {"scenario": "video", "streams": 20}),
        ("inference", {"rate": "1 M1/s"}),
    ],
}


@cache
def designed(template: str) -> Design:
    """A template with what is asked of it in addition."""
    design = open_design(template)
    asked = [WorkloadSpec(id=f"asked{k}", kind=kind, settings=s) for k, (kind, s) in enumerate(MORE.get(template, []))]
    return with_changes(design, workloads=replaced(design.workloads, asked)) if asked else design


DRAWN = [
    (template, spec.id)
    for template in TEMPLATES
    for spec in designed(template).workloads.values()
    if spec.kind in KINDS
]
#: two of the kinds that move data on each template, and all of them in the long trials
MOVING = in_turn(TEMPLATES, MOVED)


@cache
def network_of(template: str) -> Network:
    return build_network(designed(template))


def spec_of(template: str, workload: str) -> WorkloadSpec:
    drawn = network_of(template).design.workloads
    if workload in drawn:
        return drawn[workload]
    kind, settings = MOVED[workload]
    return WorkloadSpec(id=workload, kind=kind, settings=settings)


def stated(bottlenecks: tuple[Bottleneck, ...]) -> list[tuple[object, ...]]:
    return sorted((b.what, b.id, b.label) for b in bottlenecks)


def gains(bottlenecks: tuple[Bottleneck, ...]) -> dict[str, tuple[float | None, float | None]]:
    return {b.id: (b.gain_if_doubled, b.gain_together) for b in bottlenecks}


@pytest.fixture
def without_frontier(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out latency against load, which takes most of the time of a served model and is not compared."""
    monkeypatch.setattr("designer.families.serving.alone.frontier", lambda *_: None)


@pytest.mark.usefixtures("without_frontier")
@pytest.mark.parametrize(("template", "workload"), [*DRAWN, *MOVING])
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
    compared = {KINDS[spec.kind]} if spec.kind not in EVERY else {m.name for m in program.measures}
    # more asked than can be answered: no latency is given by either
    assert compared & analyzed.metrics.keys() == compared & alone.metrics.keys() != set()
    compared &= analyzed.metrics.keys()
    for name in compared:
        mine, its = analyzed.metrics[name], alone.metrics[name]
        assert (its.value, its.low, its.high) == pytest.approx((mine.value, mine.low, mine.high), rel=1e-9), name
    binding, then = alone.bottlenecks(program)
    assert stated(binding) == stated(analyzed.binding)
    assert stated(then) == stated(analyzed.next)
    theirs = gains((*binding, *then))
    for name, (one, together) in gains((*analyzed.binding, *analyzed.next)).items():
        assert theirs[name][1] == (None if together is None else pytest.approx(together, rel=1e-9))
        assert theirs[name][0] == (None if one is None else pytest.approx(one, rel=1e-9))


@pytest.mark.parametrize(("template", "workload"), [*(c for c in DRAWN if "to-gpus" in c[1]), *MOVING])
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
    ends = {name: (band.low, band.high) for name, band in groups.items()}
    moved = {name: [values_of(run_with(changes_at({name: end})), job) for end in ends[name]] for name in ends}
    for name, its in found.items():
        mine = settled[name]
        assert its.value == pytest.approx(mine.value, rel=1e-9), name
        # deviations of a rate are added in squares as those of its time are
        if its.unit != "s":
            continue
        low, matter = its.low, [one for one in ends if any(far[name] != its.value for far in moved[one])]
        if len(matter) > 1:
            # what binds together is quicker where all of it is
            low = min(low, values_of(run_with(changes_at(quickest_together(matter, ends))), job)[name])
        assert (low, its.high) == pytest.approx((mine.low, mine.high), rel=1e-6), name


MOVES = [
    (template, workload)
    for template, workload in DRAWN
    if designed(template).workloads[workload].kind in ("vmotion", "kvm_migration", "evacuation")
]


@pytest.mark.parametrize(("template", "workload"), MOVES)
def test_simulated_moves_take_what_is_analyzed(template: str, workload: str):
    design = designed(template)
    spec = design.workloads[workload]
    analyzed = run_workload(build_network(design), spec, curves=False)[0]
    metric = KINDS[spec.kind]
    # whatever loads its links goes on until then
    simulated = simulate(design, [workload], until=1.0 + 2 * analyzed.metrics[metric].value)
    mine, its = analyzed.metrics[metric], simulated.metrics[workload][metric]
    assert (its.value, its.low, its.high) == pytest.approx((mine.value, mine.low, mine.high), rel=1e-9)
    bound = simulated.binding[workload]
    assert stated(bound.alone) == stated(bound.together) == stated(analyzed.binding)
    theirs = gains(bound.alone)
    for name, (one, together) in gains(analyzed.binding).items():
        assert theirs[name] == (
            None if one is None else pytest.approx(one, rel=1e-9),
            None if together is None else pytest.approx(together, rel=1e-9),
        )


@pytest.mark.usefixtures("without_frontier")
@pytest.mark.parametrize(("template", "workload"), [case for case in DRAWN if case[0] in ("hgx-h100-8", "dgx2")])
def test_analyze_and_simulate_say_the_same(template: str, workload: str):
    design = designed(template)
    (analyzed,) = analyze(design, [workload], curves=False).workloads
    simulated = simulate(design, [workload])
    metric = KINDS[design.workloads[workload].kind]
    # where more is asked than can be answered, no latency is given by either
    for name in [metric] if metric in analyzed.metrics else list(simulated.metrics[workload]):
        mine, its = analyzed.metrics[name], simulated.metrics[workload][name]
        assert (its.value, its.low, its.high) == pytest.approx((mine.value, mine.low, mine.high), rel=1e-9)
    assert simulated.metrics[workload]
    bound = simulated.binding[workload]
    assert bound.alone == bound.together
    assert stated(bound.alone) == stated(analyzed.binding)
    assert stated(bound.alone_next) == stated(analyzed.next)
    for name, (one, together) in gains((*analyzed.binding, *analyzed.next)).items():
        theirs = gains((*bound.alone, *bound.alone_next))[name]
        assert theirs == tuple(None if g is None else pytest.approx(g, rel=1e-9) for g in (one, together))


#: kinds that a program measures and nothing else, with settings that are quickly run
OWN = {
    "federated": {"server": "memory0", "sites": "gpus", "rounds": 3},
    "workflow": {"model": "resnet-50", "samples": 1000, "evaluated": 100, "size": "10 GB", "retrainings": 1},
    "elastic": {"model": "resnet-50", "samples": 100_000, "workers": "8, 4 at 10 s"},
}


@pytest.mark.parametrize("kind", OWN)
def test_kinds_that_only_their_program_answers_say_the_same(kind: str):
    design = open_design("hgx-h100-8")
    spec = WorkloadSpec.model_validate({"id": "own", "kind": kind, "settings": OWN[kind]})
    design = design.model_copy(update={"workloads": {"own": spec}})
    (analyzed,) = analyze(design, ["own"], curves=False).workloads
    simulated = simulate(design, ["own"])
    assert dict(simulated.metrics["own"]) == dict(analyzed.metrics)
    bound = simulated.binding["own"]
    assert bound.alone == analyzed.binding
    assert bound.alone_next == analyzed.next


@pytest.mark.parametrize("workload", ["chat-70b", "code-8b"])
def test_a_served_model_simulated_alone_has_the_metrics_it_is_analyzed_with(workload: str):
    design = open_design("serving-h100-8")
    analyzed = run_workload(build_network(design), design.workloads[workload], curves=False)[0]
    metrics = simulate(design, [workload]).metrics[workload]
    assert {"ttft", "tpot", "latency_p95", "requests_per_second"} <= metrics.keys()
    for name, found in metrics.items():
        mine = analyzed.metrics[name]
        assert (found.value, found.low, found.high) == pytest.approx((mine.value, mine.low, mine.high), rel=1e-9)


#: where kinds are asked with nothing but what they cannot do without, and few requests a second
PLACES: dict[str, tuple[str, dict[str, object]]] = {
    "inference": ("hgx-h100-8", {"rate": "200 1/s"}),
    "vmotion": ("vsphere-cluster-4", {"vms": "infer0"}),
    "kvm_migration": ("vsphere-cluster-4", {"vms": "infer0"}),
    "evacuation": ("vsphere-cluster-4", {"hosts": "hosts[0]/server"}),
    "schedule": ("vsphere-cluster-4", {"timetable": "lab* = 08:00-18:00"}),
    "federated": ("hgx-h100-8", {"server": "memory0"}),
    "remote_gpu": ("hgx-h100-8", {"client": "memory0"}),
    "control_loop": ("", {"actuators": "robot"}),
}
PROGRAMS = [name for name, kind in workload_kinds().items() if kind.program is not None]


@pytest.mark.parametrize("kind", PROGRAMS)
def test_every_kind_as_it_is_by_default_is_one_answer(kind: str):
    template, settings = PLACES.get(kind, ("hgx-h100-8", {}))
    base = cell() if kind == "control_loop" else open_design(template)
    spec = WorkloadSpec.model_validate({"id": "w", "kind": kind, "settings": settings})
    design = with_changes(base, workloads=[spec], default_workload="w", assertions=[])
    (analyzed,) = analyze(design, ["w"], curves=False).workloads
    simulated = simulate(design, ["w"])
    assert simulated.metrics["w"]
    for name, found in simulated.metrics["w"].items():
        mine = analyzed.metrics[name]
        assert (found.value, found.low, found.high) == pytest.approx((mine.value, mine.low, mine.high), rel=1e-9)
    bound = simulated.binding["w"]
    assert stated(bound.alone) == stated(analyzed.binding) != []
    assert stated(bound.alone_next) == stated(analyzed.next)
