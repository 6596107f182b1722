"""``designer compare-built``: a design beside the dump of the fabric that was built from it."""

from __future__ import annotations

import argparse

from designer.cli.command import Command
from designer.cli.design import add_design


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument("dump", metavar="DUMP", help="ibnetdiscover, iblinkinfo, cable plan …: as built")
    parser.add_argument("--format", metavar="F", help="format of the dump; found out by itself if left out")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(options: argparse.Namespace) -> int:
    """Tell what is miswired, missing or degraded, and what it costs. Exit code 1 where something is."""
    from designer.cli.design import opened
    from designer.cli.output import finding_dict, print_findings, print_json
    from designer.findings import Severity
    from designer.interchange.as_built import compare_built
    from designer.interchange.importing import read_any

    found = compare_built(opened(options).design, read_any(options.dump, options.format).design)
    if options.json:
        print_json(
            {
                "matched": found.matched,
                "cables_as_designed": found.cables_as_designed,
                "cables_missing": found.cables_missing,
                "cables_extra": found.cables_extra,
                "degraded": found.degraded,
                "capacity": found.capacity,
                "findings": [finding_dict(f) for f in found.findings],
            }
        )
    else:
        print(
            f"{found.matched} nodes matched; of {found.cables_as_designed} cables {found.cables_missing} missing, "
            f"{found.cables_extra} not planned; {found.degraded} connections slower than designed; "
            f"{100 * found.capacity:.1f} % of the designed network capacity is there"
        )
        print_findings(found.findings)
    return 1 if any(f.severity is Severity.ERROR for f in found.findings) else 0


COMMAND = Command(
    "compare-built",
    "A design compared with the dump of the fabric that was built from it.",
    "designer compare-built pod.design.json ibnetdiscover.txt",
    add_arguments,
    run,
)
