"""Channels in classes: two million of them carry a few dozen different loads, so a load is kept once for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.memo import memo

Int = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]

#: numbers below so many times the number of channels, or below the second, are marked; larger ones are sorted
_MARKED_LIMIT: Final = 4
_SMALL_LIMIT: Final = 4096
#: channels looked at at a time
_LOOK_LIMIT: Final = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class ChannelClasses:
    """Which channels are alike.

    Parameters
    ----------
    of : (n_channels,) class of each channel
    first : (n_classes,) one channel of each class
    counted : (n_classes,) how many channels each class has, where that is known without counting
    """

    of: Small
    first: Int
    counted: Int | None = None

    def __len__(self) -> int:
        """How many classes there are."""
        return len(self.first)

    @property
    def extent(self) -> int:
        """Links; see ``designer.memo``."""
        return len(self.of) // 2

    @property
    def size(self) -> Int:
        """How many channels each class has. : (n_classes,)"""
        return self.counted if self.counted is not None else _sizes(self)

    def members(self, classes: Int, most: int) -> Int:
        """Channels of some classes, ascending; looked for until there are so many."""
        chosen = np.zeros(len(self), dtype=bool)
        chosen[classes] = True
        found: list[Int] = []
        for start in range(0, len(self.of), _LOOK_LIMIT):
            if most <= 0:
                break
            here = np.flatnonzero(chosen[self.of[start : start + _LOOK_LIMIT]])[:most] + start
            found.append(here)
            most -= len(here)
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


@memo(most=2)
def _sizes(classes: ChannelClasses) -> Int:
    return np.bincount(classes.of, minlength=len(classes))


def classes_by(numbers: Int | Small, size: int) -> ChannelClasses:
    """Classes of channels of the same number. : numbers (n_channels,) below `size`"""
    if size <= max(_SMALL_LIMIT, _MARKED_LIMIT * len(numbers)):
        occurs = np.full(size, -1, dtype=np.int32)
        # written back to front, so that the first of each stays
        occurs[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1, dtype=np.int32)
        met = np.flatnonzero(occurs >= 0)
        place = np.zeros(size, dtype=np.int32)
        place[met] = np.arange(len(met))
        return ChannelClasses(_frozen(place[numbers]), occurs[met].astype(np.int64))
    _, first, of = np.unique(numbers, return_index=True, return_inverse=True)
    return ChannelClasses(_frozen(of.astype(np.int32)), first)


def together(one: ChannelClasses, other: ChannelClasses) -> ChannelClasses:
    """Channels that are alike in both."""
    size = len(one) * len(other)
    if size < np.iinfo(np.int32).max:
        # two million channels: what fits in 32 bits is read in half the time
        return classes_by(one.of * np.int32(len(other)) + other.of, size)
    numbers = one.of.astype(np.int64)
    numbers *= len(other)
    numbers += other.of
    return classes_by(numbers, size)


def _frozen(array: Small) -> Small:
    array.setflags(write=False)
    return array
