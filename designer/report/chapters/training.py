"""Training: where a step goes, how far it scales, memory, and what binds each model."""

from __future__ import annotations

from designer.analysis.results import WorkloadResult
from designer.report.cells import per, sources
from designer.report.chapter import ChapterKind
from designer.report.charts.lines import Trace, lines
from designer.report.document import Beside, Block, Chapter, Drawing, rich
from designer.report.pages import figures_table, follows, limits_table, pages_of, titled, where_drawing
from designer.report.subject import Context, Subject, main_metric
from designer.report.wording import percent, split


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where nothing is trained."""
    models = subject.of_kind("training")
    if not models:
        return None
    pages = pages_of(subject, models)
    blocks: list[Block] = []
    where = where_drawing(pages, subject)
    if where is not None:
        blocks.append(where)
    charts = _scaling(models)
    if charts:
        blocks.append(charts)
    blocks.append(figures_table(pages, subject))
    limits = limits_table(pages, subject)
    if limits is not None:
        blocks.append(limits)
    blocks += follows(models, subject)
    keys = [k for m in models for e in m.metrics.values() for k in e.sources]
    return Chapter(
        context.key("training", subject),
        "Training",
        titled(pages[0], subject),
        "Where does a step go, and how far does it scale?",
        tuple(blocks),
        rich(
            "A step is split into what the GPUs compute and what keeps them from computing; only traffic that does not"
            " hide behind computing is counted.",
            sources(context, keys),
        ),
        context.lettered(subject),
    )


def _stall(model: WorkloadResult) -> float:
    stall, step = model.metrics.get("input_stall"), model.metrics.get("step_time")
    return stall.value / step.value if stall and step and step.value else 0.0


def _scaling(models: list[WorkloadResult]) -> Beside | None:
    told = [
        (m, c) for m in models for c in m.curves.get("scaling", ()) if c.name == "samples_per_second" and len(c.x) > 1
    ]
    if not told:
        return None
    model, curve = min(
        told,
        key=lambda one: one[0].metrics["scaling_efficiency"].value if "scaling_efficiency" in one[0].metrics else 1,
    )
    metric = main_metric(model)
    factor = model.metrics[metric].value / curve.y[-1] if curve.y[-1] else 1.0
    what = per(model, metric)
    y = tuple(v * factor for v in curve.y)
    most = max(y)
    name_unit = split(most, "1/s", what)[1]
    ideal = tuple(y[0] / curve.x[0] * v for v in curve.x)
    first = lines(
        [
            Trace("ideal", curve.x, ideal, ink="muted", dashed=True),
            Trace("as drawn", curve.x, y, tuple(v * factor for v in curve.low), tuple(v * factor for v in curve.high)),
        ],
        lambda v: f"{v:,.0f}",
        lambda v: split(v, "1/s", what, most)[0] if v else "0",
        captions=(name_unit, "GPUs"),
        x_ticks=_few(curve.x),
    )
    efficiencies: list[Trace] = []
    inks = ("data", "data2", "alarm", "ink")
    for k, (m, _) in enumerate(told[:4]):
        c = next((c for c in m.curves["scaling"] if c.name == "scaling_efficiency"), None)
        if c is not None:
            stalled = _stall(m) > 0.05
            others = [i for i in inks if i != "alarm"]
            name = f"{m.title.split(',')[0]} {percent(c.y[-1])}"
            efficiencies.append(Trace(name, c.x, c.y, ink="alarm" if stalled else others[k % 3]))
    second = lines(
        efficiencies,
        lambda v: f"{v:,.0f}",
        lambda v: percent(v),
        captions=("scaling efficiency", "GPUs"),
        top_value=1.2 if any(v > 1 for t in efficiencies for v in t.y) else 1.0,
        x_ticks=_few(curve.x),
    )
    return Beside(
        (Drawing(first, f"Throughput of {model.title} over GPUs", f"{model.title.split(',')[0]} over GPUs"),),
        (Drawing(second, "Scaling efficiency of each model over GPUs", "What growth costs"),),
    )


def _few(values: tuple[float, ...]) -> list[float]:
    """Ticks that do not run into each other: the largest, and halves of it."""
    kept: list[float] = []
    for v in sorted(values, reverse=True):
        if not kept or v <= kept[-1] * 0.55:
            kept.append(v)
    return sorted(kept[:5])


CHAPTER = ChapterKind("training", "Training", 40, of_design=build)
