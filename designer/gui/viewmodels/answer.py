"""The page of the shown workload in each state of its answer, and how its figures have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from designer.present.blocks import Change, Page, State
from designer.workload.metrics import is_same, tone_of

if TYPE_CHECKING:
    from designer.analysis.results import WorkloadResult
    from designer.decisions.fitting import FittingSettings
    from designer.design.document import Design
    from designer.errors import DesignerError


def shown_page(
    design: Design,
    workload: str,
    state: State,
    result: WorkloadResult | None,
    failure: DesignerError | None,
    fitting: tuple[FittingSettings, ...],
    file: str = "",
) -> Page:
    """The page to show: of the answer there is, else of why there is none.

    Parameters
    ----------
    fitting
        Settings with which the workload runs, if it does not.
    file
        How commands name the design; the name of the design where it is not saved.
    """
    from designer.present.workload import page_of, refused

    spec = design.workloads.get(workload)
    title = (spec.title or spec.id) if spec is not None else ""
    if state is State.NONE:
        add = Change("Add a workload to see what limits this design.")
        return Page(design.title or design.name, state, "No workload yet", changes=(add,))
    if state is State.REFUSED and failure is not None:
        return refused(title, design, failure, fitting)
    if result is None:
        return Page(title, state, title)
    return page_of(result, design, file or design.name or "DESIGN", fitting=fitting)


class Baseline:
    """By workload the figures that changes are counted from: those seen first, or pinned since."""

    def __init__(self) -> None:
        self.known: dict[str, dict[str, float]] = {}

    def pin(self, result: WorkloadResult) -> None:
        """Count from these figures on."""
        self.known[result.id] = {name: estimate.value for name, estimate in result.metrics.items()}

    def changes(self, result: WorkloadResult | None) -> dict[str, tuple[str, str]]:
        """What changed of each figure, in words, and whether that is ``good`` or ``bad``."""
        from designer.present.answer import figure_text

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
