"""Setting apart what runs in one channel: pieces of links that lie on each other get lines of their own.

Pieces that overlap and can be moved over the same free height form a channel. They are ordered so that few links
cross, the longest chain of overlapping ones gives each its slot, and the slots are in the middle of the channel.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.design.components import connected
from designer.design.routing.grid import Grid

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: between slots at most; from boxes at least, where there is room; scene units
_PITCH: Final = 12.0
_CLEAR: Final = 6.0
#: pieces end so far apart or overlap, scene units
_APART: Final = 4.0
#: in a tall channel pieces turn at most so far below where they come from, scene units
_TURN: Final = 112.0
#: among more pieces, channels are what can be moved over exactly the same height; among more, each has its own slot
_MANY: Final = 700
#: what falls on a line drawn by hand is tried so many places to each side of it
_ASIDE: Final = 6
#: lines that cannot all be moved over the same height are set so far apart, as far as there is room, scene units
_PITCHES: Final = (_PITCH, 8.0, 6.0, 4.0, 3.0, 2.0, 1.0)
#: so many times all lines of a channel are looked at to order them
_SWEEPS: Final = 8
#: crossings that a line weighs which is on the wrong side of another
_NEVER: Final = 1000.0
#: so many pieces of a channel are ordered by counting crossings, more of them by where they end
_COUNTED: Final = 160


class _Pieces(NamedTuple):
    """Horizontal pieces that may be moved.

    Parameters
    ----------
    way, first : (k,) link, and number of the point it starts from
    y, left, right : (k,)
    low, high : (k,) between which y it may be moved
    at_left, at_right : (k,) −1 where the link goes up at that end, +1 down, 0 where it ends
    """

    way: Int
    first: Int
    y: Float
    left: Float
    right: Float
    low: Float
    high: Float
    at_left: Int
    at_right: Int


def set_apart(grid: Grid, ways: Float, corners: Int, open_end: Bool, trunk: Int, still: Bool) -> Float:
    """The ways with their pieces in channels set apart, first the horizontal, then the upright ones.

    Parameters
    ----------
    ways : (k, v, 2) points, the last one repeated
    corners : (k,) how many points each has
    open_end : (k,) whether the last point may be moved along the border of the container
    trunk : (k,) number of the trunk a link is part of, the same line for all of it; −1 for none
    still : (k,) the ways that stay as they are, drawn by hand; others keep off them
    """
    ways = ways.copy()
    for axis in (1, 0):
        flipped = ways if axis == 1 else ways[:, :, ::-1]
        pieces = _pieces(grid if axis == 1 else grid.turned, flipped, corners, open_end, still)
        if not len(pieces.way):
            continue
        y = _assign_slots(pieces, trunk[pieces.way])
        if still.any():
            y = _clear_of_manual(pieces, trunk[pieces.way], y, _level_lines(flipped[still]))
        if len(ways) <= _MANY:
            y = _off_ends(pieces, trunk[pieces.way], y, _end_lines(flipped, corners, open_end))
        ways[pieces.way, pieces.first, axis] = y
        ways[pieces.way, pieces.first + 1, axis] = y
        # points repeated behind an end that moved go with it
        count = corners[pieces.way]
        moved = np.flatnonzero(pieces.first + 2 == count)
        for k in moved.tolist():
            ways[pieces.way[k], int(count[k]) :, axis] = y[k]
    return ways


def _level_lines(ways: Float) -> Float:
    """The level pieces of ways: left, right and y. : (n, 3)"""
    start, end = ways[:, :-1].reshape(-1, 2), ways[:, 1:].reshape(-1, 2)
    flat = (np.abs(start[:, 1] - end[:, 1]) < 1e-6) & (np.abs(start[:, 0] - end[:, 0]) > 1e-6)
    start, end = start[flat], end[flat]
    return np.column_stack((np.minimum(start[:, 0], end[:, 0]), np.maximum(start[:, 0], end[:, 0]), start[:, 1]))


def _clear_of_manual(pieces: _Pieces, trunk: Int, y: Float, lines: Float) -> Float:
    """The y of each piece, those that fell on lines drawn by hand a little next to them. : (k,)"""

    def meets(members: Int, at: Float) -> bool:
        """True if some pieces at a height lie on a line, or on another piece."""
        others = np.setdiff1d(np.arange(len(y)), members)
        left, right = pieces.left[members][:, None] - _APART, pieces.right[members][:, None] + _APART
        close = (left < lines[:, 1]) & (lines[:, 0] < right) & (np.abs(at[:, None] - lines[:, 2]) < _APART)
        here = (left < pieces.right[others]) & (pieces.left[others] < right)
        return bool(close.any() or (here & (np.abs(at[:, None] - y[others]) < _APART)).any())

    y = y.copy()
    close = (pieces.left[:, None] - _APART < lines[:, 1]) & (lines[:, 0] < pieces.right[:, None] + _APART)
    for k in np.flatnonzero((close & (np.abs(y[:, None] - lines[:, 2]) < _APART)).any(axis=1)).tolist():
        members = np.flatnonzero(trunk == trunk[k]) if trunk[k] >= 0 else np.array([k])
        if not meets(members, y[members]):
            continue  # it moved with the rest of its trunk
        for step in np.arange(1, _ASIDE + 1).repeat(2) * np.tile([1.0, -1.0], _ASIDE) * _CLEAR:
            at = y[members] + step
            if (at >= pieces.low[members]).all() and (at <= pieces.high[members]).all() and not meets(members, at):
                y[members] = at
                break
    return y


def _end_lines(ways: Float, corners: Int, open_end: Bool) -> Float:
    """The level pieces right at boxes, which stay: left, right, y and number of the way. : (n, 4)"""
    rows = np.arange(len(ways))
    first = np.concatenate((np.zeros(len(ways), dtype=np.int64), corners[~open_end] - 2))
    way = np.concatenate((rows, rows[~open_end]))
    start, end = ways[way, first], ways[way, first + 1]
    flat = (np.abs(start[:, 1] - end[:, 1]) < 1e-6) & (np.abs(start[:, 0] - end[:, 0]) > 1e-6)
    start, end, way = start[flat], end[flat], way[flat]
    left, right = np.minimum(start[:, 0], end[:, 0]), np.maximum(start[:, 0], end[:, 0])
    return np.column_stack((left, right, start[:, 1], way.astype(np.float64)))


def _off_ends(pieces: _Pieces, trunk: Int, y: Float, lines: Float) -> Float:
    """The y of each piece, those that fell on the end of another link a little next to it. : (k,)"""
    y = y.copy()
    here = (pieces.left[:, None] < lines[:, 1]) & (lines[:, 0] < pieces.right[:, None])
    here &= (pieces.way[:, None] != lines[:, 3]) & (trunk[:, None] < 0)
    together = (pieces.left[:, None] < pieces.right) & (pieces.left < pieces.right[:, None])
    np.fill_diagonal(together, val=False)
    for k in np.flatnonzero((here & (np.abs(y[:, None] - lines[:, 2]) < _APART)).any(axis=1)).tolist():
        taken = np.concatenate((lines[here[k], 2], y[together[k]]))
        aside = y[k] + np.arange(1, _ASIDE + 1).repeat(2) * np.tile([1.0, -1.0], _ASIDE) * _CLEAR
        free = (aside >= pieces.low[k]) & (aside <= pieces.high[k])
        free &= (np.abs(aside[:, None] - taken) >= _APART).all(axis=1)
        if free.any():
            y[k] = aside[np.argmax(free)]
    return y


def _pieces(grid: Grid, ways: Float, corners: Int, open_end: Bool, still: Bool) -> _Pieces:
    found: list[tuple[Int, Int]] = []
    for n in range(1, ways.shape[1] - 1):
        inner = ~still & ((n + 2 < corners) | ((n + 2 == corners) & open_end))
        step = ways[:, n + 1] - ways[:, n]
        flat = inner & (np.abs(step[:, 1]) < 1e-6) & (np.abs(step[:, 0]) > 1e-6)
        rows = np.flatnonzero(flat)
        found.append((rows, np.full(len(rows), n)))
    if not found:
        empty = np.empty(0, dtype=np.int64)
        nothing = np.empty(0)
        return _Pieces(empty, empty, nothing, nothing, nothing, nothing, nothing, empty, empty)
    way, index = (np.concatenate([f[k] for f in found]) for k in (0, 1))
    before, start, end = ways[way, index - 1], ways[way, index], ways[way, index + 1]
    ends = index + 2 == corners[way]
    after = np.where(ends[:, None], end, ways[way, np.minimum(index + 2, ways.shape[1] - 1)])
    y = start[:, 1]
    left, right = np.minimum(start[:, 0], end[:, 0]), np.maximum(start[:, 0], end[:, 0])
    low, high = grid.band(grid.row_below(y), left, right)
    low, high = np.minimum(low, y), np.maximum(high, y)
    clear = np.minimum(_CLEAR, (high - low) / 4)
    low, high = low + clear, high - clear
    for other, first in ((before[:, 1], index == 1), (after[:, 1], index + 3 == corners[way])):
        # pieces do not turn back: they stay between what they come from and where they go
        room = np.where(first, _APART, 0.0)
        low = np.where(other < y - 1e-6, np.maximum(low, np.minimum(other + room, y)), low)
        high = np.where(other > y + 1e-6, np.minimum(high, np.maximum(other - room, y)), high)
    from_above = np.where(before[:, 1] < y, before[:, 1], np.inf)
    from_above = np.minimum(from_above, np.where(after[:, 1] < y, after[:, 1], np.inf))
    high = np.where(np.isfinite(from_above), np.maximum(np.minimum(high, from_above + _TURN), y), high)
    turn_1 = np.sign(np.round(before[:, 1] - y, 6)).astype(np.int64)
    turn_2 = np.sign(np.round(after[:, 1] - y, 6)).astype(np.int64)
    goes_right = end[:, 0] >= start[:, 0]
    at_left, at_right = np.where(goes_right, turn_1, turn_2), np.where(goes_right, turn_2, turn_1)
    return _Pieces(way, index, y, left, right, low, high, at_left, at_right)


def _assign_slots(pieces: _Pieces, trunk: Int) -> Float:
    """The y of each piece. : (k,)"""
    y = (pieces.low + pieces.high) / 2  # what is alone in its channel runs in the middle
    channel = _channels(pieces, trunk)
    order = np.argsort(channel, kind="stable")
    cuts = np.flatnonzero(np.diff(channel[order])) + 1
    for members in np.split(order, cuts):
        if len(members) < 2:
            continue
        _, line = np.unique(
            np.where(trunk[members] >= 0, trunk[members], -1 - np.arange(len(members))), return_inverse=True
        )
        line = line.ravel()
        lines = _lines(pieces, members, line)
        slot = _slots(lines)
        found = _heights(lines, slot)
        if found is None:
            low, high = pieces.low[members], pieces.high[members]
            y[members] = low + (slot[line] + 0.5) / (slot.max() + 1) * (high - low)
        else:
            y[members] = found[line]
    return y


def _heights(lines: _Lines, slot: Float) -> Float | None:
    """The y of each line of a channel: in slots where all can be moved over the same height, else each where it can;
    None where there is too little room. : (n,)"""
    many = int(slot.max()) + 1
    low, high = float(lines.low.max()), float(lines.high.min())
    pitch = min(_PITCH, (high - low) / many)
    found = _slots_between(lines) if pitch < _CLEAR and len(slot) <= _COUNTED else None
    if found is None and high - low >= 1.0:
        return (low + high) / 2 + (slot - (many - 1) / 2) * pitch
    return found


def _slots_between(lines: _Lines) -> Float | None:
    """The y of lines that can be moved over heights of their own, in their order; None where there is too little room.
    : (n,)"""
    order = lines.order
    left, right, low, high = (part[order] for part in (lines.left, lines.right, lines.low, lines.high))
    n = len(order)
    before = (left[:, None] < right + _APART) & (left < right[:, None] + _APART)
    for pitch in _PITCHES:
        first, last = low.copy(), high.copy()
        for k in range(n):
            first[k] = max(first[k], (first[:k][before[k, :k]] + pitch).max(initial=-np.inf))
        if (first > high).any():
            continue
        for k in range(n - 1, -1, -1):
            last[k] = min(last[k], (last[k + 1 :][before[k, k + 1 :]] - pitch).min(initial=np.inf))
        # as near to the middle of its height as those above allow, and as those below do
        middle = np.clip((low + high) / 2, first, last)
        from_above, from_below = middle.copy(), middle.copy()
        for k in range(n):
            below = (from_above[:k][before[k, :k]] + _PITCH).max(initial=middle[k])
            from_above[k] = min(below, last[k])
        for k in range(n - 1, -1, -1):
            above = (from_below[k + 1 :][before[k, k + 1 :]] - _PITCH).min(initial=middle[k])
            from_below[k] = max(above, first[k])
        found = np.empty(n)
        found[order] = (from_above + from_below) / 2
        return found
    return None


def _channels(pieces: _Pieces, trunk: Int) -> Int:
    """Number of the channel of each piece. : (k,)"""
    n = len(pieces.way)
    if n > _MANY:
        key = np.round(np.column_stack((pieces.low, pieces.high)), 3)
        return np.unique(key, axis=0, return_inverse=True)[1].ravel()
    across = (pieces.left[:, None] < pieces.right + _APART) & (pieces.left < pieces.right[:, None] + _APART)
    down = (pieces.low[:, None] < pieces.high) & (pieces.low < pieces.high[:, None])
    near = np.abs(pieces.y[:, None] - pieces.y) < _APART
    same = (trunk[:, None] == trunk) & (trunk >= 0) & (down | near)
    i, j = np.nonzero((across & (down | near)) | same)
    return connected(n, i, j)[1]


class _Lines(NamedTuple):
    """The lines of a channel, each a piece or the pieces of a trunk.

    Parameters
    ----------
    left, right, low, high : (n,) what they reach over, and between which y they may be moved
    order : (n,) lines from above
    """

    left: Float
    right: Float
    low: Float
    high: Float
    order: Int


def _lines(pieces: _Pieces, members: Int, line: Int) -> _Lines:
    lines = int(line.max()) + 1
    left, right = np.full(lines, np.inf), np.full(lines, -np.inf)
    low, high = np.full(lines, -np.inf), np.full(lines, np.inf)
    np.minimum.at(left, line, pieces.left[members])
    np.maximum.at(right, line, pieces.right[members])
    np.maximum.at(low, line, pieces.low[members])
    np.minimum.at(high, line, pieces.high[members])
    order = _by_ends(pieces, members, line, left, right)
    found = _Lines(left, right, low, high, order)
    return found._replace(order=_fewest_crossings(pieces, members, line, found)) if lines <= _COUNTED else found


def _slots(lines: _Lines) -> Float:
    """Slot of each line, from above; those that do not overlap may share one. : (n,)"""
    left, right, order = lines.left, lines.right, lines.order
    many = len(order)
    slot = np.zeros(many)
    if many > _MANY:
        slot[order] = np.arange(many)
        return slot
    at_left, at_right, at_slot = np.empty(many), np.empty(many), np.empty(many)
    for n, k in enumerate(order.tolist()):
        meets = (at_left[:n] < right[k] + _APART) & (left[k] < at_right[:n] + _APART)
        slot[k] = at_slot[:n][meets].max() + 1 if meets.any() else 0.0
        at_left[n], at_right[n], at_slot[n] = left[k], right[k], slot[k]
    return slot


def _by_ends(pieces: _Pieces, members: Int, line: Int, left: Float, right: Float) -> Int:
    """Lines from above: those that come from above at both ends, the ones passing through, those below both ends.

    Of those going down to the right, the farthest right comes first; to the left, the farthest left.
    """
    up, down = np.zeros(len(left)), np.zeros(len(left))
    to_right = np.zeros(len(left), dtype=bool)
    for end in (pieces.at_left[members], pieces.at_right[members]):
        np.add.at(up, line, end < 0)
        np.add.at(down, line, end > 0)
    to_right[line] = pieces.at_right[members] > 0
    rank = np.where(down == 0, 0, np.where(up == 0, 2, 1))
    width = right - left
    key = np.where(rank == 0, width, np.where(rank == 2, -width, np.where(to_right, -right, left)))
    return np.lexsort((np.arange(len(left)), key, rank))


def _fewest_crossings(pieces: _Pieces, members: Int, line: Int, of: _Lines) -> Int:
    """The order improved: lines change places as long as that saves crossings."""
    left, right = of.left, of.right
    ends_x = np.concatenate((pieces.left[members], pieces.right[members]))
    ends_turn = np.concatenate((pieces.at_left[members], pieces.at_right[members]))
    ends_line = np.concatenate((line, line))
    by_place = np.lexsort((ends_line, ends_turn, ends_x))
    ends_x, ends_turn, ends_line = ends_x[by_place], ends_turn[by_place], ends_line[by_place]
    fresh = (np.diff(ends_x) != 0) | (np.diff(ends_turn) != 0) | (np.diff(ends_line) != 0)
    fresh = np.concatenate(([True], fresh))
    ends_x, ends_turn, ends_line = ends_x[fresh], ends_turn[fresh], ends_line[fresh]
    lines = len(left)
    cost = np.zeros((lines, lines))
    over = (ends_x[:, None] > left + 1e-6) & (ends_x[:, None] < right - 1e-6)
    over &= ends_line[:, None] != np.arange(lines)
    for turn in (1, -1):
        chosen = ends_turn == turn
        hits = np.zeros((lines, lines))
        np.add.at(hits, ends_line[chosen], over[chosen])
        # a line above others crosses them with what goes down from it, and is crossed by what goes up from them
        cost += hits if turn == 1 else hits.T
    down, up = ends_turn == 1, ends_turn == -1
    close = np.abs(ends_x[down][:, None] - ends_x[up]) < 2.0
    i, j = np.nonzero(close)
    upper, lower = ends_line[down][i], ends_line[up][j]
    # of two pieces of one way, the first of which goes down to the second, the first is above
    way = np.empty(lines, dtype=np.int64)
    way[line] = pieces.way[members]
    joint = way[upper] == way[lower]
    np.add.at(cost, (np.where(joint, lower, upper), np.where(joint, upper, lower)), 3.0)
    # what can only be below another is
    cost[of.low[:, None] >= of.high] += _NEVER
    gain = cost - cost.T
    order = of.order
    for _ in range(_SWEEPS):
        was = order
        for k in was.tolist():
            order = _move_one_line(order, k, gain)
        if (order == was).all():
            break
    return order


def _move_one_line(order: Int, k: int, gain: Float) -> Int:
    """The order with one line where that saves most crossings.

    Parameters
    ----------
    gain : (n, n) what it saves if of two neighbours the second comes first
    """
    at = int(np.flatnonzero(order == k)[0])
    up, down = gain[order[:at][::-1], k].cumsum(), gain[k, order[at + 1 :]].cumsum()
    best_up, best_down = up.max(initial=0.0), down.max(initial=0.0)
    if max(best_up, best_down) <= 0:
        return order
    to = at - 1 - int(up.argmax()) if best_up >= best_down else at + 1 + int(down.argmax())
    return np.insert(np.delete(order, at), to, k)
