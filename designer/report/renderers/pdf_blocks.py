"""Blocks of a report as flowables of ReportLab: texts, tables, key figures and drawings, in one set of styles."""

from __future__ import annotations

import math
import re
from importlib import import_module
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from designer.drawing.fonts import font_file
from designer.drawing.theme import rgb
from designer.plain_text import harmless, shortened
from designer.report.document import (
    Block,
    Cell,
    Drawing,
    Follows,
    Inline,
    Items,
    KeyFigures,
    Paragraph,
    Report,
    SideBySide,
    Span,
    Table,
    Text,
)
from designer.report.drawing.elements import NARROW, Picture
from designer.report.drawing.pdf import PageWriter
from designer.report.inks import INKS, recoloured
from designer.report.renderers.pdf_columns import UNIT, column_widths
from designer.report.renderers.pdf_sheets import sheets_of

#: texts of others are cut here, titles and what is in columns that cannot be divided earlier
_LONGEST: Final = 600
TITLE: Final = 160
#: what fonts of the report can show; the rest becomes a box in any case
_GAPS: Final = re.compile("[\U00010000-\U0010ffff]")
_BASE: Final = 9.15
#: tables of so few rows are not divided; of longer ones so many rows stand together at either end
_SHORT: Final = 6
_TOGETHER: Final = 3
#: above pairs of blocks, whose own headings stand in cells [points]
_ABOVE: Final = 12.0
#: drawings are at most this high, so that what belongs to them stays on their page [points]
_TALLEST: Final = 330.0
_TALLEST_CHART: Final = 470.0
_PREVIEW: Final = 235.0
#: the key of the sheets at the end
SHEETS: Final = "sheets"
#: signs as characters the font has; they differ in shape
_MARKS: Final = {
    "met": "✓",
    "likely": "✓",
    "unlikely": "△",
    "not met": "×",
    "primary": "●",
    "secondary": "◆",
    "derived": "■",
    "unverified": "○",
    "assumed": "◇",
    "error": "■",
    "warning": "△",
    "info": "○",
}


def _ink(name: str) -> str:
    return INKS[name][0] if name in INKS else "#000000"


def said(text: str, most: int = _LONGEST) -> str:
    """Text of others, without what would be obeyed instead of shown."""
    return _GAPS.sub("\ufffd", shortened(harmless(text), most).encode("utf-8", "replace").decode())


def quiet(text: str, size: float) -> str:
    """Markup of text in the second ink."""
    return f'<font name="Inter" size="{_BASE * size:.1f}" color="{_ink("muted")}">{escape(said(text))}</font>'


def shown_scale(picture: Picture, width: float) -> float:
    """Points of a unit of a drawing in a column so wide."""
    tallest = _TALLEST_CHART if picture.width <= NARROW else _TALLEST
    scale = min(width / picture.width, tallest / picture.height)
    return min(scale, UNIT) if picture.width <= 400 else scale


