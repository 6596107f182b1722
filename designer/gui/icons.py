"""Icons of the window and of part kinds, drawn in the colour asked for and sharp at every scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap

from designer.drawing.icons import EXTENT, LINE, Outline, glyph, window_icons
from designer.drawing.theme import palette

#: width of the lines of the window's icons, on the square of outlines
_LINE: Final = 1.7
#: sizes made, up to the largest at three times the density [px]
_SIZES: Final = (16, 20, 24, 32, 48, 64)


@lru_cache(maxsize=256)
def icon(name: str, colour: str) -> QIcon:
    """The icon called `name` in a colour, also for screens of two and three times the density."""
    return _icon(lambda size: pixmap(name, colour, size))


@lru_cache(maxsize=256)
def kind_icon(kind: str, dark: bool) -> QIcon:
    """The icon of a kind of part in its colour; that of unknown kinds where it has none."""
    colour = palette("dark" if dark else "light").kind(kind)
    return _icon(lambda size: _rendered(glyph(kind), colour, LINE, size))


def _icon(draw: Callable[[int], QPixmap]) -> QIcon:
    found = QIcon()
    for size in _SIZES:
        found.addPixmap(draw(size))
    return found


def pixmap(name: str, colour: str, size: int, ratio: float = 1.0) -> QPixmap:
    """One picture of an icon of the window, `size` logical pixels large."""
    picture = _rendered(window_icons()[name], colour, _LINE, round(size * ratio))
    picture.setDevicePixelRatio(ratio)
    return picture


def _rendered(outlines: Sequence[Outline], colour: str, line: float, size: int) -> QPixmap:
    picture = QPixmap(size, size)
    picture.fill(Qt.GlobalColor.transparent)
    with QPainter(picture) as painter:
        draw(painter, outlines, colour, line, size)
    return picture


def draw(painter: QPainter, outlines: Sequence[Outline], colour: str, line: float, size: int) -> None:
    """Draw an icon on a square of `size` at the origin."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(size / EXTENT, size / EXTENT)
    ink = QColor(colour)
    painter.setPen(QPen(ink, line, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
    for outline in outlines:
        painter.setBrush(ink if outline.filled else Qt.BrushStyle.NoBrush)
        painter.drawPath(_path(outline))


def _path(outline: Outline) -> QPainterPath:
    path = QPainterPath()
    for name, values in outline.commands:
        corners = [QPointF(x, y) for x, y in zip(values[::2], values[1::2], strict=True)]
        if name == "M":
            path.moveTo(*corners)
        elif name == "L":
            path.lineTo(*corners)
        elif name == "C":
            path.cubicTo(*corners)
        else:
            path.closeSubpath()
    return path


def names() -> tuple[str, ...]:
    """All icons of the window."""
    return tuple(window_icons())
