"""Measured kernel times of one GPU under one engine, interpolated; laws carry them beyond what was measured.

A table holds times of the GPU it was measured on. A device with other rates, or a shape outside the table, takes the
time at the nearest measured shape times what a law says of the difference, so a table never changes what more compute,
more bandwidth or more tokens do to a time.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, FlopPerSecond

Float = npt.NDArray[np.float64]

#: cells within this distance of the nearest one count as well, less the farther they are; natural logarithm
_NEAR_LIMIT: Final = 0.7
#: another head size or width of cached values changes an attention kernel more than another number of heads does
_SIZE_WEIGHT: Final = Constant(
    4.0, 2.0, 8.0, "assumed-serving", Status.ASSUMED, "1", "of distances in logarithms"
).value
#: distance at which a shape of experts counts half as much as one at the same place, less the square of it
_HALF_DISTANCE: Final = Constant(0.1, 0.05, 0.3, "assumed-serving", Status.ASSUMED, "1", "logarithm").value


@dataclass(frozen=True, slots=True)
class Sheet:
    """The data sheet of the GPU a table was measured on: rates by format [FLOP/s], bandwidth [B/s], multiprocessors."""

    flops: Mapping[str, FlopPerSecond] = field(hash=False)
    bandwidth: BytesPerSecond
    units: int


@dataclass(frozen=True, slots=True)
class AttentionFit:
    """Attention of one layer: time = floor + each x requests or tokens + work over a share of the data sheet.

    Parameters
    ----------
    floor, each
        Fixed, and for each request (decode) or token (prompts) [s]; nan where only the share was measured.
    share
        Of memory bandwidth (decode) or of the 16-bit rate (prompts) [1].
    """

    floor: float
    each: float
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class AttentionCells:
    """Fits by heads, key-value heads and head size of a device, and bytes of a cached value.

    Parameters
    ----------
    cells : (n, 4)
    fits : (n, 3) floor [s], each [s], inverse share [1]
    """

    cells: Float
    fits: Float

    def at(self, heads: float, shared_heads: float, head_size: float, element: Bytes) -> AttentionFit | None:
        """The nearest fit, None where nothing of the kind was measured; `shared_heads` is 0 for latent attention.

        Parameters
        ----------
        element
            Of a cached value [B].
        """
        if not len(self.cells):
            return None
        usable = ((self.cells[:, 1] == 0) == (shared_heads == 0)) & (self.fits[:, 2] > 0)
        if not usable.any():
            return None
        cells, fits = self.cells[usable], self.fits[usable]
        distance = np.abs(np.log(cells[:, 0] / max(1.0, heads)))
        distance += _SIZE_WEIGHT * (np.abs(np.log(cells[:, 2] / head_size)) + np.abs(np.log(cells[:, 3] / element)))
        if shared_heads:
            distance += np.abs(np.log(cells[:, 1] / max(1.0, shared_heads)))
        floor, each, inverse = (float(x) for x in fits[int(np.argmin(distance))])
        return AttentionFit(floor, each, 1 / inverse)


class Products:
    """Times of products in one format on a grid.

    Parameters
    ----------
    rows, columns, inner
        Ascending sizes of the grid.
    times : (rows, columns, inner) [s]
    """

    def __init__(self, rows: Sequence[float], columns: Sequence[float], inner: Sequence[float], times: Float) -> None:
        self._ends = tuple((axis[0], axis[-1]) for axis in (rows, columns, inner))
        self._axes = tuple([math.log(x) for x in axis] for axis in (rows, columns, inner))
        self._log = np.log(times).tolist()

    def at(self, rows: float, columns: float, inner: float) -> tuple[float, tuple[float, float, float]]:
        """The time at the nearest measured shape [s], and that shape."""
        inside = tuple(
            min(max(x, low), high) for x, (low, high) in zip((rows, columns, inner), self._ends, strict=True)
        )
        (i, u), (j, v), (k, w) = (_place(axis, math.log(x)) for axis, x in zip(self._axes, inside, strict=True))
        log = self._log
        found = 0.0
        for di, a in ((0, 1 - u), (1, u)):
            if a:
                plane = log[i + di]
                for dj, b in ((0, 1 - v), (1, v)):
                    if b:
                        line = plane[j + dj]
                        found += a * b * ((1 - w) * line[k] + (w * line[k + 1] if w else 0.0))
        return math.exp(found), (inside[0], inside[1], inside[2])


def _place(axis: Sequence[float], x: float) -> tuple[int, float]:
    """The cell of an axis that `x` is in, and where in it from 0 to 1."""
    k = min(max(bisect_right(axis, x) - 1, 0), len(axis) - 2)
    return k, min(max((x - axis[k]) / (axis[k + 1] - axis[k]), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class ExpertShape:
    """The routed experts of a layer on one device: `cut` devices share each expert, `spread` share them out whole."""

    hidden: int
    inner: int
    chosen: int
    experts: int
    cut: int
    spread: int

    def vector(self) -> tuple[float, ...]:
        """What shapes are compared by: what a device holds and how much of it a token needs."""
        held = max(1.0, self.experts / self.spread)
        return (
            math.log(self.hidden),
            math.log(self.inner / self.cut),
            math.log(self.chosen / self.experts),
            math.log(held),
        )


class Experts:
    """Times of the routed experts of a layer in one format, by shape, over tokens of all devices together.

    Parameters
    ----------
    times : (shapes, tokens) [s]
    """

    def __init__(self, shapes: Sequence[ExpertShape], tokens: Sequence[float], times: Float) -> None:
        self.shapes = tuple(shapes)
        self._number = {shape: k for k, shape in enumerate(self.shapes)}
        self._vectors = np.array([shape.vector() for shape in self.shapes])
        self._tokens = [math.log(x) for x in tokens]
        self._times = times

    def nearest(self, wanted: ExpertShape) -> tuple[tuple[ExpertShape, float], ...]:
        """Measured shapes near a wanted one, with weights that add up to 1; itself alone where it was measured."""
        if wanted in self._number:
            return ((wanted, 1.0),)
        distance = np.abs(self._vectors - np.array(wanted.vector())).sum(axis=1)
        near = np.flatnonzero(distance <= distance.min() + _NEAR_LIMIT)
        weight = 1 / (_HALF_DISTANCE + distance[near]) ** 2
        weight /= weight.sum()
        return tuple((self.shapes[int(k)], float(w)) for k, w in zip(near, weight, strict=True))

    def time(self, shape: ExpertShape, tokens: float) -> tuple[float, float]:
        """Time of a measured shape at the nearest measured number of tokens [s], and that number."""
        line = self._times[self._number[shape]]
        log = min(max(math.log(tokens), self._tokens[0]), self._tokens[-1]) if tokens > 0 else self._tokens[0]
        k, w = _place(self._tokens, log)
        a, b = math.log(line[k]), math.log(line[k + 1])
        return math.exp(a + (b - a) * w), math.exp(log)


@dataclass(frozen=True, slots=True, eq=False)
class KernelTable:
    """What was measured of one GPU under one engine.

    Parameters
    ----------
    part, engine
        The type of the GPU, such as ``gpu/nvidia/h100-sxm5``, and the engine.
    products, experts
        By number format.
    refused
        Measured times that were not taken, by table: below the roofline, or far above other engines'.
    """

    part: str
    engine: str
    sheet: Sheet
    products: Mapping[str, Products]
    experts: Mapping[str, Experts]
    decode: AttentionCells
    prefill: AttentionCells
    releases: Mapping[str, str]
    refused: Mapping[str, int]


FORMULA: Final = Formula(
    "kernel-table",
    "Measured kernel times",
    Products,
    ("aic-tables",),
    "products within 4 to 6 % of a point left out, attention 3 to 6 %, experts 10 %",
)
