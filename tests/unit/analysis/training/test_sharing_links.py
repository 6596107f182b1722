"""Collectives, input and background traffic on one NIC slow each other; on NICs of their own they do not."""

from __future__ import annotations

from typing import Any

import pytest

from designer.analysis.network import build_network
from designer.analysis.results import WorkloadResult
from designer.analysis.study import run_workload
from designer.design.document import Design, WorkloadSpec
from tests.unit.analysis.drawn import BUS, draw

A100: dict[str, object] = {
    "flops_fp16": "312 TFLOP/s", "flops_bf16": "312 TFLOP/s", "memory_bandwidth": "2 TB/s", "memory_capacity": "80 GB",
}  # fmt: skip
SETTINGS: dict[str, Any] = {
    "model": "resnet-50", "precision": "fp16", "software": "fused", "dataset": "imagenet-1k", "source": "storage",
    "decode": "gpu", "workers": 64,
}  # fmt: skip


def server(s: int, apart: bool) -> list[str]:
    lines = [
        f"cpu{s} mem{s}: {BUS}", f"cpu{s} psw{s}: pcie 5x16", f"psw{s} gpu{s}: pcie 5x16", f"psw{s} nic{s}: pcie 5x16",
        f"nic{s} sw0: ethernet 25 Gb/s",
    ]  # fmt: skip
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


def test_samples_and_gradients_on_one_nic_slow_each_other() -> None:
    fed, only = run(drawn(False), **HURRIED), run(drawn(False), dataset="", **HURRIED)
    assert traffic(fed) > 1.2 * traffic(only)
    apart = run(drawn(True), **HURRIED)
    assert value(fed, "input_time") > 1.2 * value(apart, "input_time")
    assert value(fed, "step_time") > 1.2 * value(apart, "step_time")


def test_a_few_samples_take_little_of_the_nic() -> None:
    fed, only = run(drawn(False), micro_batch=8), run(drawn(False), dataset="", micro_batch=8)
    assert traffic(only) < traffic(fed) < 1.1 * traffic(only)
    assert value(fed, "input_time") == value(run(drawn(True), micro_batch=8), "input_time")


@pytest.mark.parametrize("job", [HURRIED, {"micro_batch": 8}])
def test_samples_and_gradients_on_nics_of_their_own_do_not(job: dict[str, Any]) -> None:
    fed, only = run(drawn(True), **job), run(drawn(True), dataset="", **job)
    assert traffic(fed) == pytest.approx(traffic(only), rel=1e-9)


@pytest.mark.parametrize("settings", [{"dataset": ""}, {"prefetch": 0}, {"prefetch": 2}])
def test_background_traffic_slows_gradients_where_they_share_a_nic(settings: dict[str, Any]) -> None:
    quiet, loud = run(drawn(False), **settings), run(drawn(False), background="beside", **settings)
    assert traffic(loud) > 1.2 * traffic(quiet)
    quiet, loud = run(drawn(True), **settings), run(drawn(True), background="beside", **settings)
    assert traffic(loud) == pytest.approx(traffic(quiet), rel=1e-9)


def test_more_background_never_makes_a_step_shorter() -> None:
    rates = (0.1, 0.5, 1, 2, 3)
    times = [value(run(drawn(False, demand=f"{r} GB/s"), background="beside"), "step_time") for r in rates]
    assert times == sorted(times)
    assert times[-1] > times[0]
