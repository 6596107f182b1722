"""Programs settled in closed form, and why their times are what they are."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import designer
from designer.engine.account.expression import Term, seconds
from designer.engine.clock.engine import Clock
from designer.engine.clock.jobs import Changes, job_of
from designer.engine.clock.measures import answer
from designer.engine.clock.player import play
from designer.engine.clock.run import Run
from designer.engine.clock.settled import settled
from designer.engine.clock.why import explain, held
from designer.engine.clock.work import Shape, Work
from designer.engine.costs import Cost, Expansion, Priced, Prices
from designer.engine.costs.pricing import alone, pace
from designer.engine.network import build_network
from designer.workload.program import Arrivals, Compute, Measure, Move, Program, Recovery, Script, Step, Task

# Programs settled in closed form come to what the clock says.


@cache
def prices() -> Prices:
    return Prices(build_network(designer.open_design("hgx-h100-8")))


def task(name: str, time: float, *uses: int) -> Task:
    """A task that takes a time alone, and fills some resources meanwhile."""
    known = prices().table.capacity
    return Priced(alone(time, uses={r: known[r] for r in uses}, group=name, time=Term(f"{name} work", time, name)))


def value(program: Program, name: str) -> float | None:
    found = settled(prices(), program, "w")
    return None if found is None else float(seconds(found[name]))


def test_a_loop_is_as_slow_as_its_slowest_cycle():
    """Loading takes 3 s, one batch ahead of steps of 2 s: 3 s a step. With nothing ahead, 5 s."""
    for ahead, period in ((2, 3.0), (1, 5.0)):
        steps = (
            Step("load", task("load", 3.0, 0), lags={"load": 1, "step": ahead}),
            Step("step", task("step", 2.0, 2), ("load",), {"step": 1}),
        )
        program = Program("p", steps, math.inf, measures=(Measure("step_time", "s", "period", "step"),))
        assert value(program, "step_time") == pytest.approx(period)


def test_what_only_a_run_tells_is_not_settled():
    def one(step: Step, arrivals: Arrivals | None = None) -> Program:
        return Program("p", (step,), math.inf, arrivals, measures=(Measure("m", "s", "period", "a"),))

    a = task("a", 1.0, 0)
    assert value(one(Step("a", a)), "m") == 1.0
    assert value(one(Step("a", a, draw="exponential")), "m") is None
    assert value(one(Step("a", a), Arrivals("poisson", 1.0)), "m") is None
    paced = replace(one(Step("a", a)), measures=(Measure("m", "s", "pace", "a"),))
    assert value(paced, "m") is None
    assert value(one(Step("a", Priced(alone(1.0)))), "m") is None
    shared = (Step("a", a), Step("b", task("b", 1.0, 0)))
    assert value(Program("p", shared, measures=(Measure("m", "s", "end", "a"),)), "m") is None
    apart = (Step("a", a), Step("b", task("b", 1.0, 2)))
    assert value(Program("p", apart, measures=(Measure("m", "s", "end", "a"),)), "m") == 1.0


def inner(*steps: Step, times: float = 1, arrivals: Arrivals | None = None, time: float = 3.0) -> Task:
    """A task made of the steps of a program."""
    program = Program("inner", steps, times, arrivals)
    tasks = tuple(step.task for step in steps)
    return Priced(Expansion(lambda: Script(program), tasks, time=Term("inner work", time)))


def ended(*steps: Step, step: str = "") -> float | None:
    """When a program that is done once is done, where that is settled."""
    measure = Measure("m", "s", "end", step or steps[-1].name)
    return value(Program("p", steps, measures=(measure,)), "m")


def test_tasks_made_of_others_are_settled_where_their_parts_share_nothing() -> None:
    """Parts in turn may share a resource, parts at the same time may not; nor what runs at the same time outside."""
    a, b = Step("a", task("a", 1.0, 0)), Step("b", task("b", 2.0, 0))
    in_turn = inner(a, replace(b, after=("a",)))
    assert ended(Step("x", in_turn)) == 3.0
    assert ended(Step("x", inner(a, b))) is None
    other = Step("b", task("b", 2.0, 2))
    assert ended(Step("x", inner(a, other, time=2.0))) == 2.0
    assert ended(Step("x", inner(a, Step("c", task("c", 1.0, 4), ("a",)), replace(b, after=("c",)), time=4.0))) == 4.0
    # next to it runs what takes another resource, or the same
    assert ended(Step("x", in_turn), Step("y", task("y", 1.0, 2)), step="x") == 3.0
    assert ended(Step("x", in_turn), Step("y", task("y", 1.0, 0)), step="x") is None
    assert ended(Step("x", in_turn), Step("y", task("y", 1.0, 0), ("x",))) == 4.0
    # done again and again, or when something arrives, only a run shows it
    assert ended(Step("x", inner(a, times=2))) is None
    assert ended(Step("x", inner(a, arrivals=Arrivals("poisson", 1.0)))) is None
    # a part whose own price has parts at the same time
    assert ended(Step("x", inner(Step("deep", inner(a, b))))) is None


def test_what_holds_an_engine_shares_it() -> None:
    def holding(engine: int) -> Task:
        return Priced(alone(1.0, engine=engine, time=Term("work", 1.0)))

    assert ended(Step("a", holding(3)), Step("b", holding(4)), step="a") == 1.0
    assert ended(Step("a", holding(3)), Step("b", holding(3)), step="a") is None
    assert ended(Step("a", holding(3)), Step("b", holding(3), ("a",))) == 2.0


def test_what_sets_the_speed_of_a_machine_is_run() -> None:
    cost = alone(1.0, time=Term("work", 1.0))
    assert ended(Step("a", Priced(cost))) == 1.0
    assert ended(Step("a", Priced(replace(cost, speeds=(("vm", 0.5),))))) is None


class InUnits(Prices):
    """Prices of tasks that are four times their unit each."""

    def unit(self, task: Task) -> tuple[Task, float]:
        return task, 4.0


def test_a_task_takes_as_many_times_its_unit() -> None:
    known = InUnits(build_network(designer.open_design("hgx-h100-8")))
    found = settled(known, Program("p", (Step("a", task("a", 2.0)),), measures=(END,)), "w")
    assert found is not None
    assert seconds(found["m"]) == 8.0


END = Measure("m", "s", "end", "a")


def test_programs_that_are_drawn_fail_or_skip_items_are_run() -> None:
    step = Step("a", task("a", 1.0, 0))
    plain = Program("p", (step,), measures=(END,))
    assert value(plain, "m") == 1.0
    assert value(replace(plain, recovery=Recovery("a", task("read", 1.0), 0.0)), "m") is None
    assert value(replace(plain, steps=(replace(step, every=2),)), "m") is None
    twelve = tuple(Step(f"s{k}", task("t", 1.0, 2 * k)) for k in range(13))
    assert ended(*twelve[:12]) == 1.0
    assert ended(*twelve) is None


def test_steps_in_turn_may_share_everything() -> None:
    """Load then go, both on resource 0: 1 + 2 s an item, whether done once or for ever; 1 s ahead they would share."""
    load, go = Step("load", task("load", 1.0, 0)), Step("go", task("go", 2.0, 0), ("load",))
    assert ended(load, go) == 3.0
    endless = Program("p", (load, go), math.inf, measures=(Measure("m", "s", "period", "go"),))
    assert value(endless, "m") == 3.0
    ahead = replace(endless, steps=(replace(load, lags={"load": 1, "go": 2}), replace(go, lags={"go": 1})))
    assert value(ahead, "m") is None
    assert value(replace(endless, steps=(go, load)), "m") is None


def test_the_time_of_a_step_holds_no_waiting_where_it_is_settled() -> None:
    """Alone, or in turn, a step begins as soon as it could; with others its time may hold waiting for the last item."""
    load, go = Step("load", task("load", 1.0, 0)), Step("go", task("go", 2.0, 2), ("load",))
    program = Program("p", (load, go), math.inf, measures=(Measure("m", "s", "time", "go"),))
    assert value(program, "m") == 2.0
    assert value(replace(program, steps=(load,), measures=(Measure("m", "s", "time", "load"),)), "m") == 1.0
    ahead = replace(load, lags={"load": 1, "go": 2})
    assert value(replace(program, steps=(ahead, go)), "m") is None
    # where it waits for the item before it, it finds what it needs free
    assert value(replace(program, steps=(ahead, replace(go, lags={"go": 1}))), "m") == 2.0
    # the end of one of many items is no end of the program
    assert value(replace(program, measures=(Measure("m", "s", "end", "go"),)), "m") is None
    assert value(replace(program, times=1, measures=(Measure("m", "s", "period", "go"),)), "m") is None


def test_the_longest_path_counts_what_is_done_on_it_once() -> None:
    """1 s, then 2 s and 5 s at the same time, then 3 s: 9 s; the shorter path ends after 3 s."""
    tasks = {
        name: task(name, time, 2 * k) for k, (name, time) in enumerate(zip("abcd", (1.0, 2.0, 5.0, 3.0), strict=True))
    }
    steps = (
        Step("a", tasks["a"]),
        Step("b", tasks["b"], ("a",)),
        Step("c", tasks["c"], ("a",)),
        Step("d", tasks["d"], ("b", "c")),
    )
    assert ended(*steps) == 9.0
    assert ended(*steps, step="b") == 3.0


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Programs whose steps take parts of their own, done once or for ever, with buffers between them."""
    count = draw(st.integers(1, 5))
    endless = draw(st.booleans())
    names = [f"s{k}" for k in range(count)]
    steps: list[Step] = []
    for k, name in enumerate(names):
        after = tuple(sorted(draw(st.sets(st.sampled_from(names[:k]))))) if k else ()
        lags = {name: 1} if endless else {}
        if endless and draw(st.booleans()):
            lags |= {draw(st.sampled_from(names)): draw(st.integers(1, 3))}
            lags[name] = 1
        steps.append(Step(name, task(name, draw(st.integers(1, 9)), 2 * k), after, lags))
    last = names[-1]
    measure = Measure("m", "s", "period" if endless else "end", last)
    return Program("p", tuple(steps), math.inf if endless else 1, measures=(measure,))


