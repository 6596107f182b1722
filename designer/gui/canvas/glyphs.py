"""Small pictures by name, size and colour: the icons of part kinds, and dots. Made once, then only copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap

from designer.drawing.icons import LINE, glyph
from designer.gui.icons import draw

_MOST: Final = 600


class GlyphSource:
    """Pixmaps of glyphs."""

    def __init__(self) -> None:
        self._pixmaps: dict[tuple[str, int, str], QPixmap] = {}

    def pixmap(self, name: str, size: int, colour: str) -> QPixmap:
        """A square picture, `size` pixels wide."""
        key = (name, size, colour)
        found = self._pixmaps.get(key)
        if found is None:
            if len(self._pixmaps) > _MOST:
                self._pixmaps.clear()
            found = self._pixmaps[key] = _made(name, size, colour)
        return found


def _made(name: str, size: int, colour: str) -> QPixmap:
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if name in _SHAPES:
            _SHAPES[name](painter, size, QColor(colour))
        else:
            draw(painter, glyph(name), colour, LINE, size)
    return pixmap


def _dot(painter: QPainter, size: int, colour: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawEllipse(QRectF(0.5, 0.5, size - 1, size - 1))


def _ring(painter: QPainter, size: int, colour: QColor) -> None:
    width = max(1.5, size / 7)
    painter.setPen(QPen(colour, width))
    painter.setBrush(QColor("#ffffff"))
    painter.drawEllipse(QRectF(width / 2 + 0.5, width / 2 + 0.5, size - width - 1, size - width - 1))


def _diamond(painter: QPainter, size: int, colour: QColor) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    middle = size / 2
    painter.drawPolygon(
        [QPointF(middle, 0.5), QPointF(size - 0.5, middle), QPointF(middle, size - 0.5), QPointF(0.5, middle)]
    )


_SHAPES: Final[dict[str, Callable[[QPainter, int, QColor], None]]] = {"dot": _dot, "ring": _ring, "diamond": _diamond}
