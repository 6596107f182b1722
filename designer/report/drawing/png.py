"""Display lists as PNG, drawn larger and scaled down so that edges are smooth."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from math import ceil, floor, hypot
from typing import TYPE_CHECKING, Any, Final

from designer.drawing.fonts import font_file
from designer.drawing.icons import EXTENT, LINE, Command, glyph
from designer.drawing.theme import DASH, mixed, rgb
from designer.errors import ExchangeError
from designer.report.drawing.elements import Area, Glyph, Label, Panel, Picture, Point, Stroke

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

#: drawn this much larger than wanted, where memory allows
_OVERSAMPLING: Final = 3
#: pixels of the large picture are kept below this; then smoothness goes first, and then size
_MOST_PIXELS: Final = 120_000_000
#: and the wanted picture below this in each direction
_LONGEST: Final = 16_000


def to_png(picture: Picture, scale: float = 2.0, transparent: bool = False) -> bytes:
    """The picture as PNG, so many pixels for one scene unit; less where it would get too large.

    Parameters
    ----------
    transparent
        True if what lies behind shows through where nothing is drawn.

    Raises
    ------
    ExchangeError
        If Pillow is not installed.
    """
    try:
        image_module = import_module("PIL.Image")
        draw_module = import_module("PIL.ImageDraw")
        font_module = import_module("PIL.ImageFont")
    except ImportError as error:
        raise ExchangeError("PNG pictures need Pillow", remedy="pip install pillow, or export SVG") from error
    scale = min(scale, _LONGEST / max(picture.width, picture.height, 1.0))
    over = _OVERSAMPLING
    while over > 1 and picture.width * picture.height * (scale * over) ** 2 > _MOST_PIXELS:
        over -= 1
    area = picture.width * picture.height * (scale * over) ** 2
    scale *= min(1.0, (_MOST_PIXELS / max(area, 1.0)) ** 0.5)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    ground = (*rgb(picture.background), 0) if transparent else picture.background
    image = image_module.new("RGBA" if transparent else "RGB", (size[0] * over, size[1] * over), ground)
    painter = _Painter(picture, (image, image_module, draw_module), scale * over, font_module)
    painter.paint()
    if over > 1:
        image = image.resize(size, image_module.Resampling.BOX)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=False)
    return out.getvalue()


class _Painter:
    def __init__(self, picture: Picture, target: tuple[Any, Any, Any], scale: float, fonts: Any) -> None:
        self.picture = picture
        self.image, self.images, self.draws = target
        self.draw: ImageDraw = self.draws.Draw(self.image)
        #: corner of what is drawn on, and the ink that represents every colour while a mask is drawn
        self.corner: tuple[int, int] = (0, 0)
        self.ink: int | None = None
        self.scale = scale
        self.fonts = fonts
        self.known: dict[tuple[bool, int], Any] = {}

    def paint(self) -> None:
        for element in self.picture.elements:
            if isinstance(element, Panel) and element.opacity < 1 and not element.stroke:
                right, low = element.x + element.width, element.y + element.height
                mask = replace(element, opacity=1)
                self._veil(mask, mask.fill, element.opacity, ((element.x, element.y), (right, low)))
            elif isinstance(element, Panel):
                self._panel(element)
            elif isinstance(element, Stroke) and element.opacity < 1:
                self._veil(replace(element, opacity=1), element.colour, element.opacity, element.points, element.width)
            elif isinstance(element, Stroke):
                self._stroke(element)
            elif isinstance(element, Label):
                self._label(element)
            elif isinstance(element, Area):
                corners = [self._font_at(x, y) for x, y in element.points]
                self.draw.polygon(corners, fill=self._colour(element.fill, element.opacity))
            else:
                self._glyph(element)

    def _veil(
        self, mark: Panel | Stroke, colour: str, opacity: float, points: Sequence[Point], reach: float = 0.0
    ) -> None:
        """Something one sees through, by a mask of its shape."""
        corners = [self._font_at(x, y) for x, y in points]
        margin = reach * self.scale + 2
        left, top = (max(0, floor(min(p[k] for p in corners) - margin)) for k in (0, 1))
        right, low = (min(self.image.size[k], ceil(max(p[k] for p in corners) + margin)) for k in (0, 1))
        if right <= left or low <= top:
            return
        mask = self.images.new("L", (right - left, low - top), 0)
        canvas, self.draw, self.corner, self.ink = self.draw, self.draws.Draw(mask), (left, top), round(255 * opacity)
        if isinstance(mark, Panel):
            self._panel(mark)
        else:
            self._stroke(mark)
        self.draw, self.corner, self.ink = canvas, (0, 0), None
        self.image.paste(rgb(colour), (left, top), mask)

    def _font_at(self, x: float, y: float) -> Point:
        left, top = self.corner
        return (x - self.picture.x) * self.scale - left, (y - self.picture.y) * self.scale - top

    def _colour(self, colour: str, opacity: float = 1) -> tuple[int, int, int] | int:
        if self.ink is not None:
            return self.ink
        return rgb(colour if opacity >= 1 else mixed(self.picture.background, colour, opacity))

    def _panel(self, panel: Panel) -> None:
        # the edge reaches to both sides of the outline; the last pixel belongs to a rectangle
        reach = panel.stroke_width / 2 if panel.stroke else 0.0
        left, top = self._font_at(panel.x - reach, panel.y - reach)
        right, low = self._font_at(panel.x + panel.width + reach, panel.y + panel.height + reach)
        radius = min(panel.radius, panel.width / 2, panel.height / 2)
        self.draw.rounded_rectangle(
            (left, top, max(left, right - 1), max(top, low - 1)),
            radius=(radius + reach if radius else 0) * self.scale,
            fill=self._colour(panel.fill, panel.opacity) if panel.fill else None,
            outline=self._colour(panel.stroke, panel.opacity) if panel.stroke else None,
            width=max(1, round(panel.stroke_width * self.scale)) if panel.stroke else 0,
        )

    def _stroke(self, stroke: Stroke) -> None:
        points = flat_curve(stroke.points) if stroke.curve else list(stroke.points)
        for piece in dashes(points, stroke.dash) if stroke.dashed else [points]:
            self._line(piece, self._colour(stroke.colour, stroke.opacity), stroke.width)

    def _line(self, points: list[Point], colour: tuple[int, int, int] | int, width: float) -> None:
        self.draw.line(
            [self._font_at(x, y) for x, y in points],
            fill=colour,
            width=max(1, round(width * self.scale)),
            joint="curve",
        )

    def _label(self, label: Label) -> None:
        size = max(1, round(label.size * self.scale))
        font = self.known.get((label.bold, size))
        if font is None:
            font = self.known[label.bold, size] = self.fonts.truetype(str(font_file(label.bold)), size)
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[label.anchor]
        self.draw.text(
            self._font_at(label.x, label.y), label.text, fill=self._colour(label.colour), font=font, anchor=anchor
        )

    def _glyph(self, mark: Glyph) -> None:
        factor = mark.size / EXTENT
        colour = self._colour(mark.colour)
        for outline in glyph(mark.kind):
            for points in flat_outline(outline.commands):
                placed = [(mark.x + x * factor, mark.y + y * factor) for x, y in points]
                if outline.filled:
                    self.draw.polygon([self._font_at(x, y) for x, y in placed], fill=colour)
                self._line(placed, colour, LINE * factor)


# Curves as polylines and dashes as pieces, for renderers that know only straight lines.

_STEPS: Final = (6, 24)


def flat_curve(points: Sequence[Point]) -> list[Point]:
    """A cubic Bézier curve as a polyline."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = points
    length = hypot(bx - ax, by - ay) + hypot(cx - bx, cy - by) + hypot(dx - cx, dy - cy)
    steps = min(max(int(length / 12), _STEPS[0]), _STEPS[1] * 2)
    found: list[Point] = []
    for n in range(steps + 1):
        t = n / steps
        u = 1 - t
        a, b, c, d = u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t
        found.append((a * ax + b * bx + c * cx + d * dx, a * ay + b * by + c * cy + d * dy))
    return found


