"""The states an answer can be in, one vocabulary for the head, the panels and the canvas."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from designer.analysis.results import WorkloadResult
    from designer.errors import DesignerError


class AnswerState(Enum):
    """State of the answer to the shown workload."""

    #: the design has no workload
    NONE = "No workload"
    #: the first answer is being computed
    COMPUTING = "Computing"
    ANSWERED = "Answered"
    #: the answer belongs to an earlier design, or none was computed yet and nothing runs
    STALE = "Out of date"
    #: no answer can be given, and why is known
    REFUSED = "No answer"
    #: the workload does not fit: its figures are those it would have if it did
    UNFIT = "Cannot run"


def state_of(
    has_workload: bool, awaited: bool, stale: bool, result: WorkloadResult | None, failure: DesignerError | None
) -> AnswerState:
    """The state of an answer.

    Parameters
    ----------
    awaited
        True while the loads of the current design are computed.
    stale
        True if `result` or `failure` belongs to an earlier design.
    """
    if not has_workload:
        return AnswerState.NONE
    if result is None and awaited and (failure is None or stale):
        return AnswerState.COMPUTING
    if stale or (result is None and failure is None):
        return AnswerState.STALE
    if failure is not None:
        return AnswerState.REFUSED
    return AnswerState.UNFIT if result is not None and result.unfit is not None else AnswerState.ANSWERED


def empty_text(state: AnswerState, otherwise: str) -> str:
    """The sentence of a panel that has nothing to show, `otherwise` where the answer is complete and has none of it."""
    if state is AnswerState.COMPUTING:
        return "Computing…"
    if state is AnswerState.STALE:
        return "Not computed for this design yet. F5 computes it."
    if state is AnswerState.REFUSED:
        return "No answer: the workload cannot run. The answer gives the reason."
    if state is AnswerState.NONE:
        return "The design has no workload. Add one from the list of workloads."
    return otherwise
