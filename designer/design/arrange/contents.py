"""Places for the contents of one container: machines inside, hosts and networks outside, and what users placed.

What has a position keeps it. Everything else goes where it would stand if nothing had a position, moved along with
the things it is linked to where most were placed, and then to the nearest place where it covers nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from statistics import median
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.design.address import Ref
from designer.design.arrange.fabric import arrange_fabric
from designer.design.arrange.item import Item, Places
from designer.design.arrange.joints import Joint, joints
from designer.design.arrange.machine import arrange_machine
from designer.design.arrange.roles import Role, role_of
from designer.design.arrange.sizes import GRID, HEADER, PADDING, Corner, grid_up
from designer.design.document import Block

_MACHINE: Final = frozenset(
    {
        Role.SOCKET,
        Role.DOMAIN,
        Role.MEMORY,
        Role.HOST_SWITCH,
        Role.ACCELERATOR,
        Role.ACCELERATOR_SWITCH,
        Role.LEAF,
    }
)
#: how far around its place a free one is looked for, in grid steps of _STEP
_STEP: Final = 2 * GRID
_REACH: Final = 40
#: free space kept around things that had to move
_CLEAR: Final = 2 * GRID


class Content(NamedTuple):
    """Something in a container: its corners relative to its position, and its position where the document gives one."""

    ref: Ref
    kind: str
    low: Corner
    high: Corner
    at: Corner | None


def arrange_contents(block: Block, container: str | None, contents: Sequence[Content]) -> dict[Ref, Corner]:
    """A position for each thing; those that have one keep it."""
    joined = joints(block).get(container, ())
    items = [Item(c.ref, c.kind, grid_up(c.high[0] - c.low[0]), grid_up(c.high[1] - c.low[1])) for c in contents]
    ideal = _ideal(items, joined)
    places = {
        c.ref: (ideal[c.ref][0] + PADDING - c.low[0], ideal[c.ref][1] + PADDING + HEADER - c.low[1]) for c in contents
    }
    fixed = [c for c in contents if c.at is not None]
    if not fixed:
        return places
    return _around(fixed, [c for c in contents if c.at is None], places, joined)


def _ideal(items: Sequence[Item], joined: Sequence[Joint]) -> Places:
    inside = [i for i in items if role_of(i.kind) in _MACHINE]
    outside = [i for i in items if role_of(i.kind) not in _MACHINE]
    if not outside:
        return arrange_machine(inside, joined)
    if all(role_of(i.kind) is Role.ACCELERATOR_SWITCH for i in inside):
        return arrange_fabric(items, joined)
    if all(role_of(i.kind) is Role.STORAGE for i in outside):
        return arrange_machine(items, joined)
    return _with_machine(inside, outside, joined)


def _with_machine(inside: Sequence[Item], outside: Sequence[Item], joined: Sequence[Joint]) -> Places:
    """Loose parts among hosts and switches: arranged as a machine that stands as one host."""
    parts = arrange_machine(inside, joined)
    width = max(parts[i.ref][0] + i.width for i in inside)
    height = max(parts[i.ref][1] + i.height for i in inside)
    refs = {i.ref for i in inside}
    whole = Item(Ref("parts", ""), "group", width, height)
    outer = [Joint(whole.ref if j.a in refs else j.a, whole.ref if j.b in refs else j.b, j.kind) for j in joined]
    places = arrange_fabric([whole, *outside], [j for j in outer if j.a != j.b])
    x, y = places.pop(whole.ref)
    places.update({ref: (x + px, y + py) for ref, (px, py) in parts.items()})
    return places


def _around(
    fixed: Sequence[Content], loose: Sequence[Content], ideal: dict[Ref, Corner], joined: Sequence[Joint]
) -> dict[Ref, Corner]:
    """Positions for loose things among fixed ones."""
    places = {c.ref: c.at for c in fixed if c.at is not None}
    moves = {ref: (at[0] - ideal[ref][0], at[1] - ideal[ref][1]) for ref, at in places.items()}
    near = _placed_neighbours(joined, moves) if len(fixed) >= len(loose) else {}
    common = _middle(moves.values()) if len(fixed) >= len(loose) else (0.0, 0.0)
    taken = _Taken(fixed, len(loose))
    for content in loose:
        move = _middle(moves[r] for r in near[content.ref]) if content.ref in near else common
        x = max(ideal[content.ref][0] + move[0], PADDING - content.low[0])
        y = max(ideal[content.ref][1] + move[1], PADDING + HEADER - content.low[1])
        places[content.ref] = taken.put(content, x, y)
    return places


def _placed_neighbours(joined: Sequence[Joint], moves: dict[Ref, Corner]) -> dict[Ref, list[Ref]]:
    near: dict[Ref, list[Ref]] = {}
    for joint in joined:
        for one, other in ((joint.a, joint.b), (joint.b, joint.a)):
            if one not in moves and other in moves:
                near.setdefault(one, []).append(other)
    return near


def _middle(moves: Iterable[Corner]) -> Corner:
    listed = list(moves)
    return grid_up(median(m[0] for m in listed)), grid_up(median(m[1] for m in listed))


@cache
def _tries() -> npt.NDArray[np.float64]:
    """Ways to move something aside, the shortest first. : (k, 2) scene units"""
    steps = np.arange(-_REACH, _REACH + 1) * _STEP
    x, y = (a.ravel() for a in np.meshgrid(steps, steps, indexing="xy"))
    order = np.lexsort((-x, -y, x**2 + y**2))
    return np.stack([x, y], axis=1)[order].astype(np.float64)


class _Taken:
    """Rectangles nothing may be put on."""

    def __init__(self, fixed: Sequence[Content], more: int) -> None:
        self.boxes = np.empty((len(fixed) + more, 4))
        self.n = 0
        for content in fixed:
            assert content.at is not None
            self._add(content, *content.at)

    def _add(self, content: Content, x: float, y: float) -> None:
        low, high = content.low, content.high
        self.boxes[self.n] = (x + low[0], y + low[1], x + high[0], y + high[1])
        self.n += 1

    def put(self, content: Content, x: float, y: float) -> Corner:
        """The free place nearest to (x, y), now taken."""
        box = np.array([x + content.low[0], y + content.low[1], x + content.high[0], y + content.high[1]])
        if self._hits(box[None], 0.0).any():
            x, y = self._free(content, x, y, box)
        self._add(content, x, y)
        return x, y

    def _hits(self, tried: npt.NDArray[np.float64], clear: float) -> npt.NDArray[np.bool_]:
        """Which of the tried boxes (k, 4) cover something."""
        low, high = tried.min(axis=0), tried.max(axis=0)
        b = self.boxes[: self.n]
        b = b[(b[:, 0] < high[2] + clear) & (b[:, 2] > low[0] - clear)]
        b = b[(b[:, 1] < high[3] + clear) & (b[:, 3] > low[1] - clear)]
        covers: npt.NDArray[np.bool_] = (
            (tried[:, None, 0] < b[:, 2] + clear)
            & (tried[:, None, 2] > b[:, 0] - clear)
            & (tried[:, None, 1] < b[:, 3] + clear)
            & (tried[:, None, 3] > b[:, 1] - clear)
        )
        return np.asarray(covers.any(axis=1))

    def _free(self, content: Content, x: float, y: float, box: npt.NDArray[np.float64]) -> Corner:
        tries = _tries()
        tries = tries[(box[0] + tries[:, 0] >= PADDING) & (box[1] + tries[:, 1] >= PADDING + HEADER)]
        for start in range(0, len(tries), 512):
            some = tries[start : start + 512]
            hits = self._hits(box + np.concatenate([some, some], axis=1), _CLEAR)
            if not hits.all():
                dx, dy = some[int(np.argmin(hits))]
                return x + float(dx), y + float(dy)
        below = grid_up(float(self.boxes[: self.n, 3].max()) + _CLEAR)
        return x, max(below, PADDING + HEADER) - content.low[1]
