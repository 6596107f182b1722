"""The legend on the canvas: painted once, kept as pixels, and stepping back where the pointer is upon it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPixmap

from designer.drawing.compose_legend import legend, legend_marks
from designer.drawing.view_state import Frame, ViewState
from designer.gui.canvas.batch_painter import BatchPainter

#: room between the legend and the sides of the canvas [px]
_MARGIN: Final = 12
#: how much covers what lies below, else and under the pointer
_COVERS: Final = (0.92, 0.15)


class LegendPlate:
    """The legend in the lower left corner."""

    def __init__(self, batch_painter: BatchPainter) -> None:
        self._batch_painter = batch_painter
        self._pixels: QPixmap | None = None
        self._shown: object = None
        self._pointed = False

    @property
    def extent(self) -> tuple[int, int]:
        """Width and height in device pixels; zeros while there is nothing to explain."""
        return (self._pixels.width(), self._pixels.height()) if self._pixels is not None else (0, 0)

    def paint(
        self, painter: QPainter, view_state: ViewState, frame: Frame, height: float, gives_way: bool = False
    ) -> None:
        """Paint it on a canvas of a height in device pixels; one that gives way only where the pointer asks for it."""
        key = (
            view_state.theme.name,
            view_state.stale,
            view_state.loads.known,
            view_state.loads.title,
            frame.ratio,
            *legend_marks(view_state),
        )
        if self._shown != key:
            self._shown, self._pixels = key, self._rendered(view_state, frame)
        if self._pixels is None or (gives_way and not self._pointed):
            return
        margin = _MARGIN * frame.ratio
        painter.setOpacity(_COVERS[self._pointed and not gives_way])
        painter.drawPixmap(QPointF(margin, round(height - self._pixels.height() - margin)), self._pixels)
        painter.setOpacity(1.0)
        self._batch_painter.calls += 1

    def _rendered(self, view_state: ViewState, frame: Frame) -> QPixmap | None:
        batches, width, height = legend(view_state, frame)
        if not batches:
            return None
        pixels = QPixmap(width, height)
        pixels.fill(Qt.GlobalColor.transparent)
        with QPainter(pixels) as inner:
            for batch in batches:
                self._batch_painter.draw(inner, batch)
        return pixels

    def point(self, at: QPointF, height: int, ratio: float) -> bool:
        """Take note of where the pointer is, logical pixels; whether the legend looks different now."""
        wide, high = (side / ratio for side in self.extent)
        pointed = 0 <= at.x() - _MARGIN <= wide and 0 <= height - _MARGIN - at.y() <= high
        changed, self._pointed = pointed != self._pointed, pointed
        return changed
