"""Acceptance of a whole cluster from the command line: scripts for it, and the sheet of a folder of results."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from designer import atomic
from designer.cli.output import paragraph, print_json, print_written
from designer.decisions.acceptance_cluster import STAGES, Cluster, judge
from designer.errors import FormatError
from designer.interchange.acceptance_scripts import DESIGN, scripts
from designer.interchange.native.writer import save
from designer.report.acceptance_sheet import acceptance_sheet
from designer.report.writing import REPORTS, rendered
from designer.testing.formats import acceptance_junit
from designer.units import format_si

if TYPE_CHECKING:
    from designer.decisions.acceptance import Judged
    from designer.decisions.acceptance_cluster import Verdict
    from designer.design.document import Design

    #: a result as JSON
    Document = Callable[[Judged], dict[str, Any]]

#: failures and gaps that are printed
_MOST: Final = 40


def accept_cluster(options: argparse.Namespace, design: Design, document: Document) -> int:
    """Write scripts, or judge a folder of results; exit code 1 where something failed.

    Raises
    ------
    FormatError
        If options do not fit each other, or a file exists already.
    """

    if options.scripts:
        return _write_scripts(options, design)
    if not options.folder:
        place = "--stage" if options.stage else "-o"
        raise FormatError("it is about a folder of results", place=place, remedy="add --folder DIR")
    return _judge_folder(options, design, document)


def _write_scripts(options: argparse.Namespace, design: Design) -> int:
    """Write the scripts of the acceptance of a cluster into a folder."""
    from pathlib import Path

    folder = Path(options.scripts)
    made = scripts(Cluster(design))
    there = next((name for name in (*made, DESIGN) if (folder / name).exists()), None)
    if there is not None and not options.force:
        raise FormatError(
            "the file exists already", file=str(folder / there), remedy="choose another folder or add --force"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in made.items():
        print_written(str(folder / name), atomic.write(folder / name, text.encode()))
    print_written(str(folder / DESIGN), save(design, folder / DESIGN, overwrite=options.force))
    return 0


def _judge_folder(options: argparse.Namespace, design: Design, document: Document) -> int:
    """Judge a folder of results; the sheet is printed or written. Exit code 1 where something failed."""
    from pathlib import Path

    cluster = Cluster(design)
    verdict = judge(cluster, Path(options.folder), (options.stage,) if options.stage else tuple(STAGES))
    if options.output:
        _write_sheet(options, cluster, verdict)
    if options.json:
        print_json(_verdict_document(design, verdict, document))
    elif not options.output:
        _print_verdict(verdict)
    return 1 if verdict.failed else 0


def _write_sheet(options: argparse.Namespace, cluster: Cluster, verdict: Verdict) -> None:
    import datetime
    from pathlib import Path

    target = Path(options.output)
    suffix = target.suffix.lower()
    if suffix not in (*REPORTS, ".xml"):
        raise FormatError(
            f"{options.output!r} names no format", place="-o", remedy="end it with .pdf, .html, .md or .xml"
        )
    if target.exists() and not options.force:
        raise FormatError("the file exists already", file=str(target), remedy="choose another name or add --force")
    if suffix == ".xml":
        data = acceptance_junit(verdict, cluster.design.name).encode()
    else:
        data = rendered(acceptance_sheet(cluster, verdict, datetime.datetime.now(datetime.UTC).date()), suffix)
    notes = atomic.write(target, data)
    if not options.json:
        print_written(str(target), notes)


def _verdict_document(design: Design, verdict: Verdict, document: Document) -> dict[str, Any]:
    return {
        "design": {"name": design.name},
        "results": [
            {"stage": STAGES[o.stage][0], "place": o.place, **document(o.judged), "cause": o.cause}
            for o in verdict.outcomes
        ],
        "failed": len(verdict.failed),
        "unread": list(verdict.unread),
        "untested": list(verdict.untested),
    }


def _print_verdict(verdict: Verdict) -> None:
    for stage, (name, stated, _) in STAGES.items():
        own = [o for o in verdict.outcomes if o.stage == stage]
        if own:
            failed = sum(not o.passed for o in own)
            print(f"stage {stage}, {name} ({stated}): {len(own)} results, {failed} below the limit")
    for o in verdict.failed[:_MOST]:
        e = o.judged.expected
        measured, limit = (format_si(rate, e.estimate.unit) for rate in (o.judged.measured, e.limit))
        rates = f"{measured}, at least {limit} expected"
        print(paragraph("  FAIL  ", f"{o.place}, {e.trial.sort} {e.trial.parts[0].rpartition('/')[2]}: {rates}"))
        if o.cause:
            print(paragraph("        ", o.cause))
    for text in (*verdict.unread[:_MOST], *(f"not tested: {place}" for place in verdict.untested[:_MOST])):
        print(paragraph("  ", text))
