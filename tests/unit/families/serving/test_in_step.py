"""Clients with equal requests: whether they stay in step nobody knows, so the band is that of either."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from designer.analysis.study import run_workload
from designer.engine.network import build_network
from designer.families.serving.answers import in_step, jittered
from designer.families.serving.deployment import Serving
from designer.families.serving.engine_state import Requests
from designer.interchange.templates import open_design
from designer.sources import Estimate
from tests.asked import serving_asked

CLIENTS: Mapping[str, object] = {
    "engine": "sglang",
    "release": "0.5.1",
    "load": "clients",
    "clients": 64,
    "storage": "",
}


@cache
def answer(spread: float) -> Mapping[str, Estimate]:
    design = open_design("serving-h100-8")
    spec = design.workloads["chat-70b"]
    settings = {**spec.settings, **CLIENTS, "prompt": 1024, "spread": spread}
    asked = spec.model_copy(update={"settings": settings})
    return run_workload(build_network(design), asked, curves=False)[0].metrics


def test_the_band_of_equal_requests_reaches_down_to_clients_out_of_step() -> None:
    """SGLang reads prompts first, so clients in step all wait for the whole wave, and those out of step do not."""
    equal, varied = answer(0.0)["ttft"], answer(0.2)["ttft"]
    assert equal.value > 1.5 * varied.value
    assert equal.low / equal.value < 0.6 * varied.low / varied.value


def test_only_equal_answers_of_several_clients_are_in_step() -> None:
    def asked(**changes: object) -> bool:
        found = serving_asked({"load": "clients", "spread": 0, **changes}, "s")
        assert isinstance(found, Serving)
        return in_step(found.load)

    assert asked()
    assert not asked(spread=0.2)
    assert not asked(clients=1)
    assert not asked(load="rate")
    assert not asked(lengths="azure-2023-code")


def test_answers_end_a_few_tokens_apart_and_none_is_longer_or_empty() -> None:
    found = jittered(Requests([10] * 500, [100] * 499 + [1], clients=5)).output
    assert max(found) == 100
    assert 80 < min(found[:-1]) < 98
    assert found[-1] == 1
