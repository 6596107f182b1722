"""``designer accept``: what to measure on the built machine, what to expect, and what results mean."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from designer import atomic
from designer.cli.cluster_acceptance import accept_cluster
from designer.cli.command import Command
from designer.cli.design import add_design, opened
from designer.cli.output import page_width, paragraph, print_json, shown_file, table
from designer.cli.pages import add_page_options, print_page
from designer.decisions.acceptance import Judged, Machine, Promises, expected
from designer.decisions.acceptance_causes import explain
from designer.decisions.acceptance_results import read
from designer.errors import DesignerError, FormatError
from designer.pages.accept import page_of_results, page_of_tests
from designer.units import format_si, write

if TYPE_CHECKING:
    from designer.decisions.acceptance import Expected, Trial
    from designer.decisions.acceptance_causes import Cause

_MORE = (
    "Without results it prints the sheet: each test with its command, what to expect, the 80% band, and the\n"
    "one-sided 97.5 % limit below which a result is not normal. With results, outputs of nccl-tests, nvbandwidth,\n"
    "BabelStream, fio, ib_write_bw or gpu-burn as they are printed (- reads what is pasted), each is judged, and\n"
    "what explains them best is ranked; what would show in just the same way is named together. Of a\n"
    "cluster the first machine is tested, and its rails and collectives to the next one; --scripts writes stages of\n"
    "tests for all its nodes, rails and groups of nodes, and --folder judges what they measured.\n\n"
)
#: results that fail or pass are stated up to so many
_MOST = 40
#: in a narrower terminal commands are below the table
_WIDE = 160
#: larger files hold no results [B]
_LARGEST = 64_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument("--results", metavar="FILE", nargs="+", default=[], help="outputs of the tests; - for stdin")
    parser.add_argument("--scripts", metavar="DIR", help="write scripts, hosts and limits for a whole cluster")
    parser.add_argument("--folder", metavar="DIR", help="judge the results of those scripts")
    parser.add_argument("--stage", type=int, choices=range(1, 8), help="judge only one stage of the folder")
    parser.add_argument("-o", "--output", metavar="FILE", help="sheet of the folder: .pdf, .html, .md, .xml (JUnit)")
    parser.add_argument("--force", action="store_true", help="replace files that exist")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """Print the sheet, or judge results."""

    design = opened(options).design
    if any(getattr(options, name) for name in ("scripts", "folder", "stage", "output")):
        return accept_cluster(options, design, _judged_document)
    head = {"design": {"name": design.name, "file": shown_file(options.design)}}
    try:
        if not options.results:
            rows = expected(design)
            if options.json:
                print_json({**head, "tests": [_expected_document(e) for e in rows]})
            else:
                print_page(
                    lambda: page_of_tests(rows, design, options.design),
                    options,
                    lambda: _print_sheet(design.name, rows),
                )
            return 0
        machine = Machine(design)
        promises = Promises(machine)
        judged: list[Judged] = []
        others: list[str] = []
        for reading in _readings(options.results, machine):
            promised = promises.of(reading.trial)
            if promised is not None:
                judged.append(Judged(promised, reading.value))
            else:
                others.append(reading.trial.id)
        if not judged:
            # nothing compared is no sign that nothing is wrong
            raise FormatError(
                f"none of these results can be judged on this design: {', '.join(others[:4])}",
                place="--results",
                remedy="designer accept without --results lists the tests that it has",
            )
    except DesignerError as error:
        raise error if error.file else error.at(file=options.design) from None
    causes = explain(machine, judged)
    if options.json:
        results = [_judged_document(j) for j in judged]
        stated = {"results": results, "not_judged": others, "causes": [_cause_document(c) for c in causes]}
        print_json({**head, **stated})
    else:

        def rest() -> None:
            _print_results(design.name, judged, causes)
            if others:
                print(paragraph("", f"not judged, the design promises nothing for them: {', '.join(others)}", "  "))

        print_page(lambda: page_of_results(judged, causes, design, options.design), options, rest)
    return 1 if any(not j.passed for j in judged) else 0


def _readings(files: list[str], machine: Any) -> list[Any]:
    import sys

    found: list[Any] = []
    for file in files:
        try:
            text = sys.stdin.read() if file == "-" else atomic.read(file, _LARGEST + 1).decode("utf-8", "replace")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise FormatError(f"cannot be read: {reason}", file=file, remedy="name a file that can be read") from None
        if len(text) > _LARGEST:
            raise FormatError("the file is too large", file=file, remedy="give the output of one run")
        found += read(text, machine, file)
    return found


def _expected_document(expected: Expected) -> dict[str, Any]:
    e, trial = expected.estimate, expected.trial
    return {
        "test": trial.id,
        "tool": trial.tool,
        "command": trial.command,
        "parts": list(trial.parts),
        "expected": e.value,
        "low": e.low,
        "high": e.high,
        "limit": expected.limit,
        "unit": e.unit,
        "sources": list(e.sources),
    }


def _judged_document(judged: Judged) -> dict[str, Any]:
    return {
        **_expected_document(judged.expected),
        "measured": judged.measured,
        "share": judged.share,
        "passed": judged.passed,
    }


def _cause_document(cause: Cause) -> dict[str, Any]:
    return {
        "probability": cause.probability,
        "sound": cause.sound,
        "faults": [{"kind": f.kind, "text": f.title, "where": f.place, "remedy": f.remedy} for f in cause.faults],
    }


def _print_sheet(name: str, rows: list[Expected]) -> None:
    print(f"{name}: run each on the idle machine, three times, and keep the best\n")
    stated: dict[tuple[str, str], list[Expected]] = {}
    for row in rows:
        e = row.estimate
        stated.setdefault((row.trial.command, f"{e.value:.4g} {row.limit:.4g}"), []).append(row)
    lines = [_sheet_row(equal) for equal in stated.values()]
    headings = ("test", "of", "expected", "80% band", "not below", "command")
    if (page_width() or _WIDE) >= _WIDE:
        print(table(headings, lines, (2, 3, 4)))
        return
    # commands are to be copied: each on one line of its own, however long
    print(table(headings[:-1], [line[:-1] for line in lines], (2, 3, 4)))
    print()
    for line in lines:
        print(f"{line[0]}, {line[1]}:\n  {line[-1]}")


def _about(trial: Trial) -> str:
    """The parts of a test, and the bytes it moves where it comes in several sizes."""

    between = trial.parts[0] if len(trial.parts) == 1 else f"{trial.parts[0]} … {trial.parts[-1]}"
    return f"{between}, {write(trial.size, 'size')}" if trial.size else between


def _sheet_row(equal: list[Expected]) -> tuple[str, ...]:
    first = equal[0]
    e, trial = first.estimate, first.trial
    about = _about(trial)
    more = f" and {len(equal) - 1} more" if len(equal) > 1 else ""
    band = f"{format_si(e.low, e.unit)} – {format_si(e.high, e.unit)}"
    limit = format_si(first.limit, e.unit)
    return (trial.sort, f"{about}{more}", format_si(e.value, e.unit), band, limit, trial.command)


def _print_results(name: str, judged: list[Judged], causes: list[Cause]) -> None:
    failed = [j for j in judged if not j.passed]
    print(f"{name}: {len(judged)} result{'s' * (len(judged) != 1)}, {len(failed)} below the limit\n")
    rows = [
        (
            f"{j.expected.trial.sort}, {_about(j.expected.trial)}",
            format_si(j.measured, j.expected.estimate.unit),
            format_si(j.expected.estimate.value, j.expected.estimate.unit),
            format_si(j.expected.limit, j.expected.estimate.unit),
            f"{j.share:.0%}",
            "pass" if j.passed else "FAIL",
        )
        for j in sorted(judged, key=lambda j: (j.passed, j.share))[:_MOST]
    ]
    print(table(("test", "measured", "expected", "not below", "share", ""), rows, (1, 2, 3, 4)))
    print("\nWhat explains them, the likeliest first:")
    for cause in (c for c in causes if c.probability >= 1e-3 or c is causes[0]):
        text = "nothing is wrong" if cause.sound else "; or ".join(f.title for f in cause.faults[:3])
        more = f" (and {len(cause.faults) - 3} with the same symptoms)" if len(cause.faults) > 3 else ""
        print(paragraph(f"  {cause.probability:4.0%}  ", f"{text}{more}"))
        if not cause.sound:
            print(paragraph("        ", next(f.remedy for f in cause.faults)))


COMMAND = Command(
    "accept",
    "acceptance of a built machine: tests with commands, expected values, and what results mean",
    "designer accept hgx-h100-8",
    add_arguments,
    run,
    _MORE,
)
