"""``designer calibrate``: a design fitted to measurements of its machine."""

from __future__ import annotations

import argparse

from designer.cli.command import Command
from designer.cli.design import add_design, opened


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument("measured", metavar="OUTPUT", help="what the tool printed")
    parser.add_argument(
        "--tool", required=True, metavar="TOOL", help="nccl-tests, nvbandwidth, fio (JSON) or mlperf-storage (JSON)"
    )
    parser.add_argument("--group", default="gpus", metavar="SELECTOR", help="accelerators that took part")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="design file to write")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(options: argparse.Namespace) -> int:
    """Fit and write the design."""
    from pathlib import Path

    from designer.cli.output import print_json, print_written
    from designer.interchange.calibrating import LARGEST_TEXT, calibrate
    from designer.interchange.native.json_text import decode
    from designer.interchange.native.raw import read_bytes
    from designer.interchange.native.writer import save

    text = decode(read_bytes(Path(options.measured), LARGEST_TEXT))
    design, found = calibrate(opened(options).design, text, options.tool, Path(options.measured).name, options.group)
    notes = save(design, Path(options.output))
    if options.json:
        print_json(
            {
                "what": found.what,
                "measured": found.measured,
                "predicted": found.predicted,
                "factor": found.factor,
                "points": found.points,
                "file": options.output,
            }
        )
    else:
        readings = f"{found.points} reading{'s' * (found.points != 1)}"
        print(f"{found.what}: {found.factor:.3f} of the prediction, from {readings}")
    print_written(options.output, notes, options.json)
    return 0


COMMAND = Command(
    "calibrate",
    "A design fitted to measurements of its machine; they become a source of the design.",
    "designer calibrate hgx-h100-8 all_reduce.txt --tool nccl-tests -o mine.design.json",
    add_arguments,
    run,
)
