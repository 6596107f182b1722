"""``designer export``: a design to another format."""

from __future__ import annotations

import argparse

from designer.cli.command import Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("design", metavar="DESIGN", help="design file or template id")
    parser.add_argument("--to", required=True, metavar="FORMAT", help="svg, png, pdf, graphml, design")
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="file to write")


def run(options: argparse.Namespace) -> int:
    """Write a design in a foreign format."""
    from pathlib import Path

    from designer.interchange.exporting import write_design
    from designer.interchange.templates import open_any

    write_design(open_any(options.design).design, options.to, Path(options.output))
    print(f"wrote {options.output}")
    return 0


COMMAND = Command(
    "export", "A design to another format.", "designer export dgx-a100 --to graphml -o dgx.graphml", add_arguments, run
)
