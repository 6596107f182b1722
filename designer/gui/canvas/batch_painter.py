"""Draws batches with a QPainter: a few calls however many things there are, because Qt reads the arrays itself.

``drawRects``, ``drawLines`` and ``drawPixmapFragments`` take a pointer and a count; the pointer is the memory of the
array, which is kept alive until the call returns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import floor
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QPainter, QPen, QPixmap
from shiboken6 import Shiboken

from designer.drawing.batches import Batch, Boxes, Glyphs, Label, Labels, Lines, Rects
from designer.drawing.fonts import fitted_text, font_file
from designer.drawing.icons import LINE, glyph
from designer.drawing.polylines import dashes
from designer.gui.icons import draw

Float = npt.NDArray[np.float64]
_MAX_CACHED: Final = 20_000
_MAX_SPRITES: Final = 600
#: boxes up to this width and height, of so many different sizes, are copied from pictures of them [px]
_SPRITE: Final = (360, 220)
_SIZES: Final = 6


def colour_of(text: str) -> QColor:
    """The colour of ``#rrggbb`` or ``#rrggbbaa``."""
    colour = QColor(text[:7])
    if len(text) == 9:
        colour.setAlpha(int(text[7:], 16))
    return colour


def pointer_to(data: Float, kind: type) -> tuple[Any, Float]:
    """An array as Qt reads it, as a pointer to `kind`, and the array that has to outlive it.

    Where Qt deleted an object whose wrapper Python still has, its address gives that wrapper: a copy has another.
    """
    tried = [data]
    while True:
        pointer = Shiboken.wrapInstance(tried[-1].ctypes.data, kind)
        if isinstance(pointer, kind):
            return pointer, tried[-1]
        tried.append(tried[-1].copy())


@cache
def load_fonts() -> None:
    """Make the fonts of the assets known, so that text looks the same where no fonts are installed."""
    for bold in (False, True):
        QFontDatabase.addApplicationFont(str(font_file(bold)))


