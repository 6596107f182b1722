"""The pieces of links within one container: from box to box, and from boxes to the container's border."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.design.routing.astray import Astray, End, over_boxes
from designer.design.routing.by_hand import corners_of, is_free, port_towards, way_through
from designer.design.routing.grid import Grid, grid_of
from designer.design.routing.nudge import set_apart
from designer.design.routing.search import shortest_way
from designer.design.routing.sides import (
    BOTTOM,
    EDGE,
    LEFT,
    OPPOSITES,
    RIGHT,
    TOP,
    blocked_in_row,
    facing_sides,
    open_stretch,
    ports,
    ranks,
    straight_places,
)
from designer.design.routing.trunks import trunks
from designer.design.routing.uncross import MOST_UNCROSSED, crossed, led_elsewhere
from designer.design.routing.ways import down, hanging, out

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: links around the outside of everything have so much room, scene units
_AROUND: Final = 160.0
#: places are told in so many steps of a scene unit
_RASTER: Final = 8.0
#: farther than anything in a picture, scene units
_FAR: Final = 1e9
#: so many links of a container are searched for one by one
_SEARCHED: Final = 400
#: a way may be outside of its container by so much, scene units
_STRAY: Final = 0.25
#: so many in a frame of a drag
_SEARCHED_COARSELY: Final = 6
#: and so far
_STATES: Final = 1500


class Pieces(NamedTuple):
    """What is to be led through one container.

    Parameters
    ----------
    p, q : (k,) boxes at the ends; q is −1 where a piece ends at the border
    side_p, side_q : (k,)
    at_p, at_q : (k,) where along the side a link comes in that ends further inside; NaN where it ends at the box
    aim_p, aim_q : (k, 2) where the link goes to, seen from each end
    kind : (k,) number of the kind of link
    bends : (k, c, 2) corners of those drawn by hand, NaN elsewhere
    """

    p: Int
    q: Int
    side_p: Int
    side_q: Int
    at_p: Float
    at_q: Float
    aim_p: Float
    aim_q: Float
    kind: Int
    bends: Float

    def some(self, rows: Int | slice) -> Pieces:
        """Some of them."""
        return Pieces._make(part[rows] for part in self)


#: how far beyond a container what is outside is taken to be, scene units
_BEYOND: Final = 1000.0


def among(pieces: Pieces, container: Int, rect: Float, slot: Int) -> Pieces:
    """Pieces with places told from the corners of their containers, and boxes numbered among what those hold.

    What lies beyond a container is told only by its side and order, so that the way out does not depend on how far
    off it is.

    Parameters
    ----------
    container : (k,) of each piece, ascending; −1 for the canvas, where places stay as they are
    slot : (n,) number of each box among the contents of its container
    """
    within = (container >= 0)[:, None]
    origin = np.where(within, rect[container, :2], 0.0)
    size = np.where(within, rect[container, 2:], np.inf)
    at = [
        value - np.where(side % 2 == 1, origin[:, 0], origin[:, 1])
        for value, side in ((pieces.at_p, pieces.side_p), (pieces.at_q, pieces.side_q))
    ]
    aims = [_by_order(aim - origin, np.where(within, 0.0, -np.inf), size, container) for aim in pieces[6:8]]
    q = np.where(pieces.q < 0, -1, slot[pieces.q])
    bends = pieces.bends - origin[:, None]
    return pieces._replace(p=slot[pieces.p], q=q, at_p=at[0], at_q=at[1], aim_p=aims[0], aim_q=aims[1], bends=bends)


def _by_order(aim: Float, low: Float, size: Float, container: Int) -> Float:
    """Aims of which those outside of their container are told by side and order alone. : (k, 2)"""
    found = aim.copy()
    rows = np.arange(len(aim))
    for axis in (0, 1):
        value = aim[:, axis]
        order = np.lexsort((value, container))
        fresh = np.concatenate(([True], np.diff(container[order]) != 0))
        step = fresh | np.concatenate(([True], np.diff(value[order]) != 0))
        count = np.cumsum(step)
        first = np.maximum.accumulate(np.where(fresh, rows, 0))
        rank = np.empty(len(aim))
        rank[order] = count - count[first]
        found[:, axis] = np.where(value < low[:, 0], rank - 2 * _BEYOND, value)
        found[:, axis] = np.where(value > size[:, axis], size[:, axis] + _BEYOND + rank, found[:, axis])
    return found


def container_grid(rect: Float, children: Int, container: int) -> Grid | None:
    """The free cells between the things of a container, or of the canvas where that is −1."""
    rects = rect[children]
    if container >= 0:
        x, y, wide, high = rect[container].tolist()
        return grid_of(rects, (x, y, x + wide, y + high))
    low, high = rects[:, :2].min(axis=0) - _AROUND, (rects[:, :2] + rects[:, 2:]).max(axis=0) + _AROUND
    return grid_of(rects, (float(low[0]), float(low[1]), float(high[0]), float(high[1])))


def sides_between(grid: Grid | None, ra: Float, rb: Float, above: Bool) -> tuple[Int, Int]:
    """The sides at which links between siblings leave them; where something stands between two side by side, both
    leave at the top, or at the bottom where not `above`. : (k,), (k,)"""
    side_a, side_b = facing_sides(ra, rb)
    row = np.flatnonzero(side_a % 2 == 0)
    if grid is not None and len(row):
        bow = row[blocked_in_row(grid, ra[row], rb[row])]
        side_a[bow] = side_b[bow] = np.where(above[bow], TOP, BOTTOM)
    return side_a, side_b


class Led(NamedTuple):
    """Pieces that were led through a container.

    Parameters
    ----------
    ways : (k, v, 2) points of each piece from p to q, the last one repeated
    corners : (k,) how many points each has
    lost
        Rows of those that run over a box or out of the container: they have no other way from where they come in to
        where they go out.
    """

    ways: Float
    corners: Int
    lost: tuple[int, ...] = ()


def lead(rect: Float, grid: Grid | None, container: int, pieces: Pieces, coarse: bool = False) -> Led:
    """Lead each piece from p to q.

    Parameters
    ----------
    coarse
        Whether they only run around boxes, neither in the best order nor set apart, while something is dragged.
    """
    outwards = pieces.q < 0
    rp = rect[pieces.p]
    rq = np.where(outwards[:, None], rect[container] if container >= 0 else 0.0, rect[np.maximum(pieces.q, 0)])
    bent = _bent(pieces)
    facing = ~outwards & ~bent & (pieces.side_q == OPPOSITES[pieces.side_p])
    upright = pieces.side_p % 2 == 1
    trunk = np.full(len(rp), -1)
    own = ~outwards & ~bent & np.isnan(pieces.at_p) & np.isnan(pieces.at_q) & (upright | ~facing)
    own &= facing | (pieces.side_p == pieces.side_q)
    some = np.flatnonzero(own)
    if len(some) and not coarse:
        first = facing[some] & (pieces.side_p[some] == TOP)  # p is the lower one
        upper = np.where(first, pieces.q[some], pieces.p[some])
        lower = np.where(first, pieces.p[some], pieces.q[some])
        trunk[some] = trunks(upper, lower, pieces.kind[some], ~facing[some])
    fixed = _straight(grid, rp, rq, pieces, facing & (trunk < 0))
    given = _bent_ports(rp, rq, pieces, fixed, np.flatnonzero(bent))
    along = np.where(pieces.side_p % 2 == 1, 0, 1), np.where(pieces.side_q % 2 == 1, 0, 1)
    rows = np.arange(len(rp))
    aims = pieces.aim_p[rows, along[0]], pieces.aim_q[rows, along[1]]
    at_p, at_q = _ports(grid, rp, rq, pieces, given, aims)
    start, end = _on_side(rp, pieces.side_p, at_p), _on_side(rq, pieces.side_q, at_q)
    if grid is None:
        ways = _plain(start, end, facing | outwards, upright)
    else:
        ways = _ways(grid, start, end, pieces, facing, outwards, _SEARCHED_COARSELY if coarse else _SEARCHED)
        if coarse:
            ways, _ = tidied(ways)
            held = rect[: container if container >= 0 else None]
            return Led(*tidied(_put(ways, _led_around(grid, ways, pieces, (rp, rq), held, coarse))))
        # once it is known where links turn, they leave their boxes in the order that crosses least
        again = _ports(grid, rp, rq, pieces, given, _by_turns(ways, pieces, aims, outwards))
        moved = (again[0] != at_p) | (again[1] != at_q)
        if moved.any():
            start, end = _on_side(rp, pieces.side_p, again[0]), _on_side(rq, pieces.side_q, again[1])
            some = np.flatnonzero(moved)
            anew = _ways(grid, start[some], end[some], pieces.some(some), facing[some], outwards[some])
            ways = _put(ways, dict(zip(some.tolist(), anew, strict=True)))
    drawn = {
        n: way_through(start[n], int(pieces.side_p[n]), corners_of(pieces.bends[n]), end[n], int(pieces.side_q[n]))
        for n in np.flatnonzero(bent).tolist()
    }
    if grid is not None:
        # what comes out of a box elsewhere than it was drawn may run over another
        for n, way in drawn.items():
            if not is_free(way, rect[: container if container >= 0 else None]):
                (x, y), (u, v) = start[n].tolist(), end[n].tolist()
                around = shortest_way(grid, (x, y), int(pieces.side_p[n]), (u, v), int(pieces.side_q[n]))
                drawn[n] = around if len(around) else way
    ways, corners = tidied(_put(ways, drawn))
    if grid is None:
        return Led(rastered(ways), corners)
    held = rect[: container if container >= 0 else None]
    astray = _led_around(grid, ways, pieces, (rp, rq), held)
    if astray:
        ways, corners = tidied(_put(ways, astray))
        trunk[list(astray)] = -1
    plain = ways
    ways, corners = tidied(set_apart(grid, ways, corners, outwards, trunk, bent))
    if len(ways) <= MOST_UNCROSSED:
        still = outwards | bent | (trunk >= 0)
        ways, corners = _uncrossed(grid, plain, (ways, corners), still, pieces, (outwards, trunk, bent))
    ways = rastered(ways)
    spoilt = over_boxes(grid, ways, held)
    if spoilt:
        ways, corners = tidied(_put(ways, dict(zip(spoilt, rastered(plain[spoilt]), strict=True))))
    lost = over_boxes(grid, ways, held) if spoilt else []
    if container >= 0:
        # nobody knows here what stands outside
        low, high = rect[container, :2], rect[container, :2] + rect[container, 2:]
        beyond = ((ways < low - _STRAY) | (ways > high + _STRAY)).any(axis=(1, 2))
        lost += [n for n in np.flatnonzero(beyond).tolist() if n not in lost]
    return Led(ways, corners, tuple(lost))


def rastered(ways: Float) -> Float:
    """Paths on a fine raster, so that what moves as a whole keeps its path exactly. : (k, v, 2)"""
    return np.floor(ways * _RASTER + 0.5) / _RASTER


def _led_around(
    grid: Grid, ways: Float, pieces: Pieces, rects: tuple[Float, Float], held: Float, coarse: bool = False
) -> dict[int, Float]:
    """Other ways for those that run over a box, from wherever they can leave their boxes, by their numbers.

    Parameters
    ----------
    ways : (k, v, 2)
    rects : (k, 4), (k, 4) what the links end at
    held : (n, 4) what they must not run over
    """
    found: dict[int, Float] = {}
    astray = over_boxes(grid, ways, held)
    if astray:
        around = Astray(grid, _STATES) if coarse else Astray(grid)
        for n in astray[: _SEARCHED_COARSELY if coarse else _SEARCHED]:
            one, other = (
                End(rect[n], int(side[n]), float(at[n]), bool(box[n] < 0), int(box[n]))
                for rect, side, at, box in zip(rects, pieces[2:4], pieces[4:6], pieces[:2], strict=True)
            )
            way = around.way(one, other)
            if len(way):
                found[n] = way
    return found


def _uncrossed(
    grid: Grid,
    plain: Float,
    apart: tuple[Float, Int],
    still: Bool,
    pieces: Pieces,
    channels: tuple[Bool, Int, Bool],
) -> tuple[Float, Int]:
    """Ways of which some are led elsewhere, if that saves crossings.

    Parameters
    ----------
    plain : (k, v, 2) before they were set apart
    apart
        Set apart, and how many points each has.
    still : (k,) those that stay
    channels
        What setting apart needs to know besides.
    """
    now, places = crossed(apart[0])
    other = list(led_elsewhere(grid, plain, now, still, (pieces.side_p, pieces.side_q)).items())
    for many in dict.fromkeys((len(other), 1)) if other else ():
        ways, corners = tidied(_put(plain.copy(), dict(other[:many])))
        found = tidied(set_apart(grid, ways, corners, *channels))
        if crossed(found[0])[1] < places:
            return found
    return apart


def _straight(grid: Grid | None, rp: Float, rq: Float, pieces: Pieces, facing: Bool) -> Float:
    """Where along their sides links run straight from box to box, NaN for the others. : (k,)"""
    fixed = np.full(len(rp), np.nan)
    if grid is None:
        return fixed
    for axis, sides in ((0, (BOTTOM, TOP)), (1, (RIGHT, LEFT))):
        some = np.flatnonzero(facing & np.isin(pieces.side_p, sides))
        if not len(some):
            continue
        flip = pieces.side_p[some] == sides[1]
        first, second = np.where(flip[:, None], rq[some], rp[some]), np.where(flip[:, None], rp[some], rq[some])
        low = np.maximum(first[:, axis], second[:, axis]) + EDGE
        high = np.minimum(first[:, axis] + first[:, axis + 2], second[:, axis] + second[:, axis + 2]) - EDGE
        for given in (pieces.at_p[some], pieces.at_q[some]):
            known = ~np.isnan(given)
            low, high = np.where(known, np.maximum(given, low), low), np.where(known, np.minimum(given, high), high)
        pair = np.minimum(pieces.p[some], pieces.q[some]) * (len(rp) + pieces.p.max() + pieces.q.max() + 2)
        pair += np.maximum(pieces.p[some], pieces.q[some])
        twin = ranks(pair, np.argsort(pair, kind="stable"))[0].astype(np.int64)
        turned = grid if axis == 0 else grid.turned
        start, stop = first[:, 1 - axis] + first[:, 3 - axis], second[:, 1 - axis]
        fixed[some] = straight_places(turned, low, high, start, stop, twin)
    return fixed


def _bent(pieces: Pieces) -> Bool:
    """Which are drawn by hand. : (k,)"""
    return np.asarray((~np.isnan(pieces.bends[..., 0])).any(axis=1), dtype=np.bool_)


def _bent_ports(rp: Float, rq: Float, pieces: Pieces, fixed: Float, bent: Int) -> tuple[Float, Float]:
    """The same for both ends, with those of links drawn by hand where these come to their boxes. : (k,), (k,)"""
    if not len(bent):
        return fixed, fixed
    fixed_p, fixed_q = fixed.copy(), fixed.copy()
    for n in bent.tolist():
        points = corners_of(pieces.bends[n])
        fixed_p[n] = port_towards(rp[n], int(pieces.side_p[n]), points[0])
        fixed_q[n] = port_towards(rq[n], int(pieces.side_q[n]), points[-1])
    return fixed_p, fixed_q


def _put(ways: Float, some: Mapping[int, Float]) -> Float:
    """Ways of which some are replaced by others, however many corners those have. : (k, v, 2)"""
    more = max((len(way) for way in some.values()), default=0) - ways.shape[1]
    if more > 0:
        ways = np.concatenate((ways, np.repeat(ways[:, -1:], more, axis=1)), axis=1)
    for n, way in some.items():
        ways[n, : len(way)], ways[n, len(way) :] = way, way[-1]
    return ways


def _by_turns(ways: Float, pieces: Pieces, aims: tuple[Float, Float], outwards: Bool) -> tuple[Float, Float]:
    """Aims that give the order in which links leave boxes, by where they turn. : (k,), (k,)

    Of those that turn left, the one that turns first is leftmost, to the right rightmost; of those that turn together,
    the ones that come back to the same row are nearest to where they turn to, the farthest of them last.
    """
    ways, corners = tidied(ways)
    k, rows = len(ways), np.arange(len(ways))
    back = np.maximum(corners - 1 - np.arange(3)[:, None], 0)
    first = np.concatenate((np.stack([ways[:, min(n, ways.shape[1] - 1)] for n in range(3)]), ways[rows, back]), axis=1)
    side, aim = np.concatenate((pieces.side_p, pieces.side_q)), np.concatenate(aims)
    axis = np.where(side % 2 == 1, 0, 1)
    both = np.arange(2 * k)
    leg = np.abs(first[1, both, 1 - axis] - first[0, both, 1 - axis])
    turns = np.tile(corners > 2, 2)
    to = np.where(turns, np.sign(first[2, both, axis] - first[1, both, axis]), 0.0)
    bow = np.tile((pieces.side_p == pieces.side_q) & ~outwards, 2)
    far = np.where(turns, first[2, both, axis], aim)
    rank = np.empty(2 * k)
    rank[np.lexsort((both, np.where(bow, -aim, aim), np.where(bow, 0.0, far), bow * to, -to * leg, to))] = both
    found = np.where(to == 0, aim, to * _FAR + rank)
    return found[:k], found[k:]


def _ports(
    grid: Grid | None, rp: Float, rq: Float, pieces: Pieces, fixed: tuple[Float, Float], aims: tuple[Float, Float]
) -> tuple[Float, Float]:
    """Where along their sides links touch boxes. : (k,), (k,)"""
    k = len(rp)
    box, side = np.concatenate((pieces.p, pieces.q)), np.concatenate((pieces.side_p, pieces.side_q))
    rect = np.concatenate((rp, rq))
    given = np.concatenate((pieces.at_p, pieces.at_q))
    given = np.where(np.isnan(given), np.concatenate(fixed), given)
    axis = np.where(side % 2 == 1, 0, 1)
    rows = np.arange(2 * k)
    low = rect[rows, axis]
    high = low + rect[rows, axis + 2]
    if grid is not None:
        low, high = open_stretch(grid, rect, side, box >= 0, (low, high))
    place = ports((box + 1) * 4 + side, np.concatenate(aims), given, low, high)
    return place[:k], place[k:]


def _on_side(rect: Float, side: Int, at: Float) -> Float:
    """Points at the sides of boxes. : (k, 2)"""
    x = np.where(side == LEFT, rect[:, 0], np.where(side == RIGHT, rect[:, 0] + rect[:, 2], at))
    y = np.where(side == TOP, rect[:, 1], np.where(side == BOTTOM, rect[:, 1] + rect[:, 3], at))
    return np.column_stack((x, y))


def _plain(start: Float, end: Float, facing: Bool, upright: Bool) -> Float:
    """One turn half-way, whatever is in the way. : (k, 6, 2)"""
    middle = (start + end) / 2
    bow = np.where(facing, middle[:, 1], np.maximum(start[:, 1], end[:, 1]) + 20.0)
    one = np.where(upright[:, None], np.column_stack((start[:, 0], bow)), np.column_stack((middle[:, 0], start[:, 1])))
    two = np.where(upright[:, None], np.column_stack((end[:, 0], bow)), np.column_stack((middle[:, 0], end[:, 1])))
    return np.stack((start, one, two, two, two, end), axis=1)


def _ways(
    grid: Grid, start: Float, end: Float, pieces: Pieces, facing: Bool, outwards: Bool, most: int = _SEARCHED
) -> Float:
    """Ways that run around everything, where there are any. : (k, v, 2)"""
    k = len(start)
    ways, free = np.repeat(start[:, None], 6, axis=1), np.zeros(k, dtype=bool)
    # what is neither free nor found keeps right angles
    ways[:, -1], ways[:, -2] = end, np.column_stack((start[:, 0], end[:, 1]))
    for side in (BOTTOM, TOP, RIGHT, LEFT):
        here = pieces.side_p == side
        axis, sign = (1 if side % 2 else 0), (1.0 if side in (BOTTOM, RIGHT) else -1.0)
        laid = grid if axis == 1 else grid.turned
        order = (0, 1) if axis == 1 else (1, 0)
        one, two = start[:, order], end[:, order]
        some = np.flatnonzero(here & facing)
        if len(some):
            if sign > 0:
                found, good = down(laid, one[some], two[some])
            else:
                found, good = down(laid, two[some], one[some])
                found = found[:, ::-1]
            ways[some], free[some] = found[:, :, order], good
        some = np.flatnonzero(here & ~facing & ~outwards & (pieces.side_p == pieces.side_q))
        if len(some):
            found, good = hanging(laid, one[some], two[some], sign > 0)
            ways[some], free[some] = found[:, :, order], good
        some = np.flatnonzero(here & outwards)
        if len(some):
            found, good = _out(laid, one[some], two[some, 1], sign)
            ways[some], free[some] = found[:, :, order], good
    bent = _bent(pieces)
    rest = np.flatnonzero(~free & ~outwards & ~bent)[:most]
    found = {
        n: shortest_way(grid, (x, y), int(pieces.side_p[n]), (u, v), int(pieces.side_q[n]))
        for n, (x, y), (u, v) in zip(rest.tolist(), start[rest].tolist(), end[rest].tolist(), strict=True)
    }
    return _put(ways, {n: way for n, way in found.items() if len(way)})


def _out(grid: Grid, start: Float, border: Float, sign: float) -> tuple[Float, Bool]:
    """Ways to the border below, or above where `sign` is negative."""
    if sign > 0:
        return out(grid, start, border)
    mirrored = Grid(grid.xs, -grid.ys[::-1], np.ascontiguousarray(grid.taken[:, ::-1]))
    found, good = out(mirrored, start * (1.0, -1.0), -border)
    return found * (1.0, -1.0), good


def tidied(ways: Float) -> tuple[Float, Int]:
    """Ways without points that lie upon each other or on a straight piece, the last point repeated; and how many
    points each has. : (k, v, 2) → (k, w, 2), (k,)"""
    k, v, _ = ways.shape
    corners = np.full(k, v)
    for _ in range(2):
        keep = np.ones((k, v), dtype=bool)
        keep[:, 1:] = (np.abs(np.diff(ways, axis=1)) > 1e-6).any(axis=2)
        ways, corners = _packed(ways, keep)
        keep = np.ones((k, v), dtype=bool)
        before, after = ways[:, 1:-1] - ways[:, :-2], ways[:, 2:] - ways[:, 1:-1]
        keep[:, 1:-1] = ~((np.abs(before) < 1e-6) & (np.abs(after) < 1e-6)).any(axis=2)
        keep &= np.arange(v) < corners[:, None]
        # the last point stays even where the ones repeated behind it look straight
        keep[np.arange(k), corners - 1] = True
        ways, corners = _packed(ways, keep)
    most = max(2, int(corners.max()) if k else 2)
    return np.ascontiguousarray(ways[:, :most]), corners


def _packed(ways: Float, keep: Bool) -> tuple[Float, Int]:
    """The kept points of each way moved to the front, the last one repeated. : (k, v, 2), (k,)"""
    corners = keep.sum(axis=1)
    order = np.argsort(~keep, axis=1, kind="stable")
    order = np.where(
        np.arange(ways.shape[1]) < corners[:, None], order, np.take_along_axis(order, corners[:, None] - 1, axis=1)
    )
    return np.take_along_axis(ways, order[..., None], axis=1), corners
