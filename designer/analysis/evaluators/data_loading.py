"""Data loading: what every accelerator gets from storage when all load at once."""

from __future__ import annotations

from dataclasses import replace

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, Curve, WorkloadResult
from designer.analysis.selection import resolve
from designer.analysis.training.feeding import feed
from designer.analysis.training.preparation import samples_of
from designer.errors import AnalysisError
from designer.sources import Estimate
from designer.workload.jobs import DataLoading


def evaluate(network: Network, operation: DataLoading, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Rates of loading.

    Raises
    ------
    AnalysisError
        If its settings do not go together with the drawing.
    """
    place = question.place
    if operation.batch < 1:
        raise AnalysisError("a batch of no samples", place=f"{place}.batch", remedy="use 1 sample or more")
    readers = resolve(network, operation.group, f"{place}.group")
    samples, _ = samples_of(operation.sequence, True, operation.input, place)
    samples = replace(samples, batch=float(operation.batch))
    fed = feed(network, readers, operation.input, samples, place)
    overlapped = operation.input.prefetch > 0
    taken = fed.batch_time(operation.batch, samples.stored, overlapped)
    answer, n = fed.answer, len(readers)
    sources = tuple(sorted({"fit-storage", *answer.sources}))

    def rate(values: tuple[float, float, float], unit: str) -> Estimate:
        return Estimate(*values, unit, sources, f"slowest: {fed.slowest(operation.input)}")

    each = tuple(operation.batch / t for t in (taken[0], taken[2], taken[1]))
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
        answer.binding,
        answer.next,
        answer.flows,
        answer.traffic.n_flows,
        answer.findings,
        {"flow-stages": stages} if question.curves else {},
    )
    return result, answer.loads


EVALUATOR = Evaluator(DataLoading, evaluate)