class BatchPainter:
    """Draws batches and counts the calls to the painter.

    Parameters
    ----------
    family
        Font family of all text.
    glyphs
        Where small pictures come from.
    """

    def __init__(self, family: str, glyphs: GlyphSource) -> None:
        self.calls = 0
        load_fonts()
        self._family = family
        self._glyphs = glyphs
        self._colours: dict[str, QColor] = {}
        self._fonts: dict[tuple[int, bool], tuple[QFont, QFontMetricsF]] = {}
        self._rises: dict[tuple[int, bool], float] = {}
        self._texts: dict[tuple[str, int, bool, float], tuple[str, float]] = {}
        self._sprite_cache: dict[tuple[str, str, int, int, int, int], QPixmap] = {}
        self._fragment: Any = QPainter.PixmapFragment

    def draw(self, painter: QPainter, batch: Batch) -> None:
        """Draw one batch."""
        if not len(batch):
            return
        if isinstance(batch, Rects):
            self._rects(painter, batch.rects, batch.fill)
        elif isinstance(batch, Boxes):
            self._boxes(painter, batch)
        elif isinstance(batch, Lines):
            self._lines(painter, batch)
        elif isinstance(batch, Glyphs):
            self._draw_glyphs(painter, batch)
        else:
            self._labels(painter, batch)

    def text_width(self, text: str, px: int, bold: bool = False) -> float:
        """Width of a text [px]."""
        return self._shown(Label(0, 0, 1e6, 0, text, px, "", bold))[1]

    def colour(self, text: str) -> QColor:
        """A colour, kept."""
        found = self._colours.get(text)
        if found is None:
            found = self._colours[text] = colour_of(text)
        return found

    def font(self, px: int, bold: bool = False) -> QFont:
        """A font of a height in pixels."""
        return self._font(px, bold)[0]

    def _font(self, px: int, bold: bool) -> tuple[QFont, QFontMetricsF]:
        found = self._fonts.get((px, bold))
        if found is None:
            font = QFont(self._family)
            font.setPixelSize(max(1, px))
            font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
            found = self._fonts[px, bold] = (font, QFontMetricsF(font))
        return found

    def _rise(self, px: int, bold: bool) -> float:
        """How much farther letters reach above their baseline than below it [px]."""
        found = self._rises.get((px, bold))
        if found is None:
            metrics = self._font(px, bold)[1]
            found = self._rises[px, bold] = metrics.ascent() - metrics.descent()
        return found

    def _rects(self, painter: QPainter, rects: Float, fill: str) -> None:
        data = np.ascontiguousarray(rects, dtype=np.float64)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.colour(fill))
        pointer, data = pointer_to(data, QRectF)
        painter.drawRects(pointer, len(data))
        self.calls += 1

    def _lines(self, painter: QPainter, batch: Lines) -> None:
        dash = batch.dash if batch.phase is None else ()
        lines = batch.lines
        if batch.dash and batch.phase is not None:
            lines = dashes(lines, batch.phase, batch.dash[0], batch.dash[1])
            if not len(lines):
                return
        data = np.ascontiguousarray(lines, dtype=np.float64)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, batch.smooth)
        pen = QPen(self.colour(batch.colour), batch.width)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap if batch.dash else Qt.PenCapStyle.SquareCap)
        if dash:
            pen.setDashPattern([d / max(1.0, batch.width) for d in dash])
        painter.setPen(pen)
        pointer, data = pointer_to(data, QLineF)
        painter.drawLines(pointer, len(data))
        self.calls += 1

    def _boxes(self, painter: QPainter, batch: Boxes) -> None:
        radius, edge = batch.radius, batch.edge_width
        rects = batch.rects
        if radius <= edge:
            self._square(painter, rects, batch)
            return
        roomy = (rects[:, 2] >= 2 * radius) & (rects[:, 3] >= 2 * radius)
        if not roomy.all():
            self._square(painter, rects[~roomy], batch)
            rects = rects[roomy]
        small = (rects[:, 2] <= _SPRITE[0]) & (rects[:, 3] <= _SPRITE[1])
        if not small.all():
            self._round(painter, rects[~small], batch)
            rects = rects[small]
        if len(rects):
            sizes = np.unique(rects[:, 2] * 4096 + rects[:, 3])
            if len(sizes) <= _SIZES:
                self._sprites(painter, rects, sizes, batch)
            else:
                self._round(painter, rects, batch)

    def _sprites(self, painter: QPainter, rects: Float, sizes: Float, batch: Boxes) -> None:
        """Boxes of few sizes: one picture of each, copied."""
        for size in sizes.tolist():
            width, height = int(size // 4096), int(size % 4096)
            pixmap = self._sprite(batch, width, height)
            same = rects[(rects[:, 2] == width) & (rects[:, 3] == height)] if len(sizes) > 1 else rects
            if len(same) == 1:
                painter.drawPixmap(QPointF(same[0, 0], same[0, 1]), pixmap)
                self.calls += 1
                continue
            pieces = np.zeros((len(same), 10))
            pieces[:, 0:2] = same[:, :2] + same[:, 2:] / 2
            pieces[:, 4:6], pieces[:, 6:8], pieces[:, 9] = same[0, 2:], 1.0, 1.0
            self._pieces(painter, pieces, pixmap)

    def _square(self, painter: QPainter, rects: Float, batch: Boxes) -> None:
        e = min(float(batch.edge_width), float(rects[:, 2:].min()) / 2)
        x, y, w, h = rects.T
        if e > 0:
            self._rects(painter, _edges(x, y, w, h, e, e), batch.edge)
        self._rects(painter, np.stack((x + e, y + e, w - 2 * e, h - 2 * e), axis=1), batch.fill)

    def _round(self, painter: QPainter, rects: Float, batch: Boxes) -> None:
        r, e = float(batch.radius), float(batch.edge_width)
        x, y, w, h = rects.T
        middle = np.stack((x + r, y + e, w - 2 * r, h - 2 * e), axis=1)
        left = np.stack((x + e, y + r, np.full_like(x, r - e), h - 2 * r), axis=1)
        right = left.copy()
        right[:, 0] = x + w - r
        self._rects(painter, np.concatenate((middle, left, right)), batch.fill)
        if e > 0:
            self._rects(painter, _edges(x, y, w, h, e, r), batch.edge)
        pixmap = self._corner(batch)
        n, half = len(x), r / 2
        pieces = np.empty((4 * n, 10))
        pieces[:, 4:6], pieces[:, 6:8], pieces[:, 8], pieces[:, 9] = r, 1.0, 0.0, 1.0
        for k, (cx, cy, sx, sy) in enumerate(
            (
                (x + half, y + half, 0.0, 0.0),
                (x + w - half, y + half, r, 0.0),
                (x + half, y + h - half, 0.0, r),
                (x + w - half, y + h - half, r, r),
            )
        ):
            piece = pieces[k * n : (k + 1) * n]
            piece[:, 0], piece[:, 1], piece[:, 2], piece[:, 3] = cx, cy, sx, sy
        self._pieces(painter, pieces, pixmap)

    def _pieces(self, painter: QPainter, pieces: Float, pixmap: QPixmap) -> None:
        data = np.ascontiguousarray(pieces)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        pointer, data = pointer_to(data, self._fragment)
        painter.drawPixmapFragments(pointer, len(data), pixmap)
        self.calls += 1

    def _corner(self, batch: Boxes) -> QPixmap:
        return self._sprite(batch, 2 * batch.radius, 2 * batch.radius)

    def _sprite(self, batch: Boxes, width: int, height: int) -> QPixmap:
        key = (batch.fill, batch.edge, batch.edge_width, batch.radius, width, height)
        found = self._sprite_cache.get(key)
        if found is None:
            if len(self._sprite_cache) > _MAX_SPRITES:
                self._sprite_cache.clear()
            found = QPixmap(width, height)
            found.fill(Qt.GlobalColor.transparent)
            with QPainter(found) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                half = batch.edge_width / 2
                pen = QPen(self.colour(batch.edge), batch.edge_width) if batch.edge_width else QPen(Qt.PenStyle.NoPen)
                painter.setPen(pen)
                painter.setBrush(self.colour(batch.fill))
                inner = batch.radius - half
                painter.drawRoundedRect(QRectF(half, half, width - 2 * half, height - 2 * half), inner, inner)
            self._sprite_cache[key] = found
        return found

    def _draw_glyphs(self, painter: QPainter, batch: Glyphs) -> None:
        pixmap = self._glyphs.pixmap(batch.name, batch.size, batch.colour)
        n, size = len(batch.places), float(batch.size)
        pieces = np.zeros((n, 10))
        pieces[:, 0] = batch.places[:, 0] + size / 2
        pieces[:, 1] = batch.places[:, 1] + size / 2
        pieces[:, 4:6], pieces[:, 6:8], pieces[:, 9] = size, 1.0, 1.0
        self._pieces(painter, pieces, pixmap)

    def _labels(self, painter: QPainter, batch: Labels) -> None:
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing, True)
        pen = font = None
        for label in batch.labels:
            text, width = self._shown(label)
            if not text:
                continue
            if pen != label.colour:
                painter.setPen(self.colour(label.colour))
                pen = label.colour
            if font != (label.px, label.bold):
                painter.setFont(self._font(label.px, label.bold)[0])
                font = (label.px, label.bold)
            x = label.x
            if label.align != "left":
                spare = label.width - width
                x += spare / 2 if label.align == "center" else spare
            baseline = label.y + (label.height + self._rise(label.px, label.bold)) / 2
            # halves always go up: rounded to even they would jump from one strip to the next while panning
            painter.drawText(QPointF(floor(x + 0.5), floor(baseline + 0.5)), text)
            self.calls += 1

    def _shown(self, label: Label) -> tuple[str, float]:
        key = (label.text, label.px, label.bold, label.width)
        found = self._texts.get(key)
        if found is None:
            if len(self._texts) > _MAX_CACHED:
                self._texts.clear()
            metrics = self._font(label.px, label.bold)[1]
            # as files have it, so that a picture reads the same everywhere
            text = fitted_text(label.text, label.px, label.width, label.bold)
            text = "" if text == "…" else text
            found = self._texts[key] = (text, metrics.horizontalAdvance(text))
        return found


def _edges(x: Float, y: Float, w: Float, h: Float, e: float, r: float) -> Float:
    """The four straight sides of boxes, without their corners of extent `r`."""
    wide, high = np.full_like(x, e), np.full_like(x, e)
    return np.concatenate(
        (
            np.stack((x + r, y, w - 2 * r, high), axis=1),
            np.stack((x + r, y + h - e, w - 2 * r, high), axis=1),
            np.stack((x, y + r, wide, h - 2 * r), axis=1),
            np.stack((x + w - e, y + r, wide, h - 2 * r), axis=1),
        )
    )


# Small pictures by name, size and colour: the icons of part kinds, and dots. Made once, then only copied.

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
