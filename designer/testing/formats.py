"""Outcomes for machines: JUnit XML, GitHub annotations, JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from designer.checks.runner import State
from designer.decisions.acceptance_cluster import STAGES, Verdict
from designer.testing.suites import Tested, counts
from designer.units import format_si

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
            message = f"{format_si(o.judged.measured, e.unit)}, not below {limit} was expected"
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
