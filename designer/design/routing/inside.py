"""The pieces of links within one container: from box to box, and from boxes to the container's border."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.design.routing.astray import Astray, End, over_boxes
from designer.design.routing.bows import trunks
from designer.design.routing.by_hand import corners_of, is_free, port_towards, way_through
from designer.design.routing.grid import Grid, grid_of
from designer.design.routing.laid import SEARCHED, by_turns, on_side, places, plain_ways, ways_of
from designer.design.routing.pieces import Pieces, is_bent, put, rastered, tidied
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
    ranks,
    straight_places,
)
from designer.design.routing.uncross import Field, uncrossed

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: links around the outside of everything have so much room, scene units
_AROUND: Final = 160.0
#: a way may be outside of its container by so much, scene units
_STRAY: Final = 0.25
#: so many in a frame of a drag
_SEARCHED_COARSELY: Final = 6
#: and so far
_STATES: Final = 1500


def container_grid(rect: Float, children: Int, container: int) -> Grid | None:
    """The free cells between the things of a container, or of the canvas where that is −1."""
    rects = rect[children]
    if container >= 0:
        x, y, wide, high = rect[container].tolist()
        return grid_of(rects, (x, y, x + wide, y + high))
    low, high = rects[:, :2].min(axis=0) - _AROUND, (rects[:, :2] + rects[:, 2:]).max(axis=0) + _AROUND
    return grid_of(rects, (float(low[0]), float(low[1]), float(high[0]), float(high[1])))


def sides_between(grid: Grid | None, ra: Float, rb: Float, above: Bool) -> tuple[Int, Int]:
    """The sides at which links between siblings leave them; where something is between two side by side, both
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


def lead(rect: Float, grid: Grid | None, container: int, pieces: Pieces, coarse: bool = False) -> Led:  # noqa: PLR0915
    """Lead each piece from p to q.

    Parameters
    ----------
    coarse
        Whether they only run around boxes, neither in the best order nor set apart, while something is dragged.
    """
    outwards = pieces.q < 0
    rp = rect[pieces.p]
    rq = np.where(outwards[:, None], rect[container] if container >= 0 else 0.0, rect[np.maximum(pieces.q, 0)])
    bent = is_bent(pieces)
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
    at_p, at_q = places(grid, rp, rq, pieces, given, aims)
    start, end = on_side(rp, pieces.side_p, at_p), on_side(rq, pieces.side_q, at_q)
    if grid is None:
        ways = plain_ways(start, end, facing | outwards, upright)
    else:
        ways = ways_of(grid, start, end, pieces, facing, outwards, _SEARCHED_COARSELY if coarse else SEARCHED)
        if coarse:
            ways, _ = tidied(ways)
            held = rect[: container if container >= 0 else None]
            return Led(*tidied(put(ways, _led_around(grid, ways, pieces, (rp, rq), held, coarse))))
        # once it is known where links turn, they leave their boxes in the order that crosses least
        again = places(grid, rp, rq, pieces, given, by_turns(ways, pieces, aims, outwards))
        moved = (again[0] != at_p) | (again[1] != at_q)
        if moved.any():
            start, end = on_side(rp, pieces.side_p, again[0]), on_side(rq, pieces.side_q, again[1])
            some = np.flatnonzero(moved)
            rerouted = ways_of(grid, start[some], end[some], pieces.some(some), facing[some], outwards[some])
            ways = put(ways, dict(zip(some.tolist(), rerouted, strict=True)))
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
    ways, corners = tidied(put(ways, drawn))
    if grid is None:
        return Led(rastered(ways), corners)
    held = rect[: container if container >= 0 else None]
    astray = _led_around(grid, ways, pieces, (rp, rq), held)
    if astray:
        ways, corners = tidied(put(ways, astray))
        trunk[list(astray)] = -1
    stay = ~np.isnan(pieces.at_p) | bent, ~np.isnan(pieces.at_q) | bent
    laid = uncrossed(Field(grid, held, pieces, (rp, rq), aims, stay, facing, outwards, bent, trunk), ways)
    ways, corners = rastered(laid.ways), laid.corners
    spoilt = over_boxes(grid, ways, held)
    if spoilt:
        ways, corners = tidied(put(ways, dict(zip(spoilt, rastered(laid.plain[spoilt]), strict=True))))
    lost = over_boxes(grid, ways, held) if spoilt else []
    if container >= 0:
        # nobody knows here what is outside
        low, high = rect[container, :2], rect[container, :2] + rect[container, 2:]
        beyond = ((ways < low - _STRAY) | (ways > high + _STRAY)).any(axis=(1, 2))
        lost += [n for n in np.flatnonzero(beyond).tolist() if n not in lost]
    return Led(ways, corners, tuple(lost))


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
        for n in astray[: _SEARCHED_COARSELY if coarse else SEARCHED]:
            one, other = (
                End(rect[n], int(side[n]), float(at[n]), bool(box[n] < 0), int(box[n]))
                for rect, side, at, box in zip(rects, pieces[2:4], pieces[4:6], pieces[:2], strict=True)
            )
            way = around.way(one, other)
            if len(way):
                found[n] = way
    return found


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
