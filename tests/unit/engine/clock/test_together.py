"""Programs that run together: next to one another, in phases, and each with its own clock."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

import designer
from designer.analysis import simulation
from designer.analysis.simulation import simulate
from designer.analysis.simulation.jobs import job_of_workload, parts_in_turns
from designer.analysis.simulation.meetings import phases_of
from designer.design.document import WorkloadSpec, replaced, with_changes
from designer.engine.clock.engine import Clock
from designer.engine.clock.jobs import Job, job_of
from designer.engine.clock.measures import answer
from designer.engine.clock.player import play
from designer.engine.clock.work import Shape, Work
from designer.engine.costs import Priced, Prices
from designer.engine.network import build_network
from designer.errors import Cancelled
from designer.interchange.templates import open_design
from designer.workload.kind import program_of
from designer.workload.program import Compute, Delay, Measure, Move, Program, Step
from tests.unit.engine.clock.test_engine import Graph
from tests.unit.engine.clock.test_settled import on, prices

# What binds each program of a run and when, worked by hand; alone it is what ``analyze`` says.


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
    """An all-reduce of 1 GiB next to steps of half a second: 5.056 ms in the mean of a minute, and not the 8.2 ms of
    those that meet the collective of a step; 3 s or 6 s, which end in the midst of a step, say the same."""
    for until in (3.0, 6.0):
        design = designer.open_design("hgx-h100-8")
        found = simulate(design, ["all-reduce", "llama-2-7b-fsdp"], until=until, bands=False)
        ends = found.run.ends("all-reduce", "collective")
        assert found.metrics["all-reduce"]["communication_time"].value == pytest.approx(5.0556e-3, rel=2e-4)
        assert until / len(ends) == pytest.approx(5.0556e-3, rel=0.02)


# Rounds of federated learning by hand, an interleaved pipeline against its formula, and how soon a run stops.

FEDERATED = {"server": "memory0", "sites": "gpu0", "size": "1 GB", "local_time": "2 s", "rounds": 4}


def test_federated_rounds_by_hand():
    """A round is sending, training and gathering, one after the other; each of the three as long as alone, so four
    rounds take four times as long and the period is their sum."""
    design = open_design("hgx-h100-8")
    program = program_of("federated", FEDERATED, "federated")
    assert program is not None
    found = simulate(design, programs=[program], bands=False)
    alone = {
        name: simulate(design, programs=[Program("one", (Step("move", Move(a, b, 1e9)),))], bands=False).run.end
        for name, a, b in (("send", "memory0", "gpu0"), ("gather", "gpu0", "memory0"))
    }
    period = alone["send"] + 2.0 + alone["gather"]
    metrics = found.metrics["federated"]
    assert metrics["round_time"].value == pytest.approx(period, rel=1e-9)
    assert metrics["time_to_train"].value == pytest.approx(4 * period, rel=1e-9)
    assert metrics["transfer_time"].value == pytest.approx(alone["gather"], rel=1e-9)


@pytest.mark.parametrize(("p", "m", "v"), [(4, 8, 2), (2, 4, 3), (4, 4, 4)])
def test_interleaved_pipeline_bubble(p: int, m: int, v: int):
    """Each device holds v chunks of the layers, and m is a multiple of p: forwards go in groups of p micro-batches
    through chunk after chunk. The first result needs p − 1 chunk times before the last device begins, then each device
    is busy without a gap: the bubble of a pass is (p − 1) chunk times of m·v, which is (p − 1)/(v·m)."""
    works: list[Work] = []
    after: list[list[int]] = []
    index: dict[tuple[int, int, int], int] = {}
    order = [(g, c, k) for g in range(m // p) for c in range(v) for k in range(p)]
    for place, (g, c, k) in enumerate(order):
        for device in range(p):
            micro = g * p + k
            index[device, c, micro] = len(works)
            # the order on a device is that of the schedule
            works.append(Work(1.0 / v, Shape(cap=1.0, engine=device), priority=place))
            before = (device - 1, c, micro) if device else (p - 1, c - 1, micro)
            after.append([index[before]] if before in index else [])
    clock = Clock([1.0] * p, dict.fromkeys(range(p), 1))
    clock.add(Graph(works, after))
    end = clock.run()
    assert end / m - 1 == pytest.approx((p - 1) / (v * m), rel=1e-9)


def test_a_run_stops_in_its_midst():
    """A run without an end, stopped after it was asked some dozen times: often, and long before it could end."""
    endless = Program("endless", (Step("compute", Compute("gpu0", seconds=1e-4)),), math.inf)
    asked = itertools.count()
    with pytest.raises(Cancelled):
        simulate(
            open_design("hgx-h100-8"),
            programs=[endless],
            until=1e9,
            bands=False,
            cancelled=lambda: next(asked) >= 50,
        )
    assert next(asked) == 51


def test_a_run_that_is_cut_short_says_how_far_it_came():
    """A second of computing again and again, for a hundred events: some hundred seconds, not 10⁹."""
    table = Prices(build_network(open_design("hgx-h100-8")))
    endless = Program("endless", (Step("compute", Compute("gpu0", seconds=1.0)),), math.inf)
    for until in (1e9, math.inf):
        run = play(table, [job_of(endless)], until=until, most_events=100)
        assert 90 < run.end < 110
        assert not run.done
        assert [f.code for f in run.findings] == ["CLOCK-LONG"]
        assert run.busy(next(iter(run.table.slots))) == pytest.approx(1.0, abs=0.02)


# Programs that go on next to each other: their pace over whole items, and how many runs their answer takes.

GB = 1e9


def priced() -> Prices:
    return Prices(build_network(open_design("hgx-h100-8")))


def stream() -> Job:
    """A stream over the link that the others use."""
    step = Step("move", Move("memory0", "gpu0"))
    return job_of(Program("stream", (step,), measures=(Measure("rate", "B/s", "throughput", "move"),)))


def messages(name: str, size: float, pause: float) -> Job:
    """A message [B], then a pause [s], and again."""
    steps = Step("move", Move("memory0", "gpu0", size)), Step("wait", Delay(pause), ("move",), {"move": 1})
    steps = (Step("move", steps[0].task, lags={"wait": 1}), steps[1])
    return job_of(Program(name, steps, math.inf, measures=(Measure("time", "s", "period", "wait"),)))


def alone(size: float) -> float:
    """Time of a message without its latency [s]."""
    rate = answer(priced(), stream(), explained=False).metrics["rate"].value
    return size / rate


def test_a_stream_beside_messages_has_what_they_leave_in_the_mean() -> None:
    """A message that takes t alone takes 2 t next to a stream, which has half of the link meanwhile and all of it for
    the t of the pause: (2·1/2 + 1)/3 = 2/3 in the mean."""
    t = alone(GB)
    found = answer(priced(), stream(), neighbours=[messages("m", GB, t)], bands=False, explained=False)
    usual = answer(priced(), stream(), explained=False).metrics["rate"].value
    assert found.metrics["rate"].value == pytest.approx(usual * 2 / 3, rel=0.01)


def test_messages_beside_a_stream_take_twice_as_long_and_pause_as_before() -> None:
    t = alone(GB)
    found = answer(priced(), messages("m", GB, t), neighbours=[stream()], bands=False, explained=False)
    assert found.metrics["time"].value == pytest.approx(3 * t, rel=1e-3)


def test_the_pace_beside_a_slow_program_is_that_of_its_whole_items() -> None:
    """Messages of t/20 next to a neighbour that sends for 2 t and pauses for t: what is read after few of its items is
    what hundreds of them come to."""
    t = alone(GB)
    mine, its = messages("mine", GB / 20, 0.0), messages("its", GB, t)
    found = answer(priced(), mine, neighbours=[its], bands=False, explained=False).metrics["time"].value
    run = play(priced(), [mine, its], until=300 * 3 * t)
    ends, others = run.ends("mine", "wait"), run.ends("its", "wait")
    inside = [end for end in ends if others[0] < end <= others[-1]]
    assert found == pytest.approx((others[-1] - others[0]) / len(inside), rel=2e-3)


def test_whole_items_are_those_of_the_slowest_program_within_a_time() -> None:
    run = play(priced(), [messages("mine", GB / 20, 0.0), messages("its", GB, 0.05)], until=2.0)
    ends = run.ends("its", "wait")
    begin, end = run.whole_items("mine", ends[2], ends[7])
    moved = run.ends("its", "move")
    # five messages end between six pauses
    assert (begin, end) == (moved[3], moved[7])
    assert run.whole_items("mine", ends[2] + 1e-6, ends[3] - 1e-6) == (ends[2] + 1e-6, ends[3] - 1e-6)


def test_a_served_model_beside_a_training_on_its_gpu_answers_half_as_fast() -> None:
    """Both take turns: steps of the engine take twice as long, so a token does at least, and no run is without end."""
    serving = {"model": "llama-3-8b", "tensor": 1, "replicas": 1, "group": "gpu0", "rate": "2 1/s", "memory_share": 0.5}
    training = {"model": "resnet-50", "micro_batch": 32, "group": "gpu0", "precision": "fp16"}
    specs = [
        WorkloadSpec(id="chat", kind="serving", settings=serving),
        WorkloadSpec(id="train", kind="training", settings=training),
    ]
    network = build_network(with_changes(open_design("hgx-h100-8"), workloads=replaced({}, specs)))
    jobs = [job_of_workload(spec, 0.0) for spec in specs]
    shared = Prices(network, frozenset(), parts_in_turns(network, jobs))
    found = answer(shared, jobs[0], neighbours=jobs[1:], explained=False).metrics["tpot"]
    usual = answer(Prices(network), jobs[0], explained=False).metrics["tpot"]
    assert 2 * 0.98 < found.value / usual.value < 2.5
    assert found.low < found.value < found.high


def test_what_settles_itself_takes_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bands are those of the answer alone: no run at either end of them uses up the budget of events."""
    spec = WorkloadSpec(id="asked", kind="inference", settings={"rate": "100 1/s"})
    design = with_changes(open_design("hgx-h100-8"), workloads=replaced({}, [spec]), default_workload="")
    whole = simulation.simulate(design, ["asked"])
    runs: list[Any] = []
    play = simulation.play

    def counted(*given: Any, **named: Any) -> Any:
        runs.append(play(*given, **named))
        return runs[-1]

    monkeypatch.setattr(simulation, "play", counted)
    monkeypatch.setattr(simulation, "_PROBE_LIMIT", 200)
    monkeypatch.setattr(simulation, "EVENTS_LIMIT", whole.run.events + 100)
    found = simulation.simulate(design, ["asked"])
    assert len(runs) == 2
    assert found.run.events == whole.run.events
    assert not [f for f in found.findings if f.code == "CLOCK-LONG"]
    assert found.metrics == whole.metrics
