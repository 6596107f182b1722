"""The argument DESIGN, and what changes it for one run; the same in every command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from designer.cli.output import print_problem
from designer.errors import DesignerError, FormatError, raised_in

if TYPE_CHECKING:
    from designer.design.document import Design
    from designer.interchange.native.reader import Loaded


def add_design(parser: argparse.ArgumentParser) -> None:
    """DESIGN, and the options that change it."""
    parser.add_argument("design", metavar="DESIGN", help="design file or template id")
    add_overrides(parser)


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """The options that change a design for one run."""
    changing = parser.add_argument_group("for this run alone")
    changing.add_argument(
        "--set",
        metavar="PATH=VALUE",
        action="append",
        default=[],
        dest="overrides",
        help='change a value: "gpu*.type=gpu/nvidia/h200-sxm", "policy.gpudirect=false", "workloads.h2d.to=gpu0"',
    )
    changing.add_argument(
        "--workload-file",
        metavar="FILE",
        action="append",
        default=[],
        dest="workload_files",
        help="add a workload, JSON or TOML with id, kind and settings",
    )


def add_workloads(parser: argparse.ArgumentParser) -> None:
    """``--workload`` of commands that answer for all workloads of a design."""
    parser.add_argument(
        "--workload", metavar="ID", action="append", default=[], dest="only", help="only this one; may be given again"
    )


def with_only(design: Design, names: Sequence[str]) -> Design:
    """The design with some of its workloads and those they name as neighbours; the design itself without names.

    Raises
    ------
    AnalysisError
        If there is no such workload.
    """
    if not names:
        return design
    from designer.design.document import with_changes
    from designer.design.ids import find_workload
    from designer.workload.kind import listed

    kept = [find_workload(design, name, "--workload").id for name in names]
    settings = [design.workloads[one].settings for one in kept]
    kept += [one for each in settings for key in ("beside", "background") for one in listed(str(each.get(key, "")))]
    return with_changes(
        design,
        workloads=[spec for spec in design.workloads.values() if spec.id in kept],
        assertions=[one for one in design.assertions.values() if not one.workload or one.workload in kept],
        default_workload=kept[0],
    )


def opened(options: argparse.Namespace) -> Loaded:
    """The design of a command, changed as asked.

    Raises
    ------
    FormatError
        If it cannot be read or changed.
    """
    return opened_as(options.design, options)


def opened_as(name: str, options: argparse.Namespace) -> Loaded:
    """The same for a command that names its designs otherwise: each is changed as asked.

    Raises
    ------
    FormatError
        If it cannot be read or changed.
    """
    from designer.interchange.templates import open_any

    try:
        loaded = open_any(name)
    except FormatError as error:
        raise _foreign(name) or error from None
    overrides: Sequence[str] = options.overrides
    files: Sequence[str] = options.workload_files
    if not overrides and not files:
        return loaded
    from designer.design.integrity import demand_sound
    from designer.interchange.overrides import given_way, overridden, with_workloads

    design = overridden(with_workloads(loaded.design, files), overrides)
    gone = given_way(loaded.design, design)
    if gone:
        more = f" and {len(gone) - 3} more" if len(gone) > 3 else ""
        print_problem(f"note: values given by hand for the old type gave way: {', '.join(gone[:3])}{more}")
    # what was found in the file may not hold of the changed design, and the other way round
    before = set(demand_sound(loaded.design))
    with raised_in(file=name):
        after = demand_sound(design)
    return loaded._replace(design=design, findings=[*(f for f in loaded.findings if f not in before), *after])


def _foreign(name: str) -> FormatError | None:
    """What to do with a file of another tool; None where no importer reads it."""
    from designer.interchange.importing import read_any

    try:
        read_any(name)
    except DesignerError:
        return None
    remedy = f"import it: designer import {name} -o machine.design.json"
    return FormatError("this is the file of another tool, not a design", file=name, remedy=remedy)
