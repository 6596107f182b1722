"""Icons of the window as strokes on a 24 × 24 grid, drawn in the colour asked for and sharp at every scale."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

_STROKES: Final = {
    "select": "M6 3l12 9-5.5 1.2L9.5 19z",
    "connect": "M8 12h8M5.5 12a2.5 2.5 0 1 1 0-.01M18.5 12m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0"
    "M3 12a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0",
    "pan": "M12 3v18M3 12h18M12 3l-2.5 2.5M12 3l2.5 2.5M12 21l-2.5-2.5M12 21l2.5-2.5"
    "M3 12l2.5-2.5M3 12l2.5 2.5M21 12l-2.5-2.5M21 12l-2.5 2.5",
    "undo": "M8 5L4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11h-4",
    "redo": "M16 5l4 4-4 4M20 9H10a5.5 5.5 0 0 0 0 11h4",
    "fit": "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
    "open": "M3 7h6l2 2h10v10H3z",
    "save": "M5 4h11l3 3v13H5zM8 4v5h7V4M8 20v-6h8v6",
    "new": "M6 3h8l4 4v14H6zM14 3v4h4",
    "import": "M12 3v11M8 10l4 4 4-4M4 16v4h16v-4",
    "search": "M10.5 4a6.5 6.5 0 1 0 0 13a6.5 6.5 0 1 0 0-13M15.5 15.5L20.5 20.5",
    "workload": "M5 19V11M10 19V5M15 19v-6M20 19V8",
    "warning": "M12 4L2.5 20h19zM12 10v5M12 17.5v.5",
    "error": "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M12 7v6M12 16v.6",
    "info": "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M12 11v6M12 7.4v.6",
    "check": "M4 12.5l5 5L20 6.5",
    "plus": "M12 5v14M5 12h14",
    "edit": "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
    "delete": "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
    "close": "M6 6l12 12M18 6L6 18",
    "part": "M5 5h14v14H5zM9 9h6v6H9z",
    "template": "M4 5h16v5H4zM4 13h7v6H4zM14 13h6v6h-6z",
    "settings": "M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4M4 12h13M20 12h0",
    "compare": "M5 4v16M5 8h6M5 13h4M19 4v16M19 8h-4M19 13h-6",
    "play": "M7 5l11 7-11 7z",
    "pause": "M8 5v14M16 5v14",
    "begin": "M6 5v14M19 5l-10 7 10 7z",
    "loop": "M7 7h9a4 4 0 0 1 4 4M4 13a4 4 0 0 0 4 4h9M9 4L6 7l3 3M15 14l3 3-3 3",
    "clock": "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M12 7v5l3.5 2",
    "reset": "M5 12a7 7 0 1 0 2-5M5 4v4h4",
}


@lru_cache(maxsize=256)
def icon(name: str, colour: str) -> QIcon:
    """The icon called `name` in a colour, with room for screens of two and three times the density."""
    found = QIcon()
    for size in (16, 20, 24, 32, 48, 64):
        found.addPixmap(pixmap(name, colour, size))
    return found


def pixmap(name: str, colour: str, size: int, ratio: float = 1.0) -> QPixmap:
    """One picture of an icon, `size` logical pixels large."""
    body = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="{_STROKES[name]}" fill="none" '
        f'stroke="{colour}" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"/></svg>'
    )
    picture = QPixmap(round(size * ratio), round(size * ratio))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(QByteArray(body.encode())).render(painter, QRectF(picture.rect()))
    painter.end()
    picture.setDevicePixelRatio(ratio)
    return picture


def names() -> tuple[str, ...]:
    """All icons there are."""
    return tuple(_STROKES)
