"""Bending connections by hand: which of their pieces can be taken hold of, and what way comes of it. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.address import Address
from designer.design.edits.links import BendLinks
from designer.design.geometry import Geometry
from designer.design.routing.by_hand import bent_way, is_free
from designer.design.routing.sides import EDGE
from designer.gui.canvas.editing import Offer

Float = npt.NDArray[np.float64]

#: a link keeps this straight piece at a box when the piece there is moved aside, scene units
_STUB: Final = 16.0
_NEAR: Final = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Bendable:
    """The part of a connection that runs in the container where both its ends meet.

    Parameters
    ----------
    connection
        Its number.
    container
        That container, −1 for the canvas.
    tops
        The boxes at both ends in there.
    direct
        Whether it ends at each of them, not further inside.
    points : (v, 2) its corners from box to box
    """

    connection: int
    container: int
    tops: tuple[int, int]
    direct: tuple[bool, bool]
    points: Float

    def piece_at(self, x: float, y: float) -> int:
        """The piece nearest to a point."""
        low, high = np.minimum(self.points[:-1], self.points[1:]), np.maximum(self.points[:-1], self.points[1:])
        at = np.array([x, y])
        return int(np.abs(at - np.clip(at, low, high)).sum(axis=1).argmin())

    def is_level(self, piece: int) -> bool:
        """True for a horizontal piece: it moves up and down."""
        return bool(abs(self.points[piece, 1] - self.points[piece + 1, 1]) <= _NEAR)

    @property
    def middles(self) -> Float:
        """The middle of each piece. : (v − 1, 2)"""
        return (self.points[:-1] + self.points[1:]) / 2


def bendable(geometry: Geometry, connection: int) -> Bendable | None:
    """The part of a connection that can be bent; None if one end contains the other."""
    a, b = int(geometry.connection_a[connection]), int(geometry.connection_b[connection])
    one, other = _around(geometry, a), _around(geometry, b)
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    if same in (len(one), len(other)):
        return None
    tops = one[same], other[same]
    points = _between(geometry.connection_route[connection], geometry.rect[tops[0]], geometry.rect[tops[1]])
    container = int(geometry.parent[tops[0]])
    return Bendable(connection, container, tops, (a == tops[0], b == tops[1]), points) if len(points) > 1 else None


def follows_pattern(geometry: Geometry, connection: int) -> bool:
    """True if all links of a connection come from a wiring pattern; such a connection cannot be bent."""
    return not any(link.what == "links" for link in geometry.connection_links(connection)[1])


def _around(geometry: Geometry, box: int) -> list[int]:
    found = [box]
    while geometry.parent[found[-1]] >= 0:
        found.append(int(geometry.parent[found[-1]]))
    return found[::-1]


def _between(route: Float, one: Float, other: Float) -> Float:
    """The part of a way between two boxes. : (v, 2)"""
    keep = np.ones(len(route), dtype=bool)
    keep[1:] = (np.abs(np.diff(route, axis=0)) > _NEAR).any(axis=1)
    points = _left_behind(route[keep], one)
    return _left_behind(points[::-1], other)[::-1]


def _left_behind(points: Float, rect: Float) -> Float:
    """A way without what lies in the box that it leaves."""
    low, high = rect[:2] - 0.25, rect[:2] + rect[2:] + 0.25
    inside = ((points >= low) & (points <= high)).all(axis=1)
    outside = np.flatnonzero(~inside)
    if not len(outside) or outside[0] == 0:
        return points
    first = int(outside[0])
    border = np.clip(points[first], rect[:2], rect[:2] + rect[2:])
    axis = int(np.abs(points[first] - points[first - 1]).argmax())
    border[1 - axis] = points[first - 1, 1 - axis]
    return np.concatenate((border[None], points[first:]))


def pulled(geometry: Geometry, bent: Bendable, piece: int, to: float, reach: float) -> Float:
    """The corners of a connection with one piece at another height, or for upright ones at another x. : (c, 2)

    Parameters
    ----------
    to
        y of a level piece, x of an upright one.
    reach
        How near it must come to the pieces next to it to be in line with them, scene units.
    """
    points = bent.points.copy()
    axis = 1 if bent.is_level(piece) else 0
    to = _in_line(geometry, bent, piece, axis, to, reach)
    last = len(points) - 2
    corners = [*points[1:-1]]
    along = 1 - axis
    lead = [_start(geometry, bent, end, axis, to) for end in (0, 1)]
    if piece == 0:
        corners = [*_stepped(points[0], points[1], along, axis, to, lead[0], piece == last), *corners[1:]]
    elif piece != last:
        corners[piece - 1] = _with(corners[piece - 1], axis, to)
        corners[piece] = _with(corners[piece], axis, to)
    if piece == last:
        behind = [*_stepped(points[-1], points[-2], along, axis, to, lead[1], piece == 0)]
        corners = [*corners[: len(points) - 3], *behind[::-1]] if piece else [*corners, *behind[::-1]]
    return _plain(np.array([points[0], *corners, points[-1]]), bent)


def _stepped(port: Float, corner: Float, along: int, axis: int, to: float, slides: bool, alone: bool) -> list[Float]:
    """Corners from a port on, for the piece there at another place: the port slides, or the link steps aside."""
    middle = (port + corner) / 2
    far = _with(middle if alone else corner, axis, to)
    if slides:
        return [far]
    step = min(_STUB, abs(float(corner[along] - port[along])) / 3)
    stub = _with(port, along, float(port[along]) + step * float(np.sign(corner[along] - port[along])))
    # of a straight link both ends step aside, and both come here
    return [stub, _with(stub, axis, to)] if alone else [stub, _with(stub, axis, to), far]


def _start(geometry: Geometry, bent: Bendable, end: int, axis: int, to: float) -> bool:
    """True if a link can leave a box in another place of its side."""
    low, wide = (float(v) for v in geometry.rect[bent.tops[end]][[axis, axis + 2]])
    return bent.direct[end] and low + EDGE <= to <= low + wide - EDGE


def _with(point: Float, axis: int, value: float) -> Float:
    found = point.copy()
    found[axis] = value
    return found


def _in_line(geometry: Geometry, bent: Bendable, piece: int, axis: int, to: float, reach: float) -> float:
    """The place of a piece, in line with one of the same link where it comes near; within the container."""
    parallel = [k for k in range(len(bent.points) - 1) if k != piece and bent.is_level(k) == bent.is_level(piece)]
    found = round(to)
    if bent.container >= 0:
        low, wide = (float(v) for v in geometry.rect[bent.container][[axis, axis + 2]])
        found = round(min(max(found, low + EDGE), low + wide - EDGE))
    near = [float(bent.points[k, axis]) for k in parallel if abs(bent.points[k, axis] - to) <= reach]
    return min(near, key=lambda at: abs(at - to)) if near else float(found)


def _plain(points: Float, bent: Bendable) -> Float:
    """The corners of a way without points in a straight line; one in the middle if it has none. : (c, 2)"""
    middle = (points[0] + points[-1]) / 2
    changed = True
    while changed and len(points) > 2:
        before, here, behind = points[:-2], points[1:-1], points[2:]
        flat = ((np.abs(before - here) <= _NEAR) & (np.abs(here - behind) <= _NEAR)).any(axis=1)
        flat |= (np.abs(before - here) <= _NEAR).all(axis=1)
        changed = bool(flat.any())
        if changed:
            points = np.delete(points, 1 + int(np.flatnonzero(flat)[0]), axis=0)
    return points[1:-1] if len(points) > 2 else middle[None]


def way_of(geometry: Geometry, bent: Bendable, corners: Float) -> tuple[Float, bool]:
    """The way through corners, and whether it is free of boxes. : (v, 2)"""
    drawn = bent_way(geometry.rect[bent.tops[0]], geometry.rect[bent.tops[1]], corners)
    if drawn is None:
        return bent.points, False
    solid = (geometry.parent == bent.container) & [ref.what != "annotations" for ref in geometry.refs]
    return drawn.way, is_free(drawn.way, geometry.rect[solid])


def bend(geometry: Geometry, bent: Bendable, corners: Float) -> Offer:
    """The edit that draws a connection through corners, or why not."""
    within, links = geometry.connection_links(bent.connection)
    if follows_pattern(geometry, bent.connection):
        return Offer(reason="these links follow a pattern and cannot be bent one by one: ungroup them first")
    if not way_of(geometry, bent, corners)[1]:
        return Offer(reason="the link would run over a box there")
    origin = geometry.origin[bent.container] if bent.container >= 0 else np.zeros(2)
    points = tuple((round(x), round(y)) for x, y in (corners - origin).tolist())
    bends = {link.id: points[::-1] if link.reversed else points for link in links if link.what == "links"}
    return Offer(BendLinks(bends, within=within))


def bent_links(geometry: Geometry, boxes: list[int], connections: list[int]) -> dict[Address, set[str]]:
    """The links drawn by hand among some connections and at some boxes or what these contain, by block."""
    inside = np.zeros(len(geometry), dtype=bool)
    for box in boxes:
        inside[box : int(geometry.last[box])] = True
    found: dict[Address, set[str]] = {}
    for connection in geometry.connections.bends:
        ends = inside[[geometry.connection_a[connection], geometry.connection_b[connection]]]
        if connection in connections or ends.any():
            within, links = geometry.connection_links(connection)
            found.setdefault(within, set()).update(link.id for link in links if link.what == "links")
    return found
