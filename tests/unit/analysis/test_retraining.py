"""Trainings with a cadence beside other workloads, against cases worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from designer.analysis.results import WorkloadResult
from designer.analysis.simulation import simulate
from designer.analysis.study import analyze
from designer.design.document import Design, WorkloadSpec, replaced, with_changes
from designer.errors import AnalysisError
from designer.interchange.templates import open_design

#: one GPU computes for a second a step and exchanges nothing: 3,600 steps are an hour
HOUR: dict[str, Any] = {
    "model": "resnet-50",
    "precision": "fp16",
    "software": "fused",
    "micro_batch": 32,
    "measured_compute": "1 s",
    "group": "gpu0",
    "samples": 32 * 3600,
}
NIGHTLY = {**HOUR, "retrain_every": "4 h"}


def asked(specs: dict[str, tuple[str, dict[str, Any]]], which: str, design: Design | None = None) -> WorkloadResult:
    """One of some workloads of a design."""
    return analyze(with_workloads(specs, design), [which], curves=False).workloads[0]


def with_workloads(specs: dict[str, tuple[str, dict[str, Any]]], design: Design | None = None) -> Design:
    found = [WorkloadSpec(id=name, kind=kind, settings=settings) for name, (kind, settings) in specs.items()]
    design = design or open_design("hgx-h100-8")
    return with_changes(design, workloads=replaced({}, found), default_workload="")


def test_who_shares_a_gpu_a_quarter_of_the_time_keeps_seven_eighths() -> None:
    """3,600 steps of a second every 4 h are a duty of 1/4; meanwhile both take turns on the GPU, each at half speed.

    So 3/4 of the time at full pace and 1/4 at half: 7/8 of the steps, and 8/7 of the time for each in the mean.
    """
    jobs = {"main": ("training", {**HOUR, "background": "nightly"}), "nightly": ("training", NIGHTLY)}
    found, alone = asked(jobs, "main"), asked({"main": ("training", HOUR)}, "main")
    duty = asked(jobs, "nightly").metrics["retraining_share"].value
    assert duty == pytest.approx(alone.metrics["time_to_train"].value / (4 * 3600))
    assert duty == pytest.approx(0.25, rel=0.02)
    assert found.metrics["slow_down_while_retraining"].value == pytest.approx(2.0, rel=1e-6)
    left = 1 - duty + duty / 2
    for name in ("step_time", "time_to_train"):
        assert found.metrics[name].value == pytest.approx(alone.metrics[name].value / left, rel=1e-6)
    assert found.metrics["samples_per_second"].value == pytest.approx(
        alone.metrics["samples_per_second"].value * left, rel=1e-6
    )
    assert found.metrics["share_beside_retraining"].value == pytest.approx(duty)
    told = [f.text for f in found.findings if f.code == "TRAIN-BESIDE"]
    assert len(told) == 1
    assert "2.00 times as long meanwhile" in told[0]
    assert "1.14 times in the mean" in told[0]


def test_who_shares_nothing_loses_nothing() -> None:
    """The other one computes on another GPU."""
    jobs = {
        "main": ("training", {**HOUR, "background": "nightly"}),
        "nightly": ("training", {**NIGHTLY, "group": "gpu1"}),
    }
    found, alone = asked(jobs, "main"), asked({"main": ("training", HOUR)}, "main")
    assert found.metrics["step_time"].value == pytest.approx(alone.metrics["step_time"].value, rel=1e-9)
    assert found.metrics["slow_down_while_retraining"].value == 1.0


def test_a_stream_keeps_what_the_clock_leaves_it() -> None:
    """A stream over the NICs beside a retraining that exchanges gradients over them.

    While it runs the stream has what the clock gives it over whole steps; with a duty d the mean is
    (1 − d)·alone + d·meanwhile.
    """
    design = open_design("su-h100-32")
    group = "servers[0]/gpu*, servers[1]/gpu*"
    nightly = {
        "model": "llama-2-7b",
        "software": "fsdp",
        "sharding": "parameters",
        "micro_batch": 1,
        "group": group,
        "samples": 10_000,
        "retrain_every": "1 h",
    }
    stream = {"from": "servers[0]/gpu*", "to": "servers[1]/gpu*", "pairing": "pairs", "beside": "nightly"}
    jobs = {"stream": ("transfer", stream), "nightly": ("training", nightly)}
    found = asked(jobs, "stream", design)
    alone = asked({"stream": ("transfer", {**stream, "beside": ""})}, "stream", design).metrics["rate"].value
    duty = asked(jobs, "nightly", design).metrics["retraining_share"].value
    run = simulate(with_workloads(jobs, design), ["nightly"], until=1.0, bands=False)
    step = run.metrics["nightly"]["step_time"].value
    both = simulate(with_workloads(jobs, design), ["stream", "nightly"], until=200 * step, bands=False)
    during = both.metrics["stream"]["rate"].value
    assert during < alone * 0.999
    assert found.metrics["rate"].value == pytest.approx((1 - duty) * alone + duty * during, rel=0.02)
    assert found.metrics["rate"].low <= found.metrics["rate"].value <= found.metrics["rate"].high


def test_what_cannot_be_counted_is_refused() -> None:
    steady = {key: value for key, value in HOUR.items() if key != "retrain_every"}
    jobs = {"move": ("transfer", {"beside": "main"}), "main": ("training", steady)}
    with pytest.raises(AnalysisError, match="no training with a cadence") as refused:
        asked(jobs, "move")
    assert refused.value.place == "workloads.move.beside"
