"""Partitions: rows that nothing distinguishes form a class, and one of a class represents all.

A partition is found by columns of numbers, by refining colours over pairs until neighbours agree (the coarsest
equitable partition), or out of another one in which some rows have changed. Hashes group rows; where an answer would
rest on them, members are compared figure by figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt

from designer.engine.network.hashing import Hash, distinct, how_many, mix, rounded
from designer.memo import memo
from designer.sources import Constant, Status

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
#: numbers of classes, in 32 bits where there are very many rows
Numbers = npt.NDArray[np.signedinteger[Any]]
Rows = TypeVar("Rows", bound=Numbers)

#: figures of one class are this close, relative; far above rounding, far below the accuracy of an answer
SAME_TOLERANCE: Final = Constant(
    1e-10, 1e-12, 1e-9, "flows-numerics", Status.ASSUMED, "1", "sums of the same shares in another order"
).value
#: numbers below so many times the number of rows, or below the second, are marked; larger ones are sorted
_MARKED_LIMIT: Final = 4
_SMALL_LIMIT: Final = 4096
#: rows searched at a time
_LOOK_LIMIT: Final = 1 << 16
#: refining stops here; structures of a network differ after a few rounds
_ROUNDS_LIMIT: Final = 200


@dataclass(frozen=True, slots=True, eq=False)
class Partition(Generic[Rows]):
    """Rows in classes.

    Parameters
    ----------
    of : (n_rows,) class of each row
    first : (n_classes,) one row of each class: the first, where that is known
    counted : (n_classes,) how many rows each class has, or represents, where that is known without counting
    """

    of: Rows
    first: Int
    counted: Int | None = None

    def __len__(self) -> int:
        """How many classes there are."""
        return len(self.first)

    @property
    def extent(self) -> int:
        """Links, of a partition of channels; see ``designer.memo``."""
        return len(self.of) // 2

    @property
    def many(self) -> Int:
        """How many rows each class has. : (n_classes,)"""
        return self.counted if self.counted is not None else _sizes(self)

    @property
    def lead(self) -> Int:
        """The row that represents the class of each row. : (n_rows,)"""
        return self.first[self.of]

    def groups(self) -> list[Int]:
        """The rows of each class, ascending."""
        if not len(self):
            return []
        order = np.argsort(self.of, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.of))[:-1])

    def members(self, classes: Int, most: int | None = None) -> Int:
        """Rows of some classes, ascending; at most so many."""
        left = len(self.of) if most is None else most
        chosen = np.zeros(len(self), dtype=bool)
        chosen[classes] = True
        found: list[Int] = []
        for start in range(0, len(self.of), _LOOK_LIMIT):
            if left <= 0:
                break
            here = np.flatnonzero(chosen[self.of[start : start + _LOOK_LIMIT]])[:left] + start
            found.append(here)
            left -= len(here)
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)

    def together(self, other: Partition[Any]) -> Partition[Any]:
        """Rows of one class in both."""
        size = len(self) * len(other)
        if size < np.iinfo(np.int32).max:
            # two million channels: what fits in 32 bits is read in half the time
            return numbered(self.of * np.int32(len(other)) + other.of, size)
        return numbered(self.of.astype(np.int64) * len(other) + other.of, size)

    def split(self, rows: Int, sign: Int) -> tuple[Partition[Rows], Int]:
        """The partition after some rows have changed, and the class that each class was before.

        Parameters
        ----------
        rows, sign : (n,) the rows that have changed, ascending: those of one class and one sign stay together
        """
        of, first = self.of.copy(), self.first
        n = len(first)
        if not len(rows):
            return Partition(of, first, self.counted), np.arange(n)
        before = of[rows].astype(np.int64)
        _, lead, new = np.unique(np.stack([before, sign], axis=1), axis=0, return_index=True, return_inverse=True)
        if n + len(lead) > np.iinfo(of.dtype).max:
            of = cast("Rows", of.astype(np.int64))
        of[rows] = n + new.reshape(-1)
        begin = np.concatenate([first, rows[lead]])
        was = np.concatenate([np.arange(n), before[lead]])
        counted = None
        if self.counted is not None:
            counted = np.concatenate([self.counted - np.bincount(before, minlength=n), np.bincount(new.reshape(-1))])
        here = np.ones(len(begin), dtype=bool)
        for k in np.flatnonzero(np.isin(first, rows)).tolist():
            others = _next_of(of, k, int(first[k]))
            here[k] = others >= 0
            begin[k] = max(others, 0)
        if not here.all():
            number = (np.cumsum(here) - 1).astype(of.dtype)
            of, begin, was = cast("Rows", number[of]), begin[here], was[here]
            counted = counted[here] if counted is not None else None
        return Partition(of, begin, counted), was


def _next_of(of: Numbers, number: int, start: int) -> int:
    """The first row of a class from `start` on, -1 where there is none: as a rule it is near."""
    for low in range(start, len(of), _LOOK_LIMIT):
        found = np.flatnonzero(of[low : low + _LOOK_LIMIT] == number)
        if len(found):
            return low + int(found[0])
    return -1


@memo(most=2)
def _sizes(partition: Partition[Any]) -> Int:
    return np.bincount(partition.of, minlength=len(partition))


def by_value(values: npt.NDArray[np.generic]) -> Partition[Int]:
    """Rows of equal values, classes in the order in which they occur."""
    first, of, many = distinct(values)
    return Partition(of, first, many)


def classes_of(*columns: Int, figures: tuple[Float, ...] = ()) -> Partition[Int]:
    """Rows that agree in all columns, and in all figures within rounding; each by itself where hashes collide."""
    found = by_value(mix(*columns, *(rounded(column) for column in figures)))
    lead = found.first[found.of]
    same = all(np.array_equal(column, column[lead]) for column in columns)
    if same and all(np.allclose(column, column[lead], SAME_TOLERANCE, 0.0) for column in figures):
        return Partition(cast("Int", found.of.astype(np.int32)), found.first, found.counted)
    every = np.arange(len(columns[0]))
    return Partition(every, every, np.ones(len(every), dtype=np.int64))


def numbered(numbers: Numbers, size: int) -> Partition[npt.NDArray[np.int32]]:
    """Rows of the same number. : numbers (n_rows,) below `size`"""
    if size <= max(_SMALL_LIMIT, _MARKED_LIMIT * len(numbers)):
        occurs = np.full(size, -1, dtype=np.int32)
        # written back to front, so that the first of each stays
        occurs[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1, dtype=np.int32)
        met = np.flatnonzero(occurs >= 0)
        place = np.zeros(size, dtype=np.int32)
        place[met] = np.arange(len(met))
        of, first = place[numbers], occurs[met].astype(np.int64)
    else:
        _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
        of = inverse.astype(np.int32)
    of.setflags(write=False)
    return Partition(of, first)


def refined(colour: Hash, pairs: Sequence[tuple[Int, Int, Hash]], times: Int | None = None) -> Hash:
    """Colours of nodes that agree with those of their neighbours: the coarsest equitable partition finer than given.

    Parameters
    ----------
    colour : (n_nodes,)
    pairs
        Nodes that meet, and a label of each pair. : (n,) each
    times : (n_nodes,) how many equal nodes each represents; one by default

    Notes
    -----
    Averaging over the classes of an equitable partition keeps rates feasible and never lowers the least of them, and
    the fair answer is unique, so it is the same for all members of a class.
    """
    one, other = (np.concatenate([pair[k] for pair in pairs]) for k in (0, 1))
    label = np.concatenate([pair[2] for pair in pairs]).view(np.int64)
    back, known = ~label, 0
    many = None if times is None else times.astype(np.uint64)
    for _ in range(_ROUNDS_LIMIT):
        here, there = mix(colour[other].view(np.int64), label), mix(colour[one].view(np.int64), back)
        if many is not None:
            here, there = here * many[other], there * many[one]
        total = np.zeros(len(colour), dtype=np.uint64)
        np.add.at(total, one, here)
        np.add.at(total, other, there)
        colour = mix(colour.view(np.int64), total.view(np.int64))
        classes = how_many(colour)
        if classes == known:
            break
        known = classes
    return colour