def flat_outline(commands: Sequence[Command]) -> list[list[Point]]:
    """The polylines of a path."""
    lines: list[list[Point]] = []
    for name, values in commands:
        if name == "M":
            lines.append([(values[0], values[1])])
        elif name == "L":
            lines[-1].append((values[0], values[1]))
        elif name == "C":
            corners = [lines[-1][-1], *zip(values[::2], values[1::2], strict=True)]
            lines[-1] += _short_curve(corners)
        else:
            lines[-1].append(lines[-1][0])
    return lines


def _short_curve(corners: Sequence[Point]) -> list[Point]:
    return flat_curve(corners)[1:]


def dashes(points: Sequence[Point], dash: tuple[float, ...] = DASH) -> list[list[Point]]:
    """A polyline cut into dashes."""
    pieces: list[list[Point]] = []
    drawn, left = True, dash[0]
    piece: list[Point] = [points[0]]
    for (ax, ay), (bx, by) in pairwise(points):
        length = hypot(bx - ax, by - ay)
        done = 0.0
        while length - done > left:
            done += left
            at = (ax + (bx - ax) * done / length, ay + (by - ay) * done / length)
            if drawn:
                pieces.append([*piece, at])
            drawn, left = not drawn, dash[1] if drawn else dash[0]
            piece = [at]
        left -= length - done
        if drawn:
            piece.append((bx, by))
    if drawn and len(piece) > 1:
        pieces.append(piece)
    return pieces
