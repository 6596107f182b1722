"""How much a workload gets done: the one metric that failures, suggestions and promises of slowdown all weigh."""

from __future__ import annotations

from typing import Final

from designer.analysis.results import WorkloadResult
from designer.errors import AnalysisError

#: metrics that tell how much a workload gets done, the first it has counts; True where more is better.
#: What is served at a given rate is no measure of that: what could be is.
WORTH: Final = (
    ("most_requests_per_second", True),
    ("tokens_per_second", True),
    ("samples_per_second", True),
    ("requests_per_second", True),
    ("rate", True),
    ("algorithm_bandwidth", True),
    ("more_machines", True),
    ("evacuation_time", False),
    ("migration_time", False),
    ("checkpoint_time", False),
    ("step_time", False),
    ("transfer_time", False),
    ("communication_time", False),
)


def worth_of(result: WorkloadResult) -> tuple[str, bool]:
    """The metric that tells how much a workload gets done, and whether more is better.

    Raises
    ------
    AnalysisError
        If it has none.
    """
    found = next((row for row in WORTH if row[0] in result.metrics), None)
    if found is None:
        raise AnalysisError(
            f"{result.id!r} has no metric of how much it gets done", remedy="choose a workload that moves or computes"
        )
    return found


def share_of(before: WorkloadResult, after: WorkloadResult) -> float:
    """What is left of a workload's throughput."""
    name, more = worth_of(before)
    if name not in after.metrics:
        return 0.0
    one, other = before.metrics[name].value, after.metrics[name].value
    if not more:
        one, other = other, one
    return other / one if one > 0 else float(other >= one)
