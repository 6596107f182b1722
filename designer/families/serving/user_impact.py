"""What users of a served model feel of something that goes on with it: percentiles meanwhile, and otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from designer.families.serving.readings import read
from designer.families.serving.records import ServingRun
from designer.families.serving.request_log import RequestLog

#: what is stated of a time, and in which words
STATED: Final[Mapping[str, str]] = {
    "itl_p95": "p95 between tokens",
    "ttft_p95": "p95 until the first token",
    "itl_p50": "p50 between tokens",
    "itl_p99": "p99 between tokens",
    "ttft_p50": "p50 until the first token",
    "ttft_p99": "p99 until the first token",
}
#: the same of samples, whose answer comes at once
ANSWERS: Final[Mapping[str, str]] = {f"latency_{p}": f"{p} until the answer" for p in ("p95", "p50", "p99")}


@dataclass(frozen=True, slots=True)
class Felt:
    """Percentiles of a served model while something goes on [s].

    Parameters
    ----------
    during, outside
        Of requests sent meanwhile and of all others, by metric; empty where there are none.
    without
        Of the requests of the same time, had it not gone on.
    requests
        Sent and answered meanwhile.
    """

    workload: str
    by: str
    begin: float
    seconds: float
    during: Mapping[str, float]
    outside: Mapping[str, float]
    without: Mapping[str, float]
    requests: int

    def times(self, metric: str) -> float | None:
        """How many times as long it is as without [1]."""
        during, without = self.during.get(metric), self.without.get(metric)
        return during / without if during is not None and without else None


def felt(log: RequestLog, other: RequestLog, workload: str, by: str, begin: float, end: float) -> Felt | None:
    """What requests sent between two times felt, against a run without what went on [s]; None where nothing is
    stated."""
    if log.saturated or other.saturated:
        return None
    during = log.between(begin, end)
    count = int(np.isfinite(during.done).sum())
    if not count:
        return None
    return Felt(
        workload,
        by,
        begin,
        end - begin,
        values(during),
        values(log.between(begin, end, outside=True)),
        values(other.between(begin, end)),
        count,
    )


def values(run: ServingRun) -> Mapping[str, float]:
    """Percentiles of all requests of a run; none where none was answered."""
    if not run.served.any():
        return {}
    found = read(run, 0).values
    stated = STATED if (run.output > 1).any() else ANSWERS
    return {name: found[name] for name in stated if name in found}
