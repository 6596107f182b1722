"""Collectives and whatever else has no chapter of its own: figures with bands, curves, tables."""

from __future__ import annotations

from designer.analysis.results import WorkloadResult
from designer.report.cells import key_figures, per, sources, strong, text
from designer.report.chapter import ChapterKind
from designer.report.charts.lines import Trace, lines
from designer.report.document import Align, Beside, Block, Chapter, Drawing, Follows, Head, Row, Table, rich
from designer.report.subject import Context, Subject, gain_if_doubled, is_served, main_metric, short
from designer.report.wording import quantity, sentence, split, times
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
    blocks.append(key_figures(others))
    binds = [
        Row(
            (
                strong(w.title),
                text(short(w.binding[0])),
                text(w.binding[0].why),
                text(times(g) if (g := gain_if_doubled(w)) else "–"),
            )
        )
        for w in others
        if w.binding
    ]
    if binds:
        heads = (Head("Workload"), Head("Bottleneck"), Head("Why"), Head("If doubled", Align.RIGHT))
        blocks.append(Table("What binds", heads, tuple(binds)))
    first = others[0]
    gain = gain_if_doubled(first)
    follow = (
        f"{first.title} is limited by {short(first.binding[0])}"
        + (f"; twice the capacity there brings {times(gain)}." if gain else ".")
        if first.binding
        else "Nothing drawn limits these workloads."
    )
    blocks.append(Follows((rich(follow),)))
    metric = main_metric(first)
    e = first.metrics.get(metric)
    title = f"{first.title} reaches {quantity(e.value, e.unit, per(first, metric))}" if e is not None else first.title
    title += f", limited by {short(first.binding[0])}" if first.binding else ""
    keys = [k for w in others for e in w.metrics.values() for k in e.sources]
    return Chapter(
        context.key("results", subject),
        "Collectives" if all(w.kind == "collective" for w in others) else "Further results",
        sentence(title),
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
