"""Computing on the engine of each part and its memory; delays and marks, which use nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from designer.engine.accelerators import accelerator_of
from designer.engine.costs.pricing import Cost, CostKind, Prices, alone, nothing
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.formulas.accelerator import Accelerator
from designer.formulas.compute.gemm import FORMULA as GEMM
from designer.formulas.compute.roofline import MEMORY_SHARE, roofline_time
from designer.formulas.software import software
from designer.units import Bytes, Flop, FlopPerSecond, Seconds
from designer.workload.program.tasks import Compute, Delay, Mark, Task


def computing(prices: Prices, task: Compute, place: str) -> Cost:
    """Works of a second_of_computing each: of one second, or of the whole roofline.

    Raises
    ------
    AnalysisError
        If no part is named, or it cannot compute.
    """
    network, table = prices.network, prices.table
    parts = resolve(network, task.where, place)
    seconds, low, high, sources = task.seconds, 1.0, 1.0, tuple[str, ...]()
    if not seconds and (task.flop or task.size):

        def time_on(part: Accelerator) -> float:
            name = part.runs_as(task.precision)
            if not part.flops.get(name):
                raise AnalysisError(f"{part.name} has no {task.precision}", place=place, remedy="choose another format")
            rate, launch = FlopPerSecond(part.peak(name)), Seconds(software("tuned").launch.value)
            return float(roofline_time(Flop(task.flop), Bytes(task.size), rate, part.memory_bandwidth, launch))

        seconds = time_on(accelerator_of(network, parts, place, time_on)[0])
        if reached := task.share:
            low, high = reached.value / reached.high, reached.value / reached.low
            seconds, sources = seconds / reached.value, (reached.source, "memory-share", "roofline-2009")
        else:
            # the peak is the most there is; what kernels reach of it depends on their shapes
            low, high = 1.0, 1 / MEMORY_SHARE.low
            sources = tuple(sorted({"roofline-2009", "memory-share", *GEMM.sources}))
    if task.one:
        engines = np.array([table.engine(parts.tolist())])
    else:
        engines = np.array([table.engine([part]) for part in parts.tolist()])
    n = len(engines)
    memory = network.part_resource[parts] if not task.one else np.full(1, -1)
    rows = np.flatnonzero(memory >= 0) if task.size and seconds else np.empty(0, dtype=np.int64)
    share = task.size / seconds if task.size and seconds else 0.0
    ptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)
    weight = 1 / share if len(rows) else 1.0
    return Cost(
        ptr,
        memory[rows],
        np.full(len(rows), share),
        np.full(n, seconds),
        np.ones(n),
        np.full(n, weight),
        np.zeros(n),
        engines,
        low,
        high,
        f"compute:{task.where}",
        "s",
        sources,
    )


def second_of_computing(task: Compute) -> tuple[Task, float]:
    """A second, where seconds are given and no memory is read."""
    return (replace(task, seconds=1.0), task.seconds) if task.seconds and not task.size else (task, 1.0)


def delay(prices: Prices, task: Delay, place: str) -> Cost:
    """One second."""
    return alone(1.0)


def second_of_delay(task: Delay) -> tuple[Task, float]:
    """Seconds."""
    return Delay(1.0), task.seconds


def mark(prices: Prices, task: Mark, place: str) -> Cost:
    """Nothing."""
    return nothing()


COSTS: Final = (
    CostKind(Compute, computing, second_of_computing),
    CostKind(Delay, delay, second_of_delay),
    CostKind(Mark, mark),
)
