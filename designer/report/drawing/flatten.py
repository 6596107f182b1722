"""Curves as polylines and dashes as pieces, for renderers that know only straight lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import hypot
from typing import Final

from designer.drawing.icons import Command
from designer.drawing.theme import DASH
from designer.report.drawing.elements import Point

_STEPS: Final = (6, 24)


def flat_curve(points: Sequence[Point]) -> list[Point]:
    """A cubic Bézier curve as a polyline."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = points
    length = hypot(bx - ax, by - ay) + hypot(cx - bx, cy - by) + hypot(dx - cx, dy - cy)
    steps = min(max(int(length / 12), _STEPS[0]), _STEPS[1] * 2)
    found: list[Point] = []
    for n in range(steps + 1):
        t = n / steps
        u = 1 - t
        a, b, c, d = u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t
        found.append((a * ax + b * bx + c * cx + d * dx, a * ay + b * by + c * cy + d * dy))
    return found


def flat_outline(commands: Sequence[Command]) -> list[list[Point]]:
    """The polylines of a path."""
    lines: list[list[Point]] = []
    for name, values in commands:
        if name == "M":
            lines.append([(values[0], values[1])])
        elif name == "L":
            lines[-1].append((values[0], values[1]))
        elif name == "C":
            corners = [lines[-1][-1], *zip(values[::2], values[1::2], strict=True)]
            lines[-1] += _short_curve(corners)
        else:
            lines[-1].append(lines[-1][0])
    return lines


def _short_curve(corners: Sequence[Point]) -> list[Point]:
    return flat_curve(corners)[1:]


def dashes(points: Sequence[Point], dash: tuple[float, ...] = DASH) -> list[list[Point]]:
    """A polyline cut into dashes."""
    pieces: list[list[Point]] = []
    drawn, left = True, dash[0]
    piece: list[Point] = [points[0]]
    for (ax, ay), (bx, by) in pairwise(points):
        length = hypot(bx - ax, by - ay)
        done = 0.0
        while length - done > left:
            done += left
            at = (ax + (bx - ax) * done / length, ay + (by - ay) * done / length)
            if drawn:
                pieces.append([*piece, at])
            drawn, left = not drawn, dash[1] if drawn else dash[0]
            piece = [at]
        left -= length - done
        if drawn:
            piece.append((bx, by))
    if drawn and len(piece) > 1:
        pieces.append(piece)
    return pieces
