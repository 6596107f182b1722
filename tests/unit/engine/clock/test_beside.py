"""Programs that go on next to each other: their pace over whole items, and how many runs their answer takes."""

from __future__ import annotations

import math
from typing import Any

import pytest

from designer.analysis import simulation
from designer.analysis.simulation.jobs import job_of_workload, parts_in_turns
from designer.design.document import WorkloadSpec, replaced, with_changes
from designer.engine.clock.jobs import Job, job_of
from designer.engine.clock.measures import answer
from designer.engine.clock.player import play
from designer.engine.costs import Prices
from designer.engine.network import build_network
from designer.interchange.templates import open_design
from designer.workload.program import Delay, Measure, Move, Program, Step

GB = 1e9


def prices() -> Prices:
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
    rate = answer(prices(), stream(), explained=False).metrics["rate"].value
    return size / rate


def test_a_stream_beside_messages_has_what_they_leave_in_the_mean() -> None:
    """A message that takes t alone takes 2 t next to a stream, which has half of the link meanwhile and all of it for
    the t of the pause: (2·1/2 + 1)/3 = 2/3 in the mean."""
    t = alone(GB)
    found = answer(prices(), stream(), neighbours=[messages("m", GB, t)], bands=False, explained=False)
    usual = answer(prices(), stream(), explained=False).metrics["rate"].value
    assert found.metrics["rate"].value == pytest.approx(usual * 2 / 3, rel=0.01)


def test_messages_beside_a_stream_take_twice_as_long_and_pause_as_before() -> None:
    t = alone(GB)
    found = answer(prices(), messages("m", GB, t), neighbours=[stream()], bands=False, explained=False)
    assert found.metrics["time"].value == pytest.approx(3 * t, rel=1e-3)


def test_the_pace_beside_a_slow_program_is_that_of_its_whole_items() -> None:
    """Messages of t/20 next to a neighbour that sends for 2 t and pauses for t: what is read after few of its items is
    what hundreds of them come to."""
    t = alone(GB)
    mine, its = messages("mine", GB / 20, 0.0), messages("its", GB, t)
    found = answer(prices(), mine, neighbours=[its], bands=False, explained=False).metrics["time"].value
    run = play(prices(), [mine, its], until=300 * 3 * t)
    ends, others = run.ends("mine", "wait"), run.ends("its", "wait")
    inside = [end for end in ends if others[0] < end <= others[-1]]
    assert found == pytest.approx((others[-1] - others[0]) / len(inside), rel=2e-3)


def test_whole_items_are_those_of_the_slowest_program_within_a_time() -> None:
    run = play(prices(), [messages("mine", GB / 20, 0.0), messages("its", GB, 0.05)], until=2.0)
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
