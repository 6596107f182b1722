"""The polylines of connections as vertices: elbows, curves, parallel strokes, nearest point. No Qt, all connections at
once."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.design.connection_paths import CURVE, ELBOW, STRAIGHT

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: straight pieces a curve is drawn with, by its length in pixels
_PIECES: Final = ((60.0, 5), (220.0, 10), (float("inf"), 18))


class Polylines(NamedTuple):
    """Connections with the same number of vertices.

    Parameters
    ----------
    connections : (k,) numbers of the connections
    points : (k, v, 2) their vertices
    """

    connections: Int
    points: Float


def polylines(connections: Int, route: Float, shape: Int) -> list[Polylines]:
    """Vertices of connections, grouped by how many they have.

    Parameters
    ----------
    connections : (k,) numbers to carry along
    route : (k, 4, 2) four points of each, in pixels
    shape : (k,) STRAIGHT, ELBOW or CURVE
    """
    found: list[Polylines] = []
    straight = (shape != ELBOW) & (shape != CURVE)
    if straight.any():
        found.append(Polylines(connections[straight], route[straight][:, (0, 3)]))
    bent = shape == ELBOW
    if bent.any():
        found.append(Polylines(connections[bent], route[bent]))
    curved = np.flatnonzero(shape == CURVE)
    if len(curved):
        length = np.abs(np.diff(route[curved], axis=1)).sum(axis=(1, 2))
        low = 0.0
        for high, pieces in _PIECES:
            chosen = curved[(length >= low) & (length < high)]
            low = high
            if len(chosen):
                found.append(Polylines(connections[chosen], bezier(route[chosen], pieces)))
    return found


def bezier(route: Float, pieces: int) -> Float:
    """Points on cubic Bézier curves. : (k, 4, 2) → (k, pieces + 1, 2)"""
    # closer together towards the ends, where connections bend most
    t = (1.0 - np.cos(np.linspace(0.0, np.pi, pieces + 1))) / 2
    s = 1.0 - t
    return _weighted((s**3, 3 * s * s * t, 3 * s * t * t, t**3), route)


def boxes_along(route: Float, shape: Int) -> Float:
    """Four rectangles around the parts of each polyline, so that long polylines do not seem to be everywhere. : (4k, 4)

    Parameters
    ----------
    route : (k, 4, 2)
    shape : (k,)
    """
    quarters = np.linspace(0.0, 1.0, 5)[:, None]
    corners = np.empty((len(route), 4, 4, 2))
    straight = route[:, :1] + (route[:, 3:] - route[:, :1]) * quarters
    corners[:, :, 0] = corners[:, :, 1] = straight[:, :-1]
    corners[:, :, 2] = corners[:, :, 3] = straight[:, 1:]
    bent = shape == ELBOW
    steps = route[bent][:, (0, 1, 2, 3, 3)]
    corners[bent, :, 0] = corners[bent, :, 1] = steps[:, :-1]
    corners[bent, :, 2] = corners[bent, :, 3] = steps[:, 1:]
    curved = shape == CURVE
    halves = [half for whole in _halved(route[curved]) for half in _halved(whole)]
    for k, part in enumerate(halves):
        corners[curved, k] = part
    low, high = corners.min(axis=2), corners.max(axis=2)
    return np.concatenate((low, high - low), axis=2).reshape(-1, 4)


def _halved(curves: Float) -> tuple[Float, Float]:
    """Both halves of cubic Bézier curves; each lies within the hull of its points. : (k, 4, 2)"""
    ab, bc, cd = ((curves[:, i] + curves[:, i + 1]) / 2 for i in range(3))
    abc, bcd = (ab + bc) / 2, (bc + cd) / 2
    middle = (abc + bcd) / 2
    return (
        np.stack((curves[:, 0], ab, abc, middle), axis=1),
        np.stack((middle, bcd, cd, curves[:, 3]), axis=1),
    )


def quarters(route: Float, shape: Int, quarter: Int) -> Float:
    """Points along one quarter of each polyline, as ``boxes_along`` cuts them. : (k, 6, 2)

    Parameters
    ----------
    route : (k, 4, 2)
    shape, quarter : (k,)
    """
    weights = _QUARTERS[shape * 4 + quarter]
    return _weighted(tuple(weights[:, :, i] for i in range(4)), route)


def quarter_distances(route: Float, shape: Int, quarter: Int, x: float, y: float) -> Float:
    """Distance of a point from one quarter of each polyline, as `quarters` gives them. : (k,)

    Asked at every move of the pointer, so in few calls: points as complex numbers.
    """
    corners = np.ascontiguousarray(route, dtype=np.float64).view(np.complex128)[..., 0]
    points = (_QUARTERS[shape * 4 + quarter] * corners[:, None, :]).sum(axis=2)
    start = points[:, :-1]
    step = points[:, 1:] - start
    gap = complex(x, y) - start
    back = step.conj()
    share = (gap * back).real / np.maximum((step * back).real, 1e-12)
    gap -= step * np.minimum(np.maximum(share, 0.0), 1.0)
    return np.abs(gap).min(axis=1)


def _quarter_weights() -> Float:
    """Shares of the four points of a route in six points along each quarter of each shape. : (3 · 4, 6, 4)"""
    found = np.zeros((3, 4, 6, 4))
    share = np.linspace(0.0, 1.0, 6)
    for k in range(4):
        t = (k + share) / 4
        s = 1.0 - t
        found[STRAIGHT, k, :, 0], found[STRAIGHT, k, :, 3] = s, t
        found[ELBOW, k, :, k] = 1.0 - share
        found[ELBOW, k, :, min(k + 1, 3)] += share
        found[CURVE, k] = np.stack((s**3, 3 * s * s * t, 3 * s * t * t, t**3), axis=1)
    return found.reshape(12, 6, 4)


_QUARTERS: Final = _quarter_weights()


def _weighted(weights: tuple[Float, ...], route: Float) -> Float:
    """Sums of the four points of each route; a matrix product would wake its threads for a few numbers."""
    found = weights[0][..., None] * route[:, None, 0]
    for weight, point in zip(weights[1:], (1, 2, 3), strict=True):
        found += weight[..., None] * route[:, None, point]
    return found


def clipped(lines: Float, left: float, top: float, right: float, bottom: float) -> Float:
    """The parts of lines within a rectangle; those outside of it are left out. : (n, 4) → (k, 4)"""
    start, step = lines[:, :2], lines[:, 2:] - lines[:, :2]
    enter, leave = np.zeros(len(lines)), np.ones(len(lines))
    # a step too small to divide by gives an infinite place, which the comparison below puts right
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for axis, low, high in ((0, left, right), (1, top, bottom)):
            first = (low - start[:, axis]) / step[:, axis]
            last = (high - start[:, axis]) / step[:, axis]
            flat = step[:, axis] == 0
            outside = flat & ((start[:, axis] < low) | (start[:, axis] > high))
            enter = np.maximum(enter, np.where(flat, 0.0, np.minimum(first, last)))
            leave = np.minimum(leave, np.where(flat, np.where(outside, -1.0, 1.0), np.maximum(first, last)))
    kept = enter <= leave
    start, step, enter, leave = start[kept], step[kept], enter[kept], leave[kept]
    return np.concatenate((start + step * enter[:, None], start + step * leave[:, None]), axis=1)


def offset(points: Float, distance: Float) -> Float:
    """Polylines moved sideways, to the left of their direction for positive distances; corners are mitred.

    Parameters
    ----------
    points : (k, v, 2)
    distance : (k,)
    """
    step = np.diff(points, axis=1)
    length = np.hypot(step[..., 0], step[..., 1])
    safe = np.where(length > 1e-9, length, 1.0)
    normal = np.stack((step[..., 1], -step[..., 0]), axis=2) / safe[..., None]
    # a piece without length has the direction of its neighbour
    for k in range(1, normal.shape[1]):
        flat = length[:, k] <= 1e-9
        normal[flat, k] = normal[flat, k - 1]
    for k in range(normal.shape[1] - 2, -1, -1):
        flat = length[:, k] <= 1e-9
        normal[flat, k] = normal[flat, k + 1]
    before = np.concatenate((normal[:, :1], normal), axis=1)
    after = np.concatenate((normal, normal[:, -1:]), axis=1)
    both = before + after
    spread = 1.0 + (before * after).sum(axis=2)
    both /= np.maximum(spread, 0.35)[..., None]
    return points + both * distance[:, None, None]


def pieces(points: Float) -> Float:
    """The straight pieces of polylines. : (k, v, 2) → (k · (v − 1), 4)"""
    return np.concatenate((points[:, :-1], points[:, 1:]), axis=2).reshape(-1, 4)


def phases(points: Float) -> Float:
    """Length of each polyline in front of each of its pieces. : (k, v, 2) → (k · (v − 1),)"""
    length = np.hypot(*np.moveaxis(np.diff(points, axis=1), 2, 0))
    return (np.cumsum(length, axis=1) - length).ravel()


def dashes(lines: Float, phase: Float, on: float, off: float) -> Float:
    """The dashes of straight lines that go on from a phase. : (n, 4), (n,) → (k, 4)"""
    step = lines[:, 2:] - lines[:, :2]
    length = np.hypot(step[:, 0], step[:, 1])
    first = np.floor(phase / (on + off)).astype(np.int64)
    count = np.floor((phase + length) / (on + off)).astype(np.int64) - first + 1
    line = np.repeat(np.arange(len(lines)), count)
    number = np.arange(len(line)) - np.repeat(np.cumsum(count) - count, count) + first[line]
    start = np.maximum(number * (on + off) - phase[line], 0.0)
    stop = np.minimum(number * (on + off) + on - phase[line], length[line])
    kept = stop > start
    line, start, stop = line[kept], start[kept, None], stop[kept, None]
    along = step[line] / np.maximum(length[line], 1e-9)[:, None]
    return np.concatenate((lines[line, :2] + along * start, lines[line, :2] + along * stop), axis=1)


def along(points: Float, part: float) -> Float:
    """The point a share of the length along each polyline. : (k, v, 2) → (k, 2)"""
    step = np.diff(points, axis=1)
    length = np.hypot(step[..., 0], step[..., 1])
    run = np.cumsum(length, axis=1)
    half = run[:, -1] * part
    at = (run < half[:, None]).sum(axis=1).clip(0, step.shape[1] - 1)
    rows = np.arange(len(points))
    done = run[rows, at] - length[rows, at]
    share = np.where(length[rows, at] > 0, (half - done) / np.maximum(length[rows, at], 1e-9), 0.0)
    return points[rows, at] + step[rows, at] * share[:, None]


def distances(points: Float, x: float, y: float) -> Float:
    """Distance of a point from each polyline. : (k, v, 2) → (k,)"""
    a, step = points[:, :-1], np.diff(points, axis=1)
    rel = np.array([x, y]) - a
    square = np.maximum((step**2).sum(axis=2), 1e-12)
    share = np.clip((rel * step).sum(axis=2) / square, 0.0, 1.0)
    gap = rel - step * share[..., None]
    return np.sqrt((gap**2).sum(axis=2).min(axis=1))


def level(lines: Float) -> npt.NDArray[np.bool_]:
    """Which lines run along an axis, so that they need no smoothing. : (n, 4) → (n,)"""
    return (np.abs(lines[:, 0] - lines[:, 2]) < 0.01) | (np.abs(lines[:, 1] - lines[:, 3]) < 0.01)
