"""Restarts and interruptions of programs."""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import replace
from functools import cache

import pytest

from designer.analysis.simulation import simulate
from designer.analysis.simulation.rerouting import Failure
from designer.analysis.study import analyze, run_workload
from designer.design.document import Design, WorkloadSpec, replaced, with_changes
from designer.engine.clock.interruptions import Cause, Interruption, interruptions
from designer.engine.clock.jobs import job_of
from designer.engine.clock.measures import values_of
from designer.engine.clock.player import play
from designer.engine.clock.run import Run
from designer.engine.costs import Prices
from designer.engine.network import build_network
from designer.errors import AnalysisError
from designer.formulas.storage.goodput import Interruptions, effective_time
from designer.interchange.templates import open_design
from designer.report.traces import chrome_trace
from designer.units import Seconds
from designer.workload.program import Arrivals, Compute, Delay, Measure, Move, Program, Recovery, Step
from tests.budget import sample
from tests.moments import utilization
from tests.unit.engine.clock.test_serving import BASE, IN_VM, with_workloads

# Failures on the clock: what is under way is lost, the job starts cold, reads its checkpoint and goes on.


@cache
def prices() -> Prices:
    return Prices(build_network(open_design("hgx-h100-8")))


def program(
    seed: int = 0, between: float = math.inf, times: tuple[tuple[float, float], ...] = (), items: float = math.inf
):
    """Steps of 1 s on all GPUs; after every tenth a checkpoint of 2 s that stops them; cold start 5 s, reading 3 s."""
    steps = (
        Step("step", Compute("gpus", seconds=1.0), lags={"step": 1, "checkpoint": 1}),
        Step("checkpoint", Delay(2.0), ("step",), {"checkpoint": 1}, every=10),
    )
    measures = (Measure("step_time", "s", "pace", "step"), Measure("ettr", "1", "progress", "step"))
    recovery = Recovery("checkpoint", Delay(3.0), 5.0, between, times, seed)
    return Program("job", steps, items, measures=measures, recovery=recovery)


def test_one_failure_worked_by_hand() -> None:
    """25 steps; after 10 s a checkpoint to 12 s, after 22 s the next to 24 s; at 23 s it fails, so ten steps are safe.

    Cold start to 28 s, reading to 31 s, steps 11 to 20 again to 41 s, checkpoint to 43 s, five more steps to 48 s.
    """
    run = play(prices(), [job_of(program(times=((23.0, 23.0),), items=25))])
    assert run.end == pytest.approx(48.0)
    assert run.marks["job/failure"] == pytest.approx((23.0,))
    assert run.marks["job/cold start"] == pytest.approx((28.0,))
    assert run.marks["job/restore"] == pytest.approx((31.0,))
    assert run.marks["job/checkpoint"] == pytest.approx((12.0, 43.0))
    assert [t.number for t in run.tasks if t.dropped] == [19]
    assert run.done
    # 35 steps were computed, 25 of them count
    engine = next(iter(run.table.slots))
    assert run.mean_load()[engine] * run.end == pytest.approx(35.0)
    assert values_of(run, job_of(program(items=25)))["ettr"] == pytest.approx(25 / 48)


def test_what_is_repaired_later_starts_later_and_a_failure_during_a_restart_starts_it_again() -> None:
    """Fails at 23 s, mended at 60 s: cold to 65 s, read to 68 s, ten steps to 78 s, checkpoint to 80 s, five to 85 s.

    A second failure at 66 s while it reads: cold again to 71 s, read to 74 s, and all 6 s later: 91 s.
    """
    assert play(prices(), [job_of(program(times=((23.0, 60.0),), items=25))]).end == pytest.approx(85.0)
    again = play(prices(), [job_of(program(times=((23.0, 60.0), (66.0, 66.0)), items=25))])
    assert again.end == pytest.approx(91.0)
    assert len(again.marks["job/cold start"]) == 2
    assert len(again.marks["job/restore"]) == 1


