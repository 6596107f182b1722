"""``designer generate``: a design of a network family from a few numbers."""

from __future__ import annotations

import argparse

from designer.cli.command import Command
from designer.cli.output import print_written
from designer.design.query import summarize
from designer.errors import FormatError
from designer.interchange.generating import generate, generators
from designer.interchange.native.writer import save

#: products of the network, by option
_PARTS = {
    "server": "servers: a template of one server or its type, as dgx-h100",
    "switch": "switches of the compute fabric, as qm9700",
    "storage": "storage system on a network of its own, as superpod-h100",
    "storage-switch": "switches of the storage network; those of the fabric if left out",
    "inband": "switches of the in-band management network, as sn4600c",
    "oob": "switches of the out-of-band management network, as sn2201",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("family", metavar="FAMILY", nargs="?", help="family of networks; all are listed if left out")
    parser.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter; may be given again"
    )
    for option, words in _PARTS.items():
        parser.add_argument(f"--{option}", metavar="PART", help=words)
    parser.add_argument("-o", "--output", metavar="FILE", help="file to write; parameters are listed if left out")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")


def run(options: argparse.Namespace) -> int:
    """Write the design, or list families or parameters."""
    from pathlib import Path

    if not options.family:
        for family in generators().values():
            print(f"{family.name:16} {family.title}")
        return 0
    given: dict[str, str] = {}
    for text in options.set:
        name, equals, value = text.partition("=")
        if not equals or name in given:
            why = "is no parameter" if not equals else "is given twice"
            raise FormatError(f"{text[:60]!r} {why}", place="--set", remedy="write nodes=64")
        given[name.strip()] = value
    parts = {name: value for name in _PARTS if (value := getattr(options, name.replace("-", "_")))}
    if not options.output and not given and not parts:
        known = generators().get(options.family)
        if known is not None:
            for parameter in known.parameters:
                print(f"{parameter.name:16} {parameter.default!s:12} {parameter.help}")
            return 0
    design = generate(options.family, given, parts)
    summary = summarize(design, options.output)
    print(f"{design.title}: {design.description}")
    print(", ".join(f"{n} {kind}" for kind, n in summary["parts"].items()))
    if options.output:
        target = Path(options.output)
        if target.exists() and not options.force:
            raise FormatError("the file exists already", file=str(target), remedy="choose another name or add --force")
        print_written(str(target), save(design, target, overwrite=options.force))
    return 0


COMMAND = Command(
    "generate",
    "A design of a network family from a few numbers.",
    "designer generate rail-optimized --set nodes=127 --server dgx-h100 --switch qm9700 -o pod.design.json",
    add_arguments,
    run,
)
