"""What held programs up: stuns on the row of a served model, failures, links that were gone, GPUs that were slower."""

from __future__ import annotations

import json
import math

import pytest

from designer.analysis.simulation import simulate
from designer.analysis.simulation.rerouting import Failure
from designer.analysis.study import analyze
from designer.design.document import Design
from designer.engine.clock.interruptions import Cause, Interruption, interruptions
from designer.engine.clock.jobs import job_of
from designer.engine.clock.player import play
from designer.engine.clock.run import Run
from designer.interchange.templates import open_design
from designer.report.traces import chrome_trace
from tests.moments import utilization
from tests.unit.engine.clock.test_restarts import prices, program
from tests.unit.engine.clock.test_serving import BASE, IN_VM, with_workloads


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
