"""A dense matrix product by its shape: roofline at the share of peak its generation sustains."""

from __future__ import annotations

from typing import Final

from designer.formulas.accelerator import Accelerator
from designer.formulas.calibration import share
from designer.formulas.compute.roofline import roofline_time
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, Flop, FlopPerSecond, Seconds

#: inner length at which half the sustained rate is lost to filling and draining the multiply pipeline
INNER_HALF: Final = Constant(
    245.0, 140.0, 340.0, "fit-training", Status.DERIVED, "1", "Megatron 22B to 1T, MPT 125M to 70B"
)


def matrix_rate(accelerator: Accelerator, number_format: str, inner: float) -> FlopPerSecond:
    """Rate a product with inner length `inner` sustains in training [FLOP/s]."""
    row = accelerator.calibration
    runs_as = accelerator.runs_as(number_format)
    reached = share(row.best, runs_as).value * row.sustained.value * accelerator.clock(number_format).value
    return FlopPerSecond(accelerator.peak(number_format) * reached * inner / (inner + INNER_HALF.value))


def gemm_time(
    rows: float,
    inner: float,
    columns: float,
    accelerator: Accelerator,
    number_format: str,
    operand_bytes: Bytes,
    result_bytes: Bytes,
    launch: Seconds,
) -> Seconds:
    """Time of a (rows x inner) by (inner x columns) product [s].

    Parameters
    ----------
    operand_bytes, result_bytes
        Bytes per element read and written [B].
    launch
        Launch, ramp and tail of the kernel [s].

    Notes
    -----
    2 x rows x inner x columns operations at peak x best x sustained x inner/(inner + half).
    """
    traffic = operand_bytes * (rows * inner + inner * columns) + result_bytes * rows * columns
    return roofline_time(
        Flop(2 * rows * inner * columns),
        Bytes(traffic),
        matrix_rate(accelerator, number_format, inner),
        accelerator.memory_bandwidth,
        launch,
    )


FORMULA: Final = Formula(
    "gemm",
    "Matrix product by shape",
    gemm_time,
    ("mamf", "fit-training", "roofline-2009"),
    "dense products of 256 and more per side",
)
