"""The interface of an importer, and the result of reading a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from designer.design.document import Design
from designer.findings import Finding


@dataclass(frozen=True, slots=True)
class Imported:
    """A design read from a foreign file, and what was guessed, left out or odd on the way."""

    design: Design
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Importer:
    """A foreign format.

    Parameters
    ----------
    name, title
        Its name in commands, and for people.
    suffixes
        File name endings it usually has; a hint only, the content decides.
    sniff
        How sure it is, 0 to 1, that a text beginning like this is its format.
    read
        Text and file name to a design; raises ``ExchangeError`` with the place and the remedy.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    sniff: Callable[[str], float]
    read: Callable[[str, str], Imported]
