"""A sample of a model that answers in batches, in numbers, and the computing time of a batch on a device."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import count, repeat
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.errors import AnalysisError, Cancelled
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.formulas._terms import NUMBERS
from designer.families.serving.formulas.batch_time import PASSES, PRODUCTS, SPREAD, batch_parts
from designer.families.serving.inference import Inference
from designer.families.training.formulas.step_composition import MODEL_BAND, UNSEEN_BAND, spread_of
from designer.families.training.preparation import shape_of
from designer.formulas.compute.convolutional_forward import (
    ForwardRates,
    ForwardWork,
    forward_parts,
    forward_spread,
    forward_work,
)
from designer.units import Bytes, BytesPerSecond, Flop, FlopPerSecond
from designer.workload.shape import ConvolutionalShape, RecommendationShape, TransformerShape


@dataclass(frozen=True, slots=True)
class Work:
    """A sample in numbers.

    Parameters
    ----------
    flop, moved, weights, sample
        Arithmetic [FLOP], values through memory, weights, what is sent to the device [B].
    launches
        Kernels one after the other.
    share
        Of the peak that such a network reaches [1].
    passes
        Of the values through memory, those moved [1].
    rates
        What a convolutional network runs at; None for networks of matrix products.
    """

    name: str
    flop: float
    moved: float
    weights: float
    sample: float
    launches: int
    share: float
    passes: float = PASSES.value
    rates: ForwardRates | None = None

    @property
    def forward(self) -> ForwardWork:
        """The work of a convolutional network."""
        return ForwardWork(self.launches, Flop(self.flop), Bytes(self.moved), Bytes(self.weights))


def work_of(asked: Inference, device: Device, card: bool, place: str) -> Work:
    """A sample of the model that is asked for, with the numbers that are given in place of its own.

    Parameters
    ----------
    device, card
        What it runs on, and whether that is a PCIe card.

    Raises
    ------
    AnalysisError
        If there is no such model, or a network of experts is asked for.
    """
    how = number_format(asked.precision)
    size = how.size.value
    if not asked.model:
        moved = asked.moved or asked.weights
        return Work("the model", asked.flop, moved, asked.weights, asked.sample, 1, PRODUCTS.value)
    shape = shape_of(asked.model, f"{place}.model")
    if isinstance(shape, RecommendationShape):
        raise AnalysisError(
            f"{shape.name} looks rows up in tables, which is estimated in training alone",
            place=f"{place}.model",
            remedy="choose an image network or a transformer",
        )
    if isinstance(shape, ConvolutionalShape):
        runs_as = device.runs_as(how)
        generation = "cpu" if device.kernels.processor else device.architecture or "unknown"
        rates = ForwardRates(device.flops[runs_as], device.bandwidth, runs_as, generation, card)
        work = forward_work(shape, rates, Bytes(size))
        found = Work(
            shape.name,
            work.flop,
            work.moved,
            work.weights,
            _pixels(shape),
            work.layers,
            rates.efficiency.value,
            rates.passes.value,
            rates,
        )
    else:
        found = _of_transformer(shape, asked.sequence, size)
    return replace(
        found,
        flop=asked.flop or found.flop,
        weights=asked.weights or found.weights,
        moved=asked.moved or found.moved,
        sample=asked.sample or found.sample,
    )


def has_tokens(asked: Inference, place: str) -> bool:
    """Whether samples are sequences of tokens."""
    return bool(asked.model) and not isinstance(shape_of(asked.model, f"{place}.model"), ConvolutionalShape)


def _pixels(shape: ConvolutionalShape) -> float:
    """Bytes of a sample sent as values of 8 bit [B]."""
    parts = [p for p in shape.sample.replace("×", "x").split("x") if p.strip().isdigit()]
    return float(math.prod(int(p) for p in parts)) if parts else 0.0


def _of_transformer(shape: TransformerShape, sequence: int, size: float) -> Work:
    """All tokens of a sample at once, no token after the other."""
    flop = 2 * (shape.active_parameters - shape.embedding_parameters) * sequence
    width = shape.heads * (shape.head_dim + shape.value_head_dim)
    flop += 2 * shape.layers * width * sequence * sequence * (0.5 if shape.causal else 1)
    values = shape.layers * sequence * (2 * shape.hidden + width + shape.ffn)
    kernels = 2 * 2 + 2  # four products, attention, what is between
    return Work(
        shape.name,
        flop,
        PASSES.value * values * size,
        shape.parameters * size,
        2.0 * sequence,
        kernels * shape.layers,
        PRODUCTS.value,
    )


def widths_of(work: Work) -> Callable[[int], tuple[float, float, float]]:
    """Factors of the computing time of a batch: as estimated, shortest, longest."""
    rates = work.rates
    if rates is None:
        return lambda _: (1.0, math.exp(-SPREAD.value), math.exp(SPREAD.value))

    @cache
    def widths(samples: int) -> tuple[float, float, float]:
        spread = spread_of(forward_spread(work.forward, samples, rates))
        shorter, longer = (
            math.hypot(one * UNSEEN_BAND.value, MODEL_BAND.value) for one in (spread.shorter, spread.longer)
        )
        return 1.0, math.exp(-shorter), math.exp(longer)

    return widths


def parts_of(device: Device, work: Work, precision: str) -> Callable[[int], tuple[float, float, float]]:
    """Launches, arithmetic and memory traffic of a batch of so many samples [s]."""
    how = number_format(precision)
    peak, kernels, rates = device.flops[device.runs_as(how)], device.kernels, work.rates
    if rates is not None:
        reached = replace(rates, peak=FlopPerSecond(peak), bandwidth=device.bandwidth)
        return lambda samples: forward_parts(work.forward, samples, reached)
    return lambda samples: batch_parts(
        samples,
        Flop(work.flop),
        Bytes(work.moved),
        Bytes(work.weights),
        work.launches,
        FlopPerSecond(work.share * peak),
        BytesPerSecond(kernels.memory * device.bandwidth),
        kernels.floor,
    )


def batch_compute_time(device: Device, work: Work, precision: str) -> Callable[[int], float]:
    """Computing time of a batch of so many samples [s]."""
    parts = parts_of(device, work, precision)
    if work.rates is not None:
        return lambda samples: sum(parts(samples))
    return lambda samples: NUMBERS.kernel(*parts(samples), device.kernels.sharpness)


Float = npt.NDArray[np.float64]

#: batches between two looks at whether someone cancelled
_LOOK_LIMIT: Final = 4096


@dataclass(frozen=True, eq=False)
class BatchRun:
    """A run of one instance.

    Parameters
    ----------
    at, done : (n,) when each sample came and was answered [s]
    batches : (m,) samples of each batch
    busy
        Time in which batches ran [s].
    """

    at: Float
    done: Float
    batches: npt.NDArray[np.int64]
    busy: float

    @cached_property
    def latency(self) -> Float:
        """From coming to answer [s]."""
        return self.done - self.at

    @property
    def use(self) -> float:
        """Share of time in which the instance worked [1]."""
        return min(1.0, self.busy / float(self.done[-1])) if len(self.done) else 0.0


def gaps_of(asked: Inference, instances: int, which: int, begin: float = 0.0) -> Iterator[float]:
    """When samples come to one of so many instances that share them, in order and without end [s].

    Scenarios in which all are there at once have as many as are looked at.
    """
    draw = np.random.default_rng(asked.seed if not which else (asked.seed, which))
    if asked.scenario == "server":
        now = begin
        while True:
            for moment in (now + np.cumsum(draw.exponential(instances / asked.rate, asked.count))).tolist():
                now = moment
                yield moment
    elif asked.scenario == "video":
        phase = np.sort(draw.random(max(1, math.ceil(asked.streams / instances))) / asked.frames)
        for frame in count():
            yield from (begin + (phase + frame / asked.frames)).tolist()
    elif asked.scenario == "offline":
        yield from repeat(begin, asked.count)
    else:
        yield from repeat(begin)


def run_batches(
    at: Float, largest: int, delay: float, time: Callable[[int], float], cancelled: Callable[[], bool] | None = None
) -> BatchRun:
    """Samples that come at times in order [s], through one instance.

    Parameters
    ----------
    largest, delay
        Most samples of a batch; how long the first of it waits for others [s].
    time
        Of a batch of so many [s].

    Notes
    -----
    A batch begins when the instance is free and either it is full or its first sample has waited long enough. With a
    largest batch of 1 this is the Lindley recursion.

    Raises
    ------
    Cancelled
        If it was stopped.
    """
    n = len(at)
    # of batches that occur: the largest may be far from them
    times: dict[int, float] = {}
    moments: list[float] = at.tolist()
    done = np.empty(n)
    sizes: list[int] = []
    free = busy = 0.0
    i = 0
    while i < n:
        if cancelled is not None and not len(sizes) % _LOOK_LIMIT and cancelled():
            raise Cancelled("stopped")
        full = moments[i + largest - 1] if i + largest <= n else float("inf")
        begin = max(free, min(full, moments[i] + delay))
        # all that have come by then, as many as fit
        size = 1
        while size < largest and i + size < n and moments[i + size] <= begin:
            size += 1
        if size not in times:
            times[size] = time(size)
        free = begin + times[size]
        busy += times[size]
        done[i : i + size] = free
        sizes.append(size)
        i += size
    return BatchRun(at, done, np.array(sizes, dtype=np.int64), busy)
