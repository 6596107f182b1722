"""Training: where a step goes, how far it scales, memory, and what binds each model."""

from __future__ import annotations

from designer.analysis.results import WorkloadResult
from designer.report.cells import muted, per, sources, strong, text
from designer.report.chapter import ChapterKind
from designer.report.charts.lines import Trace, lines
from designer.report.charts.shares import Share, Whole, shares
from designer.report.document import Align, Beside, Block, Chapter, Drawing, Follows, Head, Row, Table, rich
from designer.report.subject import Context, Subject, gain_if_doubled, main_metric, short
from designer.report.wording import DASH, band, ends, percent, quantity, split, times

_NAMES = {
    "compute": ("computing", "data"),
    "input_stall": ("waiting for samples", "alarm"),
    "tensor_communication": ("tensor traffic", "data2"),
    "data_communication": ("data-parallel traffic", "band"),
    "pipeline_communication": ("pipeline traffic", "band2"),
    "expert_communication": ("expert traffic", "band2"),
    "context_communication": ("context traffic", "band2"),
    "bubble": ("pipeline bubble", "quiet"),
    "optimizer": ("optimizer", "quiet2"),
    "waiting": ("rest", "quiet2"),
    "overhead": ("overhead", "quiet2"),
}


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where nothing is trained."""
    models = subject.of_kind("training")
    if not models:
        return None
    blocks: list[Block] = []
    wholes = [w for m in models if (w := _step(m)) is not None]
    if wholes:
        blocks.append(
            Drawing(
                shares(wholes, "share of one step, 100\u00a0%"), "Where a step of each model goes", "Where a step goes"
            )
        )
    charts = _scaling(models)
    if charts:
        blocks.append(charts)
    blocks.append(_figures(subject, models))
    memory = _memory(models)
    if memory is not None:
        blocks.append(memory)
    blocks.append(_follows(subject, models))
    keys = [k for m in models for e in m.metrics.values() for k in e.sources]
    return Chapter(
        context.key("training", subject),
        "Training",
        _title(models),
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


def _title(models: list[WorkloadResult]) -> str:
    waiting = [m for m in models if _stall(m) > 0.05]
    running = [m for m in models if _stall(m) <= 0.05 and "mfu" in m.metrics]
    parts: list[str] = []
    if running:
        best = max(running, key=lambda m: m.metrics["mfu"].value)
        name = best.title.split(",")[0]
        scaling = best.metrics.get("scaling_efficiency")
        if scaling is not None and scaling.value <= 1.0:
            parts.append(
                f"{name} scales at {percent(scaling.value)} and computes at {percent(best.metrics['mfu'].value)} MFU"
            )
        else:
            parts.append(f"{name} computes at {percent(best.metrics['mfu'].value)} MFU")
    if waiting:
        worst = max(waiting, key=_stall)
        parts.append(f"{worst.title} waits for samples {percent(_stall(worst))} of a step")
    elif len(running) > 1:
        parts.append("no model waits for samples")
    return "; ".join(parts) or f"{models[0].title} takes {quantity(models[0].metrics['step_time'].value, 's')} a step"


def _step(model: WorkloadResult) -> Whole | None:
    curves = model.curves.get("step-timeline", ())
    step = model.metrics.get("step_time")
    if step is None:
        return None
    parts: list[Share] = []
    if curves:
        whole = sum(c.x[1] - c.x[0] for c in curves)
        lengths = [(c.name, c.x[1] - c.x[0]) for c in curves]
    else:
        lengths = [
            (n.removesuffix("_time"), model.metrics[n].value)
            for n in ("compute_time", "communication_time", "input_stall")
            if n in model.metrics
        ]
        whole = step.value
        rest = whole - sum(v for _, v in lengths)
        lengths.append(("waiting", max(0.0, rest)))
    order = {"compute": 0, "input_stall": 1}
    for name, length in sorted(lengths, key=lambda one: (order.get(one[0], 2), -one[1])):
        title, ink = _NAMES.get(name, (name.replace("_", " "), "quiet2"))
        if title == "traffic":
            ink = "data2"
        parts.append(Share(title, length / whole if whole > 0 else 0.0, quantity(length, "s"), ink))
    detail = f"{quantity(step.value, 's')} ({DASH.join(ends(step))})"
    return Whole(model.title, detail, tuple(parts))


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


def _figures(subject: Subject, models: list[WorkloadResult]) -> Table:
    rows: list[Row] = []
    for m in models:
        metric = main_metric(m)
        main = m.metrics[metric]
        what = per(m, metric)
        number, unit = split(main.value, main.unit, what)
        layout = m.metrics["step_time"].note.split(" mb")[0] if "step_time" in m.metrics else ""
        missed = subject.missed(m.id)
        gain = gain_if_doubled(m)

        def said(name: str, m: WorkloadResult = m) -> str:
            e = m.metrics.get(name)
            return quantity(e.value, e.unit) if e is not None else "–"

        mfu = m.metrics.get("mfu")
        rows.append(
            Row(
                (
                    rich(*strong(m.title), *muted(f" {layout}" if layout and len(layout) < 24 else "")),
                    text(f"{number}\u00a0{unit}", "strong"),
                    muted(DASH.join(ends(main, what))),
                    text(percent(mfu.value) if mfu else "–"),
                    text(said("memory_per_gpu")),
                    text(said("epoch_time")),
                    text(short(m.binding[0]) if m.binding else "–", "alarm" if missed else ""),
                    text(times(gain) if gain else "–"),
                )
            )
        )
    r = Align.RIGHT
    heads = (
        Head("Model"),
        Head("Throughput", r),
        Head("80 % band", r),
        Head("MFU", r),
        Head("Memory a GPU", r),
        Head("One epoch", r),
        Head("Binds"),
        Head("If doubled", r),
    )
    return Table("Key figures", heads, tuple(rows))


def _memory(models: list[WorkloadResult]) -> Drawing | None:
    wholes: list[Whole] = []
    inks = {
        "weights": "data",
        "gradients": "data2",
        "optimizer": "muted",
        "activations": "band",
        "gathered": "band2",
        "reserve": "quiet",
    }
    for m in models:
        curves = {c.name: c.y[0] for c in m.curves.get("memory", ()) if c.y}
        capacity = curves.pop("capacity", 0.0)
        used = sum(curves.values())
        if not capacity or not used:
            continue
        parts = [
            Share(n, v / max(capacity, used), quantity(v, "B"), inks.get(n, "quiet2"))
            for n, v in curves.items()
            if v > 0
        ]
        if used < capacity:
            parts.append(Share("free", (capacity - used) / capacity, quantity(capacity - used, "B"), "tint"))
        wholes.append(Whole(m.title, f"{quantity(used, 'B')} of {quantity(capacity, 'B')}", tuple(parts)))
    return Drawing(shares(wholes), "Memory of one GPU for each model", "Memory of one GPU") if wholes else None


def _follows(subject: Subject, models: list[WorkloadResult]) -> Follows:
    said = []
    for m in models[:3]:
        gains = [(w, w.gain(m.id)) for w in subject.what_ifs if m.id in w.before]
        best = max(gains, key=lambda one: one[1], default=None)
        name = m.title.split(",")[0]
        if best is not None and best[1] > 1.02:
            metric = main_metric(m)
            after = best[0].after[m.id].metrics[metric]
            said.append(
                rich(
                    f"{name}: {best[0].what[0].lower()}{best[0].what[1:]} brings {times(best[1])}, to"
                    f" {quantity(after.value, after.unit, per(m, metric))} ({band(after, per(m, metric))})."
                )
            )
        elif m.binding:
            gain = gain_if_doubled(m)
            more = f"; twice of it would bring {times(gain)}" if gain else ""
            said.append(
                rich(
                    f"{name} is limited by {short(m.binding[0])}{more}. No link or store that was tried helps it by"
                    " more than 2\u00a0%."
                )
            )
    return Follows(tuple(said) or (rich("Nothing binds these models."),))


CHAPTER = ChapterKind("training", "Training", 40, of_design=build)
