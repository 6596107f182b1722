"""Experts shared by many devices: what dispatch and combine send, what copies balance, what overlapping hides."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from designer.errors import AnalysisError
from designer.families.serving.engines import release
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas.expert_balance import ExpertSetup, lasting_imbalance
from designer.families.serving.formulas.expert_exchange import (
    INSIDE_SHARE,
    NETWORK_SHARE,
    START,
    dispatched,
    expert_copies,
    gathered,
    gathered_sizes,
    gathers,
)
from designer.families.serving.formulas.step_time import EVEN, Joins, Split, StepTime
from designer.families.serving.formulas.weights_size import weights_size
from tests.unit.families.serving.formulas.test_by_hand import H100, shape

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
