"""The page of the shown workload in each state of its answer, and how its figures have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from designer.pages.workload import page_of, refused
from designer.present.answer import figure_text
from designer.present.blocks import Change, Page, State
from designer.workload.metrics import is_same, tone_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from designer.decisions.fitting import FittingSettings
    from designer.decisions.suggest import Suggestions
    from designer.design.document import Design
    from designer.engine.results import WorkloadResult
    from designer.errors import DesignerError


class Asked(Protocol):
    """A session as far as its page needs it."""

    @property
    def shown_design(self) -> Design: ...
    @property
    def workload(self) -> str: ...
    @property
    def state(self) -> State: ...
    @property
    def shown_result(self) -> WorkloadResult | None: ...
    @property
    def failure(self) -> DesignerError | None: ...
    @property
    def fitting(self) -> Sequence[FittingSettings] | None: ...
    @property
    def helps(self) -> Suggestions | None: ...
    @property
    def file(self) -> Path | None: ...


def page_for(session: Asked) -> Page:
    """The page to show: of the answer there is, else of why there is none."""

    design, state, result, failure = session.shown_design, session.state, session.shown_result, session.failure
    fitting = tuple(session.fitting or ())
    spec = design.workloads.get(session.workload)
    title = (spec.title or spec.id) if spec is not None else ""
    if state is State.NONE:
        add = Change("Add a workload to see what limits this design.")
        return Page(design.title or design.name, state, "No workload yet", changes=(add,))
    if state is State.REFUSED and failure is not None:
        return refused(title, design, failure, fitting)
    if result is None:
        return Page(title, state, title)
    file = session.file.name if session.file is not None else ""
    return page_of(result, design, file or design.name or "DESIGN", fitting=fitting, helps=session.helps)


class Baseline:
    """By workload the figures that changes are counted from: those seen first, or pinned since."""

    def __init__(self) -> None:
        self.known: dict[str, dict[str, float]] = {}

    def pin(self, result: WorkloadResult) -> None:
        """Count from these figures on."""
        self.known[result.id] = {name: estimate.value for name, estimate in result.metrics.items()}

    def changes(self, result: WorkloadResult | None) -> dict[str, tuple[str, str]]:
        """What changed of each figure, in words, and whether that is ``good`` or ``bad``."""

        if result is None or not result.metrics:
            return {}
        if result.id not in self.known:
            self.pin(result)
        before, found = self.known[result.id], dict[str, tuple[str, str]]()
        for name, estimate in result.metrics.items():
            old = before.get(name)
            if old is None or is_same(old, estimate.value):
                continue
            text = f"was {figure_text(name, old, estimate.unit)}"
            if old:
                share = (estimate.value / old - 1) * 100
                text += f", {share:+.0f}%" if abs(share) >= 1 else f", {share:+.1f}%"
            found[name] = (text.replace("-", "−"), tone_of(name, old, estimate.value, result.kind))
        return found
