"""Programs on the clock: batches, frames, stages of pipelines, workflows."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import designer
from designer.analysis.simulation import Simulation, simulate
from designer.analysis.simulation.rerouting import Failure
from designer.analysis.study import run_workload
from designer.design.document import Design, WorkloadSpec
from designer.engine.clock.frames import Frames
from designer.engine.clock.jobs import job_of
from designer.engine.clock.player import play
from designer.engine.costs import Prices
from designer.engine.costs.pricing import Priced
from designer.engine.network import Network, build_network
from designer.engine.results import WorkloadResult
from designer.engine.routes.protocols import cores_of_islands
from designer.errors import AnalysisError
from designer.families.serving.batches import answered_in_batches
from designer.families.serving.costs.serve import _replica
from designer.families.serving.deployment import Serving
from designer.families.serving.placement import Placement, place_deployment
from designer.families.serving.replica import Metered
from designer.families.training.kinds.elastic import changes
from designer.interchange.templates import open_design
from designer.workload.kind import program_of
from designer.workload.program import Compute, Delay, Move, Program, Step
from designer.workload.program.tasks import Task
from tests.asked import in_batches, serving_asked
from tests.moments import utilization

# Inference in batches on the clock: alone it is the queue of one instance; next to others it is slower.

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


# Frames of a run against the run itself, and against cases worked by hand.


@pytest.fixture(scope="module")
def busy() -> Simulation:
    """Training with reading, and a link that fails on the way."""
    return simulate(
        open_design("hgx-h100-8"),
        ["resnet-50", "storage-to-gpus"],
        until=3.0,
        failures=[Failure("psw0", 1.5, 0.5)],
        bands=False,
    )


def test_frames_tell_what_the_run_tells(busy: Simulation):
    run, frames = busy.run, Frames(busy.run)
    rng = np.random.default_rng(3)
    for time in (0.0, run.end, *rng.uniform(0, run.end, 40)):
        assert np.allclose(frames.at(time), run.load_at(time)[frames.resources], rtol=1e-9, atol=1.0)
        load, share = frames.channels(time)
        assert np.allclose(share, run._channels(utilization(run, time)), atol=1e-9)
        assert (load >= 0).all()
    for _ in range(40):
        begin, end = sorted(rng.uniform(0, run.end, 2))
        mean = run.mean_load(begin, end)[frames.resources]
        assert np.allclose(frames.mean(begin, end), mean, rtol=1e-6, atol=1e-6 * mean.max())


def test_few_kept_instants_tell_the_same(busy: Simulation, monkeypatch: pytest.MonkeyPatch):
    """A long run keeps some instants only: what is between is added up."""
    monkeypatch.setattr("designer.engine.clock.frames._CHANGES_LIMIT", 3)
    short, whole = Frames(busy.run), busy.run
    for time in np.linspace(0, whole.end, 60):
        assert np.allclose(short.at(time), whole.load_at(time)[short.resources], rtol=1e-9, atol=1.0)


def test_the_ruler_is_the_fullest_of_all(busy: Simulation):
    frames = Frames(busy.run)
    share, which = frames.fullest(0.0, busy.run.end, 16)
    width = busy.run.end / 16
    for k in range(16):
        mean = frames.mean(k * width, (k + 1) * width)
        shared = [r for r, e in zip(frames.resources, frames._engine, strict=True) if not e]
        full = {int(r): mean[list(frames.resources).index(r)] / busy.run.table.capacity[int(r)] for r in shared}
        assert share[k] == pytest.approx(min(1.0, max(full.values())), rel=1e-6)
        assert which[k] in shared


def test_a_move_by_hand():
    """10 GB from a drive: nothing for 2 s, then all of it is left and drains evenly until none is."""
    program = Program("copy", (Step("wait", Delay(2.0)), Step("move", Move("nvme0", "gpu0", 10e9), after=("wait",))))
    found = simulate(open_design("hgx-h100-8"), programs=[program], bands=False)
    frames = Frames(found.run)
    times, left = frames.left("copy")
    end = found.run.end
    assert np.interp(1.9, times, left) == 0
    assert left.max() == pytest.approx(10e9, rel=1e-9)
    latency_free = (2.0 + end) / 2
    assert np.interp(latency_free, times, left) == pytest.approx(5e9, rel=1e-3)
    assert left[-1] == 0
    # at any instant it moves, something binds it, and the channel it binds is full
    held = frames.held(latency_free)
    assert held
    assert held[0].tasks
    _, share = frames.channels(latency_free)
    assert share.max() == pytest.approx(1.0, rel=1e-6)


def test_busy_share_by_hand():
    """One GPU of those in the run computes 1 s of 4: of a run of two GPUs with 1 s and 4 s, 5/8 of the time is busy."""
    one = Program("one", (Step("compute", Compute("gpu0", seconds=1.0)),))
    four = Program("four", (Step("compute", Compute("gpu1", seconds=4.0)),))
    frames = Frames(simulate(open_design("hgx-h100-8"), programs=[one, four], bands=False).run)
    assert frames.busy(0.5) == pytest.approx(1.0)
    assert frames.busy(2.0) == pytest.approx(0.5)
    assert frames.busy(4.0, span=4.0) == pytest.approx(5 / 8)
    parts, share = frames.parts(2.0)
    net = frames.run.table.network.net
    stated = {net.path(int(p)): s for p, s in zip(parts, share, strict=True)}
    assert stated == {"gpu0": 0.0, "gpu1": 1.0}


# A replica of stages on the clock: heads are joined inside each stage, values handed on over its devices' own NICs.

TWO_RACKS = "serving-split-2-racks"


#: four devices of each of two servers: a stage each
HALVES = ",".join(f"answers[{server}]/gpu{gpu}" for server in (0, 1) for gpu in range(4))


STAGES = {"model": "llama-3-70b", "weights": "fp8", "group": HALVES, "tensor": 4, "pipeline": 2}


ASKED: dict[str, Any] = {**STAGES, "engine": "vllm", "release": "0.12.0", "rate": "2 1/s", "output": 64, "count": 100}


def placed(**changes: object) -> Placement:
    network = build_network(designer.open_design(TWO_RACKS))
    asked = serving_asked({**ASKED, **changes}, "s")
    assert isinstance(asked, Serving)
    return place_deployment(network, asked.deployment, "s")


def links(placement: Placement, task: Task | None) -> str:
    """Links that a task uses, one a line."""
    assert isinstance(task, Priced)
    network = placement.network
    used = [int(r) for r in task.cost.resource if r < network.n_link_resources]
    return "\n".join(network.channel_label(network.resource_channel(r)) for r in used)


def test_only_the_nics_of_the_devices_of_each_stage_are_taken_and_only_to_hand_values_on() -> None:
    """GPUs 0 to 3 of each server: their heads go over NVSwitch, their values over NICs 0 to 3 of the eight."""
    placement = placed()
    tasks = _replica(Prices(placement.network), placement, 0, 0.1, "s")
    joined, sent = links(placement, tasks.join), links(placement, tasks.exchange)
    assert "nvlink" in joined
    assert "nic" not in joined
    assert set(re.findall(r"nic(\d)", sent)) == {"0", "1", "2", "3"}
    assert "nvlink" not in sent


def test_one_group_over_both_servers_has_nothing_to_hand_on() -> None:
    placement = placed(tensor=8, pipeline=1)
    tasks = _replica(Prices(placement.network), placement, 0, 0.1, "s")
    assert tasks.exchange is None
    assert "nic" in links(placement, tasks.join)


def test_what_a_step_hands_on_by_hand() -> None:
    """16 requests in two batches: 8 x 8,192 values of 2 B, 131 KB, pass from stage to stage once a step.

    At 50 GB/s that is 2.6 us, and the way takes some 20 us more; the two all-reduces of each of 80 layers take a
    millisecond and more, so of a step the NICs are busy with less than a hundredth.
    """
    steps = Metered(placed())
    turn = [0.0, steps.decode(16), 0.0, 1.0, 16.0, 0.0, 0.0]
    heads, handed = steps.joined(turn)
    assert 131e3 / 50e9 < handed < 60e-6
    assert heads > 8e-4
    whole = heads + handed
    alone, _ = Metered(placed(tensor=8, pipeline=1)).joined(turn)
    assert whole < alone / 3, "a ring over both servers in every layer takes far longer"


@pytest.mark.parametrize("pipeline", [1, 2])
def test_parts_of_every_window_are_the_whole_of_its_steps(pipeline: int) -> None:
    settings = {**ASKED, "tensor": 8 // pipeline, "pipeline": pipeline}
    program = program_of("serving", settings, "s")
    assert program is not None
    run = play(Prices(build_network(designer.open_design(TWO_RACKS))), [job_of(program)], until=15.0)
    inner = [t for t in run.tasks if t.parent >= 0 and t.done]
    spent = {what: sum(t.time for t in inner if t.step.endswith(what)) for what in ("computes", "joins", "exchanges")}
    turns = run.requests["serving"].run.turns
    busy = float((turns[:, 3] * turns[:, 1] + turns[:, 2] * turns[:, 3] * (turns[:, 3] - 1) / 2).sum())
    assert sum(spent.values()) == pytest.approx(busy, rel=0.05)
    assert (spent["exchanges"] > 0) == (pipeline > 1)
    assert spent["exchanges"] < 0.02 * busy


# Whole workflows and elastic training against cases worked by hand.

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
