"""Collectives, input and background traffic on one NIC slow each other; on NICs of their own they do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from designer.analysis.study import run_workload
from designer.design.document import Design, WorkloadSpec
from designer.design.edits.parts import ChangeParts
from designer.engine.clock.jobs import job_of
from designer.engine.clock.measures import answer
from designer.engine.costs import Prices
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from designer.interchange.templates import open_design
from designer.workload.kind import program_of
from tests.unit.engine.small_designs import BUS, draw

A100: dict[str, object] = {
    "flops_fp16": "312 TFLOP/s",
    "flops_bf16": "312 TFLOP/s",
    "memory_bandwidth": "2 TB/s",
    "memory_capacity": "80 GB",
}
SETTINGS: dict[str, Any] = {
    "model": "resnet-50",
    "precision": "fp16",
    "software": "fused",
    "dataset": "imagenet-1k",
    "source": "storage",
    "decode": "gpu",
    "workers": 64,
}


def server(s: int, apart: bool) -> list[str]:
    lines = [
        f"cpu{s} mem{s}: {BUS}",
        f"cpu{s} psw{s}: pcie 5x16",
        f"psw{s} gpu{s}: pcie 5x16",
        f"psw{s} nic{s}: pcie 5x16",
        f"nic{s} sw0: ethernet 25 Gb/s",
    ]
    if apart:
        lines += [f"cpu{s} nic{s + 10}: pcie 5x16", f"nic{s + 10} sw1: ethernet 25 Gb/s"]
    return lines


def drawn(apart: bool, **background: Any) -> Design:
    """Two servers of one GPU; gradients and samples over one NIC each, or over a NIC each."""
    values: dict[str, dict[str, object]] = {f"gpu{s}": A100 for s in (0, 1)}
    values["store0"] = {"read_bandwidth": "50 GB/s", "write_bandwidth": "50 GB/s"}
    if apart:
        values |= {f"nic{s}": {"role": "compute"} for s in (0, 1)}
        values |= {f"nic{s + 10}": {"role": "storage"} for s in (0, 1)}
    store = "sw1" if apart else "sw0"
    design = draw(*server(0, apart), *server(1, apart), f"store0 {store}: ethernet 400 Gb/s", values=values)
    spec = WorkloadSpec(id="beside", kind="transfer", settings={"from": "store0", "to": "memory", **background})
    return design.model_copy(update={"workloads": {"beside": spec}})


def run(design: Design, **settings: Any) -> WorkloadResult:
    spec = WorkloadSpec(id="w", kind="training", settings={**SETTINGS, **settings})
    return run_workload(build_network(design), spec, curves=False)[0]


def value(result: WorkloadResult, name: str) -> float:
    return result.metrics[name].value


def traffic(result: WorkloadResult) -> float:
    return value(result, "communication_time")


#: little to compute, so that samples and gradients fill the step
HURRIED: dict[str, Any] = {"micro_batch": 512, "measured_compute": "1 ms"}
#: more samples than gradients, so that the step waits for samples
LOADING: dict[str, Any] = {"micro_batch": 2048, "measured_compute": "1 ms"}


def test_samples_and_gradients_on_one_nic_slow_each_other() -> None:
    fed, only = run(drawn(False), **HURRIED), run(drawn(False), dataset="", **HURRIED)
    assert traffic(fed) > 1.2 * traffic(only)
    assert value(fed, "step_time") > 1.2 * value(run(drawn(True), **HURRIED), "step_time")


def test_samples_come_later_where_gradients_take_their_link() -> None:
    fed, only, apart = (
        run(drawn(False), **LOADING),
        run(drawn(False), dataset="", **LOADING),
        run(drawn(True), **LOADING),
    )
    assert value(fed, "input_time") > 1.1 * value(apart, "input_time")
    # the link is busy all the time: what gradients take of it, samples lose
    assert value(fed, "input_time") == pytest.approx(value(apart, "input_time") + traffic(only), rel=0.15)


@pytest.mark.parametrize("batch", [8, 64, 256, 512, 1024, 2048, 8192])
def test_a_shared_step_lies_between_the_longer_of_both_alone_and_their_sum(batch: int) -> None:
    job = {"micro_batch": batch, "measured_compute": "1 ms"}
    both, only = value(run(drawn(False), **job), "step_time"), run(drawn(False), dataset="", **job)
    gradients, samples = value(only, "step_time"), value(run(drawn(True), **job), "input_time")
    assert max(gradients, samples) * (1 - 1e-9) <= both <= (gradients + samples) * (1 + 1e-9)


def test_more_samples_never_make_a_step_shorter() -> None:
    batches = (1, 8, 64, 256, 300, 400, 512, 600, 800, 1024, 2048, 8192)
    times = [value(run(drawn(False), **{**HURRIED, "micro_batch": b}), "step_time") for b in batches]
    assert times == pytest.approx(sorted(times), rel=1e-9)
    assert times[-1] > 10 * times[0]


def test_accelerators_drawn_one_by_one_but_alike_are_of_one_kind() -> None:
    assert "TRAIN-MIXED" not in {f.code for f in run(drawn(False)).findings}
    slower = {**A100, "flops_bf16": "100 TFLOP/s"}
    mixed = draw(*server(0, False), *server(1, False), values={"gpu0": A100, "gpu1": slower})
    assert "TRAIN-MIXED" in {f.code for f in run(mixed, dataset="").findings}


@pytest.mark.parametrize("gpu", ["gpu0", "gpu3", "gpu7"])
def test_one_slower_memory_slows_all_ranks_wherever_it_is(gpu: str) -> None:
    """1 of 3.35 TB/s, and ResNet-50 waits mostly for memory: a type that several parts share describes none of them."""
    whole = open_design("hgx-h100-8")
    one = ChangeParts((gpu,), {"overrides": {"memory_bandwidth": {"value": "1 TB/s"}}}).apply(whole)
    spec = whole.workloads["resnet-50"]
    usual, slow = (run_workload(build_network(design), spec, curves=False)[0] for design in (whole, one))
    assert 2 < value(slow, "compute_time") / value(usual, "compute_time") <= 3.36
    assert "TRAIN-MIXED" in {f.code for f in slow.findings}


def test_a_loaded_link_carries_no_more_than_it_can() -> None:
    for job in (HURRIED, LOADING, {"micro_batch": 8}):
        for background in ("", "beside"):
            settings = {**SETTINGS, **job, "background": background}
            network = build_network(drawn(False))
            loads = run_workload(network, WorkloadSpec(id="w", kind="training", settings=settings), curves=False)[1]
            assert loads is not None
            assert (loads.load <= np.repeat(network.rate, 2) * (1 + 1e-9)).all()


def test_parameter_servers_leave_no_all_reduce_behind_and_share_links_too() -> None:
    quiet = run(drawn(False), exchange="parameter-server", parameter_servers="store0", dataset="")
    assert all("data-parallel" not in b.why for b in (*quiet.binding, *quiet.next))
    loud = run(drawn(False), exchange="parameter-server", parameter_servers="store0", dataset="", background="beside")
    assert traffic(loud) > 1.2 * traffic(quiet)
    fed = run(drawn(False), exchange="parameter-server", parameter_servers="store0", **HURRIED)
    only = run(drawn(False), exchange="parameter-server", parameter_servers="store0", **{**HURRIED, "dataset": ""})
    assert traffic(fed) > 1.05 * traffic(only)


def test_a_few_samples_are_read_while_the_accelerators_compute() -> None:
    """0.38 ms of reading meet gradients that hide behind 6 ms of computing: up to twice as long, and over before."""
    fed, only = run(drawn(False), micro_batch=8), run(drawn(False), dataset="", micro_batch=8)
    assert value(fed, "step_time") == pytest.approx(value(only, "step_time"), rel=1e-9)
    assert traffic(fed) == pytest.approx(traffic(only), rel=1e-9)
    alone = value(run(drawn(True), micro_batch=8), "input_time")
    assert alone < value(fed, "input_time") <= 2 * alone < value(fed, "compute_time") / 2


@pytest.mark.parametrize("job", [HURRIED, {"micro_batch": 8}])
def test_samples_and_gradients_on_nics_of_their_own_do_not(job: dict[str, Any]) -> None:
    fed, only = run(drawn(True), **job), run(drawn(True), dataset="", **job)
    assert traffic(fed) == pytest.approx(traffic(only), rel=1e-9)


@pytest.mark.parametrize("settings", [{"dataset": ""}, {"prefetch": 0}, {"prefetch": 2}])
def test_background_traffic_slows_gradients_where_they_share_a_nic(settings: dict[str, Any]) -> None:
    quiet, loud = run(drawn(False), **settings), run(drawn(False), background="beside", **settings)
    assert traffic(loud) > 1.2 * traffic(quiet)
    assert any("of the links left by other traffic" in b.why for b in (*loud.binding, *loud.next))
    quiet, loud = run(drawn(True), **settings), run(drawn(True), background="beside", **settings)
    assert traffic(loud) == pytest.approx(traffic(quiet), rel=1e-9)


def test_more_background_never_makes_a_step_shorter() -> None:
    rates = (0.1, 0.5, 1, 2, 3)
    times = [value(run(drawn(False, demand=f"{r} GB/s"), background="beside"), "step_time") for r in rates]
    assert times == sorted(times)
    assert times[-1] > times[0]


@pytest.mark.parametrize("batch", [1, 64, 512, 2048])
@pytest.mark.parametrize("apart", [True, False])
def test_the_clock_says_the_same_whether_links_are_shared_or_not(apart: bool, batch: int) -> None:
    design, settings = drawn(apart), {**SETTINGS, "micro_batch": batch}
    program = program_of("training", settings, "w")
    assert program is not None
    clock = answer(Prices(build_network(design)), job_of(program, "w"), explained=False).metrics
    analyzed = run(design, micro_batch=batch).metrics
    for name in ("step_time", "input_time"):
        mine, its = analyzed[name], clock[name]
        assert (mine.value, mine.low, mine.high) == pytest.approx((its.value, its.low, its.high), rel=1e-9), name


@pytest.mark.parametrize("workload", ["llama-2-70b", "resnet-50"])
def test_a_cluster_is_settled_as_the_clock_runs_it(workload: str) -> None:
    """Samples of the 70B model share NICs with gradients at 1.6 times what these carry, and are there in 0.2 ms."""
    network = build_network(open_design("su-h100-32"))
    spec = network.design.workloads[workload]
    program = program_of(spec.kind, spec.settings, "w")
    assert program is not None
    clock = answer(Prices(network), job_of(program, "w"), explained=False).metrics
    analyzed = run_workload(network, spec, curves=False)[0].metrics
    for name in ("step_time", "input_time"):
        assert analyzed[name].value == pytest.approx(clock[name].value, rel=1e-9)
