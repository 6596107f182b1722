"""The report as data: chapters of blocks. Nothing here knows how a page, a screen or a text file shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from designer.displayed import Displayed
from designer.report.drawing.elements import Picture


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text in one style.

    Parameters
    ----------
    style
        ``strong``, ``muted``, ``alarm``, ``ok``, ``warn``, ``assumed``, ``code`` or empty.
    sign
        Name of a small drawn sign in front of it: a verdict or how sure a value is.
    link
        ``#key`` of a chapter or source, or the address of a page.
    """

    text: str
    style: str = ""
    sign: str = ""
    link: str = ""


Text = tuple[Span, ...]
Inline = str | Span | Text


def rich(*parts: Inline) -> Text:
    """Text of strings and spans, one after the other."""
    found: list[Span] = []
    for part in parts:
        if isinstance(part, str):
            if part:
                found.append(Span(part))
        elif isinstance(part, Span):
            found.append(part)
        else:
            found += part
    return tuple(found)


def plain(text: Inline) -> str:
    """Text without styles."""
    if isinstance(text, str):
        return text
    return text.text if isinstance(text, Span) else "".join(span.text for span in text)


Cell = Text | Picture


class Align(StrEnum):
    """Alignment of a column."""

    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class Head:
    """Head of a column; ``share`` is its part of the width relative to its neighbours, 0 as its content asks."""

    title: str
    align: Align = Align.LEFT
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """A row; ``style`` is ``group`` (one cell over all columns), ``total`` or empty; ``key`` is what links lead to."""

    cells: tuple[Cell, ...]
    style: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under heads. ``aside`` is small, next to the title, ``note`` below."""

    title: str
    heads: tuple[Head, ...]
    rows: tuple[Row, ...]
    aside: str = ""
    note: Text = ()
    small: bool = False


@dataclass(frozen=True, slots=True)
class Drawing:
    """A vector drawing whose colours are names of ``inks``. ``stated`` says in a sentence what it shows.

    A ``small`` one is a preview: it takes a third of a page at most and has no sheet of its own.
    """

    picture: Picture
    stated: str
    title: str = ""
    aside: str = ""
    note: Text = ()
    small: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; ``quiet`` ones are notes."""

    text: Text
    title: str = ""
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """One large number with its band and, where it has a target, what is to be said of it."""

    label: str
    value: str
    unit: str
    band: str
    strip: Picture | None = None
    verdict: Text = ()


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """Up to four large numbers side by side."""

    figures: tuple[KeyFigure, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing of a list: a mark in front of it, its head, and what is said of it."""

    head: Text
    text: Text
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """Things below each other, or side by side as ``tiles``."""

    title: str
    items: tuple[Item, ...]
    aside: str = ""
    tiles: bool = False
    note: Text = ()


@dataclass(frozen=True, slots=True)
class Follows:
    """What is to be done about a chapter."""

    text: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Two columns."""

    left: tuple[Block, ...]
    right: tuple[Block, ...]


Block = Table | Drawing | Paragraph | KeyFigures | Items | Follows | SideBySide


@dataclass(frozen=True, slots=True)
class Chapter:
    """One chapter.

    Parameters
    ----------
    key
        What links lead to, unique in a report.
    topic
        A word or two, small above the title.
    title
        The answer, a sentence with its number.
    deck
        One sentence how to read it.
    question
        What it answers, for the contents.
    about
        Which design it is about, small next to the topic; empty for all.
    """

    key: str
    topic: str
    title: str
    question: str
    blocks: tuple[Block, ...]
    deck: Text = ()
    about: str = ""


@dataclass(frozen=True, slots=True)
class Logo:
    """A picture of the user's on the front page: its bytes and their kind, ``image/png`` or ``image/svg+xml``."""

    data: bytes
    kind: str


@dataclass(frozen=True, slots=True)
class Report(Displayed):
    """A whole report. The first chapter is the summary and is on the front page, without a number.

    Parameters
    ----------
    facts
        What was computed, when and from what: names and texts.
    foot
        What is at the foot of every page.
    """

    title: str
    subtitle: str
    facts: tuple[tuple[str, str], ...]
    chapters: tuple[Chapter, ...]
    foot: str = ""
    date: str = ""
    language: str = "en"
    logo: Logo | None = None
    #: pictures of designs keep their own colours: light and dark of each name in them
    colours: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    @property
    def summary(self) -> Chapter:
        """The chapter on the front page."""
        return self.chapters[0]

    def numbered(self) -> Sequence[tuple[int, Chapter]]:
        """The other chapters with their numbers."""
        return list(enumerate(self.chapters[1:], start=1))
