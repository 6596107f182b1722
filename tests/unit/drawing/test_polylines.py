"""Dashes of polylines that are cut into pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.drawing.polylines import dashes, phases, pieces

pytestmark = pytest.mark.without_qt


def test_dashes_go_on_round_a_corner() -> None:
    # 10 units right, then 10 down; 7 on and 4 off: 0-7 on, 7-11 off, 11-18 on, 18-20 off.
    # The second dash begins 11 - 10 = 1 below the corner and ends 18 - 10 = 8 below it.
    points = np.array([[[0.0, 0.0], [10.0, 0.0], [10.0, 10.0]]])
    assert phases(points).tolist() == [0.0, 10.0]
    found = dashes(pieces(points), phases(points), 7.0, 4.0)
    assert found.tolist() == [[0.0, 0.0, 7.0, 0.0], [10.0, 1.0, 10.0, 8.0]]


@given(st.lists(st.floats(1.0, 200.0), min_size=1, max_size=8), st.floats(1.0, 20.0), st.floats(1.0, 20.0))
def test_a_line_has_the_same_dashes_in_one_piece_and_in_many(steps: list[float], on: float, off: float) -> None:
    corners = np.concatenate(([0.0], np.cumsum(steps)))
    many = np.column_stack((corners, np.zeros(len(corners))))[None]
    one = many[:, (0, -1)]
    drawn = [float((d[:, 2] - d[:, 0]).sum()) for d in (dashes(pieces(p), phases(p), on, off) for p in (many, one))]
    assert drawn[0] == pytest.approx(drawn[1], abs=1e-6)
