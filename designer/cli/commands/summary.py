"""``designer summary``: what is in a design."""

from __future__ import annotations

import argparse

from designer.cli.command import Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("design", metavar="DESIGN", help="design file or template id")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(options: argparse.Namespace) -> int:
    """Count parts and links after elaboration."""
    from designer.cli.output import print_findings, print_json, shown_file, table
    from designer.design.query import summarize
    from designer.interchange.templates import open_any

    loaded = open_any(options.design)
    summary = summarize(loaded.design, shown_file(options.design))
    if options.json:
        print_json(summary)
    else:
        print(f"{loaded.design.title or loaded.design.name}\n{loaded.design.intent}".rstrip() + "\n")
        print(table(("parts", "count"), [(k, f"{n:,}") for k, n in summary["parts"].items()], (1,)), end="\n\n")
        print(table(("links", "count"), [(k, f"{n:,}") for k, n in summary["links"].items()], (1,)), end="\n\n")
        workloads = ", ".join(summary["workloads"]) or "none"
        print(f"{summary['groups']} groups, {summary['vms']} virtual machines, workloads: {workloads}")
    print_findings(loaded.findings)
    return 0


COMMAND = Command(
    "summary",
    "What is in a design: parts and links by kind, replicas multiplied.",
    "designer summary dgx-a100 --json",
    add_arguments,
    run,
)
