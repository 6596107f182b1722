"""The examples of the founding articles as templates a user opens."""

from __future__ import annotations

import math
from functools import cache

import pytest

from designer.analysis.study import analyze
from designer.design.document import Design, with_changes
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.interchange.templates import open_design

DAY = 86400.0


@cache
def answer(template: str, workload: str) -> WorkloadResult:
    return analyze(open_design(template), [workload], curves=False).workloads[0]


def value(result: WorkloadResult, name: str) -> float:
    return result.metrics[name].value


def test_resnet_18_loads_for_nine_tenths_of_its_time() -> None:
    result = answer("m40-server", "resnet-18-serial")
    assert value(result, "step_time") == pytest.approx(0.44, rel=0.02)
    assert value(result, "input_time") == pytest.approx(0.38, rel=0.02)
    assert value(result, "time_to_train") / DAY == pytest.approx(20.4, rel=0.02)
    assert value(result, "epoch_time") / value(result, "step_time") == pytest.approx(40_000, rel=0.001)
    assert {b.what for b in result.binding} == {"limit"}
    # the article gives loading and preprocessing together, so the workers that do both are named
    assert result.binding[0].label == "1 workers for each accelerator, loading and decoding"
    assert result.metrics["input_time"].note == "slowest: loading and decoding"


def test_resnet_18_takes_two_and_a_half_days_when_loading_is_hidden() -> None:
    result = answer("m40-server", "resnet-18-hidden")
    assert value(result, "time_to_train") / DAY == pytest.approx(2.55, rel=0.01)
    assert value(result, "input_stall") == 0
    assert result.binding[0].what == "compute"


def test_one_m40_takes_14_days() -> None:
    result = answer("m40-server", "resnet-50-imagenet")
    assert value(result, "time_to_train") / DAY == pytest.approx(14, rel=0.12)
    whole = result.metrics["time_to_train"]
    assert whole.low < 14 * DAY < whole.high


@pytest.mark.parametrize(
    ("workload", "hours"),
    [
        ("vgg-19-cifar", 2),
        ("resnet-164-cifar", 10),
        ("resnet-50-imagenet", 14 * 24),
        ("vgg-19-imagenet", 14 * 24),
    ],
)
def test_bands_of_one_m60_hold_what_is_stated_of_it(workload: str, hours: float) -> None:
    """Neither epochs nor the number of GPUs are stated: the range of epochs is in the band of the time to train."""
    result = answer("m60-server", workload)
    took = result.metrics["time_to_train"]
    assert took.low < hours * 3600 < took.high
    # the step itself is as sure as before
    step = result.metrics["step_time"]
    assert took.high / took.low > step.high / step.low


def test_the_range_of_epochs_widens_only_the_whole_run() -> None:
    """90 epochs, 41 to 100: low = 90 (1 + b) to 41 epochs by independent logarithms."""
    wide, exact = (
        analyze(with_workload_settings(**bounds), ["resnet-50-imagenet"], curves=False).workloads[0].metrics
        for bounds in ({}, {"epochs_least": 0, "epochs_most": 0})
    )
    assert wide["epoch_time"] == exact["epoch_time"]
    one, other = wide["time_to_train"], exact["time_to_train"]
    assert one.value == other.value
    assert one.low == pytest.approx(
        one.value * math.exp(-math.hypot(math.log(other.value / other.low), math.log(90 / 41)))
    )
    assert one.high == pytest.approx(
        one.value * math.exp(math.hypot(math.log(other.high / other.value), math.log(100 / 90)))
    )


@pytest.mark.parametrize("bounds", [{"epochs_least": 91}, {"epochs_most": 89}])
def test_epochs_outside_their_own_range_are_refused(bounds: dict[str, float]) -> None:
    with pytest.raises(AnalysisError, match="90 epochs where at"):
        analyze(with_workload_settings(**bounds), ["resnet-50-imagenet"], curves=False)


def with_workload_settings(**settings: float) -> Design:
    """The server with other settings of its ImageNet training."""
    design = open_design("m60-server")
    spec = design.workloads["resnet-50-imagenet"]
    changed = with_changes(spec, settings={**spec.settings, **settings})
    return with_changes(design, workloads={**design.workloads, spec.id: changed})


def test_one_m60_gpu_takes_as_much_longer_than_an_m40_as_it_is_slower() -> None:
    ratio = value(answer("m60-server", "resnet-50-imagenet"), "time_to_train") / value(
        answer("m40-server", "resnet-50-imagenet"), "time_to_train"
    )
    assert 7.0 / 4.8 <= ratio <= 288 / 160


def test_eight_gpus_give_over_six_and_sixteen_about_twelve() -> None:
    eight = answer("sm-4029gp-trt-pair", "resnet-50-8")
    sixteen = answer("sm-4029gp-trt-pair", "resnet-50-16")
    assert value(eight, "speedup") > 6
    assert value(sixteen, "speedup") == pytest.approx(12, rel=0.15)
    assert "data communication" in sixteen.metrics["speedup"].note
    assert "ethernet" in sixteen.binding[0].label


def test_googlenet_is_bound_by_the_drive_and_not_by_the_parallel_file_system() -> None:
    local = answer("hpe-apollo-6500-parallel-storage", "googlenet-local-drive")
    parallel = answer("hpe-apollo-6500-parallel-storage", "googlenet-parallel")
    assert value(local, "samples_per_second") == pytest.approx(17_000, rel=0.08)
    assert "Drive" in local.binding[0].label
    rate = parallel.metrics["samples_per_second"]
    assert rate.low < 42_000 < rate.high
    assert value(parallel, "data_rate_per_gpu") > value(parallel, "training_rate_per_gpu")
    assert {b.what for b in parallel.binding} <= {"compute", "part"}


def test_one_nfs_mount_starves_eight_gpus() -> None:
    result = answer("hpe-apollo-6500-nfs", "googlenet-nfs")
    assert 8 * value(result, "data_rate_per_gpu") == pytest.approx(1.5e9, rel=0.01)
    assert value(result, "gpu_utilization") < 0.3
    assert "NFS" in result.binding[0].label
    assert result.binding[0].gain_if_doubled == pytest.approx(2, rel=0.01)
