"""Speed of the canvas; run with ``--benchmark-only``.

Frames are measured as processor time of a repaint, 1600 × 900, against the same movement of a plain painter in the same
run: a picture drawn at an offset, and as many lines, boxes and words over it as are in sight of a large design.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from designer.design.document import Design
from designer.drawing.loads import ChannelState
from designer.drawing.view import View
from designer.gui.canvas.canvas import Canvas
from designer.gui.session import Session
from designer.memo import forget
from tests.bench.ratios import Against, against
from tests.clusters import cluster

pytestmark = pytest.mark.xdist_group("canvas")

#: aimed at on a quiet machine [ms], stated next to each ratio: panning near, all of 10,000 and 50,000 parts in sight,
#: crossing a level, hovering, opening 10,000 parts
AIMS = {"near": 8.0, "10k": 10.0, "50k": 16.0, "crossing": 16.0, "hover": 0.2, "opening": 500.0}
#: what each costs at most, in its baseline: some 1.6 times what was measured, so that half the speed fails
NEAR = {"1k": 0.8, "10k": 1.35, "50k": 0.85}
ALL = {"pan": 0.38, "zoom": 0.42}
CROSSING, HOVER, OPENING, SELECTING = 5.0, 2.1, 3.8, 12.5
SERVERS = {"1k": 30, "10k": 290, "50k": 1430}


@cache
def design(size: str) -> Design:
    """A cluster of about so many parts."""
    return cluster(SERVERS[size])


@pytest.fixture(scope="module")
def shown(qapp: QApplication) -> Iterator[Callable[[str], Canvas]]:
    """Shows designs on canvases of 1600 × 900, with loads on every link; one canvas of each for all measurements."""
    made: dict[str, Canvas] = {}

    def show(size: str) -> Canvas:
        for other in made.values():
            other.hide()
        canvas = made[size] = made.get(size) or opened(size)
        canvas.session.select(())
        canvas.show()
        canvas.settle()
        return canvas

    def opened(size: str) -> Canvas:
        canvas = Canvas(Session(design(size)))
        canvas.camera.animated = False
        canvas.resize(1600, 900)
        canvas.show()
        net = canvas.scene._map.net
        if net is not None and net.n_links:
            used = np.random.default_rng(7).beta(1.2, 2.5, 2 * net.n_links)
            canvas.set_loads(ChannelState(used * 3e10, used))
        return canvas

    yield show
    for canvas in made.values():
        canvas.hide()
        canvas.deleteLater()


class Plain:
    """A painter without the program: a frame is a picture and a few hundred things over it."""

    def __init__(self) -> None:
        self.target = QImage(1600, 900, QImage.Format.Format_ARGB32_Premultiplied)
        self.picture = QImage(1600, 900, QImage.Format.Format_ARGB32_Premultiplied)
        self.picture.fill(QColor("#f4f5f7"))
        drawn = np.random.default_rng(3).uniform(0, 900, (200, 4))
        self.lines = [QLineF(*four) for four in drawn.tolist()]
        self.boxes = [QRectF(x, y, 40, 24) for x, y, _, _ in drawn.tolist()]

    def frame(self) -> None:
        painter = QPainter(self.target)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for k in range(2):
            painter.drawImage(QPointF(-17.0 * k, 9.0), self.picture)
            painter.drawLines(self.lines)
            for box in self.boxes:
                painter.drawRoundedRect(box, 4, 4)
            for line in self.lines[:40]:
                painter.drawText(line.p1(), "gpu0 450 GB/s")
        painter.end()


def moved(benchmark: Any, canvas: Canvas, step: Callable[[int], None], aim: float, count: int = 60) -> float:
    """Median of the frames of a movement over that of a plain painter [1]; between frames the window works in the
    background as it does in life.
    """
    times = Against(Plain().frame)

    def frame(k: int) -> None:
        step(k)
        canvas.repaint()

    for k in range(count):
        times.run(lambda k=k: frame(k))
        QApplication.processEvents()
    times.note(benchmark)
    benchmark.extra_info["milliseconds, 95 of 100"] = round(1e3 * float(np.percentile(times.seconds, 95)), 3)
    benchmark.extra_info["milliseconds aimed at"] = aim
    return times.ratio


def pan(canvas: Canvas) -> Callable[[int], None]:
    """A step of a swift drag of the view."""
    return lambda k: canvas.set_view(canvas.view.panned(-17 if k % 40 < 20 else 17, 9))


def zoom(canvas: Canvas) -> Callable[[int], None]:
    """A step of turning the wheel, in and out."""
    return lambda k: canvas.set_view(canvas.view.zoomed(1.04 if k % 20 < 10 else 1 / 1.04, 800, 450))


def look_at_middle(canvas: Canvas, scale: float) -> None:
    """Show the middle of the design at a scale."""
    geometry = canvas.scene.geometry
    x, y = geometry.rect[len(geometry) // 2, :2].tolist() if len(geometry) else (0.0, 0.0)
    canvas.set_view(View(scale, 800 - x * scale, 450 - y * scale, 1600, 900))
    canvas.settle()


@pytest.mark.parametrize("size", ["1k", "10k", "50k"])
def test_panning_at_full_size(benchmark, shown, size):
    full = shown(size)
    look_at_middle(full, 1.0)
    benchmark(lambda: (pan(full)(0), full.repaint()))
    assert moved(benchmark, full, pan(full), AIMS["near"]) <= NEAR[size]


@pytest.mark.parametrize("size", ["10k", "50k"])
@pytest.mark.parametrize("motion", [pan, zoom])
def test_moving_while_all_is_in_sight(benchmark, shown, size, motion):
    full = shown(size)
    full.zoom_to_fit()
    full.settle()
    benchmark(lambda: (motion(full)(0), full.repaint()))
    assert moved(benchmark, full, motion(full), AIMS[size]) <= ALL[motion.__name__]


def test_crossing_a_level(benchmark, shown):
    """The frame that crosses and the drawing of the new level behind it, each time elsewhere."""
    canvas = shown("50k")
    centers = canvas.scene.geometry.rect[:: len(canvas.scene.geometry) // 40, :2].tolist()
    times, frames = Against(Plain().frame), list[float]()
    for k, (start, end) in enumerate([(0.2, 0.35), (0.35, 0.2), (0.6, 0.9), (0.9, 0.6)] * 5):
        x, y = centers[k]
        canvas.set_view(View(start, 800 - x * start, 450 - y * start, 1600, 900))
        canvas.settle()

        def cross(to: float = end) -> None:
            begun = time.process_time()
            canvas.set_view(canvas.view.zoomed(to / canvas.view.scale, 800, 450))
            canvas.repaint()
            frames.append(1e3 * (time.process_time() - begun))
            canvas.settle()

        times.run(cross)
    times.note(benchmark)
    benchmark.extra_info |= {"milliseconds of the worst frame": max(frames), "milliseconds aimed at": AIMS["crossing"]}
    benchmark.pedantic(lambda: canvas.repaint(), rounds=3)
    assert times.ratio <= CROSSING


def test_hovering(benchmark, shown):
    """Against looking through all boxes for those under the pointer."""
    canvas = shown("50k")
    look_at_middle(canvas, 1.0)
    rng = np.random.default_rng(1)
    points = [canvas._pointer(QPointF(x, y)) for x, y in rng.uniform(0, 900, (200, 2))]
    canvas.hit(points[0])
    left, top, width, height = canvas.scene.geometry.rect.T.copy()

    def hover() -> None:
        for point in points:
            canvas.hit(point)

    def scan() -> None:
        for k in range(len(points)):
            np.flatnonzero((left <= k) & (k < left + width) & (top <= k) & (k < top + height))

    benchmark(hover)
    benchmark.extra_info["milliseconds aimed at, each"] = AIMS["hover"]
    assert against(benchmark, hover, scan) <= HOVER


def test_opening_ten_thousand_parts(benchmark, qapp):
    """Against checking the same parts and links as a document: what reading them from a file takes at least."""
    big = design("10k")
    read = big.model_dump()

    def open_it() -> Canvas:
        fresh = big.model_copy(update={"parts": dict(big.parts)})
        canvas = Canvas(Session(fresh))
        canvas.resize(1600, 900)
        canvas.show()
        canvas.repaint()
        return canvas

    times = Against(lambda: Design.model_validate(read))
    for _ in range(5):
        forget()
        start = time.process_time()
        canvas = open_it()
        times.add(time.process_time() - start)
        canvas.hide()
        canvas.deleteLater()
    times.note(benchmark)
    benchmark.extra_info["milliseconds aimed at"] = AIMS["opening"]
    benchmark.pedantic(lambda: None, rounds=1)
    assert times.ratio <= OPENING


def test_selecting_all(benchmark, shown):
    """Against making a set of all that is selected."""
    canvas = shown("50k")
    picked = canvas.scene.picks(range(len(canvas.scene.geometry)))
    canvas.session.select(picked)

    def select() -> None:
        canvas.session.select(())
        canvas.session.select(picked)

    ratio = against(benchmark, select, lambda: {pick: k for k, pick in enumerate(picked)})
    benchmark.pedantic(select, rounds=1)
    assert canvas.scene.selected.size == len(canvas.scene.geometry)
    assert ratio <= SELECTING
