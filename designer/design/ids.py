"""New ids by natural numbering: ``gpu0`` → ``gpu1``, ``rack09`` → ``rack10``, ``leaf`` → ``leaf2``."""

from __future__ import annotations

import re
from collections.abc import Container

from designer.design.document import Design, WorkloadSpec
from designer.errors import AnalysisError
from designer.spelling import did_you_mean, known_name


def find_workload(design: Design, name: str, place: str = "") -> WorkloadSpec:
    """The workload of that id; letter case and ``-`` or ``_`` do not matter where only one can be meant.

    Parameters
    ----------
    place
        The option or setting that names it, for the message.

    Raises
    ------
    AnalysisError
        If there is none.
    """
    found = known_name(name, design.workloads)
    if found is None:
        known = f"its workloads: {', '.join(design.workloads)}" if design.workloads else "add one: --workload-file FILE"
        text = f"the design {design.name!r} has no workload {name!r}"
        raise AnalysisError(text, place=place or None, remedy=did_you_mean(name, design.workloads, known))
    return design.workloads[found]


_TAIL = re.compile(r"(?P<stem>.*?)(?P<number>[0-9]{1,9})?\Z", re.DOTALL)
_LONGEST_STEM = 190


def split_number(text: str) -> tuple[str, str]:
    """Stem and trailing digits of an id; the digits may be empty."""
    match = _TAIL.match(text)
    assert match is not None
    return match["stem"], match["number"] or ""


class Numberer:
    """Hands out ids that are not taken; keeps what it gave, so a thousand copies cost a thousand steps."""

    def __init__(self, taken: Container[str]) -> None:
        self._taken = taken
        self._given: set[str] = set()
        self._next: dict[tuple[str, int], int] = {}

    def take(self, wish: str) -> str:
        """`wish` itself if it is free, else the next free number after it."""
        if self._is_free(wish):
            self._given.add(wish)
            return wish
        stem, digits = split_number(wish)
        stem, width = stem[:_LONGEST_STEM], len(digits) if digits.startswith("0") else 0
        number = max(int(digits) + 1 if digits else 2, self._next.get((stem, width), 0))
        while not self._is_free(f"{stem}{number:0{width}d}"):
            number += 1
        self._next[stem, width] = number + 1
        self._given.add(f"{stem}{number:0{width}d}")
        return f"{stem}{number:0{width}d}"

    def _is_free(self, wish: str) -> bool:
        return wish not in self._taken and wish not in self._given


def next_id(taken: Container[str], wish: str) -> str:
    """`wish` if it is not in `taken`, else the next free number after it."""
    return Numberer(taken).take(wish)


def renumbered(name: str, old_id: str, new_id: str) -> str:
    """`name` with its number changed as the id's was: "GPU 0" of gpu0 copied to gpu8 becomes "GPU 8"."""
    stem, number = split_number(name)
    old, new = split_number(old_id)[1], split_number(new_id)[1]
    return f"{stem}{new}" if number and new and number == old else name
