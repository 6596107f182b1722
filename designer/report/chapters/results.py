"""Collectives and whatever else has no chapter of its own: figures with bands, curves, tables."""

from __future__ import annotations

from designer.analysis.results import WorkloadResult
from designer.report.cells import sources
from designer.report.chapter import ChapterKind
from designer.report.charts.lines import Trace, lines
from designer.report.document import Beside, Block, Chapter, Drawing, rich
from designer.report.pages import figures_table, follows, limits_table, pages_of, titled, where_drawing
from designer.report.subject import Context, Subject, is_served
from designer.report.wording import sentence, split
from designer.units import format_quantity

#: kinds with chapters of their own
_ELSEWHERE = ("training", "migration", "transfer")


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where every workload has another."""
    others = [w for w in subject.results if w.kind not in _ELSEWHERE and not is_served(w)]
    if not others:
        return None
    blocks: list[Block] = []
    for w in others[:4]:
        charts = _charts(w)
        if charts is not None:
            blocks.append(charts)
    pages = pages_of(subject, others)
    where = where_drawing(pages, subject)
    if where is not None:
        blocks.append(where)
    blocks.append(figures_table(pages, subject))
    limits = limits_table(pages, subject)
    if limits is not None:
        blocks.append(limits)
    blocks += follows(others, subject)
    keys = [k for w in others for e in w.metrics.values() for k in e.sources]
    return Chapter(
        context.key("results", subject),
        "Collectives" if all(w.kind == "collective" for w in others) else "Further results",
        titled(pages[0], subject),
        "What do the other workloads reach?",
        tuple(blocks),
        rich(
            "Estimates of each workload alone, with the band that holds eight of ten measurements.",
            sources(context, keys),
        ),
        context.lettered(subject),
    )


def _charts(w: WorkloadResult) -> Beside | None:
    drawn: list[Drawing] = []
    for curve in w.curves.get("size-sweep", ())[:2]:
        time = "time" in curve.name
        most = max(curve.high or curve.y)
        unit = "s" if time else "B/s"
        picture = lines(
            [Trace("", curve.x, curve.y, curve.low, curve.high, dots=False)],
            lambda v: format_quantity(v, "size", 1).replace(" ", "\u00a0"),
            lambda v, unit=unit, most=most: split(v, unit, "", most)[0] if v else "0",
            captions=(split(most, unit)[1], "size of the buffers"),
            log_x=True,
            x_ticks=[10.0**k for k in range(3, 13, 2)],
        )
        drawn.append(
            Drawing(picture, f"{curve.name} of {w.title} over sizes", sentence(curve.name), aside="over message size")
        )
    if len(drawn) < 2:
        return None
    return Beside((drawn[0],), (drawn[1],))


CHAPTER = ChapterKind("results", "Further results", 60, of_design=build)
