"""The scheduler of an engine step by step, of one group and of several."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import AnalysisError, Cancelled
from designer.families.serving.engine_state import Book, EngineState, Requests
from designer.families.serving.engines import ENGINES, release
from designer.families.serving.formulas._release import Scheduling
from designer.families.serving.records import ServingRun, streamed
from designer.families.serving.scheduler import groups_at_work, lanes_of, run_requests

# The scheduler: what goes in comes out, jumps change nothing, and where it is a queue it is that queue.

ROOMY = 500_000


@dataclass(frozen=True)
class Line:
    """Steps whose length is a straight line of what is in them."""

    base: float = 5e-3
    each: float = 2e-5
    cached: float = 3e-8
    token: float = 2e-5
    pair: float = 1e-10

    def decode(self, requests: int) -> float:
        return self.base + self.each * requests

    def context(self) -> float:
        return self.cached

    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float:
        return self.base + self.token * tokens + self.pair * area + self.each * requests + self.cached * context


def lengths(count: int, prompt: int, output: int, seed: int = 0) -> tuple[list[int], list[int]]:
    draw = random.Random(seed)
    return (
        [draw.randint(int(0.8 * prompt), prompt) for _ in range(count)],
        [draw.randint(max(1, int(0.8 * output)), output) for _ in range(count)],
    )


def how(engine: str = "vllm", **changes: object) -> Scheduling:
    return replace(release(engine).release.scheduling, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("clients", [1, 7, 64])
def test_tokens_are_conserved_and_jumps_change_nothing(engine: str, clients: int) -> None:
    prompt, output = lengths(6 * clients, 2000, 300)
    requests = Requests(prompt, output, clients=clients)
    run = run_requests(Line(), requests, how(engine), ROOMY)
    slow = run_requests(Line(), requests, how(engine), ROOMY, jump=False)
    assert run.counts.tokens_in == sum(prompt)
    assert run.counts.tokens_out == sum(output)
    assert run.counts.steps == slow.counts.steps
    assert run.served.all()
    np.testing.assert_allclose(run.first, slow.first, rtol=1e-9)
    np.testing.assert_allclose(run.done, slow.done, rtol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_keys_and_values_never_exceed_their_room_and_preempted_requests_say_everything(engine: str) -> None:
    prompt, output = lengths(300, 1500, 900)
    run = run_requests(Line(), Requests(prompt, output, clients=64), how(engine), 40_000)
    assert run.counts.kv_peak <= 40_000
    assert run.turns[:, 5].max() <= 40_000
    assert run.served.all()
    assert run.counts.tokens_out == sum(output)
    if engine == "tensorrt-llm":
        assert run.counts.preempted == 0
    if run.counts.preempted:
        assert run.counts.tokens_in > sum(prompt)


@given(
    st.lists(st.tuples(st.integers(1, 3000), st.integers(1, 400)), min_size=1, max_size=40),
    st.integers(1, 20),
    st.sampled_from(ENGINES),
    st.integers(500, 9000),
)
def test_every_request_is_answered_or_refused(
    pairs: list[tuple[int, int]], clients: int, engine: str, room: int
) -> None:
    prompt, output = [p for p, _ in pairs], [o for _, o in pairs]
    run = run_requests(Line(), Requests(prompt, output, clients=clients), how(engine, budget=2048), room)
    block = how(engine).block
    fits = np.array([-(-(p + o) // block) * block <= room for p, o in pairs])
    assert (run.served == fits).all()
    assert run.counts.tokens_out == sum(o for o, fit in zip(output, fits, strict=True) if fit)
    assert run.counts.kv_peak <= room
    assert (run.first[fits] <= run.done[fits]).all()
    assert (run.sent[fits] < run.first[fits]).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_little_in_a_closed_loop(engine: str) -> None:
    clients = 32
    prompt, output = lengths(40 * clients, 1024, 256)
    run = run_requests(Line(), Requests(prompt, output, clients=clients), how(engine), ROOMY)
    begin, end = 0.2 * run.end, 0.8 * run.end
    stays = np.minimum(run.done, end) - np.maximum(run.sent, begin)
    assert np.maximum(stays[run.served], 0.0).sum() / (end - begin) == pytest.approx(clients, rel=1e-9)


def _poisson(rate: float, count: int, seed: int) -> list[float]:
    draw = random.Random(seed)
    at, now = [], 0.0
    for _ in range(count):
        now += draw.expovariate(rate)
        at.append(now)
    return at


@pytest.mark.parametrize("output", [1, 40])
@pytest.mark.parametrize("load", [0.3, 0.7])
def test_one_slot_is_the_queue_of_lindley_and_of_m_d_1(output: int, load: float) -> None:
    one = how(slots=1)
    count = 40_000
    service = float(run_requests(Line(), Requests([1000], [output], [0.0]), one, ROOMY).latency[0])
    at = _poisson(load / service, count, 5)
    run = run_requests(Line(), Requests([1000] * count, [output] * count, at), one, ROOMY)
    free, waits = 0.0, []
    for arrival in at:
        begin = max(free, arrival)
        waits.append(begin - arrival)
        free = begin + service
    np.testing.assert_allclose(run.latency - service, waits, rtol=1e-6, atol=1e-9)
    # mean wait of M/D/1: load x service / (2 (1 - load)); correlated, so its error comes from parts of the run
    means = np.array([part.mean() for part in np.array_split(run.latency - service, 20)])
    error = means.std(ddof=1) / math.sqrt(len(means))
    assert abs(means.mean() - load * service / (2 * (1 - load))) < 3 * error


def test_slots_that_do_not_disturb_each_other_are_m_m_c() -> None:
    """Steps of one length whoever runs: c slots are c servers; exponential outputs of mean 100 steps."""

    class Even(Line):
        def decode(self, requests: int) -> float:
            return 1e-3

        def context(self) -> float:
            return 0.0

        def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float:
            return 1e-3

    servers, count, mean = 4, 30_000, 200.0
    draw = random.Random(3)
    output = [max(1, round(draw.expovariate(1 / mean))) for _ in range(count)]
    service = 1e-3 * sum(output) / count
    load = 0.8
    at = _poisson(load * servers / service, count, 7)
    run = run_requests(Even(), Requests([10] * count, output, at), how(slots=servers), ROOMY)
    own = run.latency - 1e-3 * np.array(output)
    offered = load * servers
    blocked = offered**servers / math.factorial(servers) / (1 - load)
    erlang = blocked / (sum(offered**k / math.factorial(k) for k in range(servers)) + blocked)
    expected = erlang * service / (servers * (1 - load))
    parts = np.array([part.mean() for part in np.array_split(own, 20)])
    # an arrival waits for the end of the step under way: half a step in the mean, at most one
    assert abs(parts.mean() - expected) < 3 * parts.std(ddof=1) / math.sqrt(len(parts)) + 1e-3


def test_prefixes_that_are_cached_are_not_computed_again() -> None:
    requests = Requests([1000] * 20, [10] * 20, clients=2)
    found = Requests([1000] * 20, [10] * 20, clients=2, cached=[600] * 20)
    whole, part = (run_requests(Line(), r, how(), ROOMY) for r in (requests, found))
    assert whole.counts.tokens_in - part.counts.tokens_in == 20 * 600
    assert part.ttft.mean() < whole.ttft.mean()


def test_the_same_run_twice_is_the_same() -> None:
    prompt, output = lengths(300, 4000, 100)
    runs = [run_requests(Line(), Requests(prompt, output, clients=16), how(), ROOMY) for _ in range(2)]
    assert (runs[0].done == runs[1].done).all()


def test_gaps_are_the_steps_that_were_taken() -> None:
    prompt, output = lengths(60, 500, 200)
    run: ServingRun = run_requests(Line(), Requests(prompt, output, clients=6), how(), ROOMY)
    gaps, weights = run.gaps()
    # every token but the first of a request follows one gap
    assert weights.sum() == pytest.approx(sum(output) - len(output))
    assert (gaps * weights).sum() == pytest.approx((run.done - run.first).sum(), rel=1e-3)


def test_bad_requests_are_refused_in_words() -> None:
    with pytest.raises(AnalysisError, match="no prompt or no output"):
        Requests([0], [1], [0.0])
    with pytest.raises(AnalysisError, match="lack a length or a time"):
        Requests([1, 2], [1], clients=1)


def test_a_run_can_be_stopped() -> None:
    prompt, output = lengths(20_000, 200, 20)
    with pytest.raises(Cancelled):
        run_requests(Line(), Requests(prompt, output, clients=50), how(), ROOMY, cancelled=lambda: True)


@pytest.mark.parametrize(
    ("block", "at_once"),
    # 17 + 2 tokens: 64 have room for three prompts, but of blocks of 16 each takes two
    [(1, 3), (16, 2)],
)
def test_whole_blocks_are_taken(block: int, at_once: int) -> None:
    sent = Requests([17] * 6, [2] * 6, [0.0] * 6)
    run = run_requests(Line(), sent, how("vllm", block=block), 64)
    assert np.unique(run.first, return_counts=True)[1].tolist()[0] == at_once
    assert run.served.all()
    assert run.counts.kv_peak <= 64


@pytest.mark.parametrize(("block", "served"), [(1, True), (16, False)])
def test_a_request_that_only_begins_a_block_takes_all_of_it(block: int, served: bool) -> None:
    """33 + 1 tokens are three blocks of 16, which 40 tokens of room do not have."""
    run = run_requests(Line(), Requests([33], [1], [0.0]), how("vllm", block=block), 40)
    assert run.served.tolist() == [served]


def test_a_release_that_is_not_known_takes_a_request_as_releases_that_schedule_as_it_does() -> None:
    """11.7 and 11.1 us where the next step is scheduled meanwhile, as from 0.14 on, 45.6 and 36.3 us before."""
    request = {
        name: release("vllm", name).release.overheads.request for name in ("", "0.11", "0.13.2", "0.14", "0.20.1")
    }
    assert request["0.14"] == request["0.20.1"] == pytest.approx((11.7e-6 * 11.1e-6) ** 0.5)
    assert request["0.11"] == request["0.13.2"] == pytest.approx((45.6e-6 * 36.3e-6) ** 0.5)
    assert request["0.11"] > request[""] > request["0.14"]
    assert release("vllm", "0.18.0").release.overheads.request == pytest.approx(11.1e-6)
    # where no release is marked the name makes no difference
    assert release("sglang", "0.9").release.overheads == release("sglang", "").release.overheads


# Groups of attention with a scheduler each: what a step of uneven groups takes, and where requests go.


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
