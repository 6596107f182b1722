"""The clock: events, their order, and the budget of events."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis import simulation
from designer.engine.clock import engine
from designer.engine.clock.engine import Clock, allocate
from designer.engine.clock.run import Run
from designer.engine.clock.work import Shape, Work
from designer.errors import AnalysisError, Cancelled
from designer.interchange.templates import open_design

# The clock against cases worked by hand, queueing theory and invariants.


class Graph:
    """Works with what each waits for."""

    def __init__(self, works: list[Work], after: list[list[int]]) -> None:
        self.works, self.after = works, after

    def start(self, now: float) -> Iterable[Work]:
        self.waiting = [len(a) for a in self.after]
        self.next: list[list[int]] = [[] for _ in self.works]
        for i, before in enumerate(self.after):
            for j in before:
                self.next[j].append(i)
        self.index = {work: i for i, work in enumerate(self.works)}
        return [work for i, work in enumerate(self.works) if not self.after[i]]

    def finished(self, work: Work, now: float) -> Iterable[Work]:
        found = []
        for j in self.next[self.index[work]]:
            self.waiting[j] -= 1
            if not self.waiting[j]:
                found.append(self.works[j])
        return found


def test_two_flows_share_a_link():
    """10 GB alone for 0.5 s: 5 GB left; then 5 GB/s each: the first ends 1 s later, the second has 5 GB left for
    0.5 s alone."""
    line = Shape([(0, 1.0)])
    first, second = Work(10.0, line), Work(10.0, line)
    clock = Clock([10.0])
    clock.add(Graph([first], [[]]))
    clock.add(Graph([second], [[]]), 0.5)
    clock.run()
    assert first.ended == pytest.approx(1.5, rel=1e-12)
    assert second.ended == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize(("p", "m", "f", "b"), [(4, 8, 1.0, 2.0), (2, 1, 1.0, 1.0), (8, 3, 0.7, 1.9)])
def test_pipeline_with_all_forwards_first(p: int, m: int, f: float, b: float):
    """(m + p − 1)(f + b): the last stage begins after p − 1 forwards, works m(f + b), and p − 1 backwards follow."""
    works, after, index = [], [], {}

    def put(key: tuple[str, int, int], seconds: float, before: list[tuple[str, int, int]]) -> None:
        index[key] = len(works)
        works.append(Work(seconds, Shape(cap=1.0, engine=key[1])))
        after.append([index[x] for x in before if x in index])

    for k in range(m):
        for s in range(p):
            put(("f", s, k), f, [("f", s - 1, k), ("f", s, k - 1)])
    for k in range(m):
        for s in reversed(range(p)):
            put(("b", s, k), b, [("f", s, m - 1), ("b", s + 1, k), ("b", s, k - 1)])
    clock = Clock([1.0] * p, dict.fromkeys(range(p), 1))
    clock.add(Graph(works, after))
    assert clock.run() == pytest.approx((m + p - 1) * (f + b), rel=1e-12)
    bubble = clock.now / (m * (f + b)) - 1
    assert bubble == pytest.approx((p - 1) / m, rel=1e-9)


class Turns:
    """Works one after the other, made as they are needed."""

    def __init__(self, make: Callable[[int], Work | None]) -> None:
        self.make, self.count, self.ends = make, 0, list[float]()

    def start(self, now: float) -> Iterable[Work]:
        return self._next()

    def finished(self, work: Work, now: float) -> Iterable[Work]:
        self.ends.append(now)
        return self._next()

    def _next(self) -> Iterable[Work]:
        work = self.make(self.count)
        self.count += 1
        return [work] if work is not None else []


@pytest.mark.parametrize(("shift", "period"), [(0.0, 3.0), (1.0, 2.0)])
def test_two_periodic_jobs_on_one_link(shift: float, period: float):
    """1 s of computing, then 1 s alone on the link. Together they share it: 2 s each, a period of 3 s, and stay so.
    A second apart they never meet: 2 s."""
    own, link = Shape(cap=1.0), Shape([(0, 1.0)])
    jobs = [Turns(lambda k: Work(1.0, (own, link)[k % 2]) if k < 80 else None) for _ in range(2)]
    clock = Clock([1.0])
    clock.add(jobs[0])
    clock.add(jobs[1], shift)
    clock.run()
    for job in jobs:
        assert job.ends[61] - job.ends[59] == pytest.approx(period, rel=1e-9)


def test_precopy_rounds():
    """16 GB at 1 GB/s, 0.25 GB/s dirtied, switch-over at 0.3 GB: rounds of 16, 4 and 1 s, then 0.25 s."""
    net = Shape([(0, 1.0)])

    class Precopy:
        end = 0.0

        def start(self, now: float) -> Iterable[Work]:
            self.at = now
            return [Work(16.0, net)]

        def finished(self, work: Work, now: float) -> Iterable[Work]:
            if work.ticket == "last":
                self.end = now
                return []
            dirtied, self.at = (now - self.at) * 0.25, now
            return [Work(dirtied, net, ticket="last" if dirtied <= 0.3 else None)]

    guest, clock = Precopy(), Clock([1.0])
    clock.add(guest)
    clock.run()
    assert guest.end == pytest.approx(16 + 4 + 1 + 0.25, rel=1e-12)


class Customers:
    """Customers of one engine: arrivals as delays, services as works on the engine."""

    def __init__(self, arrivals: list[float], services: list[float]) -> None:
        self.arrivals, self.services = arrivals, services
        self.server = Shape(cap=1.0, engine=0)
        self.nothing = Shape()
        self.done: list[float] = [0.0] * len(arrivals)

    def start(self, now: float) -> Iterable[Work]:
        return [Work(0.0, self.nothing, delay=self.arrivals[0], ticket=("arrives", 0))]

    def finished(self, work: Work, now: float) -> Iterable[Work]:
        what, k = work.ticket
        if what == "served":
            self.done[k] = now
            return []
        found = [Work(self.services[k], self.server, ticket=("served", k))]
        if k + 1 < len(self.arrivals):
            found.append(Work(0.0, self.nothing, delay=max(0.0, self.arrivals[k + 1] - now), ticket=("arrives", k + 1)))
        return found


def poisson(rate: float, n: int, seed: int) -> list[float]:
    drawn, now, found = random.Random(seed), 0.0, []
    for _ in range(n):
        now += drawn.expovariate(rate)
        found.append(now)
    return found


def test_queue_equals_the_lindley_recursion_and_the_m_d_1_mean():
    n = 20_000
    arrivals = poisson(0.8, n, seed=1)
    queue = Customers(arrivals, [1.0] * n)
    clock = Clock([1.0], {0: 1}, record=False)
    clock.add(queue)
    clock.run()
    free, waits = 0.0, []
    for k, at in enumerate(arrivals):
        free = max(free, at) + 1.0
        assert abs(queue.done[k] - free) < 1e-9
        waits.append(free - at - 1.0)
    # Pollaczek–Khinchine for fixed service: rho / (2 (1 − rho)) = 2 s; the error from batches of 500 customers
    expected = 0.8 / (2 * (1 - 0.8))
    batches = [sum(waits[k : k + 500]) / 500 for k in range(0, n, 500)]
    mean = sum(batches) / len(batches)
    error = math.sqrt(sum((b - mean) ** 2 for b in batches) / (len(batches) - 1) / len(batches))
    assert abs(mean - expected) < 3 * error


def test_queue_of_several_servers_equals_erlang_c():
    """M/M/3 at 0.8: the mean wait is C(3, 2.4) / (c mu − lambda)."""
    c, n = 3, 20_000
    arrivals, drawn = poisson(0.8 * c, n, seed=2), random.Random(3)
    services = [drawn.expovariate(1.0) for _ in range(n)]
    queue = Customers(arrivals, services)
    clock = Clock([1.0], {0: c}, record=False)
    clock.add(queue)
    clock.run()
    load = 0.8 * c
    last = load**c / math.factorial(c) / (1 - load / c)
    wait = last / (sum(load**k / math.factorial(k) for k in range(c)) + last) / (c - load)
    waits = [queue.done[k] - arrivals[k] - services[k] for k in range(n)]
    batches = [sum(waits[k : k + 1000]) / 1000 for k in range(0, n, 1000)]
    mean = sum(batches) / len(batches)
    error = math.sqrt(sum((b - mean) ** 2 for b in batches) / (len(batches) - 1) / len(batches))
    assert abs(mean - wait) < 3 * error


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[float], list[Work], list[list[int]]]:
    n_resources = draw(st.integers(1, 6))
    capacity = draw(st.lists(st.floats(0.5, 10), min_size=n_resources, max_size=n_resources))
    n = draw(st.integers(1, 24))
    works, after = [], []
    for i in range(n):
        used = draw(st.lists(st.integers(0, n_resources - 1), min_size=1, max_size=4, unique=True))
        uses = [(r, draw(st.floats(0.2, 2))) for r in used]
        shape = Shape(uses, draw(st.sampled_from([1.0, 2.0, 5.0])), draw(st.sampled_from([math.inf, 1.0])))
        works.append(Work(draw(st.floats(0.1, 9)), shape, delay=draw(st.sampled_from([0.0, 0.25]))))
        after.append(sorted(draw(st.sets(st.integers(0, i - 1), max_size=2))) if i else [])
    return capacity, works, after


@given(graphs())
def test_bytes_are_conserved_and_no_resource_carries_more_than_it_can(
    case: tuple[list[float], list[Work], list[list[int]]],
):
    capacity, works, after = case
    clock = Clock(capacity)
    clock.add(Graph(works, after))
    clock.run()
    need = [0.0] * len(capacity)
    for work in works:
        moved = sum(
            rate * (then - at)
            for (at, rate, _), (then, _, _) in zip(work.log, [*work.log[1:], (work.ended, 0, ())], strict=True)
        )
        assert moved == pytest.approx(work.amount, rel=1e-9, abs=1e-9)
        for resource, usage in work.shape.uses:
            need[resource] += work.amount * usage
    assert clock.now >= max(n / c for n, c in zip(need, capacity, strict=True)) * (1 - 1e-9)
    instants = sorted({at for work in works for at, _, _ in work.log})
    for begin, end in itertools.pairwise(instants):
        middle = (begin + end) / 2
        load = [0.0] * len(capacity)
        for work in works:
            rate = next((rate for at, rate, _ in reversed(work.log) if at <= middle), 0.0)
            for resource, usage in work.shape.uses:
                load[resource] += rate * usage
        assert all(value <= most * (1 + 1e-9) for value, most in zip(load, capacity, strict=True))


def test_many_works_take_the_vectorised_way_and_agree():
    """60 works on 7 resources at once, against the scalar filling of the same."""
    from designer.engine.clock import engine

    drawn = random.Random(4)
    capacity = [drawn.uniform(1, 10) for _ in range(7)]
    works = [
        Work(1.0, Shape([(r, drawn.uniform(0.2, 2)) for r in drawn.sample(range(7), 3)], drawn.choice([1.0, 2.0])))
        for _ in range(60)
    ]
    quick, plain = engine._solve(works, capacity), engine._fill(works, capacity)
    for (a, held), (b, _) in zip(quick, plain, strict=True):
        assert a == pytest.approx(b, rel=1e-9)
        assert held


def test_a_failed_resource_stops_its_works_until_it_is_mended():
    """4 units at 1/s; nothing from 1 s to 3 s: ends at 6 s."""
    work, clock = Work(4.0, Shape([(0, 1.0)])), Clock([1.0])
    clock.add(Graph([work], [[]]))
    clock.set_capacity(1.0, 0, 0.0)
    clock.set_capacity(3.0, 0, 1.0)
    clock.run()
    assert work.ended == pytest.approx(6.0, rel=1e-12)


def test_what_can_never_proceed_is_waiting_when_nothing_more_happens():
    work, clock = Work(4.0, Shape([(0, 1.0)])), Clock([0.0])
    clock.add(Graph([work], [[]]))
    clock.run()
    assert clock.waiting() == [work]
    assert math.isnan(work.ended)


def test_priority_goes_before_time_in_a_queue():
    shape = Shape(cap=1.0, engine=0)
    works = [Work(1.0, shape), Work(1.0, shape, priority=5), Work(1.0, shape, priority=1)]
    clock = Clock([1.0], {0: 1})
    clock.add(Graph(works, [[], [], []]))
    clock.run()
    assert [work.ended for work in works] == [1.0, 3.0, 2.0]


def test_an_endless_loop_that_takes_no_time_is_reported():
    clock = Clock([1.0])
    clock.add(Turns(lambda k: Work(0.0, Shape())))
    with pytest.raises(AnalysisError, match="without end"):
        clock.run(1.0)


def test_it_can_be_cancelled():
    clock = Clock([1.0], cancelled=lambda: True)
    clock.add(Turns(lambda k: Work(1.0, Shape([(0, 1.0)]))))
    with pytest.raises(Cancelled):
        clock.run()


@pytest.mark.parametrize("capacity", [-1.0, math.nan])
def test_a_capacity_below_zero_is_refused(capacity: float):
    with pytest.raises(AnalysisError):
        Clock([capacity])


def test_a_stream_goes_on_when_others_end():
    """A stream on 2 units a second: half while 3 units go next to it for 3 s, all after that."""
    stream, other = Work(math.inf, Shape([(0, 1.0)])), Work(3.0, Shape([(0, 1.0)]))
    clock = Clock([2.0])
    clock.add(Graph([stream, other], [[], []]))
    assert clock.run(10.0) == 10.0
    assert other.ended == pytest.approx(3.0)
    assert math.isnan(stream.ended)
    assert [(at, rate) for at, rate, _ in stream.log] == [(0.0, 1.0), (pytest.approx(3.0), 2.0)]


def test_rates_that_meet_again_are_kept_and_only_the_oldest_make_room(monkeypatch: pytest.MonkeyPatch):
    """Room for three pairs: one meets in every of 40 turns and is solved once, next to it one that is never seen again.

    1 + 40 solves of pairs; were all forgotten when there is no more room, the first would be solved again and again.
    """
    solved: list[int] = []

    def counting(works: list[Work], capacity: list[float]):
        solved.append(len(works))
        return allocate(works, capacity)

    monkeypatch.setattr(engine, "KEPT_LIMIT", 3)
    monkeypatch.setattr(engine, "allocate", counting)
    often = (Shape([(0, 1.0)]), Shape([(0, 1.0)], cap=0.25))
    clock = Clock([1.0] * 2)
    for turn in range(40):
        once = (Shape([(1, 1.0)]), Shape([(1, 1.0)], cap=0.25))
        for pair in (often, once):
            clock.add(Graph([Work(0.1, pair[0]), Work(0.1, pair[1])], [[], []]), float(turn))
    clock.run()
    assert solved.count(2) == 1 + 40


# A run asked to go on for years ends, says how far it came, and its bands are of what was looked at.


def asked(monkeypatch: pytest.MonkeyPatch, until: float, bands: bool = True) -> tuple[simulation.Simulation, list[Run]]:
    """A training of one server with a small budget of events, and all runs it took."""
    runs: list[Run] = []
    play = simulation.play

    def counted(*given: Any, **named: Any) -> Run:
        runs.append(play(*given, **named))
        return runs[-1]

    monkeypatch.setattr(simulation, "EVENTS_LIMIT", 4_200)
    monkeypatch.setattr(simulation, "_PROBE_LIMIT", 200)
    monkeypatch.setattr(simulation, "play", counted)
    return simulation.simulate(open_design("hgx-h100-8"), "resnet-50", until=until, bands=bands), runs


def test_years_end_after_a_budget_that_all_runs_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two edges of the step, three of what loading rests on, and the run: 4,200 events ÷ 6 runs are 700 each."""
    found, runs = asked(monkeypatch, 1e8)
    assert len(runs) == 1 + 6
    assert 700 <= found.run.events < 720
    assert sum(run.events for run in runs) < 2 * 4_200
    stated = [f for f in found.findings if f.code == "CLOCK-LONG"]
    assert len(stated) == 1
    assert "6 such runs" in stated[0].text
    assert "--no-bands" in stated[0].remedy
    # each edge is of the time that was looked at, so bands hold their values
    assert {run.end for run in runs[1:]} == {found.run.end}
    step = found.metrics["resnet-50"]["step_time"]
    assert 0 < step.low < step.value < step.high


def test_without_bands_one_run_has_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found, runs = asked(monkeypatch, 1e8, bands=False)
    assert len(runs) == 2
    assert 4_200 <= found.run.events < 4_220
    assert [f.remedy for f in found.findings if f.code == "CLOCK-LONG"] == ["simulate a shorter time"]


def test_what_ends_within_its_budget_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = asked(monkeypatch, 1.0)
    assert found.run.end == 1.0
    assert not found.run.cut
    assert not [f for f in found.findings if f.code == "CLOCK-LONG"]
