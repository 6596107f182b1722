"""Own image networks as lists of layers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from designer.errors import ExchangeError
from designer.workload.huggingface import parse_config, read_config
from designer.workload.models import model
from designer.workload.shape import ConvolutionalShape


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
