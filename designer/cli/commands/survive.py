"""``designer survive``: N-1, what each single failure costs a workload."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from designer.cli.command import Command
from designer.cli.decision_documents import per_gpu, survey_document
from designer.cli.design import add_design, opened
from designer.cli.output import paragraph, print_json, progress_bar, shown_file, table
from designer.cli.pages import add_page_options, print_page
from designer.decisions.failures_survey import survive
from designer.errors import FormatError, raised_in
from designer.pages.survive import page_of_failures
from designer.plain_text import counted
from designer.report.running_cost import hourly
from designer.report.settings import load_settings
from designer.units import format_quantity, format_si

if TYPE_CHECKING:
    from collections.abc import Sequence

    from designer.decisions.failures_survey import Loss, Survey
    from designer.design.document import Design
    from designer.report.running_cost import Hourly
    from designer.sources import Estimate

_MORE = (
    "Taken away in turn: every server, switch, NVSwitch, PCIe switch, GPU, NIC, DPU, storage system and drive, one\n"
    "link of every bundle, and one of the two feeds of every rack that states its power. Failures that are\n"
    "equal in every respect are computed once.\n\n"
)
#: what the costs rest on
_MODEL = (
    "A collective waits for its transport and is made again, plain flows are sent another way; until the repair, in a "
    "day, the share that is lost does nothing."
)
#: from here on digits after the point are of no use
_TEN = 10
#: rows printed without --all
_MOST = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument("--workload", metavar="ID", help="what has to go on; the design's default by default")
    parser.add_argument("--pairs", metavar="N", type=int, default=0, help="N double failures as well, drawn at random")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="the same seed draws the same pairs")
    parser.add_argument("--prices", metavar="CSV", help="your price list, as for designer report: costs in money")
    parser.add_argument("--settings", metavar="TOML", help="settings of a report: rent, or years of the price list")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """Take everything away in turn."""

    for name in ("pairs", "seed"):
        if getattr(options, name) < 0:
            raise FormatError("a count below zero", place=f"--{name}", remedy="give zero or more")
    design = opened(options).design
    hourly = _hourly(design, options)
    with raised_in(file=options.design):
        found = survive(design, options.workload, pairs=options.pairs, seed=options.seed, progress=progress_bar())
    if options.json:
        document = survey_document(found, hourly)
        print_json({"design": {"name": design.name, "file": shown_file(options.design)}, **document})
    else:
        print_page(
            lambda: page_of_failures(found, design, options.design),
            options,
            lambda: _print(found, options.everything, hourly),
        )
    return 0


def _hourly(design: Design, options: argparse.Namespace) -> tuple[Hourly, ...]:
    """What an hour of the design costs, by currency; nothing without prices.

    Raises
    ------
    FormatError
        If prices are given from which no cost of an hour follows.
    """
    if not options.prices and not options.settings:
        return ()
    from pathlib import Path

    settings, prices = (Path(name) if name else None for name in (options.settings, options.prices))
    found = hourly(design, load_settings(settings, prices), None)
    if not found:
        remedy = "give --settings with a file that holds [cost] rent, or years and a price list"
        raise FormatError("these do not state what an hour costs", place="--prices", remedy=remedy)
    return found


def _print(found: Survey, everything: bool, hourly: Sequence[Hourly]) -> None:
    whole = format_si(found.value, found.unit)
    print(f"{found.design}, {found.workload}: {found.metric} {whole} with everything in place")
    print(f"{found.failures:,} single failures: {found.fatal:,} stop it, {found.harmless:,} cost nothing\n")
    stated = [x for x in found.losses if any(x.badness)]
    rows = [_row(x) for x in (stated if everything else stated[:_MOST])]
    if rows:
        heads = (
            *("what fails", "for example", "number", "lost", "GPUs lost", "stranded", "GPU-hours each"),
            *("goes on without", "limits broken", "then binds"),
        )
        print(table(heads, rows, (2, 3, 4, 5, 6)))
    if len(stated) > len(rows):
        print(f"… and {len(stated) - len(rows)} more classes; --all prints them")
    if found.gpus:
        year = found.gpu_hours_per_year
        between = format_quantity(found.between.value, "duration")
        text = f"Something fails every {between} in the mean; all single failures cost {_hours(year)} in a year"
        text += f" ({_count(year.low)} to {_count(year.high)})"
        for cost in hourly:
            text += f", {year.value * per_gpu(cost, found):,.0f} {cost.currency}"
        print()
        print(paragraph("", f"{text}. {_MODEL}"))
    if found.pairs:
        _print_pairs(found)


def _hours(found: Estimate) -> str:
    return f"{_count(found.value)} GPU-hours"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= _TEN else f"{value:.2g}"


def _row(loss: Loss) -> tuple[str, ...]:
    limits = [*loss.limits, *(f"{m} cannot restart" for m in loss.machines)]
    return (
        loss.kind,
        loss.path,
        f"{loss.count:,}",
        "stops" if loss.stops else f"{loss.lost:.1%}",
        f"{loss.gpus_lost:,}" if loss.gpus_lost else "",
        f"{loss.gpus_stranded:,}" if loss.gpus_stranded else "",
        _count(loss.gpu_hours.value) if loss.gpu_hours.value else "",
        loss.leaves_out,
        "; ".join(limits),
        loss.binds,
    )


def _print_pairs(found: Survey) -> None:
    stop = sum(p.share == 0 for p in found.pairs)
    worst = found.pairs[0]
    mean = sum(min(p.share, 1.0) for p in found.pairs) / len(found.pairs)
    stops = f"{stop:,} {'stops' if stop == 1 else 'stop'} it"
    print(f"\n{counted(len(found.pairs), 'double failure')} drawn with seed {found.seed}: {stops}; {1 - mean:.1%} is")
    print(f"lost in the mean; worst {worst.paths[0]} with {worst.paths[1]}: {1 - worst.share:.0%} lost")


COMMAND = Command(
    "survive",
    "N-1: what each single failure costs: throughput, GPUs, machines, limits",
    "designer survive hgx-h100-8 --workload h2d",
    add_arguments,
    run,
    _MORE,
)
