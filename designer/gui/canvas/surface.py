"""The drawn picture kept as pixels: panning moves them and draws only the strips that come into sight.

When the scale changes in a large picture the old pixels are shown scaled at once, and the new ones are drawn in
slices between which the window stays alive.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from PySide6.QtCore import QPoint, QRect, QRectF
from PySide6.QtGui import QPainter, QPixmap, QRegion

from designer.drawing.batches import Batch, Lines, sliced
from designer.drawing.display_list import DisplayList
from designer.drawing.polylines import clipped
from designer.drawing.view_state import Frame, Regions
from designer.gui.canvas.batch_painter import BatchPainter

#: batches are cut so that a piece takes about this long [µs]
_PIECE: Final = 2500.0
#: a slice of work ends after this time [s], or so many calls to the painter
_SLICE: Final = 0.006
_CALLS: Final = 250
#: lines longer than this are cut to what is drawn again [px]
_LONG: Final = 400.0

#: what a source of a picture is: batches of some regions, made step by step
Source = Callable[[Frame, Regions], Iterator[list[Batch]]]


@dataclass
class _Job:
    """A picture being drawn."""

    frame: Frame
    pixmap: QPixmap
    batches: Iterator[Batch]
    spent: float = 0.0


@dataclass
class Surface:
    """Pixels of the last picture and the frame they show.

    Parameters
    ----------
    source
        Makes the batches of a region of a frame.
    """

    batch_painter: BatchPainter
    source: Source
    background: str
    width: int = 1
    height: int = 1
    pixmap: QPixmap | None = None
    frame: Frame | None = None
    #: a composed picture around the view, if there is one
    display_list: DisplayList | None = None
    #: what drawing the whole picture took the last time [s]
    last_cost: float = 0.0
    _job: _Job | None = field(default=None, repr=False)

    def resize(self, width: int, height: int) -> None:
        """Another size in device pixels; the picture is drawn again."""
        if (width, height) != (self.width, self.height):
            self.width, self.height = max(1, width), max(1, height)
            self.drop()

    def drop(self) -> None:
        """Forget everything drawn."""
        self.pixmap, self.frame, self._job, self.display_list = None, None, None, None

    @property
    def busy(self) -> bool:
        """True if a picture is being drawn in slices."""
        return self._job is not None

    def shows(self, frame: Frame) -> bool:
        """True if the pixels are exactly this frame."""
        return self.frame == frame and self.pixmap is not None

    def draw_now(self, frame: Frame) -> None:
        """Draw the whole picture at once."""
        started = time.perf_counter()
        job = self._started(frame)
        with QPainter(job.pixmap) as painter:
            # in one go: nothing is gained by cutting it in pieces
            for batches in self.source(frame, ((0.0, 0.0, float(self.width), float(self.height)),)):
                for batch in batches:
                    self.batch_painter.draw(painter, batch)
        job.spent = time.perf_counter() - started
        self._finish(job)

    def draw_later(self, frame: Frame) -> None:
        """Draw the picture in slices, by calls of `advance`; the old pixels stay until it is finished."""
        self._job = self._started(frame)

    def cancel_job(self) -> None:
        """Stop drawing in slices."""
        self._job = None

    def advance(self) -> bool:
        """Draw one slice; True if the picture was finished by it."""
        job = self._job
        if job is None:
            return False
        if not self._advance(job, _SLICE, _CALLS):
            return False
        self._finish(job)
        return True

    @property
    def job_frame(self) -> Frame | None:
        """The frame being drawn in slices."""
        return self._job.frame if self._job is not None else None

    def can_scroll(self, frame: Frame) -> bool:
        """True if a frame is the present one moved by less than the view."""
        old = self.frame
        if old is None or self.pixmap is None:
            return False
        dx, dy = frame.x - old.x, frame.y - old.y
        return old.moved(dx, dy) == frame and abs(dx) < self.width and abs(dy) < self.height

    def scroll(self, frame: Frame) -> None:
        """Move the pixels and draw what comes into sight."""
        assert self.frame is not None
        assert self.pixmap is not None
        dx, dy = frame.x - self.frame.x, frame.y - self.frame.y
        exposed = QRegion()
        self.pixmap.scroll(dx, dy, self.pixmap.rect(), exposed)
        self.frame = frame
        self.repair(exposed)

    def repair(self, region: QRegion) -> None:
        """Draw a region of the present frame again."""
        assert self.frame is not None
        assert self.pixmap is not None
        rects = _rects(region.intersected(self.pixmap.rect()))
        if not rects:
            return
        with QPainter(self.pixmap) as painter:
            painter.setClipRegion(region)
            for rect in rects:
                painter.fillRect(rect, self.batch_painter.colour(self.background))
            regions = tuple((float(r.x()), float(r.y()), float(r.width()), float(r.height())) for r in rects)
            display_list = self.display_list
            dx = dy = 0
            if display_list is not None and display_list.covers(self.frame, regions):
                dx, dy = display_list.shift(self.frame)
                painter.translate(dx, dy)
                found = display_list.cut(self.frame, regions)
            else:
                found = (batch for batches in self.source(self.frame, regions) for batch in batches)
            for batch in found:
                if isinstance(batch, Lines):
                    self._draw_lines(painter, batch, rects, dx, dy)
                else:
                    self.batch_painter.draw(painter, batch)

    def _draw_lines(self, painter: QPainter, batch: Lines, rects: list[QRect], dx: int, dy: int) -> None:
        """Lines cut to each rectangle: Qt would walk along all of a long line to draw a little of it."""
        span = np.abs(batch.lines[:, :2] - batch.lines[:, 2:]).max()
        if span <= _LONG or batch.dash:
            # dashes count from where a line begins, so they are not cut
            self.batch_painter.draw(painter, batch)
            return
        region = painter.clipRegion()
        margin = batch.width + 3.0
        for rect in rects:
            box = rect.translated(-dx, -dy)
            lines = clipped(
                batch.lines,
                box.left() - margin,
                box.top() - margin,
                box.right() + 1 + margin,
                box.bottom() + 1 + margin,
            )
            if len(lines):
                painter.setClipRect(box)
                self.batch_painter.draw(painter, batch.with_lines(lines))
        painter.setClipRegion(region)

    def paint(self, painter: QPainter, frame: Frame) -> None:
        """Show the pixels as well as they fit a frame; the painter works in device pixels."""
        old = self.frame
        if self.pixmap is None or old is None:
            return
        if frame.scale == old.scale:
            painter.drawPixmap(QPoint(frame.x - old.x, frame.y - old.y), self.pixmap)
        else:
            painter.drawPixmap(self._target(frame, old), self.pixmap, QRectF(self.pixmap.rect()))
        self.batch_painter.calls += 1

    def covers(self, frame: Frame) -> bool:
        """True if the pixels, scaled to a frame, leave nothing of the view empty."""
        old = self.frame
        return (
            self.pixmap is not None
            and old is not None
            and self._target(frame, old).contains(QRectF(0.0, 0.0, self.width, self.height))
        )

    def _target(self, frame: Frame, old: Frame) -> QRectF:
        """Where the pixels of the old frame lie in another."""
        ratio = frame.scale / old.scale
        return QRectF(frame.x - old.x * ratio, frame.y - old.y * ratio, self.width * ratio, self.height * ratio)

    def _started(self, frame: Frame) -> _Job:
        pixmap = QPixmap(self.width, self.height)
        pixmap.fill(self.batch_painter.colour(self.background))
        regions = ((0.0, 0.0, float(self.width), float(self.height)),)
        return _Job(frame, pixmap, self._pieces(frame, regions))

    def _pieces(self, frame: Frame, regions: Regions) -> Iterator[Batch]:
        for batches in self.source(frame, regions):
            yield from sliced(batches, _PIECE)

    def _advance(self, job: _Job, seconds: float | None, calls: int | None) -> bool:
        started, first = time.perf_counter(), self.batch_painter.calls
        with QPainter(job.pixmap) as painter:
            done = True
            for batch in job.batches:
                self.batch_painter.draw(painter, batch)
                if seconds is not None and time.perf_counter() - started > seconds:
                    done = False
                    break
                if calls is not None and self.batch_painter.calls - first > calls:
                    done = False
                    break
        job.spent += time.perf_counter() - started
        return done

    def _finish(self, job: _Job) -> None:
        self.pixmap, self.frame, self.last_cost = job.pixmap, job.frame, job.spent
        if self._job is job:
            self._job = None


def _rects(region: QRegion) -> list[QRect]:
    """The rectangles of a region; the binding's stubs do not know that it can be iterated."""
    whole: Any = region
    return list(whole)
