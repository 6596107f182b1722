"""Reports as PDF: A4, contents with page numbers, bookmarks, links, vector drawings, text that can be selected."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final
from xml.sax.saxutils import escape

from designer.drawing.fonts import fitted_text
from designer.errors import ReportError
from designer.report.document import Chapter, Drawing, Report
from designer.report.renderers.legend import LEGEND
from designer.report.renderers.pdf_blocks import SHEETS, TITLE, Blocks, opened, quiet, said, shown_scale
from designer.report.renderers.pdf_columns import WIDTH
from designer.report.renderers.pdf_sheets import (
    ACROSS,
    UPRIGHT,
    Sheet,
    draw_legend,
    draw_sheet,
    holds,
    legend_of,
    place_of,
    sheets_of,
    without_legend,
)
from designer.report.renderers.pdf_sheets import LEGEND as LEGEND_ROW

#: height of the text area [points]; between chapters on one page; a long chapter begins where so much of it is left
_FRAME: Final = 719.89
_BETWEEN: Final = 34.0
_ENOUGH: Final = 0.42
#: an upright page and its margins [points]
_PAGE: Final = (595.28, 841.89)
_LEFT, _RIGHT, _TOP, _FOOT = 51.0, 51.0, 71.0, 51.0
#: between the title and the chapters at the head of a page [points]
_APART: Final = 24.0
#: frames without padding
_BARE: Final = {"leftPadding": 0, "rightPadding": 0, "topPadding": 0, "bottomPadding": 0}
#: between the head of a page and a sheet, at most [points]
_CLEAR: Final = 18.0
#: what is in the place of a chapter's number for the sheets at the end
_ANNEX: Final = "A"


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


class _Margins:
    """Heads and feet of pages: the chapters that begin on a page, the title of the report, numbers of pages."""

    def __init__(self, book: _Book) -> None:
        self._book = book
        #: chapters that begin on this page, else the one that goes on
        self._topics = [""]
        self._begun = False
        #: pages of this pass, and of the one before
        self._last = self._pages = 0

    def enter(self, number: int | str, chapter: Chapter) -> None:
        """A chapter begins on this page."""
        topic = f"{number}  {chapter.topic}" if number else chapter.topic
        self._topics = [*(self._topics if self._begun else []), topic]
        self._begun = True

    def count(self, kind: str, value: object) -> None:
        """At the begin of each pass the pages of the one before are known."""
        del value
        if kind == "STARTED":
            self._pages = self._last

    def cover(self, canvas: Any, document: Any) -> None:
        """The foot."""
        del document
        with _small_text(canvas, "Inter", self._book.colour("muted")):
            canvas.drawString(_LEFT, 30, self._book.report.foot)

    def end_page(self, canvas: Any, document: Any) -> None:
        """The number of the page; at the head of all but the first the title of the report, and the chapters on it."""
        number = canvas.getPageNumber()
        wide, high = document.pageTemplate.pagesize
        with _small_text(canvas, "Inter-SemiBold", self._book.colour("ink")):
            canvas.drawRightString(wide - _RIGHT, 30, f"{number} / {self._pages or number}")
            if number > 1:
                canvas.setFont("Inter", 7.2)
                canvas.setFillColor(self._book.colour("muted"))
                topics = "  ·  ".join(self._topics)
                canvas.drawRightString(wide - _RIGHT, _head((wide, high)), topics)
                room = wide - _LEFT - _RIGHT - canvas.stringWidth(topics, "Inter", 7.2) - _APART
                title = f"{said(self._book.report.title)} · Design report"
                canvas.drawString(_LEFT, _head((wide, high)), fitted_text(title, 7.2, room))
        self._last, self._begun, self._topics = number, False, self._topics[-1:]


@contextmanager
def _small_text(canvas: Any, font: str, colour: Any) -> Generator[None]:
    """Small text in a font and a colour, which the canvas forgets afterwards."""
    canvas.saveState()
    canvas.setFont(font, 7.2)
    canvas.setFillColor(colour)
    yield
    canvas.restoreState()


class _Book(Blocks):
    """The cover, contents and chapters of a report on pages."""

    def bytes(self) -> bytes:
        """The finished file."""
        templates: Any = import_module("reportlab.platypus.doctemplate")
        contents: Any = import_module("reportlab.platypus.tableofcontents")
        report, margins = self.report, _Margins(self)
        out = io.BytesIO()
        document = self._document_class(templates, margins)(
            out,
            pagesize=_PAGE,
            title=said(report.title),
            author="",
            subject="Design report",
            lang=report.language,
            creator="designer",
            invariant=1,
            initialFontName="Inter",
        )
        document.addPageTemplates(_page_templates(templates, margins))
        toc = contents.TableOfContents(dotsMinLevel=-1)
        toc.levelStyles = [self.style(0.95, 1.75, leftIndent=0)]
        document.setProgressCallBack(margins.count)
        document.multiBuild(self._story(toc), maxPasses=8)
        return out.getvalue()

    def _document_class(self, templates: Any, margins: _Margins) -> Any:
        report = self.report

        class Document(templates.BaseDocTemplate):  # type: ignore[misc, name-defined]
            """Enters chapters in the table of contents as they are placed."""

            def afterFlowable(self, flowable: Any) -> None:
                stated = getattr(flowable, "chapter", None)
                if stated is None:
                    return
                number, chapter = stated
                margins.enter(number, chapter)
                self.canv.bookmarkPage(chapter.key)
                title = f"{number}  {chapter.topic}: {chapter.title}" if number else chapter.title
                self.canv.addOutlineEntry(said(title)[:200], chapter.key, 0, False)
                if number:
                    about = (
                        f"  ·  {said(chapter.about.split(' · ')[0])}" if _side_by_side(report) and chapter.about else ""
                    )
                    topic = escape(chapter.topic)
                    asked = quiet(chapter.question + about, 0.92)
                    text = f"<b>{number}</b>&nbsp;&nbsp;&nbsp;<b>{topic}</b>&nbsp;&nbsp;&nbsp;{asked}"
                    self.notify("TOCEntry", (0, text, self.page, chapter.key))

        return Document

    def _story(self, toc: Any) -> list[Any]:
        report, p = self.report, self.platypus
        width = WIDTH
        facts = [
            [self.paragraph(n, self.style(0.83, 1.4, "muted")), self.paragraph(t, self.style(0.83, 1.4))]
            for n, t in report.facts
        ]
        title: list[Any] = []
        if report.logo is not None:
            title += self._logo()
        title += [
            self.paragraph("Design report", self.style(0.82, 1.4, "data", bold=True)),
            self.paragraph(said(report.title, TITLE), self.style(2.3, 1.15, bold=True, spaceBefore=2)),
        ]
        if report.subtitle:
            title.append(
                self.paragraph(said(report.subtitle, 2 * TITLE), self.style(1.04, 1.4, "muted", spaceBefore=5))
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
            said(report.summary.title, 2 * TITLE), self.style(1.7, 1.25, bold=True, spaceBefore=14, spaceAfter=4)
        )
        verdict.chapter = (0, report.summary)
        story: list[Any] = [p.NextPageTemplate("later"), cover, verdict]
        if report.summary.deck:
            story.append(self.paragraph(report.summary.deck, self.style(1.06, 1.5, "muted")))
        story += self.blocks(report.summary.blocks, width)
        front = [
            self.paragraph("Contents", self.style(0.82, 1.4, "data", bold=True, spaceBefore=_BETWEEN)),
            self.paragraph("How this report is built", self.style(1.65, 1.22, bold=True, spaceBefore=5)),
            self.paragraph(
                "Every chapter opens with its answer; read the titles alone and you have read the report.",
                self.style(1.06, 1.5, "muted", spaceBefore=4, spaceAfter=10),
            ),
        ]
        legend = self.block(LEGEND, width)
        # the contents go below a first page that goes on, else on a page of their own
        lines = len(report.chapters) + 1
        high = self._height([*front, *legend], width) + lines * self.style(0.95, 1.75).leading
        story += [p.CondPageBreak(min(high + _BETWEEN, _FRAME)), *front, toc, *legend]
        for number, chapter in report.numbered():
            made = self._chapter(number, chapter, width)
            # a chapter that fits below the one before goes there; a long one begins where much of a page is left
            whole = self._height(made, width) + _BETWEEN
            room = min(whole, max(_FRAME * _ENOUGH, self._opening_height(made, width))) if number > 1 else _FRAME
            story += [p.PageBreak() if number == 1 else p.CondPageBreak(room), *made]
        return story + self._sheets()

    def _sheets(self) -> list[Any]:
        """Drawings that are too small where they are placed, on pages of their own."""
        p = self.platypus
        found: list[Any] = []
        for block in self.large:
            pieces = sheets_of(block.picture, shown_scale(block.picture, WIDTH))
            for sheet in pieces:
                page = self._sheet(block, sheet)
                if not found:
                    title = f"{len(pieces)} sheets to be read on paper" if len(pieces) > 1 else "To be read on paper"
                    page.chapter = (_ANNEX, Chapter(SHEETS, "Drawing, large", title, "What is each part called?", ()))
                found += [p.NextPageTemplate("upright" if sheet.area == UPRIGHT else "across"), p.PageBreak(), page]
        return found

    def _sheet(self, block: Drawing, sheet: Sheet) -> Any:
        """One piece of a drawing as a flowable that fills its page."""
        picture, ink = self.coloured(block.picture), self.colour("muted")
        place, legend = place_of(sheet), legend_of(picture)
        repeated = legend if legend is not None and not holds(sheet, legend) else None
        drawn = picture if repeated is None else without_legend(picture)
        stated = f"{said(block.stated, TITLE)}{f' · {place}' if place else ''}"

        class Piece(self.platypus.Flowable):  # type: ignore[misc, name-defined]
            """Draws the piece, and what it is above it."""

            def wrap(self, room: float, height: float) -> tuple[float, float]:
                return sheet.area

            def draw(self) -> None:
                page = self.canv
                # clear of the head of the page where the piece leaves room
                page.translate(0, -min(_CLEAR, sheet.area[1] - sheet.height * sheet.scale))
                page.setFont("Inter", 7.5)
                page.setFillColor(ink)
                page.drawString(0, sheet.area[1] + (LEGEND_ROW + 4 if repeated else 6), stated)
                if repeated is not None:
                    page.saveState()
                    page.translate(0, sheet.area[1] + 4)
                    draw_legend(page, repeated, sheet.scale, sheet.area[0])
                    page.restoreState()
                page.translate(0, sheet.area[1] - sheet.height * sheet.scale)
                draw_sheet(page, drawn, sheet)

        return Piece()

    def _height(self, flowables: list[Any], width: float) -> float:
        """What flowables take below each other, whole pages or not [pt]."""
        total = after = 0.0
        canvas: Any = import_module("reportlab.pdfgen.canvas").Canvas(io.BytesIO())
        # groups that keep together state no height before they are placed
        for one in opened(flowables):
            if type(one).__name__ == "CondPageBreak":
                continue
            _, high = one.wrapOn(canvas, width, 10 * _FRAME)
            total += high + max(after, one.getSpaceBefore() if total else 0.0)
            after = one.getSpaceAfter()
        return total

    def _opening_height(self, made: list[Any], width: float) -> float:
        """The title of a chapter with the first that is below it, as far as that is not divided [pt]."""
        kinds = [type(one).__name__ for one in made]
        first = next((k for k, kind in enumerate(kinds) if k > 1 and kind != "Paragraph"), len(made) - 1)
        if kinds[first] == "CondPageBreak":
            return self._height(made[:first], width) + made[first].height + _BETWEEN
        return self._height(made[: first + 1], width) + _BETWEEN

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


def _page_templates(templates: Any, margins: _Margins) -> list[Any]:
    """The cover, later pages, and sheets for large drawings."""
    frames: Any = import_module("reportlab.platypus.frames")

    def upright(name: str, high: float, begin: Callable[[Any, Any], None]) -> Any:
        frame = frames.Frame(_LEFT, _FOOT, _PAGE[0] - _LEFT - _RIGHT, _PAGE[1] - _FOOT - high, **_BARE)
        return templates.PageTemplate(name, [frame], onPage=begin, onPageEnd=margins.end_page, pagesize=_PAGE)

    def sheet(name: str, area: tuple[float, float], size: tuple[float, float]) -> Any:
        frame = frames.Frame((size[0] - area[0]) / 2, _FOOT - 8, area[0], area[1] + 1, **_BARE)
        begin, end = margins.cover, margins.end_page
        return templates.PageTemplate(name, [frame], onPage=begin, onPageEnd=end, pagesize=size)

    return [
        upright("front", 48.0, margins.cover),
        upright("later", _TOP, margins.cover),
        sheet("across", ACROSS, (_PAGE[1], _PAGE[0])),
        sheet("upright", UPRIGHT, _PAGE),
    ]


def _head(page: tuple[float, float]) -> float:
    """Height of the running head: higher on sheets across, which have a legend below it [points]."""
    wide, high = page
    return high - (32 if wide > high else 46)


def _side_by_side(report: Report) -> bool:
    return any(name == "Design B" for name, _ in report.facts)
