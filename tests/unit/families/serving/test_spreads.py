"""How wide bands of served models are, worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from designer.families.serving.devices import with_kernels
from designer.families.serving.engines import release
from designer.families.serving.formulas._device import Device
from designer.families.serving.spreads import first_spread, held_back, release_spread
from designer.units import Seconds
from designer.workload.models import model
from designer.workload.shape import TransformerShape

B200 = "gpu/nvidia/b200"
H100 = Device("H100", {"bf16": 989e12}, 3.35e12, 80e9, 132, architecture="Hopper GH100")


def shape(name: str) -> TransformerShape:
    found = model(name)
    assert isinstance(found, TransformerShape)
    return found


def test_a_model_a_format_and_a_generation_that_were_not_fitted_add_in_squares() -> None:
    """vLLM 0.12 was fitted on Qwen3-32B in 16 bit on Hopper within .14: as FP8 sqrt(.14² + .09²) = .166; Ada .205.

    Its first token next to its steps: sqrt(.25² - .14²) = .207, as FP8 sqrt(.207² + .09²) = .226, on Ada .256.
    """
    ada = replace(H100, architecture="Ada AD102")
    known, qwen = release("vllm", "0.12.0").release, shape("qwen3-32b")
    assert release_spread(known, qwen, "bf16", H100) == pytest.approx(0.14)
    assert release_spread(known, qwen, "fp8", H100) == pytest.approx(0.1664, abs=1e-3)
    assert release_spread(known, qwen, "fp8", ada) == pytest.approx(0.2052, abs=1e-3)
    firsts = [first_spread(known, qwen, *what) for what in (("bf16", H100), ("fp8", H100), ("fp8", ada))]
    assert firsts == pytest.approx([0.207, 0.226, 0.256], abs=1e-3)


def test_a_server_that_holds_a_first_token_back_never_sends_it_early() -> None:
    """100 ms of work and 20 ms a step: 10 steps later it is 300 ms, three times; a fitted release was measured so."""
    unknown, known = release("sglang").release, release("sglang", "0.5.1").release
    assert held_back(unknown, Seconds(0.1), Seconds(0.02)) == pytest.approx(math.log(3))
    assert held_back(unknown, Seconds(0.1), Seconds(0.02), interval=1) == 0
    # a prompt of 10 s is late by 2 % of that: its own work is what takes long
    assert held_back(unknown, Seconds(10.0), Seconds(0.02)) == pytest.approx(math.log(1.02))
    assert held_back(known, Seconds(0.1), Seconds(0.02)) == 0
    # what a server of a known release does on another model was not measured
    assert held_back(known, Seconds(0.1), Seconds(0.02), fitted=False) == pytest.approx(math.log(3))
    assert held_back(unknown, Seconds(0.0), Seconds(0.02)) == 0
    # vLLM sends the first token at once, whatever its streaming interval
    assert held_back(release("vllm").release, Seconds(0.1), Seconds(0.02)) == 0


def test_a_generation_adds_less_with_kernels_of_its_own_and_more_where_the_release_is_not_known() -> None:
    """TensorRT-LLM 1.0 on B200, another format than fitted: sqrt(.14² + .09² + .09²) = .189 with its table.

    Without it is .205. A release that is not known: sqrt(.17² + .09² + .2²) = .278.
    """
    b200 = Device("B200", {"bf16": 2250e12, "fp4": 9e15}, 8e12, 180e9, 148, architecture="Blackwell GB100", part=B200)
    known, llama = release("tensorrt-llm", "1.0.0").release, shape("llama-3-70b")
    assert release_spread(known, llama, "nvfp4", with_kernels(b200, "tensorrt-llm")) == pytest.approx(0.1892, abs=1e-3)
    assert release_spread(known, llama, "nvfp4", b200) == pytest.approx(0.2052, abs=1e-3)
    unknown = release("tensorrt-llm").release
    assert release_spread(unknown, llama, "nvfp4", with_kernels(b200, "tensorrt-llm")) == pytest.approx(
        0.2775, abs=1e-3
    )


def test_another_patch_of_a_release_is_as_sure_as_one_that_is_not_known() -> None:
    near, unknown = release("sglang", "0.5.9").release, release("sglang").release
    assert near.overheads == release("sglang", "0.5.1").release.overheads
    assert (near.step_spread, near.first_spread) == (unknown.step_spread, unknown.first_spread)
    assert not near.known


def test_releases_that_nobody_knows_are_the_widest_of_their_engine() -> None:
    for engine, version in (("vllm", "0.15.1"), ("sglang", "0.5.1"), ("tensorrt-llm", "1.0.0")):
        unknown, known = release(engine).release, release(engine, version).release
        assert unknown.step_spread >= known.step_spread
        assert unknown.first_spread >= known.first_spread
