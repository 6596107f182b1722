"""Inference in batches on the clock: alone it is the queue of one instance; next to others it is slower."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import designer
from designer.analysis.simulation import simulate
from designer.design.document import Design, WorkloadSpec
from designer.engine.clock.jobs import job_of
from designer.engine.clock.player import play
from designer.engine.costs import Prices
from designer.engine.network import build_network
from designer.families.serving.batches import answered_in_batches
from designer.workload.kind import program_of
from tests.asked import in_batches

#: 2 ms of arithmetic a sample at the share of an L40S that networks reach, and nothing sent
OWN: dict[str, object] = {"model": "", "flop": "200 GFLOP", "weights": "1 MB", "moved": "1 B", "count": 300}


def design_with(template: str = "serving-l40s-4", **workloads: dict[str, object]) -> Design:
    design = designer.open_design(template)
    specs = {
        name: WorkloadSpec.model_validate({"id": name, "kind": "inference", "settings": settings})
        for name, settings in workloads.items()
    }
    return design.model_copy(update={"workloads": specs})


def played(settings: dict[str, object], until: float, template: str = "serving-l40s-4") -> Any:
    network = build_network(designer.open_design(template))
    program = program_of("inference", settings, "w")
    assert program is not None
    return play(Prices(network), [job_of(program, "w")], until=until).requests["inference"]


@pytest.mark.parametrize(
    "settings",
    [
        {"scenario": "server", "rate": "800 1/s", "batch": 1, "delay": "0 s"},
        {"scenario": "server", "rate": "600 1/s", "batch": 16, "delay": "2 ms"},
        {"scenario": "video", "streams": 20, "frames": "30 1/s", "batch": 8},
        {"scenario": "offline", "batch": 32},
        {"scenario": "multi-stream", "query": 4},
    ],
)
def test_one_instance_on_the_clock_answers_as_its_queue_does(settings: dict[str, object]) -> None:
    """Same seed, same samples, same batches: every answer at the same time."""
    given = {**OWN, **settings, "group": "gpu0"}
    network = build_network(designer.open_design("serving-l40s-4"))
    alone = answered_in_batches(network, in_batches(given, "w"), "w").runs[0]
    log = played(given, float(alone.done[len(alone.done) // 2]) + 1e-9)
    (run, _), done = log.parts[0], alone.done[: len(alone.done) // 2]
    if settings["scenario"] == "multi-stream":
        # the run without a clock has one entry for a query, the clock one for each of its samples
        done = np.repeat(done, 4)
    assert np.sort(run.done[np.isfinite(run.done)])[: len(done)] == pytest.approx(
        np.sort(done)[: np.isfinite(run.done).sum()], rel=1e-9
    )


def test_samples_that_are_sent_take_their_way_and_computing_by_turns() -> None:
    """One sample after the other: 10 MB over the link of the device, then computing; never both at once."""
    given = {**OWN, "sample": "10 MB", "scenario": "single-stream", "group": "gpu0"}
    network = build_network(designer.open_design("serving-l40s-4"))
    alone = answered_in_batches(network, in_batches(given, "w"), "w")
    log = played(given, 3.0)
    path = alone.placed.path
    assert path is not None
    each = alone.placed.timed(1) + 1 / path.rates[0]
    assert float(np.nanmean(log.parts[0][0].done - log.parts[0][0].sent)) == pytest.approx(each, rel=0.02)
    assert alone.metrics["latency_p50"].value == pytest.approx(each, rel=1e-9)


def test_two_models_on_the_same_devices_take_turns() -> None:
    """Each alone keeps its devices busy for 60 %: together more is asked than both can have, so both are later."""
    settings = {**OWN, "scenario": "server", "rate": "2000 1/s", "batch": 4, "delay": "1 ms"}
    found = simulate(design_with(a=settings, b={**settings, "seed": 7}), ["a", "b"], until=2.0, bands=False)
    for name in ("a", "b"):
        assert found.metrics[name]["latency_p99"].value > 1.02 * found.alone[name]["latency_p99"]


def test_a_model_simulated_alone_has_the_metrics_it_is_analyzed_with() -> None:
    settings = {**OWN, "scenario": "server", "rate": "20 1/s", "batch": 4, "delay": "1 ms"}
    one = simulate(design_with(a=settings), ["a"])
    analyzed = designer.analyze(design_with(a=settings), ["a"]).workloads[0]
    assert {"latency_p99", "samples_per_second"} <= one.metrics["a"].keys()
    assert one.metrics["a"] == {name: analyzed.metrics[name] for name in one.metrics["a"]}


def test_samples_a_second_are_counted_over_all_instances() -> None:
    """Offline, every instance answers its own samples one batch after the other, as fast as it computes."""
    given = {**OWN, "scenario": "single-stream", "group": "gpus"}
    network = build_network(designer.open_design("serving-l40s-4"))
    each = answered_in_batches(network, in_batches(given, "w"), "w").placed.timed(1)
    log = played(given, 1.0)
    values = log.readings.values
    assert "requests_per_second" not in values
    assert values["samples_per_second"] == pytest.approx(4 / each, rel=0.02)
    assert values["latency_p99"] == pytest.approx(each, rel=1e-6)


@pytest.mark.parametrize(
    ("part", "instances", "longer"),
    [("1g.10gb", 7, 1.0), ("3g.40gb", 2, 1.0), ("20C", 4, 4.0)],
)
def test_instances_with_compute_of_their_own_meet_nobody_and_those_in_turns_wait(
    part: str, instances: int, longer: float
) -> None:
    """MIG instances have multiprocessors of their own; virtual GPUs that all have work get a fourth of one each."""
    given = {**OWN, "scenario": "single-stream", "group": "gpu0", "part": part}
    network = build_network(designer.open_design("hgx-h100-8"))
    placed = answered_in_batches(network, in_batches(given, "w"), "w").placed
    assert placed.instances == instances
    log = played(given, 1.0, "hgx-h100-8")
    assert len(log.parts) == instances
    assert log.readings.values["latency_p50"] == pytest.approx(longer * placed.timed(1), rel=0.02)
