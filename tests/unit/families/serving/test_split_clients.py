"""Clients of split deployments, widths of their own for prompts, and hand-overs that begin before a prompt is read."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest

import designer
from designer.design.document import WorkloadSpec
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from designer.families.serving.engine_state import Requests
from designer.families.serving.formulas._release import Scheduling
from designer.families.serving.formulas.hand_over import left_to_move
from designer.families.serving.limits import outcome
from designer.families.serving.split import largest_split_load, place_split, sent_in, serve_split
from designer.families.serving.split_clients import Side, run_split_clients
from tests.asked import serving_asked

TEMPLATE = "serving-split-2-racks"
BASE: Mapping[str, object] = {
    "model": "llama-3-70b",
    "weights": "fp8",
    "engine": "vllm",
    "release": "0.12.0",
    "group": "answers[*]/gpu*",
    "prompt_group": "prompts[*]/gpu*",
    "tensor": 8,
    "prompt_tensor": 4,
    "prompt": 2000,
    "output": 256,
}


def served(**changes: object) -> WorkloadResult:
    design = designer.open_design(TEMPLATE)
    spec = WorkloadSpec(id="s", kind="serving", settings={**BASE, **changes})
    return designer.analyze(design.model_copy(update={"workloads": {"s": spec}}), ["s"]).workloads[0]


class Even:
    """Steps that take 10 ms each, and 1 us more for each token of a prompt."""

    def decode(self, requests: int) -> float:
        return 0.01

    def context(self) -> float:
        return 0.0

    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float:
        return 0.01 + tokens * 1e-6


HOW = Scheduling(8192, 64, True, True, 0.0, 0.9, 16)


def closed(clients: int, count: int, handed: float, path: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sides = Side(2, Even(), HOW, 100_000), Side(1, Even(), HOW, 100_000)
    requests = Requests([1000] * count, [11] * count, clients=clients)
    run = run_split_clients(sides, requests, path, lambda number, took: handed, None)
    return run.sent, run.first, run.done


def test_one_client_by_hand() -> None:
    """Read 11 ms, handed over 50 ms, first token 10.001 ms, ten more of 10 ms: 171.001 ms, and 5 ms before each."""
    sent, first, done = closed(1, 4, 0.05, path=0.005)
    assert first - sent == pytest.approx(np.full(4, 0.005 + 0.011 + 0.05 + 0.010001))
    assert done - sent == pytest.approx(np.full(4, 0.176001))
    assert sent[1:] == pytest.approx(done[:-1])


def test_two_clients_have_an_engine_for_prompts_each_by_hand() -> None:
    """Both are read at once, so both are as quick as one; their answers share all steps."""
    sent, first, done = closed(2, 6, 0.05)
    assert sent[:2] == pytest.approx([0, 0])
    assert done - sent == pytest.approx(np.full(6, 0.011 + 0.05 + 0.010002 + 0.1))
    assert first[0] == pytest.approx(0.011 + 0.05 + 0.010002)


@pytest.mark.parametrize("clients", [1, 3, 17])
def test_every_request_is_answered_after_its_client_had_the_one_before(clients: int) -> None:
    sent, first, done = closed(clients, 5 * clients, 0.02, path=0.003)
    assert np.isfinite(done).all()
    assert (sent < first).all()
    assert (first < done).all()
    # never more under way than there are clients
    for at in done:
        assert ((sent <= at - 1e-9) & (done > at - 1e-9)).sum() <= clients


def test_requests_that_never_fit_are_passed_over() -> None:
    sides = Side(1, Even(), HOW, 512), Side(1, Even(), HOW, 512)
    requests = Requests([100, 1000, 100], [11] * 3, clients=1)
    run = run_split_clients(sides, requests, 0.0, lambda number, took: 0.02, None)
    assert np.isfinite(run.done).tolist() == [True, False, True]
    assert run.counts.refused == 1


def test_clients_times_requests_a_second_is_as_little_says() -> None:
    found = served(load="clients", clients=32)
    metrics = found.metrics
    answer = metrics["ttft"].value + 255 * metrics["tpot"].value
    assert metrics["requests_per_second"].value * answer == pytest.approx(32, rel=0.05)
    assert "hand_over_time" in metrics
    more = served(load="clients", clients=64).metrics
    assert more["tokens_per_second"].value > metrics["tokens_per_second"].value
    assert more["tpot"].value > metrics["tpot"].value


def test_what_is_left_to_move_by_hand() -> None:
    """100 ms of bytes, prompt read in 400: whole 100; by 4 chunks 25; by 80 layers 1.25; read in 50 ms, 4: 62.5."""
    assert left_to_move(0.1, 1, 0.4) == 0.1
    assert left_to_move(0.1, 4, 0.4) == pytest.approx(0.025)
    assert left_to_move(0.1, 80, 0.4) == pytest.approx(0.00125)
    assert left_to_move(0.1, 4, 0.05) == pytest.approx(0.0625)
    assert left_to_move(0.1, 1, math.inf) == 0.1


def test_layers_and_chunks_are_there_sooner_than_whole_prompts() -> None:
    found = [served(rate="1 1/s", prompt=7000, hand_over=how).metrics["ttft"].value for how in ("whole", "layers")]
    assert found[1] < found[0]
    asked = serving_asked({**BASE, "engine": "sglang", "release": ""}, "s")
    prompts = place_split(build_network(designer.open_design(TEMPLATE)), asked, "s")[1]
    # SGLang sends each chunk of 8,192 tokens when it is read
    assert [sent_in(prompts, tokens) for tokens in (100, 8192, 8193, 32000)] == [1, 1, 2, 4]


def test_prompts_have_widths_of_their_own() -> None:
    asked = serving_asked({**BASE, "prompt_tensor": 2, "prompt_pipeline": 2}, "s")
    answers, prompts = place_split(build_network(designer.open_design(TEMPLATE)), asked, "s")
    assert (prompts.split.tensor, prompts.split.pipeline, answers.split.tensor) == (2, 2, 8)
    given = {**BASE, "model": "gpt-oss-120b", "weights": "mxfp4", "prompt_tensor": 1, "prompt_data": 4}
    asked = serving_asked({**given, "prompt_expert": 4, "tensor": 8, "expert": 8}, "s")
    answers, prompts = place_split(build_network(designer.open_design(TEMPLATE)), asked, "s")
    assert (prompts.split.data, prompts.split.expert, answers.split.data, answers.split.expert) == (4, 4, 1, 8)


def test_the_largest_rate_keeps_the_limits_and_a_larger_one_does_not() -> None:
    network = build_network(designer.open_design(TEMPLATE))
    asked = serving_asked({**BASE, "ttft_limit": "600 ms", "tpot_limit": "15 ms", "count": 300}, "s")
    rate = largest_split_load(network, asked, "s")

    def kept(at: float) -> bool:
        load = {**BASE, "ttft_limit": "600 ms", "tpot_limit": "15 ms", "count": 300, "rate": f"{at} 1/s"}
        found = serve_split(network, serving_asked(load, "s"), "s")
        return bool(found.runs) and outcome(found.runs[0], found.sent.first, found.serving.limits).holds

    assert rate > 1
    assert kept(0.97 * rate)
    assert not kept(1.1 * rate)