def test_what_others_move_goes_on_and_gets_what_the_failed_one_leaves() -> None:
    """Two flows on one way; the one that fails gives its half back from then on, until it starts again."""
    way = Move("memory0", "gpu0", 100e9)
    alone = play(prices(), [job_of(Program("other", (Step("move", way),)))]).end
    steps = (Step("step", Move("memory0", "gpu0", 1e15)), Step("safe", Delay(0.0), ("step",)))
    failing = Program("failing", steps, recovery=Recovery("safe", Delay(1.0), 1e6, times=((alone / 2, alone / 2),)))
    run = play(prices(), [job_of(Program("other", (Step("move", way),))), job_of(failing)], until=3 * alone)
    # half of the time at half the rate: a quarter is done, the rest at the full rate
    assert run.ends("other", "move")[0] == pytest.approx(alone / 2 + 0.75 * alone, rel=1e-3)


@pytest.mark.parametrize(("runs", "errors"), sample([(6, 5.5)], [(24, 3.3)]))
def test_effective_time_agrees_with_the_closed_form(runs: int, errors: float) -> None:
    """Ten steps between checkpoints of 2 s, a failure every 100 s on average, 8 s to restart: runs of 4,000 s.

    The mean lies within so many of its standard errors of Daly's complete model as Student's t has for three of the
    normal distribution.
    """
    exact = float(effective_time(Seconds(10.0), Interruptions(Seconds(100.0), Seconds(8.0), Seconds(2.0))))
    found: list[float] = []
    for seed in range(runs):
        job = job_of(program(seed, between=100.0))
        found.append(values_of(play(prices(), [job], until=4000.0), job)["ettr"])
    error = statistics.stdev(found) / math.sqrt(len(found))
    assert error < 0.02
    assert abs(statistics.mean(found) - exact) < errors * error


def test_the_same_seed_is_the_same_run() -> None:
    one, other, third = (play(prices(), [job_of(program(seed, 50.0))], until=500.0).marks for seed in (1, 1, 2))
    assert one == other
    assert one != third


def test_a_training_job_restarts_over_the_drawn_storage_path() -> None:
    """Its ETTR on the clock is near the closed form of the same workload; a server that fails and is mended too."""
    settings = {
        "model": "resnet-50",
        "precision": "fp16",
        "software": "fused",
        "micro_batch": 512,
        "checkpoint_every": 20,
        "checkpoint_to": "drives",
        "time_between_failures": "60 s",
        "cold_start": "4 s",
    }
    design = open_design("hgx-h100-8")
    spec = WorkloadSpec(id="job", kind="training", settings=settings)
    design = with_changes(design, workloads=replaced(design.workloads, [spec]))
    exact = run_workload(build_network(design), spec, curves=False)[0].metrics["ettr"].value
    found = simulate(design, ["job"], until=900.0, bands=False)
    assert found.metrics["job"]["ettr"].value == pytest.approx(exact, abs=0.1)
    assert found.run.marks["job/restore"]
    calm = WorkloadSpec(id="job", kind="training", settings={**settings, "time_between_failures": "0 s"})
    design = with_changes(design, workloads=replaced(design.workloads, [calm]))
    failures = [Failure("gpu0", 20.0), Failure("gpu0", 30.0, share=1.0)]
    run = simulate(design, ["job"], until=60.0, failures=failures, bands=False).run
    assert run.marks["job/cold start"] == pytest.approx((34.0,))
    steps = run.marks["job/step"]
    assert not [t for t in steps if 20.0 < t < run.marks["job/restore"][0]]
    assert steps[-1] > 50


def test_recoveries_that_cannot_be_are_refused() -> None:
    with pytest.raises(AnalysisError, match="which is no step"):
        Program("job", (Step("step", Delay(1.0)),), recovery=Recovery("nothing", Delay(1.0), 1.0))
    with pytest.raises(AnalysisError, match="fails without pause"):
        Program("job", (Step("step", Delay(1.0)),), recovery=Recovery("step", Delay(1.0), 1.0, between=0.0))


