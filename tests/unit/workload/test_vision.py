"""The part of a model that sees, by hand from public configurations."""

from __future__ import annotations

import json

import pytest

from designer.workload.huggingface import ConfigResult, parse_config
from designer.workload.models import model
from designer.workload.shape import TransformerShape
from designer.workload.vision import VisionTower, vision_tower

TEXT: dict[str, object] = {
    "hidden_size": 3584,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "intermediate_size": 18944,
    "vocab_size": 152064,
}
#: Qwen2.5-VL-7B-Instruct, config.json
QWEN = {
    "model_type": "qwen2_5_vl",
    "depth": 32,
    "hidden_size": 1280,
    "intermediate_size": 3420,
    "num_heads": 16,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "window_size": 112,
    "fullatt_block_indexes": [7, 15, 23, 31],
}
#: gemma-3-27b-it, config.json: SigLIP-So400m
SIGLIP = {
    "model_type": "siglip_vision_model",
    "hidden_size": 1152,
    "image_size": 896,
    "intermediate_size": 4304,
    "num_attention_heads": 16,
    "num_hidden_layers": 27,
    "patch_size": 14,
}
#: Llama-4-Scout-17B-16E-Instruct, config.json
LLAMA = {
    "model_type": "llama4_vision_model",
    "hidden_size": 1408,
    "image_size": 336,
    "intermediate_size": 5632,
    "num_attention_heads": 16,
    "num_hidden_layers": 34,
    "patch_size": 14,
    "pixel_shuffle_ratio": 0.5,
}


def read(tower: object, **outer: object) -> ConfigResult:
    config = {"model_type": "qwen2_5_vl", **TEXT, **outer, "vision_config": tower}
    return parse_config(json.dumps(config), "a model")


def test_qwen_by_hand() -> None:
    """1,036 x 1,036 pixels: 74 x 74 patches of 14, 37 x 37 tokens of four.

    Parameters: 32 x (4 x 1,280 squared + 3 x 1,280 x 3,420) = 630 million; the two products that join them
    5,120 squared + 5,120 x 3,584 = 44.6 million; patches .75 million. Arithmetic: 2 x 5,476 x 630.9 million = 6.91
    TFLOP; joining 2 x 1,369 x 44.6 million = .12; attention of 4 layers to 5,476 patches and of 28 to windows of 64:
    4 x 5,476 x (4 x 5,476 + 28 x 64) x 1,280 = .66 TFLOP.
    """
    tower = read(QWEN).shape.vision
    assert tower is not None
    assert (tower.patches(1036, 1036), tower.tokens(1036, 1036)) == (74 * 74, 37 * 37)
    assert tower.parameters == pytest.approx(630.0e6 + 44.6e6 + 0.75e6, rel=1e-3)
    assert tower.arithmetic(1036, 1036) == pytest.approx(6.91e12 + 0.122e12 + 0.664e12, rel=2e-3)
    # sides are rounded to whole tokens of 28 pixels
    assert tower.tokens(1024, 768) == 37 * 27
    assert tower.tokens(5, 5) == 1


def test_gemma_by_hand() -> None:
    """896 x 896 pixels, whatever an image has: 64 x 64 patches, 256 tokens.

    27 x (4 x 1,152 squared + 2 x 1,152 x 4,304) = 411 million, patches .68, joining 1,152 x 3,584 = 4.1. Arithmetic
    2 x 4,096 x 411.7 million = 3.373 TFLOP, joining .002, attention 4 x 4,096 squared x 27 x 1,152 = 2.087.
    """
    tower = read(SIGLIP, mm_tokens_per_image=256).shape.vision
    assert tower is not None
    assert [tower.tokens(*sides) for sides in ((100, 100), (896, 896), (4000, 3000))] == [256] * 3
    assert tower.patches(4000, 3000) == 4096
    assert tower.parameters == pytest.approx(411.1e6 + 0.68e6 + 4.13e6, rel=1e-3)
    assert tower.arithmetic(896, 896) == pytest.approx(3.373e12 + 0.0021e12 + 2.087e12, rel=2e-3)


def test_llama_4_cuts_images_into_tiles_by_hand() -> None:
    """Tiles of 336: 24 x 24 patches, a quarter of them tokens: 144. Four by four tiles, and the whole in small: 17."""
    tower = read(LLAMA).shape.vision
    assert tower is not None
    assert tower.tokens(336, 336) == 144
    assert tower.tokens(337, 336) == 3 * 144
    assert tower.tokens(1344, 1344) == 17 * 144
    assert tower.tokens(5000, 5000) == 17 * 144
    assert tower.patches(1344, 1344) == 17 * 576
    # attention stays inside a tile
    one, all_tiles = tower.arithmetic(336, 336), tower.arithmetic(1344, 1344)
    assert all_tiles == pytest.approx(17 * one)


