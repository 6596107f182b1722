"""``designer export``: a design to another format."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from designer.analysis.study import analyze
from designer.cli.command import Command
from designer.cli.design import add_design, opened
from designer.cli.output import print_written
from designer.design.geometry import lay_out
from designer.drawing.loads import loads_of
from designer.errors import ExchangeError
from designer.interchange.exporting import ExportOptions, format_of, write_design

if TYPE_CHECKING:
    from designer.design.document import Design
    from designer.drawing.loads import Loads

MOST_SCALE: Final = 16.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument("--to", metavar="FORMAT", help="svg, pdf, html, dot, slurm-topology …; else what OUT ends with")
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="file to write")
    pictures = parser.add_argument_group("pictures")
    pictures.add_argument("--theme", choices=("light", "dark", "contrast"), default="light")
    pictures.add_argument("--only", metavar="ID", action="append", default=[], help="only this; may be given again")
    pictures.add_argument("--workload", metavar="ID", help="links in the colours of this workload's load")
    pictures.add_argument("--scale", type=float, default=2.0, help="pixels of a PNG per unit of the drawing")


def run(options: argparse.Namespace) -> int:
    """Write a design in a foreign format."""
    from pathlib import Path

    if not 0 < options.scale <= MOST_SCALE:
        raise ExchangeError(
            f"a scale of {options.scale:g}", place="--scale", remedy=f"use more than 0, up to {MOST_SCALE}"
        )
    design = opened(options).design
    page = (options.to or format_of(options.output)) == "html"
    asked = ExportOptions(
        theme=options.theme,
        chosen=frozenset(options.only),
        scale=options.scale,
        loads=_loads(design, options.workload) if options.workload and not page else None,
        analysis=analyze(design, [options.workload] if options.workload else None, curves=False) if page else None,
    )
    print_written(options.output, write_design(design, options.to, Path(options.output), asked))
    return 0


def _loads(design: Design, workload: str) -> Loads:
    found = analyze(design, [workload], curves=False)
    carried = found.loads[workload]
    return loads_of(lay_out(design), carried.load, carried.utilization, found.workloads[0].binding)


COMMAND = Command(
    "export",
    "A design to another format.",
    "designer export dgx-a100 --to svg --workload h2d -o dgx.svg",
    add_arguments,
    run,
)
