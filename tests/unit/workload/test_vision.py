"""Models that see: encoders, own image networks, samples of another side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import designer
from designer.errors import CatalogError, DesignerError, ExchangeError
from designer.workload.huggingface import ConfigResult, parse_config, read_config
from designer.workload.models import find_model, model
from designer.workload.shape import ConvolutionalShape, TransformerShape
from designer.workload.vision import VisionTower, vision_tower

# The part of a model that sees, by hand from public configurations.

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


# Own image networks as lists of layers.


def _network(*layers: dict[str, Any], sample: str = "3x224x224") -> ConvolutionalShape:
    found = parse_config(json.dumps({"name": "mine", "sample": sample, "layers": list(layers)})).shape
    assert isinstance(found, ConvolutionalShape)
    return found


def test_two_layers_by_hand() -> None:
    """7x7 of stride 2 on 224: 112 x 112 places x 49 x 3 x 64 = 118,013,952; then 64 to 128 in four groups on 56."""
    first = _network({"convolution": [3, 64], "kernel": 7, "stride": 2})
    assert first.flop_forward == 2 * 118_013_952
    assert (first.parameters, first.activations, first.layers) == (49 * 3 * 64 + 64, 112 * 112 * 64, 1)
    assert first.spatial == 0
    both = _network(
        {"convolution": [3, 64], "kernel": 7, "stride": 2},
        {"pool": 2},
        {"convolution": [64, 128], "kernel": 3, "groups": 4, "times": 2},
    )
    second = 56 * 56 * 9 * 16 * 128
    assert both.flop_forward == first.flop_forward + 2 * 2 * second
    assert both.layers == 3
    assert both.spatial == pytest.approx(2 * second / (118_013_952 + 2 * second))


def test_vgg_16_is_the_shipped_one(tmp_path: Path) -> None:
    """Thirteen convolutions and three dense layers, five pools; through a file."""
    layers: list[dict[str, Any]] = []
    inner = 3
    for columns, times in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(times):
            layers.append({"convolution": [inner, columns], "kernel": 3})
            inner = columns
        layers.append({"pool": 2})
    layers += [{"dense": [25088, 4096]}, {"dense": [4096, 4096]}, {"dense": [4096, 1000]}]
    path = tmp_path / "vgg.json"
    path.write_text(json.dumps({"sample": "3x224x224", "layers": layers}), "utf-8")
    found, shipped = read_config(path).shape, model("vgg-16")
    assert isinstance(found, ConvolutionalShape)
    assert isinstance(shipped, ConvolutionalShape)
    assert found.layers == shipped.layers
    assert found.parameters == shipped.parameters
    assert found.flop_forward == pytest.approx(shipped.flop_forward, rel=0.001)
    assert found.activations == pytest.approx(shipped.activations, rel=0.001)
    assert found.spatial == pytest.approx(shipped.spatial, abs=0.005)


def test_a_branch_states_its_side_and_odd_sides_are_rounded_up() -> None:
    there = _network({"convolution": [3, 8], "kernel": 1, "stride": 2}, sample="3x225x225")
    assert there.activations == 8 * 113 * 113
    branch = _network({"convolution": [3, 8], "kernel": 1, "stride": 2}, {"convolution": [3, 8], "side": 225})
    assert branch.activations == 8 * (112 * 112 + 225 * 225)


@pytest.mark.parametrize(
    ("layer", "place", "text"),
    [
        ({"recurrent": 4}, "layers[1]", "no known kind"),
        ({"convolution": [3, 8], "padding": 1}, "layers[1]", "padding"),
        ({"convolution": [3, 8], "kernel": 0}, "layers[1]", "kernel is 0"),
        ({"convolution": [3, 8], "kernel": True}, "layers[1]", "kernel is True"),
        ({"convolution": [3, 8], "groups": 2}, "layers[1]", "do not divide"),
        ({"convolution": 3}, "layers[1]", "convolution is 3"),
        ({"dense": [1, 2, 3]}, "layers[1]", "dense is"),
        ({"dense": [1, 10**9]}, "layers[1]", "1000000000"),
    ],
)
def test_bad_layers_are_refused_at_their_place(layer: dict[str, Any], place: str, text: str) -> None:
    with pytest.raises(ExchangeError, match=text) as caught:
        _network({"dense": [3, 4]}, layer)
    assert caught.value.place == place
    assert caught.value.remedy


@pytest.mark.parametrize("sample", ["", "224", "3x0x4", "3x224", "axbxc"])
def test_a_sample_without_sides_is_refused(sample: str) -> None:
    with pytest.raises(ExchangeError, match="sample is"):
        _network({"dense": [3, 4]}, sample=sample)


def test_no_layers_and_nothing_but_pools_are_refused() -> None:
    for layers in ((), ({"pool": 2},)):
        with pytest.raises(ExchangeError) as caught:
            _network(*layers)
        assert caught.value.place.startswith("layers")


# Convolutional networks on samples of another side: arithmetic and memory grow with the area, weights do not.


def test_four_times_the_area_by_hand() -> None:
    small, large = model("resnet-50"), model("resnet-50@448")
    assert isinstance(small, ConvolutionalShape)
    assert isinstance(large, ConvolutionalShape)
    assert large.flop_forward == 4 * 8180e6
    assert large.activations == 4 * 11_110_000
    assert large.parameters == small.parameters == 25_557_032
    assert large.sample == "3x448x448"
    assert (
        model("resnet-50@224")
        == ConvolutionalShape(
            "ResNet-50 v1.5 at 224 x 224", 54, 25_557_032, small.flop_forward, 11_110_000, "3x224x224", small.spatial
        )
        or model("resnet-50@224").parameters == 25_557_032
    )


def test_one_sample_of_twice_the_side_is_as_four() -> None:
    """64 images of 448 x 448 hold as many activations, and take as long, as 256 of 224 x 224; weights are the same."""
    design = designer.open_design("hgx-h100-8")
    found: list[tuple[float, float]] = []
    for name, batch in (("resnet-50", 64), ("resnet-50@448", 64), ("resnet-50", 256)):
        asked = designer.with_workload(design, "t", "training", model=name, micro_batch=batch)
        metrics = designer.analyze(asked, "t").workloads[0].metrics
        found.append((metrics["compute_time"].value, metrics["memory_per_gpu"].value))
    assert found[1] == pytest.approx(found[2], rel=1e-6)
    # 9.4 GB more for 192 samples: what 64 samples of four times the area hold more than they did
    assert found[1][1] - found[0][1] == pytest.approx(found[2][1] - found[0][1])
    assert found[1][1] > 2.5 * found[0][1]


def test_what_has_no_side_is_refused() -> None:
    with pytest.raises(CatalogError, match="takes no images"):
        model("llama-2-7b@448")
    with pytest.raises(CatalogError, match="samples of 4 x 4"):
        model("resnet-50@4")
    with pytest.raises(CatalogError, match="samples of 999999999"):
        model("resnet-50@" + "9" * 30)
    assert find_model("no-such-model@448") is None
    design = designer.with_workload(designer.open_design("hgx-h100-8"), "t", "training", model="llama-2-7b@448")
    with pytest.raises(DesignerError, match="takes no images"):
        designer.analyze(design, "t")
