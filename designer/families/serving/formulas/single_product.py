"""A matrix product alone on a device: its measured kernel where there is one, else the law fitted on such kernels."""

from __future__ import annotations

from typing import Final, NamedTuple

from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._kernels import NARROW_UNIT_RATE, UNIT_RATE
from designer.families.serving.formulas._number_format import NumberFormat
from designer.families.serving.formulas._terms import NUMBERS
from designer.families.serving.formulas.gemm_law import gemm_parts
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, Ratio, Seconds

_HALF_SIZE: Final = Bytes(2.0)
_NARROW: Final = ("fp8", "int8", "fp4")
#: logarithm of the factor either way: 1.9 times the median error of the law where kernels were fitted, 7 %
MEASURED: Final = Constant(0.13, 0.1, 0.2, "aic-kernels", Status.DERIVED, "1", "H100 and H200, without refit")
#: and elsewhere, 18 %
UNMEASURED: Final = Constant(0.34, 0.25, 0.5, "aic-kernels", Status.DERIVED, "1", "A100, L40S, B200, without refit")


class ProductParts(NamedTuple):
    """A product in parts: least time of a kernel, arithmetic, memory [s], and how abruptly the latter meet [1]."""

    least: Seconds
    compute: Seconds
    memory: Seconds
    sharpness: Ratio

    @property
    def seconds(self) -> Seconds:
        """All of it [s]."""
        return Seconds(NUMBERS.kernel(*self))

    def scaled(self, by: Ratio) -> ProductParts:
        """Every part so many times as long."""
        return ProductParts(
            Seconds(self.least * by), Seconds(self.compute * by), Seconds(self.memory * by), self.sharpness
        )


def single_product(rows: float, columns: float, inner: float, how: NumberFormat, device: Device) -> ProductParts:
    """The parts of a (rows x inner) by (inner x columns) product.

    Notes
    -----
    On a device whose kernels were measured, the law only carries the nearest measured shape to this one.

    Raises
    ------
    AnalysisError
        If the device has no rate for the format.
    """
    law = _law(rows, columns, inner, how, device)
    table = device.table.products.get("bf16" if how.name == "fp16" else how.name) if device.table is not None else None
    if table is None:
        return law
    time, at = table.at(rows, columns, inner)
    return law.scaled(Ratio(time / _law(*at, how, device).seconds))


def _law(rows: float, columns: float, inner: float, how: NumberFormat, device: Device) -> ProductParts:
    runs, kernels = device.runs_as(how), device.kernels
    narrow = how.narrow and runs in _NARROW
    size = how.size.value if narrow else max(_HALF_SIZE, how.size.value)
    measured = (NARROW_UNIT_RATE if narrow else UNIT_RATE).value
    law = (
        (kernels.narrow_compute, kernels.narrow_memory, kernels.narrow_floor)
        if narrow
        else (kernels.compute, kernels.memory, kernels.floor)
    )
    half = kernels.inner * max(1.0, device.flops[runs] / device.units / measured)
    parts = gemm_parts(
        rows, columns, inner, Bytes(size), Bytes(size), device.flops[runs], device.bandwidth, device.units, law, half
    )
    return ProductParts(Seconds(law[2]), *parts, kernels.sharpness)


FORMULA: Final = Formula(
    "single-product",
    "Matrix product alone",
    single_product,
    ("aic-kernels",),
    "1 to 65,536 rows on data-centre GPUs, nothing else running",
)
