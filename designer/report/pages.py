"""Pages as blocks of a report: the same headline, figures, limits and shares as in the terminal and the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from designer.engine.results import WorkloadResult
from designer.pages.suggest import page_of_suggestions
from designer.pages.workload import page_of
from designer.present.answer import Answer
from designer.present.blocks import Figure, Page, Tone
from designer.present.blocks import Table as PageTable
from designer.report.chapter import muted, sources, strong, text
from designer.report.charts.bars import Share, Whole, shares
from designer.report.charts.figures import charts
from designer.report.charts.strip import band_strip, margin_strip
from designer.report.document import (
    Align,
    Block,
    Chapter,
    Drawing,
    Follows,
    Head,
    KeyFigure,
    Row,
    Span,
    Table,
    Text,
    rich,
)
from designer.report.subject import Context, Subject
from designer.report.wording import NBSP, continued
from designer.sources import Estimate

#: inks of the parts of a whole, of which the first limits
_INKS = ("data", "data2", "band", "band2", "muted", "quiet")
_STYLES = {Tone.GOOD: "ok", Tone.WARNING: "warn", Tone.BAD: "alarm"}


def pages_of(subject: Subject, results: Sequence[WorkloadResult]) -> list[Page]:
    """The pages of some results."""
    return [page_of(w, subject.design) for w in results]


def name_of(page: Page, subject: Subject) -> str:
    """The workload of a page, without the design."""
    return page.subject.removesuffix(f", on {subject.design.title or subject.design.name}")


def short_name(page: Page, pages: Sequence[Page], subject: Subject) -> str:
    """The workload of a page up to its first comma, where that distinguishes it from the others."""
    name = name_of(page, subject)
    short = name.split(",")[0]
    return short if sum(name_of(one, subject).split(",")[0] == short for one in pages) == 1 else name


def titled(page: Page, subject: Subject) -> str:
    """The headline of a page as the title of a chapter: ``ResNet-50: trains in 36 min``."""
    return f"{name_of(page, subject)}: {continued(page.headline)}".removesuffix(".")


def key_figure(figure: Figure, subject: Subject, workload: str, label: str = "") -> KeyFigure:
    """A figure with its strip and verdict."""
    found = Estimate(figure.at, figure.low, figure.high, "1")
    target = next((t for t in subject.targets if (t.workload, t.metric) == (workload, figure.name) and t.verdict), None)
    if target is not None and target.verdict is not None:
        strip = margin_strip(found, target.comparison, target.value, target.verdict, named=True)
    else:
        strip = band_strip(found)
    verdict: Text = rich(Span(figure.verdict, _STYLES.get(figure.tone, ""))) if figure.verdict else ()
    stated = figure.target or figure.note
    band = f"80%{NBSP}band {figure.band}" if figure.band else "exact" if figure.low == figure.high else ""
    return KeyFigure(
        label or figure.title,
        figure.value.replace(" ", NBSP),
        figure.unit,
        band,
        strip,
        rich(*muted(stated), " ", *verdict) if verdict else muted(stated),
    )


def figures_table(pages: Sequence[Page], subject: Subject, more: Sequence[tuple[Figure, ...]] = ()) -> Table:
    """The key figures of pages, under the name of each where there are several; then `more` of each."""
    rows: list[Row] = []
    for page, others in zip(pages, more or [()] * len(pages), strict=True):
        if len(pages) > 1:
            rows.append(Row((strong(name_of(page, subject)),), "group"))
        known = {f.name for f in page.figures}
        for f in (*page.figures, *(replace(f, note="") for f in others if f.name not in known)):
            note = rich(
                *muted(f.target or f.note), *([Span(f" {f.verdict}", _STYLES.get(f.tone, ""))] if f.verdict else [])
            )
            value = f"{f.value} {f.unit}".strip().replace(" ", NBSP)
            rows.append(Row((text(f.title), text(value, "strong"), muted(f.band), note)))
    r = Align.RIGHT
    return Table("Key figures", (Head("Figure"), Head("Value", r), Head("80% band", r), Head("")), tuple(rows))


def where_drawing(pages: Sequence[Page], subject: Subject) -> Drawing | None:
    """Where the time (or the memory) goes, a bar for each whole."""
    wholes: list[Whole] = []
    titled = dict.fromkeys(s.title for page in pages for stack in page.where for s in stack.shares if not s.limits)
    inks = dict(zip(titled, _INKS, strict=False))
    for page in pages:
        for stack in page.where:
            parts = tuple(
                Share(s.title, s.share, s.text.replace(" ", NBSP), "alarm" if s.limits else inks.get(s.title, "quiet2"))
                for s in stack.shares
            )
            name = short_name(page, pages, subject)
            label, detail = (name, f"{stack.title}, {stack.total}") if len(pages) > 1 else (stack.title, stack.total)
            wholes.append(Whole(label, detail, parts))
    titles = [page.where_title for page in pages if page.where]
    return Drawing(shares(wholes), titles[0], titles[0]) if wholes else None


def limits_table(pages: Sequence[Page], subject: Subject) -> Table | None:
    """What limits now and what would next, with the gain of doubling it."""
    rows: list[Row] = []
    for page in pages:
        missed = subject.missed(page.key)
        for n, one in enumerate(page.limits):
            name = name_of(page, subject) if len(pages) > 1 and n == 0 else ""
            title = text(one.title, "alarm" if one.now and missed else "strong" if one.now else "")
            rows.append(Row((strong(name), text(one.when), title, muted(one.detail), text(one.gain or "–"))))
    if not rows:
        return None
    heads = (Head("Workload"), Head(""), Head("What limits"), Head("How many"), Head("Twice as fast", Align.RIGHT))
    if len(pages) == 1:
        heads, rows = heads[1:], [Row(row.cells[1:]) for row in rows]
    return Table("What limits it", heads, tuple(rows))


def first_limits(page: Page, subject: Subject, most: int = 3) -> Table | None:
    """The first lines of what limits one workload, for a narrow column."""
    missed = subject.missed(page.key)
    rows = [
        Row(
            (
                rich(
                    Span(one.title, "alarm" if one.now and missed else "strong" if one.now else ""),
                    Span(f", {one.when}" if one.when not in ("now", "then") else "", "muted"),
                ),
                muted(one.detail),
                text(one.gain or "–"),
            )
        )
        for one in page.limits[:most]
    ]
    heads = (Head("Part"), Head("How many"), Head("Twice as fast", Align.RIGHT))
    return Table("What limits it", heads, tuple(rows), small=True) if rows else None


def suggested(subject: Subject, results: Sequence[WorkloadResult]) -> list[Page]:
    """The pages of what `suggest` found for some results; only of those it was asked for."""
    return [
        page_of_suggestions(subject.suggestions[w.id], subject.design) for w in results if w.id in subject.suggestions
    ]


def follows(results: Sequence[WorkloadResult], subject: Subject) -> tuple[Follows, ...]:
    """What to do about the workloads that changes were sought for; nothing for others."""
    said: list[Text] = []
    for page in suggested(subject, results):
        name = next((w.title for w in subject.results if w.id == page.key), page.key)
        steps = [one for one in page.changes if one.edit is not None]
        if steps:
            said.append(
                rich(f"{name}: {continued(steps[0].title)} ({steps[0].detail}, {steps[0].gain}). {page.headline}")
            )
        else:
            said.append(rich(f"{page.headline} {' '.join(page.remarks)}".strip()))
    return (Follows(tuple(said)),) if said else ()


def answer_chapter(
    context: Context,
    subject: Subject,
    name: str,
    topic: str,
    question: str,
    results: Sequence[WorkloadResult],
    *,
    first: Sequence[Block] = (),
    figures: Sequence[str] = (),
    more: Sequence[str] = (),
    then: Sequence[Block] = (),
) -> Chapter | None:
    """A chapter about some workloads: their pages, with charts; None where there are none.

    Parameters
    ----------
    name
        Key of the chapter, without the letter of the design.
    first, then
        Blocks before everything else, and before what follows.
    figures
        Names of figures that are drawn.
    more
        Metrics that are listed in addition to the key figures.
    """
    if not results:
        return None
    pages = pages_of(subject, results)
    where = where_drawing(pages, subject)
    limits = limits_table(pages, subject)
    blocks = [
        *first,
        *([where] if where is not None else []),
        *charts(subject, results, figures),
        figures_table(pages, subject, [Answer(w, subject.design).figures(tuple(more), len(more)) for w in results]),
        *([limits] if limits is not None else []),
        *then,
        *follows(results, subject),
    ]
    said = " ".join(f"{name_of(page, subject)}: {page.headline}" for page in pages[1:4])
    keys = [k for w in results for e in w.metrics.values() for k in e.sources]
    deck = rich(f"{said} " if said else "", *sources(context, keys))
    return Chapter(
        context.key(name, subject),
        topic,
        titled(pages[0], subject),
        question,
        tuple(blocks),
        deck,
        context.lettered(subject),
    )


def table_of(table: PageTable, title: str, most: int) -> Table:
    """The first rows of a table of a page, under another title."""
    heads = tuple(Head(c.title, Align.RIGHT if c.number else Align.LEFT) for c in table.columns)
    rows = tuple(Row((strong(row[0]), *(text(cell or "–") for cell in row[1:]))) for row in table.rows[:most])
    aside = f"the worst {most} of {len(table.rows):,}" if len(table.rows) > most else "worst first"
    return Table(title, heads, rows, aside)
