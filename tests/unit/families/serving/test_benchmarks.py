"""Loads of public benchmark scripts: what each sends for the same question, and what it counts."""

from __future__ import annotations

import pytest

import designer
from designer.design.document import WorkloadSpec
from designer.engine.results import WorkloadResult
from designer.errors import DesignerError
from designer.families.serving.benchmarks import BENCHMARKS
from designer.families.serving.deployment import Load, Serving
from tests.asked import serving_asked

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
