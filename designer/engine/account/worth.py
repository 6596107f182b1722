"""How much a workload gets done: the one metric that failures, suggestions and promises of slowdown all weigh."""

from __future__ import annotations

from typing import Final

from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.workload.metrics import more_is_better

#: losses below this share are rounding
_SAME_TOLERANCE: Final = 1e-9
#: metrics of how much a workload gets done, the first it has counts. What is served at a given rate is no measure of
#: that: what could be is.
WORTH: Final = (
    "most_requests_per_second",
    "tokens_per_second",
    "samples_per_second",
    "requests_per_second",
    # before the rate at which machines move
    "evacuation_time",
    "migration_time",
    "rate",
    "algorithm_bandwidth",
    "more_machines",
    "checkpoint_time",
    "step_time",
    "transfer_time",
    "communication_time",
    "batches_per_second",
    "product_rate",
    "reaction_time",
    "version_time",
    "workflow_time",
    "fit_time",
)


def worth_of(result: WorkloadResult) -> str:
    """The metric of how much a workload gets done.

    Raises
    ------
    AnalysisError
        If it has none.
    """
    found = next((name for name in WORTH if name in result.metrics), None)
    if found is None:
        raise AnalysisError(
            f"{result.id!r} has no metric of how much it gets done", remedy="choose a workload that moves or computes"
        )
    return found


def share_of(before: WorkloadResult, after: WorkloadResult) -> float:
    """What is left of a workload's throughput."""
    name = worth_of(before)
    if name not in after.metrics:
        return 0.0
    one, other = before.metrics[name].value, after.metrics[name].value
    if not more_is_better(name, before.kind):
        one, other = other, one
    return other / one if one > 0 else float(other >= one)


def share_of_work(before: WorkloadResult, after: WorkloadResult, ranks: int = 0, ranks_left: int = 0) -> float:
    """What is left of a workload's throughput after a failure; of a collective, of what its ranks move together.

    Parameters
    ----------
    ranks, ranks_left
        Of a collective before and after; 0 for other workloads, whose throughput counts them.
    """
    share = share_of(before, after)
    if ranks:
        # fewer ranks may talk faster, but do no more each
        share = min(share, 1.0) * ranks_left / ranks
    return 1.0 if abs(share - 1) < _SAME_TOLERANCE else share
