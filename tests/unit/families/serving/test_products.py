"""Matrix products as workloads: by hand, at measured shapes, and what holds them back."""

from __future__ import annotations

import math

import pytest

import designer
from designer.design.document import WorkloadSpec, with_changes
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.families.serving.devices import kernel_table
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas.single_product import single_product


def asked(template: str, **settings: object) -> WorkloadResult:
    design = designer.open_design(template)
    spec = WorkloadSpec(id="w", kind="product", settings=settings)
    return designer.analyze(with_changes(design, workloads=[spec]), ["w"]).workloads[0]


H100 = Device("H100", {"bf16": 989e12, "fp16": 989e12}, 3.35e12, 80e9, 132, architecture="Hopper GH100")


def test_a_large_product_by_hand() -> None:
    """H100, 8192 x 8192 x 8192 in bf16: 64 x 64 tiles of 128 x 128 on 132 multiprocessors are 31.03 waves, 32 whole.

    2 x 8192 x 8192 x (8192 + 119) FLOP x sqrt(32 / 31.03) at .866 of 989 TFLOP/s are 1.322 ms; memory takes
    3 x 8192 x 8192 x 2 B at .857 of 3.35 TB/s, .14 ms; a kernel 3.7 us at least:
    1.322 (1 + (.14 / 1.322)^3.06)^(1 / 3.06) + .0037 = 1.326 ms, 829 TFLOP/s, by the law. Measured are 1.542 ms, 713.
    """
    compute = 2 * 8192**2 * (8192 + 119) * math.sqrt(32 / (4096 / 132)) / (0.866 * 989e12)
    memory = 3 * 8192**2 * 2 / (0.857 * 3.35e12)
    by_hand = 3.7e-6 + compute * (1 + (memory / compute) ** 3.06) ** (1 / 3.06)
    assert single_product(8192, 8192, 8192, number_format("bf16"), H100).seconds == pytest.approx(by_hand, rel=2e-3)
    found = asked("hgx-h100-8", m=8192, n=8192, k=8192)
    time, rate = found.metrics["product_time"], found.metrics["product_rate"]
    assert time.value == pytest.approx(1.542e-3, rel=2e-3)
    assert rate.value == pytest.approx(2 * 8192**3 / time.value)
    assert time.low < time.value < time.high
    assert rate.low == pytest.approx(2 * 8192**3 / time.high)
    assert found.binding[0].what == "compute"


def test_one_row_waits_for_the_weights_by_hand() -> None:
    """8192 x 8192 weights of 2 B at .857 of 3.35 TB/s: 46.8 us, and 3.7 us of the kernel; measured are 48.6 us."""
    law = single_product(1, 8192, 8192, number_format("bf16"), H100).seconds
    assert law == pytest.approx(46.8e-6 + 3.7e-6, rel=0.01)
    found = asked("hgx-h100-8", m=1, n=8192, k=8192)
    assert found.metrics["product_time"].value == pytest.approx(48.6e-6, rel=0.01)
    assert "memory" in found.binding[0].label


def test_a_measured_shape_takes_what_was_measured() -> None:
    """B200: the table has 8,192 rows; its time at the shape is the answer."""
    table = kernel_table("gpu/nvidia/b200", "Blackwell", 8e12, "vllm")
    assert table is not None
    measured, at = table.products["bf16"].at(4096, 4096, 4096)
    assert at == (4096, 4096, 4096)
    found = asked("dgx-b200", m=4096, n=4096, k=4096)
    assert found.metrics["product_time"].value == pytest.approx(measured, rel=1e-6)


def test_half_the_bytes_take_less_and_every_length_more() -> None:
    shape = {"m": 4096, "n": 4096, "k": 4096}
    whole = asked("hgx-h100-8", **shape).metrics["product_time"].value
    assert asked("hgx-h100-8", **shape, precision="fp8").metrics["product_time"].value < whole
    for name in shape:
        assert asked("hgx-h100-8", **{**shape, name: 8192}).metrics["product_time"].value > whole


@pytest.mark.parametrize("name", ["m", "n", "k"])
def test_nothing_to_multiply_is_refused_at_its_place(name: str) -> None:
    with pytest.raises(AnalysisError, match="no rows, columns or length") as refused:
        asked("hgx-h100-8", **{name: 0})
    assert refused.value.place == f"workloads.w.{name}"


def test_what_cannot_compute_is_refused() -> None:
    with pytest.raises(AnalysisError, match=r"cannot serve|names no part"):
        asked("serving-cpu-2s", group="memory")
