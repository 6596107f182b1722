"""Layout search: the fastest layouts of a transformer on the drawn accelerators, by the times of routed collectives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, Curve, Rows, WorkloadResult
from designer.analysis.training.bottlenecks import bottlenecks
from designer.analysis.training.loads import flows, loads, n_flows
from designer.analysis.training.metrics import memory_of
from designer.analysis.training.preparation import TrainingPlan, prepare
from designer.analysis.training.step import route_step
from designer.errors import AnalysisError, Cancelled, raised_as
from designer.findings import Finding, Severity
from designer.formulas.pipeline.layout_search import SearchLimits, SearchResult, layouts, search_layouts
from designer.sources import Estimate
from designer.workload.jobs import InputPath, LayoutSearch, Run, Training

_NO_INPUT: Final = InputPath("", "", 1, 1, "none", 0.0, 0.0, "auto", "policy", "")
_NO_RUN: Final = Run(0, 0, 0, 0, "", False, False, 0.0, 0.0)


def evaluate(network: Network, operation: LayoutSearch, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """The best layout, those behind it, and what binds the best."""
    start = replace(operation.job, tensor=1, pipeline=1, context=1, data=0, expert=1, interleave=1, micro_batch=1)
    plan = prepare(network, replace(start, sharding="none", recompute="none"), question.place)
    found = _search(network, plan, operation, question)
    best = found.best[0]
    chosen = replace(plan, layout=best.layout)
    routed_step = route_step(network, chosen, Training("best", plan.job, _NO_INPUT, _NO_RUN))
    binding, after = bottlenecks(routed_step)
    told = tuple(
        Finding(
            "LAYOUT-RANK",
            Severity.INFO,
            f"{place}. {step.layout.describe()}: {step.step_time:.4g} s, {step.samples_per_second:.4g} samples/s, "
            f"MFU {step.mfu:.1%}, {step.memory.total:.3g} B",
        )
        for place, step in enumerate(found.best, 1)
    )
    result = question.result(
        _metrics(found),
        binding,
        after,
        Rows(lambda: flows(routed_step)),
        n_flows(routed_step),
        told,
        _curves(found) if question.curves else {},
    )
    return result, loads(network, routed_step)


def _search(network: Network, plan: TrainingPlan, operation: LayoutSearch, question: Question) -> SearchResult:
    count = len(plan.ranks.parts)
    per_server = int(np.unique(network.island[plan.ranks.parts], return_counts=True)[1].max())
    limits = SearchLimits(per_server, operation.most_tensor, operation.most_pipeline, max(1, operation.most_context))
    trainer = plan.trainer()
    expected = 0
    if question.progress is not None:
        expected = sum(1 for _ in layouts(trainer.shape, count, plan.global_batch, trainer.sequence, limits))

    def looking(looked: int) -> None:
        if question.cancelled is not None and question.cancelled():
            raise Cancelled("stopped")
        if question.progress is not None:
            question.progress(min(1.0, looked / max(1, expected)), f"{looked:,} of {expected:,} layouts")

    with raised_as(AnalysisError, question.place, of=AnalysisError):
        return search_layouts(
            trainer, count, plan.global_batch, plan.ranks.costs, limits, max(1, operation.keep), looking
        )


def _metrics(found: SearchResult) -> Mapping[str, Estimate]:
    best = found.best[0]
    sources = (*best.sources, "nccl-tuning", "collectives-fit")
    low, high = best.low / best.step_time, best.high / best.step_time
    note = best.layout.describe()

    def rate(value: float, unit: str = "1/s") -> Estimate:
        return Estimate(value, value / high, value / low, unit, sources, note)

    return {
        "step_time": Estimate(best.step_time, best.low, best.high, "s", sources, note),
        "samples_per_second": rate(best.samples_per_second),
        "tokens_per_second": rate(best.tokens_per_second),
        "mfu": rate(best.mfu, "1"),
        "memory_per_gpu": memory_of(best, sources, note),
        "candidates": Estimate.exact(found.candidates, "1", sources, "layouts looked at"),
        "fitting": Estimate.exact(found.fitting, "1", sources, "layouts that fit in memory"),
    }


def _curves(found: SearchResult) -> Mapping[str, tuple[Curve, ...]]:
    """Step time of the layouts shown [s], and the memory each needs [B], fastest first."""
    x = tuple(float(k) for k in range(1, len(found.best) + 1))
    return {
        "layouts": (
            Curve(
                "step_time",
                x,
                tuple(s.step_time for s in found.best),
                tuple(s.low for s in found.best),
                tuple(s.high for s in found.best),
            ),
            Curve("memory_per_gpu", x, tuple(s.memory.total for s in found.best)),
        )
    }


EVALUATOR = Evaluator(LayoutSearch, evaluate)
