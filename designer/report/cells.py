"""Cells and spans that chapters write again and again."""

from __future__ import annotations

from collections.abc import Iterable

from designer.engine.results import WorkloadResult
from designer.present import words
from designer.report.document import Span, Text, rich
from designer.report.subject import Context
from designer.report.wording import continued, per_second
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


def images(result: WorkloadResult) -> bool:
    """True if the samples of a workload are images rather than sequences."""
    return result.kind == "training" and "tokens_per_second" not in result.metrics


def per(result: WorkloadResult, metric: str) -> str:
    """What a metric of a workload counts per second."""
    return per_second(metric, images(result))


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
