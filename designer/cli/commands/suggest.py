"""``designer suggest``: the cheapest edits that lift what binds a workload, then the next."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from designer.cli.command import Command
from designer.cli.decision_documents import suggestions_document
from designer.cli.design import add_design, opened
from designer.cli.output import paragraph, print_json, print_written, progress_bar, shown_file
from designer.cli.pages import add_page_options, print_page
from designer.decisions.suggest import STEPS_LIMIT, suggest
from designer.errors import DesignerError, FormatError, raised_in
from designer.interchange.native.writer import save
from designer.pages.suggest import page_of_suggestions
from designer.report.settings import load_settings
from designer.report.tables.cost import one_currency
from designer.units import format_si

if TYPE_CHECKING:
    from designer.decisions.suggest import Step, Suggestions
    from designer.decisions.suggest_candidates import Prices
    from designer.design.document import Design

_MORE = (
    "Considered are wider slots, better NICs, drives, memory and storage of the catalog, more cables and uplinks\n"
    "drives in addition to those that limit, GPUs moved to another switch, and other route policies.\n"
    "Each answer is the edited design analysed again. Without a price list ports count first, then watts.\n\n"
)


#: so many other workloads are looked at where nothing helps the first
_OTHERS = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument("--workload", metavar="ID", help="what has to get faster; the design's default by default")
    parser.add_argument("--prices", metavar="CSV", help="your price list, as for designer report")
    parser.add_argument("--gain", metavar="TIMES", type=float, help="each step has to gain so much, such as 1.5")
    parser.add_argument("--steps", metavar="N", type=int, default=3, help="bottlenecks to lift, one after the other")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the design with all steps applied")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """Look for edits."""

    if options.gain is not None and not 1 < options.gain < 1e6:
        raise FormatError(f"{options.gain:g} is no gain", place="--gain", remedy="give how many times better, above 1")
    if not 1 <= options.steps <= STEPS_LIMIT:
        raise FormatError(f"{options.steps} steps", place="--steps", remedy=f"give 1 to {STEPS_LIMIT}")
    design = original = opened(options).design
    prices = _prices(options.prices)
    with raised_in(file=options.design):
        found = suggest(
            design,
            options.workload,
            prices=prices,
            gain=options.gain,
            steps=options.steps,
            progress=progress_bar(),
        )
    if options.json:
        print_json({"design": {"name": design.name, "file": shown_file(options.design)}, **suggestions_document(found)})
    else:

        def rest() -> None:
            _print(found)
            if not found.steps and options.workload is None and not options.output:
                _print_another(original, found.workload, prices, options)

        print_page(lambda: page_of_suggestions(found, original, options.design), options, rest)
    if options.output:
        for step in found.steps:
            design = step.edit.apply(design)
        save(design, options.output)
        print_written(options.output, quiet=options.json)
    return 0


def _print_another(design: Design, tried: str, prices: Prices, options: argparse.Namespace) -> None:
    """What helps the first other workload that something helps, stated where nothing helps the one it opens with."""

    for other in [name for name in design.workloads if name != tried][:_OTHERS]:
        try:
            found = suggest(
                design, other, prices=prices, gain=options.gain, steps=options.steps, progress=progress_bar()
            )
        except DesignerError:
            continue
        if found.steps:
            print()
            _print(found)
            return


def _prices(file: str | None) -> Prices:
    """The price list, by part."""
    from pathlib import Path

    return one_currency(load_settings(None, Path(file)).prices if file else None, file)


def _print(found: Suggestions) -> None:
    print(f"{found.design}, {found.workload}: {found.metric} {format_si(found.value, found.unit)}\n")
    for number, step in enumerate(found.steps, start=1):
        _print_step(number, step, found)
    if found.stuck:
        print(paragraph("", f"{'Then' if found.steps else 'Nothing to suggest:'} {found.stuck}."))


def _print_step(number: int, step: Step, found: Suggestions) -> None:
    lifted = ", ".join(b.label for b in step.lifted[:2]) or "nothing that is drawn"
    then = ", ".join(b.label for b in step.binding[:2]) or "nothing that is drawn"
    before, after = format_si(step.before, found.unit), format_si(step.after, found.unit)
    sure = (
        f"the cheapest of all sets of {step.considered} edits"
        if step.exact
        else f"the best found among {step.considered} edits, too many to look at every set"
    )
    print(paragraph(f"{number}. ", "; ".join(one.title for one in step.edits)))
    print(
        paragraph("   ", f"{before} → {after}, {step.gain:.2f} times; costs {step.cost.text(found.currency)}; {sure}")
    )
    print(paragraph("   ", f"lifts {lifted}; then {then} binds\n"))


COMMAND = Command(
    "suggest",
    "the cheapest edits that lift what binds a workload, then the next",
    "designer suggest vsphere-cluster-4 --workload evacuate --gain 1.5",
    add_arguments,
    run,
    _MORE,
)
