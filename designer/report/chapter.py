"""What a chapter of the report is to the rest: its name, its place, and what makes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from designer.present import words
from designer.registry import discover
from designer.report.document import Chapter, Span, Text, rich
from designer.report.subject import Context, Subject
from designer.report.wording import continued
from designer.sources import Status


@dataclass(frozen=True, slots=True)
class ChapterKind:
    """A chapter that a report can have; exactly one of the two makers is there.

    Parameters
    ----------
    of_design
        Makes it once for each design; None where a design has nothing for it.
    of_report
        Makes it once for the whole report.
    """

    name: str
    title: str
    order: int
    of_design: Callable[[Context, Subject], Chapter | None] | None = None
    of_report: Callable[[Context], Chapter | None] | None = None


def chapter_kinds() -> Mapping[str, ChapterKind]:
    """All chapters by name."""
    return discover("designer.report.chapters", "CHAPTER", ChapterKind)


# Cells and spans that chapters write again and again.


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
