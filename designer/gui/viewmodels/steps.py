"""The history panel: what was done, in words, and the current step."""

from __future__ import annotations

from designer.design.history import History
from designer.gui.viewmodels.table import Cell, Column, Line

COLUMNS = (Column("Step", width=260),)


def lines(history: History) -> list[Line]:
    """Rows, oldest first; row k is the design after k steps."""
    found = [Line((Cell("Opened"),), 0)]
    for number, step in enumerate(history.steps, start=1):
        undone = number > history.done
        found.append(Line((Cell(step.label, tone="muted" if undone else ""),), number))
    return found
