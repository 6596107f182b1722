"""The boxes of a block with some of its groups open: plans of the blocks, put into each other.

What is open makes room: whatever is right of or below a group moves away by as much as the group grew, so nothing
is covered and closing the group brings everything back.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from designer.design.address import Address, Ref
from designer.design.arrange.arrangement import Arrangement, group_kind, plan
from designer.design.arrange.sizes import GRID, HEADER, OPEN_GROUP, PADDING
from designer.design.document import Block

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
#: how many states of open groups are kept for each block
_STATES_KEPT = 4


@dataclass(frozen=True, slots=True)
class Opened:
    """An open group in the boxes of a block: its box, the member shown (None: what all share), and what it shows."""

    box: int
    member: int | None
    boxes: Boxes


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Boxes:
    """Everything drawn of a block, containers before their contents; coordinates count from the block's origin.

    Parameters
    ----------
    rect : (n, 4) x, y, width, height, scene units
    origin : (n, 2) where positions of the contents count from, scene units
    shift : (n, 2) how far a box was moved to make room for open groups, scene units
    parent, last, depth : (n,) number of the container or −1; number behind the contents; nesting depth
    is_open : (n,) whether contents are drawn
    placed : (n,) whether the document gives the position
    block : (n,) number in ``blocks`` of the block each thing is in
    member : (n,) member that an open group shows, −1 for what all share
    own, own_parts
        Number of the box for each thing, and each part, of the block itself; what is hidden has that of the closed
        container.
    """

    rect: Float
    origin: Float
    shift: Float
    parent: Int
    last: Int
    depth: Int
    is_open: npt.NDArray[np.bool_]
    placed: npt.NDArray[np.bool_]
    replicas: Int
    member: Int
    block: Int
    blocks: tuple[Address, ...]
    refs: tuple[Ref, ...]
    kinds: tuple[str, ...]
    own: Mapping[Ref, int]
    own_parts: Mapping[str, int]
    opened: Mapping[str, Opened]
    low: tuple[float, float]
    high: tuple[float, float]


_known: dict[int, tuple[weakref.ref[Block], dict[frozenset[Address], Boxes]]] = {}


def boxes_of(block: Block, opened: frozenset[Address]) -> Boxes:
    """The boxes of a block; `opened` are addresses within it of the blocks its open groups show."""
    opened = frozenset(a for a in opened if a and a[0][0] in block.groups)
    known = _known.get(id(block))
    if known is None or known[0]() is not block:
        key = id(block)
        known = _known[key] = (weakref.ref(block, lambda _: _known.pop(key, None)), {})
    memory = known[1]
    made = memory.get(opened)
    if made is None:
        made = _build(block, opened)
        if len(memory) >= _STATES_KEPT:
            memory.pop(next(iter(memory)))
        memory[opened] = made
    return made


def shown_members(block: Block, opened: frozenset[Address]) -> dict[str, int | None]:
    """For each open group of a block, the member that is shown: the first one named, else what all members share."""
    shown: dict[str, int | None] = {}
    for address in sorted((a for a in opened if len(a) == 1), key=lambda a: (a[0][1] is None, a[0])):
        group_id, member = address[0]
        group = block.groups.get(group_id)
        if group is not None and group_id not in shown and (member is None or 0 <= member < group.replicas):
            shown[group_id] = member
    return shown


def _build(block: Block, opened: frozenset[Address]) -> Boxes:
    base = plan(block)
    inside: dict[int, tuple[str, int | None, Boxes]] = {}
    for group_id, member in shown_members(block, opened).items():
        at = base.number.get(Ref("groups", group_id))
        if at is None:
            continue
        group = block.groups[group_id]
        content = group.content if member is None else group.member(member)
        rest = frozenset(a[1:] for a in opened if len(a) > 1 and a[0] == (group_id, member))
        inside[at] = (group_id, member, boxes_of(content, rest))
    offset, low, high, corner = _make_room(base, {at: sub for at, (_, _, sub) in inside.items()})
    return _assemble(block, base, inside, offset, low, high, corner)


def _make_room(
    base: Arrangement, inside: Mapping[int, Boxes]
) -> tuple[Float, Float, Float, tuple[tuple[float, float], tuple[float, float]]]:
    """Offsets and corners after open groups have grown, from the innermost container outwards."""
    offset, low, high = base.offset, base.low, base.high
    corner_low, corner_high = base.corner_low, base.corner_high
    if not inside:
        return offset, low, high, (corner_low, corner_high)
    offset, low, high = offset.copy(), low.copy(), high.copy()
    for at, sub in inside.items():
        low[at] = sub.low
        high[at] = np.maximum(sub.high, OPEN_GROUP)
    grown = set(inside)
    while grown:
        deepest = max(int(base.depth[i]) for i in grown)
        level = sorted(i for i in grown if base.depth[i] == deepest)
        grown -= set(level)
        for container in sorted({int(base.parent[i]) for i in level}):
            children = np.flatnonzero(base.parent == container)
            growth = _push(base, offset, low, high, children)
            if container >= 0:
                high[container] += growth
                grown.add(container)
            else:
                corner_high = (corner_high[0] + growth[0], corner_high[1] + growth[1])
    return offset, low, high, (corner_low, corner_high)


def _push(base: Arrangement, offset: Float, low: Float, high: Float, children: Int) -> tuple[float, float]:
    """Move the things of one container apart; how much wider and higher the container gets.

    What is next to a grown thing moves by all it grew. What is above or below it is spread over the new width
    as it was over the old one, so that networks stay over their servers; heights of tiers are left alone. Then order
    decides: nothing comes nearer to what was before it.
    """
    start = base.offset[children] + base.low[children]
    stop = base.offset[children] + base.high[children]
    more = (high - low - base.high + base.low)[children]
    middle = (start + stop) / 2
    growth: list[float] = []
    for axis in (0, 1):
        strict = _kept_apart(start[:, axis], stop[:, axis], more[:, axis], np.zeros(len(children)))
        first, last = float(start[:, axis].min()), float(stop[:, axis].max())
        share = np.clip((middle[:, axis] - first) / max(last - first, 1.0), 0, 1)
        least = np.zeros(len(children))
        for k in np.flatnonzero(more[:, axis] > 0) if axis == 0 else ():
            overlapping = (start[:, 1 - axis] < stop[k, 1 - axis]) & (stop[:, 1 - axis] > start[k, 1 - axis])
            wish = np.floor((strict[k] + more[k, axis] * share) / GRID) * GRID
            least = np.where(overlapping, least, np.maximum(least, wish))
        moved = _kept_apart(start[:, axis], stop[:, axis], more[:, axis], least)
        offset[children, axis] = base.offset[children, axis] + moved + (base.low - low)[children, axis]
        growth.append(float((moved + more[:, axis]).max(initial=0.0)))
    return growth[0], growth[1]


def _kept_apart(start: Float, stop: Float, more: Float, least: Float) -> Float:
    """The smallest moves, at least `least`, that keep every thing behind those that ended before it, now grown."""
    by_stop = np.argsort(stop, kind="stable")
    moved = least.copy()
    pushed, k = 0.0, 0
    for i in np.argsort(start, kind="stable"):
        while k < len(by_stop) and stop[by_stop[k]] <= start[i]:
            pushed = max(pushed, moved[by_stop[k]] + more[by_stop[k]])
            k += 1
        moved[i] = max(moved[i], pushed)
    return moved


def _assemble(
    block: Block,
    base: Arrangement,
    inside: Mapping[int, tuple[str, int | None, Boxes]],
    offset: Float,
    low: Float,
    high: Float,
    corner: tuple[tuple[float, float], tuple[float, float]],
) -> Boxes:
    n = len(base.refs)
    origin = offset.copy()
    for level in range(1, int(base.depth.max()) + 1 if n else 1):
        here = np.flatnonzero(base.depth == level)
        origin[here] += origin[base.parent[here]]
    extra = np.zeros(n, dtype=np.int64)
    for at, (_, _, sub) in inside.items():
        extra[at] = len(sub.refs)
    before = np.concatenate([[0], np.cumsum(extra)])  # boxes of open groups in front of each thing
    number = np.arange(n) + before[:-1]
    total = n + int(before[-1])
    rect, origins, shift = np.empty((total, 4)), np.empty((total, 2)), np.zeros((total, 2))
    parent, last, depth = (np.empty(total, dtype=np.int64) for _ in range(3))
    replicas, member, block_of = np.ones(total, dtype=np.int64), np.full(total, -1), np.zeros(total, dtype=np.int64)
    is_open, placed = np.empty(total, dtype=bool), np.empty(total, dtype=bool)
    rect[number, :2], rect[number, 2:] = origin + low, high - low
    origins[number], shift[number] = origin, offset - base.offset
    parent[number] = np.where(base.parent >= 0, number[base.parent], -1)
    last[number] = base.last + before[base.last]
    depth[number], is_open[number], placed[number] = base.depth, base.open, base.placed
    for i, ref in enumerate(base.refs):
        if ref.what == "groups":
            replicas[number[i]] = block.groups[ref.id].replicas
    blocks: list[Address] = [()]
    refs: list[Ref] = []
    kinds: list[str] = []
    opened: dict[str, Opened] = {}
    done = 0
    for at in sorted(inside):
        group_id, shown, sub = inside[at]
        box = int(number[at])
        refs += base.refs[done : at + 1]
        kinds += _kinds(block, base.refs[done : at + 1])
        done = at + 1
        part = slice(box + 1, box + 1 + len(sub.refs))
        rect[part] = sub.rect + np.array([*origin[at], 0, 0])
        origins[part], shift[part] = sub.origin + origin[at], sub.shift
        parent[part] = np.where(sub.parent >= 0, sub.parent + box + 1, box)
        last[part], depth[part] = sub.last + box + 1, sub.depth + base.depth[at] + 1
        replicas[part], member[part], block_of[part] = sub.replicas, sub.member, sub.block + len(blocks)
        is_open[part], placed[part] = sub.is_open, sub.placed
        is_open[box] = True
        member[box] = -1 if shown is None else shown
        blocks += [((group_id, shown), *address) for address in sub.blocks]
        refs += sub.refs
        kinds += sub.kinds
        opened[group_id] = Opened(box, shown, sub)
    refs += base.refs[done:]
    kinds += _kinds(block, base.refs[done:])
    own = {ref: int(number[i]) for ref, i in base.number.items()}
    own.update({ref: int(number[i]) for ref, i in base.hidden.items()})
    own_parts = {ref.id: box for ref, box in own.items() if ref.what == "parts"}
    return Boxes(
        rect,
        origins,
        shift,
        parent,
        last,
        depth,
        is_open,
        placed,
        replicas,
        member,
        block_of,
        tuple(blocks),
        tuple(refs),
        tuple(kinds),
        own,
        own_parts,
        opened,
        corner[0],
        _least_size(corner[1]),
    )


def _least_size(high: tuple[float, float]) -> tuple[float, float]:
    return max(high[0], 2 * PADDING), max(high[1], HEADER + 2 * PADDING)


def _kinds(block: Block, refs: Sequence[Ref]) -> list[str]:
    return [block.parts[r.id].kind if r.what == "parts" else group_kind(block.groups[r.id]) for r in refs]
