"""The layout that a type of rack states: which height units hold which kind of unit, and what is fixed in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from designer.errors import DocumentError

#: what a rack holds besides drawn units, by the word of the layout
FIXTURES: Final = {
    "power_shelf": "Power shelf",
    "management": "Management switch",
    "cdu": "Cooling distribution unit",
    "blank": "Blank panel",
}
_ENTRY: Final = re.compile(r"(?P<kind>[a-z_]+) (?P<first>\d{1,3})(?:-(?P<last>\d{1,3}))?")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Height units of one kind, `first` to `last` [U]."""

    kind: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Fixture:
    """What is fixed in a rack: name, lowest height unit, height [U]."""

    name: str
    at: float
    height: float

    @property
    def top(self) -> float:
        """The first height unit above it."""
        return self.at + self.height


@lru_cache(64)
def read_layout(text: str) -> tuple[Stretch, ...]:
    """Stretches of a layout as ``power_shelf 2-5, server 6-13``, lowest first.

    Raises
    ------
    DocumentError
        If an entry cannot be read, or two take the same height unit.
    """
    found: list[Stretch] = []
    for entry in filter(None, (e.strip() for e in text.split(","))):
        match = _ENTRY.fullmatch(entry)
        if match is None:
            raise _wrong(entry, "is no kind with its height units")
        first = int(match["first"])
        last = int(match["last"] or first)
        if not 1 <= first <= last:
            raise _wrong(entry, "ends below its beginning")
        found.append(Stretch(match["kind"], first, last))
    found.sort(key=lambda s: s.first)
    for below, above in pairwise(found):
        if above.first <= below.last:
            raise _wrong(f"{above.kind} {above.first}", f"takes units of {below.kind} {below.first}-{below.last}")
    return tuple(found)


def _wrong(entry: str, why: str) -> DocumentError:
    return DocumentError(
        f"{entry!r} {why}", place="layout of a rack", remedy="write kind first-last, as in server 6-13, power_shelf 2-5"
    )


def fixtures(stretches: tuple[Stretch, ...]) -> tuple[Fixture, ...]:
    """What is fixed in the rack, one for each height unit; a cooling distribution unit takes its stretch whole."""
    found: list[Fixture] = []
    for s in stretches:
        name = FIXTURES.get(s.kind)
        if name is None:
            continue
        if s.kind == "cdu":
            found.append(Fixture(name, float(s.first), float(s.last - s.first + 1)))
        else:
            found += [Fixture(name, float(u), 1.0) for u in range(s.first, s.last + 1)]
    return tuple(found)
