"""The picture as an image, with all detail whatever the zoom is."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter

from designer.drawing.picture import full_detail
from designer.drawing.view import Rect
from designer.drawing.view_state import ViewState
from designer.gui.canvas.batch_painter import BatchPainter

#: larger images are made smaller [px]
_LARGEST: Final = 12_000
_MARGIN: Final = 24


def picture(view_state: ViewState, batch_painter: BatchPainter, rect: Rect, scale: float, transparent: bool) -> QImage:
    """A scene rectangle as an image, `scale` pixels per scene unit."""
    x, y, width, height = rect
    scale = min(scale, _LARGEST / max(width, height, 1.0))
    margin = round(_MARGIN * scale)
    wide, high = max(1, round(width * scale) + 2 * margin), max(1, round(height * scale) + 2 * margin)
    image = QImage(wide, high, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent if transparent else batch_painter.colour(view_state.theme.background))
    with QPainter(image) as painter:
        painter.translate(margin - round(x * scale), margin - round(y * scale))
        for batch in full_detail(view_state, scale, rect):
            batch_painter.draw(painter, batch)
    return image
