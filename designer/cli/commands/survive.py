"""``designer survive``: N-1, what each single failure costs a workload."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from designer.cli.command import Command
from designer.cli.design import add_design

if TYPE_CHECKING:
    from designer.decisions.failures_survey import Loss, Survey

_MORE = (
    "Taken away in turn: every server, switch, NVSwitch, PCIe switch, GPU, NIC, DPU, storage system and drive, one\n"
    "link of every bundle, and one of the two feeds of every rack that tells its power. Failures that nothing tells\n"
    "apart are worked out once.\n\n"
)
#: rows told to people without --all
_MOST = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument("--workload", metavar="ID", help="what has to go on; the design's default by default")
    parser.add_argument("--pairs", metavar="N", type=int, default=0, help="N double failures as well, drawn at random")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="the same seed draws the same pairs")
    parser.add_argument("--all", action="store_true", help="every class of failures, those that cost nothing as well")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(options: argparse.Namespace) -> int:
    """Take everything away in turn."""
    from designer.cli.design import opened
    from designer.cli.output import print_json, progress_bar, shown_file
    from designer.decisions.failures_survey import survive
    from designer.errors import FormatError, raised_in

    for name in ("pairs", "seed"):
        if getattr(options, name) < 0:
            raise FormatError("a count below zero", place=f"--{name}", remedy="give zero or more")
    design = opened(options).design
    with raised_in(file=options.design):
        found = survive(design, options.workload, pairs=options.pairs, seed=options.seed, progress=progress_bar())
    if options.json:
        print_json({"design": {"name": design.name, "file": shown_file(options.design)}, **as_document(found)})
    else:
        _print(found, options.all)
    return 0


def as_document(found: Survey) -> dict[str, Any]:
    """The JSON that scripts rely on."""
    return {
        "workload": found.workload,
        "metric": {"name": found.metric, "value": found.value, "unit": found.unit},
        "failures": found.failures,
        "fatal": found.fatal,
        "harmless": found.harmless,
        "losses": [
            {
                "kind": x.kind,
                "example": x.path,
                "count": x.count,
                "left": x.share,
                "lost": x.lost,
                "value": x.value,
                "gpus_lost": x.gpus_lost,
                "gpus_stranded": x.gpus_stranded,
                "machines": list(x.machines),
                "limits": list(x.limits),
                "why": x.binds,
            }
            for x in found.losses
        ],
        "pairs": [{"parts": list(p.paths), "left": p.share} for p in found.pairs],
        "seed": found.seed,
    }


def _print(found: Survey, everything: bool) -> None:
    from designer.cli.output import table
    from designer.units import format_si

    whole = format_si(found.value, found.unit)
    print(f"{found.design}, {found.workload}: {found.metric} {whole} with everything in place")
    print(f"{found.failures:,} single failures: {found.fatal:,} stop it, {found.harmless:,} cost nothing\n")
    told = [x for x in found.losses if everything or any(x.badness)]
    rows = [_row(x) for x in (told if everything else told[:_MOST])]
    if rows:
        heads = ("what fails", "for example", "alike", "lost", "GPUs lost", "stranded", "limits broken", "then binds")
        print(table(heads, rows, (2, 3, 4, 5)))
    if len(told) > len(rows):
        print(f"… and {len(told) - len(rows)} more classes; --all prints them")
    if found.pairs:
        _print_pairs(found)


def _row(loss: Loss) -> tuple[str, ...]:
    limits = [*loss.limits, *(f"{m} cannot restart" for m in loss.machines)]
    return (
        loss.kind,
        loss.path,
        f"{loss.count:,}",
        "stops" if loss.stops else f"{loss.lost:.1%}",
        f"{loss.gpus_lost:,}" if loss.gpus_lost else "",
        f"{loss.gpus_stranded:,}" if loss.gpus_stranded else "",
        "; ".join(limits),
        loss.binds,
    )


def _print_pairs(found: Survey) -> None:
    stop = sum(p.share == 0 for p in found.pairs)
    worst = found.pairs[0]
    mean = sum(min(p.share, 1.0) for p in found.pairs) / len(found.pairs)
    print(f"\n{len(found.pairs):,} double failures drawn with seed {found.seed}: {stop:,} stop it; {1 - mean:.1%} is")
    print(f"lost in the mean; worst {worst.paths[0]} with {worst.paths[1]}: {1 - worst.share:.0%} lost")


COMMAND = Command(
    "survive",
    "N-1: what each single failure costs: throughput, GPUs, machines, limits",
    "designer survive hgx-h100-8 --workload h2d",
    add_arguments,
    run,
    _MORE,
)
