"""Legs of traffic between parts, and the channels they take, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from designer.engine.network.partition import classes_of
from designer.engine.routes.routing.host_paths import Segment

Int = npt.NDArray[np.int64]

Float = npt.NDArray[np.float64]

#: so few rows are grouped quicker by a dictionary than by sorting arrays
SMALL_LIMIT: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Legs:
    """Traffic to route: leg i belongs to flow ``flow[i]`` and carries ``share[i]`` of it from part to part."""

    flow: Int
    source: Int
    target: Int
    share: Float

    @staticmethod
    def of(source: Int, target: Int) -> Legs:
        """One leg per flow."""
        return Legs(np.arange(len(source)), source.astype(np.int64), target.astype(np.int64), np.ones(len(source)))

    def none(self) -> Legs:
        """No traffic."""
        return Legs(self.flow[:0], self.source[:0], self.target[:0], self.share[:0])

    def chosen(self, keep: npt.NDArray[np.bool_] | Int) -> Legs:
        """Some of the legs."""
        return Legs(self.flow[keep], self.source[keep], self.target[keep], self.share[keep])

    def size(self) -> int:
        """Entries of all columns."""
        return sum(len(column) for column in (self.flow, self.source, self.target, self.share))

    def __len__(self) -> int:
        return len(self.flow)


#: paths inside islands: class of island, place it starts and ends at, and the segment
Segments = tuple[tuple[int, int, int, Segment | None], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Routes:
    """Which channels flows take.

    Parameters
    ----------
    flow, channel : (nnz,) flow and channel numbers
    share : (nnz,) bytes on the channel per byte of the flow
    lost : flows with a leg that has no path
    hashed : whether traffic was hashed although the policy says split, to bound memory
    merged_share : (n_merged,) for the last entries, the sum of the shares they represent: each covers all flows between
        two switches, under the number of the first
    rests_on
        The paths inside islands that were taken: class of island, from, to, and the segment. Networks connected in the
        same way on which these are the same have the same routes.
    """

    flow: Int
    channel: Int
    share: Float
    lost: Int
    hashed: bool = False
    merged_share: Float = field(default_factory=lambda: np.empty(0))
    rests_on: Segments = ()


def join_legs(pieces: Sequence[Legs]) -> Legs:
    """All legs of several sets, one set after the other."""
    names = ("flow", "source", "target", "share")
    return Legs(*(np.concatenate([getattr(piece, name) for piece in pieces]) for name in names))


class Collected:
    """Entries as they are found; `sums` lets those that many flows have in common be added up."""

    def __init__(self, sums: bool) -> None:
        self.sums = sums
        self.merged: list[tuple[Int, Int, Float, Float]] = []
        self.flow: list[Int] = []
        self.channel: list[Int] = []
        self.share: list[Float] = []
        self.lost: list[Int] = []
        self.segments: dict[tuple[int, int, int], Segment | None] = {}

    def add(self, flow: Int, channel: Int, share: Float) -> None:
        self.flow.append(flow)
        self.channel.append(channel)
        self.share.append(share)

    def join(self, other: Collected) -> None:
        """All that another one has found as well."""
        self.merged += other.merged
        self.flow += other.flow
        self.channel += other.channel
        self.share += other.share
        self.lost += other.lost

    def narrow(self, place: Callable[[Int], Int]) -> Collected:
        """The same in 32 bits, with places for channels: they are widened where they are joined with others."""

        def small(column: Int) -> Int:
            return cast("Int", column.astype(np.int32))

        found = Collected(self.sums)
        found.merged = [(small(f), small(place(c)), s, t) for f, c, s, t in self.merged]
        found.flow = [small(column) for column in self.flow]
        found.channel = [small(place(column)) for column in self.channel]
        found.share, found.lost = self.share, self.lost
        return found

    def numbered(self, channel: Callable[[Int], Int]) -> Collected:
        """The same with channels for places."""
        found = Collected(self.sums)
        found.merged = [(f, channel(c), s, t) for f, c, s, t in self.merged]
        found.flow, found.share, found.lost = self.flow, self.share, self.lost
        found.channel = [channel(column) for column in self.channel]
        return found

    def entries(self) -> int:
        """How many entries there are."""
        return sum(map(len, self.flow)) + sum(len(m[0]) for m in self.merged)

    def done(self, hashed: bool) -> Routes:
        none = np.empty(0, dtype=np.int64)
        return Routes(
            np.concatenate([none, *self.flow, *(m[0] for m in self.merged)]),
            np.concatenate([none, *self.channel, *(m[1] for m in self.merged)]),
            np.concatenate([np.empty(0), *self.share, *(m[2] for m in self.merged)]),
            np.unique(np.concatenate([none, *self.lost])),
            hashed,
            np.concatenate([np.empty(0), *(m[3] for m in self.merged)]),
            tuple((*where, segment) for where, segment in self.segments.items()),
        )


def groups_of(key: Int) -> list[tuple[tuple[int, ...], Int]]:
    """Distinct rows of `key`, and for each the row numbers."""
    if len(key) <= SMALL_LIMIT:
        small: dict[tuple[int, ...], list[int]] = {}
        for row, values in enumerate(key.tolist()):
            small.setdefault(tuple(values), []).append(row)
        return [(values, np.array(rows)) for values, rows in small.items()]
    return [(tuple(key[rows[0]].tolist()), rows) for rows in classes_of(*key.T).groups()]
