"""What the engine benches share: workloads on drawn clusters, and the problem behind a transfer."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from unittest.mock import patch

from designer.design.document import Design, WorkloadSpec, replaced, with_changes
from designer.engine import transfers
from designer.engine.flows import Incidence
from designer.engine.network import build_network
from designer.workload.program import Move
from tests.designs import pods

PERMUTATION = Move("gpus", "gpus", pairing="permutation")
WORKLOADS = (
    WorkloadSpec(id="permutation", kind="transfer", settings={"from": "gpus", "to": "gpus", "pairing": "permutation"}),
    WorkloadSpec(id="h2d", kind="transfer"),
    WorkloadSpec(id="all-reduce", kind="collective"),
)


def cluster(units: int, ecmp: str = "hash") -> Design:
    """``units`` × 256 GPUs with three workloads."""
    design = pods(units, ecmp)
    return with_changes(design, workloads=replaced({}, WORKLOADS))


def problem(design: Design) -> Incidence:
    """The allocation problem of a permutation of all GPUs, routed on the elaborated design."""
    seen: list[Incidence] = []

    def watched(incidence: Incidence) -> Any:
        seen.append(incidence)
        raise InterruptedError

    with patch.object(transfers, "solve", watched), suppress(InterruptedError):
        transfers.evaluate_transfer(build_network(design), PERMUTATION, "bench")
    return seen[0]


def best(function: Callable[[], object], repeats: int) -> float:
    """Shortest of some runs [s]."""
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)