@settings(deadline=None, max_examples=40)
@given(programs())
def test_settled_is_what_the_clock_says(program: Program):
    found = value(program, "m")
    assert found is not None
    last = program.steps[-1].name
    if math.isinf(program.times):
        # long enough for buffers to fill; patterns repeat after 1, 2, 3 or 6 items
        ends = play(prices(), [job_of(replace(program, times=400))]).ends("p", last)
        assert found == pytest.approx((ends[-1] - ends[-121]) / 120, rel=1e-9)
    else:
        assert found == pytest.approx(play(prices(), [job_of(program)]).ends("p", last)[0], rel=1e-9)


def test_an_answer_that_is_settled_runs_only_where_somebody_looks():
    cost = alone(2.0, low=0.5, high=1.5, group="g", time=Term("steps", 2.0, "g"))
    program = Program("p", (Step("a", Priced(cost)),), math.inf, measures=(Measure("step_time", "s", "period", "a"),))
    found = answer(prices(), job_of(program))
    estimate = found.metrics["step_time"]
    assert (estimate.value, estimate.low, estimate.high) == (2.0, 1.0, 3.0)
    assert isinstance(cost, Cost)
    assert found.run.ends("p", "a")[0] == 2.0
    assert found.run is found.run


# Why a run takes as long as it does, worked by hand; and what more capacity does.


