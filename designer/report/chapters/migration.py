"""Migration: who moves when, who stands still for how long, and who cannot move."""

from __future__ import annotations

from designer.analysis.results import Table as ResultTable
from designer.analysis.results import WorkloadResult
from designer.report.cells import sources
from designer.report.chapter import ChapterKind
from designer.report.charts.gantt import Lane, gantt
from designer.report.charts.lines import Trace, lines
from designer.report.document import Beside, Block, Chapter, Drawing, Table, rich
from designer.report.names import in_names
from designer.report.pages import figures_table, follows, limits_table, pages_of, titled
from designer.report.subject import Context, Subject
from designer.report.wording import quantity, sentence, split

#: so many served models are drawn below the machines
_SERVED_LIMIT = 4
_NOTE = "Blue: copying while it runs. Black: standing still. Shaded: 80% band of the end."
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
    pages = pages_of(subject, moves)
    blocks.append(figures_table(pages, subject))
    limits = limits_table(pages, subject)
    if limits is not None:
        blocks.append(limits)
    blocks += follows(moves, subject)
    keys = [k for w in moves for e in w.metrics.values() for k in e.sources]
    return Chapter(
        context.key("migration", subject),
        "Migration",
        titled(pages[0], subject),
        "How long, who stands still, who cannot move, and why?",
        tuple(b for b in blocks if not isinstance(b, Table) or b.rows),
        rich(
            "Copying repeats what was written meanwhile; virtual GPUs are copied while the machine stands still.",
            sources(context, keys),
        ),
        context.lettered(subject),
    )


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
                captions=(split(most, "s", "", most)[1], "frame buffer in use"),
                unit_up=60.0 if split(most, "s", "", most)[1] == "min" else 1.0,
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


CHAPTER = ChapterKind("migration", "Migration", 50, of_design=build)
