"""Runs the tests of files and puts their outcomes together."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from designer.atomic import read, write
from designer.checks.runner import Outcome, Promise, State, judge
from designer.checks.world import World
from designer.errors import DesignerError, FormatError
from designer.interchange.overrides import overridden
from designer.testing.files import Snapshot, Suite
from designer.units import format_si

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
        outcome = _run_one(suite, promise, variants)
        line = suite.lines.get(promise.name, 1)
        found.append(Tested(suite.file, suite.name, line, outcome, time.perf_counter() - begun))
    if suite.snapshot is not None:
        begun = time.perf_counter()
        if update:
            save(world, suite.snapshot)
        outcomes = compare(world, suite.snapshot)
        share = (time.perf_counter() - begun) / max(1, len(outcomes))
        found += [Tested(suite.file, suite.name, 1, outcome, share) for outcome in outcomes]
    return found


def _run_one(suite: Suite, promise: Promise, variants: dict[tuple[str, ...], World]) -> Outcome:
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


# Snapshots: the metrics of a design as they were, so that a change that moves them is seen.

#: larger files are no snapshots [B]
_LARGEST: Final = 64_000_000
_FORMAT = "designer-snapshot"


def taken(world: World, snapshot: Snapshot) -> dict[str, dict[str, dict[str, Any]]]:
    """The metrics of the chosen workloads as they are; all workloads where none is named."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for workload in snapshot.workloads or tuple(world.design.workloads):
        metrics = world.result(workload).metrics
        found[workload] = {name: {"value": m.value, "unit": m.unit} for name, m in sorted(metrics.items())}
    return found


def save(world: World, snapshot: Snapshot) -> None:
    """Keep the metrics as they are."""
    content = {"format": _FORMAT, "version": 1, "metrics": taken(world, snapshot)}
    write(snapshot.file, (json.dumps(content, indent=1, sort_keys=True) + "\n").encode())


def compare(world: World, snapshot: Snapshot) -> list[Outcome]:
    """One outcome per workload: held where no metric moved by more than the tolerance."""
    try:
        content = json.loads(read(snapshot.file, _LARGEST))
        known = cast("dict[str, dict[str, dict[str, Any]]]", content["metrics"])
    except FileNotFoundError:
        promise = Promise("snapshot", f"snapshot {snapshot.file.name}")
        return [Outcome(promise, State.ERROR, "", "there is no snapshot yet", mend="make one with --update")]
    except (ValueError, KeyError, TypeError, OSError):
        raise FormatError(
            "this is no snapshot", file=str(snapshot.file), remedy="take a new one with --update"
        ) from None
    try:
        now = taken(world, snapshot)
    except (DesignerError, KeyError) as error:
        promise = Promise("snapshot", f"snapshot {snapshot.file.name}")
        return [Outcome(promise, State.ERROR, "", str(error), mend="check the workloads the snapshot names")]
    found: list[Outcome] = []
    for workload in sorted(known.keys() | now.keys()):
        promise = Promise(f"snapshot {workload}", f"metrics of {workload} as in {snapshot.file.name}")
        moved = _moved_values(known.get(workload, {}), now.get(workload, {}), snapshot.tolerance)
        state = State.BROKEN if moved else State.HELD
        got = "; ".join(moved[:5]) or f"{len(now.get(workload, {}))} metrics unmoved"
        mend = "mend the change, or accept it with --update" if moved else ""
        found.append(Outcome(promise, state, f"within {snapshot.tolerance:.3g}", got, mend=mend))
    return found


def _moved_values(then: dict[str, dict[str, Any]], now: dict[str, dict[str, Any]], tolerance: float) -> list[str]:
    moved: list[str] = []
    for name in sorted(then.keys() | now.keys()):
        if name not in now or name not in then:
            moved.append(f"{name} {'is gone' if name not in now else 'is new'}")
            continue
        a, b, unit = float(then[name]["value"]), float(now[name]["value"]), str(now[name]["unit"])
        if not math.isclose(a, b, rel_tol=tolerance, abs_tol=0.0) and not (math.isnan(a) and math.isnan(b)):
            change = f" ({b / a - 1:+.1%})" if a else ""
            moved.append(f"{name} {format_si(a, unit, 4)} → {format_si(b, unit, 4)}{change}")
    return moved
