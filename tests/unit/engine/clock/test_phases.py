"""What binds each program of a run and when, worked by hand; alone it is what ``analyze`` says."""

from __future__ import annotations

import pytest

import designer
from designer.analysis.simulation import simulate
from designer.analysis.simulation.phases import phases_of
from designer.engine.clock.jobs import job_of
from designer.engine.clock.player import play
from designer.engine.costs import Priced
from designer.workload.program import Compute, Move, Program, Step
from tests.unit.engine.clock.test_why import on, prices


def test_a_phase_ends_where_another_program_begins_and_something_else_binds():
    """2 s of computing, then 3 s on a link that another program shares from 2 s on for 3 s of its own: both end at 8 s.

    At half the rate each, the 3 s of either take 6 s. The first is bound by gpu0 until 2 s, then by the link.
    """
    table = prices()
    steps = (Step("compute", Compute("gpu0", 2.0)), Step("copy", Priced(on(table, 0, seconds=3.0)), ("compute",)))
    jobs = [
        job_of(Program("first", steps)),
        job_of(Program("second", (Step("copy", Priced(on(table, 0, seconds=3.0))),), start=2.0)),
    ]
    run = play(table, jobs)
    assert run.end == pytest.approx(8.0)
    before, after = phases_of(run, jobs, jobs[0])
    assert (before.begin, before.end, after.begin, after.end) == pytest.approx((0.0, 2.0, 2.0, 8.0))
    assert len(before.binding) == 1
    assert before.binding[0].share == pytest.approx(1.0)
    link = table.table.bottleneck(0).id
    assert [(b.id, b.share) for b in after.binding] == [(link, pytest.approx(1.0))]
    (only,) = phases_of(run, jobs, jobs[1])
    assert (only.begin, only.end) == pytest.approx((2.0, 8.0))
    assert [b.id for b in only.binding] == [link]


def test_phases_that_the_same_thing_binds_are_one_phase():
    """3 s on a link, shared from 1 s on by 2 s of another: (3 − 1) · 2 = 4 s more, so both end at 5 s, all on it."""
    table = prices()
    jobs = [
        job_of(Program("long", (Step("copy", Priced(on(table, 0, seconds=3.0))),))),
        job_of(Program("short", (Step("copy", Priced(on(table, 0, seconds=2.0))),), start=1.0)),
    ]
    run = play(table, jobs)
    assert run.end == pytest.approx(5.0)
    (phase,) = phases_of(run, jobs, jobs[0])
    assert (phase.begin, phase.end) == pytest.approx((0.0, 5.0))
    assert phase.binding[0].share == pytest.approx(1.0)


def test_a_stream_is_bound_by_what_fills_up():
    table = prices()
    jobs = [job_of(Program("stream", (Step("move", Move("memory", "gpus")),)))]
    run = play(table, jobs, until=1.0)
    (phase,) = phases_of(run, jobs, jobs[0])
    assert phase.binding[0].id in {table.table.bottleneck(r).id for r in range(table.network.n_resources)}


def test_simulate_says_what_binds_alone_and_with_others():
    """Two all-reduces of one group at once: each takes twice as long, bound by the links that bind each alone."""
    design = designer.open_design("hgx-h100-8")
    spec = design.workloads["all-reduce"]
    other = spec.model_copy(update={"id": "other"})
    both = design.model_copy(update={"workloads": {**design.workloads, "other": other}})
    found = simulate(both, ["all-reduce", "other"], until=0.5)
    assert found.slow_down["all-reduce"] == pytest.approx(2.0, rel=0.02)
    (analyzed,) = designer.analyze(design, ["all-reduce"], curves=False).workloads
    bound = found.binding["all-reduce"]
    alone = {b.label for b in bound.alone}
    assert alone
    assert alone <= {b.label for b in analyzed.binding}
    assert {b.label for b in bound.together} & alone
    assert bound.together[0].gain_together is not None
    assert bound.phases[-1].end == pytest.approx(0.5)


def test_a_period_with_others_is_the_mean_of_all_they_do_and_not_of_the_last_moment():
    """An all-reduce of 1 GiB next to steps of half a second: 5.050 ms in the mean of a minute, and not the 8.2 ms of
    those that meet the collective of a step; 3 s or 6 s, which end in the midst of a step, say the same."""
    for until in (3.0, 6.0):
        design = designer.open_design("hgx-h100-8")
        found = simulate(design, ["all-reduce", "llama-2-7b-fsdp"], until=until, bands=False)
        ends = found.run.ends("all-reduce", "collective")
        assert found.metrics["all-reduce"]["communication_time"].value == pytest.approx(5.0497e-3, rel=2e-4)
        assert until / len(ends) == pytest.approx(5.0497e-3, rel=0.02)
