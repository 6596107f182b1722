"""Models whose layers differ: what is read of their configurations, counted by hand, and what a step of them takes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from designer.errors import ExchangeError
from designer.families.serving.devices import with_kernels
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._kernels import KERNELS
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas._release import Overheads
from designer.families.serving.formulas.layers import DECODE_FLOOR, state_decode
from designer.families.serving.formulas.memory import kv_size, weights_size
from designer.families.serving.formulas.step_time import Joins, Split, StepTime
from designer.workload.huggingface import ConfigResult, parse_config
from designer.workload.shape import TransformerShape

NOTHING = Overheads(0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
H200 = Device(
    "H200",
    {"bf16": 989e12, "fp16": 989e12, "fp8": 1979e12},
    4.8e12,
    141e9,
    132,
    KERNELS,
    architecture="Hopper GH100",
    part="gpu/nvidia/h200-sxm",
)
#: the dimensions in published configurations
QWEN35: dict[str, object] = {
    "model_type": "qwen3_5_moe",
    "vision_config": {"depth": 27, "hidden_size": 1152},
    "text_config": {
        "model_type": "qwen3_5_moe_text",
        "attn_output_gate": True,
        "head_dim": 256,
        "hidden_size": 4096,
        "layer_types": (["linear_attention"] * 3 + ["full_attention"]) * 15,
        "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": 128,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 64,
        "linear_value_head_dim": 128,
        "mlp_only_layers": [],
        "moe_intermediate_size": 1024,
        "mtp_num_hidden_layers": 1,
        "num_attention_heads": 32,
        "num_experts": 512,
        "num_experts_per_tok": 10,
        "num_hidden_layers": 60,
        "num_key_value_heads": 2,
        "shared_expert_intermediate_size": 1024,
        "vocab_size": 248320,
    },
}
NANO: dict[str, object] = {
    "model_type": "nemotron_h",
    "conv_kernel": 4,
    "head_dim": 128,
    "hidden_size": 2688,
    "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
    "intermediate_size": 1856,
    "mamba_head_dim": 64,
    "mamba_num_heads": 64,
    "moe_intermediate_size": 1856,
    "moe_shared_expert_intermediate_size": 3712,
    "n_groups": 8,
    "n_routed_experts": 128,
    "n_shared_experts": 1,
    "num_attention_heads": 32,
    "num_experts_per_tok": 6,
    "num_hidden_layers": 52,
    "num_key_value_heads": 2,
    "ssm_state_size": 128,
    "vocab_size": 131072,
}
KIMI: dict[str, object] = {
    "model_type": "kimi_k3",
    "text_config": {
        "model_type": "kimi_linear",
        "first_k_dense_replace": 1,
        "hidden_size": 7168,
        "intermediate_size": 33792,
        "kv_lora_rank": 512,
        "linear_attn_config": {
            "full_attn_layers": [*range(4, 93, 4), 93],
            "head_dim": 128,
            "kda_layers": [k for k in range(1, 93) if k % 4],
            "num_heads": 96,
            "short_conv_kernel_size": 4,
        },
        "mla_use_output_gate": True,
        "moe_intermediate_size": 3072,
        "moe_layer_freq": 1,
        "num_attention_heads": 96,
        "num_experts": 896,
        "num_experts_per_token": 16,
        "num_hidden_layers": 93,
        "num_key_value_heads": 96,
        "num_shared_experts": 2,
        "q_lora_rank": 1536,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "routed_expert_hidden_size": 3584,
        "v_head_dim": 128,
        "vocab_size": 163840,
    },
}
MIMO: dict[str, object] = {
    "model_type": "mimo_v2_flash",
    "num_hidden_layers": 48,
    "hidden_size": 4096,
    "num_attention_heads": 64,
    "num_key_value_heads": 4,
    "head_dim": 192,
    "v_head_dim": 128,
    "intermediate_size": 16384,
    "vocab_size": 152576,
    "sliding_window": 128,
    "swa_num_attention_heads": 64,
    "swa_num_key_value_heads": 8,
    "swa_head_dim": 192,
    "swa_v_head_dim": 128,
    "hybrid_layer_pattern": [0] * 9 + [1] * 39,
    "moe_layer_freq": [0] + [1] * 47,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
}
GEMMA: dict[str, object] = {
    "model_type": "gemma4",
    "text_config": {
        "model_type": "gemma4_text",
        "enable_moe_block": True,
        "global_head_dim": 512,
        "head_dim": 256,
        "hidden_size": 2816,
        "intermediate_size": 2112,
        "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 5,
        "moe_intermediate_size": 704,
        "num_attention_heads": 16,
        "num_experts": 128,
        "num_global_key_value_heads": 2,
        "num_hidden_layers": 30,
        "num_key_value_heads": 8,
        "sliding_window": 1024,
        "tie_word_embeddings": True,
        "top_k_experts": 8,
        "vocab_size": 262144,
    },
}
SPARSE: dict[str, object] = {
    "model_type": "deepseek_v32",
    "first_k_dense_replace": 3,
    "hidden_size": 7168,
    "index_head_dim": 128,
    "index_n_heads": 64,
    "index_topk": 2048,
    "intermediate_size": 18432,
    "kv_lora_rank": 512,
    "moe_intermediate_size": 2048,
    "moe_layer_freq": 1,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_attention_heads": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 61,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "vocab_size": 129280,
}
COMPRESSED: dict[str, object] = {
    "model_type": "deepseek_v4",
    "head_dim": 512,
    "hidden_size": 4096,
    "index_head_dim": 128,
    "index_n_heads": 64,
    "index_topk": 512,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_attention_heads": 64,
    "num_experts_per_tok": 6,
    "num_hidden_layers": 43,
    "num_key_value_heads": 1,
    "num_nextn_predict_layers": 1,
    "o_groups": 8,
    "o_lora_rank": 1024,
    "q_lora_rank": 1024,
    "sliding_window": 128,
    "compress_ratios": [0, 0, *([4, 128] * 20), 4, 0],
    "vocab_size": 129280,
}


def read(data: dict[str, object]) -> ConfigResult:
    return parse_config(json.dumps(data), "m")


def searched(*blocks: tuple[int, float]) -> dict[str, object]:
    """A configuration of Nemotron-NAS: heads in a group (0: no attention) and the multiple of each block."""
    listed = [
        {
            "attention": {"n_heads_in_group": group or None, "no_op": not group},
            "ffn": {"ffn_mult": times or None, "no_op": not times},
        }
        for group, times in blocks
    ]
    return {
        "model_type": "nemotron-nas",
        "hidden_size": 8192,
        "num_attention_heads": 64,
        "num_hidden_layers": len(blocks),
        "vocab_size": 128256,
        "block_configs": listed,
    }


@pytest.mark.parametrize(
    ("data", "total", "active", "published"),
    [
        (QWEN35, 396.3, 17.3, "397B-A17B"),
        (NANO, 31.6, 3.58, "31.6B, 3.6B active"),
        (MIMO, 308.8, 15.4, "309B, 15B active"),
        (GEMMA, 25.2, 3.82, "25.2B, 3.8B active"),
        (COMPRESSED, 283.9, 13.4, "284B, 13B active"),
        (SPARSE, 671.8, 38.4, "671B, 37B active, and .8B that select"),
        (KIMI, 2779.4, 105.2, "2.8T"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_parameters_are_those_published(data: dict[str, object], total: float, active: float, published: str) -> None:
    shape = read(data).shape
    assert shape.parameters / 1e9 == pytest.approx(total, rel=2e-3), published
    assert shape.active_parameters / 1e9 == pytest.approx(active, rel=5e-3), published


@pytest.mark.parametrize(
    ("data", "token", "fixed"),
    [
        # 15 layers of 2 heads of 256 + 256; 45 states of 64 x 128 x 128 in 32 bit, and 3 x 12,288 inputs
        (QWEN35, 15 * 2 * 512 * 2, 45 * (64 * 128 * 128 * 4 + 3 * 12288 * 2)),
        # 6 layers of 2 heads of 128 + 128; 23 states of 64 x 64 x 128, and 3 x 6,144 inputs
        (NANO, 6 * 2 * 256 * 2, 23 * (64 * 64 * 128 * 4 + 3 * 6144 * 2)),
        # 24 layers of a latent vector of 512 + 64; 69 states of 96 x 128 x 128, and 3 x 36,864 inputs
        (KIMI, 24 * 576 * 2, 69 * (96 * 128 * 128 * 4 + 3 * 36864 * 2)),
        # 9 layers of 4 heads of 192 + 128; windows of 128 in 39 layers of 8 such heads
        (MIMO, 9 * 4 * 320 * 2, 39 * 128 * 8 * 320 * 2),
        # 5 layers of 2 heads of 512 + 512; windows of 1,024 in 25 layers of 8 heads of 256 + 256
        (GEMMA, 5 * 2 * 1024 * 2, 25 * 1024 * 8 * 512 * 2),
        # 61 layers of 576 and the 128 values that tokens are selected by, in 8 bit with a scale
        (SPARSE, 61 * (576 * 2 + 132), 0),
        # 41 layers of 20 x 512 / 128 + 21 x 512 / 4 values, 66 in the mean; 128 / 4 x 21 / 41 to select by; windows
        (COMPRESSED, 41 * (68 * 2 + 16 * 1.03125), 2 * 128 * 512 * 2),
    ],
    ids=["qwen3.5", "nemotron-3-nano", "kimi-k3", "mimo-v2", "gemma-4", "deepseek-v3.2", "deepseek-v4"],
)
def test_what_a_request_keeps_is_counted_by_hand(data: dict[str, object], token: float, fixed: float) -> None:
    """Bytes of a token beyond all windows, and of a request whatever its length, on one device in 16 bit."""
    kept = kv_size(read(data).shape, 1, number_format("bf16").size.value)
    assert kept.token == pytest.approx(token, rel=1e-12)
    assert kept.held(5000) - 5000 * kept.token == pytest.approx(fixed, abs=1.0)


def test_layers_of_a_search_are_read_with_their_mean_width() -> None:
    """Multiples 5.25 and .5 of 8,192: two thirds are 28,672 and 2,730, which is 2,816 in whole 256s."""
    found = read(searched((8, 5.25), (0, 0.5), (8, 5.25), (8, 0.0)))
    shape = found.shape
    assert (shape.attention_layers, shape.dense_layers, shape.kv_heads) == (3, 3, 8)
    assert shape.ffn == round((2 * 28672 + 2816) / 3)
    assert any(one.startswith("1 layer has no attention") for one in found.assumptions)


def test_every_part_that_is_left_out_is_said() -> None:
    stated = " ".join(read(QWEN35).assumptions)
    assert "45 of 60 layers keep a state" in stated
    assert "a layer that drafts tokens" in stated
    assert "vision_config" in stated
    assert "2,048 selected tokens" in " ".join(read(SPARSE).assumptions)


@pytest.mark.parametrize(
    "change",
    [
        {"hybrid_override_pattern": "MEMEXM*E"},
        {"hybrid_override_pattern": "MMMM"},
        {"hybrid_override_pattern": "M*EEEE"},
        {"ssm_state_size": None},
        {"mamba_num_heads": "64"},
    ],
    ids=str,
)
def test_lists_of_layers_that_cannot_be_read_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ExchangeError, match="not modelled"):
        read(NANO | change)


def shape_of(data: dict[str, object]) -> TransformerShape:
    return read(data).shape


def steps(shape: TransformerShape, device: Device = H200, split: Split | None = None) -> StepTime:
    bf16 = number_format("bf16")
    return StepTime(shape, device, split or Split(), bf16, bf16, NOTHING, Joins())


def test_only_layers_that_attend_read_the_context() -> None:
    """Qwen3.5-397B: 30,720 bytes a token at .837 of 4.8 TB/s are 7.65 ns; with 60 such layers it would be 30.6 ns."""
    assert steps(shape_of(QWEN35)).context() == pytest.approx(15 * 2 * 512 * 2 / (0.837 * 4.8e12), rel=1e-9)


def test_a_request_more_reads_and_writes_its_states() -> None:
    """45 layers of 4.27 MB, twice, at .85 of 4.8 TB/s: 94 us for a request; products of two rows are those of one."""
    shape = shape_of(QWEN35)
    one = 2 * 45 * (64 * 128 * 128 * 4 + 3 * 12288 * 2) / (0.85 * 4.8e12)
    assert one == pytest.approx(94.1e-6, rel=1e-3)
    here, without = steps(shape), steps(replace(shape, state_values=1, state_kept=0))
    gained = [here.decode(n) - without.decode(n) for n in (1, 64)]
    assert gained == pytest.approx([one, 64 * one], rel=1e-4)


def test_decoding_a_state_is_near_measured_kernels() -> None:
    """Gated delta rule of 32 heads on H200 under vLLM 0.24: 267.3 + 10.7 us for 256 requests, 1,097 for 1,024."""
    state = 32 * 128 * 128 * 4 + 3 * 8192 * 2
    for requests, measured in ((64, 75.6e-6), (256, 278.0e-6), (1024, 1096.9e-6)):
        time = DECODE_FLOOR.value + state_decode(requests * state, H200.bandwidth)
        assert time == pytest.approx(measured, rel=0.1)


def test_selected_tokens_alone_are_read_whatever_the_context() -> None:
    """DeepSeek-V3.2: 132 bytes of each cached token in 61 layers, and 2,048 tokens of 1,152 bytes of each request."""
    shape = shape_of(SPARSE)
    whole = steps(replace(shape, selected_tokens=0, index_heads=0, index_dim=0))
    mine = steps(shape)
    assert mine.context() == pytest.approx(61 * 132 / (0.837 * 4.8e12), rel=1e-9)
    assert whole.context() == pytest.approx(61 * 576 * 2 / (0.837 * 4.8e12), rel=1e-9)
    read = 61 * 2048 * 576 * 2 / (0.837 * 4.8e12)
    assert mine._windows(8) == pytest.approx(8 * read, rel=1e-9)  # pyright: ignore[reportPrivateUsage]
    # beyond this context a step is shorter for it, below it is longer
    assert mine.decode(8) + 8 * 200_000 * mine.context() < whole.decode(8) + 8 * 200_000 * whole.context()
    assert mine.decode(8) + 8 * 1_000 * mine.context() > whole.decode(8) + 8 * 1_000 * whole.context()


@pytest.mark.parametrize(
    "data", [QWEN35, NANO, KIMI, MIMO, GEMMA, SPARSE, COMPRESSED], ids=lambda d: str(d["model_type"])
)
def test_a_step_is_no_faster_than_reading_its_weights_and_prompts_than_their_arithmetic(
    data: dict[str, object],
) -> None:
    shape = shape_of(data)
    split = Split(8, expert=8)
    for device in (H200, with_kernels(H200, "vllm")):
        one = steps(shape, device, split)
        many = 4096
        held = weights_size(shape, number_format("bf16"), 8)
        embedding = shape.vocabulary * shape.hidden * 2 / 8
        assert one.decode(many) >= (held - 2 * embedding) / device.bandwidth * 0.95
        routed = 2 * (shape.active_parameters - shape.embedding_parameters - shape.head_parameters) * many / 8
        assert one.step(many, many * many / 2, 1, 0, 0.0) >= routed / device.flops["bf16"]
        assert one.decode(2) <= one.decode(4) <= one.decode(64)
        assert one.step(256, 256 * 128, 1, 0, 0.0) < one.step(2048, 2048 * 1024, 1, 0, 0.0)
