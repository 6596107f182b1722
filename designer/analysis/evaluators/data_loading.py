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
    why = fed.account(operation.batch * samples.stored, overlapped, explained=question.explained)
    answer, n = fed.answer, len(readers)
    sources = tuple(sorted({"fit-storage", *answer.sources}))
    slowest = f"slowest: {fed.slowest(operation.input)}"

    def rate(amount: float, unit: str) -> Estimate:
        return Estimate(amount / why.value, amount / why.high, amount / why.low, unit, sources, slowest)

    def time(times: float, note: str = "") -> Estimate:
        return Estimate(why.value * times, why.low * times, why.high * times, "s", sources, note)

    each = operation.batch * samples.stored
    metrics = {
        "input_time": time(1.0),
        "samples_per_second": rate(n * operation.batch, "1/s"),
        "data_rate_per_gpu": rate(each, "B/s"),
        "rate": rate(n * each, "B/s"),
        "epoch_time": time(samples.epoch / (n * operation.batch)),
        "input_cores": fed.receiving(sources, "cores receiving, and handing batches to accelerators"),
    }
    stages = tuple(Curve(name, (float(k),), (value,)) for k, (name, value) in enumerate(fed.stage_rates().items()))
    result = question.result(
        metrics,
        *why.bottlenecks(answer.words),
        answer.flows,
        answer.traffic.n_flows,
        answer.findings,
        {"flow-stages": stages} if question.curves else {},
    )
    return result, answer.loads


EVALUATOR = Evaluator(DataLoading, evaluate)
