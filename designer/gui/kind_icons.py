"""Icons of part kinds, from ``assets/icons``, in the colour of the kind."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from designer.resources import assets


@lru_cache(maxsize=256)
def svg(kind: str, colour: str) -> str | None:
    """The icon of a kind as SVG text; None if there is none."""
    path = assets() / "icons" / f"{kind}.svg"
    try:
        return path.read_text(encoding="utf-8").replace("currentColor", colour)
    except OSError:
        return None


@lru_cache(maxsize=256)
def kind_icon(kind: str, dark: bool) -> QIcon | None:
    """The icon of a kind in its colour; that of unknown kinds where there is none."""
    from designer.drawing.palette import palette

    colour = palette("dark" if dark else "light").kind(kind)
    text = svg(kind, colour) or svg("unknown", colour)
    if text is None:
        return None
    renderer = QSvgRenderer(QByteArray(text.encode()))
    icon = QIcon()
    for size in (16, 24, 32, 48):
        pixmap = QPixmap(size, size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        renderer.render(painter, QRectF(pixmap.rect()))
        painter.end()
        icon.addPixmap(pixmap)
    return icon
