"""Short ways into a design for scripts: change it, give it a workload, ask it with varied values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import PartType
from designer.decisions.answers import Row, make_task
from designer.decisions.runs import grid
from designer.decisions.sweep import sweep as run_all
from designer.decisions.variables import make_variable
from designer.design.address import AnyAddress
from designer.design.document import Block, Design, WorkloadSpec
from designer.design.edits.parts import SetType
from designer.design.edits.workloads import AddWorkloads
from designer.errors import FormatError
from designer.interchange.changes import apply_changes, refit
from designer.interchange.overrides import SOURCE, overridden

_REMEDY: Final = "give it an id of its own, a kind of `designer workloads`, and the settings of that kind"


def edit(design: Design, changes: Mapping[str, Any] | None = None, *, set: Sequence[str] = ()) -> Design:
    """A design with changes; the one that is given stays as it is.

    Parameters
    ----------
    changes
        As data: ``{"parts": {"gpu*": {"type": "gpu/nvidia/h200-sxm"}}, "add": {"parts": [...], "links": [...]},
        "remove": ["nic1"], "groups": {"hosts": 16}}``, see ``designer.interchange.changes``.
    set
        As on the command line: ``"workloads.h2d.to=gpu0"``, ``"policy.gpudirect=false"``.

    Raises
    ------
    FormatError
        If a change names what is not there, or cannot be carried out; with its place.
    """
    changed = apply_changes(design, dict(changes), SOURCE) if changes else design
    return overridden(changed, set)


def with_workload(design: Design, id: str, kind: str, title: str = "", **settings: Any) -> Design:
    """A design with one workload more; settings are those ``designer workloads KIND`` lists, spelled with units.

    Raises
    ------
    FormatError
        If it cannot be a workload.
    DocumentError
        If the id is taken.
    """
    try:
        spec = WorkloadSpec(id=id, kind=kind, title=title, settings=settings)
    except ValidationError as error:
        raise FormatError(str(error.errors()[0]["msg"]), place=id, remedy=_REMEDY) from None
    return AddWorkloads((spec,)).apply(design)


def sweep(
    design: Design,
    vary: Mapping[str, str],
    workload: str | None = None,
    metrics: Sequence[str] = (),
    file: Path | None = None,
    *,
    jobs: int = 1,
) -> tuple[Row, ...]:
    """What a workload answers for every combination of values, a row a run.

    Parameters
    ----------
    vary
        Paths and their values, as on the command line: ``{"workloads.train.micro_batch": "1,2,4"}`` or ``"1..8+1"``.
    metrics
        Answers to keep; all of them by default.
    file
        A CSV file that takes the rows as they come; given again, the sweep goes on where it stopped.
    jobs
        Processes.

    Raises
    ------
    DesignerError
        If no run can be.
    """
    variables = [make_variable(path, values) for path, values in vary.items()]
    task = make_task(design, workload, list(vary), list(metrics), overridden)
    return run_all(task, grid(variables), file, jobs=jobs)


# The same design with other accelerators of the catalog, links following what each can do.

#: modules on a board are no cards
_CARD = "pcie"


def swapped(design: Design, patterns: Sequence[str]) -> Mapping[str, Design]:
    """By the title of each part type that matches: the design with it in place of its accelerators.

    Cards take the place of cards, modules that of modules; a module of another generation represents the board and
    server of that generation.

    Raises
    ------
    FormatError
        If the design has no accelerators with a type, or nothing fits a pattern.
    """
    drawn = {p.type for _, b in _blocks(design, ()) for p in b.parts.values() if p.kind == "gpu" and p.type}
    if not drawn:
        raise FormatError("the design has no GPU of a known type", place="--parts", remedy="give its GPUs their type")
    cards = _is_card(design.part_types[sorted(drawn)[0]])
    catalog = load_catalog()
    found: dict[str, Design] = {}
    for pattern in patterns:
        fitting = [
            one
            for type_id in catalog.ids("gpu")
            if fnmatchcase(type_id, pattern) and type_id not in drawn and "/generic/" not in type_id
            if _is_card(one := catalog.get(type_id)) == cards
        ]
        if not fitting:
            sort = "cards" if cards else "modules"
            raise FormatError(
                f"nothing in the catalog fits {pattern[:60]!r} among {sort}",
                place="--parts",
                remedy="see the list made by: designer parts gpu",
            )
        found |= {one.title: _with(design, one) for one in fitting}
    return found


def _is_card(part_type: PartType) -> bool:
    form = part_type.values.get("form")
    return form is not None and str(form.value).lower().startswith(_CARD)


def _blocks(block: Block, within: tuple[str, ...]) -> list[tuple[tuple[str, ...], Block]]:
    inner = [row for g in block.groups.values() for row in _blocks(g.content, (*within, g.id))]
    return [(within, block), *inner]


def _with(design: Design, part_type: PartType) -> Design:
    changed: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for within, block in _blocks(design, ()):
        ids = tuple(p.id for p in block.parts.values() if p.kind == "gpu")
        if ids:
            at: AnyAddress = within
            design = SetType(ids, part_type.id, part_type, part_type.sources, within=at).apply(design)
            changed.append((within, ids))
    return refit(design, changed)
