"""``designer propose``: designs that serve a load, train a model or empty a host within limits; the best of many."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from designer.cli.command import Command
from designer.cli.decision_documents import proposals_document
from designer.cli.output import page_width, paragraph, print_json, print_problem, print_written, progress_bar, table
from designer.cli.pages import add_page_options, print_page
from designer.contrib.proposals.page import page_of_proposals, reasons, shown
from designer.contrib.proposals.question import Question
from designer.contrib.proposals.reading import read_wanted
from designer.contrib.proposals.search import propose
from designer.errors import FormatError, WriteError
from designer.interchange.native.writer import save
from designer.interchange.templates import open_design
from designer.report.settings import load_settings

if TYPE_CHECKING:
    from designer.contrib.proposals.goal import Wanted
    from designer.contrib.proposals.results import Proposals

_SHOWN = 20

_MORE = (
    "Designs are drawn from templates of servers, generated fabrics and storage of the catalog; each is analysed.\n"
    "Shown are those within all limits that no other beats in cost, power, racks and the goal, and why others lost.\n"
    "Prices come from your own list alone; without one network ports count instead. --choose replaces what is tried:\n"
    "server (template ids), nodes, network, layout, storage; to serve split and tensor; of hosts nodes, migration.\n"
    "FILE of --keep takes every design as it is worked out: given again, the search goes on there.\n\n"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("goal", metavar="GOAL", choices=("train", "serve", "evacuate"), help="train, serve or evacuate")
    parser.add_argument(
        "--with",
        metavar="SETTING=VALUE",
        action="append",
        default=[],
        dest="given",
        help='of the workload: "model=llama-2-7b", "rate=20 1/s", "ttft_limit=1 s"; designer workloads lists them',
    )
    parser.add_argument("--within", metavar="TIME", help='the most the goal may take, such as "20 d" or "10 min"')
    parser.add_argument(
        "--limit",
        metavar="METRIC=VALUE",
        action="append",
        default=[],
        help='the most of another metric, or the least where more is better: "mfu=0.3"',
    )
    parser.add_argument("--prices", metavar="CSV", help="your price list, as for designer report")
    parser.add_argument("--budget", metavar="MONEY", type=float, help="in the currency of the prices")
    parser.add_argument("--unpriced", action="store_true", help="count what the list does not hold as nothing")
    parser.add_argument("--power", metavar="POWER", help='of all units together, such as "200 kW"')
    parser.add_argument("--racks", metavar="N", type=int, help="the most racks")
    parser.add_argument("--rack-power", metavar="POWER", help="what one rack feeds")
    parser.add_argument("--rack-height", metavar="UNITS", type=int, help="height units of one rack")
    parser.add_argument(
        "--choose", metavar="NAME=VALUES", action="append", default=[], help="what is tried: nodes=1,2,4"
    )
    parser.add_argument("--design", metavar="DESIGN", help="evacuate: the hosts and machines that are drawn")
    parser.add_argument("--sure", action="store_true", help="limits hold at the far end of the 80 %% bands")
    parser.add_argument("--keep", metavar="FILE", help="keep what is worked out; given again, go on from there")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="write the best designs there")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """Search."""

    listed = load_settings(None, Path(options.prices)).prices if options.prices else None
    base = None
    if options.design:
        base = open_design(options.design)
    wanted = read_wanted(
        options.goal,
        options.given,
        within=options.within,
        limits=options.limit,
        prices=listed,
        budget=options.budget,
        power=options.power,
        racks=options.racks,
        rack_power=options.rack_power,
        rack_height=options.rack_height,
        unpriced=options.unpriced,
        sure=options.sure,
        base=base,
        choose=options.choose,
    )
    _demand_limit(wanted)
    keep = Path(options.keep) if options.keep else None
    found = propose(wanted, keep=keep, progress=progress_bar())
    if options.json:
        print_json(proposals_document(found))
    else:
        print_page(lambda: page_of_proposals(found, options.output or ""), options, lambda: _print(found))
    if options.output:
        _write(found, Path(options.output), options.json)
    if not found.best:
        if not options.json and page_width() is None:
            # a page says so itself
            print_problem(found.impossible)
        return 1
    return 0


def _demand_limit(wanted: Wanted) -> None:
    """Refuse a goal without any limit: hundreds of designs that nothing distinguishes are no proposal.

    Raises
    ------
    FormatError
        If there is none.
    """

    if not Question(wanted).limits:
        remedy = 'add --within "20 d", --limit METRIC=VALUE, --power "200 kW", --racks 2, or --budget with --prices'
        raise FormatError("the goal has no limit", place="--within", remedy=remedy)


def _write(found: Proposals, folder: Path, quiet: bool) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(
            f"cannot be made: {error.strerror}", file=str(folder), remedy="choose another folder"
        ) from None
    for number, one in enumerate(found.best, start=1):
        target = folder / f"{number:02}-{one.design.name[:60]}.design.json"
        if target.exists():
            raise WriteError("the file exists already", file=str(target), remedy="choose an empty folder")
        save(one.design, target)
        print_written(str(target), quiet=quiet)


def _print(found: Proposals) -> None:
    if found.best:
        heads = ("", "design", *(m.title for m in found.measures), "bottleneck")
        lines: list[tuple[str, ...]] = []
        for number, one in enumerate(found.best[:_SHOWN], start=1):
            cells = [
                _cell(m.counts, shown(m, e.value), shown(m, e.low), shown(m, e.high))
                for m in found.measures
                for e in (one.worth.values[m.name],)
            ]
            binding = one.binding[0].label if one.binding else ""
            lines.append((str(number), one.title, *cells, binding))
        print(table(heads, lines))
        if len(found.best) > _SHOWN:
            print(f"\nand {len(found.best) - _SHOWN} more with --json")
        for one in found.best[:_SHOWN]:
            for text in one.broken[:1]:
                print(paragraph(f"{one.title}: ", text))
    f = found.found
    print(f"\n{f.space:,} designs, {f.worked_out:,} worked out; {len(f.front):,} that no other beats\n")
    for line in reasons(found):
        print(paragraph("  ", line))


def _cell(counts: bool, value: str, low: str, high: str) -> str:
    del counts
    return value if low == high else f"{value} ({low} to {high})"


COMMAND = Command(
    "propose",
    "Designs that train, serve or evacuate within limits: the best of many, and why the others lost.",
    'designer propose train --with model=llama-2-7b --with dataset=c4-en --within "20 d" --power "60 kW" -o proposals',
    add_arguments,
    run,
    _MORE,
)
