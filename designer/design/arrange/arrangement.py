"""Where the parts and groups of one block are while its groups are closed. Kept as long as the block lives."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Domain
from designer.design.address import Ref
from designer.design.arrange.fabric import arrange_fabric
from designer.design.arrange.joints import Joint, Memory, joint_of, joints, network_joints
from designer.design.arrange.machine import arrange_machine
from designer.design.arrange.roles import Item, Places, Role, link_domain, role_of
from designer.design.arrange.sizes import (
    CONTAINER,
    GRID,
    GROUP,
    HEADER,
    PADDING,
    Corner,
    bow_swing,
    card_size,
    fitted,
    grid_up,
)
from designer.design.document import Block, Group, Link, Part, Wiring
from designer.design.query import index

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
    return _positions_of_loose(fixed, [c for c in contents if c.at is None], places, joined)


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
    """Loose parts among hosts and switches: arranged as a machine that is as one host."""
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


def _positions_of_loose(
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
            x, y = self._free_corner(content, x, y, box)
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

    def _free_corner(self, content: Content, x: float, y: float, box: npt.NDArray[np.float64]) -> Corner:
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


Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
#: left, top, right, bottom
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """The drawn things of a block, containers before their contents.

    Parameters
    ----------
    refs
        What is drawn; what is in a closed container is not.
    parent : (n,) number of the container, −1 at the top
    last : (n,) number behind the last thing contained
    depth : (n,) how many containers are around
    offset : (n, 2) position relative to the container, scene units
    low, high : (n, 2) top left and bottom right corner relative to the position, scene units
    placed : (n,) whether the document gives the position
    open : (n,) whether the contents are drawn
    hidden
        For each part and group that is not drawn, the number of the closed container it is in.
    corner_low, corner_high
        Corners of the whole block relative to its origin, padding and header included.
    """

    refs: tuple[Ref, ...]
    parent: Int
    last: Int
    depth: Int
    offset: Float
    low: Float
    high: Float
    placed: npt.NDArray[np.bool_]
    open: npt.NDArray[np.bool_]
    hidden: Mapping[Ref, int]
    corner_low: Corner
    corner_high: Corner
    number: Mapping[Ref, int]


_plans: dict[int, tuple[weakref.ref[Block], Arrangement]] = {}


def plan(block: Block) -> Arrangement:
    """Where everything of a block is, its groups closed."""
    known = _plans.get(id(block))
    if known is not None and known[0]() is block:
        return known[1]
    made = _Planner(block).finish()
    key = id(block)
    _plans[key] = (weakref.ref(block, lambda _: _plans.pop(key, None)), made)
    return made


def needs_room(block: Block, link: Link | Wiring) -> bool:
    """True if a container, or the block, may be larger for a link that bows around the things of a row."""
    joined = joint_of(block, link, Memory())
    if joined is None or link_domain(link.kind) is Domain.HOST:
        return False
    known = plan(block)
    at = [known.number.get(ref) for ref in joined[1][:2]]
    if None in at:
        return False
    low, high = known.offset + known.low, known.offset + known.high
    a, b = ((*low[i].tolist(), *high[i].tolist()) for i in at)
    return _in_a_row(a, b)


def _in_a_row(a: Box, b: Box) -> bool:
    return a[1] < b[3] and b[1] < a[3]


def group_kind(group: Group) -> str:
    """Kind of the parts a group repeats, ``group`` where they differ."""
    tops = index(group.content)
    kinds = {group.content.parts[i].kind for i in tops.parts_in.get(None, ())}
    kinds |= {group_kind(group.content.groups[i]) for i in tops.groups_in.get(None, ())}
    return kinds.pop() if len(kinds) == 1 else "group"


class _Planner:
    """Sizes from the inside out, then numbers from the outside in."""

    def __init__(self, block: Block) -> None:
        self.block = block
        found = index(block)
        self.parts_in, self.groups_in = found.parts_in, found.groups_in
        self.corners: dict[Ref, tuple[Corner, Corner]] = {}
        self.offsets: dict[Ref, Corner] = {}
        self.inside: dict[str | None, Sequence[Ref]] = {}

    def children(self, part_id: str | None) -> Sequence[Ref]:
        if part_id not in self.parts_in and part_id not in self.groups_in:
            return ()
        known = self.inside.get(part_id)
        if known is None:
            known = [Ref("parts", i) for i in self.parts_in.get(part_id, ())]
            known += [Ref("groups", i) for i in self.groups_in.get(part_id, ())]
            self.inside[part_id] = known
        return known

    def thing(self, ref: Ref) -> Part | Group:
        return self.block.parts[ref.id] if ref.what == "parts" else self.block.groups[ref.id]

    def is_open(self, ref: Ref) -> bool:
        if ref.what != "parts" or self.block.parts[ref.id].collapsed:
            return False
        return ref.id in self.parts_in or ref.id in self.groups_in

    def finish(self) -> Arrangement:
        order = self._order()
        for ref in reversed(order):
            self._measure(ref)
        boxes = self._place(None, self.children(None))
        low, high = fitted(boxes, (0, 0))
        return self._build_arrangement(order, low, high)

    def _order(self) -> list[Ref]:
        order: list[Ref] = []
        todo = list(self.children(None))[::-1]
        while todo:
            ref = todo.pop()
            order.append(ref)
            if self.is_open(ref):
                todo += self.children(ref.id)[::-1]
        return order

    def _measure(self, ref: Ref) -> None:
        thing = self.thing(ref)
        if isinstance(thing, Group):
            self.corners[ref] = ((0, 0), GROUP)
            return
        given = (thing.size.width, thing.size.height) if thing.size is not None else None
        if not self.is_open(ref):
            full = thing.collapsed and (thing.id in self.parts_in or thing.id in self.groups_in)
            size = CONTAINER if full else given or card_size(thing.kind)
            self.corners[ref] = ((0, 0), size)
            return
        boxes = self._place(ref, self.children(ref.id))
        self.corners[ref] = fitted(boxes, given or CONTAINER)

    def _place(self, container: Ref | None, children: Sequence[Ref]) -> list[Box]:
        items: list[Content] = []
        for ref in children:
            low, high = self.corners[ref]
            thing = self.thing(ref)
            kind = group_kind(thing) if isinstance(thing, Group) else thing.kind
            at = (thing.position.x, thing.position.y) if thing.position is not None else None
            items.append(Content(ref, kind, low, high, at))
        if not all(item.at for item in items):
            offsets = arrange_contents(self.block, container.id if container else None, items)
        else:
            offsets = {item.ref: item.at for item in items if item.at is not None}
        boxes: dict[Ref, Box] = {}
        for item in items:
            x, y = self.offsets[item.ref] = offsets[item.ref]
            boxes[item.ref] = (x + item.low[0], y + item.low[1], x + item.high[0], y + item.high[1])
        return [*boxes.values(), *self._bows(container, boxes)]

    def _bows(self, container: Ref | None, boxes: Mapping[Ref, Box]) -> list[Box]:
        """Room below rows for links between things of one row that may have to bow around others."""
        found: list[Box] = []
        for joint in network_joints(self.block).get(container.id if container else None, ()):
            if joint.a not in boxes or joint.b not in boxes:
                continue
            a, b = boxes[joint.a], boxes[joint.b]
            if _in_a_row(a, b):
                bottom = max(a[3], b[3])
                found.append((a[0], bottom, a[0], bottom + bow_swing(abs(a[0] - b[0])) - PADDING / 2))
        return found

    def _build_arrangement(self, order: list[Ref], low: Corner, high: Corner) -> Arrangement:
        number = {ref: i for i, ref in enumerate(order)}
        n = len(order)
        parent, last, depth = np.full(n, -1, dtype=np.int64), np.arange(1, n + 1), np.zeros(n, dtype=np.int64)
        for i, ref in enumerate(order):
            above = self.thing(ref).parent
            if above is not None:
                parent[i] = number[Ref("parts", above)]
                depth[i] = depth[parent[i]] + 1
        for i in range(n - 1, -1, -1):
            if parent[i] >= 0:
                last[parent[i]] = max(last[parent[i]], last[i])
        corners = np.array([self.corners[ref] for ref in order], dtype=np.float64).reshape(n, 2, 2)
        return Arrangement(
            refs=tuple(order),
            parent=parent,
            last=last,
            depth=depth,
            offset=np.array([self.offsets[ref] for ref in order], dtype=np.float64).reshape(n, 2),
            low=corners[:, 0],
            high=corners[:, 1],
            placed=np.array([self.thing(ref).position is not None for ref in order], dtype=bool),
            open=np.array([self.is_open(ref) for ref in order], dtype=bool),
            hidden=self._hidden(number),
            corner_low=low,
            corner_high=high,
            number=number,
        )

    def _hidden(self, number: Mapping[Ref, int]) -> dict[Ref, int]:
        hidden: dict[Ref, int] = {}
        closed = [ref for ref in number if ref.what == "parts" and not self.is_open(ref)]
        for top in closed:
            todo = list(self.children(top.id))
            while todo:
                ref = todo.pop()
                hidden[ref] = number[top]
                if ref.what == "parts":
                    todo += self.children(ref.id)
        return hidden
