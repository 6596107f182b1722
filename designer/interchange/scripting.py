"""Short ways into a design for scripts: change it, give it a workload, ask it with varied values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from designer.decisions.answers import Row, make_task
from designer.decisions.runs import grid
from designer.decisions.sweep import sweep as run_all
from designer.decisions.variables import make_variable
from designer.design.document import Design, WorkloadSpec
from designer.design.edits.workloads import AddWorkloads
from designer.errors import FormatError
from designer.interchange.changes import apply_changes
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
