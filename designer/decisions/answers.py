"""One run of a sweep: the design changed, its workload analysed, what came out as a row."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from designer.analysis.study import analyze
from designer.decisions.runs import Run
from designer.design.document import Design
from designer.design.ids import find_workload
from designer.errors import AnalysisError, Cancelled, DesignerError, FormatError
from designer.sources import Estimate
from designer.spelling import near
from designer.workload.kind import workload_kinds
from designer.workload.metrics import METRICS
from designer.workload.text_files import Contents

#: makes a design with values changed, each spelled PATH=VALUE; a function of a module, so that it can be sent
Change = Callable[[Design, Sequence[str]], Design]

#: fields of a design that change no answer
_LOOKS: Final = frozenset({"position", "collapsed", "note", "annotations", "assertions", "waivers", "racks"})


@dataclass(frozen=True, slots=True)
class Task:
    """What every run of a sweep has in common.

    Parameters
    ----------
    paths
        What is changed, one for each setting of a run.
    metrics
        Names of the answers that are kept.
    """

    design: Design
    workload: str
    paths: tuple[str, ...]
    metrics: tuple[str, ...]
    change: Change

    @property
    def question(self) -> str:
        """A hash of design, workload, paths, metrics and program, the same for sweeps that ask the same.

        The files that settings of the design name are hashed by what they hold.
        """
        pieces = [json.dumps(_bare(self.design.model_dump(mode="json", exclude_defaults=True)), sort_keys=True)]
        pieces += [program_version(), self.workload, *self.paths, "", *self.metrics]
        pieces += [files] if (files := Contents().digest(self.named)) else []
        return hashlib.sha256("\0".join(pieces).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def named(self) -> tuple[object, ...]:
        """Values of settings of all workloads of the design; some may name files."""
        return tuple(value for spec in self.design.workloads.values() for value in spec.settings.values())

    @property
    def title(self) -> str:
        """The workload as people call it."""
        spec = self.design.workloads[self.workload]
        return spec.title or spec.id


def program_version() -> str:
    """The version of this program that is installed; empty if it is not."""
    try:
        return importlib.metadata.version("designer")
    except importlib.metadata.PackageNotFoundError:
        return ""


def _bare(content: Any) -> Any:
    """A design without what changes no answer: where things are placed, and the assertions about answers."""
    if isinstance(content, dict):
        fields = cast("dict[str, Any]", content)
        # a size of what is transferred is text, that of a box is not
        return {k: _bare(v) for k, v in fields.items() if k not in _LOOKS and not (k == "size" and type(v) is dict)}
    return [_bare(v) for v in cast("list[Any]", content)] if isinstance(content, list) else content


@dataclass(frozen=True, slots=True)
class Binding:
    """What binds in a run."""

    what: str
    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Row:
    """A run and its answer; `error` where there is none."""

    number: int
    settings: tuple[str, ...]
    metrics: Mapping[str, Estimate] = field(default_factory=dict[str, Estimate])
    binding: tuple[Binding, ...] = ()
    error: str = ""


def make_task(
    design: Design, workload: str | None, paths: Sequence[str], metrics: Sequence[str], change: Change
) -> Task:
    """A task, with what was left out filled in: the workload shown first, all metrics of its kind.

    Raises
    ------
    AnalysisError
        If there is no such workload or metric.
    """
    if not design.workloads:
        remedy = "add one, for example with --workload-file"
        raise AnalysisError("the design has no workload", place="--workload", remedy=remedy)
    spec = find_workload(design, workload or design.default_workload or next(iter(design.workloads)), "--workload")
    asked = spec.id
    kind = workload_kinds().get(spec.kind)
    known_metrics = kind.metrics if kind is not None else ()
    for name in metrics:
        if name not in known_metrics:
            meant = near(name, known_metrics) or list(known_metrics)
            raise AnalysisError(
                f"{asked} has no metric {name!r}", place="--metric", remedy=f"there are {', '.join(meant)}"
            )
    kept = tuple(dict.fromkeys(metrics)) or tuple(name for name in known_metrics if name in METRICS)
    return Task(design, asked, tuple(paths), kept, change)


def changed(task: Task, run: Run) -> Design:
    """The design of a run.

    Raises
    ------
    DesignerError
        If a value cannot be.
    """
    return task.change(task.design, [f"{p}={v}" for p, v in zip(task.paths, run.settings, strict=True)])


def check_paths(task: Task, runs: Sequence[Run]) -> None:
    """Refuse paths that name nothing, before hours of rows that all say so.

    Raises
    ------
    FormatError
        If a path can take none of its values.
    """
    for at, path in enumerate(task.paths):
        refused: DesignerError | None = None
        for value in dict.fromkeys(run.settings[at] for run in runs):
            try:
                task.change(task.design, [f"{path}={value}"])
            except DesignerError as error:
                refused = refused or error
            else:
                break
        else:
            if refused is not None:
                raise FormatError(refused.text, place=f"--vary {path}", remedy=refused.remedy)


def answer(task: Task, run: Run, cancelled: Callable[[], bool] | None = None) -> Row:
    """The row of a run; what cannot be built or run is stated in it.

    Raises
    ------
    Cancelled
        If `cancelled` says so.
    """
    try:
        found = analyze(changed(task, run), [task.workload], curves=False, cancelled=cancelled).workloads[0]
    except Cancelled:
        raise
    except DesignerError as error:
        return Row(run.number, run.settings, error=str(error).removeprefix("--set "))
    except (ArithmeticError, LookupError, TypeError, ValueError, AssertionError) as error:
        # one odd corner must not cost the other rows; it is stated as what it is
        return Row(run.number, run.settings, error=f"a mistake in the program: {type(error).__name__}: {error}")
    metrics = {name: _stored_values(found.metrics[name]) for name in task.metrics if name in found.metrics}
    return Row(run.number, run.settings, metrics, tuple(Binding(b.what, b.id, b.label) for b in found.binding))


def _stored_values(found: Estimate) -> Estimate:
    """What a row keeps of an estimate: the same whether it was worked out or read from a file."""
    return Estimate(found.value, found.low, found.high, found.unit)