def priced() -> Prices:
    return Prices(build_network(designer.open_design("hgx-h100-8")))


def on(table: Prices, *resources: int, seconds: float = 1.0, group: str = "") -> Cost:
    """Work that fills some resources for `seconds` if it is alone on them."""
    uses = {r: table.table.capacity[r] for r in resources}
    found = alone(seconds, uses=uses, group=group)
    return Cost(
        found.ptr,
        found.resource,
        found.usage,
        found.amount,
        found.cap * math.inf,
        found.weight,
        found.latency,
        found.engine,
        found.low,
        found.high,
        group,
    )


def test_shares_of_the_critical_path_and_gains_by_hand():
    """2 s of computing, then 3 s on a link: 5 s. Twice the link: 2 + 1.5 s, a gain of 5 / 3.5; computing comes next."""
    table = priced()
    link = 0
    steps = (
        Step("compute", Compute("gpu0", 2.0)),
        Step("copy", Priced(on(table, link, seconds=3.0)), ("compute",)),
        Step("beside", Priced(on(table, 2, seconds=1.0))),
    )
    job = job_of(Program("p", steps))

    def measure(changes: Changes) -> tuple[Run, float]:
        run = play(table, [job], changes=changes)
        return run, run.end

    why = explain(measure)
    assert why.value == pytest.approx(5.0)
    assert held(measure(Changes())[0]) == {(link,): pytest.approx(3.0), (pace("compute:gpu0"),): 2.0}
    # computing gains 5 / 4, more than half of what the link does
    assert [(one.tie, one.gain) for one in why.binding] == [
        ((link,), pytest.approx(5 / 3.5)),
        ((pace("compute:gpu0"),), pytest.approx(5 / 4)),
    ]
    assert [one.share for one in why.binding] == pytest.approx([0.6, 0.4])


