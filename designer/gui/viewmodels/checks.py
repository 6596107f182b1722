"""The promises of a design and of the tests next to it, as rows: what holds, what does not, and what would mend it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from designer.checks.runner import Outcome, Promise, State, judge, promises_of
from designer.checks.syntax import read
from designer.checks.world import World
from designer.design.document import Assertion
from designer.errors import DesignerError
from designer.gui.viewmodels.table import Cell, Column, Line, sentence_case
from designer.testing.files import CHECKS, read_promises

if TYPE_CHECKING:
    from designer.design.document import Design

COLUMNS = (
    Column("", width=30),
    Column("Test", width=330),
    Column("Expected", width=130, spare=True),
    Column("Got", width=300),
    Column("What binds, what mends it", width=280, spare=True),
)


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One promise: its id if it is in the design, empty for one in a file; and how it came out."""

    own: str
    where: str
    outcome: Outcome


def judged(design: Design, file: Path | None, cancelled: Callable[[], bool]) -> tuple[CheckRow, ...]:
    """Judge the assertions of a design and the tests next to its file, against the design as it is now."""

    world = World(design, cancelled=cancelled)
    rows = [CheckRow(promise.name, "", judge(world, promise)) for promise in promises_of(design)]
    checks_file = file.with_name(file.name.removesuffix(".design.json") + CHECKS) if file is not None else None
    if checks_file is not None and checks_file.is_file():
        try:
            rows += [CheckRow("", checks_file.name, judge(world, promise)) for promise in read_promises(checks_file)]
        except DesignerError as error:
            promise = Promise(checks_file.name, checks_file.name)
            rows.append(
                CheckRow("", checks_file.name, Outcome(promise, State.ERROR, "", error.text, mend=error.remedy or ""))
            )
    return tuple(rows)


def lines(rows: Sequence[CheckRow]) -> list[Line]:
    """Rows of the table; the key of a line is the row."""
    marks = {"held": ("check", "good", 2), "broken": ("error", "bad", 0), "error": ("warning", "warn", 1)}
    found: list[Line] = []
    for row in rows:
        outcome = row.outcome
        icon, tone, order = marks[str(outcome.state)]
        name = outcome.promise.name if row.own == "" and outcome.promise.name != outcome.promise.text else ""
        title = f"{name}: {outcome.promise.text}" if name else outcome.promise.text
        stated = "; ".join(t for t in (outcome.binds, outcome.mend) if t)
        found.append(
            Line(
                (
                    Cell("", order, tip=str(outcome.state), icon=icon, tone=tone),
                    Cell(title, title, tip=outcome.promise.note or title),
                    Cell(outcome.expected, outcome.expected, tip=outcome.expected, tone="muted"),
                    Cell(sentence_case(outcome.got), outcome.got, tip=outcome.band or outcome.got, tone=tone),
                    Cell(sentence_case(stated), stated, tip=stated, tone="muted"),
                ),
                row,
            )
        )
    return found


def summary(rows: Sequence[CheckRow]) -> str:
    """How many hold."""
    held = sum(str(row.outcome.state) == "held" for row in rows)
    return f"{held} of {len(rows)} hold" if rows else ""


def assertion(design: Design, text: str) -> Assertion:
    """A new assertion of an expression.

    Raises
    ------
    DesignerError
        If the expression cannot be read.
    """

    read(text)
    number = 1
    while f"test{number}" in design.assertions:
        number += 1
    return Assertion(id=f"test{number}", expression=text)