def test_memory_is_taken_while_a_job_runs_and_given_back_while_it_is_down() -> None:
    """Two jobs on the same GPUs take what each takes; one that failed takes nothing until its state is read again."""
    from designer.engine.accelerators import memory_of
    from designer.engine.clock.frames import Frames
    from designer.engine.routes.selection import resolve

    design = open_design("hgx-h100-8")
    settings = {
        "model": "resnet-50",
        "precision": "fp16",
        "software": "fused",
        "micro_batch": 256,
        "checkpoint_every": 20,
        "checkpoint_to": "drives",
        "cold_start": "4 s",
    }
    specs = [WorkloadSpec(id=name, kind="training", settings=settings) for name in ("job", "other")]
    design = with_changes(design, workloads=replaced(design.workloads, specs))
    network = build_network(design)
    answer = run_workload(network, specs[0], curves=False)[0]
    share = answer.metrics["memory_per_gpu"].value / memory_of(network, int(resolve(network, "gpu0", "w")[0]))
    failures = [Failure("gpu0", 10.0), Failure("gpu0", 12.0, share=1.0)]
    run = simulate(design, ["job"], until=30.0, failures=failures, bands=False).run
    frames = Frames(run)
    back = run.marks["job/restore"][0]
    parts, _ = frames.parts(1.0)
    assert len(parts) == 8
    for time, filled in ((1.0, True), (9.9, True), (10.1, False), (back - 0.1, False), (back + 0.1, True)):
        assert frames.fill(time) == pytest.approx([share if filled else 0.0] * 8, rel=0.02), time
    both = Frames(simulate(design, ["job", "other"], until=5.0, bands=False).run)
    assert both.fill(2.0) == pytest.approx([2 * share] * 8, rel=0.02)
    # what only moves data takes no memory that is followed
    assert not Frames(simulate(design, ["h2d"], until=1.0, bands=False).run).fill(0.5).size


def nightly(times: tuple[tuple[float, float], ...] = (), between: float = math.inf, seed: int = 0) -> Program:
    """15 steps of 1 s every 100 s, a checkpoint of 2 s after the tenth; cold start 5 s, reading 3 s."""
    made = program(seed, between, times)
    return replace(made, arrivals=Arrivals("periodic", 0.01), batch=15)


def test_a_cadence_with_a_failure_worked_by_hand() -> None:
    """The first night: ten steps to 10 s, checkpoint to 12 s, five more to 17 s. The second begins at 100 s.

    Ten steps to 110 s, checkpoint to 112 s. At 114.5 s, two steps later, it fails: cold to 119.5 s, read to 122.5 s,
    and the last five steps of that night once more, to 127.5 s. The third begins at 200 s as if nothing had been. What
    fails at 50 s, between two nights, does no harm.
    """
    run = play(prices(), [job_of(nightly(((50.0, 50.0), (114.5, 114.5))))], until=250.0)
    assert run.marks["job/failure"] == pytest.approx((114.5,))
    assert run.marks["job/restore"] == pytest.approx((122.5,))
    ends = sorted(t.ended for t in run.tasks if t.step == "step" and t.done)
    assert ends[:15] == pytest.approx([*range(1, 11), *range(13, 18)])
    second = [*range(101, 111), 113, 114, *(k + 0.5 for k in range(123, 128))]
    assert [t for t in ends if 100 < t < 200] == pytest.approx(second, abs=1e-6)
    third = [*range(201, 211), *range(213, 218)]
    assert [t for t in ends if t > 200] == pytest.approx(third)
    # busy for 17 + 27.5 + 17 s, of which 45 steps count
    values = values_of(run, job_of(nightly(((114.5, 114.5),))))
    assert values["ettr"] == pytest.approx(45 / 61.5)


def test_a_night_that_is_not_over_when_the_next_begins_is_followed_by_it() -> None:
    """It fails at 14 s and is mended at 140 s: cold to 145 s, read to 148 s, the last five steps to 153 s.

    The next night has been waiting since 100 s. Ten steps after it read its state, at 158 s, there is a checkpoint to
    160 s, then the other ten steps to 170 s.
    """
    run = play(prices(), [job_of(nightly(((14.0, 140.0),)))], until=190.0)
    assert run.marks["job/restore"] == pytest.approx((148.0,))
    ends = sorted(t.ended for t in run.tasks if t.step == "step" and t.done and t.ended > 140)
    assert ends == pytest.approx([*range(149, 159), *range(161, 171)], abs=1e-6)


def test_random_failures_keep_the_cadence_and_are_the_same_for_a_seed() -> None:
    """Every night ends with all its steps, later where it failed; nothing runs where none could be."""
    one, other = (play(prices(), [job_of(nightly(between=40.0, seed=3))], until=2000.0) for _ in range(2))
    assert one.marks == other.marks
    calm = play(prices(), [job_of(nightly())], until=2000.0)
    done = [len({t.number for t in run.tasks if t.step == "step" and t.done}) for run in (one, calm)]
    assert done[0] == done[1] == 300
    assert one.marks["job/failure"]
    for at in one.marks["job/failure"]:
        # no night takes its hundred seconds: it fails while it runs
        night = at // 100 * 100
        mine = [t.ended for t in one.tasks if t.step == "step" and t.done and night <= t.ready < night + 100]
        assert mine
        assert night < at < max(mine)


