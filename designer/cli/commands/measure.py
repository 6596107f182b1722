"""``designer measure``: a script that measures a machine for ``designer calibrate``."""

from __future__ import annotations

import argparse

from designer import atomic
from designer.cli.command import Command
from designer.cli.output import print_written
from designer.errors import FormatError
from designer.interchange.measuring import SCRIPT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("-o", "--output", metavar="FILE", help="file to write; without it the script is printed")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")


def run(options: argparse.Namespace) -> int:
    """Print or write the script."""
    from pathlib import Path

    if not options.output:
        print(SCRIPT, end="")
        return 0
    target = Path(options.output)
    if target.exists() and not options.force:
        raise FormatError("the file exists already", file=str(target), remedy="choose another name or add --force")
    print_written(str(target), atomic.write(target, SCRIPT.encode()))
    return 0


COMMAND = Command(
    "measure",
    "A shell script that measures a server: nvbandwidth, nccl-tests, fio and matrix products, in one file.",
    "designer measure -o measure.sh",
    add_arguments,
    run,
)
