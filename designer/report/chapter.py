"""What a chapter of the report is to the rest: its name, its place, and what makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from designer.registry import discover
from designer.report.document import Chapter
from designer.report.subject import Context, Subject


@dataclass(frozen=True, slots=True)
class ChapterKind:
    """A chapter that a report can have; exactly one of the two makers is there.

    Parameters
    ----------
    of_design
        Makes it once for each design; None where a design has nothing for it.
    of_report
        Makes it once for the whole report.
    """

    name: str
    title: str
    order: int
    of_design: Callable[[Context, Subject], Chapter | None] | None = None
    of_report: Callable[[Context], Chapter | None] | None = None


def chapter_kinds() -> Mapping[str, ChapterKind]:
    """All chapters by name."""
    return discover("designer.report.chapters", "CHAPTER", ChapterKind)