def test_a_training_with_a_cadence_that_fails_at_random_has_nights() -> None:
    settings = {
        "model": "resnet-50",
        "precision": "fp16",
        "software": "fused",
        "micro_batch": 512,
        "checkpoint_every": 20,
        "checkpoint_to": "drives",
        "time_between_failures": "10 s",
        "cold_start": "1 s",
        "samples": 8 * 512 * 50,
        "retrain_every": "2 min",
    }
    design = open_design("hgx-h100-8")
    spec = WorkloadSpec(id="job", kind="training", settings=settings)
    design = with_changes(design, workloads=replaced(design.workloads, [spec]))
    found = simulate(design, ["job"], until=720.0, bands=False)
    begun = sorted({t.number // 50 for t in found.run.tasks if t.step == "step" and t.done})
    assert begun == [0, 1, 2, 3, 4, 5]
    first = [min(t.ready for t in found.run.tasks if t.step == "step" and t.number == 50 * k) for k in range(6)]
    assert first == pytest.approx([120.0 * k for k in range(6)], abs=1.0)
    assert found.run.marks["job/failure"]
    assert 0 < found.metrics["job"]["ettr"].value < 1


# What held programs up: stuns on the row of a served model, failures, links that were gone, GPUs that were slower.


def run_of(design: Design, *workloads: str, until: float, failures: tuple[Failure, ...] = ()) -> Run:
    return simulate(design, workloads, until=until, failures=failures, bands=False).run


def stated(run: Run) -> list[tuple[str, Cause, str]]:
    return [(one.program, one.cause, one.what) for one in interruptions(run)]


def test_a_stun_is_marked_where_the_machine_stands_still_and_on_nobody_else() -> None:
    """The served model of infer1 is paused from the first byte of its frame buffer until it runs again."""
    other = {**IN_VM, "machines": "infer0", "group": "hosts[0]/gpu1"}
    design = with_workloads(
        "vsphere-cluster-4", s=("serving", IN_VM), o=("serving", other), mv=("vmotion", {"vms": "infer1"})
    )
    found = simulate(design, ["s", "o", "mv"], until=120.0, starts={"mv": 10.0}, bands=False).run
    (one,) = interruptions(found)
    stun = next(t.began for t in found.tasks if t.step == "stun infer1")
    again = next(t.ended for t in found.tasks if t.step == "again infer1")
    assert (one.program, one.cause, one.what) == ("s", Cause.STUN, "infer1")
    assert (one.begin, one.end) == pytest.approx((stun, again))
    assert one.text == f"infer1 pauses for {again - stun:.3g} s"
    assert not interruptions(run_of(design, "s", until=20.0))
    events = json.loads(chrome_trace(found))["traceEvents"]
    (held,) = [e for e in events if e.get("name") == "stun" and e["cat"] == "s"]
    assert held["dur"] / 1e6 == pytest.approx(again - stun)
    # and in the answer of the migration, from when it sets out on
    moved = analyze(design, ["mv"], curves=False).workloads[0]
    rows = {row[0]: row for row in moved.tables["stands_still"].rows}
    assert float(rows["s"][3] or 0.0) == pytest.approx(again - stun, rel=0.02)
    assert float(rows["s"][2] or 0.0) == pytest.approx(stun - 10.0, rel=0.02)


def test_failures_of_a_job_last_until_it_has_read_its_state_or_fails_anew() -> None:
    """Fails at 23 s, mended at 60 s, fails again at 66 s; cold 5 s and reading 3 s: it goes on at 74 s."""
    run = play(prices(), [job_of(program(times=((23.0, 60.0), (66.0, 66.0)), items=25))])
    found = [(one.cause, one.begin, one.end) for one in interruptions(run)]
    assert found == [(Cause.FAILURE, 23.0, 66.0), (Cause.FAILURE, 66.0, pytest.approx(74.0))]


def test_links_that_are_gone_are_told_to_those_who_want_them() -> None:
    """The way to GPU 3 is gone from 2 s to 3 s and has half of its rate from 5 s to 6 s; collectives do not use it."""
    failures = (
        Failure("psw3--gpu3", 2.0),
        Failure("psw3--gpu3", 3.0, 1.0),
        Failure("psw3--gpu3:ab", 5.0, 0.5),
        Failure("psw3--gpu3:ab", 6.0, 1.0),
    )
    run = run_of(open_design("hgx-h100-8"), "storage-to-gpus", "all-reduce", until=10.0, failures=failures)
    assert stated(run) == [
        ("storage-to-gpus", Cause.CUT, "psw3--gpu3"),
        ("storage-to-gpus", Cause.NARROWED, "psw3--gpu3:ab"),
    ]
    assert [(one.begin, one.end) for one in interruptions(run)] == [(2.0, 3.0), (5.0, 6.0)]
    assert interruptions(run)[1].text == "psw3--gpu3:ab has 50% of its rate for 1 s"


def test_a_server_that_fails_takes_all_that_is_in_it() -> None:
    """Nothing moves inside it from then on, and a job that saves its state starts again when it is mended."""
    design = open_design("hgx-h100-8")
    run = run_of(design, "storage-to-gpus", "resnet-50", until=6.0, failures=(Failure("server", 2.0),))
    assert {one.program for one in interruptions(run)} == {"storage-to-gpus", "resnet-50"}
    assert not run._channels(utilization(run, 3.0)).any()
    assert any(f.code == "CLOCK-STUCK" and len(f.text) < 300 for f in run.findings)
    saving = {
        "model": "resnet-50",
        "group": "gpus",
        "global_batch": 2048,
        "dataset": "",
        "checkpoint_every": 20,
        "checkpoint_to": "memory0",
        "cold_start": "5 s",
    }
    both = (Failure("server", 2.0), Failure("server", 4.0, 1.0))
    run = run_of(with_workloads("hgx-h100-8", t=("training", saving)), "t", until=30.0, failures=both)
    (one,) = interruptions(run)
    assert (one.cause, one.begin) == (Cause.FAILURE, 2.0)
    # mended at 4 s, a cold start of 5 s, then its checkpoint is read
    assert run.marks["t/cold start"] == pytest.approx((9.0,))
    assert one.end == pytest.approx(run.marks["t/restore"][0])
    assert run.ends("t", "step")[-1] > one.end


def test_what_computes_on_a_gpu_that_fails_does_not_go_on() -> None:
    """A training on one GPU: gone from 5 s to 7 s, then at half speed. It computes for 5 + 23 ÷ 2 = 16.5 s of 30 s.

    A served model on another one answers nobody while its GPU is gone; one on a third is not touched.
    """
    served = {**BASE, "tensor": 1, "rate": "4 1/s"}
    job = {"model": "resnet-50", "group": "gpu2", "dataset": "", "global_batch": 64}
    design = with_workloads(
        "hgx-h100-8",
        s=("serving", {**served, "group": "gpu0"}),
        r=("serving", {**served, "group": "gpu1"}),
        t=("training", job),
    )
    failures = (
        Failure("gpu0", 10.0),
        Failure("gpu0", 20.0, 1.0),
        Failure("gpu2", 5.0),
        Failure("gpu2", 7.0, 0.5),
    )
    whole = run_of(design, "s", "r", "t", until=30.0)
    run = run_of(design, "s", "r", "t", until=30.0, failures=failures)
    steps = len(whole.ends("t", "step"))
    assert len(run.ends("t", "step")) == pytest.approx(steps * 16.5 / 30, abs=2)
    log = run.requests["s"].run
    gone = (log.sent > 10.5) & (log.sent < 19.5)
    assert (log.first[gone] > 20.0).all()
    assert not ((log.done > 10.6) & (log.done < 20.0)).any()
    mine, usual = run.requests["r"].run, whole.requests["r"].run
    assert mine.first == pytest.approx(usual.first, nan_ok=True)
    assert stated(run) == [("t", Cause.CUT, "gpu2"), ("t", Cause.NARROWED, "gpu2"), ("s", Cause.CUT, "gpu0")]


def test_what_is_not_over_says_so() -> None:
    one = Interruption("job", Cause.FAILURE, 23.0, 30.0, "", ended=False)
    assert one.text == "it fails and is down for 7 s, to the end of the run"
    assert math.isclose(one.end - one.begin, 7.0)
