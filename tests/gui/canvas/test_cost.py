"""Guards that hold on any machine: calls to the painter, sliced work, levels that cost no more than one frame."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from designer.drawing.loads import ChannelState
from designer.drawing.view import View
from designer.gui.canvas.canvas import Canvas
from tests import designs
from tests.clusters import cluster

Make = Callable[..., Any]
#: a frame may call the painter so often, at any zoom
MOST_CALLS = 400
SCALES = (0.004, 0.01, 0.03, 0.08, 0.2, 0.3, 0.5, 0.75, 1.0, 1.6, 3.0)


def busy(canvas: Canvas) -> None:
    """A load on every channel, one in ten saturated."""
    net = canvas.scene._map.net
    assert net is not None
    used = np.random.default_rng(7).uniform(0, 1.05, 2 * net.n_links).clip(0, 1)
    canvas.set_loads(ChannelState(used * 3e10, used))


def painter_calls(work: Callable[[], None]) -> int:
    """Calls of Python to drawing functions of painters while working."""
    count = 0

    def watch(frame: object, event: str, called: Any) -> None:
        nonlocal count
        if event == "c_call":
            name = getattr(called, "__name__", "")
            if name.startswith(("draw", "fill", "strokePath")):
                count += 1

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("servers", [2, 60])
def test_few_calls_to_the_painter_at_any_zoom(make: Make, servers: int) -> None:
    bench = make(cluster(servers), width=1600, height=900)
    canvas = bench.canvas
    busy(canvas)
    canvas.set_binding([f"s{s}-cpu0--psw1:ab" for s in range(servers)])
    bench.session.select_all()
    x, y, w, h = canvas.scene.view_state.bounds
    for scale in SCALES:
        for fx, fy in ((0.5, 0.5), (0.1, 0.2)):
            canvas.set_view(View(scale, 800 - (x + w * fx) * scale, 450 - (y + h * fy) * scale, 1600, 900))
            calls = painter_calls(canvas.repaint)
            assert calls <= MOST_CALLS, f"{calls} calls at {scale}"
            # the work after it comes in slices, each of them short
            for _ in range(200):
                calls = painter_calls(canvas.tile_cache._work)
                assert calls <= MOST_CALLS, f"{calls} calls in a slice at {scale}"
                if not canvas.tile_cache.surface.busy:
                    break
            canvas.set_view(canvas.view.panned(30, 20))
            calls = painter_calls(canvas.repaint)
            assert calls <= MOST_CALLS, f"{calls} calls of a pan at {scale}"


def test_calls_do_not_grow_with_the_design(make: Make) -> None:
    counts: list[int] = []
    for servers in (10, 90):
        bench = make(cluster(servers), width=1600, height=900)
        busy(bench.canvas)
        bench.canvas.zoom_to_fit()
        bench.canvas.settle()
        frame = bench.canvas.frame()
        counts.append(painter_calls(lambda c=bench.canvas, f=frame: c.tile_cache.surface.draw_now(f)))
    assert counts[1] <= counts[0] + 60


def test_large_pictures_never_block_a_frame(make: Make) -> None:
    bench = make(cluster(90), width=1600, height=900)
    canvas = bench.canvas
    busy(canvas)
    canvas.zoom_to_fit()
    canvas.settle()
    shown = canvas.tile_cache.surface.frame
    canvas.set_view(canvas.view.zoomed(3.5, 800, 450))
    canvas.repaint()
    # the old pixels, scaled, until the new ones are drawn
    assert canvas.tile_cache.surface.frame == shown
    assert canvas.last_calls < 80
    canvas.tile_cache._settled()
    slices = 0
    while canvas.tile_cache.surface.busy:
        canvas.tile_cache._work()
        slices += 1
    assert slices > 1
    canvas.repaint()
    assert canvas.tile_cache.surface.frame == canvas.frame()


def test_a_timer_that_has_nothing_to_do_stops(make: Make) -> None:
    bench = make(designs.one_server())
    canvas = bench.canvas
    canvas.repaint()
    for _ in range(60):
        canvas.tile_cache._work()
    assert not canvas.tile_cache._worker.isActive()
    canvas.set_binding(["upi:ab"])
    for _ in range(60):
        canvas._tick()
    assert not canvas._ticker.isActive()
    canvas.hide()
    assert not canvas.camera.gliding


def test_many_changes_before_a_frame_draw_the_picture_once(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    canvas: Canvas = bench.canvas
    canvas.settle()
    drawn: list[object] = []
    draw = canvas.tile_cache.surface.draw_now
    monkeypatch.setattr(canvas.tile_cache.surface, "draw_now", lambda frame: (drawn.append(frame), draw(frame)))
    canvas.set_stale(True)
    busy(canvas)
    canvas.set_binding(())
    canvas.set_stale(False)
    assert not drawn
    canvas.repaint()
    assert len(drawn) == 1
    # and what was drawn is the last state: drawing all of it again changes nothing
    before = canvas.grab().toImage()
    canvas.settle()
    canvas.tile_cache.surface.draw_now(canvas.frame())
    assert canvas.grab().toImage() == before
