"""The blocks of a page: frozen texts, figures, shares, limits, changes and tables.

A page answers one question. Its parts have a fixed order: subject, state and headline, key figures, where the time
(memory, path) goes, what limits, what to change, remarks, details, sources. Renderers choose how a part looks and leave
out what is empty; they write no words of their own about an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any

from designer.engine.results import Curve


class Tone(StrEnum):
    """How a text is coloured; `BOUND` is for what limits."""

    PLAIN = ""
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"
    BOUND = "bound"
    QUIET = "quiet"


class State(Enum):
    """State of an answer, with the words of its chip."""

    ANSWERED = "Answered"
    MET = "Meets all targets"
    MISSED = "Misses the target"
    PARTLY = "Partly done"
    UNFIT = "Cannot run"
    REFUSED = "No answer"
    COMPUTING = "Computing"
    STALE = "Out of date"
    NONE = "No workload"

    @property
    def tone(self) -> Tone:
        """Colour of the chip."""
        if self in (State.ANSWERED, State.MET):
            return Tone.GOOD
        if self in (State.MISSED, State.UNFIT, State.REFUSED):
            return Tone.BAD
        return Tone.WARNING if self in (State.PARTLY, State.STALE) else Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its band.

    Parameters
    ----------
    name
        Name of the metric in ``--json``, empty for figures that are no metric.
    value, unit
        ``12.3`` and ``requests/s``; the unit is empty where the value carries it (``2 min 32 s``, ``41.9%``).
    band
        80 % band without unit, ``10.5–14.3``; empty where it is narrower than the digits of the value.
    note
        What the figure refers to: ``of 85.5 GB``.
    target
        ``limit: 1,000 ms``; empty where none is set.
    verdict, tone
        ``met``, ``likely``, ``unlikely``, ``missed``, ``fits``, ``no``; colour of the verdict.
    low, at, high, bound
        Band, value and target in the SI unit of the metric, for a strip; `bound` is None without a target.
    sources
        Keys of the sources.
    """

    name: str
    title: str
    value: str
    unit: str = ""
    band: str = ""
    note: str = ""
    target: str = ""
    verdict: str = ""
    tone: Tone = Tone.PLAIN
    low: float = 0.0
    at: float = 0.0
    high: float = 0.0
    bound: float | None = None
    sources: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Value and unit."""
        return f"{self.value} {self.unit}" if self.unit else self.value


@dataclass(frozen=True, slots=True)
class Share:
    """One part of a whole: its name, its amount as text, its share of the whole [1]; `limits` marks the bottleneck."""

    title: str
    text: str
    share: float
    limits: bool = False


@dataclass(frozen=True, slots=True)
class Stack:
    """A whole (a step, the memory of a GPU, a path) and its parts, the largest first."""

    title: str
    total: str
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    """What limits an answer, or would next.

    Parameters
    ----------
    when
        ``now``, ``then``, or the part of the work it limits: ``prompts``, ``answers``.
    title, detail
        ``GPU arithmetic`` and ``8 × H100 SXM5``.
    gain
        Gain of doubling it, ``+31%``; empty where it was not computed.
    ids
        Parts and links on the drawing.
    now
        False for what would limit next.
    """

    when: str
    title: str
    detail: str = ""
    gain: str = ""
    ids: tuple[str, ...] = ()
    now: bool = True


@dataclass(frozen=True, slots=True)
class Sketch:
    """Parts of one kind in the small drawing of a change: how many, their kind, a caption; `new` if it adds them."""

    count: int
    kind: str
    caption: str
    new: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A change to consider, or the next question to ask.

    Parameters
    ----------
    title, detail
        ``Shard everything (FSDP)`` and ``29.5 GB per GPU, 12.9 days (11.0–14.8)``.
    gain, price
        ``+31%`` or ``+6.1 requests/s (5.2–7.1)``; ``USD 168,000`` or ``+5.4 kW``. Empty where not computed.
    command
        Arguments of ``designer`` that compute or apply it; empty where it needs none.
    edit
        Edit of the design that a window applies as one undo step; None where there is none.
    place
        Place of the window that answers it: ``links``, ``checks``, ``improve``, ``time`` or empty.
    rows
        Figures with the change: title and value, as ``("First token, p95", "341 ms")``.
    sketch
        Small drawing of what is kept and what is added.
    design
        Design that a window opens as a new document; None where there is none.
    """

    title: str
    detail: str = ""
    gain: str = ""
    price: str = ""
    tone: Tone = Tone.GOOD
    command: tuple[str, ...] = ()
    edit: Any = None
    place: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    sketch: tuple[Sketch, ...] = ()
    design: Any = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; numbers are aligned to the right."""

    title: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts under their heads; `limits` are the numbers of rows that are bottlenecks.

    `ids` are the parts and links of each row on the drawing; empty where rows have none.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    limits: frozenset[int] = frozenset()
    ids: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines to draw: the key of their figure and the lines."""

    key: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A source with its number on the page."""

    number: int
    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """The answer to one question.

    Parameters
    ----------
    subject
        What was asked: the workload and the design.
    headline
        One or two sentences that answer, at most 30 words each.
    figures
        At most six, the most important first; renderers with little room show three or four.
    summary
        Of an answer about several things, each with its sentence.
    table
        The rows that are the answer itself: runs of a sweep, single failures, designs side by side.
    where_title, where
        ``Where the time goes`` with one stack for each kind of step.
    changes
        What to change, best first, then the questions to ask next. Where the answer is not valid they come before the
        figures.
    remarks
        Findings in one sentence each, the worst first.
    more
        What the details hold: ``All 17 figures, links and sources``.
    """

    subject: str
    state: State
    headline: str
    figures: tuple[Figure, ...] = ()
    summary: tuple[tuple[str, str], ...] = ()
    table: Table | None = None
    where_title: str = ""
    where: tuple[Stack, ...] = ()
    limits: tuple[Limit, ...] = ()
    changes_title: str = "What to do next"
    changes: tuple[Change, ...] = ()
    remarks: tuple[str, ...] = ()
    details: tuple[Table | Chart, ...] = ()
    sources: tuple[Source, ...] = ()
    more: str = ""
    #: words of the chip where those of the state do not say enough: ``1 machine stays``
    chip: str = ""
    key: str = ""

    @property
    def valid(self) -> bool:
        """False where the figures would not hold: the workload does not fit, or there is no answer."""
        return self.state not in (State.UNFIT, State.REFUSED)

    @property
    def chip_text(self) -> str:
        """Words of the chip."""
        return self.chip or self.state.value
