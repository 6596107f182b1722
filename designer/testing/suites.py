"""Runs the tests of files and puts their outcomes together."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from designer.checks.runner import Outcome, Promise, State, judge
from designer.checks.world import World
from designer.errors import DesignerError
from designer.interchange.overrides import overridden
from designer.testing import snapshots
from designer.testing.files import Suite

#: where a message says what line it speaks of
_LINE: Final = re.compile(r"\bline (\d{1,9})\b")


@dataclass(frozen=True, slots=True)
class Tested:
    """One test that ran: its file and line, how it came out and how long it took [s]; no design where none was read."""

    file: Path
    design: str
    line: int
    outcome: Outcome
    seconds: float


def run_suite(suite: Suite, update: bool = False) -> list[Tested]:
    """All tests of one file; `update` takes snapshots again instead of comparing them."""
    world = World(suite.design, suite.findings)
    variants: dict[tuple[str, ...], World] = {(): world}
    found: list[Tested] = []
    for promise in suite.promises:
        begun = time.perf_counter()
        outcome = _one(suite, promise, variants)
        line = suite.lines.get(promise.name, 1)
        found.append(Tested(suite.file, suite.name, line, outcome, time.perf_counter() - begun))
    if suite.snapshot is not None:
        begun = time.perf_counter()
        if update:
            snapshots.save(world, suite.snapshot)
        outcomes = snapshots.compare(world, suite.snapshot)
        share = (time.perf_counter() - begun) / max(1, len(outcomes))
        found += [Tested(suite.file, suite.name, 1, outcome, share) for outcome in outcomes]
    return found


def _one(suite: Suite, promise: Promise, variants: dict[tuple[str, ...], World]) -> Outcome:
    own = suite.own_set.get(promise.name, ())
    world = variants.get(own)
    if world is None:
        try:
            world = variants[own] = World(overridden(suite.design, own), suite.findings)
        except DesignerError as error:
            where = f"set {', '.join(own)}: " if error.place else ""
            return Outcome(promise, State.ERROR, "", f"{where}{error.text}", mend=error.remedy or "")
    return judge(world, promise)


def unread(path: Path, error: DesignerError) -> Tested:
    """A file whose tests cannot be read, so that results for machines are not green without it."""
    found = _LINE.search(str(error))
    promise = Promise("the file", error.place or "its tests")
    outcome = Outcome(promise, State.ERROR, "", error.text, mend=error.remedy or "")
    return Tested(path, "", int(found[1]) if found else 1, outcome, 0.0)


def counts(tests: Sequence[Tested]) -> dict[State, int]:
    """How many came out how."""
    found = dict.fromkeys(State, 0)
    for test in tests:
        found[test.outcome.state] += 1
    return found
