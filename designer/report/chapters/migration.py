"""Migration: who moves when, who stands still for how long, and who cannot move."""

from __future__ import annotations

from designer.analysis.results import Table as ResultTable
from designer.analysis.results import WorkloadResult
from designer.report.cells import key_figures, metric_title, muted, sources, strong, text
from designer.report.chapter import ChapterKind
from designer.report.charts.gantt import Lane, gantt
from designer.report.charts.lines import Trace, lines
from designer.report.document import Align, Beside, Block, Chapter, Drawing, Follows, Head, Row, Table, rich
from designer.report.names import in_names
from designer.report.subject import Context, Subject, short
from designer.report.wording import DASH, ends, in_words, quantity, sentence, split, times

#: so many served models are drawn below the machines
_SERVED_LIMIT = 4
_NOTE = "Blue: copying while it runs. Black: standing still. Shaded: 80\u00a0% band of the end."
_SERVED_NOTE = " A served model answers nobody while its machine stands still."
_TIMES = ("evacuation_time", "migration_time")


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where nothing migrates."""
    moves = subject.of_kind("migration")
    if not moves:
        return None
    blocks: list[Block] = []
    timed = [w for w in moves if any(t in w.metrics for t in _TIMES)]
    for w in timed[:2]:
        lanes = _lanes(w, subject)
        served = _served(w, subject) if lanes else []
        if lanes:
            end = next((w.metrics[t] for t in _TIMES if t in w.metrics), None)
            blocks.append(
                Drawing(
                    gantt([*lanes, *served], end),
                    f"Who moves when in {w.title}",
                    w.title,
                    note=rich(_NOTE + (_SERVED_NOTE if served else "")),
                )
            )
    stun = _stun(timed)
    if stun is not None:
        blocks.append(stun)
    blocks.append(key_figures(moves))
    blocks.append(_purchases(subject, timed) or _others(moves))
    blocks.append(_follows(subject, moves))
    keys = [k for w in moves for e in w.metrics.values() for k in e.sources]
    return Chapter(
        context.key("migration", subject),
        "Migration",
        _title(subject, timed, moves),
        "How long, who stands still, who cannot move, and why?",
        tuple(b for b in blocks if not isinstance(b, Table) or b.rows),
        rich(
            "Copying repeats what was written meanwhile; virtual GPUs are copied while the machine stands still.",
            sources(context, keys),
        ),
        context.lettered(subject),
    )


def _title(subject: Subject, timed: list[WorkloadResult], moves: list[WorkloadResult]) -> str:
    if not timed:
        w = moves[0]
        name, e = next(iter(w.metrics.items()))
        return f"{w.title}: {metric_title(name)} {quantity(e.value, e.unit)}"
    w = timed[0]
    time = next(w.metrics[t] for t in _TIMES if t in w.metrics)
    staying = w.metrics.get("machines_staying")
    rows = w.tables["machines"].rows if "machines" in w.tables else ()
    n = len(rows)
    stays = int(staying.value) if staying is not None else 0
    done = (
        f"{w.title} takes {quantity(time.value, 's')} for {in_words(n - stays, 'machine')}"
        if n
        else f"{w.title} takes {quantity(time.value, 's')}"
    )
    if stays:
        return f"{done}; {in_words(stays, 'machine')} cannot leave"
    pause = w.metrics.get("stun_time") or w.metrics.get("switchover_time")
    return f"{done}; the longest stands still {quantity(pause.value, 's')}" if pause is not None else done


def _at(table: ResultTable, row: tuple[object, ...], name: str) -> object:
    return next((row[k] for k, c in enumerate(table.columns) if c.name == name), None)


def _lanes(w: WorkloadResult, subject: Subject) -> list[Lane]:
    table = w.tables.get("machines")
    if table is None:
        return []
    found: list[Lane] = []
    for row in table.rows[:12]:
        name = str(_at(table, row, "machine") or "")
        end, start = _at(table, row, "end"), _at(table, row, "start")
        pause, size = _at(table, row, "pause"), _at(table, row, "transferred")
        how = str(_at(table, row, "how") or "")
        if not isinstance(end, float | int):
            why = in_names(subject.stock, str(_at(table, row, "note") or "no place elsewhere"))
            found.append(Lane(name, how, inside=f"stays: {why}"))
            continue
        still = float(pause) if isinstance(pause, float | int) else 0.0
        copying = f"copying {quantity(float(size), 'B')}" if isinstance(size, float | int) else "moving"
        begin = float(start) if isinstance(start, float | int) else 0.0
        found.append(
            Lane(name, how, begin, float(end), still, copying, f"pause {quantity(still, 's')}" if still else "")
        )
    return found


def _served(w: WorkloadResult, subject: Subject) -> list[Lane]:
    """Served models in machines that move: when they stand still."""
    table = w.tables.get("stands_still")
    found: list[Lane] = []
    for row in (table.rows if table is not None else ())[:_SERVED_LIMIT]:
        name, machine, begin, lasts = str(row[0]), str(row[1]), float(row[2] or 0.0), float(row[3] or 0.0)
        title = next((one.title for one in subject.analysis.workloads if one.id == name), name)
        pause = f"stands still {quantity(lasts, 's')}"
        found.append(Lane(title, f"served in {machine}", 0.0, begin + lasts, lasts, "answers", pause))
    return found


def _stun(timed: list[WorkloadResult]) -> Beside | Drawing | None:
    charts: list[Drawing] = []
    for w in timed:
        curves = w.curves.get("stun-sweep", ())
        if curves and not any(c.title.startswith("Stun") for c in charts):
            inks = ("alarm", "data", "data2", "ink", "muted")
            most = max(v for c in curves for v in c.y)
            picture = lines(
                [
                    Trace(c.name.replace(" ", "\u00a0"), c.x, c.y, ink=inks[k % 5], dots=False)
                    for k, c in enumerate(curves)
                ],
                lambda v: quantity(v, "B"),
                lambda v, most=most: split(v, "s", "", most)[0] if v else "0",
                captions=(split(most, "s")[1], "frame buffer in use"),
                unit_up=60.0 if split(most, "s")[1] == "min" else 1.0,
            )
            charts.append(
                Drawing(
                    picture,
                    "Stun over frame buffer by rate of the port",
                    "Stun of a virtual GPU",
                    aside="by rate of the port",
                )
            )
        left = w.curves.get("evacuation-remaining", ())
        if left:
            c = left[0]
            most = max(c.y)
            picture = lines(
                [Trace("", c.x, c.y, c.low, c.high)],
                lambda v: quantity(v, "s") if v else "0",
                lambda v, most=most: split(v, "B", "", most)[0] if v else "0",
                captions=(split(most, "B")[1], "time"),
            )
            charts.append(Drawing(picture, "What is still to be moved over time", sentence(c.name), aside=w.title))
    if len(charts) >= 2:
        return Beside((charts[0],), (charts[1],))
    return charts[0] if charts else None


def _purchases(subject: Subject, timed: list[WorkloadResult]) -> Table | None:
    rows: list[Row] = []
    for w in timed:
        metric = next(t for t in _TIMES if t in w.metrics)
        now = w.metrics[metric]
        pause = w.metrics.get("stun_time") or w.metrics.get("switchover_time")
        rows.append(_row(w.title, "as drawn", now, pause, w, 1.0, metric))
        for bought in subject.what_ifs:
            after = bought.after.get(w.id)
            if after is None or bought.gain(w.id) < 1.02:
                continue
            pause = after.metrics.get("stun_time") or after.metrics.get("switchover_time")
            rows.append(
                _row(
                    "",
                    f"{bought.what}, {bought.detail}",
                    after.metrics[metric],
                    pause,
                    after,
                    bought.gain(w.id),
                    metric,
                )
            )
    r = Align.RIGHT
    heads = (
        Head("Move"),
        Head("Case"),
        Head("Done after", r),
        Head("80 % band", r),
        Head("Longest pause", r),
        Head("Gain", r),
        Head("Binds"),
    )
    return Table("What a faster network brings", heads, tuple(rows)) if len(rows) > len(timed) else None


def _row(name: str, case: str, now: object, pause: object, w: WorkloadResult, gain: float, metric: str) -> Row:
    time = w.metrics[metric]
    found = w.metrics.get("stun_time") or w.metrics.get("switchover_time")
    del now, pause
    return Row(
        (
            strong(name) if name else (),
            text(case),
            text(quantity(time.value, "s"), "strong"),
            muted(DASH.join(ends(time))),
            text(quantity(found.value, "s") if found is not None else "–"),
            text(times(gain) if gain != 1.0 else "–"),
            text(short(w.binding[0]) if w.binding else "–"),
        )
    )


def _others(moves: list[WorkloadResult]) -> Table:
    rows = [Row((strong(w.title), text(short(w.binding[0])), muted(w.binding[0].why))) for w in moves if w.binding]
    return Table("What binds", (Head("Move"), Head("Bottleneck"), Head("Why")), tuple(rows))


def _follows(subject: Subject, moves: list[WorkloadResult]) -> Follows:
    said = []
    for bought in subject.what_ifs:
        for w in moves:
            if w.id in bought.before and bought.gain(w.id) > 1.05 and any(t in w.metrics for t in _TIMES):
                metric = next(t for t in _TIMES if t in w.metrics)
                after = bought.after[w.id].metrics[metric]
                said.append(
                    rich(
                        f"{w.title}: {bought.what[0].lower()}{bought.what[1:]} ({bought.detail}) brings it from"
                        f" {quantity(w.metrics[metric].value, 's')} to {quantity(after.value, 's')}."
                    )
                )
                break
    stays = [f for w in moves for f in w.findings if f.code == "MIG-STAYS"]
    said += [rich(f"{f.text.split(':')[0]}: {f.remedy}.") for f in stays[:1]]
    return Follows(tuple(said[:3]) or (rich("No purchase that was tried makes these moves faster."),))


CHAPTER = ChapterKind("migration", "Migration", 50, of_design=build)
