"""The clock against a simulator that knows no components, no classes and nothing it keeps: all of it, at each event."""

from __future__ import annotations

import math
import random

import pytest

from designer.engine.clock.engine import Clock
from designer.engine.clock.work import Shape, Work
from designer.engine.flows import Incidence, solve


def naive(capacity: list[float], works: list[Work], after: list[list[int]]) -> list[float]:
    """Ends of all works: every rate again at every event, by the certified solver."""
    left = [work.amount for work in works]
    ends, opens = [math.inf] * len(works), [math.inf] * len(works)
    for i, work in enumerate(works):
        if not after[i]:
            opens[i] = work.delay
    now = 0.0
    while any(math.isinf(end) for end in ends):
        active = [i for i in range(len(works)) if opens[i] <= now + 1e-12 and math.isinf(ends[i])]
        following = min(
            (at for i, at in enumerate(opens) if at > now + 1e-12 and math.isinf(ends[i])), default=math.inf
        )
        step = following - now
        rates: list[float] = []
        if active:
            rows = [list(works[i].shape.uses) for i in active]
            weight = [works[i].shape.weight for i in active]
            cap = [works[i].shape.cap for i in active]
            rates = solve(Incidence.from_rows(rows, capacity, weight, cap)).rate.tolist()
            step = min(step, *(left[i] / rate for i, rate in zip(active, rates, strict=True)))
        now += step
        for i, rate in zip(active, rates, strict=True):
            left[i] -= rate * step
            if left[i] <= 1e-10 * works[i].amount:
                ends[i] = now
        for i, before in enumerate(after):
            if before and math.isinf(opens[i]) and all(not math.isinf(ends[j]) for j in before):
                opens[i] = max(ends[j] for j in before) + works[i].delay
    return ends


class Graph:
    """Works with what each waits for."""

    def __init__(self, works: list[Work], after: list[list[int]]) -> None:
        self.works, self.after = works, after
        self.waiting = [len(before) for before in after]

    def start(self, now: float) -> list[Work]:
        return [work for work, before in zip(self.works, self.after, strict=True) if not before]

    def finished(self, work: Work, now: float) -> list[Work]:
        ended, found = self.works.index(work), []
        for i, before in enumerate(self.after):
            if ended in before:
                self.waiting[i] -= 1
                if not self.waiting[i]:
                    found.append(self.works[i])
        return found


@pytest.mark.parametrize("seed", range(10))
def test_two_hundred_random_programs_of_up_to_64_flows(seed: int):
    drawn = random.Random(seed)
    for _ in range(20):
        n_links = drawn.randint(2, 20)
        capacity = [drawn.uniform(1, 10) for _ in range(n_links)]
        n = drawn.randint(2, 64)
        shapes = [
            Shape(
                [(r, drawn.uniform(0.2, 2)) for r in drawn.sample(range(n_links), drawn.randint(1, min(4, n_links)))],
                drawn.choice([1.0, 1.0, 2.0]),
                drawn.choice([math.inf, math.inf, 0.8]),
            )
            for _ in range(max(1, n // 2))
        ]
        works = [
            Work(drawn.uniform(0.1, 9), drawn.choice(shapes), delay=drawn.choice([0.0, 0.0, drawn.uniform(0, 3)]))
            for _ in range(n)
        ]
        after = [sorted(drawn.sample(range(i), drawn.randint(0, min(2, i)))) if i % 3 else [] for i in range(n)]
        clock = Clock(capacity)
        clock.add(Graph(works, after))
        clock.run()
        assert [work.ended for work in works] == pytest.approx(naive(capacity, works, after), rel=1e-8)
