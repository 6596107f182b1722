"""Classical algorithms: arithmetic and bytes by hand."""

from __future__ import annotations

from typing import Any

import pytest

import designer
from designer.errors import DesignerError


def fitted(template: str = "hgx-h100-8", **settings: Any) -> dict[str, float]:
    design = designer.with_workload(designer.open_design(template), "c", "classical", **settings)
    return {name: m.value for name, m in designer.analyze(design, "c").workloads[0].metrics.items()}


def test_k_means_is_bound_by_arithmetic() -> None:
    """3 x 10 million rows x 100 columns x 100 clusters over two processors of 7.3 TFLOP/s; twenty passes."""
    found = fitted(algorithm="k-means", parts=2)
    assert found["pass_time"] == pytest.approx(3 * 1e7 * 100 * 100 / 2 / 7.3e12, rel=0.01)
    assert found["fit_time"] == pytest.approx(20 * found["pass_time"])


def test_a_linear_svm_is_bound_by_memory() -> None:
    """Four bytes for each value, read from memory at what it reaches: far more than the arithmetic takes."""
    found = fitted(algorithm="svm", where="gpus", parts=8)
    size = 4 * 1e7 * 100 / 8
    assert size / 3.35e12 < found["pass_time"] < 1.6 * size / 3.35e12
    assert found["pass_time"] > 10 * (4 * 1e7 * 100 / 8 / 67e12)


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
