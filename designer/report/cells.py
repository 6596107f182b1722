"""Cells and spans that chapters write again and again."""

from __future__ import annotations

from collections.abc import Iterable

from designer.present import words
from designer.report.document import Span, Text, rich
from designer.report.subject import Context
from designer.report.wording import continued
from designer.sources import Status


def metric_title(name: str) -> str:
    """A metric in words, inside a sentence."""
    return continued(words.metric_title(name))


def text(value: str, style: str = "") -> Text:
    """One span."""
    return rich(Span(value, style)) if value else ()


def strong(value: str) -> Text:
    """Semi-bold."""
    return text(value, "strong")


def muted(value: str) -> Text:
    """In the second ink."""
    return text(value, "muted")


def sure(status: Status | str) -> Text:
    """How sure a value is: sign and word."""
    name = str(status)
    return rich(Span(name, "assumed" if name in ("unverified", "assumed") else "", sign=name))


def sources(context: Context, keys: Iterable[str], most: int = 6) -> Text:
    """Superscript numbers of sources, linked."""
    numbers = sorted({n for k in keys if (n := context.number_of_source(k))})[:most]
    spans: list[Span] = []
    for k, n in enumerate(numbers):
        spans.append(Span(("," if k else "") + str(n), "source", link=f"#source-{n}"))
    return tuple(spans)


def chapter_link(context: Context, key: str) -> Text:
    """A reference to a chapter, where it is there; chapters in front of the summary count from one."""
    number = context.numbers.get(key)
    return rich(Span(f"Chapter\u00a0{number}", link=f"#{key}")) if number else ()
