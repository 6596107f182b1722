"""Every way to spread a transformer over accelerators that divides it evenly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.formulas.layout import COMMON, Layout, Sharding, check_layout
from designer.formulas.shapes import TransformerNumbers

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
                    for recompute in COMMON:
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


FORMULA: Final = Formula("layouts", "Layouts", layouts, ("megatron-2021", "zero-2020"), "transformers; equal servers")
