"""Runs promises: expected, got, band, what binds, what would mend it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from designer.checks.evaluate import Evaluator
from designer.checks.syntax import CheckError, read
from designer.checks.values import Truth
from designer.checks.world import World
from designer.design.document import Design
from designer.findings import Finding, Severity

_SHOWN = 3


class State(StrEnum):
    """How a promise came out."""

    HELD = "held"
    BROKEN = "broken"
    ERROR = "error"  #: it cannot be read or worked out


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise with its name and where it is."""

    name: str
    text: str
    place: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one promise came out.

    Parameters
    ----------
    column
        Place of a mistake in its text, from 1; 0 for none.
    """

    promise: Promise
    state: State
    expected: str = ""
    got: str = ""
    band: str = ""
    binds: str = ""
    mend: str = ""
    column: int = 0

    @property
    def message(self) -> str:
        """One line for people."""
        if self.state is State.ERROR:
            return f"{self.promise.text}: {self.got}" + (f" — {self.mend}" if self.mend else "")
        band = f" (80% band {self.band})" if self.band else ""
        line = f"{self.promise.text}: expected {self.expected}, got {self.got}{band}"
        if self.state is State.BROKEN:
            line += f"; bound by {self.binds}" if self.binds else ""
            line += f" — {self.mend}" if self.mend else ""
        return line


def run(world: World, promises: Iterable[Promise]) -> list[Outcome]:
    """How promises come out on a world; no promise stops another."""
    return [judge(world, promise) for promise in promises]


def judge(world: World, promise: Promise) -> Outcome:
    """How one promise comes out."""
    try:
        truth = Evaluator(world).truth(read(promise.text))
    except CheckError as error:
        return Outcome(promise, State.ERROR, "", error.text, mend=error.remedy or "", column=error.position + 1)
    return _outcome(promise, truth)


def _outcome(promise: Promise, truth: Truth) -> Outcome:
    state = State.HELD if truth.holds else State.BROKEN
    if truth.findings and not truth.holds:
        shown = "; ".join(f"{f.code} {f.text}" for f in truth.findings[:_SHOWN])
        more = f" and {len(truth.findings) - _SHOWN} more" if len(truth.findings) > _SHOWN else ""
        return Outcome(promise, state, truth.expected, f"{shown}{more}", mend=truth.findings[0].remedy)
    got = [f"{m.shown}{f' at {m.name}' if m.name else ''}" for m in truth.got[:_SHOWN]]
    if len(truth.got) > _SHOWN:
        got.append(f"and {len(truth.got) - _SHOWN} more")
    first = truth.got[0] if truth.got else None
    if first is None:
        return Outcome(promise, state, truth.expected, "nothing")
    return Outcome(promise, state, truth.expected, ", ".join(got), first.band, first.binds, first.mend)


def promises_of(design: Design) -> list[Promise]:
    """The assertions stored in a design."""
    return [Promise(a.id, a.text, f"assertions.{a.id}", a.note) for a in design.assertions.values()]


def as_findings(outcomes: Sequence[Outcome]) -> list[Finding]:
    """Promises that do not hold, as findings."""
    found: list[Finding] = []
    for outcome in outcomes:
        if outcome.state is State.BROKEN:
            text, remedy = outcome.message.partition(" — ")[::2]
            found.append(Finding("ASSERT-BROKEN", Severity.ERROR, text, (outcome.promise.name,), remedy))
        elif outcome.state is State.ERROR:
            text = f"{outcome.promise.text}: {outcome.got}"
            found.append(Finding("ASSERT-UNEVALUATED", Severity.ERROR, text, (outcome.promise.name,), outcome.mend))
    return found
