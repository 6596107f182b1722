"""Forms built from data: an entry for every field of a part kind, link, group or workload, each making its edit."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from designer.design.edit import Edit
from designer.errors import UnitError
from designer.units import DIMENSIONS, format_quantity, parse, write

#: an entry of a mixed selection, where the values differ
SEVERAL: Final = "several"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a form.

    Parameters
    ----------
    text
        What is shown; carries its unit.
    spelled
        What one edits.
    dimension
        A dimension of ``designer.units``, or ``count``, ``text``, ``flag``, ``choice``, ``fact`` (cannot be changed).
    status, source, band, note
        How sure the value is, where it comes from, its 80% band.
    overridden
        True if this design gives a value of its own in place of the part type's.
    make
        The edit that sets the value from spelled text; empty text takes an override away.
    value
        SI value for sliders; None where there is none.
    zero
        Words that zero is shown as, and may be entered as; empty where zero is a number like others.
    """

    name: str
    title: str
    text: str
    spelled: str = ""
    dimension: str = "fact"
    choices: tuple[tuple[str, str], ...] = ()
    status: str = ""
    source: str = ""
    band: str = ""
    note: str = ""
    overridden: bool = False
    required: bool = False
    make: Callable[[str], Edit] | None = None
    value: float | None = None
    bar: float | None = None
    zero: str = ""

    @property
    def editable(self) -> bool:
        """True if people may change the value."""
        return self.make is not None

    @property
    def unsure(self) -> bool:
        """True if no source confirms the value."""
        return self.status in ("assumed", "unverified")

    @property
    def scalable(self) -> bool:
        """True if "twice as much" makes sense."""
        return self.editable and bool(self.value) and (self.dimension in DIMENSIONS or self.dimension == "count")

    @property
    def tip(self) -> str:
        """All that is known about the value, for a tool tip."""
        pieces = [
            f"80% band: {self.band}" if self.band else "",
            f"Source: {self.source}" if self.source else "",
            f"How sure: {self.status}" if self.status else "",
            "Overridden in this design" if self.overridden else "",
            self.note,
        ]
        return "\n".join(p for p in pieces if p)

    def scaled(self, factor: float) -> str:
        """The value times a factor, spelled."""
        assert self.value is not None
        if self.dimension == "count":
            return str(max(1, round(self.value * factor)))
        return rounded(self.value * factor, self.dimension)


@dataclass(frozen=True, slots=True)
class Section:
    """Entries under a heading."""

    title: str
    entries: tuple[Entry, ...]
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """What the inspector shows.

    Parameters
    ----------
    key
        States whether the next form is about the same thing, so that a field being edited keeps the focus.
    asked
        Name of the entry that limits the workload, to be asked about first; empty where none of them does.
    """

    key: object
    title: str
    subtitle: str = ""
    icon: str = ""
    sections: tuple[Section, ...] = field(default=())
    asked: str = ""


def rounded(value: float, dimension: str) -> str:
    """A spelled value of three digits, for sliders: exact enough to read, short enough to keep in a file."""
    text = format_quantity(value, dimension)
    try:
        parse(text, dimension)
    except UnitError:
        return write(value, dimension)
    return text


def means_zero(text: str, words: str) -> bool:
    """True if a text says zero in the words of a field; ``none`` is understood in each that has words for it."""
    return bool(words) and text.strip().lower() in (words.lower(), "none")


#: a number with its unit, and dimensions with one unit that numbers are given in
_AMOUNT: Final = re.compile(r"[+-]?[\d_'.]+(?:[eE][+-]?\d+)?")
_ONLY_UNIT: Final = {"frequency": "/s", "power": "W", "mass": "kg"}


def with_unit(entry: Entry, text: str) -> str:
    """A bare number with the unit that the field shows, or the only one of its dimension: 20 becomes 20/s."""
    text = text.strip()
    if entry.dimension not in DIMENSIONS or entry.dimension == "ratio" or not _AMOUNT.fullmatch(text):
        return text
    shown = _AMOUNT.match(entry.spelled)
    unit = entry.spelled[shown.end() :] if shown is not None else ""
    unit = unit if unit.strip() else _ONLY_UNIT.get(entry.dimension, "")
    try:
        parse(text + unit, entry.dimension)
    except UnitError:
        return text
    return text + unit


def check(entry: Entry, text: str) -> str:
    """Why `text` cannot be the value of an entry; empty when it can."""
    text = with_unit(entry, text)
    if not text:
        return f"{entry.title} is needed" if entry.required else ""
    if means_zero(text, entry.zero):
        return ""
    if entry.dimension in DIMENSIONS:
        try:
            if parse(text, entry.dimension) < 0:
                return "less than nothing"
        except UnitError as error:
            return f"{error.text} — {error.remedy}" if error.remedy else error.text
    if entry.dimension == "count" and not (text.isascii() and text.isdigit() and int(text) <= 10**9):
        return f"{text!r} is not a count: give a whole number"
    return ""
