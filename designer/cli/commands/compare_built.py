"""``designer compare-built``: a design next to the dump of the fabric that was built from it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from designer.cli.command import Command
from designer.cli.design import add_design, opened
from designer.cli.output import finding_dict, print_findings, print_json, print_written
from designer.cli.pages import add_page_options, print_page
from designer.decisions.as_built import compare_built
from designer.decisions.fabric_matching import How
from designer.decisions.worth_of_differences import built_design, costs, priced
from designer.errors import FormatError
from designer.findings import Severity
from designer.interchange.native.writer import save
from designer.pages.built import page_of_built
from designer.present.words import metric_title
from designer.units import format_si

if TYPE_CHECKING:
    from designer.decisions.as_built import Comparison
    from designer.decisions.worth_of_differences import Cost
    from designer.design.document import Design


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument("dump", metavar="DUMP", help="ibnetdiscover, iblinkinfo, cable plan …: as built")
    parser.add_argument("--format", metavar="F", help="format of the dump; found out by itself if left out")
    parser.add_argument(
        "--workload",
        metavar="ID",
        action="append",
        help="workload to price differences on, repeatable; all if left out",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the design as built, to compare and to draw it")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """State what is miswired, missing or degraded, and what it costs. Exit code 1 where something is."""
    from designer.interchange.importing import read_any

    designed = opened(options).design
    found = compare_built(designed, read_any(options.dump, options.format).design)
    priced, unpriced = _price_differences(options, designed, found)
    if options.json:
        print_json(
            {
                "matched": found.matched,
                "cables_as_designed": found.cables_as_designed,
                "cables_missing": found.cables_missing,
                "cables_extra": found.cables_extra,
                "degraded": found.degraded,
                "capacity": found.capacity,
                "matched_by": {how.value: found.differences.match.count(how) for how in How},
                "workloads": [_cost(cost) for cost in priced],
                "not_priced": unpriced,
                "findings": [finding_dict(f) for f in found.findings],
            }
        )
    else:
        page = partial(page_of_built, found, priced, unpriced, designed, options.design, options.dump)
        print_page(page, options, partial(_print, found, priced, unpriced))
    return 1 if any(f.severity is Severity.ERROR for f in found.findings) else 0


def _print(found: Comparison, priced: Sequence[Cost], unpriced: str) -> None:
    print(
        f"{found.matched} nodes matched; of {found.cables_as_designed} cables {found.cables_missing} missing, "
        f"{found.cables_extra} not planned; {found.degraded} connections slower than designed; "
        f"{100 * found.capacity:.1f} % of the designed network capacity is there"
    )
    for cost in priced:
        print(_line(cost))
    if unpriced:
        print(f"not priced on workloads: {unpriced}")
    print_findings(found.findings)


def _price_differences(options: argparse.Namespace, designed: Design, found: Comparison) -> tuple[list[Cost], str]:
    """What the differences cost the workloads, and why that is not known; the design as built is written on the way."""

    if not options.workload and not options.output:
        return priced(designed, found)
    built = built_design(designed, found.differences)
    if options.output:
        _write(built, options)
    return costs(designed, built, options.workload), ""


def _write(built: Design, options: argparse.Namespace) -> None:
    from pathlib import Path

    target = Path(options.output)
    if target.exists() and not options.force:
        raise FormatError("the file exists already", file=str(target), remedy="choose another name or add --force")
    notes = save(built, target, overwrite=options.force)
    if not options.json:
        print_written(str(target), notes)


def _cost(cost: Cost) -> dict[str, object]:
    return {
        "id": cost.workload,
        "metric": cost.metric,
        "unit": cost.before.unit,
        "designed": cost.before.value,
        "built": cost.after.value if cost.after is not None else None,
        "share": cost.share,
        "why": cost.why,
    }


def _line(cost: Cost) -> str:
    name = f"{cost.title} ({cost.workload}), {metric_title(cost.metric)}"
    before = format_si(cost.before.value, cost.before.unit)
    if cost.after is None:
        return f"{name}: {before} as designed; it cannot run as built: {cost.why}"
    after = format_si(cost.after.value, cost.before.unit)
    return f"{name}: {before} as designed, {after} as built, {100 * cost.share:.1f} % of the work"


COMMAND = Command(
    "compare-built",
    "A design compared with the dump of the fabric that was built from it.",
    "designer compare-built pod.design.json ibnetdiscover.txt",
    add_arguments,
    run,
)