class Blocks:
    """Turns blocks into flowables of platypus; its classes are made here, since the library may be absent."""

    def __init__(self, report: Report) -> None:
        self.report = report
        #: drawings whose texts are too small where they are placed, for the sheets at the end
        self.large: list[Drawing] = []
        self.platypus: Any = import_module("reportlab.platypus")
        self.styles_module: Any = import_module("reportlab.lib.styles")
        self.colors: Any = import_module("reportlab.lib.colors")
        self.keys = (
            {SHEETS}
            | {c.key for c in report.chapters}
            | {row.key for c in report.chapters for b in c.blocks if isinstance(b, Table) for row in b.rows if row.key}
        )
        metrics = import_module("reportlab.pdfbase.pdfmetrics")
        fonts = import_module("reportlab.pdfbase.ttfonts")
        for name, bold in (("Inter", False), ("Inter-SemiBold", True)):
            if name not in metrics.getRegisteredFontNames():
                metrics.registerFont(fonts.TTFont(name, str(font_file(bold))))
        metrics.registerFontFamily(
            "Inter", normal="Inter", bold="Inter-SemiBold", italic="Inter", boldItalic="Inter-SemiBold"
        )
        #: most characters of a text here: less in columns that cannot be divided
        self.most = _LONGEST
        self.style_cache: dict[tuple[Any, ...], Any] = {}

    def colour(self, name: str) -> Any:
        """An ink as a colour of the library."""
        pair = self.report.colours.get(name) or INKS.get(name)
        red, green, blue = rgb(pair[0] if pair else "#000000")
        return self.colors.Color(red / 255, green / 255, blue / 255)

    def style(self, size: float = 1.0, leading: float = 1.4, ink: str = "ink", bold: bool = False, **more: Any) -> Any:
        """A paragraph style; sizes relative to running text."""
        key = (size, leading, ink, bold, tuple(sorted(more.items())))
        if key not in self.style_cache:
            points = _BASE * size
            self.style_cache[key] = self.styles_module.ParagraphStyle(
                f"s{len(self.style_cache)}",
                fontName="Inter-SemiBold" if bold else "Inter",
                fontSize=points,
                leading=points * leading,
                textColor=self.colour(ink),
                allowWidows=0,
                allowOrphans=0,
                splitLongWords=1,
                **more,
            )
        return self.style_cache[key]

    def paragraph(self, text: Inline, style: Any) -> Any:
        """A paragraph of spans."""
        spans: Text = (Span(text),) if isinstance(text, str) else (text,) if isinstance(text, Span) else text
        return self.platypus.Paragraph("".join(self._span(s) for s in spans) or "&nbsp;", style)

    def _note(self, text: Inline) -> Any:
        """A note below a block: a sentence of ours, whole also where names are shortened."""
        before, self.most = self.most, _LONGEST
        found = self.paragraph(text, self.style(0.83, 1.45, "muted", spaceBefore=3))
        self.most = before
        return found

    def _span(self, span: Span) -> str:
        body = escape(said(span.text, self.most)).replace("\n", "<br/>")
        if span.sign:
            body = f"{_MARKS.get(span.sign, '')}&nbsp;{body}" if _MARKS.get(span.sign) else body
        if span.style == "source":
            body = f'<super rise="3" size="6">{body}</super>'
        inks = {"muted": "muted", "alarm": "alarm", "ok": "ok", "warn": "warn", "assumed": "assumed"}
        if span.style in inks:
            body = f'<font color="{_ink(inks[span.style])}">{body}</font>'
        if span.style in ("strong", "alarm") or span.sign in ("met", "likely", "unlikely", "not met"):
            body = f"<b>{body}</b>"
        if span.style == "code":
            body = f'<font name="Inter" color="{_ink("data")}" size="{_BASE * 0.86:.1f}">{body}</font>'
        if span.link.startswith("#") and span.link[1:] in self.keys:
            body = f"<a href={quoteattr(span.link)}>{body}</a>"
        elif span.link.startswith(("https://", "http://")):
            body = f'<a href={quoteattr(span.link)} color="{_ink("link")}">{body}</a>'
        return body

    def picture(self, picture: Picture, width: float, tallest: float = math.inf) -> Any:
        """A drawing as a flowable, as wide as its place but never taller than a page, or than `tallest` [points]."""
        coloured = self.coloured
        scale = min(shown_scale(picture, width), tallest / max(picture.height, 1.0))

        class Shown(self.platypus.Flowable):  # type: ignore[misc, name-defined]
            """Draws a display list."""

            def wrap(self, room: float, height: float) -> tuple[float, float]:
                return picture.width * scale, picture.height * scale

            def draw(self) -> None:
                page = self.canv
                page.saveState()
                page.scale(scale, -scale)
                page.translate(-picture.x, -picture.y - picture.height)
                writer = PageWriter(page)
                for element in coloured(picture).elements:
                    writer.add(element)
                page.restoreState()

        return Shown()

    def coloured(self, picture: Picture) -> Picture:
        """A drawing with colours in the place of names of inks."""
        known = self.report.colours
        return recoloured(picture, lambda name: known[name][0] if name in known else _ink(name))

    # blocks

    def blocks(self, blocks: tuple[Block, ...], width: float) -> list[Any]:
        """Flowables of blocks."""
        found: list[Any] = []
        for n, block in enumerate(blocks):
            after = blocks[n + 1] if n + 1 < len(blocks) else None
            if isinstance(block, Follows) and n:
                continue
            if not isinstance(after, Follows):
                found += self.block(block, width)
            elif isinstance(block, Table) and len(block.rows) > _SHORT and width >= 300:
                # What follows goes with the last rows: alone it would begin a page.
                found += self._table(block, width, self._follows(after, width))
            else:
                parts = [*opened(self.block(block, width)), *self._follows(after, width)]
                found.append(self.platypus.KeepTogether(parts))
        return found

    def heading(self, title: str, aside: str = "", alone: bool = False) -> Any:
        """The title of a figure or table; alone, it is not tied to all that comes after it."""
        text = f"{escape(said(title))}"
        if aside:
            text += f"&nbsp;{quiet(aside, 0.86)}"
        return self.platypus.Paragraph(
            text, self.style(1.0, 1.35, bold=True, spaceBefore=12, spaceAfter=4, keepWithNext=0 if alone else 1)
        )

    def block(self, block: Block, width: float) -> list[Any]:
        """Flowables of one block."""
        keep = self.platypus.KeepTogether
        if isinstance(block, Table):
            return self._table(block, width)
        if isinstance(block, Drawing):
            parts = [self.heading(block.title, block.aside)] if block.title else [self.platypus.Spacer(1, 6)]
            parts.append(self.picture(block.picture, width, _PREVIEW if block.small else math.inf))
            note = block.note
            if not block.small and (count := len(sheets_of(block.picture, shown_scale(block.picture, width)))):
                self.large.append(block)
                where = f"in {count} sheets" if count > 1 else "on a sheet of its own"
                note = (*note, Span(" "), Span(f"To be read on paper it is {where} at the end.", link=f"#{SHEETS}"))
            if note:
                parts.append(self.paragraph(note, self.style(0.83, 1.45, "muted", spaceBefore=3)))
            return [keep(parts)]
        if isinstance(block, Paragraph):
            parts = [self.heading(block.title)] if block.title else []
            style = (
                self.style(0.83, 1.45, "muted", spaceBefore=4) if block.quiet else self.style(1.0, 1.5, spaceBefore=4)
            )
            return [*parts, self.paragraph(block.text, style)]
        if isinstance(block, KeyFigures):
            return [self._figures(block, width)]
        if isinstance(block, Items):
            return [self._tiles(block, width) if block.tiles else self._items(block, width)]
        if isinstance(block, Follows):
            return [keep(self._follows(block, width))]
        assert isinstance(block, SideBySide)
        half = (width - 20) / 2
        self.most = TITLE
        left, right = (self.blocks(side, half) for side in (block.left, block.right))
        self.most = _LONGEST
        grid = self.grid([[opened(left), "", opened(right)]], [half, 20, half])
        grid.spaceBefore = _ABOVE
        return [grid]

    def _follows(self, block: Follows, width: float) -> list[Any]:
        lines = [self.paragraph(t, self.style(1.0, 1.45, spaceAfter=2)) for t in block.text]
        grid = self.grid([[self.paragraph("What follows", self.style(1.0, 1.45, bold=True)), lines]], [84, width - 84])
        grid.setStyle([("LINEABOVE", (0, 0), (-1, 0), 1.5, self.colour("ink")), ("TOPPADDING", (0, 0), (-1, -1), 6)])
        return [self.platypus.Spacer(1, 12), grid]

    def grid(self, rows: list[list[Any]], widths: list[float], **more: Any) -> Any:
        """A table without any look."""
        table = self.platypus.Table(rows, colWidths=widths, hAlign="LEFT", **more)
        table.setStyle(
            [
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("LEFTPADDING", (0, 0), (-1, -1), 0),
                ("RIGHTPADDING", (0, 0), (-1, -1), 0),
                ("TOPPADDING", (0, 0), (-1, -1), 0),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 0),
            ]
        )
        return table

    def _figures(self, block: KeyFigures, width: float) -> Any:
        n = len(block.figures)
        each = width / max(n, 1)
        cells: list[Any] = []
        for f in block.figures:
            value = f"{escape(said(f.value))} {quiet(f.unit, 0.92)}"
            parts = [
                self.paragraph(f.label, self.style(0.83, 1.3, "muted")),
                self.platypus.Paragraph(value, self.style(1.9, 1.25, bold=True)),
                self.paragraph(f.band, self.style(0.83, 1.35, "muted", spaceAfter=4)),
            ]
            if f.strip is not None:
                parts.append(self.picture(f.strip, each - 16))
            if f.verdict:
                parts.append(self.paragraph(f.verdict, self.style(0.86, 1.4, spaceBefore=2)))
            cells.append(parts)
        grid = self.grid([cells], [each] * n)
        style: list[Any] = [
            ("LINEABOVE", (0, 0), (-1, 0), 0.7, self.colour("rule")),
            ("LINEBELOW", (0, 0), (-1, -1), 0.7, self.colour("rule")),
            ("TOPPADDING", (0, 0), (-1, -1), 8),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 8),
            ("RIGHTPADDING", (0, 0), (-1, -1), 10),
        ]
        style += [("LEFTPADDING", (1, 0), (-1, -1), 8)] if n > 1 else []
        style += [("LINEBEFORE", (k, 0), (k, -1), 0.5, self.colour("hair")) for k in range(1, n)]
        grid.setStyle(style)
        return self.platypus.KeepTogether([self.platypus.Spacer(1, 12), grid])

    def _items(self, block: Items, width: float) -> Any:
        rows: list[list[Any]] = []
        for item in block.items:
            body = [
                self.paragraph(item.head, self.style(0.9, 1.4, bold=True)),
                self.paragraph(item.text, self.style(0.9, 1.4, "muted")),
            ]
            rows.append([self.paragraph(item.mark, self.style(0.9, 1.4, "data", bold=True)), body])
        grid = self.grid(rows, [18, width - 18])
        grid.setStyle(
            [
                ("LINEABOVE", (0, 0), (-1, 0), 0.7, self.colour("ink")),
                ("LINEBELOW", (0, 0), (-1, -1), 0.5, self.colour("hair")),
                ("TOPPADDING", (0, 0), (-1, -1), 4),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 4),
            ]
        )
        parts = [self.heading(block.title, block.aside)] if block.title else []
        parts.append(grid)
        if block.note:
            parts.append(self._note(block.note))
        return self.platypus.KeepTogether(parts) if width > 300 else parts

    def _tiles(self, block: Items, width: float) -> Any:
        n = min(4, max(1, len(block.items)))
        rows: list[list[Any]] = []
        for start in range(0, len(block.items), n):
            row: list[Any] = [
                [
                    self.paragraph(item.head, self.style(0.87, 1.4, bold=True)),
                    self.paragraph(item.text, self.style(0.87, 1.4, "muted")),
                ]
                for item in block.items[start : start + n]
            ]
            rows.append([*row, *[""] * (n - len(row))])
        grid = self.grid(rows, [width / n] * n)
        grid.setStyle(
            [
                ("LINEABOVE", (0, 0), (-1, 0), 0.7, self.colour("ink")),
                ("TOPPADDING", (0, 0), (-1, -1), 5),
                ("RIGHTPADDING", (0, 0), (-1, -1), 10),
            ]
        )
        return self.platypus.KeepTogether([self.heading(block.title, block.aside), grid])

    def _table(self, block: Table, width: float, below: list[Any] | None = None) -> list[Any]:
        size = 0.79 if block.small else 0.85
        body, quiet = self.style(size, 1.33), self.style(0.78, 1.25, "muted", bold=True)
        right, quiet_right = (
            self.style(size, 1.33, alignment=2),
            self.style(0.78, 1.25, "muted", bold=True, alignment=2),
        )
        aligned = [h.align == "right" for h in block.heads]
        headed = any(h.title for h in block.heads)
        rows: list[list[Any]] = []
        if headed:
            rows.append(
                [
                    self.paragraph(h.title or " ", quiet_right if r else quiet)
                    for h, r in zip(block.heads, aligned, strict=True)
                ]
            )
        widths = column_widths(block, width, _BASE * size)
        style: list[Any] = [
            ("TOPPADDING", (0, 0), (-1, -1), 2.4 if block.small else 3.2),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 2.6 if block.small else 3.4),
            ("RIGHTPADDING", (0, 0), (-2, -1), 9),
            ("LINEBELOW", (0, 1 if headed else 0), (-1, -1), 0.5, self.colour("hair")),
        ]
        if headed:
            style.append(("LINEBELOW", (0, 0), (-1, 0), 0.7, self.colour("ink")))
            style.append(("VALIGN", (0, 0), (-1, 0), "BOTTOM"))
        for row in block.rows:
            at = len(rows)
            if row.style == "group":
                rows.append(
                    [self._cell(row.cells[0], self.style(size, 1.33, bold=True), width), *[""] * (len(block.heads) - 1)]
                )
                style += [("SPAN", (0, at), (-1, at)), ("TOPPADDING", (0, at), (-1, at), 8)]
                continue
            cells: list[Any] = []
            for k, cell in enumerate(row.cells):
                shown = self._cell(cell, right if aligned[k] else body, widths[k] - (9 if k < len(widths) - 1 else 0))
                if row.key and k == 0:
                    shown = [self.platypus.AnchorFlowable(row.key), shown]
                cells.append(shown)
            rows.append(cells)
            if row.style == "total":
                style.append(("LINEABOVE", (0, at), (-1, at), 0.7, self.colour("ink")))
        note = [self._note(block.note)] if block.note else []
        begin = self.heading(block.title, block.aside) if block.title else self.platypus.Spacer(1, 8)
        if len(block.rows) <= _SHORT or width < 300:
            table = self.grid(rows, widths)
            table.setStyle(style)
            parts = [begin, table, *note, *(below or [])]
            return parts if width < 300 else [self.platypus.KeepTogether(parts)]
        first = 1 if headed else 0
        if note or below:
            at = len(rows)
            rows.append([[*note, *(below or [])], *[""] * (len(block.heads) - 1)])
            style += [("SPAN", (0, at), (-1, at)), ("RIGHTPADDING", (0, at), (-1, at), 0)]
            style[3] = ("LINEBELOW", (0, first), (-1, at - 1), 0.5, self.colour("hair"))
        last = _TOGETHER + (1 if note or below else 0)
        style += [("NOSPLIT", (0, 0), (-1, first + _TOGETHER - 1)), ("NOSPLIT", (0, -last), (-1, -1))]
        table = self.grid(rows, widths, repeatRows=first)
        table.setStyle(style)
        table.wrap(width, 1e6)
        lead = sum(table._rowHeights[: first + _TOGETHER])
        if block.title:
            begin = self.heading(block.title, block.aside, alone=True)
            lead += begin.wrap(width, 1e6)[1] + begin.getSpaceBefore() + begin.getSpaceAfter()
        return [self.platypus.CondPageBreak(lead + 1), begin, table]

    def _cell(self, cell: Cell, style: Any, width: float) -> Any:
        return self.picture(cell, max(20.0, width)) if isinstance(cell, Picture) else self.paragraph(cell, style)


def opened(parts: list[Any]) -> list[Any]:
    """Flowables with groups that keep together opened."""
    found: list[Any] = []
    for part in parts:
        content = getattr(part, "_content", None)
        if isinstance(part, list):
            found += opened(part)
        elif content is not None and type(part).__name__ == "KeepTogether":
            found += opened(list(content))
        else:
            found.append(part)
    return found
