"""Serving: what each deployment takes, how long people wait, what it costs in energy, and what binds it."""

from __future__ import annotations

from collections.abc import Mapping

from designer.analysis.results import Curve, WorkloadResult
from designer.report.cells import muted, sources, strong, text
from designer.report.chapter import ChapterKind
from designer.report.charts.lines import Trace, lines
from designer.report.document import Align, Beside, Block, Cell, Chapter, Drawing, Follows, Head, Row, Table, rich
from designer.report.pages import limits_table, pages_of
from designer.report.subject import Context, Subject, is_served
from designer.report.wording import DASH, ends, percent, quantity, sentence, split

#: rows of the table of each deployment: title, metric; grouped by what one asks
_ROWS = (
    ("What it takes", (("Requests served", "requests_per_second"), ("Most it can take", "most_requests_per_second"))),
    (
        "How long one waits",
        (
            ("First token, p50", "ttft_p50"),
            ("First token, p95", "ttft_p95"),
            ("Between tokens, mean", "tpot"),
            ("Whole answer, p95", "latency_p95"),
        ),
    ),
    (
        "What it makes and uses",
        (
            ("Output tokens", "tokens_per_second"),
            ("Goodput", "goodput"),
            ("GPUs", "accelerators"),
            ("Memory of a GPU", "memory_per_gpu"),
            ("Power of the accelerators", "power"),
            ("Energy of a token", "energy_per_token"),
            ("Energy of a million requests", "energy_per_million_requests"),
            ("Cold start", "cold_start_time"),
        ),
    ),
)
#: deployments that get columns of their own; more stand below
_ABREAST = 3
#: curves that are drawn, and the fewest points of one less one
_PAIR = 2
_MILLION = 1e6
#: joules of a kilowatt-hour
_KWH = 3.6e6
#: a load this near to the most is told
_NEAR = 0.8


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where nothing is served."""
    served = [w for w in subject.results if is_served(w)]
    if not served:
        return None
    blocks: list[Block] = []
    names = _names(served)
    charts = _charts(served, names)
    if charts is not None:
        blocks.append(charts)
    blocks += _run_charts(served, names)
    blocks += [_figures(served[at : at + _ABREAST], names) for at in range(0, len(served), _ABREAST)]
    energy = _energy(context, served, names)
    if energy is not None:
        blocks.append(energy)
    limits = limits_table(pages_of(subject, served), subject)
    if limits is not None:
        blocks.append(limits)
    blocks.append(Follows(tuple(rich(_advice(w, names)) for w in served)))
    keys = [k for w in served for e in w.metrics.values() for k in e.sources]
    return Chapter(
        context.key("serving", subject),
        "Serving",
        _title(served, names),
        "What load can it take, and how long does one wait?",
        tuple(blocks),
        rich(
            "Each deployment is run request by request in its engine's scheduler; bands hold eight of ten"
            " measurements. Power is that of the accelerators alone.",
            sources(context, keys),
        ),
        context.lettered(subject),
    )


def _names(served: list[WorkloadResult]) -> dict[str, str]:
    """What each deployment is called: the beginning of its title, or all of it where others begin alike."""
    short = [w.title.split(",")[0] for w in served]
    return {w.id: name if short.count(name) == 1 else w.title for w, name in zip(served, short, strict=True)}


def _share(w: WorkloadResult) -> float:
    """Load as a share of the most it can take; 0 where that is not known."""
    most = w.metrics.get("most_requests_per_second")
    return w.metrics["requests_per_second"].value / most.value if most is not None and most.value > 0 else 0.0


def _title(served: list[WorkloadResult], names: Mapping[str, str]) -> str:
    busiest = max(served, key=_share)
    first = busiest.metrics.get("ttft_p95")
    rate = quantity(busiest.metrics["requests_per_second"].value, "1/s", "requests/s")
    name = names[busiest.id]
    told = f"{name} serves {rate}"
    if first is not None:
        told += f", 95 of 100 first tokens within {quantity(first.value, 's')}"
    most = busiest.metrics.get("most_requests_per_second")
    if most is not None:
        told += f"; it can take {quantity(most.value, '1/s', 'requests/s')}"
    return sentence(told)


def _figures(served: list[WorkloadResult], names: Mapping[str, str]) -> Table:
    heads: list[Head] = [Head("Figure")]
    for w in served:
        heads += [Head(names[w.id], Align.RIGHT), Head("80% band", Align.RIGHT)]
    rows: list[Row] = []
    for group, metrics in _ROWS:
        found = [(title, name) for title, name in metrics if any(name in w.metrics for w in served)]
        if found:
            rows.append(Row((strong(group),), "group"))
        for title, name in found:
            cells: list[Cell] = [text(title)]
            for w in served:
                e = w.metrics.get(name)
                what = _WHAT.get(name, "")
                if e is None:
                    cells += [muted("–"), muted("")]
                    continue
                number, unit = split(e.value, e.unit, what)
                cells.append(text(f"{number}\u00a0{unit}".strip("\u00a0"), "strong"))
                cells.append(muted("" if e.low == e.high else DASH.join(ends(e, what))))
            rows.append(Row(tuple(cells)))
    return Table("Key figures", tuple(heads), tuple(rows))


#: what is counted, of metrics that are so many a second
_WHAT = {
    "requests_per_second": "requests/s",
    "most_requests_per_second": "requests/s",
    "goodput": "requests/s",
    "tokens_per_second": "tokens/s",
}


def _charts(served: list[WorkloadResult], names: Mapping[str, str]) -> Beside | None:
    """First token and whole answer over load, of the deployment nearest to its most."""
    told = [w for w in served if len(_curves(w)) == _PAIR]
    if not told:
        return None
    w = max(told, key=_share)
    first, second = (_over_load(names[w.id], *curve) for curve in _curves(w))
    return Beside((first,), (second,))


#: curves of a run of which the first two there are are drawn beside each other: id, heading, what is counted upwards
_OF_RUN = (
    (("serving-ttft", "Time to the first token", "% of requests"), ("serving-itl", "Between tokens", "% of tokens")),
    (
        ("serving-kv", "Keys and values", "% of the room"),
        ("serving-replicas", "Replicas by hour", "replicas"),
        ("serving-queue", "Requests at once", "requests of a replica"),
    ),
)
#: seconds of the units that times are written in
_SECONDS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "min": 60.0, "h": 3600.0}
#: points of a curve beyond these are not seen on paper
_POINTS = 200


def _run_charts(served: list[WorkloadResult], names: Mapping[str, str]) -> list[Block]:
    """How waits are spread, and what the cache holds over time, of the deployment nearest to its most."""
    told = [w for w in served if w.curves.get("serving-ttft") and w.curves.get("serving-kv")]
    if not told:
        return []
    w = max(told, key=_share)
    rows = [
        [_over_time(names[w.id], w.curves[id][0], heading, up) for id, heading, up in row if w.curves.get(id)]
        for row in _OF_RUN
    ]
    return [Beside(tuple(row[:1]), tuple(row[1:_PAIR])) for row in rows if row]


def _over_time(title: str, curve: Curve, heading: str, up: str) -> Drawing:
    stride = -(-len(curve.x) // _POINTS)
    share = up.startswith("%")
    # replicas stand over the hours of a day, all else over seconds; ticks are round in what is written
    unit = "hour of the day" if up == "replicas" else split(max(curve.x), "s", "", max(curve.x))[1]
    x = tuple(v / _SECONDS.get(unit, 1.0) for v in curve.x[::stride])
    y = tuple(100 * v if share else v for v in curve.y[::stride])
    picture = lines([Trace("", x, y, dots=False)], lambda v: f"{v:g}", lambda v: f"{v:g}", captions=(up, unit))
    return Drawing(picture, f"{heading} of {title}", heading, aside=title)


def _curves(w: WorkloadResult) -> list[tuple[str, tuple[float, ...], tuple[float, ...]]]:
    """The two waits over load that are drawn: name, requests a second, time."""
    named = {c.name: c for c in w.curves.get("serving-frontier", ()) if len(c.x) > _PAIR}
    return [(name, named[name].x, named[name].y) for name in ("first token, p95", "whole answer, p95") if name in named]


def _over_load(title: str, name: str, x: tuple[float, ...], y: tuple[float, ...]) -> Drawing:
    most = max(y)
    picture = lines(
        [Trace("", x, y)],
        lambda v: f"{v:g}",
        lambda v: split(v, "s", "", most)[0] if v else "0",
        captions=(split(most, "s", "", most)[1], "requests a second"),
    )
    return Drawing(
        picture, f"{sentence(name)} of {title} over its load", sentence(name), aside=f"{title}, over its load"
    )


def _energy(context: Context, served: list[WorkloadResult], names: Mapping[str, str]) -> Table | None:
    """Energy, its price and its carbon of a million tokens and requests; nothing without the reader's own inputs."""
    inputs = context.settings.chosen.energy
    if inputs.price is None and inputs.carbon is None:
        return None
    pue = inputs.pue or 1.0
    rows: list[Row] = []
    for w in served:
        rows.append(Row((strong(names[w.id]),), "group"))
        for title, name, count in (
            ("A million output tokens", "energy_per_token", _MILLION),
            ("A million requests", "energy_per_million_requests", 1.0),
        ):
            e = w.metrics.get(name)
            if e is None:
                continue
            hours = [v * count * pue / _KWH for v in (e.value, e.low, e.high)]
            cells: list[Cell] = [text(title), text(f"{hours[0]:,.3g}", "strong")]
            cells.append(muted(DASH.join(f"{v:,.3g}" for v in hours[1:])))
            cells.append(text(f"{hours[0] * inputs.price:,.3g}" if inputs.price is not None else "–"))
            cells.append(text(f"{hours[0] * inputs.carbon / 1000:,.3g}" if inputs.carbon is not None else "–"))
            rows.append(Row(tuple(cells)))
    r = Align.RIGHT
    heads = (
        Head("Energy, accelerators alone"),
        Head("kWh", r),
        Head("80% band", r),
        Head(inputs.currency, r),
        Head("carbon, kg", r),
    )
    said = f"PUE {pue:g}" + (f", {inputs.source}" if inputs.source else ", source not told")
    return Table("What it costs in energy", heads, tuple(rows), said)


def _advice(w: WorkloadResult, names: Mapping[str, str]) -> str:
    name, share = names[w.id], _share(w)
    most = w.metrics.get("most_requests_per_second")
    if most is None:
        return f"{name}: the most it can take was not asked for."
    room = quantity(most.value, "1/s", "requests/s")
    if share > 1:
        return f"{name} is asked for more than the {room} it can take: add replicas before it opens."
    if share > _NEAR:
        return f"{name} runs at {percent(share)} of what it can take ({room}): plan the next replica."
    return f"{name} runs at {percent(share)} of what it can take ({room})."


CHAPTER = ChapterKind("serving", "Serving", 45, of_design=build)
