"""The search that decisions share: a space of choices, explored best first, without branches that cannot matter.

A decision describes its space, holds its objective and limits, and takes points from `explore` until it has what it
wants. What it found so far closes branches: `closed` is evaluated when a branch is about to be opened.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from designer.progress import UNWATCHED, Watch

Node = TypeVar("Node")


def _open(_node: object) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Space(Generic[Node]):
    """What is searched.

    Parameters
    ----------
    root
        The node at which nothing is chosen.
    branches
        The nodes one choice further on; None for a point, at which nothing is left to choose.
    bound
        What nodes are ordered by, the least first: no point below a node comes before it.
    """

    root: Node
    branches: Callable[[Node], Iterable[Node] | None]
    bound: Callable[[Node], Any]


def explore(space: Space[Node], *, closed: Callable[[Node], bool] = _open, watch: Watch = UNWATCHED) -> Iterator[Node]:
    """Points of a space in the order of their bounds; equal ones in the order in which they were reached.

    Parameters
    ----------
    closed
        True for a node below which no point matters, by what was found up to now.

    Raises
    ------
    Cancelled
        If the work has to stop.
    """
    reached = 0
    heap: list[tuple[Any, int, Node]] = [(space.bound(space.root), reached, space.root)]
    while heap:
        watch.check()
        node = heapq.heappop(heap)[2]
        if closed(node):
            continue
        branches = space.branches(node)
        if branches is None:
            yield node
            continue
        for branch in branches:
            reached += 1
            heapq.heappush(heap, (space.bound(branch), reached, branch))


def fewest(holds: Callable[[int], bool], most: int) -> int | None:
    """The least number from 1 to `most` that holds, where all above it do; None where none does."""
    high = 1
    while not holds(high):
        if high >= most:
            return None
        high = min(2 * high, most)
    return high // 2 + 1 + bisect_left(range(high // 2 + 1, high), True, key=holds) if high > 1 else 1
