"""Data loading: what every accelerator gets from storage when all load at once."""

from __future__ import annotations

from dataclasses import replace

from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, Curve, WorkloadResult
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.families.training.feeding import feed
from designer.families.training.preparation import samples_of
from designer.families.training.tasks import LoadBatch
from designer.formulas.storage.storage_capacity import FeedWorkload, Pattern, utilization
from designer.sources import Estimate
from designer.units import Bytes, BytesPerSecond, Seconds
from designer.workload.program import Program


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Rates of loading.

    Raises
    ------
    AnalysisError
        If its settings do not go together with the drawing.
    """
    task, place = program.first(LoadBatch), question.place
    assert task is not None
    if task.batch < 1:
        raise AnalysisError("a batch of no samples", place=f"{place}.batch", remedy="use 1 sample or more")
    readers = resolve(network, task.group, f"{place}.group")
    samples, _ = samples_of(task.sequence, True, task.input, place)
    samples = replace(samples, batch=float(task.batch))
    fed = feed(network, readers, task.input, samples, place)
    overlapped = task.input.prefetch > 0
    each = task.batch * samples.stored
    largest = samples.loaded(task.batch, len(readers), task.input)
    why = fed.account(largest, overlapped, explained=question.explained)
    loaded, n = fed.answer, len(readers)
    sources = tuple(sorted({"fit-storage", *loaded.sources}))
    slowest = f"slowest: {fed.slowest(task.input)}"

    def rate(amount: float, unit: str) -> Estimate:
        return Estimate(amount / why.value, amount / why.high, amount / why.low, unit, sources, slowest)

    def time(times: float) -> Estimate:
        return Estimate(why.value * times, why.low * times, why.high * times, "s", sources)

    metrics = {
        "input_time": time(1.0),
        "samples_per_second": rate(n * task.batch, "1/s"),
        "data_rate_per_gpu": rate(each, "B/s"),
        "rate": rate(n * each, "B/s"),
        "epoch_time": time(samples.epoch / (n * task.batch)),
        "input_cores": fed.receiving(sources, "cores receiving, and handing batches to accelerators"),
    }
    if task.compute > 0:
        metrics |= _kept_busy(task, n, samples.stored, metrics["rate"], sources)
    stages = tuple(Curve(name, (float(k),), (value,)) for k, (name, value) in enumerate(fed.stage_rates().items()))
    result = question.result(
        metrics,
        *why.bottlenecks(loaded.words),
        loaded.flows,
        loaded.traffic.n_flows,
        loaded.findings,
        {"flow-stages": stages} if question.curves else {},
    )
    return result, loaded.loads


def _kept_busy(
    task: LoadBatch, readers: int, stored: float, path: Estimate, sources: tuple[str, ...]
) -> dict[str, Estimate]:
    """How busy a given number of accelerators is at the rate of the path, and what reaches them."""
    work = FeedWorkload(task.batch, Seconds(task.compute), Bytes(stored), Pattern.LARGE)
    value, low, high = (
        float(utilization(work, readers, BytesPerSecond(rate))) for rate in (path.value, path.low, path.high)
    )
    need = readers * work.demand
    note = f"of {readers} accelerators"
    return {
        "gpu_utilization": Estimate(value, low, high, "1", sources, note),
        "delivered_rate": Estimate(need * value, need * low, need * high, "B/s", sources, f"to {readers} accelerators"),
    }
