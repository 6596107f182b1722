"""The time of one training step, of whatever kind of model."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, cast

from designer.families.training.formulas.convolutional_training import convolutional_estimate
from designer.families.training.formulas.recommendation_training import recommendation_estimate
from designer.families.training.formulas.step_composition import NO_INPUT, SOURCES, InputStage, StepEstimate
from designer.families.training.formulas.transformer_step import TransformerStep
from designer.formulas.accelerator import Accelerator
from designer.formulas.communication import CommunicationCosts
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
from designer.units import Seconds


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
    if is_recommendation(shape):
        return recommendation_estimate(
            cast("RecommendationNumbers", shape),
            accelerator,
            precision,
            software,
            layout,
            global_batch,
            communication,
            input_stage,
            must_fit=must_fit,
            measured=measured,
        )
    return convolutional_estimate(
        cast("ConvolutionalNumbers", shape),
        accelerator,
        precision,
        software,
        layout,
        global_batch,
        communication,
        input_stage,
        must_fit=must_fit,
        measured=measured,
    )


FORMULA: Final = Formula("training-step", "Training step", estimate_step, SOURCES, "synchronous training; steady state")
