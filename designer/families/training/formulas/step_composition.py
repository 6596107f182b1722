"""Putting a step together: its parts add up, ranks wait for the slowest, input hides behind it or comes on top."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from designer.errors import AnalysisError
from designer.families.training.formulas.transformer_memory import MemoryBreakdown
from designer.formulas.accelerator import Accelerator
from designer.formulas.calibration import generation_key
from designer.formulas.formula import Formula
from designer.formulas.layout import Layout
from designer.formulas.precision import Precision
from designer.formulas.software import Software
from designer.sources import Constant, Status
from designer.units import Flop, FlopPerSecond, PerSecond, Ratio, Seconds

COMMUNICATION_BAND: Final = Constant(
    0.30, 0.2, 0.5, "fit-training", Status.DERIVED, "1", "relative, of exposed traffic"
)
OPTIMIZER_BAND: Final = Constant(
    0.50, 0.3, 0.8, "assumed-training", Status.ASSUMED, "1", "relative, of optimizer and host: fused or not, its norms"
)
STRAGGLER_BAND: Final = Constant(
    1.5, 0.75, 2.0, "fit-training", Status.DERIVED, "1", "relative, of waiting: 0.001 to 0.01 of a step per doubling"
)
JOINT_BAND: Final = Constant(
    0.80,
    0.6,
    1.0,
    "fit-training",
    Status.DERIVED,
    "1",
    "of the bands above and those of constants: fitted on the same runs, they err in opposite directions",
)
UNSEEN_BAND: Final = Constant(
    0.91, 0.8, 1.0, "fit-training", Status.DERIVED, "1", "the same where no such run is fitted: generations left out"
)
MODEL_BAND: Final = Constant(
    0.05, 0.03, 0.08, "fit-training", Status.DERIVED, "1", "the publication: submitters left out of the fit"
)
#: of the distance to the step of another release: as much wider as runs left out are farther off without theirs
RELEASE_BAND: Final = Constant(
    0.1, 0.0, 1.0, "fit-training", Status.DERIVED, "1", "142 dated runs: error 2.7 % larger, bands 2.3 % wider"
)


@dataclass(frozen=True, slots=True)
class InputStage:
    """How long each rank waits for its samples.

    Parameters
    ----------
    time
        Time to make the samples of one step ready, slowest rank [s].
    overlapped
        True if they are made ready while the step before computes.
    """

    time: Seconds
    overlapped: bool = True


NO_INPUT: Final = InputStage(Seconds(0.0))


@dataclass(frozen=True, slots=True)
class StepEstimate:
    """One training step and where its time goes.

    The parts add up to `step_time`. `low` and `high` hold the step time with 80 % confidence.
    """

    step_time: Seconds
    low: Seconds
    high: Seconds
    compute: Seconds
    recompute: Seconds
    tensor_communication: Seconds
    context_communication: Seconds
    expert_communication: Seconds
    pipeline_communication: Seconds
    data_communication: Seconds
    bubble: Seconds
    optimizer: Seconds
    waiting: Seconds
    input_stall: Seconds
    samples_per_second: PerSecond
    tokens_per_second: PerSecond
    mfu: Ratio
    model_flop: Flop
    memory: MemoryBreakdown
    layout: Layout
    global_batch: int
    sources: tuple[str, ...] = field(repr=False, default=())

    @property
    def parts(self) -> Mapping[str, Seconds]:
        """The parts by name, largest first [s]."""
        found = {name: cast("Seconds", getattr(self, name)) for name in (*_PARTS, "waiting", "input_stall")}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    @property
    def communication(self) -> Seconds:
        """All exposed traffic [s]."""
        return Seconds(
            self.tensor_communication
            + self.context_communication
            + self.expert_communication
            + self.pipeline_communication
            + self.data_communication
        )


@dataclass(frozen=True, slots=True)
class Spread:
    """How much shorter and longer computing may be, as logarithms of the ratio [1]."""

    shorter: Ratio
    longer: Ratio


def spread_of(terms: Sequence[tuple[float, Constant]]) -> Spread:
    """Spread of a time that depends on constants, independent of each other.

    Parameters
    ----------
    terms
        Weight and constant: the share of the time that falls as the constant rises; negative where it rises with it.
    """
    shorter = longer = 0.0
    for weight, constant in terms:
        up = abs(weight) * math.log(constant.high / constant.value) if constant.value > 0 else 0.0
        down = abs(weight) * math.log(constant.value / constant.low) if constant.low > 0 else 0.0
        fall, rise = (up, down) if weight >= 0 else (down, up)
        shorter, longer = shorter + fall * fall, longer + rise * rise
    return Spread(Ratio(math.sqrt(shorter)), Ratio(math.sqrt(longer)))


@dataclass(frozen=True, slots=True)
class StepFrame:
    """What a step is about, in addition to its parts.

    Parameters
    ----------
    tokens
        Tokens of the step, or samples where there are no tokens.
    peak
        Peak rate of all accelerators together, in the number format trained in [FLOP/s].
    straggler
        Share of the step lost per doubling of the ranks [1].
    seen
        True if published runs of this program on such accelerators in this format are among those fitted.
    """

    layout: Layout
    global_batch: int
    tokens: int
    model_flop: Flop
    peak: FlopPerSecond
    straggler: Ratio
    memory: MemoryBreakdown
    seen: bool = True


def seen(software: Software, accelerator: Accelerator, precision: Precision) -> bool:
    """True if runs of a program on a generation of accelerators in a number format are among those fitted."""
    formats = {accelerator.runs_as(precision.name), precision.name}
    return any((generation_key(accelerator.generation), one) in software.fitted_on for one in formats)


@dataclass(frozen=True, slots=True)
class DataParallelWork:
    """What a rank does in a step whose layout splits nothing but the batch.

    Parameters
    ----------
    compute, backward
        Computing time, and the part of it that the sum of gradients can hide behind [s].
    exchange
        Other traffic that is not hidden [s].
    doubts
        Constants that computing rests on, with the share of it that each decides.
    """

    compute: Seconds
    backward: Seconds
    exchange: Seconds
    memory: MemoryBreakdown
    doubts: Sequence[tuple[float, Constant]]


def require_data_parallel(name: str, layout: Layout) -> None:
    """Refuse a layout that splits anything but the batch.

    Raises
    ------
    AnalysisError
        If another degree than the data-parallel one is above 1.
    """
    if layout.ranks != layout.data:
        raise AnalysisError(
            f"{name} is trained data-parallel only", place="layout", remedy="set every other degree to 1"
        )


def compose_step(
    parts: Mapping[str, float], frame: StepFrame, spread: Spread, input_stage: InputStage = NO_INPUT
) -> StepEstimate:
    """A step from its parts.

    Parameters
    ----------
    parts
        Time of each part by its name in ``StepEstimate``; those left out take none [s].
    spread
        Of the computing parts.
    input_stage
        Input that hides behind the step or comes on top.

    Notes
    -----
    step = (sum of parts)(1 + straggler log2 ranks); input adds what it takes beyond that if overlapped, all if not.
    """
    found = {name: Seconds(parts.get(name, 0.0)) for name in _PARTS}
    busy = sum(found.values())
    waiting = busy * frame.straggler * math.log2(frame.layout.ranks)
    step = busy + waiting
    stall = max(0.0, input_stage.time - step) if input_stage.overlapped else input_stage.time
    total = step + stall
    low, high = _band({**found, "waiting": Seconds(waiting)}, step / total, spread, frame.seen)
    return StepEstimate(
        step_time=Seconds(total),
        low=Seconds(total * low),
        high=Seconds(total * high),
        **found,
        waiting=Seconds(waiting),
        input_stall=Seconds(stall),
        samples_per_second=PerSecond(frame.global_batch / total),
        tokens_per_second=PerSecond(frame.tokens / total),
        mfu=Ratio(frame.model_flop / (frame.peak * total)),
        model_flop=frame.model_flop,
        memory=frame.memory,
        layout=frame.layout,
        global_batch=frame.global_batch,
        sources=SOURCES,
    )


def widen_step(step: StepEstimate, times: Sequence[float]) -> StepEstimate:
    """The step with a band widened for other releases of its program, given what they take [s]."""
    whole, share = step.step_time, RELEASE_BAND.value
    longer, shorter = share * math.log(max(whole, *times) / whole), share * math.log(whole / min(whole, *times))
    return replace(
        step,
        low=Seconds(whole * math.exp(-math.hypot(math.log(whole / step.low), shorter))),
        high=Seconds(whole * math.exp(math.hypot(math.log(step.high / whole), longer))),
    )


def _band(parts: Mapping[str, Seconds], busy_share: float, spread: Spread, seen: bool) -> tuple[float, float]:
    """80 % band over the step time: computing, exposed traffic, optimizer, waiting and the model itself [1].

    They are taken as independent. Waiting may be much longer, but not shorter than none.
    """
    scale = busy_share / sum(parts.values())
    computing = sum(parts[name] for name in ("compute", "recompute", "bubble")) * scale
    traffic = sum(value for name, value in parts.items() if name.endswith("communication")) * scale
    optimizer, waiting = parts["optimizer"] * scale, parts["waiting"] * scale

    def width(of_computing: float, of_waiting: float) -> float:
        parts = math.hypot(
            computing * of_computing,
            traffic * COMMUNICATION_BAND.value,
            optimizer * OPTIMIZER_BAND.value,
            waiting * of_waiting,
        )
        return math.hypot(parts * (JOINT_BAND if seen else UNSEEN_BAND).value, MODEL_BAND.value)

    shorter = width(spread.shorter, min(1.0, STRAGGLER_BAND.low))
    return math.exp(-shorter), math.exp(width(spread.longer, STRAGGLER_BAND.value))


_PARTS: Final = (
    "compute",
    "recompute",
    "tensor_communication",
    "context_communication",
    "expert_communication",
    "pipeline_communication",
    "data_communication",
    "bubble",
    "optimizer",
)
SOURCES: Final = (
    "megatron-2021",
    "megatron-sequence-2022",
    "roofline-2009",
    "zero-2020",
    "mamf",
    "memory-share",
    "fit-training",
    "assumed-training",
    "power-scaling",
)

FORMULA: Final = Formula(
    "step-composition", "Composition of a step", compose_step, SOURCES, "synchronous ranks, steady state"
)
