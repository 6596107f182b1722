"""Devices and models that nothing was fitted on: what must hold of each, whatever its numbers are."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from designer.families.serving.engines import release
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._kernels import KERNELS, kernels_of
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas._release import Overheads
from designer.families.serving.formulas.attention_prefill import prefill_area
from designer.families.serving.formulas.gemm_law import gemm_law
from designer.families.serving.formulas.small_all_reduce import small_all_reduce
from designer.families.serving.formulas.step_time import Joins, Split, StepTime
from designer.families.serving.formulas.weights_size import weights_size
from designer.units import Bytes
from designer.workload.models import model
from designer.workload.shape import TransformerShape


def _device(name: str, half: float, eight: float, four: float, bandwidth: float, units: int, kind: str) -> Device:
    flops = {"bf16": half, "fp16": half, "fp8": eight, "fp4": four}
    flops = {key: value for key, value in flops.items() if value}
    return Device(name, flops, bandwidth, 80e9, units, kernels_of(kind)[0], architecture=kind)


DEVICES = {
    one.name: one
    for one in (
        _device("B200", 2250e12, 4500e12, 9000e12, 8e12, 148, "Blackwell GB100"),
        _device("A100", 312e12, 0, 0, 2.039e12, 108, "Ampere GA100"),
        _device("L40S", 362e12, 733e12, 0, 0.864e12, 142, "Ada AD102"),
        _device("L4", 121e12, 242e12, 0, 0.3e12, 58, "Ada AD104"),
        _device("MI300X", 1307e12, 2615e12, 0, 5.3e12, 304, "CDNA 3"),
        _device("RTX PRO 6000", 500e12, 1000e12, 2000e12, 1.597e12, 188, "Blackwell GB202"),
    )
}
MODELS = ("llama-3-405b", "mixtral-8x7b", "qwen3-235b-a22b", "deepseek-v3", "phi-4", "gemma-3-27b")
PROMPTS = (256, 512, 1024, 2048, 4096, 8192)


def steps(name: str, device: Device, weights: str = "fp8", engine: str = "vllm", tensor: int = 8) -> StepTime:
    shape, fmt = model(name), number_format(weights)
    assert isinstance(shape, TransformerShape)
    joins = Joins(lambda size: small_all_reduce(tensor, size, 450e9))
    over = release(engine).release.overheads
    return StepTime(shape, device, Split(tensor), fmt, number_format("bf16"), over, joins)


def prompt(one: StepTime, tokens: int) -> float:
    return one.step(tokens, prefill_area(tokens, 0), 1, 0, 0)


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("served", MODELS)
@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm"])
def test_nothing_is_faster_than_the_wire_and_more_of_anything_helps(name: str, served: str, engine: str) -> None:
    device = DEVICES[name]
    one, shape = steps(served, device, engine=engine), model(served)
    assert isinstance(shape, TransformerShape)
    ideal = one.ideal()
    if not shape.experts:
        held = weights_size(shape, number_format("fp8"), 8) - shape.embedding_parameters * 2 / 8
        assert one.decode(1) >= held / device.bandwidth
    for count in (1, 8, 64, 256):
        assert one.decode(count) >= ideal.decode(count)
        # tiles that fill make a step shorter by a few percent; twice the requests give no more than twice the tokens
        assert 0.95 * one.decode(count) <= one.decode(2 * count) <= 2 * one.decode(count)
    times = [prompt(one, tokens) for tokens in PROMPTS]
    assert all(later >= 0.97 * sooner for sooner, later in pairwise(times))
    assert times[-1] > 1.3 * times[0]
    for tokens, time in zip(PROMPTS, times, strict=True):
        assert time >= prompt(ideal, tokens)
    wider = steps(served, replace(device, bandwidth=1.5 * device.bandwidth), engine=engine)
    quicker = replace(device, flops={key: 1.5 * value for key, value in device.flops.items()})
    faster = steps(served, quicker, engine=engine)
    for count in (1, 64, 512):
        assert wider.decode(count) <= one.decode(count)
        assert faster.decode(count) <= one.decode(count)
    assert prompt(wider, 4096) <= times[-2]
    assert prompt(faster, 4096) <= times[-2]


#: a step that is nothing but one product of 4,096 x 8,192 x 8,192 and its like, on one device
NOTHING = Overheads(0.0, 0.0, 0.0, 0.0, 1.0, 0.0)


def test_a_multiprocessor_twice_as_quick_loses_half_at_twice_the_length() -> None:
    """Filling and draining takes a time: 119 at 1,979 TFLOP/s over 132 in 8 bit, so 238 at twice as much.

    4,096 rows by 8,192 columns over 8,192 in 8 bit at 3,958 TFLOP/s: 549.8 GFLOP at a share of .55 are .2526 ms; with
    238 in place of 119 there is 1.4 % more. At the rate it was measured at, or less, nothing changes.
    """
    quick = Device("twice", {"bf16": 989e12, "fp8": 3958e12}, 1e15, 80e9, 132)
    one = steps("llama-3-70b", quick, tensor=1)
    share = KERNELS.narrow_compute, KERNELS.narrow_memory, KERNELS.narrow_floor

    def law(half: float) -> float:
        size = Bytes(1.0)
        return gemm_law(4096, 8192, 8192, size, size, 3958e12, 1e15, 132, share, KERNELS.sharpness, half)

    assert law(238.0) / law(119.0) == pytest.approx((8192 + 238) / (8192 + 119), rel=2e-3)
    fp8 = number_format("fp8")
    assert one._gemm(4096, 8192, 8192, fp8) == pytest.approx(law(238.0), rel=1e-9)  # pyright: ignore[reportPrivateUsage]
    slow = steps("llama-3-70b", DEVICES["A100"], "bf16", tensor=1)
    assert slow._half_length(slow.device, "bf16", False) == 119.0  # pyright: ignore[reportPrivateUsage]


def test_a_factor_that_shortens_prompts_reads_no_weights_faster() -> None:
    """64 tokens of Llama 3 8B in 16 bit on H100: 6.98 G weights of 2 B at .857 of 3.35 TB/s: 4.86 ms in any case."""
    device = Device("H100", {"bf16": 989e12}, 3.35e12, 80e9, 132)
    shape, half = model("llama-3-8b"), number_format("bf16")
    assert isinstance(shape, TransformerShape)
    one = StepTime(shape, device, Split(), half, half, replace(NOTHING, prefill_factor=0.5), Joins())
    assert one.step(64, 0.0, 0, 0, 0.0) >= 2 * 6.98e9 / (0.857 * 3.35e12)
    assert one.step(64, 0.0, 0, 0, 0.0) < 0.0075
