"""How wide bands of served models are, worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from designer.families.serving.engines import release
from designer.families.serving.formulas._device import Device
from designer.families.serving.spreads import first_spread, held_back, release_spread
from designer.units import Seconds
from designer.workload.models import model
from designer.workload.shape import TransformerShape

H100 = Device("H100", {"bf16": 989e12}, 3.35e12, 80e9, 132, architecture="Hopper GH100")


def shape(name: str) -> TransformerShape:
    found = model(name)
    assert isinstance(found, TransformerShape)
    return found


def test_a_model_a_format_and_a_generation_that_were_not_fitted_add_in_squares() -> None:
    """vLLM 0.12 was fitted on Qwen3-32B in 16 bit on Hopper within .08: as FP8 sqrt(.08² + .13²) = .153; Ada .195."""
    known, qwen = release("vllm", "0.12.0").release, shape("qwen3-32b")
    assert release_spread(known, qwen, "bf16", H100) == pytest.approx(0.08)
    assert release_spread(known, qwen, "fp8", H100) == pytest.approx(0.1526, abs=1e-3)
    assert release_spread(known, qwen, "fp8", replace(H100, architecture="Ada AD102")) == pytest.approx(0.194, abs=1e-3)
    assert first_spread(known, qwen, "fp8") > first_spread(known, qwen, "bf16")


def test_a_server_that_nobody_told_may_hold_a_first_token_back_and_never_sends_it_early() -> None:
    """100 ms of work and 20 ms a step: 20 steps later it is 500 ms, five times; a known release was measured."""
    unknown, known = release("vllm").release, release("vllm", "0.12.0").release
    assert held_back(unknown, Seconds(0.1), Seconds(0.02)) == pytest.approx(math.log(5))
    assert held_back(unknown, Seconds(0.1), Seconds(0.02), interval=1) == 0
    # what is later still, for a reason nobody knows, is added in squares
    late = release("tensorrt-llm").release
    assert held_back(late, Seconds(0.1), Seconds(0.02)) == pytest.approx(math.hypot(math.log(5), late.first_late))
    # a prompt of 10 s is late by 4 % of that: its own work is what takes long
    assert held_back(unknown, Seconds(10.0), Seconds(0.02)) == pytest.approx(math.log(1.04))
    assert held_back(known, Seconds(0.1), Seconds(0.02)) == 0
    assert held_back(unknown, Seconds(0.0), Seconds(0.02)) == 0


def test_releases_that_nobody_knows_are_the_widest_of_their_engine() -> None:
    for engine, version in (("vllm", "0.15.1"), ("sglang", "0.5.1"), ("tensorrt-llm", "1.0.0")):
        unknown, known = release(engine).release, release(engine, version).release
        assert unknown.step_spread >= known.step_spread
        assert unknown.first_spread >= known.first_spread
