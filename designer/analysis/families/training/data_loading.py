"""Data loading: what every accelerator gets from storage when all load at once."""

from __future__ import annotations

from dataclasses import replace

from designer.analysis.families import Question
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, Curve, WorkloadResult
from designer.analysis.selection import resolve
from designer.analysis.training.feeding import feed
from designer.analysis.training.preparation import samples_of
from designer.errors import AnalysisError
from designer.sources import Estimate
from designer.workload.program import Program
from designer.workload.program.training import LoadBatch


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
    taken = fed.batch_time(task.batch, samples.stored, overlapped)
    loaded, n = fed.answer, len(readers)
    sources = tuple(sorted({"fit-storage", *loaded.sources}))

    def rate(values: tuple[float, float, float], unit: str) -> Estimate:
        return Estimate(*values, unit, sources, f"slowest: {fed.slowest(task.input)}")

    each = tuple(task.batch / t for t in (taken[0], taken[2], taken[1]))
    together = tuple(n * value for value in each)
    metrics = {
        "input_time": Estimate(*taken, "s", sources),
        "samples_per_second": rate((together[0], together[1], together[2]), "1/s"),
        "data_rate_per_gpu": rate(
            (each[0] * samples.stored, each[1] * samples.stored, each[2] * samples.stored), "B/s"
        ),
        "rate": rate(tuple(value * samples.stored for value in together), "B/s"),  # pyright: ignore[reportArgumentType]
        "epoch_time": Estimate(
            samples.epoch / together[0], samples.epoch / together[2], samples.epoch / together[1], "s", sources
        ),
        "input_cores": fed.receiving(sources, "cores receiving, and handing batches to accelerators"),
    }
    stages = tuple(Curve(name, (float(k),), (value,)) for k, (name, value) in enumerate(fed.stages.items()))
    result = question.result(
        metrics,
        loaded.binding,
        loaded.next,
        loaded.flows,
        loaded.traffic.n_flows,
        loaded.findings,
        {"flow-stages": stages} if question.curves else {},
    )
    return result, loaded.loads
