"""Display lists as PDF: lines and text stay lines and text, fonts are embedded."""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any, Final

from designer.drawing.fonts import FAMILY, font_file, text_width
from designer.drawing.icons import EXTENT, LINE, Command, glyph
from designer.drawing.theme import DASH, rgb
from designer.errors import ExchangeError
from designer.report.drawing.elements import Area, Element, Glyph, Label, Panel, Picture, Stroke

#: points of a page for one scene unit: pixels at 96 per inch
_POINTS: Final = 0.75
#: pages are at most this long, which is what readers take [points]
_LONGEST: Final = 14_000.0
_ROUND: Final = 1


def to_pdf(picture: Picture) -> bytes:
    """The picture as a PDF of one page.

    Raises
    ------
    ExchangeError
        If ReportLab is not installed.
    """
    try:
        canvas_module = import_module("reportlab.pdfgen.canvas")
        metrics = import_module("reportlab.pdfbase.pdfmetrics")
        fonts = import_module("reportlab.pdfbase.ttfonts")
    except ImportError as error:
        raise ExchangeError("PDF pictures need ReportLab", remedy="pip install reportlab, or export SVG") from error
    for bold in (False, True):
        if _name(bold) not in metrics.getRegisteredFontNames():
            metrics.registerFont(fonts.TTFont(_name(bold), str(font_file(bold))))
    scale = min(_POINTS, _LONGEST / max(picture.width, picture.height, 1.0))
    out = io.BytesIO()
    page = canvas_module.Canvas(out, pagesize=(picture.width * scale, picture.height * scale), invariant=1)
    page.setTitle(picture.title)
    page.scale(scale, -scale)
    page.translate(-picture.x, -picture.y - picture.height)
    writer = PageWriter(page)
    page.setFillColorRGB(*_shares(picture.background))
    page.rect(picture.x, picture.y, picture.width, picture.height, stroke=0, fill=1)
    for element in picture.elements:
        writer.add(element)
    page.save()
    return out.getvalue()


def _name(bold: bool) -> str:
    return f"{FAMILY}-SemiBold" if bold else FAMILY


def _shares(colour: str) -> tuple[float, float, float]:
    red, green, blue = rgb(colour)
    return red / 255, green / 255, blue / 255


class PageWriter:
    """Puts elements on a page whose y axis grows downwards."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def add(self, element: Element) -> None:
        if isinstance(element, Panel):
            self._panel(element)
        elif isinstance(element, Stroke):
            self._stroke(element)
        elif isinstance(element, Label):
            self._label(element)
        elif isinstance(element, Area):
            self._area(element)
        else:
            self._glyph(element)

    def _panel(self, panel: Panel) -> None:
        page = self.page
        if panel.fill:
            page.setFillColorRGB(*_shares(panel.fill))
        if panel.stroke:
            page.setStrokeColorRGB(*_shares(panel.stroke))
            page.setLineWidth(panel.stroke_width)
        page.setDash(*([list(DASH)] if panel.dashed else []))
        page.setFillAlpha(panel.opacity)
        radius = min(panel.radius, panel.width / 2, panel.height / 2)
        page.roundRect(
            panel.x,
            panel.y,
            panel.width,
            panel.height,
            radius,
            stroke=int(bool(panel.stroke)),
            fill=int(bool(panel.fill)),
        )

    def _stroke(self, stroke: Stroke) -> None:
        page = self.page
        page.setStrokeColorRGB(*_shares(stroke.colour))
        page.setStrokeAlpha(stroke.opacity)
        page.setLineWidth(stroke.width)
        page.setDash(*([list(stroke.dash)] if stroke.dashed else []))
        page.setLineJoin(_ROUND)
        path = page.beginPath()
        path.moveTo(*stroke.points[0])
        if stroke.curve:
            path.curveTo(*(v for point in stroke.points[1:] for v in point))
        else:
            for point in stroke.points[1:]:
                path.lineTo(*point)
        page.drawPath(path)

    def _area(self, area: Area) -> None:
        path = self.page.beginPath()
        path.moveTo(*area.points[0])
        for point in area.points[1:]:
            path.lineTo(*point)
        path.close()
        self.page.setFillColorRGB(*_shares(area.fill))
        self.page.setFillAlpha(area.opacity)
        self.page.drawPath(path, stroke=0, fill=1)

    def _label(self, label: Label) -> None:
        page = self.page
        shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor]
        x = label.x - shift * text_width(label.text, label.size, label.bold)
        page.saveState()
        page.translate(x, label.y)
        page.scale(1, -1)
        page.setFillColorRGB(*_shares(label.colour))
        page.setFillAlpha(1)
        page.setFont(_name(label.bold), label.size)
        page.drawString(0, 0, label.text)
        page.restoreState()

    def _glyph(self, mark: Glyph) -> None:
        page = self.page
        page.saveState()
        page.translate(mark.x, mark.y)
        page.scale(mark.size / EXTENT, mark.size / EXTENT)
        page.setStrokeColorRGB(*_shares(mark.colour))
        page.setFillColorRGB(*_shares(mark.colour))
        page.setStrokeAlpha(1)
        page.setFillAlpha(1)
        page.setDash()
        page.setLineWidth(LINE)
        page.setLineJoin(_ROUND)
        page.setLineCap(_ROUND)
        for outline in glyph(mark.kind):
            page.drawPath(self._path(outline.commands), stroke=1, fill=int(outline.filled))
        page.restoreState()

    def _path(self, commands: tuple[Command, ...]) -> Any:
        path = self.page.beginPath()
        for name, values in commands:
            {"M": path.moveTo, "L": path.lineTo, "C": path.curveTo, "Z": path.close}[name](*values)
        return path
