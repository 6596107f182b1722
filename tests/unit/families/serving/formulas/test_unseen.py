"""Formulas on devices and models that no measurement covers: other accelerators, wide sets of experts."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from designer.errors import AnalysisError
from designer.families.serving.engines import release
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._kernels import KERNELS, kernels_of
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas._release import Overheads
from designer.families.serving.formulas.experts import (
    INSIDE_SHARE,
    NETWORK_SHARE,
    START,
    ExpertSetup,
    dispatched,
    expert_copies,
    gathered,
    gathered_sizes,
    gathers,
    lasting_imbalance,
)
from designer.families.serving.formulas.gemm_law import gemm_law
from designer.families.serving.formulas.layers import prefill_area
from designer.families.serving.formulas.memory import weights_size
from designer.families.serving.formulas.small_all_reduce import small_all_reduce
from designer.families.serving.formulas.step_time import EVEN, Joins, Split, StepTime
from designer.units import Bytes
from designer.workload.models import model
from designer.workload.shape import TransformerShape
from tests.unit.families.serving.formulas.test_by_hand import H100, shape

# Devices and models that nothing was fitted on: what must hold of each, whatever its numbers are.


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


# Experts shared by many devices: what dispatch and combine send, what copies balance, what overlapping hides.

#: published latency of dispatch and combine of 128 tokens of DeepSeek-V3 on H800, by ranks, eight a server [s]
PUBLISHED = {
    8: (77e-6, 114e-6),
    16: (118e-6, 195e-6),
    32: (155e-6, 273e-6),
    64: (173e-6, 314e-6),
    128: (192e-6, 369e-6),
    256: (194e-6, 360e-6),
}


FP8 = number_format("fp8")


def test_published_latencies_of_the_decoding_kernels_are_met_from_8_to_256_ranks() -> None:
    """128 tokens to 8 experts each; NVLink of an H800 200 GB/s, a NIC of 400 Gb/s each."""
    for ranks, wanted in PUBLISHED.items():
        copies = expert_copies(256, 8, ranks, ranks // 8, 8, 4, low_latency=True)
        for size, latency in zip(dispatched(7168, narrow=True), wanted, strict=True):
            inside = 128 * copies.inside * size / (INSIDE_SHARE.value * 200e9)
            between = 128 * copies.between * size / (NETWORK_SHARE.value * 50e9)
            assert START.value + max(inside, between) == pytest.approx(latency, rel=0.09), ranks


def test_kernels_of_prompts_send_a_token_once_to_each_server_by_hand() -> None:
    """8 of 256 over four servers: none of 8 on a server's 64 is .098, so 3.61 are reached, of which 3/4 are others.

    Devices reached: 32 (1 - .773): 7.27 of which 7/8 lie over the links of a server. Published for 4,096 tokens:
    58 GB/s, which count what stays: 4,096 x 3.61 x 7,392 B / 58 GB/s = 1.88 ms.
    """
    copies = expert_copies(256, 8, 32, 4, 8, 4, low_latency=False)
    assert copies.between == pytest.approx(3.61 * 3 / 4, rel=0.005)
    assert copies.inside == pytest.approx(7.27 * 7 / 8, rel=0.005)
    size = dispatched(7168, narrow=True)[0]
    assert size == 7392
    time = START.value + 4096 * copies.between * size / (NETWORK_SHARE.value * 50e9)
    assert time == pytest.approx(4096 * 3.61 * 7392 / 58e9, rel=0.03)
    # limited to four groups, a token reaches no more than four of eight servers
    assert expert_copies(256, 8, 64, 8, 8, 4, low_latency=False).between == pytest.approx(4 * 7 / 8)
    assert expert_copies(256, 8, 64, 8, 8, 0, low_latency=False).between > 4


def test_up_to_as_many_ranks_as_experts_chosen_gather_all_tokens_by_hand() -> None:
    """128 tokens of 7,168 values to seven others in 16 bit and back: 12.85 MB each way, 315 GB/s of NVLink reached.

    Twice 30 us + 40.8 us, 58 layers: 8.2 ms a step. Over 16 ranks a token is sent to its experts alone.
    """
    assert [gathers(ranks, 8) for ranks in (1, 8, 16)] == [False, True, False]
    inside = gathered(8, 1).inside
    each = [128 * inside * size for size in gathered_sizes(7168, FP8)]
    assert each == [pytest.approx(12.845e6, rel=1e-3)] * 2
    joins = Joins(dispatch=lambda inside, between: START.value + inside / 315e9 + between)
    over = release("tensorrt-llm").release.overheads
    steps = StepTime(shape("deepseek-v3"), H100, Split(1, 8, 1, 8), FP8, FP8, over, joins)
    assert steps._exchange(1024, prompts=False) == pytest.approx(58 * 2 * (30e-6 + 12.845e6 / 315e9), rel=1e-3)


def test_what_is_multiplied_in_4_bit_is_gathered_in_it_by_hand() -> None:
    """7,168 values of .5625 B there and of 2 B back; two servers of four add a copy over the NIC."""
    assert gathered_sizes(7168, number_format("nvfp4-experts")) == (4032, 14336)
    assert (gathered(4, 2).inside, gathered(4, 2).between) == (3, 1)


def test_experts_stored_in_a_format_run_its_kernels_whatever_attention_is_stored_in() -> None:
    for name, kernels in (("nvfp4-experts", "nvfp4"), ("nvfp4-experts-fp8", "nvfp4"), ("fp8-experts", "fp8")):
        assert number_format(name).kernels == kernels
    assert {number_format(name).kernels for name in ("nvfp4", "fp8", "bf16", "mxfp4")} == {
        "nvfp4",
        "fp8",
        "bf16",
        "mxfp4",
    }


def test_a_skewed_load_is_balanced_by_copies() -> None:
    """Evenly chosen experts need none; 32 ranks of 8 experts, variation .6: 2.14 deviations of .6 / sqrt 8."""
    assert lasting_imbalance(256, 32, 0, 0.0) == lasting_imbalance(256, 1, 0, 0.6) == 1
    alone = lasting_imbalance(256, 32, 0, 0.6)
    assert alone == pytest.approx(1 + 2.14 * 0.6 / math.sqrt(8), rel=0.03)
    balanced = lasting_imbalance(256, 32, 32, 0.6)
    assert 1 <= balanced < 1.02
    assert lasting_imbalance(256, 64, 0, 0.6) > alone


def test_two_experts_of_which_one_has_all_the_work_are_halved_by_a_copy() -> None:
    """Four experts on four ranks and four copies: eight places, no rank has more than the greatest share left over."""
    before, after = lasting_imbalance(8, 4, 0, 2.0), lasting_imbalance(8, 4, 8, 2.0)
    assert 1 <= after < before


def test_groups_that_share_whole_experts_hold_dense_layers_whole() -> None:
    """DeepSeek-V3 over 32: three layers of 3 x 7,168 x 18,432, and 58 of a shared expert of 3 x 7,168 x 2,048 and a
    router of 256 x 7,168, all of them and not a 32nd.
    """
    model = shape("deepseek-v3")
    cut, whole = (weights_size(model, FP8, 1, 32, shared=n) for n in (0, 1))
    layers = 3 * (3 * 7168 * 18432) + 58 * (3 * 7168 * 2048 + 256 * 7168)
    assert whole - cut == pytest.approx(layers * 31 / 32, rel=0.01)
    assert Split(1, 32, 1, 32).dense == 1
    assert Split(4, 8, 1, 8).dense == 4
    assert Split(4, 8, 1, 1).dense == 32


def _steps(setup: ExpertSetup = EVEN, rate: float = 44.5e9) -> StepTime:
    over = replace(release("sglang").release.overheads, layer=0.0, step=0.0, request=0.0, prefill_step=0.0)
    joins = Joins(dispatch=lambda inside, between: START.value + max(inside / 315e9, between / rate), servers=4)
    return StepTime(shape("deepseek-v3"), H100, Split(1, 32, 1, 32), FP8, FP8, over, joins, setup=setup)


def test_overlapped_batches_take_the_longer_of_both_and_never_less() -> None:
    """128 requests a device: computing without sending, and sending in two batches, are what is left of the sum."""
    n = 32 * 128
    one, two = _steps(), _steps(ExpertSetup(overlap=True))
    sends = two._exchange(n, prompts=False)
    assert one.decode(n) > two.decode(n) >= sends
    # sending that takes hardly any time leaves what two half batches compute
    slow = _steps(ExpertSetup(overlap=True), rate=1e9)
    assert slow.decode(n) == pytest.approx(slow._exchange(n, prompts=False))
    assert slow.decode(n) < _steps(rate=1e9).decode(n)
    free = _steps(ExpertSetup(overlap=True), rate=math.inf)
    assert two.decode(n) == pytest.approx(max(free.decode(n), sends))


def test_prompts_lose_24_multiprocessors_while_their_tokens_are_sent() -> None:
    """24 of 132 for as long as tokens are sent: 18 % of that time is added to what is computed."""
    tokens = 32 * 4096
    two = _steps(ExpertSetup(overlap=True), rate=400e9)
    free = _steps(ExpertSetup(overlap=True))
    free.joins = Joins(servers=4)
    area = tokens * 2048 / 2
    found, computed = (one.step(tokens, area, 64, 0, 0.0) for one in (two, free))
    sends = two._exchange(tokens, prompts=True)
    assert sends < computed
    assert found - computed == pytest.approx(sends * 24 / 132)


def test_more_ranks_than_experts_and_copies_are_refused() -> None:
    import designer
    from designer.engine.network import build_network
    from designer.families.serving.placement import place_deployment
    from tests.asked import serving_asked

    network = build_network(designer.open_design("su-h100-32"))
    given = {"model": "deepseek-v3", "tensor": 1, "data": 144, "expert": 144, "replicas": 1}

    def place(**more: object) -> float:
        return place_deployment(network, serving_asked({**given, **more}, "s").deployment, "s").weights

    # 256 over 144 leaves two on some: 32 copies cost nothing more
    assert place(redundant_experts=32) == pytest.approx(place())
    given.update(data=72, expert=72)
    assert place(redundant_experts=288 - 256) == pytest.approx(place())
    assert place(redundant_experts=72) > place()
    given.update(model="mixtral-8x7b", data=16, expert=16)
    with pytest.raises(AnalysisError, match="8 experts do not share out over 16"):
        place()
    assert place(redundant_experts=8) > 0
