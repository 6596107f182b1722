"""Several tokens in a message: which wait, and for how long; when an answer is complete does not change."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.analysis.study import run_workload
from designer.engine.network import build_network
from designer.families.serving.engine_state import Requests
from designer.families.serving.engines import release
from designer.families.serving.records import ServingRun
from designer.families.serving.scheduler import run_requests
from designer.interchange.templates import open_design


@dataclass(frozen=True)
class Even:
    """Steps of 10 ms, and what a prompt adds."""

    cached: float = 0.0

    def decode(self, requests: int) -> float:
        return 0.01

    def context(self) -> float:
        return self.cached

    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float:
        return 0.01 + 1e-5 * tokens + self.cached * context


def run(engine: str, every: int, requests: Requests, room: int = 100_000, cached: float = 0.0) -> ServingRun:
    how = replace(release(engine).release.scheduling, stream_interval=every)
    return run_requests(Even(cached), requests, how, room)


ALONE = Requests([1000], [25], [0.0])


def test_vllm_sends_the_first_token_at_once_by_hand() -> None:
    """Tokens 1, 11, 21 and 25 end messages: 10, 10 and 4 steps of 10 ms; the prompt takes 10 + 1,000 x .01 ms."""
    found = run("vllm", 10, ALONE)
    assert found.first[0] == pytest.approx(0.02)
    np.testing.assert_allclose(found.gaps()[0], [0.1, 0.1, 0.04])
    assert found.tpot[0] == pytest.approx(0.01)


def test_sglang_holds_the_first_token_by_hand() -> None:
    """Tokens 10, 20 and 25 end messages: the first is 9 steps late, then 10 and 5 steps; 15 steps over 24 tokens."""
    found = run("sglang", 10, ALONE)
    assert found.first[0] == pytest.approx(0.02 + 0.09)
    np.testing.assert_allclose(found.gaps()[0], [0.1, 0.05])
    assert found.tpot[0] == pytest.approx(0.15 / 24)


def test_an_answer_shorter_than_a_message_comes_whole_where_the_first_is_held() -> None:
    found = run("sglang", 40, ALONE)
    assert found.first[0] == found.done[0]
    assert not len(found.gaps()[0])


def test_time_in_which_nothing_is_asked_lies_between_no_messages() -> None:
    found = run("vllm", 10, Requests([1000, 1000], [25, 25], [0.0, 50.0]))
    assert found.gaps()[0].max() == pytest.approx(0.1)


@given(
    st.lists(st.tuples(st.integers(1, 3000), st.integers(1, 200)), min_size=1, max_size=30),
    st.integers(2, 50),
    st.integers(1, 8),
    st.sampled_from(["vllm", "sglang", "tensorrt-llm"]),
    st.sampled_from([4000, 100_000]),
)
def test_messages_of_a_request_fill_the_time_from_its_first_to_its_last(
    pairs: list[tuple[int, int]], every: int, clients: int, engine: str, room: int
) -> None:
    """Preempted or not; nothing is answered earlier or later, and no first token is earlier."""
    asked = Requests([p for p, _ in pairs], [o for _, o in pairs], clients=clients)
    plain, found = run(engine, 1, asked, room, 1e-8), run(engine, every, asked, room, 1e-8)
    np.testing.assert_array_equal(plain.done, found.done)
    mine = found.served
    assert (found.first[mine] >= plain.first[mine]).all()
    assert (found.first[mine] <= found.done[mine]).all()
    if engine != "sglang":
        np.testing.assert_array_equal(plain.first, found.first)
    gaps, _ = found.gaps()
    assert (gaps >= 0).all()
    assert gaps.sum() == pytest.approx((found.done - found.first)[mine].sum(), abs=1e-9)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_the_setting_reaches_every_answer(engine: str) -> None:
    """Ten tokens at once: gaps about ten times as long; the first token late by nine steps where it is held."""
    design = open_design("serving-h100-8")
    spec = design.workloads["chat-70b"]
    network = build_network(design)

    def answer(every: int) -> dict[str, float]:
        settings = {**spec.settings, "engine": engine, "release": "", "storage": "", "count": 300, "rate": "1 1/s"}
        asked = spec.model_copy(update={"settings": {**settings, "stream_interval": every}})
        return {name: one.value for name, one in run_workload(network, asked, curves=False)[0].metrics.items()}

    one, ten = answer(1), answer(10)
    assert ten["itl_p50"] == pytest.approx(10 * one["itl_p50"], rel=0.25)
    assert ten["latency_p95"] == one["latency_p95"]
    assert ten["most_requests_per_second"] == one["most_requests_per_second"]
    late = ten["ttft"] - one["ttft"]
    assert late == (pytest.approx(9 * one["tpot"], rel=0.25) if engine == "sglang" else 0.0)


def test_a_stated_streaming_interval_narrows_the_band_but_for_servers_that_send_a_first_token_at_once() -> None:
    design = open_design("serving-h100-8")
    spec = design.workloads["chat-70b"]
    network = build_network(design)

    def high(engine: str, every: int) -> float:
        settings = {**spec.settings, "engine": engine, "release": "", "storage": "", "count": 300}
        settings["stream_interval"] = every
        found = run_workload(network, spec.model_copy(update={"settings": settings}), curves=False)[0]
        return found.metrics["ttft"].high

    assert high("sglang", 1) < 0.8 * high("sglang", 0)
    assert high("vllm", 1) == high("vllm", 0)


def test_answers_of_one_message_take_no_time_per_token() -> None:
    """Two tokens that are sent together: nothing but what sums of floats leave is between them."""
    design = open_design("hgx-h200-8")
    asked = {"model": "llama-3-70b", "weights": "int8", "engine": "sglang", "release": "0.12.0", "load": "offline"}
    asked |= {"prompt": 1000, "output": 2, "spread": "0", "count": 500, "seed": 81, "budget": 2048, "data": 2}
    settings = {**asked, "replicas": 1, "stream_interval": 4}
    spec = design.workloads["h2d"].model_copy(update={"id": "s", "kind": "serving", "settings": settings})
    found = run_workload(build_network(design), spec, curves=False)[0].metrics
    assert all(e.low <= e.value <= e.high for e in found.values())
    assert found["tpot"].low == 0
    assert found["tpot"].high < 1e-12
