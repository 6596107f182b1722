"""Power: rated and under load, each feed with the other lost, heat to remove."""

from __future__ import annotations

from collections.abc import Sequence

from designer.engine.results import WorkloadResult
from designer.formulas.power.server_power import AROUND, FIT_ERROR
from designer.formulas.power.step_load import COMMUNICATING
from designer.report.chapter import ChapterKind, muted, sources, strong, sure, text
from designer.report.charts.bars import Bar, bars
from designer.report.charts.figures import charts
from designer.report.document import Align, Block, Chapter, Drawing, Follows, Head, Row, Table, rich
from designer.report.figures.power_step import job_load
from designer.report.subject import Context, Subject
from designer.report.tables.power import Draw, busiest, draws, total
from designer.report.tables.racks import feeds_of
from designer.report.wording import DASH, ends, in_words, listed, percent, quantity, sentence
from designer.sources import Estimate

#: more kinds of unit without a rating are one line
_SILENT = 6


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where nothing states its power."""
    result = busiest(subject.design, subject.analysis)
    found = draws(subject.design, result)
    rated, load, missing = total(found)
    if rated <= 0:
        return None
    chart = _chart(found, result)
    blocks: list[Block] = [] if chart is None else [chart]
    blocks.append(_draws(found, rated, load))
    feeds = _feeds(subject)
    if feeds is not None:
        blocks.append(feeds)
    blocks += _steps(subject)
    energy = _energy(context, load)
    if energy is not None:
        blocks.append(energy)
    deck = (
        "Accelerators draw by how busy their arithmetic is; the fit was made on one model and is taken relative to the"
        " limit of each."
    )
    return Chapter(
        context.key("power", subject),
        "Power and cooling",
        _title(found, missing, rated, load, result),
        "What does each feed carry, and how much heat is there?",
        (*blocks, _next_steps(found, missing, load)),
        rich(
            f"{deck} Its median error is {percent(FIT_ERROR.value, 1)}; bands of other models are wider.",
            sources(context, ("ml-energy-fit", "wall-readings")),
        ),
        context.lettered(subject),
    )


def _draws(found: Sequence[Draw], rated: float, load: Estimate | None) -> Table:
    """One line for each kind of unit; many without a rating are one line."""
    rows: list[Row] = []
    silent = [d for d in found if d.load is None and d.rated.value is None]
    stated = [d for d in found if d not in silent] if len(silent) > _SILENT else found
    for d in stated:
        value = quantity(d.load.value, "W") if d.load else "–"
        own = d.rated.value
        rows.append(
            Row(
                (
                    strong(d.model),
                    text(f"{d.count:,}"),
                    text(quantity(own, "W") if own is not None else "not stated", "" if own is not None else "muted"),
                    muted("limits of its parts") if d.rated.summed else sure(d.rated.status) if own is not None else (),
                    text(value, "strong"),
                    muted(DASH.join(ends(d.load)) if d.load else ""),
                    text(quantity(d.load.value * d.count, "W") if d.load else "–"),
                )
            )
        )
    if len(silent) > _SILENT:
        count = text(f"{sum(d.count for d in silent):,}")
        name = strong(f"{len(silent):,} kinds that state none")
        rows.append(Row((name, count, text("not stated", "muted"), (), text("–", "strong"), (), text("–"))))
    if load is not None:
        rows.append(
            Row(
                (
                    strong("All that is known"),
                    (),
                    text(quantity(rated, "W")),
                    (),
                    (),
                    muted(DASH.join(ends(load))),
                    text(quantity(load.value, "W")),
                ),
                "total",
            )
        )
    r = Align.RIGHT
    heads = (
        Head("Unit"),
        Head("Count", r),
        Head("Rated, one", r),
        Head("How sure"),
        Head("Under load, one", r),
        Head("80% band", r),
        Head("All", r),
    )
    return Table("What draws power", heads, tuple(rows))


def _chart(found: Sequence[Draw], result: WorkloadResult | None) -> Drawing | None:
    """Power under load against the rating; None where no unit states both."""
    shown = [d for d in found if d.load is not None and d.rated.value is not None]
    if not shown:
        return None
    charted = [
        Bar(
            f"{d.model}",
            f"{d.count:,} × {d.how}",
            d.load.value * d.count,
            d.load.low * d.count,
            d.load.high * d.count,
            quantity(d.load.value * d.count, "W"),
            limit=(d.rated.value or 0) * d.count,
        )
        for d in shown[:8]
        if d.load is not None
    ]
    return Drawing(
        bars(charted, lambda v: quantity(v, "W") if v else "0"),
        "Power under load of each kind of unit against its rating",
        "Under load against the rating",
        result.title if result is not None else "",
        rich("Light: to the upper end of the 80% band. Red line: rated."),
    )


def _next_steps(found: Sequence[Draw], missing: Sequence[str], load: Estimate | None) -> Follows:
    """What to ask for, and what feeds and cooling are planned for."""
    follows = []
    if missing:
        follows.append(
            rich(
                f"{sentence(in_words(len(missing), 'kind of unit states', 'kinds of unit state'))} no power and"
                f" {'is' if len(missing) == 1 else 'are'} in no sum: {listed(list(dict.fromkeys(missing)))}. Give it as"
                " power_max in the design."
            )
        )
    if load is not None:
        follows.append(
            rich(
                f"Plan feeds for the rating, cooling for {quantity(load.high, 'W')}: every watt becomes heat, that is"
                f" {load.high / 3517:,.1f} tons of refrigeration."
            )
        )
    if any(d.rated.summed and d.unit.accelerators() for d in found):
        follows.append(
            rich(
                "Limits of its parts: what the accelerators may draw, and for the rest of the server what its parts"
                f" state or {quantity(AROUND.high, 'W')} an accelerator, whichever is more. That rest (processors,"
                " memory, fans, loss in power supplies) was read at the wall of other servers. A data sheet of the"
                " server takes its place."
            )
        )
    return Follows(tuple(follows))


def _title(
    found: Sequence[Draw], missing: Sequence[str], rated: float, load: Estimate | None, result: WorkloadResult | None
) -> str:
    """The rating, and what is drawn under load."""
    title = f"Ratings add up to {quantity(rated, 'W')}"
    if load is not None and result is not None:
        title = f"{result.title.split(',')[0]} draws {quantity(load.value, 'W')}"
        # limits of parts, put together, are no rating that one could compare with
        known = all(not d.rated.summed for d in found)
        title += f" of {quantity(rated, 'W')} rated" if known else f", at most {quantity(load.high, 'W')}"
    return title + (f"; {in_words(len(missing), 'kind of unit states', 'kinds of unit state')} none" if missing else "")


def _steps(subject: Subject) -> list[Block]:
    """Power of training jobs over a step: how much the load of the building rises and falls, and how often."""
    found = [(w, job) for w in subject.results if (job := job_load(subject.design, w)) is not None][:4]
    if not found:
        return []
    rows = [
        Row(
            (
                strong(w.title),
                text(quantity(job.one.seconds, "s")),
                text(quantity(job.around + job.accelerators * job.one.high, "W")),
                text(quantity(job.around + job.accelerators * job.one.low, "W")),
                text(quantity(job.around + job.accelerators * job.one.mean, "W")),
                text(quantity(job.swing, "W"), "strong"),
                text(f"{1 / job.one.seconds:.2g}\u00a0Hz"),
            )
        )
        for w, job in found
    ]
    r = Align.RIGHT
    heads = (
        Head("Job"),
        Head("Step", r),
        Head("While it computes", r),
        Head("While it communicates", r),
        Head("Mean", r),
        Head("Swing", r),
        Head("How often", r),
    )
    note = rich(
        f"All accelerators in step. While a step communicates, each draws {percent(COMMUNICATING.low)} to"
        f" {percent(COMMUNICATING.high)} of its limit, assumed; the power floor of a GPU is the least "
        "that smoothing keeps."
    )
    return [
        *charts(subject, [found[0][0]], ("power-step",), 1),
        Table("Power over a training step", heads, tuple(rows), "", note),
    ]


def _feeds(subject: Subject) -> Table | None:
    """Racks with two feeds: each carries half, and all of it when the other is lost."""
    plan = subject.plan
    racks = [k for k in plan.racks if k.watts > 0]
    if not racks:
        return None
    worst = max(racks, key=lambda k: k.watts)
    feeds = feeds_of(worst)
    limit = feeds[0].limit
    rows = []
    every = {1: "its only feed", 2: "both feeds"}.get(len(feeds), f"all {in_words(len(feeds), 'feed')}")
    cases = [(every, max(f.all_there for f in feeds)), ("one feed lost", max(f.one_lost for f in feeds))]
    for name, watts in cases[: len(feeds)]:
        over = limit > 0 and watts > limit
        rows.append(
            Row(
                (
                    strong(name),
                    text(quantity(watts, "W")),
                    text(quantity(limit, "W") if limit else "not stated"),
                    text(percent(watts / limit) if limit else "–", "alarm" if over else ""),
                )
            )
        )
    r = Align.RIGHT
    heads = (Head("Case"), Head("Rated load of a feed", r), Head("A feed carries", r), Head("Filled", r))
    named = worst.name.lower() if worst.name.startswith("Rack ") else worst.name
    aside = f"fullest rack, {named}, {in_words(len(feeds), 'feed')}"
    return Table("Feeds", heads, tuple(rows), aside)


def _energy(context: Context, load: object) -> Table | None:
    """Energy with the reader's own price, PUE and carbon; nothing without them."""

    inputs = context.settings.chosen.energy
    if not isinstance(load, Estimate) or (inputs.price is None and inputs.carbon is None):
        return None
    pue = inputs.pue or 1.0
    hours = 8766.0
    rows = []

    def row(name: str, factor: float, unit: str) -> Row:
        low, value, high = (v / 1000 * pue * hours * factor for v in (load.low, load.value, load.high))
        return Row((strong(name), text(f"{value:,.0f}\u00a0{unit}"), muted(f"{low:,.0f}{DASH}{high:,.0f}")))

    rows.append(row("Energy in a year of this load", 1.0, "kWh"))
    if inputs.price is not None:
        rows.append(row("Its price", inputs.price, inputs.currency))
    if inputs.carbon is not None:
        rows.append(row("Its carbon", inputs.carbon / 1000, "kg"))
    known = f"PUE {pue:g}" + (f", {inputs.source}" if inputs.source else ", source not given")
    r = Align.RIGHT
    return Table("Energy of a year", (Head("What"), Head("Value", r), Head("80% band", r)), tuple(rows), known)


CHAPTER = ChapterKind("power", "Power and cooling", 110, of_design=build)
