"""Boxes in boxes that stand right at each other and at borders: no link runs over one while any way is free."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import numpy as np
import pytest

from designer.design.routing.route import Terrain, dependent, route
from tests.ways import over_boxes

#: places and sizes are multiples of this, so that much ends right at something else, scene units
UNIT = 20.0
DEPTH = 3
Box = tuple[int, int, int, int]


def _apart(one: Box, other: Box) -> bool:
    (x, y, w, h), (u, v, s, t) = one, other
    return x + w <= u or u + s <= x or y + h <= v or v + t <= y


def _placed(rng: random.Random, around: Box, top: bool, close: float) -> list[Box]:
    """Boxes within another, many of them right at one that is there already."""
    x, y, w, h = around
    many, placed = rng.randint(2, 6), list[Box]()
    for _ in range(6 * many):
        wide, high = (rng.randint(2, 9), rng.randint(2, 7)) if top else (rng.randint(1, w), rng.randint(1, h))
        if len(placed) == many or wide > w or high > h or (wide, high) == (w, h):
            continue
        u, v = x + rng.randint(0, w - wide), y + rng.randint(0, h - high)
        if placed and rng.random() < close:
            p, slide = rng.choice(placed), rng.randint(-2, 2)
            beside = ((p[0] - wide, p[1] + slide), (p[0] + p[2], p[1] + slide))
            above = ((p[0] + slide, p[1] - high), (p[0] + slide, p[1] + p[3]))
            u, v = rng.choice((*beside, *above))
        fits = u >= x and v >= y and u + wide <= x + w and v + high <= y + h
        if fits and all(_apart((u, v, wide, high), p) for p in placed):
            placed.append((u, v, wide, high))
    return placed


def scene(seed: int) -> Terrain:
    """Nested boxes and links between some that do not contain each other."""
    rng = random.Random(seed)
    rect, parent = list[Box](), list[int]()
    close = rng.choice((0.4, 0.7))

    def fill(around: Box, number: int, depth: int) -> None:
        for box in _placed(rng, around, number < 0, close):
            rect.append(box)
            parent.append(number)
            if depth < DEPTH and box[2] >= 3 and box[3] >= 3 and rng.random() < 0.7:
                fill(box, len(rect) - 1, depth + 1)

    fill((0, 0, 24, 18), -1, 0)
    pairs = [
        (a, b)
        for a, b in itertools.combinations(range(len(rect)), 2)
        if a not in around(parent, b) and b not in around(parent, a)
    ]
    chosen = sorted(rng.sample(pairs, min(len(pairs), 4)))
    a, b = (np.array([pair[end] for pair in chosen], dtype=np.int64) for end in (0, 1))
    none = np.zeros(len(chosen), dtype=np.int64)
    solid = np.ones(len(rect), dtype=bool)
    return Terrain(np.array(rect) * UNIT, np.array(parent), solid, a, b, none, none == 0)


def around(parent: list[int], box: int) -> Iterator[int]:
    """The containers around a box."""
    while parent[box] >= 0:
        box = parent[box]
        yield box


def reachable(terrain: Terrain, link: int) -> bool:
    """Whether one can walk from one end to the other over nothing but open ground and the containers of both."""
    parent, a, b = terrain.parent.tolist(), int(terrain.a[link]), int(terrain.b[link])
    open_ = {*around(parent, a), *around(parent, b)}
    cells = (terrain.rect / UNIT).astype(int) + np.array((2, 2, 0, 0))
    ground = np.full((cells[:, :2] + cells[:, 2:]).max(axis=0) + 2, -1)
    for box in reversed(range(len(cells))):
        if box not in open_:
            x, y, w, h = cells[box]
            ground[x : x + w, y : y + h] = box  # what contains others is painted over them
    todo = [tuple(cell) for cell in np.argwhere(ground == a).tolist()]
    seen = set(todo)
    while todo:
        x, y = todo.pop()
        for at in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if at in seen or not all(0 <= k < n for k, n in zip(at, ground.shape, strict=True)):
                continue
            if ground[at] == b:
                return True
            if ground[at] < 0:
                seen.add(at)
                todo.append(at)
    return False


@pytest.mark.parametrize("first", range(0, 100, 25))
def test_no_link_runs_over_a_box_while_a_way_is_free(first: int) -> None:
    looked_at = walled_in = 0
    for seed in range(first, first + 25):
        terrain = scene(seed)
        found = route(terrain)
        over = {link for link, _ in over_boxes(*terrain[:3], terrain.a, terrain.b, found)}
        assert not [link for link in over if reachable(terrain, link)], seed
        looked_at, walled_in = looked_at + len(found), walled_in + len(over)
    assert looked_at > 60
    assert walled_in < looked_at / 10, "most scenes have a way, else nothing is tested"


def test_what_is_led_anew_is_all_that_a_change_can_touch() -> None:
    """A box becomes narrower: links that are not led again stay where they were, the others are as among all."""
    kept = 0
    for seed in range(60):
        terrain = scene(seed)
        before = route(terrain)
        box = int(np.argmax(terrain.parent))  # one of the innermost
        rect = terrain.rect.copy()
        rect[box, 2] /= 2
        after = terrain._replace(rect=rect)
        stirred = np.zeros(len(rect) + 1, dtype=bool)
        stirred[terrain.parent[box]] = True
        stirred[box] = True
        again, whole = dependent(after, stirred), route(after)
        # what stood right at a border may not do so any more
        again = np.union1d(again, dependent(terrain, stirred))
        rest = np.setdiff1d(np.arange(len(before)), again)
        for link in rest.tolist():
            assert np.array_equal(_points(before[link]), _points(whole[link])), seed
        some = route(after, again)
        for n, link in enumerate(again.tolist()):
            assert np.array_equal(_points(some[n]), _points(whole[link])), seed
        kept += len(rest)
    assert kept > 10


def _points(way: np.ndarray) -> np.ndarray:
    """A way without the last point repeated."""
    differs = np.flatnonzero((way != way[-1]).any(axis=1))
    return way[: int(differs[-1]) + 2] if len(differs) else way[:1]
