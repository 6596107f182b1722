"""A matrix product in serving, from a handful of rows up: a floor, then compute and memory meeting smoothly."""

from __future__ import annotations

import math
from typing import Final

from designer.families.serving.formulas._terms import NUMBERS
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, FlopPerSecond, Ratio, Seconds

#: rows and columns of the tiles that kernels cut a result into
TILE: Final = Constant(128, 64, 256, "aic-kernels", Status.DERIVED, "1")
#: with fewer rows the tiles are this high
LOW_TILE: Final = Constant(64, 16, 64, "aic-kernels", Status.DERIVED, "1")
_TILE, _LOW_TILE = TILE.value, LOW_TILE.value


def gemm_parts(
    rows: float,
    columns: float,
    inner: float,
    weight_size: Bytes,
    operand_size: Bytes,
    peak: FlopPerSecond,
    bandwidth: BytesPerSecond,
    units: int,
    law: tuple[float, float, float],
    half: float,
) -> tuple[Seconds, Seconds]:
    """Seconds of arithmetic and of memory of a (rows x inner) by (inner x columns) product [s].

    Parameters
    ----------
    weight_size, operand_size
        Bytes per weight and per value that comes in [B]; results are of 2 bytes.
    peak, bandwidth
        Of the data sheet [FLOP/s, B/s].
    units
        Multiprocessors; a last wave that fills few of them takes as long as a full one.
    law
        Share of peak, share of bandwidth, least time [s].

    Notes
    -----
    c = 2 m n k sqrt(q) / (share peak k/(k + half)) and b the bytes over bandwidth; q is whole waves over waves, to the
    half power because kernels with other tiles take the worst of it away.
    """
    share, read, _ = law
    high = _LOW_TILE if rows <= _LOW_TILE else _TILE
    waves = math.ceil(rows / high) * math.ceil(columns / _TILE) / units
    compute = 2 * rows * columns * (inner + half) * math.sqrt(math.ceil(waves) / waves) / (share * peak)
    traffic = columns * inner * weight_size + rows * inner * operand_size + 2 * rows * columns
    return Seconds(compute), Seconds(traffic / (read * bandwidth))


def gemm_law(
    rows: float,
    columns: float,
    inner: float,
    weight_size: Bytes,
    operand_size: Bytes,
    peak: FlopPerSecond,
    bandwidth: BytesPerSecond,
    units: int,
    law: tuple[float, float, float],
    sharpness: Ratio,
    half: float,
) -> Seconds:
    """Time of a (rows x inner) by (inner x columns) product [s]: a floor, then its parts meeting smoothly.

    Parameters are those of `gemm_parts`; `sharpness` is how abruptly arithmetic and memory meet.
    """
    if rows <= 0:
        return Seconds(0.0)
    parts = gemm_parts(rows, columns, inner, weight_size, operand_size, peak, bandwidth, units, law, half)
    return NUMBERS.kernel(law[2], *parts, sharpness)


FORMULA: Final = Formula(
    "gemm-law",
    "Matrix product in serving",
    gemm_law,
    ("aic-kernels",),
    "1 to 65,536 rows on data-centre GPUs: 7 % in the median on H100 and H200, 18 % on others without refit",
)
