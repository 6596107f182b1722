"""Sources: every figure leads to one, with how sure it is."""

from __future__ import annotations

from designer.report.chapter import ChapterKind, muted, sure, text
from designer.report.document import Align, Chapter, Head, Row, Span, Table, rich
from designer.report.subject import Context
from designer.report.wording import in_words, percent, sentence

#: most characters of a locator within a source
_PLACE = 150


def build(context: Context) -> Chapter:
    """The chapter."""
    rows: list[Row] = []
    for n, source in enumerate(context.sources, start=1):
        link = source.url if source.url.startswith(("https://", "http://")) else ""
        title = Span(source.title, "strong", link=link)
        place = _shortened(" · ".join(p for p in (source.publisher, source.locator) if p))
        rows.append(
            Row(
                (
                    muted(str(n)),
                    rich(title, Span(f" {source.key}", "muted")),
                    muted(place),
                    sure(source.status),
                    text(str(context.used.get(source.key, 0))),
                ),
                key=f"source-{n}",
            )
        )
    used = context.used
    total = sum(used.values()) or 1
    unsure = [s for s in context.sources if not s.status.is_sure]
    share = sum(used.get(s.key, 0) for s in unsure) / total
    named = ", ".join(s.title.lower() for s in unsure[:2])
    stated = rich(
        f"{percent(share)} of the references from figures lead to assumed or unverified sources: {named}."
        if unsure
        else "No reference from a figure leads to an assumed or unverified source."
    )
    heads = (Head("No."), Head("Source"), Head("Where in it"), Head("How sure"), Head("Figures", Align.RIGHT))
    title = f"{sentence(in_words(len(context.sources), 'source carries', 'sources carry'))} every figure"
    title += f"; {in_words(len(unsure), 'of them is', 'of them are')} assumed or unverified"
    return Chapter(
        "sources",
        "Sources",
        title,
        "What does it rest on?",
        (Table("", heads, tuple(rows), small=True, note=stated),),
        rich("Numbers in the text lead here; the last column counts the figures that rest on a source."),
    )


def _shortened(place: str) -> str:
    return place if len(place) <= _PLACE else place[:_PLACE].rsplit(" ", 1)[0] + " …"


CHAPTER = ChapterKind("sources", "Sources", 900, of_report=build)
