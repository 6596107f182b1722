"""Reports as one HTML file: nothing is fetched, light and dark, screen and print."""

from __future__ import annotations

import base64
import re
from importlib import import_module
from typing import Any, Final

from designer.errors import ReportError
from designer.plain_text import harmless, shortened
from designer.report.document import Cell, Drawing, Inline, Report, Span, Text
from designer.report.drawing.elements import NARROW, Picture, text_size
from designer.report.drawing.svg import inline_svg
from designer.report.inks import INKS, recoloured
from designer.report.renderers.legend import LEGEND
from designer.resources import assets

#: names and texts of others are cut here
_LONGEST: Final = 600
#: words with a hyphen that hold a digit or a capital after it: names of products, not words of a sentence
_PRODUCT: Final = re.compile(r"((?<![\w-])(?=[\w-]{0,23}(?:\d|-[A-Z]))\w+(?:-\w+)+(?![\w-]))")
#: width of the text on a wide screen, and the least size of texts that are read there [CSS px]
_COLUMN: Final = 783.0
_READABLE: Final = 10.5
_SAFE_LINKS: Final = ("#", "https://", "http://")


def to_html(report: Report) -> str:
    """The report as one self-contained page.

    Raises
    ------
    ReportError
        If Jinja2 is not installed.
    """
    try:
        jinja2 = import_module("jinja2")
        markup = import_module("markupsafe").Markup
    except ImportError as error:
        raise ReportError("HTML reports need Jinja2", remedy="pip install jinja2, or write PDF") from error
    environment: Any = jinja2.Environment(
        loader=jinja2.PackageLoader("designer.report.renderers", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    writer = _Writer(report, markup)
    environment.globals |= {
        "inline": writer.inline,
        "whole": writer.whole,
        "cell": writer.cell,
        "drawing": writer.drawing,
        "reading_width": reading_width,
        "strip": writer.strip,
        "kind": _kind,
        "sign": writer.sign,
    }
    environment.filters["said"] = _safe_text
    page = environment.get_template("page.html.jinja")
    return page.render(
        report=report,
        legend=LEGEND,
        inks=_inks(report),
        fonts=[(weight, _font(name)) for weight, name in ((400, "Inter-Regular"), (600, "Inter-SemiBold"))],
        logo=(
            f"data:{report.logo.kind};base64,{base64.b64encode(report.logo.data).decode('ascii')}"
            if report.logo
            else ""
        ),
    )


def _kind(block: object) -> str:
    return type(block).__name__


def reading_width(picture: Picture) -> int:
    """How wide a drawing is once its texts are read; 0 where they are at its width in the column [CSS px]."""
    size = text_size(picture)
    if picture.width <= NARROW or not size or size * _COLUMN / picture.width >= 0.8 * _READABLE:
        return 0
    return round(picture.width * _READABLE / size)


def _inks(report: Report) -> list[tuple[str, str, str]]:
    return [(name, *pair) for name, pair in (*INKS.items(), *report.colours.items())]


def _font(name: str) -> str:
    return base64.b64encode((assets() / "fonts" / f"{name}.woff2").read_bytes()).decode("ascii")


def _safe_text(text: str) -> str:
    """Text of others, without what would be obeyed instead of shown."""
    return shortened(harmless(text), _LONGEST)


class _Writer:
    """Makes markup of spans and pictures; every text passes the escaping of its template engine."""

    def __init__(self, report: Report, markup: Any) -> None:
        self.report = report
        self.markup = markup
        self.count = 0
        self.keys = {chapter.key for chapter in report.chapters}

    def inline(self, text: Inline) -> Any:
        """Spans as markup."""
        spans: Text = (Span(text),) if isinstance(text, str) else (text,) if isinstance(text, Span) else text
        return self.markup("").join(self._span(span) for span in spans)

    def whole(self, title: str) -> Any:
        """A title, in which names such as ``8-GPU`` and ``DGX-1`` are not broken at their hyphens."""
        pieces = _PRODUCT.split(_safe_text(title))
        kept = self.markup('<span class="whole">{}</span>')
        return self.markup("").join(kept.format(p) if n % 2 else self.markup.escape(p) for n, p in enumerate(pieces))

    def _span(self, span: Span) -> Any:
        body = self.markup.escape(_safe_text(span.text))
        if span.sign:
            body = self.markup('<span class="v">{}{}</span>').format(self.sign(span.sign), body)
        if span.link.startswith(_SAFE_LINKS):
            body = self.markup('<a href="{}">{}</a>').format(span.link, body)
        return self.markup('<span class="{}">{}</span>').format(span.style, body) if span.style else body

    def sign(self, name: str) -> Any:
        """A drawn sign."""
        return self.markup(SIGNS.get(name, ""))

    def cell(self, cell: Cell) -> Any:
        """What is in a cell of a table."""
        return self.strip(cell) if isinstance(cell, Picture) else self.inline(cell)

    def drawing(self, block: Drawing) -> Any:
        """A drawing in the colours of the page."""
        return self._svg(
            block.picture, block.stated or block.title or "drawing", "wide" if block.picture.width > 400 else ""
        )

    def strip(self, picture: Picture | None) -> Any:
        """A small ornament whose numbers stand next to it."""
        return self._svg(picture, "", "strip") if picture is not None else ""

    def _svg(self, picture: Picture, stated: str, kind: str) -> Any:
        self.count += 1
        known = self.report.colours

        def ink(name: str) -> str:
            return f"var(--{name})" if name in INKS or name in known else "currentColor"

        return self.markup(inline_svg(recoloured(picture, ink), f"d{self.count}-", _safe_text(stated), kind))


# Small signs in front of words: verdicts and how sure a value is. They differ in shape, not in colour alone.

_OPEN: Final = '<svg viewBox="0 0 12 12" aria-hidden="true" class="sign">'
_CHECK: Final = '<path d="M3.2 6.2 5.2 8.3 8.9 4" fill="none" stroke="{0}" stroke-width="1.6"/>'


def _sign(*shapes: str) -> str:
    return f"{_OPEN}{''.join(shapes)}</svg>"


#: drawn in the colour of their text
SIGNS: Final = {
    "met": _sign('<circle cx="6" cy="6" r="5.6" fill="currentColor"/>', _CHECK.format("var(--on)")),
    "likely": _sign(
        '<circle cx="6" cy="6" r="5" fill="none" stroke="currentColor" stroke-width="1.2"/>',
        _CHECK.format("currentColor"),
    ),
    "unlikely": _sign(
        '<path d="M6 .9 11.6 11H.4Z" fill="none" stroke="currentColor" stroke-width="1.2" stroke-linejoin="round"/>',
        '<path d="M6 4.4v3.2M6 8.7v1.1" stroke="currentColor" stroke-width="1.2"/>',
    ),
    "not met": _sign(
        '<rect x=".6" y=".6" width="10.8" height="10.8" rx="1" fill="currentColor"/>',
        '<path d="M3.6 3.6 8.4 8.4M8.4 3.6 3.6 8.4" stroke="var(--on)" stroke-width="1.5"/>',
    ),
    "primary": _sign('<circle cx="6" cy="6" r="4" fill="currentColor"/>'),
    "secondary": _sign(
        '<circle cx="6" cy="6" r="3.9" fill="none" stroke="currentColor" stroke-width="1.1"/>',
        '<path d="M6 2.1a3.9 3.9 0 0 0 0 7.8Z" fill="currentColor"/>',
    ),
    "derived": _sign(
        '<circle cx="6" cy="6" r="3.9" fill="none" stroke="currentColor" stroke-width="1.1"/>',
        '<circle cx="6" cy="6" r="1.8" fill="currentColor"/>',
    ),
    "unverified": _sign('<circle cx="6" cy="6" r="3.9" fill="none" stroke="currentColor" stroke-width="1.1"/>'),
    "assumed": _sign(
        '<circle cx="6" cy="6" r="3.9" fill="none" stroke="currentColor" stroke-width="1.2" stroke-dasharray="2 1.6"/>'
    ),
    "error": _sign('<rect x="1" y="1" width="10" height="10" rx="1" fill="currentColor"/>'),
    "warning": _sign('<path d="M6 1 11.4 11H.6Z" fill="currentColor"/>'),
    "info": _sign('<circle cx="6" cy="6" r="4.6" fill="none" stroke="currentColor" stroke-width="1.2"/>'),
}
