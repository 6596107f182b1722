"""Classical algorithms: arithmetic and bytes by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import designer
from designer.errors import DesignerError


def estimated(template: str = "hgx-h100-8", **settings: Any) -> Mapping[str, Any]:
    design = designer.with_workload(designer.open_design(template), "c", "classical", **settings)
    return designer.analyze(design, "c").workloads[0].metrics


def fitted(template: str = "hgx-h100-8", **settings: Any) -> dict[str, float]:
    return {name: m.value for name, m in estimated(template, **settings).items()}


def test_k_means_is_bound_by_arithmetic() -> None:
    """3 x 10 million rows x 100 columns x 100 clusters over two processors at .6 of 7.3 TFLOP/s, twenty times."""
    found = fitted(algorithm="k-means", parts=2)
    assert found["pass_time"] == pytest.approx(3 * 1e7 * 100 * 100 / 2 / (0.6 * 7.3e12), rel=0.01)
    assert found["fit_time"] == pytest.approx(20 * found["pass_time"])


def test_a_linear_svm_is_bound_by_memory() -> None:
    """Four bytes for each value, read at .85 of the memory's rate; .3 of that is reached, .01 to .9."""
    found = estimated(algorithm="svm", where="gpus", parts=8)["pass_time"]
    most = 4 * 1e7 * 100 / 8 / (0.85 * 3.35e12)
    assert found.value == pytest.approx(most / 0.3, rel=0.05)
    assert found.low == pytest.approx(most / 0.9, rel=0.05)
    assert found.high == pytest.approx(most / 0.01, rel=0.05)


def test_published_times_of_boosted_trees_lie_inside() -> None:
    """Higgs, 500 trees of 255 leaves on two processors of 2014 (136.5 GB/s, here 153.6); 10 million flights, V100.

    By hand: 4,000 passes over 10.5 million x (28 + 8) bytes at .85 x 153.6 GB/s take 11.6 s, at .04 of that 290 s.
    """
    cpu = estimated("dgx1-v100", algorithm="trees", rows=10_500_000, columns=28, trees=500, depth=8, parts=2)[
        "fit_time"
    ]
    assert cpu.value == pytest.approx(4000 * 10.5e6 * 36 / (0.85 * 153.6e9) / 0.04, rel=0.02)
    assert cpu.low < 238.5 < cpu.high
    gpu = estimated("dgx1-v100", algorithm="trees", rows=10**7, columns=8, trees=100, depth=10, where="gpu0", parts=1)
    assert gpu["fit_time"].value == pytest.approx(1000 * 1e7 * 16 / (0.85 * 900e9) / 0.04, rel=0.05)
    assert gpu["fit_time"].low < 25.6 < gpu["fit_time"].high


def test_trees_take_a_pass_for_each_level() -> None:
    one, deep = (fitted(algorithm="trees", trees=10, depth=depth) for depth in (1, 6))
    assert deep["fit_time"] == pytest.approx(6 * one["fit_time"], rel=1e-6)
    # a bin of a byte for each value, and gradient and curvature of a row
    wide, narrow = (fitted(algorithm="trees", trees=1, depth=1, columns=columns)["fit_time"] for columns in (200, 100))
    assert wide / narrow == pytest.approx((200 + 8) / (100 + 8), rel=0.1)


def test_more_parts_share_the_rows() -> None:
    assert fitted(parts=2)["pass_time"] == pytest.approx(fitted(parts=1)["pass_time"] / 2, rel=0.01)


def test_nothing_to_fit_is_refused() -> None:
    with pytest.raises(DesignerError, match="rows of 0"):
        fitted(rows=0)
