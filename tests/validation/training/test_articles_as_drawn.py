"""The examples of the founding articles as templates a user opens."""

from __future__ import annotations

from functools import cache

import pytest

from designer.analysis.results import WorkloadResult
from designer.analysis.study import analyze
from designer.design.document import Design, Part, with_changes
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
    # the article gives loading and preprocessing together, so the stage that holds both is named
    assert result.binding[0].label == "loading and decoding before computing"
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
    ("workload", "hours", "factor"),
    [("vgg-19-cifar", 2, 1.6), ("resnet-164-cifar", 10, 2.5), ("resnet-50-imagenet", 14 * 24, 1.8)],
)
def test_one_m60_is_of_the_order_that_was_read(workload: str, hours: float, factor: float) -> None:
    """One of the two GPUs of the card; the reading does not say whether it used one or both."""
    took = value(answer("m60-server", workload), "time_to_train") / 3600
    assert took / 2 < hours * factor
    assert took > hours / factor


def _whole_card() -> Design:
    """The server with both GPUs of the card, behind the switch on it."""
    design = open_design("m60-server")
    gpu, link = design.parts["gpu0"], design.links["cpu0--gpu0"]
    parts = {"gpu1": with_changes(gpu, id="gpu1"), "on_card": Part(id="on_card", kind="pcie_switch", parent="server")}
    links = {
        "up": with_changes(link, id="up", b="on_card"),
        "one": with_changes(link, id="one", a="on_card", b="gpu0"),
        "two": with_changes(link, id="two", a="on_card", b="gpu1"),
    }
    kept = {name: one for name, one in design.links.items() if one.id != link.id}
    return with_changes(design, parts={**design.parts, **parts}, links={**kept, **links})


@pytest.mark.parametrize(
    ("workload", "hours"), [("vgg-19-cifar", 2), ("resnet-164-cifar", 10), ("resnet-50-imagenet", 14 * 24)]
)
def test_what_was_read_of_one_m60_lies_between_both_ways_to_read_it(workload: str, hours: float) -> None:
    """The card holds two GPUs and the reading names neither how many worked nor for how many epochs.

    One GPU takes 2.8 h, 8.2 h and 22.5 days, both 1.4 h, 4.1 h and 11.3 days: the M40 of the same kind with 7.0
    instead of 4.8 TFLOP/s and 288 instead of 160 GB/s takes the 14 days that are read of it, so one GPU of an M60
    takes between 1.46 and 1.8 times as long.
    """
    one = answer("m60-server", workload).metrics["time_to_train"]
    both = analyze(_whole_card(), [workload], curves=False).workloads[0].metrics["time_to_train"]
    assert both.value == pytest.approx(one.value / 2, rel=0.02)
    assert both.low < hours * 3600 < one.high


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
