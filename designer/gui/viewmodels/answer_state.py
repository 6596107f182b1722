"""Which state an answer is in; one vocabulary for the head, the panels and the canvas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from designer.present.blocks import State

if TYPE_CHECKING:
    from designer.engine.results import WorkloadResult
    from designer.errors import DesignerError


def state_of(
    has_workload: bool, awaited: bool, stale: bool, result: WorkloadResult | None, failure: DesignerError | None
) -> State:
    """The state of an answer.

    Parameters
    ----------
    awaited
        True while the loads of the current design are computed.
    stale
        True if `result` or `failure` belongs to an earlier design.
    """
    if not has_workload:
        return State.NONE
    if result is None and awaited and (failure is None or stale):
        return State.COMPUTING
    if stale or (result is None and failure is None):
        return State.STALE
    if failure is not None:
        return State.REFUSED
    return State.UNFIT if result is not None and result.unfit is not None else State.ANSWERED


def empty_text(state: State, otherwise: str) -> str:
    """The sentence of a panel that has nothing to show, `otherwise` where the answer is complete and has none of it."""
    if state is State.COMPUTING:
        return "Computing…"
    if state is State.STALE:
        return "Not computed for this design yet. F5 computes it."
    if state is State.REFUSED:
        return "No answer: the workload cannot run. The answer gives the reason."
    if state is State.NONE:
        return "The design has no workload. Add one from the list of workloads."
    return otherwise
