"""Why a run takes as long as it does, worked by hand; and what more capacity does."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import designer
from designer.engine.clock.engine import Clock
from designer.engine.clock.jobs import Changes, job_of
from designer.engine.clock.measures import answer
from designer.engine.clock.player import play
from designer.engine.clock.run import Run
from designer.engine.clock.why import explain, held
from designer.engine.clock.work import Shape, Work
from designer.engine.costs import Cost, Priced, Prices
from designer.engine.costs.pricing import alone, pace
from designer.engine.network import build_network
from designer.workload.program import Compute, Measure, Move, Program, Step


def prices() -> Prices:
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
    table = prices()
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
    table = prices()
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
    table = prices()
    steps = (Step("a", Compute("gpu0", 1.0)), Step("b", Compute("gpu0", 1.0)))
    run = play(table, [job_of(Program("p", steps))])
    engine = next(iter(table.table.slots))
    assert held(run) == {(engine,): pytest.approx(1.0), (pace("compute:gpu0"),): pytest.approx(1.0)}


def test_bands_are_the_ends_of_each_estimate_added_in_squares():
    """4 s that may be 3 or 8, then 2 s that may be 1 or 5: 6 s, from 6 − √(1² + 1²) to 6 + √(4² + 3²) = 11 s."""
    table = prices()
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
