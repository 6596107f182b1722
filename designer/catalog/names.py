"""Names of parts as people, tools and dumps write them, and how alike two names are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final, cast

from designer.errors import CatalogError

#: words that tell nothing about which part is meant
_NOISE: Final = re.compile(
    r"\(r\)|\(tm\)|®|™|\b(?:nvidia|mellanox|tesla|amd|instinct|geforce|intel|corporation|generation|technologies)\b|\b0x"
)
_OTHER: Final = re.compile(r"[^a-z0-9.+]+")
_TOKEN: Final = re.compile(r"[a-z]+|\d+(?:\.\d+)?")
#: section of the aliases file whose keys are regular expressions
PATTERNS: Final = "patterns"


def normal(name: str) -> str:
    """A name without case, punctuation and idle words: ``"NVIDIA A100-SXM4-80GB"`` → ``"a100sxm480gb"``."""
    return _OTHER.sub("", _NOISE.sub(" ", name.casefold()))


#: comparing takes the square of the length, and no name is longer
_LONGEST: Final = 200


def likeness(a: str, b: str) -> float:
    """How alike two names are, from 0 (not at all) to 1 (the same); letters and the tokens they form count alike."""
    first, second = normal(a[:_LONGEST]), normal(b[:_LONGEST])
    if not first or not second:
        return 0.0
    if first == second:
        return 1.0
    letters = SequenceMatcher(None, first, second, autojunk=False).ratio()
    left, right = set(_TOKEN.findall(first)), set(_TOKEN.findall(second))
    tokens = len(left & right) / len(left | right) if left | right else 0.0
    return (letters + tokens) / 2


class Aliases(Mapping[str, str]):
    """Alias → part id. Looked up without regard to case and punctuation, then by pattern.

    Parameters
    ----------
    tables
        Parsed alias files, the one that wins last: sections of ``name = id``, and ``[patterns]`` whose keys are
        regular expressions tried in their order.
    """

    def __init__(self, tables: Sequence[Mapping[str, object]] = ()) -> None:
        self._spelled: dict[str, str] = {}
        self._normal: dict[str, str] = {}
        self._patterns: list[tuple[re.Pattern[str], str]] = []
        for table in tables:
            for section, names in table.items():
                self._add(section, names)

    def _add(self, section: str, names: object) -> None:
        if not isinstance(names, dict):
            raise CatalogError(
                f"{section!r} is no section of names", place=section, remedy='write [names] "name" = "id"'
            )
        for name, id in cast("dict[str, object]", names).items():
            if not isinstance(id, str):
                raise CatalogError(f"{id!r} is no part id", place=f"{section}.{name}", remedy='write "name" = "id"')
            if section == PATTERNS:
                self._patterns.append((re.compile(name, re.IGNORECASE), id))
            else:
                self._spelled[name] = id
                self._normal[normal(name)] = id

    def __getitem__(self, name: str) -> str:
        found = self._spelled.get(name) or self._normal.get(normal(name))
        if found is None:
            found = next((id for pattern, id in self._patterns if pattern.search(name)), None)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._spelled)

    def __len__(self) -> int:
        return len(self._spelled)

    @property
    def patterns(self) -> tuple[tuple[str, str], ...]:
        """The patterns and the ids they stand for, in the order they are tried."""
        return tuple((pattern.pattern, id) for pattern, id in self._patterns)
