"""Groups of attention with a scheduler each: what a step of uneven groups takes, and where requests go."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from designer.families.serving.engine_state import Book, EngineState, Requests
from designer.families.serving.formulas._release import Scheduling
from designer.families.serving.records import ServingRun, streamed
from designer.families.serving.scheduler import groups_at_work, lanes_of, run_requests


class Counted:
    """Steps of groups: 1 us a token of the fullest, times groups, 1 us a token of experts, 1 ns a cached token."""

    def __init__(self, groups: int) -> None:
        self.groups = groups

    def decode(self, requests: int) -> float:
        return 1e-3 + 1e-6 * requests / self.groups + 1e-6 * requests

    def context(self) -> float:
        return 1e-9

    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float:
        return self.decode(tokens + requests) + 1e-9 * context + 1e-11 * area

    def uneven(self, full: int, tokens: int) -> float:
        return 1e-6 * (full - tokens)


HOW = Scheduling(2048, 64, True, True, 0.0, 0.9, 16)


def drawn(count: int, seed: int = 1, rate: float = 50.0) -> Requests:
    draw = random.Random(seed)
    at, now = [], 0.0
    for _ in range(count):
        now += draw.expovariate(rate)
        at.append(now)
    return Requests([draw.randint(50, 3000) for _ in range(count)], [draw.randint(1, 200) for _ in range(count)], at)


def in_groups(requests: Requests, how: Scheduling, groups: int, capacity: int = 400_000, **how_run: bool) -> ServingRun:
    return run_requests(Counted(groups), requests, how.of(groups), capacity, 0.01, **how_run)


@pytest.mark.parametrize("how", [HOW, replace(HOW, mixed=False, reserve=0.3), replace(HOW, chunked=False, reserve=1.0)])
@pytest.mark.parametrize("capacity", [400_000, 20_000])
def test_one_group_is_an_engine(how: Scheduling, capacity: int) -> None:
    requests = drawn(300)
    wanted = run_requests(Counted(1), requests, how, capacity, 0.01)
    book = Book(requests, 0.01)
    for _ in groups_at_work(Counted(1), book, how, capacity):
        raise AssertionError("it was held")
    found = streamed(book.run(capacity), how)
    for name in ("first", "done", "taken"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-9), name
    assert found.counts.tokens_out == wanted.counts.tokens_out
    assert found.counts.preempted == wanted.counts.preempted


def test_one_prompt_lasts_as_on_its_own_group_by_hand() -> None:
    """4 groups, a prompt of 1,000 tokens: 1 ms + 1,000 us of attention + 1,000 us of experts + .5e6 x 4 x .01 ns."""
    run = in_groups(Requests([1000], [1], [0.0]), HOW, 4)
    assert run.first[0] - 0.01 == pytest.approx(1e-3 + 1e-3 + 1e-3 + 4 * 0.5e6 * 1e-11)


def test_four_prompts_on_four_groups_share_a_step_and_five_do_not() -> None:
    """Budgets of 2,048 a group: four prompts of 2,000 are read in one step, a fifth waits for its group."""
    four, five = (in_groups(Requests([2000] * n, [1] * n, [0.0] * n), HOW, 4) for n in (4, 5))
    assert len(set(four.first.tolist())) == 1
    assert len({round(t, 9) for t in five.first.tolist()}) == 2
    # 1 ms + 2,000 us + 8,000 us of experts + what attention adds
    assert four.first[0] - 0.01 == pytest.approx(1e-3 + 2e-3 + 8e-3 + 4 * 2e6 * 1e-11)


def test_a_group_does_not_use_the_step_tokens_of_another() -> None:
    """A prompt of 4,096 tokens takes two steps of its group, however idle the others are."""
    run = in_groups(Requests([4096], [1], [0.0]), HOW, 4)
    assert run.counts.steps == 2


@pytest.mark.parametrize("groups", [2, 4, 8])
@pytest.mark.parametrize("mixed", [True, False])
def test_tokens_are_conserved_and_a_step_at_a_time_is_the_same(groups: int, mixed: bool) -> None:
    requests, how = drawn(200, rate=200.0), replace(HOW, mixed=mixed)
    run = in_groups(requests, how, groups)
    slow = in_groups(requests, how, groups, jump=False)
    assert run.served.all()
    assert run.counts.tokens_out == sum(requests.output)
    assert run.counts.tokens_in == sum(requests.prompt)
    assert run.counts.kv_peak <= 400_000
    assert slow.done == pytest.approx(run.done, rel=1e-6)


def test_groups_that_run_out_of_room_preempt_their_own() -> None:
    run = in_groups(drawn(200, rate=500.0), HOW, 4, capacity=4 * 8000)
    assert run.served.all()
    assert run.counts.preempted > 0


def test_uneven_groups_are_slower_than_even_ones() -> None:
    """The same requests in one pool: no step is shorter with groups of their own."""
    requests = drawn(400, rate=150.0)
    apart = in_groups(requests, HOW, 8)
    pooled = run_requests(Counted(8), requests, replace(HOW, budget=8 * 2048, slots=8 * 64), 400_000, 0.01)
    assert np.mean(apart.latency) > np.mean(pooled.latency)


def test_many_groups_are_run_as_few_that_stand_for_several() -> None:
    assert [lanes_of(n) for n in (1, 2, 7, 8, 16, 32, 72, 17, 144)] == [1, 2, 7, 8, 8, 8, 8, 1, 8]


def test_only_groups_that_change_are_brought_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight groups that decode together: each answer begins and ends once, however many steps the others take."""
    caught: list[int] = []
    spoke = EngineState.spoke

    def counted(lane: EngineState, k: int) -> None:
        caught.append(k)
        spoke(lane, k)

    monkeypatch.setattr(EngineState, "spoke", counted)
    requests = drawn(300)
    run = in_groups(requests, HOW, 8)
    assert run.served.all()
    # once when its prompt is read, by chunks of a step, and once when it ends
    chunks = sum(-(-prompt // (HOW.budget // 2)) for prompt in requests.prompt)
    assert len(caught) <= chunks + len(requests.prompt)
    assert run.counts.turns * 8 > 4 * len(caught)
