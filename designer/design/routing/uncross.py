"""Links that cross each other: given other ports at their boxes or led elsewhere, if that saves crossings in all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.design.routing.astray import over_boxes
from designer.design.routing.by_hand import is_free
from designer.design.routing.grid import Grid
from designer.design.routing.laid import by_turns, on_side, ways_of
from designer.design.routing.nudge import set_apart
from designer.design.routing.pieces import Pieces, put, tidied
from designer.design.routing.search import BEND, CROSSING, OPPOSITE, shortest_way

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: of more links none is given another port; in a grid of more cells none is led elsewhere, nor more than so many
MOST_UNCROSSED: Final = 240
_MOST_CELLS: Final = 6000
_LED: Final = 2
#: of more links none is led elsewhere or changes places with another: a person waits for them
_SEARCHED: Final = 80
#: where links cross so many times each, a few led elsewhere change little
_HOPELESS: Final = 2
#: so many changes are tried
_TRIED: Final = 6
#: and so many, each as often as there are links
_WORK: Final = 150
#: so many pairs that cross change places in one round
_PAIRS: Final = 4
_TOUCH: Final = 0.5
_NEAR: Final = 1e-6


class Field(NamedTuple):
    """What is led through a container, and what it is led around.

    Parameters
    ----------
    held : (n, 4) what links must not run over
    ends : (k, 4), (k, 4) what they end at
    aims : (k,), (k,) where they go to, along their sides
    given : (k,), (k,) ends that stay where they are
    facing : (k,) whether both boxes face each other
    outwards : (k,) whether a link leaves the container
    bent : (k,) whether it is drawn by hand
    trunk : (k,) number of the trunk it is part of, −1 for none
    """

    grid: Grid
    held: Float
    pieces: Pieces
    ends: tuple[Float, Float]
    aims: tuple[Float, Float]
    given: tuple[Bool, Bool]
    facing: Bool
    outwards: Bool
    bent: Bool
    trunk: Int


class Laid(NamedTuple):
    """Ways before and after they were set apart.

    Parameters
    ----------
    plain, ways : (k, v, 2)
    corners : (k,) of those set apart
    each : (k,) how many times each crosses others
    places
        How often links cross.
    cost
        Of crossings, bends and length together, scene units of length.
    """

    plain: Float
    ways: Float
    corners: Int
    each: Int
    places: int
    cost: float


def uncrossed(field: Field, plain: Float) -> Laid:
    """Ways set apart, changed as long as that saves crossings; of too many to change, crossings are not counted."""
    if len(plain) > MOST_UNCROSSED:
        # each pair of links would be looked at
        plain, ways, corners = _set_apart(field, plain)
        return Laid(plain, ways, corners, np.zeros(len(plain), dtype=np.int64), 0, 0.0)
    now = _laid(field, plain)
    if now.places > _HOPELESS * len(plain):
        return now
    left = min(_TRIED, _WORK // max(1, len(plain)))
    while now.places and left:
        for other in _alternatives(field, now):
            new = _laid(field, other)
            left -= 1
            if new.places < now.places and new.cost < now.cost:
                now = new
                break
            if not left:
                break
        else:
            break
    return now


def _set_apart(field: Field, plain: Float) -> tuple[Float, Float, Int]:
    plain, corners = tidied(plain)
    return (plain, *tidied(set_apart(field.grid, plain, corners, field.outwards, field.trunk, field.bent)))


def _laid(field: Field, plain: Float) -> Laid:
    plain, ways, corners = _set_apart(field, plain)
    each, places = crossed(ways)
    places += _turned_round(field, ways)
    cost = CROSSING * places + BEND * float(corners.sum()) + float(np.abs(np.diff(ways, axis=1)).sum())
    return Laid(plain, ways, corners, each, places, cost)


def _turned_round(field: Field, ways: Float) -> int:
    """How many pairs leave the container in another order than that of where they go to: they cross outside."""
    some = np.flatnonzero(field.outwards)
    if len(some) < 2:
        return 0
    side = field.pieces.side_q[some]
    axis = np.where(side % 2 == 1, 0, 1)
    at, aim = ways[some, -1, axis], field.aims[1][some]
    pairs = (side[:, None] == side) & (at[:, None] < at - _NEAR) & (aim[:, None] > aim + _NEAR)
    return int(pairs.sum())


def _alternatives(field: Field, now: Laid) -> Iterator[Float]:
    """Ways that may cross less often."""
    yield from _in_order(field, now.plain, now.ways)
    if len(now.plain) > _SEARCHED:
        return
    for n, way in _led_elsewhere(field, now):
        plain = put(now.plain.copy(), {n: way})
        yield plain
        yield from _in_order(field, plain, plain)
    yield from _swap_ends(field, now)


def _in_order(field: Field, plain: Float, ways: Float) -> Iterator[Float]:
    """Links that leave their boxes in the order of where they turn, at the same places."""
    turns = by_turns(ways, field.pieces, field.aims, field.outwards)
    corners = tidied(plain)[1]
    rows = np.arange(len(plain))
    at = _ports(field, plain)
    box = np.concatenate((field.pieces.p, field.pieces.q))
    side = np.concatenate((field.pieces.side_p, field.pieces.side_q))
    loose = ~np.concatenate(field.given) & np.tile(corners > 2, 2) & _at_ports(field, plain)
    loose[len(rows) :] &= ~field.outwards
    some = np.flatnonzero(loose)
    key = box[some] * 4 + side[some]
    place = np.concatenate(at)
    new = place.copy()
    new[some[np.lexsort((np.concatenate(turns)[some], key))]] = place[some[np.lexsort((place[some], key))]]
    found = _shift_ends(field, plain, corners, new)
    if found is not None:
        yield found


def _swap_ends(field: Field, now: Laid) -> Iterator[Float]:
    """Pairs of links that cross and begin at the same side of a box, in each other's place."""
    corners = tidied(now.plain)[1]
    box = np.stack((field.pieces.p, field.pieces.q)) * 4 + np.stack((field.pieces.side_p, field.pieces.side_q))
    loose = (~np.concatenate(field.given) & _at_ports(field, now.plain)).reshape(2, -1)
    loose[1] &= ~field.outwards
    place = np.stack(_ports(field, now.plain))
    tried = 0
    for i, j in _pairs(now.ways):
        for one in (0, 1):
            for other in (0, 1):
                if box[one, i] != box[other, j] or not loose[one, i] or not loose[other, j]:
                    continue
                new = place.copy()
                new[one, i], new[other, j] = place[other, j], place[one, i]
                found = _shift_ends(field, now.plain, corners, new.ravel())
                if found is not None:
                    tried += 1
                    yield found
                if tried == _PAIRS:
                    return


