"""How the picture gets onto the screen: from kept pixels, drawn at once when that is quick, else in slices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from PySide6.QtCore import QObject, QRect, QTimer
from PySide6.QtGui import QPainter, QRegion

from designer.drawing.batches import Batch
from designer.drawing.display_list import DisplayList
from designer.drawing.levels import Level, level_at, next_octave
from designer.drawing.picture import compose_steps
from designer.drawing.view import Rect, View
from designer.drawing.view_state import Frame, Regions, ViewState
from designer.gui.canvas.batch_painter import BatchPainter
from designer.gui.canvas.surface import Surface

#: pictures that take less than this are drawn within the frame, roughly [µs]
_AT_ONCE: Final = 10_000.0
#: what a picture costs at least, and what a box and a connection cost at each level, roughly [µs]
_LEAST: Final = 3000.0
_COSTS: Final = {Level.FAR: (2.0, 4.0), Level.MIDDLE: (25.0, 40.0), Level.NEAR: (45.0, 80.0)}
#: a picture that only the scale changed is drawn after so long without another change [ms]
_SETTLE: Final = 60
#: what only helps later, the display list and the small picture, waits so long after a change [ms]
_QUIET: Final = 40
#: extent of the small picture of the whole [px]
_OVERVIEW: Final = (640, 420)


class TileCache(QObject):
    """Keeps pixels of the picture and of the whole, small.

    Parameters
    ----------
    view_state
        Gives the present picture.
    refreshed
        Called when there are better pixels to show.
    """

    def __init__(
        self,
        batch_painter: BatchPainter,
        view_state: Callable[[], ViewState],
        refreshed: Callable[[], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._view_state, self._refreshed = view_state, refreshed
        self.batch_painter = batch_painter
        self.surface = Surface(batch_painter, self._source, view_state().theme.background)
        self.overview = Surface(batch_painter, self._plain, view_state().theme.background, *_OVERVIEW)
        self.level, self.octave = Level.MIDDLE, 0
        self._want: Frame | None = None
        self._growing: DisplayList | None = None
        self._late = True
        #: the pixels are of an earlier picture; the next frame draws them again, however often it changed till then
        self._outdated = False
        self._worker = QTimer(self)
        self._worker.setInterval(0)
        self._worker.timeout.connect(self._work)
        self._quiet = QTimer(self, singleShot=True, interval=_QUIET)
        self._quiet.timeout.connect(self._worker.start)
        self._settle = QTimer(self, singleShot=True, interval=_SETTLE)
        self._settle.timeout.connect(self._settled)

    def frame(self, view: View, ratio: float) -> Frame:
        """How a view falls on device pixels; the level of detail changes with hysteresis."""
        self.level = level_at(view.scale, self.level, len(self._view_state().geometry))
        self.octave = next_octave(self.octave, view.scale * ratio)
        return Frame(view.scale * ratio, round(view.x * ratio), round(view.y * ratio), self.level, ratio, self.octave)

    def _source(self, frame: Frame, regions: Regions) -> Iterator[list[Batch]]:
        return compose_steps(self._view_state(), frame, regions)

    def _plain(self, frame: Frame, regions: Regions) -> Iterator[list[Batch]]:
        return compose_steps(self._view_state(), frame, regions, grid=False)

    # ---- changes

    def resize(self, width: int, height: int) -> None:
        """Another extent in device pixels."""
        self.surface.resize(width, height)

    def drop(self) -> None:
        """Other colours: forget all pixels."""
        self.surface.background = self.overview.background = self._view_state().theme.background
        self.surface.drop()
        self.overview.drop()
        self._late, self._growing, self._outdated = True, None, False

    def changed(self, region: Rect | None) -> None:
        """The picture changed within a scene rectangle, or as a whole."""
        self._late = True
        self._quiet.start()
        self.surface.display_list = self._growing = None
        self.surface.cancel_job()
        frame = self.surface.frame
        if frame is None or self.surface.pixmap is None:
            return
        if region is None:
            self._outdated = self.cost(frame) <= _AT_ONCE
            if not self._outdated:
                self.surface.draw_later(frame)
                self._worker.start()
            return
        self.repair(region)

    def repair(self, region: Rect) -> None:
        """Draw a scene rectangle again."""
        self.surface.display_list = self._growing = None
        frame = self.surface.frame
        if frame is None or self._outdated or (region[2] <= 0 and region[3] <= 0 and region[0] == region[1] == 0):
            return
        if self.cost(frame, region) > 2 * _AT_ONCE:
            self.surface.draw_later(frame)
            self._worker.start()
            return
        # names, shadows of groups and broad connections reach over the edge
        margin = 14 * frame.ratio
        left, top = region[0] * frame.scale + frame.x - margin, region[1] * frame.scale + frame.y - margin
        right = (region[0] + region[2]) * frame.scale + frame.x + margin
        bottom = (region[1] + region[3]) * frame.scale + frame.y + margin
        low = max(-10, int(np.floor(left))), max(-10, int(np.floor(top)))
        high = min(self.surface.width + 10, int(np.ceil(right))), min(self.surface.height + 10, int(np.ceil(bottom)))
        self.surface.repair(QRegion(QRect(*low, high[0] - low[0], high[1] - low[1])))

    def cost(self, frame: Frame, region: Rect | None = None) -> float:
        """A rough estimate of the time to draw a frame, with things spread evenly [µs]."""
        view_state = self._view_state()
        x, y, w, h = frame.scene((0.0, 0.0, float(self.surface.width), float(self.surface.height)))
        if region is not None:
            x, y = max(x, region[0]), max(y, region[1])
            w, h = min(w, region[2]), min(h, region[3])
        bx, by, bw, bh = self._view_state().bounds
        wide = max(0.0, min(x + w, bx + bw) - max(x, bx))
        high = max(0.0, min(y + h, by + bh) - max(y, by))
        share = wide * high / max(bw * bh, 1.0)
        box, connection = _COSTS[frame.level]
        return _LEAST + share * (len(view_state.geometry) * box + view_state.geometry.n_connections * connection)

    # ---- painting

    def paint(self, painter: QPainter, frame: Frame) -> None:
        """Show a frame; the painter works in device pixels."""
        self._prepare(frame)
        surface = self.surface
        if not surface.shows(frame) and not surface.covers(frame):
            painter.fillRect(0, 0, surface.width, surface.height, self.batch_painter.colour(surface.background))
            self.overview.paint(painter, frame)
            self.batch_painter.calls += 1
        surface.paint(painter, frame)

    def _prepare(self, frame: Frame) -> None:
        surface = self.surface
        self._want = frame
        if self._outdated:
            self._outdated = False
            if self.cost(frame) <= _AT_ONCE:
                surface.cancel_job()
                surface.draw_now(frame)
            else:
                surface.draw_later(frame)
        elif surface.shows(frame):
            pass
        elif surface.can_scroll(frame):
            surface.scroll(frame)
        elif self.cost(frame) <= _AT_ONCE:
            surface.cancel_job()
            surface.draw_now(frame)
        elif surface.pixmap is None:
            if surface.job_frame != frame:
                surface.draw_later(frame)
        elif surface.job_frame != frame:
            # the scale is changing: show the old pixels scaled, draw when it has come to rest
            surface.cancel_job()
            self._settle.start()
        if surface.busy or self._late or self._wants_display_list():
            self._worker.start()

    def _settled(self) -> None:
        if self._want is not None and not self.surface.shows(self._want):
            self.surface.draw_later(self._want)
            self._worker.start()

    def _work(self) -> None:
        """One slice: first the picture, then the display list around it, then the small one of the whole."""
        if self.surface.busy:
            if self.surface.advance():
                self._refreshed()
            return
        if self._quiet.isActive():
            self._worker.stop()
            return
        if self._grow_display_list():
            return
        if self._late and not self._settle.isActive():
            self._late = False
            self._view_state().warm()
            self.overview.draw_later(self._overview_frame())
            return
        if self.overview.busy:
            if self.overview.advance():
                self._refreshed()
            return
        self._worker.stop()

    def _wants_display_list(self) -> bool:
        """True if the view comes near the border of the display list, or there is none."""
        frame, display_list = self.surface.frame, self.surface.display_list
        if frame is None or not self.surface.shows(frame):
            return False
        if display_list is None:
            return True
        if not display_list.ready and display_list.suits(frame):
            return True
        margin = self._margin() / 2
        wide, high = self.surface.width + 2 * margin, self.surface.height + 2 * margin
        return not display_list.covers(frame, ((-margin, -margin, wide, high),))

    def _grow_display_list(self) -> bool:
        """One step of the display list; False if there is nothing to do."""
        if not self._wants_display_list():
            return False
        frame, surface = self.surface.frame, self.surface
        assert frame is not None
        growing = self._growing
        if growing is None or not growing.suits(frame) or growing.ready:
            margin = self._margin()
            region = (-margin, -margin, surface.width + 2 * margin, surface.height + 2 * margin)
            growing = self._growing = DisplayList(frame, region, compose_steps(self._view_state(), frame, (region,)))
        if growing.grow():
            surface.display_list, self._growing = growing, None
        return True

    def _margin(self) -> float:
        return float(max(self.surface.width, self.surface.height) // 3)

    def _overview_frame(self) -> Frame:
        view = View(width=_OVERVIEW[0], height=_OVERVIEW[1]).fitted(self._view_state().bounds, margin=6.0, largest=1.0)
        level = level_at(view.scale * 0.6, Level.FAR)
        return Frame(view.scale, round(view.x), round(view.y), level, 1.0, next_octave(None, view.scale))

    def finish(self, frame: Frame) -> None:
        """Draw all that is outstanding now: for pictures of the window and for tests."""
        self._want = frame
        self._quiet.stop()
        # what waits for the view to rest would never be done below
        self._settle.stop()
        if self._outdated or not self.surface.shows(frame):
            self._outdated = False
            self.surface.draw_now(frame)
        while self.surface.busy:
            self.surface.advance()
        while self._late or self.overview.busy or self._wants_display_list():
            self._work()

    def stop(self) -> None:
        """End all work in the background."""
        self._worker.stop()
        self._quiet.stop()
        self._settle.stop()
