"""Convolutional networks on samples of another side: arithmetic and memory grow with the area, weights do not."""

from __future__ import annotations

import pytest

import designer
from designer.errors import CatalogError, DesignerError
from designer.workload.models import find_model, model
from designer.workload.shape import ConvolutionalShape


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
