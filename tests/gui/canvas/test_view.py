"""The view: zoom keeps the point under the pointer, fit shows all, ways between views end where they should."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.drawing.levels import Level, level_at, next_octave
from designer.drawing.view import MAX_SCALE, MIN_SCALE, View

scales = st.floats(MIN_SCALE, MAX_SCALE)
places = st.floats(-1e5, 1e5)
views = st.builds(View, scales, places, places, st.integers(50, 4000), st.integers(50, 3000))


@given(views, st.floats(0.01, 100), st.floats(0, 2000), st.floats(0, 2000))
def test_zoom_keeps_the_point_under_the_pointer(view: View, factor: float, x: float, y: float) -> None:
    zoomed = view.zoomed(factor, x, y)
    assert MIN_SCALE <= zoomed.scale <= MAX_SCALE
    before = view.to_scene(x, y)
    assert zoomed.to_view(*before) == pytest.approx((x, y), abs=0.1)


@given(views, places, places, st.floats(1, 1e5), st.floats(1, 1e5))
def test_fit_shows_the_whole_in_the_middle(view: View, x: float, y: float, width: float, height: float) -> None:
    fitted = view.fitted((x, y, width, height), margin=10)
    left, top = fitted.to_view(x, y)
    right, bottom = fitted.to_view(x + width, y + height)
    assert (left + right) / 2 == pytest.approx(view.width / 2, abs=1)
    assert (top + bottom) / 2 == pytest.approx(view.height / 2, abs=1)
    if fitted.scale > MIN_SCALE:
        assert left > 0
        assert top > 0
        assert right < view.width
        assert bottom < view.height


@given(views, places, places)
def test_revealing_moves_no_more_than_needed(view: View, x: float, y: float) -> None:
    small = 10 / view.scale
    moved = view.revealing((x, y, small, small), margin=5)
    left, top = moved.to_view(x, y)
    assert -0.1 <= left <= view.width
    assert -0.1 <= top <= view.height
    assert moved.revealing((x, y, small, small), margin=5).x == pytest.approx(moved.x, abs=0.1)


@given(views, views)
def test_a_glide_begins_and_ends_where_it_should(a: View, b: View) -> None:
    b = b.sized(a.width, a.height)
    for share, goal in ((0.0, a), (1.0, b)):
        at = a.between(b, share)
        assert at.scale == pytest.approx(goal.scale, rel=1e-6)
        assert at.to_scene(a.width / 2, a.height / 2) == pytest.approx(
            goal.to_scene(a.width / 2, a.height / 2), rel=1e-3, abs=1 / goal.scale
        )


def test_levels_and_octaves_do_not_flicker() -> None:
    for first, last in ((0.1, 3.0), (3.0, 0.1)):
        level, octave = level_at(first, None), next_octave(None, first)
        changes = 0
        steps = 200
        for k in range(steps + 1):
            scale = first * (last / first) ** (k / steps)
            # the hand trembles
            for jitter in (0.97, 1.03, 1.0):
                new = level_at(scale * jitter, level)
                changes += new is not level
                level, octave = new, next_octave(octave, scale * jitter)
        assert changes == 2
        assert level is (Level.NEAR if last > 1 else Level.FAR)
