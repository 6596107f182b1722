"""The time of one training step, of whatever kind of model."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Final, cast

from designer.errors import AnalysisError
from designer.families.training.formulas.convolutional_training import convolutional_work
from designer.families.training.formulas.overlap import exposed_time
from designer.families.training.formulas.recommendation_training import recommendation_work
from designer.families.training.formulas.step_composition import (
    NO_INPUT,
    SOURCES,
    InputStage,
    StepEstimate,
    StepFrame,
    compose_step,
    require_data_parallel,
    seen,
    spread_of,
)
from designer.families.training.formulas.transformer_step import TRAINING_PASSES, TransformerStep
from designer.formulas.accelerator import Accelerator
from designer.formulas.communication import CommunicationCosts, Kind, RankGroup
from designer.formulas.compute.roofline import MEMORY_SHARE
from designer.formulas.formula import Formula
from designer.formulas.layout import Layout
from designer.formulas.precision import Precision
from designer.formulas.shapes import (
    ConvolutionalNumbers,
    RecommendationNumbers,
    TransformerNumbers,
    is_recommendation,
    is_transformer,
)
from designer.formulas.software import Software
from designer.sources import Constant, Status
from designer.units import Bytes, Flop, FlopPerSecond, Ratio, Seconds

TENSORS: Final = Constant(3.0, 2.0, 3.0, "counted-training", Status.DERIVED, "1", "weights of a layer, norm in two")


@lru_cache(maxsize=64)
def transformer_trainer(
    shape: TransformerNumbers,
    accelerator: Accelerator,
    precision: Precision,
    software: Software,
    sequence: int,
    *,
    frozen: bool = False,
) -> TransformerStep:
    """The estimator of many layouts of one transformer; what it worked out of its layers is kept.

    Parameters
    ----------
    sequence
        Tokens computed per sample.
    frozen
        Only adapters are trained.

    Raises
    ------
    AnalysisError
        If the sequence or the model is empty.
    """
    return TransformerStep(shape, accelerator, precision, software, sequence, frozen=frozen)


def estimate_step(
    shape: TransformerNumbers | ConvolutionalNumbers,
    precision: Precision,
    layout: Layout,
    global_batch: int,
    accelerator: Accelerator,
    communication: CommunicationCosts,
    software: Software,
    *,
    sequence: int = 1,
    input_stage: InputStage = NO_INPUT,
    frozen: bool = False,
    must_fit: bool = True,
    measured: Seconds | None = None,
) -> StepEstimate:
    """The time of one training step and where it goes.

    Parameters
    ----------
    shape
        A transformer, a convolutional network or a recommendation model.
    global_batch
        Samples per step over all replicas.
    communication
        Times of collectives, from a routed design or nominal rates.
    sequence
        Tokens computed per sample (transformers).
    input_stage
        How long samples take to arrive.
    frozen
        Only adapters are trained.
    must_fit
        Refuse what does not fit in memory.
    measured
        Computing time of a step of anything but a transformer, in place of the estimate [s].

    Raises
    ------
    AnalysisError
        If the layout, batch or memory do not go together; the message says what would.
    """
    if is_transformer(shape):
        model = transformer_trainer(
            cast("TransformerNumbers", shape), accelerator, precision, software, sequence, frozen=frozen
        )
        return model.estimate(layout, global_batch, communication, input_stage, must_fit=must_fit)
    require_data_parallel(shape.name, layout)
    if global_batch < layout.data:
        raise AnalysisError(
            f"a global batch of {global_batch} leaves some of {layout.data} accelerators without a sample",
            place="global_batch",
            remedy=f"give {layout.data} samples or more",
        )
    numbers = cast("ConvolutionalNumbers", shape)
    run = partial(
        partial(recommendation_work, cast("RecommendationNumbers", shape), ranks=layout.ranks)
        if is_recommendation(shape)
        else partial(convolutional_work, numbers),
        must_fit=must_fit,
        measured=measured,
    )
    work = run(global_batch / layout.data, accelerator, precision, software, communication)
    size = Bytes(numbers.parameters * software.reduce_bytes.value)
    sums = communication.time(Kind.ALL_REDUCE, RankGroup.DATA, size) if layout.data > 1 else Seconds(0.0)
    shown = exposed_time(sums, work.backward, Ratio(software.data_overlap.value))
    known = measured is not None
    parts = {
        "compute": work.compute,
        "data_communication": shown + work.exchange,
        "optimizer": 0.0 if known else _optimizer(numbers, accelerator, software),
    }
    frame = StepFrame(
        layout,
        global_batch,
        global_batch,
        Flop(TRAINING_PASSES.value * numbers.flop_forward * global_batch),
        FlopPerSecond(layout.ranks * accelerator.peak(precision.name)),
        Ratio(software.straggler.value),
        work.memory,
        known or seen(software, accelerator, precision),
    )
    return compose_step(parts, frame, spread_of(() if known else work.doubts), input_stage)


def _optimizer(shape: ConvolutionalNumbers, accelerator: Accelerator, software: Software) -> float:
    """Update of all weights [s]."""
    rate = accelerator.memory_bandwidth * MEMORY_SHARE.value
    kernels = shape.layers * TENSORS.value * software.optimizer_kernels.value * software.launch.value
    return shape.parameters * software.optimizer.value / rate + kernels


FORMULA: Final = Formula("training-step", "Training step", estimate_step, SOURCES, "synchronous training; steady state")
