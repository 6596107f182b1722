"""Layout search: the fastest layouts of a transformer on the drawn accelerators, by the times of routed collectives."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import Any, Final

import numpy as np

from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, Curve, Rows, WorkloadResult
from designer.errors import AnalysisError, raised_as
from designer.families.training.formulas.layouts import SearchLimits, layouts
from designer.families.training.formulas.step_composition import StepEstimate
from designer.families.training.formulas.transformer_step import TransformerStep
from designer.families.training.loads import flows, loads, n_flows
from designer.families.training.metrics import memory_of
from designer.families.training.preparation import TrainingPlan, prepare
from designer.families.training.steady import steady
from designer.families.training.step import route_step
from designer.families.training.tasks import TrainStep
from designer.findings import Finding, Severity
from designer.formulas.communication import CommunicationModel
from designer.formulas.layout import Layout
from designer.progress import UNWATCHED, Watch
from designer.sources import Estimate
from designer.workload.job_settings import job
from designer.workload.kind import placed

#: layouts between two reports of progress
_REPORT_LIMIT: Final = 128


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found.

    Parameters
    ----------
    best
        Steps of the fastest layouts, fastest first.
    candidates, fitting
        How many layouts were considered, and how many fit in memory.
    """

    best: tuple[StepEstimate, ...]
    candidates: int
    fitting: int


def answer(
    network: Network, settings: Mapping[str, Any], question: Question
) -> tuple[WorkloadResult, ChannelLoads | None]:
    """The best layout, those behind it, and what binds the best."""
    with placed(question.place):
        start = replace(job(settings), tensor=1, pipeline=1, context=1, data=0, expert=1, interleave=1, micro_batch=1)
    plan = prepare(network, replace(start, sharding="none", recompute="none"), question.place)
    found = _search(network, plan, settings, question)
    best = found.best[0]
    chosen = replace(plan, layout=best.layout)
    repeated = steady(network, route_step(network, chosen, TrainStep(plan.job)), question)
    routed_step = repeated.step
    findings = tuple(
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
        repeated.binding,
        repeated.next,
        Rows(lambda: flows(routed_step)),
        n_flows(routed_step),
        findings,
        _curves(found) if question.curves else {},
    )
    return result, loads(network, routed_step)


def _search(network: Network, plan: TrainingPlan, settings: Mapping[str, Any], question: Question) -> Found:
    count = len(plan.ranks.parts)
    per_server = int(np.unique(network.island[plan.ranks.parts], return_counts=True)[1].max())
    limits = SearchLimits(
        per_server, settings["most_tensor"], settings["most_pipeline"], max(1, settings["most_context"])
    )
    watch = Watch(question.progress, question.cancelled)
    with raised_as(AnalysisError, question.place, of=AnalysisError):
        return search_layouts(
            plan.trainer(), count, plan.global_batch, plan.ranks.costs, limits, max(1, settings["keep"]), watch
        )


def search_layouts(
    model: TransformerStep,
    accelerators: int,
    global_batch: int,
    communication: CommunicationModel,
    limits: SearchLimits,
    keep: int,
    watch: Watch = UNWATCHED,
) -> Found:
    """The fastest layouts that fit.

    Parameters
    ----------
    model
        The transformer, accelerator, number format and software; it keeps layer costs between layouts.
    communication
        Makes the collective times of a layout.
    keep
        How many of the fastest are returned.

    Raises
    ------
    AnalysisError
        If nothing divides evenly, or nothing that divides fits; the message says how far off the closest is.
    """
    if accelerators < 1 or keep < 1:
        raise AnalysisError(f"{accelerators} accelerators, {keep} results", remedy="both are 1 or more")
    every = list(layouts(model.shape, accelerators, global_batch, model.sequence, limits))
    if not every:
        raise AnalysisError(
            f"no layout divides a batch of {global_batch} over {accelerators} accelerators",
            remedy="take a batch and a number of accelerators with common divisors",
        )
    refused: list[tuple[float, Layout]] = []

    def fitting() -> Iterator[StepEstimate]:
        for layout in watch.each(every, len(every), "{done:,} of {count:,} layouts", _REPORT_LIMIT):
            memory = model.memory(layout, layout.microbatches(global_batch))
            if memory.fits:
                yield model.estimate(layout, global_batch, communication(layout), must_fit=False)
            else:
                refused.append((memory.total / memory.capacity, layout))

    best = nsmallest(keep, fitting(), key=lambda step: step.step_time)
    if not best:
        excess, closest = min(refused, key=lambda pair: pair[0])
        raise AnalysisError(
            f"none of {len(every)} layouts of {model.shape.name} fits; the closest, {closest.describe()}, needs "
            f"{excess:.1f} times the memory",
            remedy=f"use about {math.ceil(accelerators * excess)} accelerators, or ones with more memory",
        )
    return Found(tuple(best), len(every), len(every) - len(refused))


def _metrics(found: Found) -> Mapping[str, Estimate]:
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


def _curves(found: Found) -> Mapping[str, tuple[Curve, ...]]:
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
