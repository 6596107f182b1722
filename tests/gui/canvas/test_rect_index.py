"""The index finds exactly what looking at every rectangle finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from designer.drawing.rect_index import RectIndex

coordinates = st.integers(-200, 200)
extents = st.one_of(st.integers(0, 30), st.integers(0, 4000))
rectangles = st.lists(st.tuples(coordinates, coordinates, extents, extents), max_size=150)


@given(rectangles, coordinates, coordinates, st.integers(0, 300), st.integers(0, 300))
def test_it_finds_what_touches(rects: list[tuple[int, ...]], x: int, y: int, width: int, height: int) -> None:
    data = np.array(rects, dtype=np.float64).reshape(-1, 4)
    found = RectIndex(data).touching(x, y, width, height).tolist()
    expected = [
        i
        for i, (rx, ry, rw, rh) in enumerate(rects)
        if rx <= x + width and rx + rw >= x and ry <= y + height and ry + rh >= y
    ]
    assert found == expected


def test_large_ones_among_many_small_ones() -> None:
    rng = np.random.default_rng(3)
    data = np.concatenate((rng.uniform(0, 1e5, (20_000, 2)), rng.uniform(5, 50, (20_000, 2))), axis=1)
    data[::500, 2:] = 5e4
    index = RectIndex(data)
    for x, y in rng.uniform(0, 1e5, (50, 2)):
        inside = (data[:, 0] <= x) & (data[:, 0] + data[:, 2] >= x) & (data[:, 1] <= y) & (data[:, 1] + data[:, 3] >= y)
        assert index.at(x, y).tolist() == np.flatnonzero(inside).tolist()
