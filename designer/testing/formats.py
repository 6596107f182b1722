"""Outcomes of suites of design tests, and their formats for machines: JUnit XML, GitHub annotations, JSON."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast
from xml.sax.saxutils import escape, quoteattr

from designer.atomic import read, write
from designer.checks.runner import Outcome, Promise, State, judge
from designer.checks.world import World
from designer.decisions.acceptance_cluster import STAGES, Verdict
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


#: what XML 1.0 cannot hold
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(tests: Sequence[Tested]) -> str:
    """JUnit XML as continuous integration reads it: one suite per file."""
    by_file: dict[str, list[Tested]] = {}
    for test in tests:
        by_file.setdefault(str(test.file), []).append(test)
    suites = [_suite(file, own) for file, own in by_file.items()]
    total = counts(tests)
    head = (
        f'<testsuites tests="{len(tests)}" failures="{total[State.BROKEN]}" errors="{total[State.ERROR]}" '
        f'time="{sum(t.seconds for t in tests):.3f}">'
    )
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', head, *suites, "</testsuites>", ""])


def acceptance_junit(verdict: Verdict, name: str) -> str:
    """Results of the acceptance of a cluster as JUnit XML: one suite per stage, a test case per result."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name={_attribute(name)} tests="{len(verdict.outcomes)}" failures="{len(verdict.failed)}">',
    ]
    for stage, (title, _, _) in STAGES.items():
        own = [o for o in verdict.outcomes if o.stage == stage]
        if not own:
            continue
        failures = sum(not o.passed for o in own)
        lines.append(f' <testsuite name={_attribute(title)} tests="{len(own)}" failures="{failures}">')
        for o in own:
            test, e = o.judged.expected.trial, o.judged.expected.estimate
            opening = f"  <testcase classname={_attribute(o.place)} name={_attribute(test.id)}"
            if o.passed:
                lines.append(f"{opening}/>")
                continue
            limit = format_si(o.judged.expected.limit, e.unit)
            message = f"{format_si(o.judged.measured, e.unit)}, at least {limit} expected"
            cause = _text(f"{message}. {o.cause or 'no single fault explains it'}")
            lines.append(f"{opening}><failure message={_attribute(message)}>{cause}</failure></testcase>")
        lines.append(" </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _suite(file: str, tests: Sequence[Tested]) -> str:
    total = counts(tests)
    lines = [
        f' <testsuite name={_attribute(file)} tests="{len(tests)}" failures="{total[State.BROKEN]}" '
        f'errors="{total[State.ERROR]}" time="{sum(t.seconds for t in tests):.3f}">'
    ]
    for test in tests:
        outcome = test.outcome
        opening = (
            f"  <testcase classname={_attribute(test.design or file)} name={_attribute(outcome.promise.name)} "
            f'file={_attribute(file)} line="{test.line}" time="{test.seconds:.3f}"'
        )
        if outcome.state is State.HELD:
            lines.append(f"{opening}/>")
            continue
        tag = "failure" if outcome.state is State.BROKEN else "error"
        lines.append(
            f"{opening}><{tag} message={_attribute(outcome.message)}>{_text(outcome.message)}</{tag}></testcase>"
        )
    return "\n".join([*lines, " </testsuite>"])


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("�", text))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("�", text))


def github(tests: Sequence[Tested]) -> str:
    """Workflow commands, one line per test that does not hold, which GitHub shows at the line of the file."""
    lines: list[str] = []
    for test in tests:
        if test.outcome.state is State.HELD:
            continue
        file = _property(test.file.as_posix())
        title = _property(": ".join(t for t in (test.design, test.outcome.promise.name) if t))
        lines.append(f"::error file={file},line={test.line},title={title}::{_data(test.outcome.message)}")
    return "".join(f"{line}\n" for line in lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def as_document(tests: Sequence[Tested]) -> dict[str, Any]:
    """The JSON that scripts rely on."""
    total = counts(tests)
    return {
        "held": total[State.HELD],
        "broken": total[State.BROKEN],
        "errors": total[State.ERROR],
        "tests": [
            {
                "file": test.file.as_posix(),
                "line": test.line,
                "design": test.design,
                "name": test.outcome.promise.name,
                "expect": test.outcome.promise.text,
                "state": str(test.outcome.state),
                "expected": test.outcome.expected,
                "got": test.outcome.got,
                "band": test.outcome.band,
                "binds": test.outcome.binds,
                "mend": test.outcome.mend,
                "column": test.outcome.column,
                "seconds": test.seconds,
            }
            for test in tests
        ],
    }