@pytest.mark.parametrize(("name", "tower"), [("gemma-3-27b", SIGLIP), ("llama-4-scout", LLAMA)])
def test_shipped_models_see_as_their_configurations_say(name: str, tower: dict[str, object]) -> None:
    shape = model(name)
    assert isinstance(shape, TransformerShape)
    outer = {"mm_tokens_per_image": 256} if name.startswith("gemma") else {}
    assert shape.vision == vision_tower(tower, outer, shape.hidden)


#: the same sizes under the names that families give them, and tokens of 448 x 448 pixels
FAMILIES: list[tuple[dict[str, object], dict[str, object], int]] = [
    # Qwen2-VL: the width of the tower is embed_dim, hidden_size that of the model
    (
        {
            "depth": 32,
            "embed_dim": 1280,
            "hidden_size": 3584,
            "mlp_ratio": 4,
            "num_heads": 16,
            "patch_size": 14,
            "spatial_merge_size": 2,
        },
        {},
        256,
    ),
    # Kimi-VL: MoonViT
    (
        {
            "vt_num_hidden_layers": 27,
            "vt_hidden_size": 1152,
            "vt_intermediate_size": 4304,
            "vt_num_attention_heads": 16,
            "patch_size": 14,
            "merge_kernel_size": [2, 2],
        },
        {},
        256,
    ),
    # Mistral Small 3.1: Pixtral, merged by the model around it
    (
        {
            "num_hidden_layers": 24,
            "hidden_size": 1024,
            "intermediate_size": 4096,
            "num_attention_heads": 16,
            "patch_size": 14,
            "image_size": 1540,
            "model_type": "pixtral",
        },
        {"spatial_merge_size": 2},
        256,
    ),
    # InternVL: tiles of 448, a quarter of the patches
    (
        {
            "num_hidden_layers": 24,
            "hidden_size": 1024,
            "intermediate_size": 4096,
            "num_attention_heads": 16,
            "patch_size": 14,
            "image_size": 448,
        },
        {"downsample_ratio": 0.5, "max_dynamic_patch": 12},
        256,
    ),
    # MiniMax-M3: merged as an object of its own says
    (
        {
            "num_hidden_layers": 32,
            "hidden_size": 1280,
            "intermediate_size": 5120,
            "num_attention_heads": 16,
            "patch_size": 14,
            "image_size": 2016,
            "img_token_compression_config": {"spatial_merge_size": 2},
        },
        {},
        256,
    ),
    # Gemma 4: three by three patches pooled, 280 tokens whatever the sides
    (
        {
            "num_hidden_layers": 27,
            "hidden_size": 1152,
            "intermediate_size": 4304,
            "num_attention_heads": 16,
            "patch_size": 16,
            "pooling_kernel_size": 3,
            "default_output_length": 280,
        },
        {},
        280,
    ),
    # LLaVA: every patch is a token, images are brought to one size
    (
        {
            "num_hidden_layers": 24,
            "hidden_size": 1024,
            "intermediate_size": 4096,
            "num_attention_heads": 16,
            "patch_size": 14,
            "image_size": 336,
        },
        {},
        576,
    ),
]


@pytest.mark.parametrize(("tower", "outer", "tokens"), FAMILIES)
def test_towers_of_families(tower: dict[str, object], outer: dict[str, object], tokens: int) -> None:
    found = read(tower, **outer)
    assert found.shape.vision is not None
    assert found.shape.vision.tokens(448, 448) == tokens
    assert found.shape.vision.hidden in (1024, 1152, 1280)
    assert found.shape.vision.patches(448, 448) >= tokens
    assert any("part that sees" in one for one in found.assumptions)


@pytest.mark.parametrize(
    "tower", [{"depth": 3}, {"hidden_size": 5, "depth": 2, "patch_size": 0}, {"model_type": "clip"}]
)
def test_towers_that_lack_a_size_are_left_out_in_words(tower: object) -> None:
    found = read(tower)
    assert found.shape.vision is None
    assert any("left out: requests are of text" in one for one in found.assumptions)


def test_hostile_towers_do_no_harm() -> None:
    for value in (-1, 0, 10**12, "many", [], [True], {"a": 1}, 1e300):
        tower = read({**QWEN, "depth": value}).shape.vision
        assert tower is None or isinstance(tower, VisionTower)
        other = read({**QWEN, "patch_size": value, "spatial_merge_size": value}).shape.vision
        assert other is None or other.tokens(1000, 1000) >= 1
