"""Reports as PDF: A4, contents with page numbers, bookmarks, links, vector drawings, text that can be selected."""

from __future__ import annotations

import io
import re
from functools import partial
from importlib import import_module
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from designer.drawing.fonts import font_file, text_width
from designer.drawing.palette import rgb
from designer.errors import ReportError
from designer.plain_text import harmless, shortened
from designer.report.document import (
    Beside,
    Block,
    Cell,
    Chapter,
    Drawing,
    Follows,
    Inline,
    Items,
    KeyFigures,
    Paragraph,
    Report,
    Span,
    Table,
    Text,
    plain,
)
from designer.report.drawing.elements import Picture
from designer.report.drawing.pdf import PageWriter
from designer.report.inks import INKS, recoloured
from designer.report.renderers.legend import LEGEND

#: points of one unit of drawings: the text area is 174 mm and 658 units wide
_WIDTH: Final = 493.2
_UNIT: Final = _WIDTH / 658.0
#: texts of others are cut here, titles and what stands in columns that cannot be divided earlier
_LONGEST: Final = 600
_TITLE: Final = 160
#: what fonts of the report can show; the rest becomes a box in any case
_GAPS: Final = re.compile("[\U00010000-\U0010ffff]")
_BASE: Final = 9.15
#: drawings are at most this high, so that what belongs to them stays on their page [points]
_TALLEST: Final = 330.0
#: height of the text area [points]; between chapters on one page; a long chapter begins where so much of it is left
_FRAME: Final = 719.89
_BETWEEN: Final = 34.0
_ENOUGH: Final = 0.42


def to_pdf(report: Report) -> bytes:
    """The report as PDF.

    Raises
    ------
    ReportError
        If ReportLab is not installed.
    """
    try:
        import_module("reportlab.platypus")
    except ImportError as error:
        raise ReportError("PDF reports need ReportLab", remedy="pip install reportlab, or write HTML") from error
    return _Book(report).bytes()


def _ink(name: str) -> str:
    return INKS[name][0] if name in INKS else "#000000"


def _said(text: str, most: int = _LONGEST) -> str:
    """Text of others, without what would be obeyed instead of shown."""
    return _GAPS.sub("\ufffd", shortened(harmless(text), most).encode("utf-8", "replace").decode())


