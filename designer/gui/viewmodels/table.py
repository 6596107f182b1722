"""Rows of tables and branches of trees, as plain data."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, overload


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


class LazyLines(Sequence[Line]):
    """Rows of a long table, each made when it is looked at: of thousands a window shows a dozen.

    Parameters
    ----------
    count, make
        How many rows there are, and what makes the row of a number.
    key
        What the row of a number is about, without making it.
    """

    def __init__(self, count: int, make: Callable[[int], Line], key: Callable[[int], Hashable] | None = None) -> None:
        self._count, self._make, self._key = count, make, key
        self._known: dict[int, Line] = {}

    def key_of(self, index: int) -> Hashable:
        """What the row of a number is about."""
        return self[index].key if self._key is None else self._key(index)

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | Sequence[Line]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(index)
        index %= self._count
        found = self._known.get(index)
        if found is None:
            found = self._known[index] = self._make(index)
        return found

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Line]:
        return (self[i] for i in range(self._count))


@dataclass(frozen=True, slots=True)
class Column:
    """A column; numbers are aligned right. One that is `spare` is left out of a narrow table."""

    title: str
    number: bool = False
    width: int = 0
    spare: bool = False


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


# How texts of the engine are written for people.

#: a word of a sentence, not the name of a file, a part or a setting
_WORD: Final = re.compile(r"[a-z]+(?=\s|[,:.;](?:\s|$)|$)")


def sentence_case(text: str) -> str:
    """A message with a capital at its start, unless that is a name."""
    return text[:1].upper() + text[1:] if _WORD.match(text) else text
