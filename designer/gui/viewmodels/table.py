"""Rows of tables and branches of trees, as plain data."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its text, what it is sorted by, and how it looks.

    Parameters
    ----------
    tone
        ``muted``, ``good``, ``warn``, ``bad``, ``assumed`` or empty.
    bar
        Share of the cell to fill, 0 to 1; None for no bar.
    """

    text: str
    sort: float | str | None = None
    tip: str = ""
    tone: str = ""
    bar: float | None = None
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One row: its cells and what it is about."""

    cells: tuple[Cell, ...]
    key: Hashable = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column; numbers stand right."""

    title: str
    number: bool = False
    width: int = 0


@dataclass(slots=True)
class Branch:
    """One row of a tree with what is below it.

    Parameters
    ----------
    drag
        Mime type and text that are dragged out; empty for nothing.
    """

    title: str
    detail: str = ""
    key: Hashable = None
    icon: str = ""
    tip: str = ""
    drag: tuple[str, str] = ("", "")
    children: list[Branch] = field(default_factory=list["Branch"])
