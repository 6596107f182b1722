"""Programs settled in closed form come to what the clock says."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import designer
from designer.analysis.clock.jobs import job_of
from designer.analysis.clock.player import play
from designer.analysis.costs import Cost, Priced, Prices
from designer.analysis.costs.pricing import alone
from designer.analysis.expression import Term, seconds
from designer.analysis.measures import answer
from designer.analysis.network import build_network
from designer.analysis.settled import settled
from designer.workload.program import Arrivals, Measure, Program, Step, Task


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
