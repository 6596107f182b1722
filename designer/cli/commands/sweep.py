"""``designer sweep``: what a workload does while values of parts, links, policy or workloads vary; a row a run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from designer.cli.command import Command
from designer.cli.design import add_design, opened
from designer.cli.output import paragraph, print_json, print_problem, print_written, progress_bar, shown_file, table
from designer.cli.pages import add_page_options, print_page
from designer.decisions.answers import make_task
from designer.decisions.frontier import binding_text
from designer.decisions.runs import at_random, grid, together
from designer.decisions.sweep import sweep
from designer.decisions.variables import read_variable
from designer.errors import AnalysisError, DesignerError, FormatError
from designer.interchange.overrides import overridden
from designer.pages.sweep import page_of_sweep
from designer.units import format_si

if TYPE_CHECKING:
    from collections.abc import Sequence

    from designer.decisions.answers import Row, Task
    from designer.decisions.frontier import Turn

#: a frontier is of two metrics
_TWO = 2
#: without names of metrics so many are shown to people
_SHOWN = 4

_MORE = (
    "VALUES is a list, 64,128,256, or a range: 32..1024*2 (factor), 1..8+1 (step), 100 Gb/s..800 Gb/s:8 (count).\n"
    "PATH is spelled as for --set. OUT gets a row a run, metrics in SI units; given again, the sweep goes on where it\n"
    "stopped. Several --vary give every combination.\n\n"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument(
        "--vary", metavar="PATH=VALUES", action="append", default=[], help="what varies; may be given again"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--together", action="store_true", help="first values together, then second ones, and so on")
    how.add_argument("--random", metavar="N", type=int, help="draw so many settings, spread over the ranges")
    parser.add_argument("--seed", metavar="S", type=int, default=0, help="other draws (default 0)")
    parser.add_argument("--workload", metavar="ID", help="the workload asked; the one shown first by default")
    parser.add_argument(
        "--metric", metavar="NAME", action="append", default=[], help="keep this answer; may be given again"
    )
    parser.add_argument("--frontier", metavar="A,B", help="mark the runs no other beats in both metrics")
    parser.add_argument("-o", "--out", metavar="OUT", help="write OUT.csv, or OUT.parquet with the extra [parquet]")
    parser.add_argument("--jobs", metavar="N", type=int, help="processes; as many as make it quicker by default")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", default="", help="workers of a Dask cluster, tcp://…; extra [cluster]"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """Sweep."""
    from designer.decisions.frontier import frontier, turns

    drawn = options.random is not None
    variables = [read_variable(text, drawn) for text in options.vary]
    if drawn:
        runs = at_random(variables, options.random, options.seed)
    else:
        runs = (together if options.together else grid)(variables)
    out = Path(options.out) if options.out else None
    if out is not None and out.suffix.lower() not in (".csv", ".parquet") and not _is_device(out):
        raise FormatError(
            f"{out.suffix or out.name!r} is no table", file=options.out, remedy="end it in .csv or .parquet"
        )
    if options.jobs is not None and options.jobs < 1:
        raise FormatError(f"{options.jobs} processes", place="--jobs", remedy="1 or more")
    pair = _pair(options.frontier)
    loaded = opened(options)
    asked = [*options.metric, *(name for name in pair if options.metric and name not in options.metric)]
    try:
        task = make_task(loaded.design, options.workload, [v.path for v in variables], asked, overridden)
        _require_metrics(task, pair)
        rows = sweep(task, runs, out, jobs=options.jobs, scheduler=options.scheduler, progress=progress_bar())
    except DesignerError as error:
        raise error if error.place else error.at(file=options.design) from None
    best = frontier(rows, *pair, kind=task.design.workloads[task.workload].kind) if pair else ()
    found = turns(rows, task.paths)
    if options.json:
        document = {"design": {"name": loaded.design.name, "file": shown_file(options.design)}}
        print_json({**document, **as_document(task, rows, pair, best, found)})
    else:
        print_page(
            lambda: page_of_sweep(task, rows, found, options.design),
            options,
            lambda: _print(task, rows, best, found, bool(options.metric)),
        )
    if options.out:
        print_written(options.out, quiet=options.json)
    answered = sum(not row.error for row in rows)
    if answered < len(rows):
        first = next(row for row in rows if row.error)
        print_problem(f"{len(rows) - answered} of {len(rows)} runs have no answer; the first: {first.error}")
    return 0 if answered else 2


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _pair(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    names = tuple(name.strip() for name in text.split(","))
    if len(names) != _TWO or not all(names) or names[0] == names[1]:
        raise FormatError(
            f"{text!r} is no pair", place="--frontier", remedy="two metrics: time_to_train,memory_per_gpu"
        )
    return names


def _require_metrics(task: Task, pair: Sequence[str]) -> None:
    for name in pair:
        if name not in task.metrics:
            remedy = f"there are {', '.join(task.metrics)}"
            raise AnalysisError(f"{task.workload} has no metric {name!r}", place="--frontier", remedy=remedy)


def as_document(
    task: Task, rows: Sequence[Row], pair: Sequence[str], best: Sequence[Row], found: Sequence[Turn]
) -> dict[str, Any]:
    """The JSON that scripts rely on."""
    return {
        "workload": task.workload,
        "paths": list(task.paths),
        "metrics": list(task.metrics),
        "rows": [
            {
                "run": row.number,
                "settings": dict(zip(task.paths, row.settings, strict=True)),
                "metrics": {
                    name: {"value": m.value, "unit": m.unit, "low": m.low, "high": m.high}
                    for name, m in row.metrics.items()
                },
                "binding": [{"what": b.what, "id": b.id, "label": b.label} for b in row.binding],
                "error": row.error or None,
            }
            for row in rows
        ],
        "frontier": {"metrics": list(pair), "runs": [row.number for row in best]},
        "bottleneck_changes": [
            {
                "path": turn.path,
                "between": [turn.before.number, turn.after.number],
                "before": [b.label for b in turn.before.binding],
                "after": [b.label for b in turn.after.binding],
            }
            for turn in found
        ],
    }


def _print(task: Task, rows: Sequence[Row], best: Sequence[Row], found: Sequence[Turn], asked: bool) -> None:
    had = [name for name in task.metrics if any(name in row.metrics for row in rows)]
    shown = had if asked else had[:_SHOWN]
    marked = {row.number for row in best}
    lines: list[tuple[str, ...]] = []
    for row in rows:
        cells: list[str] = []
        for name in shown:
            m = row.metrics.get(name)
            band = "" if m is None else f" ({format_si(m.low, m.unit)} to {format_si(m.high, m.unit)})"
            cells.append("–" if m is None else format_si(m.value, m.unit) + band)
        mark = ("★" if row.number in marked else "",) if best else ()
        lines.append((*mark, *row.settings, *cells, row.error or binding_text(row.binding)))
    first = ("",) if best else ()
    print(f"{task.title}\n")
    print(table((*first, *task.paths, *shown, "bottleneck"), lines))
    if len(had) > len(shown):
        print()
        print(paragraph("", f"more answers with --metric: {', '.join(had[len(shown) :])}", "  "))
    if best:
        print("\n★ no other run is better in both")
    if found:
        print("\nthe bottleneck changes:")
    for turn in found:
        at = task.paths.index(turn.path)
        print(
            f"  {turn.path} from {turn.before.settings[at]} to {turn.after.settings[at]}: "
            f"{binding_text(turn.before.binding)} → {binding_text(turn.after.binding)}"
        )


COMMAND = Command(
    "sweep",
    "What a workload does while values vary: every combination, a list or random draws, a row a run.",
    "designer sweep hgx-h100-8 --workload resnet-50 --vary workloads.resnet-50.micro_batch=32..512*2 -o batch.csv",
    add_arguments,
    run,
    _MORE,
)
