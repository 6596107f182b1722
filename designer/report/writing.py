"""A report as a file: which formats there are, by the end of its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from designer.report.document import Report


def rendered(report: Report, suffix: str) -> bytes:
    """A report as a file of one of the formats holds it: ``.html``, ``.pdf`` or ``.md``."""
    return REPORTS[suffix.lower()](report)


def _html(report: Report) -> bytes:
    from designer.report.renderers.html import to_html

    return to_html(report).encode("utf-8", "replace")


def _pdf(report: Report) -> bytes:
    from designer.report.renderers.pdf import to_pdf

    return to_pdf(report)


def _markdown(report: Report) -> bytes:
    from designer.report.renderers.markdown import to_markdown

    return to_markdown(report).encode("utf-8", "replace")


#: how a report is written, by the end of the name of its file
REPORTS: Final[Mapping[str, Callable[[Report], bytes]]] = {".html": _html, ".pdf": _pdf, ".md": _markdown}
