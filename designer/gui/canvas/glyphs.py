"""Small pictures by name, size and colour: the icons of part kinds, and dots. Made once, then only copied."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QByteArray, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QPixmap
from PySide6.QtSvg import QSvgRenderer

from designer.resources import assets

_MOST: Final = 600


class GlyphSource:
    """Pixmaps of glyphs.

    Parameters
    ----------
    folder
        Where icons are: files called by the kind, drawn in ``currentColor``; by default those of the assets.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = assets() / "icons" if folder is None else folder
        self._pixmaps: dict[tuple[str, int, str], QPixmap] = {}

    def pixmap(self, name: str, size: int, colour: str) -> QPixmap:
        """A square picture, `size` pixels wide."""
        key = (name, size, colour)
        found = self._pixmaps.get(key)
        if found is None:
            if len(self._pixmaps) > _MOST:
                self._pixmaps.clear()
            found = self._pixmaps[key] = self._made(name, size, colour)
        return found

    def _svg(self, name: str, colour: str) -> str | None:
        path = self._folder / f"{name}.svg"
        if not name.isidentifier() or not path.is_file():
            path = self._folder / "unknown.svg"
        if not path.is_file():
            return None
        return path.read_text(encoding="utf-8").replace("currentColor", colour)

    def _made(self, name: str, size: int, colour: str) -> QPixmap:
        pixmap = QPixmap(size, size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shape = _SHAPES.get(name)
        svg = None if shape else self._svg(name, colour)
        if shape is not None:
            shape(painter, size, QColor(colour))
        elif svg is not None:
            renderer = QSvgRenderer(QByteArray(svg.encode()))
            renderer.render(painter, QRectF(0, 0, size, size))
        else:
            _letter(painter, size, QColor(colour), name)
        painter.end()
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


def _letter(painter: QPainter, size: int, colour: QColor, name: str) -> None:
    """Stands in for an icon that does not exist: the first letter on a rounded square."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(QRectF(0, 0, size, size), size / 5, size / 5)
    font = QFont()
    font.setPixelSize(max(6, size * 2 // 3))
    font.setBold(True)
    painter.setFont(font)
    painter.setPen(QColor("#ffffff"))
    painter.drawText(QRectF(0, 0, size, size), Qt.AlignmentFlag.AlignCenter, name[:1].upper())


_SHAPES: Final[dict[str, Callable[[QPainter, int, QColor], None]]] = {"dot": _dot, "ring": _ring, "diamond": _diamond}