def _ports(field: Field, ways: Float) -> tuple[Float, Float]:
    """Where along their sides ways begin and end. : (k,), (k,)"""
    rows = np.arange(len(ways))
    sides = field.pieces.side_p, field.pieces.side_q
    first, last = (ways[rows, end, np.where(side % 2 == 1, 0, 1)] for end, side in zip((0, -1), sides, strict=True))
    return first, last


def _at_ports(field: Field, ways: Float) -> Bool:
    """Which ways begin, and which end, at the side they were given. : (2 k,)"""
    found: list[Bool] = []
    sides = field.pieces.side_p, field.pieces.side_q
    for end, rect, side, at in zip((0, -1), field.ends, sides, _ports(field, ways), strict=True):
        found.append(np.abs(on_side(rect, side, at) - ways[:, end]).max(axis=1) < _NEAR)
    return np.concatenate(found)


def _shift_ends(field: Field, plain: Float, corners: Int, place: Float) -> Float | None:
    """Ways that begin and end elsewhere along their sides, in their shape where that is free; None where one is not.

    Parameters
    ----------
    place : (2 k,)
    """
    k, rows = len(plain), np.arange(len(plain))
    was = np.concatenate(_ports(field, plain))
    shifted = (np.abs(place - was) > _NEAR).reshape(2, k)
    some = np.flatnonzero(shifted.any(axis=0))
    if not len(some):
        return None
    ways = plain.copy()
    axes = np.stack((field.pieces.side_p, field.pieces.side_q)) % 2 == 1
    for n in some.tolist():
        last = int(corners[n]) - 1
        for end, points in ((0, slice(0, 2)), (1, slice(last - 1, None))):
            if shifted[end, n]:
                ways[n, points, 0 if axes[end, n] else 1] = place[end * k + n]
        shorter = _shorten_way(ways[n, : last + 1], field.held)
        ways[n, : len(shorter)], ways[n, len(shorter) :] = shorter, shorter[-1]
    rerouted = (corners[some] < 3) | np.isin(some, over_boxes(field.grid, ways, field.held))
    again = some[rerouted]
    if len(again):
        start = on_side(field.ends[0], field.pieces.side_p, place[:k])[again]
        end = on_side(field.ends[1], field.pieces.side_q, place[k:])[again]
        end = np.where(field.outwards[again, None], plain[rows[again], -1], end)
        laid = ways_of(field.grid, start, end, field.pieces.some(again), field.facing[again], field.outwards[again])
        ways = put(ways, dict(zip(again.tolist(), laid, strict=True)))
        if np.isin(again, over_boxes(field.grid, ways, field.held)).any():
            return None
    return ways


def _shorten_way(way: Float, held: Float) -> Float:
    """A way without steps aside that it need not take. : (v, 2)"""
    n = 0
    while n + 4 < len(way):
        upright = way[n, 0] == way[n + 1, 0]
        corner = np.where([upright, not upright], way[n], way[n + 3])
        first, last = corner - way[n], way[n + 4] - corner
        ahead = (first * (way[n + 1] - way[n])).sum() > 0 and (last * (way[n + 4] - way[n + 3])).sum() > 0
        if ahead and is_free(np.stack((way[n], corner, way[n + 4])), held):
            way = np.concatenate((way[: n + 1], [corner], way[n + 4 :]))
        else:
            n += 1
    return way


