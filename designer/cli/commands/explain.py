"""``designer explain``: why two machines measured different rates."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from designer.cli.command import Command
from designer.cli.output import print_json, table
from designer.cli.pages import add_page_options, print_page
from designer.decisions.log_difference import explain
from designer.decisions.measured_logs import read_log
from designer.errors import FormatError
from designer.interchange.importing import MAX_BYTES
from designer.interchange.templates import open_any
from designer.pages.explain import page_of_difference
from designer.units import format_si

if TYPE_CHECKING:
    from designer.decisions.log_difference import Difference
    from designer.design.document import Design


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "a", metavar="A_LOG", help="log of nccl-tests, nvbandwidth, bandwidthTest, fio (JSON) or a training"
    )
    parser.add_argument("b", metavar="B_LOG", help="the log of the other machine")
    parser.add_argument(
        "--topo",
        metavar="FILE",
        action="append",
        default=[],
        help="topology, design or template of the machine of each log, in their order; once if both ran on one",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """Explain the difference of two logs."""
    from pathlib import Path

    if not 1 <= len(options.topo) <= 2:
        raise FormatError("each log needs the topology of its machine", remedy="give --topo A_TOPO --topo B_TOPO")
    logs = [read_log(_text(name), name) for name in (options.a, options.b)]
    designs = [_machine(name) for name in options.topo] * (2 if len(options.topo) == 1 else 1)
    names = (Path(options.a).name, Path(options.b).name)
    if names[0] == names[1]:
        names = (options.a, options.b)
    found = explain(logs[0], logs[1], (designs[0], designs[1]), names)
    if options.json:
        print_json(_document(found, names, options.topo))
    else:
        print_page(lambda: page_of_difference(found, names), options, lambda: _print(found))
    return 0


def _text(name: str) -> str:
    from pathlib import Path

    try:
        with Path(name).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", file=name, remedy="name the file of a log") from error
    if len(data) > MAX_BYTES:
        raise FormatError("too long for the log of a test", file=name, remedy="give the output of one run")
    return data.decode("utf-8", errors="replace")


def _machine(name: str) -> Design:
    """The machine in a topology file, a design file or a template."""
    from pathlib import Path

    from designer.interchange.importing import read_any

    is_design = not Path(name).exists() or name.endswith(".json")
    return open_any(name).design if is_design else read_any(name).design


def _document(found: Difference, names: tuple[str, str], topologies: list[str]) -> dict[str, object]:
    return {
        "a": {"log": names[0], "topology": topologies[0], "tool": found.a.tool, "how": found.how[0]},
        "b": {"log": names[1], "topology": topologies[-1], "tool": found.b.tool, "how": found.how[1]},
        "measured": found.a.what,
        "sizes": [
            {
                "size": list(one.size),
                "unit": found.a.unit,
                "measured": list(one.measured),
                "predicted": list(one.predicted),
                "ratio": one.ratio,
                "causes": [
                    {
                        "name": c.name,
                        "a": c.a,
                        "b": c.b,
                        "factor": c.factor,
                        "low": c.low,
                        "high": c.high,
                        "share": c.share(one.ratio),
                    }
                    for c in one.causes
                ],
                "rest": {"factor": one.rest, "low": one.low, "high": one.high, "within_bands": one.is_within},
            }
            for one in found.sizes
        ],
    }


def _print(found: Difference) -> None:
    for one in found.sizes:
        rows = [(c.name, c.a, c.b, f"{c.factor:.3f}", f"{c.low:.3f} – {c.high:.3f}") for c in one.causes]
        rows.append(("rest", "", "", f"{one.rest:.3f}", f"{one.low:.3f} – {one.high:.3f}"))
        size = f"{one.size[0]:,} B" if one.size[0] == one.size[1] else f"{one.size[0]:,} B and {one.size[1]:,} B"
        measured = " against ".join(format_si(v, found.a.unit) for v in one.measured[::-1])
        print(f"{size}: measured {measured}, ratio {one.ratio:.3f}")
        print(table(("cause", "A", "B", "factor", "band"), rows, (3, 4)), end="\n\n")


COMMAND = Command(
    "explain",
    "Why two machines measured different rates: what each cause explains, and the rest.",
    "designer explain a.log b.log --topo a.txt --topo b.txt",
    add_arguments,
    run,
)
