"""Finding a layout: every way to spread a transformer over the accelerators, those that fit, the fastest first."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.communication import CommunicationModel
from designer.formulas.formula import Formula
from designer.formulas.layout import Layout, Recompute, Sharding, check_layout
from designer.formulas.pipeline.step_composition import StepEstimate
from designer.formulas.pipeline.transformer_step import TransformerStep
from designer.formulas.shapes import TransformerNumbers
from designer.sources import Constant, Status

#: layouts a search returns unless told otherwise
KEEP: Final = int(Constant(10, 1, 100, "assumed-training", Status.ASSUMED, "1").value)
#: layouts between two calls of the one who watches
LOOKS_LIMIT: Final = 128
#: virtual stages per accelerator that are tried
INTERLEAVES: Final = (1, 2, 1 + 2, 2 + 2)


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """What a search may use.

    Parameters
    ----------
    accelerators_per_server
        Tensor groups do not leave a server.
    most_tensor, most_pipeline, most_context
        Largest degrees; 0 for what divides.
    """

    accelerators_per_server: int
    most_tensor: int = 0
    most_pipeline: int = 0
    most_context: int = 1


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found.

    Parameters
    ----------
    best
        Steps of the fastest layouts, fastest first.
    candidates, fitting
        How many layouts were looked at, and how many fit in memory.
    """

    best: tuple[StepEstimate, ...]
    candidates: int
    fitting: int


def _divisors(number: int) -> tuple[int, ...]:
    small = [value for value in range(1, math.isqrt(number) + 1) if number % value == 0]
    return tuple(sorted({*small, *(number // value for value in small)}))


def layouts(
    shape: TransformerNumbers, accelerators: int, global_batch: int, sequence: int, limits: SearchLimits
) -> Iterator[Layout]:
    """Every layout that divides the model, batch and accelerators evenly."""
    most_tensor = limits.most_tensor or limits.accelerators_per_server
    most_pipeline = limits.most_pipeline or shape.layers
    for tensor in _divisors(accelerators):
        if tensor > most_tensor or shape.heads % tensor:
            continue
        for pipeline in _divisors(accelerators // tensor):
            if pipeline > most_pipeline:
                continue
            for context in _divisors(accelerators // tensor // pipeline):
                if context > limits.most_context:
                    continue
                data = accelerators // tensor // pipeline // context
                yield from _choices(shape, tensor, pipeline, context, data, global_batch, sequence)


def _choices(
    shape: TransformerNumbers, tensor: int, pipeline: int, context: int, data: int, global_batch: int, sequence: int
) -> Iterator[Layout]:
    if global_batch % data:
        return
    experts = [e for e in _divisors(data * context) if shape.experts and shape.experts % e == 0] or [1]
    interleaves = [v for v in INTERLEAVES if v == 1 or (pipeline > 1 and shape.layers % (pipeline * v) == 0)]
    micros = [m for m in _divisors(global_batch // data) if m & (m - 1) == 0]
    shardings = list(Sharding) if data * context > 1 else [Sharding.NONE]
    for expert in experts:
        for interleave in interleaves:
            for micro in micros:
                for sharding in shardings:
                    for recompute in Recompute:
                        for sequential in (False, True) if tensor > 1 else (False,):
                            layout = Layout(
                                tensor,
                                pipeline,
                                data,
                                context,
                                expert,
                                interleave,
                                micro,
                                sequential,
                                sharding,
                                recompute,
                            )
                            try:
                                check_layout(layout, shape, sequence)
                            except AnalysisError:
                                continue
                            yield layout


def search_layouts(
    model: TransformerStep,
    accelerators: int,
    global_batch: int,
    communication: CommunicationModel,
    limits: SearchLimits,
    keep: int = KEEP,
    looking: Callable[[int], None] | None = None,
) -> SearchResult:
    """The fastest layouts that fit.

    Parameters
    ----------
    model
        The transformer, accelerator, number format and software; it keeps layer costs between layouts.
    communication
        Makes the collective times of a layout.
    keep
        How many of the fastest are returned.
    looking
        Told the number of layouts looked at, now and then; may raise to stop the search.

    Raises
    ------
    AnalysisError
        If nothing divides evenly, or nothing that divides fits; the message says how far off the closest is.
    """
    if accelerators < 1 or keep < 1:
        raise AnalysisError(f"{accelerators} accelerators, {keep} results", remedy="both are 1 or more")
    best: list[tuple[float, int, StepEstimate]] = []
    looked, fitting = 0, 0
    closest: tuple[float, Layout] | None = None
    for layout in layouts(model.shape, accelerators, global_batch, model.sequence, limits):
        looked += 1
        if looking is not None and looked % LOOKS_LIMIT == 0:
            looking(looked)
        memory = model.memory(layout, layout.microbatches(global_batch))
        if not memory.fits:
            excess = memory.total / memory.capacity
            closest = min(closest, (excess, layout), key=lambda pair: pair[0]) if closest else (excess, layout)
            continue
        fitting += 1
        step = model.estimate(layout, global_batch, communication(layout), must_fit=False)
        entry = (-step.step_time, -looked, step)
        if len(best) < keep:
            heapq.heappush(best, entry)
        else:
            heapq.heappushpop(best, entry)
    if not looked:
        raise AnalysisError(
            f"no layout divides a batch of {global_batch} over {accelerators} accelerators",
            remedy="take a batch and a number of accelerators with common divisors",
        )
    if not best:
        excess, layout = closest if closest else (math.inf, Layout())
        raise AnalysisError(
            f"none of {looked} layouts of {model.shape.name} fits; the closest, {layout.describe()}, needs "
            f"{excess:.1f} times the memory",
            remedy=f"use about {math.ceil(accelerators * excess)} accelerators, or ones with more memory",
        )
    ordered = sorted(best, key=lambda entry: (-entry[0], -entry[1]))
    return SearchResult(tuple(entry[2] for entry in ordered), looked, fitting)


FORMULA: Final = Formula(
    "layout-search", "Layout search", search_layouts, ("megatron-2021", "zero-2020"), "transformers; equal servers"
)
