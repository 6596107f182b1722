"""A dense matrix product by its shape: roofline at the share of peak its generation sustains."""

from __future__ import annotations

import math
from typing import Final

from designer.formulas.accelerator import Accelerator
from designer.formulas.calibration import share
from designer.formulas.compute.roofline import roofline_time
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, Flop, FlopPerSecond, Ratio, Seconds

#: inner length at which half the sustained rate is lost to filling and draining the multiply pipeline
INNER_HALF: Final = Constant(
    200.0, 140.0, 340.0, "assumed-training", Status.ASSUMED, "1", "fitted, it comes out between 200 and 300"
)
#: peak of one multiprocessor of the part this length is fitted on: filling and draining a tile takes a time rather
#: than a length, so where a multiprocessor is quicker, the length at which half is lost is longer
UNIT_RATE: Final = Constant(
    312e12 / 108, 312e12 / 108, 312e12 / 108, "counted-training", Status.DERIVED, "FLOP/s", "A100, 16 bit"
)
#: rows and columns of the tiles that kernels cut a result into
TILE: Final = Constant(128, 64, 256, "aic-kernels", Status.DERIVED, "1")


def whole_waves(rows: float, columns: float, units: int) -> Ratio:
    """Time of a product in whole waves of tiles over its time if the last wave were full [1].

    Parameters
    ----------
    units
        Multiprocessors; 0 where unknown: waves are full.

    Notes
    -----
    sqrt(ceil(w) / w) of w = tiles / units: to the half power because kernels with other tiles take the worst of it
    away.
    """
    if units < 1:
        return Ratio(1.0)
    waves = math.ceil(rows / TILE.value) * math.ceil(columns / TILE.value) / units
    return Ratio(math.sqrt(math.ceil(waves) / waves))


def matrix_rate(accelerator: Accelerator, number_format: str, inner: float) -> FlopPerSecond:
    """Rate a product with inner length `inner` sustains in training [FLOP/s]."""
    row = accelerator.calibration
    runs_as = accelerator.runs_as(number_format)
    clocked = accelerator.peak(number_format) * accelerator.clock(number_format).value
    half = INNER_HALF.value
    if accelerator.units:
        half *= max(1.0, clocked / accelerator.units / UNIT_RATE.value)
    reached = share(row.best, runs_as).value * row.sustained.value
    return FlopPerSecond(clocked * reached * inner / (inner + half))


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
    2 x rows x inner x columns operations at peak x best x sustained x inner/(inner + half), in whole waves of tiles.
    """
    traffic = operand_bytes * (rows * inner + inner * columns) + result_bytes * rows * columns
    return roofline_time(
        Flop(2 * rows * inner * columns),
        Bytes(traffic),
        FlopPerSecond(matrix_rate(accelerator, number_format, inner) / whole_waves(rows, columns, accelerator.units)),
        accelerator.memory_bandwidth,
        launch,
    )


FORMULA: Final = Formula(
    "gemm",
    "Matrix product by shape",
    gemm_time,
    ("mamf", "fit-training", "roofline-2009", "aic-kernels"),
    "dense products of 256 and more per side",
)
