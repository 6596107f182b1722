"""Revisions of a design: what was recorded, what changed since the previous one, and why each figure moved."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from designer.decisions.comparing import Comparison, Moved, shares_text
from designer.design.document import Design
from designer.fields import Frozen
from designer.report.tables.table_sheet import Column, TableSheet, Value

#: changes and figures beyond these are counted, not listed
MOST: Final = 60


class Revision(Frozen):
    """A revision as recorded by hand: its name, the day, the author, and what changed."""

    revision: str
    date: datetime.date | None = None
    author: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Since:
    """The revision before: the design, what differs from it, and its file."""

    design: Design
    found: Comparison
    file: str = ""


def moved(found: Comparison) -> tuple[Moved, ...]:
    """Figures that moved, by workload, those that moved most first."""
    known = [m for m in found.metrics if m.why or m.shares]
    return tuple(sorted(known, key=lambda m: -abs(m.change or 0.0)))


def why(one: Moved) -> str:
    """Why a figure moved: what each group of edits did, and what limits it before and after."""
    return "; ".join(t for t in (shares_text(one), one.why) if t)


def sheet(since: Since | None, recorded: Sequence[Revision], revision: str, author: str, day: str) -> TableSheet:
    """Revisions as one table: recorded ones, this one, its changes, and figures that moved with their reasons."""
    rows: list[tuple[Value, ...]] = [
        ("revision", r.revision, r.date.isoformat() if r.date else "", r.author, r.text, None, None, "", "")
        for r in recorded
    ]
    if since is not None:
        text = f"{len(since.found.changes)} changes since {since.file or since.design.name}"
        rows.append(("revision", revision, day, author, text, None, None, "", ""))
        rows += [("change", revision, "", "", line, None, None, "", "") for line in since.found.folded]
        rows += [
            ("figure", revision, "", "", f"{m.workload}: {m.name}", m.before, m.after, m.unit, why(m))
            for m in moved(since.found)
        ]
    columns = (
        Column("Row"),
        Column("Revision"),
        Column("Date"),
        Column("Author"),
        Column("What"),
        Column("Before"),
        Column("After"),
        Column("Unit"),
        Column("Why"),
    )
    notes = ("Shares: each group of edits is made in turn, in the order listed.",) if since is not None else ()
    return TableSheet("Revisions", "Revisions", columns, tuple(rows), notes)
