"""The polylines of connections: corners, parallel strokes, the nearest point. No Qt, all connections at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]


class Polylines(NamedTuple):
    """Connections with the same number of vertices.

    Parameters
    ----------
    connections : (k,) numbers of the connections
    points : (k, v, 2) their vertices
    """

    connections: Int
    points: Float


def polylines(connections: Int, route: Float) -> list[Polylines]:
    """Vertices of connections, grouped by how many they have.

    Parameters
    ----------
    connections : (k,) numbers to carry along
    route : (k, v, 2) corners of each, the last one repeated
    """
    many = corners(route)
    found: list[Polylines] = []
    for count in np.unique(many).tolist():
        chosen = many == count
        found.append(Polylines(connections[chosen], route[chosen][:, :count]))
    return found


def corners(route: Float) -> Int:
    """How many corners each connection has, its ends included; at least two. : (k, v, 2) → (k,)"""
    v = route.shape[1]
    differs = (route[:, 1:] != route[:, :-1]).any(axis=2)
    return np.where(differs.any(axis=1), v - np.argmax(differs[:, ::-1], axis=1), 2)


def straights(route: Float) -> tuple[Int, Float]:
    """The straight pieces of all connections: whose each is, ascending, and its ends. : (p,), (p, 4)"""
    lines = np.concatenate((route[:, :-1], route[:, 1:]), axis=2)
    real = (lines[..., :2] != lines[..., 2:]).any(axis=2)
    real[:, 0] = True
    owner, _ = np.nonzero(real)
    return owner, lines[real]


def around(lines: Float) -> Float:
    """The rectangles around straight pieces. : (p, 4) x1, y1, x2, y2 → (p, 4) x, y, width, height"""
    low, high = np.minimum(lines[:, :2], lines[:, 2:]), np.maximum(lines[:, :2], lines[:, 2:])
    return np.concatenate((low, high - low), axis=1)


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


def same_routes(one: Float, other: Float) -> npt.NDArray[np.bool_]:
    """Which connections run in the same way, however much room for corners there is. : (k, v, 2), (k, w, 2) → (k,)"""
    v = min(one.shape[1], other.shape[1])
    same = (one[:, :v] == other[:, :v]).all(axis=(1, 2))
    for longer in (one, other):
        same &= (longer[:, v:] == longer[:, v - 1 : v]).all(axis=(1, 2))
    return same


def stretched(route: Float, shift_a: Float, shift_b: Float) -> Float:
    """Connections whose ends moved: as they were where both moved in the same way, else with one turn. : (k, v, 2)

    Parameters
    ----------
    route : (k, v, 2)
    shift_a, shift_b : (k, 2) how far the ends moved
    """
    found = route + shift_a[:, None]
    one = np.flatnonzero((shift_a != shift_b).any(axis=1))
    if not len(one):
        return found
    if found.shape[1] < 4:
        found = np.concatenate((found, np.repeat(found[:, -1:], 4 - found.shape[1], axis=1)), axis=1)
    start, end, old = route[one, 0] + shift_a[one], route[one, -1] + shift_b[one], route[one]
    upright = np.abs(old[:, 1, 0] - old[:, 0, 0]) < 1e-6
    # it turns where it did
    turn = np.where(upright, old[:, 1, 1], old[:, 1, 0])
    half = np.where(upright, (start[:, 1] + end[:, 1]) / 2, (start[:, 0] + end[:, 0]) / 2)
    turn = np.where(corners(old) > 2, turn, half)
    found[one, 0] = start
    found[one, 1] = np.where(
        upright[:, None], np.column_stack((start[:, 0], turn)), np.column_stack((turn, start[:, 1]))
    )
    found[one, 2] = np.where(upright[:, None], np.column_stack((end[:, 0], turn)), np.column_stack((turn, end[:, 1])))
    found[one, 3:] = end[:, None]
    return found


def halfway(route: Float) -> Float:
    """The point half-way along each connection. : (k, v, 2) → (k, 2)"""
    return along(route, 0.5) if len(route) else np.empty((0, 2))


def distances(lines: Float, x: float, y: float) -> Float:
    """Distance of a point from each straight piece. : (p, 4) → (p,)

    Asked at every move of the pointer, so in few calls: points as complex numbers.
    """
    ends = np.ascontiguousarray(lines, dtype=np.float64).view(np.complex128)
    step = ends[:, 1] - ends[:, 0]
    gap = complex(x, y) - ends[:, 0]
    back = step.conj()
    share = (gap * back).real / np.maximum((step * back).real, 1e-12)
    return np.abs(gap - step * np.minimum(np.maximum(share, 0.0), 1.0))


def level(lines: Float) -> npt.NDArray[np.bool_]:
    """Which lines run along an axis, so that they need no smoothing. : (n, 4) → (n,)"""
    return (np.abs(lines[:, 0] - lines[:, 2]) < 0.01) | (np.abs(lines[:, 1] - lines[:, 3]) < 0.01)


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
