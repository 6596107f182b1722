"""Requests: streamed answers, traffic by the hour, inputs of benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import designer
from designer.analysis.study import run_workload
from designer.design.document import WorkloadSpec
from designer.engine.network import build_network
from designer.engine.results import Analysis, WorkloadResult
from designer.errors import DesignerError
from designer.families.serving.benchmarks import BENCHMARKS
from designer.families.serving.deployment import Load, Serving
from designer.families.serving.engine_state import Requests
from designer.families.serving.engines import release
from designer.families.serving.records import ServingRun
from designer.families.serving.scheduler import run_requests
from designer.interchange.templates import open_design
from tests.asked import serving_asked

# What serving puts on the links in the mean, by hand: hand-overs, fetches, and joining devices.

#: bytes of keys and values of a token: 80 layers, keys and values, 8 heads of 128 in 16 bit
TOKEN = 80 * 2 * 8 * 128 * 2


SPLIT: Mapping[str, Any] = {
    "model": "llama-3-70b",
    "weights": "fp8",
    "release": "0.12.0",
    "group": "answers[*]/gpu*",
    "prompt_group": "prompts[*]/gpu*",
    "tensor": 8,
    "prompt_tensor": 4,
    "rate": "12 1/s",
    "variation": 0,
    "prompt": 2000,
    "output": 256,
    "spread": "0 %",
    "count": 400,
}


def analyzed(template: str, settings: Mapping[str, Any]) -> Analysis:
    spec = WorkloadSpec.model_validate({"id": "s", "kind": "serving", "settings": dict(settings)})
    design = designer.open_design(template)
    return designer.analyze(design.model_copy(update={"workloads": {"s": spec}}), ["s"])


def carried(found: Analysis, kind: str, source: str = "", target: str = "") -> float:
    """Bytes a second on all links of a kind from and to parts whose paths have these in them."""
    rows = (row for row in found.channels if row.kind == kind and source in row.source and target in row.target)
    return sum(row.load for row in rows)


def test_hand_overs_load_both_ends_with_every_byte_of_keys_and_values() -> None:
    """12 requests a second of 2,000 tokens: 7.86 GB/s leave the servers for prompts and get to those for answers."""
    found = analyzed("serving-split-2-racks", SPLIT)
    asked = found.workloads[0].metrics["requests_per_second"].value * 2000 * TOKEN
    assert asked == pytest.approx(7.86e9, rel=0.02)
    out = carried(found, "infiniband", source="prompts[") - carried(found, "infiniband", target="prompts[")
    into = carried(found, "infiniband", target="answers[") - carried(found, "infiniband", source="answers[")
    assert out == pytest.approx(asked, rel=1e-6)
    assert into == pytest.approx(asked, rel=1e-6)


def test_twice_the_prompt_hands_over_twice_as_much() -> None:
    once, twice = (
        carried(analyzed("serving-split-2-racks", {**SPLIT, "prompt": p}), "infiniband", source="prompts[")
        for p in (1000, 2000)
    )
    assert twice == pytest.approx(2 * once, rel=0.01)


TIERED: Mapping[str, Any] = {
    "model": "llama-3-70b",
    "weights": "fp8",
    "release": "0.12.0",
    "tensor": 4,
    "tiers": "memory",
    "reuse": "1M:10 %, 10M:40 %, 100M:60 %",
    "rate": "3 1/s",
    "variation": 0,
    "prompt": 4000,
    "output": 200,
    "spread": "0 %",
    "count": 400,
}


def test_fetches_load_the_way_from_memory_and_nothing_the_other_way() -> None:
    """What more is found with the tier comes over PCIe: hits beyond those on the GPU x 4,000 tokens x 3 a second."""
    near, far = (analyzed("serving-h100-8", {**TIERED, "tiers": tier}) for tier in ("", "memory"))
    hits = [one.workloads[0].metrics["prefix_hits"].value for one in (near, far)]
    rate = far.workloads[0].metrics["requests_per_second"].value
    down, up = (carried(far, "pcie", source=a, target=b) for a, b in (("cpu", ""), ("", "cpu")))
    assert down == pytest.approx(rate * (hits[1] - hits[0]) * 4000 * TOKEN, rel=0.01)
    assert up == 0
    assert carried(near, "pcie", source="cpu") == 0


def test_joining_loads_the_switches_with_every_token_and_layer() -> None:
    """Two all-reduces a layer of 8,192 values in 16 bit for every token of prompts and answers.

    NVLink switches reduce: a device sends each of its bytes once and a quarter of the sums once: 1.25 times.
    """
    plain = {**TIERED, "tiers": "", "reuse": "", "rate": "6 1/s", "prompt": 2000, "output": 256}
    found = analyzed("serving-h100-8", plain)
    rate = found.workloads[0].metrics["requests_per_second"].value
    tokens = rate / 2 * (2000 + 256)
    sent = carried(found, "nvlink", source="gpu0")
    ratio = sent / (tokens * 2 * 80 * 8192 * 2)
    # a ring would send 2 x 3/4 of them; which way is taken depends on the size of the message
    assert 1.2 < ratio < 1.55


# Several tokens in a message: which wait, and for how long; when an answer is complete does not change.


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


# Loads of public benchmark scripts: what each sends for the same question, and what it counts.

COMMON = {"model": "llama-3-8b", "prompt": 1000, "output": 500, "clients": 8}


def load(**changes: object) -> Load:
    found = serving_asked({**COMMON, **changes}, "s")
    assert isinstance(found, Serving)
    return found.load


@pytest.mark.parametrize(
    ("name", "kind", "prompt", "output", "spread", "warm_up"),
    [
        ("", "rate", 1000, 500, 0.2, 2),
        ("vllm-bench", "rate", 1000, 500, 0.0, 2),
        ("genai-perf", "clients", 1000, 500, 0.0, 0),
        # even from .8 to 1 of the nominal length: .9 of it, a ninth either way
        ("inferencex", "clients", 900, 450, 1 / 9, 0),
        # even from 1 token: half of it, and all of that either way
        ("sglang-bench", "rate", 500, 250, 1.0, 2),
        ("mlperf", "rate", 1000, 500, 0.2, 2),
    ],
)
def test_each_script_sends_what_it_sends_by_default(
    name: str, kind: str, prompt: int, output: int, spread: float, warm_up: int
) -> None:
    found = load(measured_as=name)
    assert (found.kind, found.prompt, found.output, found.warm_up) == (kind, prompt, output, warm_up)
    assert found.spread == pytest.approx(spread)


def test_the_first_wave_counts_where_a_script_counts_it() -> None:
    assert load(load="clients", measured_as="vllm-bench").warm_up == 0
    assert load(load="clients").warm_up == 2


def test_what_is_set_by_hand_stays() -> None:
    found = load(load="clients", measured_as="inferencex", spread=0.1, warm_up=1, waves=5)
    assert (found.prompt, found.output, found.spread, found.warm_up, found.waves) == (1000, 500, 0.1, 1, 5)
    shipped = load(measured_as="inferencex", lengths="azure-2023-code")
    assert (shipped.prompt, shipped.spread) == (1000, 0.2)


def test_an_answer_says_what_is_counted_and_the_cold_wave_makes_first_tokens_later() -> None:
    """16 prompts of 1,000 tokens begin together on one engine, which reads 8,192 in a step."""
    asked = {"load": "clients", "clients": 16, "prompt": 1000, "output": 100, "spread": 0.1, "release": "0.12.0"}
    found: dict[str, WorkloadResult] = {}
    for name in ("", "vllm-bench"):
        settings: dict[str, object] = {"model": "llama-3-8b", "group": "gpus", "replicas": 1, "tensor": 1, **asked}
        spec = WorkloadSpec.model_validate({"id": "w", "kind": "serving", "settings": settings | {"measured_as": name}})
        design = designer.open_design("hgx-h100-8").model_copy(update={"workloads": {"w": spec}})
        found[name] = designer.analyze(design, ["w"]).workloads[0]
    plain, bench = found[""], found["vllm-bench"]
    assert not [f for f in plain.findings if f.code == "SERVE-COUNTED"]
    (stated,) = [f for f in bench.findings if f.code == "SERVE-COUNTED"]
    assert "vllm bench serve" in stated.text
    assert "first wave" in stated.text
    assert bench.metrics["ttft"].value > plain.metrics["ttft"].value * 1.1


def test_an_unknown_script_is_refused_with_those_there_are() -> None:
    with pytest.raises(DesignerError, match="measured_as") as refused:
        load(measured_as="ab")
    assert all(name in str(refused.value) for name in BENCHMARKS)
