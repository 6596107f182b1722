"""Migration: who moves when, who is paused for how long, and who cannot move."""

from __future__ import annotations

from designer.engine.results import Table as ResultTable
from designer.engine.results import WorkloadResult
from designer.report.chapter import ChapterKind
from designer.report.charts.gantt import Lane, gantt
from designer.report.document import Chapter, Drawing, rich
from designer.report.names import in_names
from designer.report.pages import answer_chapter
from designer.report.subject import Context, Subject
from designer.report.wording import quantity

#: so many served models are drawn below the machines
_SERVED_LIMIT = 4
_NOTE = "Blue: copying while it runs. Black: standing still. Shaded: 80% band of the end."
_SERVED_NOTE = " A served model answers no request while its machine pauses."
_TIMES = ("evacuation_time", "migration_time")


def build(context: Context, subject: Subject) -> Chapter | None:
    """The chapter; None where nothing migrates."""
    moves = subject.of_kind("migration")
    drawn: list[Drawing] = []
    for w in [w for w in moves if any(t in w.metrics for t in _TIMES)][:2]:
        lanes = _lanes(w, subject)
        if not lanes:
            continue
        served = _served_models(w, subject)
        end = next((w.metrics[t] for t in _TIMES if t in w.metrics), None)
        note = rich(_NOTE + (_SERVED_NOTE if served else ""))
        drawn.append(Drawing(gantt([*lanes, *served], end), f"Who moves when in {w.title}", w.title, note=note))
    question = "How long, which machines pause, which cannot move, and why?"
    figures = ("evacuation-remaining", "migration-curve", "stun-sweep")
    return answer_chapter(context, subject, "migration", "Migration", question, moves, first=drawn, figures=figures)


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


def _served_models(w: WorkloadResult, subject: Subject) -> list[Lane]:
    """Served models in machines that move: when they are paused."""
    table = w.tables.get("stands_still")
    found: list[Lane] = []
    for row in (table.rows if table is not None else ())[:_SERVED_LIMIT]:
        name, machine, begin, lasts = str(row[0]), str(row[1]), float(row[2] or 0.0), float(row[3] or 0.0)
        title = next((one.title for one in subject.analysis.workloads if one.id == name), name)
        pause = f"pauses {quantity(lasts, 's')}"
        found.append(Lane(title, f"served in {machine}", 0.0, begin + lasts, lasts, "answers", pause))
    return found


CHAPTER = ChapterKind("migration", "Migration", 50, of_design=build)