def test_a_tied_set_gains_only_together():
    """One work that fills two links at once: either alone twice as wide gains nothing, both together 2."""
    table = priced()
    job = job_of(Program("p", (Step("copy", Priced(on(table, 0, 2, seconds=4.0))),)))

    def measure(changes: Changes) -> tuple[Run, float]:
        run = play(table, [job], changes=changes)
        return run, run.end

    why = explain(measure)
    (binds,) = why.binding
    assert binds.tie == (0, 2)
    assert binds.alone == pytest.approx((1.0, 1.0))
    assert binds.gain == pytest.approx(2.0)


def test_waiting_for_an_engine_counts_for_it():
    """Two computations of 1 s on one GPU: the second waits 1 s, then computes 1 s."""
    table = priced()
    steps = (Step("a", Compute("gpu0", 1.0)), Step("b", Compute("gpu0", 1.0)))
    run = play(table, [job_of(Program("p", steps))])
    engine = next(iter(table.table.slots))
    assert held(run) == {(engine,): pytest.approx(1.0), (pace("compute:gpu0"),): pytest.approx(1.0)}


def test_bands_are_the_ends_of_each_estimate_added_in_squares():
    """4 s that may be 3 or 8, then 2 s that may be 1 or 5: 6 s, from 6 − √(1² + 1²) to 6 + √(4² + 3²) = 11 s."""
    table = priced()
    steps = (
        Step("a", Priced(alone(4.0, low=0.75, high=2.0, group="first"))),
        Step("b", Priced(alone(2.0, low=0.5, high=2.5, group="second")), ("a",)),
    )
    program = Program("p", steps, measures=(Measure("transfer_time", "s", "end", "b"),))
    found = answer(table, job_of(program)).metrics["transfer_time"]
    assert found.value == pytest.approx(6.0)
    assert found.low == pytest.approx(6 - math.sqrt(2))
    assert found.high == pytest.approx(11.0)


def test_what_binds_a_copy_is_what_analyze_says():
    design = designer.open_design("dgx2")
    table = Prices(build_network(design))
    program = Program(
        "h2d",
        (Step("move", Move("memory", "gpus", 1e9)),),
        measures=(Measure("transfer_time", "s", "end", "move"),),
    )
    found = answer(table, job_of(program))
    closed = designer.analyze(design, ["h2d"]).workloads[0]
    binding, _ = found.bottlenecks(program)
    assert {bottleneck.what for bottleneck in binding} == {bottleneck.what for bottleneck in closed.binding}
    assert binding[0].gain_together == pytest.approx(closed.binding[0].gain_together, rel=0.01)


class Once:
    def __init__(self, works: list[Work], then: dict[Work, Work] | None = None) -> None:
        self.works, self.then = works, then or {}

    def start(self, now: float) -> list[Work]:
        return self.works

    def finished(self, work: Work, now: float) -> list[Work]:
        return [self.then[work]] if work in self.then else []


@given(
    st.lists(st.floats(0.5, 10), min_size=3, max_size=3),
    st.lists(st.tuples(st.floats(0.1, 9), st.sets(st.integers(0, 2), min_size=1)), min_size=1, max_size=12),
    st.floats(1.1, 8),
)
def test_all_capacities_wider_is_as_much_faster(
    capacity: list[float], flows: list[tuple[float, set[int]]], times: float
):
    """Proven for all: rates of a max-min problem without caps scale with its capacities."""
    ends: list[list[float]] = []
    for factor in (1.0, times):
        works = [Work(amount, Shape((r, 1.0) for r in used)) for amount, used in flows]
        clock = Clock([c * factor for c in capacity])
        clock.add(Once(works))
        clock.run()
        ends.append([work.ended for work in works])
    assert [end * times for end in ends[1]] == pytest.approx(ends[0], rel=1e-9)


def test_more_capacity_can_be_slower():
    """A goes over links 1 and 2, B over link 2 of 2 units a second, and 10 s of computing follow B's 3 units.

    With 0.5 on link 1, A gets 0.5 and B the rest, 1.5: B ends after 2 s, all after 12 s. With 2 on link 1 A takes its
    fair half of link 2: B gets 1 and ends after 3 s, all after 13 s. Fair sharing does not know who is waited for.
    """
    for narrow, end in ((0.5, 12.0), (2.0, 13.0)):
        a, b = Work(4.0, Shape([(0, 1.0), (1, 1.0)])), Work(3.0, Shape([(1, 1.0)]))
        clock = Clock([narrow, 2.0])
        clock.add(Once([a, b], {b: Work(10.0, Shape(cap=1.0))}))
        assert clock.run() == pytest.approx(end, rel=1e-12)
