"""Hashes of rows of numbers, for grouping equal structures and for spreading flows over cables."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Int = npt.NDArray[np.int64]
Hash = npt.NDArray[np.uint64]

#: multipliers and shifts of splitmix64 (Steele, Lea & Flood 2014)
_STEP, _FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_HIGH, _MIDDLE, _LOW, _MANTISSA = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)

#: binary digits of a figure that distinguish classes, and those left for its exponent
_MANTISSA_DIGITS: Final = 34
_EXPONENT_DIGITS: Final = 12

#: more different values than this are found by sorting the rows
_FEW: Final = 4096
#: rows hashed at a time: what is worked on stays in the cache of a core
_BLOCK: Final = 16_384


def mix(*columns: Int) -> Hash:
    """A 64-bit hash of each row; sums of such hashes distinguish sets of rows. : columns, hash of any shape"""
    shape = np.broadcast_shapes(*(column.shape for column in columns))
    if len(shape) > 1:
        columns = np.broadcast_arrays(*columns)
    found = np.zeros(shape, dtype=np.uint64)
    moved = np.empty((min(_BLOCK, len(found)), *shape[1:]), dtype=np.uint64)
    for start in range(0, len(found), _BLOCK):
        state = found[start : start + _BLOCK]
        shifted = moved[: len(state)]
        for column in columns:
            state += column[start : start + _BLOCK].astype(np.uint64, copy=False)
            state += _STEP
            for digits, factor in ((_HIGH, _FIRST), (_MIDDLE, _SECOND)):
                state ^= np.right_shift(state, digits, out=shifted)
                state *= factor
            state ^= np.right_shift(state, _LOW, out=shifted)
    return found


def how_many(values: npt.NDArray[np.generic]) -> int:
    """How many different values there are."""
    if not len(values):
        return 0
    ordered = np.sort(values)
    return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))


def distinct(values: npt.NDArray[np.generic]) -> tuple[Int, Int, Int]:
    """Different values in the order they come in: the first row of each, the number of each row's, and how many rows.

    Notes
    -----
    Sorting values is a tenth of the work of sorting rows by them, and of a million rows few differ.
    """
    if not len(values):
        none = np.empty(0, dtype=np.int64)
        return none, none, none
    ordered = np.sort(values)
    met = ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])]
    if len(met) > _FEW:
        _, first, of, many = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    else:
        of = np.searchsorted(met, values)
        first = np.empty(len(met), dtype=np.int64)
        # written back to front, so that the first of each stays
        first[of[::-1]] = np.arange(len(values))[::-1]
        many = np.bincount(of)
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return first[order], place[of], many[order]


def rounded(figures: npt.NDArray[np.float64], digits: int = _MANTISSA_DIGITS) -> Int:
    """A number for each figure: the same for figures that are equal to so many binary digits; −1 for infinite ones."""
    flat = figures.ravel()
    found = np.empty(len(flat), dtype=np.int64)
    for start in range(0, len(flat), _BLOCK):
        some = flat[start : start + _BLOCK]
        finite = np.isfinite(some)
        mantissa, exponent = np.frexp(some if finite.all() else np.where(finite, some, 0.0))
        here = (np.rint(np.ldexp(mantissa, digits)).astype(np.int64) << _EXPONENT_DIGITS) + exponent
        found[start : start + _BLOCK] = here if finite.all() else np.where(finite, here, -1)
    return found.reshape(figures.shape)


def draw(seed: int, *columns: Int) -> npt.NDArray[np.float64]:
    """A number from 0 up to 1 for each row, the same for the same seed."""
    rows = mix(*columns, np.full(len(columns[0]), seed))
    return (rows >> _MANTISSA).astype(np.float64) / 2.0**53
