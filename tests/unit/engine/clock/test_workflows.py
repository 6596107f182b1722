"""Whole workflows and elastic training against cases worked by hand."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from designer.analysis.study import run_workload
from designer.design.document import WorkloadSpec
from designer.engine.network import Network, build_network
from designer.engine.results import WorkloadResult
from designer.engine.routes.protocols import cores_of_islands
from designer.errors import AnalysisError
from designer.families.training.kinds.elastic import changes
from designer.interchange.templates import open_design

RESNET = {"model": "resnet-50", "precision": "fp16", "software": "fused", "micro_batch": 256}


@cache
def network() -> Network:
    return build_network(open_design("hgx-h100-8"))


def ask(kind: str, **settings: Any) -> WorkloadResult:
    return run_workload(network(), WorkloadSpec(id="w", kind=kind, settings=settings), curves=False)[0]


def value(result: WorkloadResult, name: str) -> float:
    return result.metrics[name].value


def test_workers_that_leave_and_come_back() -> None:
    """Steps of 8 until 10 s, the one that is under way then lost; 2 s to meet; steps of 4, the one under way at 20 s
    counted; 2 s to meet; the rest with 8. Counted step by step below."""
    times = {n: value(ask("training", **RESNET, data=n), "step_time") for n in (8, 4)}
    samples = 1_500_000
    now, done = 0.0, 0.0
    while now < 10:
        now += times[8]
        done += 8 * 256
    done -= 8 * 256
    now += 2
    while now < 20:
        now += times[4]
        done += 4 * 256
    now += 2
    while done < samples:
        now += times[8]
        done += 8 * 256
    result = ask("elastic", **RESNET, workers="8, 4 at 10 s, 8 at 20 s", rendezvous="2 s", samples=samples)
    assert value(result, "time_to_train") == pytest.approx(now, rel=1e-9)
    assert not result.findings
    # without a change it is so many whole steps
    whole = -(-samples // (8 * 256)) * times[8]
    assert value(ask("elastic", **RESNET, samples=samples), "time_to_train") == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("", "nobody trains"),
        ("8 at 5 s", "nobody trains"),
        ("8, 4 at 5 s, 8 at 5 s", "is not after"),
        ("8, four", "is no number of workers"),
        ("8, 4 at 5", "no unit"),
    ],
)
def test_workers_that_cannot_be_read_are_refused(text: str, stated: str) -> None:
    with pytest.raises(AnalysisError, match=stated) as refused:
        changes(text)
    assert refused.value.place == "workers"


def test_workers_that_make_no_replicas_are_refused() -> None:
    with pytest.raises(AnalysisError, match="3 accelerators do not divide") as refused:
        ask("elastic", model="llama-2-7b", tensor=2, workers="8, 3 at 5 s")
    assert refused.value.place == "workloads.w.workers"


def test_stages_of_a_workflow_are_what_their_bytes_and_cores_make_them() -> None:
    """100 GB at 10 MB/s a core are 10,000 core-seconds: shared out over all cores of the server.

    1,000,000 samples in steps of 2,048 are 488.3 steps, evaluating 50,000 a third of 24.4 steps.
    """
    asked = {
        **RESNET,
        "global_batch": 2048,
        "source": "drives",
        "size": "100 GB",
        "analysis_rate": "10 MB/s",
        "validation_rate": "20 MB/s",
        "preparation_rate": "5 MB/s",
        "retrain_every": "2 h",
    }
    cores = float(cores_of_islands(network()).max())
    step = value(ask("training", **RESNET, global_batch=2048), "step_time")
    result = ask("workflow", **asked)
    assert value(result, "analysis_time") == pytest.approx(100e9 / 10e6 / cores, rel=1e-3)
    assert value(result, "preparation_time") == pytest.approx(100e9 / 5e6 / cores, rel=1e-3)
    assert value(result, "training_time") == pytest.approx(1e6 / 2048 * step, rel=1e-6)
    assert value(result, "evaluation_time") == pytest.approx(5e4 / 2048 * step / 3, rel=1e-6)
    assert value(result, "retraining_share") == pytest.approx(value(result, "training_time") / 7200)
    stages = ("analysis", "validation", "preparation", "training", "evaluation", "deployment")
    # the prepared data are saved as well
    assert value(result, "workflow_time") > sum(value(result, f"{name}_time") for name in stages)
    assert value(result, "workflow_time") < sum(value(result, f"{name}_time") for name in stages) + 60
    assert "cores" in result.binding[0].id
    # read faster than the drives give, processors do not bind any more
    fast = ask("workflow", **{**asked, "analysis_rate": "100 GB/s"})
    assert value(fast, "analysis_time") < value(result, "analysis_time") / 2


def test_retraining_on_drift_is_drawn_and_one_that_is_too_frequent_is_named() -> None:
    asked = {**RESNET, "global_batch": 2048, "source": "drives", "size": "1 GB", "retrainings": 4, "trigger": "drift"}
    calm, again, other = (value(ask("workflow", **asked, seed=seed), "workflow_time") for seed in (1, 1, 2))
    assert calm == again
    # retrainings that meet wait for each other
    busy = ask("workflow", **asked, retrain_every="15 s", seed=1)
    assert value(busy, "workflow_time") > calm
    assert value(busy, "workflow_time") > other
    saturated = [f for f in busy.findings if f.code == "CLOCK-SATURATED"]
    assert saturated
    assert "gpu" in saturated[0].text


def test_a_workflow_as_it_is_offered_runs() -> None:
    """A million samples at the pace of the training alone, whatever the batch comes to."""
    found, alone = ask("workflow"), ask("training")
    pace = alone.metrics["samples_per_second"].value
    assert value(found, "training_time") == pytest.approx(1e6 / pace, rel=1e-6)
