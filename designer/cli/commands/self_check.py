"""``designer self-check``: whether this installation is whole."""

from __future__ import annotations

import argparse

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import link_kinds, part_kinds
from designer.cli.command import Command
from designer.cli.main import commands
from designer.cli.output import print_json
from designer.design.joining import patterns
from designer.interchange.exporting import exporters
from designer.interchange.generating import generators
from designer.interchange.importing import importers
from designer.interchange.templates import list_templates
from designer.report.chapter import chapter_kinds
from designer.report.figure_kinds import figure_kinds
from designer.workload.kind import workload_kinds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(options: argparse.Namespace) -> int:
    """Count what can be found."""
    from designer.rules.rule import rules

    counts = {
        "part kinds": len(part_kinds()),
        "link kinds": len(link_kinds()),
        "parts": len(load_catalog().ids()),
        "templates": len(list_templates()),
        "wiring patterns": len(patterns()),
        "workload kinds": len(workload_kinds()),
        "importers": len(importers()),
        "exporters": len(exporters()),
        "generators": len(generators()),
        "rules": len(rules()),
        "figures": len(figure_kinds()),
        "report chapters": len(chapter_kinds()),
        "commands": len(commands()),
    }
    if options.json:
        print_json(counts)
    else:
        for name, count in counts.items():
            print(f"{name:<16} {count:>5}")
    return 0 if all(counts.values()) else 1


COMMAND = Command(
    "self-check",
    "Count what this installation has; fails if something is missing.",
    "designer self-check",
    add_arguments,
    run,
)