class _Book:
    """Turns blocks into flowables of platypus; its classes are made here, since the library may be absent."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.platypus: Any = import_module("reportlab.platypus")
        self.styles_module: Any = import_module("reportlab.lib.styles")
        self.colors: Any = import_module("reportlab.lib.colors")
        self.keys = {c.key for c in report.chapters} | {
            row.key for c in report.chapters for b in c.blocks if isinstance(b, Table) for row in b.rows if row.key
        }
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

    def _span(self, span: Span) -> str:
        body = escape(_said(span.text, self.most)).replace("\n", "<br/>")
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

    def picture(self, picture: Picture, width: float) -> Any:
        """A drawing as a flowable, as wide as its place but never taller than a page."""
        book = self
        known = self.report.colours

        def ink(name: str) -> str:
            return known[name][0] if name in known else _ink(name)

        scale = min(width / picture.width, _TALLEST / picture.height)
        if picture.width <= 400:
            scale = min(scale, _UNIT)

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
                for element in recoloured(picture, ink).elements:
                    writer.add(element)
                page.restoreState()

        del book
        return Shown()

    # blocks

    def blocks(self, blocks: tuple[Block, ...], width: float) -> list[Any]:
        """Flowables of blocks."""
        found: list[Any] = []
        for block in blocks:
            found += self.block(block, width)
        return found

    def heading(self, title: str, aside: str = "") -> Any:
        """The title of a figure or table."""
        text = f"{escape(_said(title))}"
        if aside:
            text += f"&nbsp;{_quiet(aside, 0.86)}"
        return self.platypus.Paragraph(
            text, self.style(1.0, 1.35, bold=True, spaceBefore=12, spaceAfter=4, keepWithNext=1)
        )

    def block(self, block: Block, width: float) -> list[Any]:
        """Flowables of one block."""
        keep = self.platypus.KeepTogether
        if isinstance(block, Table):
            return self._table(block, width)
        if isinstance(block, Drawing):
            parts = [self.heading(block.title, block.aside)] if block.title else [self.platypus.Spacer(1, 6)]
            parts.append(self.picture(block.picture, width))
            if block.note:
                parts.append(self.paragraph(block.note, self.style(0.83, 1.45, "muted", spaceBefore=3)))
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
            lines = [self.paragraph(t, self.style(1.0, 1.45, spaceAfter=2)) for t in block.text]
            grid = self.grid(
                [[self.paragraph("What follows", self.style(1.0, 1.45, bold=True)), lines]], [84, width - 84]
            )
            grid.setStyle(
                [("LINEABOVE", (0, 0), (-1, 0), 1.5, self.colour("ink")), ("TOPPADDING", (0, 0), (-1, -1), 6)]
            )
            return [keep([self.platypus.Spacer(1, 12), grid])]
        assert isinstance(block, Beside)
        half = (width - 20) / 2
        self.most = _TITLE
        left, right = (self.blocks(side, half) for side in (block.left, block.right))
        self.most = _LONGEST
        grid = self.grid([[_flat(left), "", _flat(right)]], [half, 20, half])
        return [grid]

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
            value = f"{escape(_said(f.value))} {_quiet(f.unit, 0.92)}"
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
            parts.append(self.paragraph(block.note, self.style(0.83, 1.45, "muted", spaceBefore=3)))
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

    def _table(self, block: Table, width: float) -> list[Any]:
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
        widths = _widths(block, width, _BASE * size)
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
        table = self.grid(rows, widths, repeatRows=1 if headed else 0)
        table.setStyle(style)
        parts: list[Any] = []
        if block.title:
            parts.append(self.heading(block.title, block.aside))
        else:
            parts.append(self.platypus.Spacer(1, 8))
        parts.append(table)
        if block.note:
            parts.append(self.paragraph(block.note, self.style(0.83, 1.45, "muted", spaceBefore=3)))
        return parts if len(block.rows) > 14 or width < 300 else [self.platypus.KeepTogether(parts)]

    def _cell(self, cell: Cell, style: Any, width: float) -> Any:
        return self.picture(cell, max(20.0, width)) if isinstance(cell, Picture) else self.paragraph(cell, style)

    # pages

    def bytes(self) -> bytes:
        """The finished file."""
        templates: Any = import_module("reportlab.platypus.doctemplate")
        contents: Any = import_module("reportlab.platypus.tableofcontents")
        frames: Any = import_module("reportlab.platypus.frames")
        report, book = self.report, self
        left, right, top, foot = 51.0, 51.0, 71.0, 51.0
        page = (595.28, 841.89)
        state: dict[str, Any] = {"topics": [""], "begun": False, "pages": 0}

        class Document(templates.BaseDocTemplate):  # type: ignore[misc, name-defined]
            """Tells the contents about chapters as they are placed."""

            def afterFlowable(self, flowable: Any) -> None:
                told = getattr(flowable, "chapter", None)
                if told is None:
                    return
                number, chapter = told
                # the head of a page names the chapters that begin on it, else the one that goes on
                begun = state["topics"] if state["begun"] else []
                state["topics"] = [*begun, f"{number}  {chapter.topic}" if number else chapter.topic]
                state["begun"] = True
                self.canv.bookmarkPage(chapter.key)
                title = f"{number}  {chapter.topic}: {chapter.title}" if number else chapter.title
                self.canv.addOutlineEntry(_said(title)[:200], chapter.key, 0, False)
                if number:
                    about = f"  ·  {_said(chapter.about)}" if _several(report) and chapter.about else ""
                    topic = escape(chapter.topic)
                    asked = _quiet(chapter.question + about, 0.92)
                    text = f"<b>{number}</b>&nbsp;&nbsp;&nbsp;<b>{topic}</b>&nbsp;&nbsp;&nbsp;{asked}"
                    self.notify("TOCEntry", (0, text, self.page, chapter.key))

        def decorate(canvas: Any, document: Any, head: bool) -> None:
            canvas.saveState()
            canvas.setFont("Inter", 7.2)
            canvas.setFillColor(book.colour("muted"))
            if head:
                name = _fitted(f"{_said(report.title)} · Design report", 7.2, 240)
                canvas.drawString(left, page[1] - 46, name)
            canvas.drawString(left, 30, report.foot)
            canvas.restoreState()

        def front(canvas: Any, document: Any) -> None:
            decorate(canvas, document, False)

        def later(canvas: Any, document: Any) -> None:
            decorate(canvas, document, True)

        def finished(canvas: Any, document: Any) -> None:
            canvas.saveState()
            canvas.setFont("Inter-SemiBold", 7.2)
            canvas.setFillColor(book.colour("ink"))
            total = state["pages"] or canvas.getPageNumber()
            canvas.drawRightString(page[0] - right, 30, f"{canvas.getPageNumber()} / {total}")
            if canvas.getPageNumber() > 1:
                canvas.setFont("Inter", 7.2)
                canvas.setFillColor(book.colour("muted"))
                canvas.drawRightString(page[0] - right, page[1] - 46, "  ·  ".join(state["topics"]))
            canvas.restoreState()
            state["last"], state["begun"], state["topics"] = canvas.getPageNumber(), False, state["topics"][-1:]

        def frame(high: float) -> Any:
            return frames.Frame(
                left,
                foot,
                page[0] - left - right,
                page[1] - foot - high,
                leftPadding=0,
                rightPadding=0,
                topPadding=0,
                bottomPadding=0,
            )

        out = io.BytesIO()
        document = Document(
            out,
            pagesize=page,
            title=_said(report.title),
            author="",
            subject="Design report",
            lang=report.language,
            creator="designer",
            invariant=1,
            initialFontName="Inter",
        )
        document.addPageTemplates(
            [
                templates.PageTemplate("front", [frame(48.0)], onPage=front, onPageEnd=finished, pagesize=page),
                templates.PageTemplate("later", [frame(top)], onPage=later, onPageEnd=finished, pagesize=page),
            ]
        )

        toc = contents.TableOfContents(dotsMinLevel=-1)
        toc.levelStyles = [self.style(0.95, 1.75, leftIndent=0)]
        document.setProgressCallBack(partial(_counted, state))
        document.multiBuild(self._story(toc), maxPasses=8)
        return out.getvalue()

    def _story(self, toc: Any) -> list[Any]:
        report, p = self.report, self.platypus
        width = _WIDTH
        facts = [
            [self.paragraph(n, self.style(0.83, 1.4, "muted")), self.paragraph(t, self.style(0.83, 1.4))]
            for n, t in report.facts
        ]
        title: list[Any] = []
        if report.logo is not None:
            title += self._logo()
        title += [
            self.paragraph("Design report", self.style(0.82, 1.4, "data", bold=True)),
            self.paragraph(_said(report.title, _TITLE), self.style(2.3, 1.15, bold=True, spaceBefore=2)),
        ]
        if report.subtitle:
            title.append(
                self.paragraph(_said(report.subtitle, 2 * _TITLE), self.style(1.04, 1.4, "muted", spaceBefore=5))
            )
        cover = self.grid([[title, "", self.grid(facts, [50, 130])]], [width - 204, 24, 180])
        cover.setStyle(
            [
                ("VALIGN", (0, 0), (-1, -1), "BOTTOM"),
                ("LINEBELOW", (0, 0), (-1, -1), 1.5, self.colour("ink")),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 10),
            ]
        )
        verdict = self.paragraph(
            _said(report.summary.title, 2 * _TITLE), self.style(1.7, 1.25, bold=True, spaceBefore=14, spaceAfter=4)
        )
        verdict.chapter = (0, report.summary)
        story: list[Any] = [cover, verdict]
        if report.summary.deck:
            story.append(self.paragraph(report.summary.deck, self.style(1.06, 1.5, "muted")))
        story += self.blocks(report.summary.blocks, width)
        story += [p.NextPageTemplate("later"), p.PageBreak()]
        story += [
            self.paragraph("Contents", self.style(0.82, 1.4, "data", bold=True)),
            self.paragraph("How this report is built", self.style(1.65, 1.22, bold=True, spaceBefore=5)),
            self.paragraph(
                "Every chapter opens with its answer; read the titles alone and you have read the report.",
                self.style(1.06, 1.5, "muted", spaceBefore=4, spaceAfter=10),
            ),
            toc,
            *self.block(LEGEND, width),
        ]
        for number, chapter in report.numbered():
            made = self._chapter(number, chapter, width)
            # a chapter that fits below the one before goes there; a long one begins where much of a page is left
            room = min(self._height(made, width) + _BETWEEN, _FRAME * _ENOUGH) if number > 1 else _FRAME
            story += [p.PageBreak() if number == 1 else p.CondPageBreak(room), *made]
        return story

    def _height(self, flowables: list[Any], width: float) -> float:
        """What flowables take below each other, whole pages or not [pt]."""
        total = after = 0.0
        canvas: Any = import_module("reportlab.pdfgen.canvas").Canvas(io.BytesIO())
        for one in flowables:
            _, high = one.wrapOn(canvas, width, 10 * _FRAME)
            total += high + max(after, one.getSpaceBefore() if total else 0.0)
            after = one.getSpaceAfter()
        return total

    def _logo(self) -> list[Any]:
        assert self.report.logo is not None
        image = self.platypus.Image(io.BytesIO(self.report.logo.data))
        scale = min(150.0 / image.imageWidth, 40.0 / image.imageHeight, 1.0)
        image.drawWidth, image.drawHeight = image.imageWidth * scale, image.imageHeight * scale
        image.hAlign = "LEFT"
        return [image, self.platypus.Spacer(1, 10)]

    def _chapter(self, number: int, chapter: Chapter, width: float) -> list[Any]:
        over = self.grid(
            [
                [
                    self.paragraph(f"{number}\u2002{chapter.topic}", self.style(0.82, 1.4, "data", bold=True)),
                    self.paragraph(chapter.about or " ", self.style(0.82, 1.4, "muted", alignment=2)),
                ]
            ],
            [width * 0.4, width * 0.6],
        )
        over.spaceBefore = _BETWEEN
        title = self.paragraph(chapter.title, self.style(1.65, 1.22, bold=True, spaceBefore=6, rightIndent=40))
        title.chapter = (number, chapter)
        found: list[Any] = [over, title]
        if chapter.deck:
            found.append(self.paragraph(chapter.deck, self.style(1.04, 1.5, "muted", spaceBefore=4, rightIndent=40)))
        return found + self.blocks(chapter.blocks, width)


def _quiet(text: str, size: float) -> str:
    """Markup of text in the second ink."""
    return f'<font name="Inter" size="{_BASE * size:.1f}" color="{_ink("muted")}">{escape(_said(text))}</font>'


def _several(report: Report) -> bool:
    return any(name == "Design B" for name, _ in report.facts)


def _counted(state: dict[str, Any], kind: str, value: object) -> None:
    """At the begin of each pass the pages of the one before are known."""
    del value
    if kind == "STARTED":
        state["pages"] = state.get("last", 0)


def _flat(parts: list[Any]) -> list[Any]:
    """Flowables inside a cell: groups that keep together are opened, since a cell cannot be divided anyway."""
    found: list[Any] = []
    for part in parts:
        content = getattr(part, "_content", None)
        if isinstance(part, list):
            found += _flat(part)
        elif content is not None and type(part).__name__ == "KeepTogether":
            found += _flat(list(content))
        else:
            found.append(part)
    return found


def _fitted(text: str, size: float, room: float) -> str:
    from designer.drawing.fonts import fitted_text

    return fitted_text(text, size, room)


def _widths(block: Table, width: float, size: float) -> list[float]:
    """Widths of columns: what their texts ask for, shrunk where they ask for too much."""
    asked: list[float] = []
    least: list[float] = []
    for k, head in enumerate(block.heads):
        longest, word = _asked(head.title, size * 0.92, True)
        if head.align == "right":
            longest = min(longest, 62.0)
        for row in block.rows[:200]:
            if row.style == "group" or k >= len(row.cells):
                continue
            cell = row.cells[k]
            if isinstance(cell, Picture):
                longest, word = max(longest, min(cell.width, 110.0) * _UNIT), max(word, 40.0)
                continue
            whole, piece = _asked(plain(cell), size, any(s.style in ("strong", "alarm") for s in cell))
            signed = 15.0 if any(s.sign for s in cell) else 0.0
            whole, piece = whole + signed, piece + signed
            longest = max(longest, whole)
            word = max(word, min(piece, 130.0))
        gap = 9.5 if k < len(block.heads) - 1 else 0.5
        if head.align == "right":
            word = min(longest, 110.0)
        asked.append(min(longest, 330.0) + gap)
        least.append(min(word + 2, longest) + gap)
    total = sum(asked)
    if total <= width:
        # what is left goes to columns of text
        texts = [k for k, h in enumerate(block.heads) if h.align != "right"] or list(range(len(asked)))
        more = (width - total) / len(texts)
        return [a + (more if k in texts else 0.0) for k, a in enumerate(asked)]
    over = total - width
    slack = [a - b for a, b in zip(asked, least, strict=True)]
    room = sum(slack)
    if room <= 0 or over > room:
        return [a * width / sum(least) for a in least]
    return [a - over * s / room for a, s in zip(asked, slack, strict=True)]


def _asked(text: str, size: float, bold: bool) -> tuple[float, float]:
    """Width of a whole text and of its longest word."""
    text = text[:300]
    return text_width(text, size, bold), max((text_width(w, size, bold) for w in re.split(r"[ \n]", text)), default=0.0)


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