def crossed(ways: Float) -> tuple[Int, int]:
    """How many times each way crosses others, and at how many places ways cross. : (k, v, 2) → (k,)"""
    one, other, at = _find_crossings(ways)
    found = np.zeros(len(ways), dtype=np.int64)
    np.add.at(found, one, 1)
    np.add.at(found, other, 1)
    return found, len(np.unique(at, axis=0))


def _pairs(ways: Float) -> list[tuple[int, int]]:
    """Ways that cross, each pair once, the one that crosses oftenest first."""
    one, other, _ = _find_crossings(ways)
    pairs, count = np.unique(np.sort(np.column_stack((one, other)), axis=1), axis=0, return_counts=True)
    return [(i, j) for i, j in pairs[np.argsort(-count, kind="stable")].tolist()]


def _find_crossings(ways: Float) -> tuple[Int, Int, Float]:
    """Ways that cross and where: the upright one, the level one, x and y. : (c,), (c,), (c, 2)"""
    k, v, _ = ways.shape
    pieces = np.concatenate((ways[:, :-1], ways[:, 1:]), axis=2).reshape(-1, 4)
    owner = np.repeat(np.arange(k), v - 1)
    upright = (pieces[:, 0] == pieces[:, 2]) & (pieces[:, 1] != pieces[:, 3])
    flat = (pieces[:, 1] == pieces[:, 3]) & (pieces[:, 0] != pieces[:, 2])
    up, level = pieces[upright], pieces[flat]
    x, y = up[:, :1], level[:, 1]
    top, bottom = np.minimum(up[:, 1], up[:, 3])[:, None], np.maximum(up[:, 1], up[:, 3])[:, None]
    left, right = np.minimum(level[:, 0], level[:, 2]), np.maximum(level[:, 0], level[:, 2])
    cross = (left < x - _TOUCH) & (x + _TOUCH < right) & (top < y - _TOUCH) & (y + _TOUCH < bottom)
    i, j = np.nonzero(cross & (owner[upright][:, None] != owner[flat]))
    return owner[upright][i], owner[flat][j], np.column_stack((x[i, 0], y[j]))


def _led_elsewhere(field: Field, now: Laid) -> Iterator[tuple[int, Float]]:
    """Other ways for the links that cross most, with their numbers: those that cross fewer, then those that do not turn
    where others do either."""
    grid, ways, pieces = field.grid, now.plain, field.pieces
    if grid.columns * grid.rows > _MOST_CELLS:
        return
    fixed = field.bent | (field.trunk >= 0)
    order = np.lexsort((np.arange(len(ways)), -now.each))
    worst = order[(now.each[order] > 0) & ~fixed[order]][:_LED]
    all_through: dict[bool, list[tuple[Int, Int]]] = {}
    for n in worst.tolist():
        known = [ways[n, : int(tidied(ways[n : n + 1])[1][0])]]
        for turns in (False, True):
            if turns not in all_through:
                all_through[turns] = [_cells(grid, way, turns) for way in ways]
            through = all_through[turns]
            upright, level = (np.sum([cells[k] for cells in through], axis=0) - through[n][k] for k in (0, 1))
            (x, y), (u, v) = ways[n, 0].tolist(), ways[n, -1].tolist()
            out, side = bool(field.outwards[n]), int(pieces.side_q[n])
            enter = OPPOSITE[side] if out else side
            way = shortest_way(grid, (x, y), int(pieces.side_p[n]), (u, v), enter, (upright, level), out)
            if len(way):
                way = tidied(way[None])[0][0]
                mine = through[n], _cells(grid, way, turns)
                before, after = (int((up * level + flat * upright).sum()) for up, flat in mine)
                if after <= before and not any(np.array_equal(way, other) for other in known):
                    known.append(way)
                    yield n, way


def _cells(grid: Grid, way: Float, turns: bool) -> tuple[Int, Int]:
    """Through which cells upright and level pieces of a way run. : (c, r), (c, r)

    Parameters
    ----------
    turns
        Whether with those it turns in: who meets it there may pass it on the outside.
    """
    upright = np.zeros((grid.columns, grid.rows), dtype=np.int64)
    level = np.zeros_like(upright)
    turned = grid.turned
    corners: list[tuple[int, int]] = []
    for (x, y), (u, v) in zip(way[:-1].tolist(), way[1:].tolist(), strict=True):
        if x == u and y != v:
            column = int(grid.column(np.array([x]))[0])
            first, last = grid.row_below(np.array([min(y, v)])), grid.row_above(np.array([max(y, v)]))
            upright[column, int(first[0]) : int(last[0]) + 1] = 1
        elif x != u:
            row = int(turned.column(np.array([y]))[0])
            first, last = turned.row_below(np.array([min(x, u)])), turned.row_above(np.array([max(x, u)]))
            level[int(first[0]) : int(last[0]) + 1, row] = 1
        if (x, y) != (u, v):
            corners.append((int(grid.column(np.array([u]))[0]), int(turned.column(np.array([v]))[0])))
    for column, row in () if turns else corners[:-1]:
        upright[column, row] = level[column, row] = 0
    return upright, level
