"""The least time a training can take on accelerators: its matrix products at their peak rate, nothing else counted.

Whatever the network, the storage and the layout do, the products of weights and activations have to be worked out, and
no accelerator does more of them a second than its data sheet says. Attention is left out, since causal masks leave out
about half of it, and so is everything that is no product.
"""

from __future__ import annotations

from typing import Final

from designer.analysis.network import Network
from designer.analysis.selection import resolve
from designer.analysis.training.accelerators import accelerator_of
from designer.analysis.training.preparation import samples_of, shape_of
from designer.formulas.pipeline.transformer_step import TRAINING_PASSES
from designer.workload.jobs import Training
from designer.workload.shape import TransformerShape

#: of weights that stay as they are, only activations go back through the products
_FROZEN_PASSES: Final = 2


def least_work(training: Training, place: str) -> float:
    """Arithmetic that a whole training cannot do without [FLOP]; 0 where how long it runs is not given.

    Raises
    ------
    AnalysisError
        If the model or the dataset is not known.
    """
    job, run = training.job, training.run
    shape = shape_of(job.model, f"{place}.model")
    is_text = isinstance(shape, TransformerShape)
    samples = float(run.samples)
    if not samples and training.input.dataset:
        samples = run.epochs * samples_of(job.sequence, is_text, training.input, place)[0].epoch
    if job.measured_compute > 0 or not samples:
        return 0.0
    if isinstance(shape, TransformerShape):
        passes = _FROZEN_PASSES if job.adapters else TRAINING_PASSES.value
        return samples * job.sequence * 2 * in_matrices(shape) * passes
    return samples * shape.flop_forward * (1 if job.forward_only else TRAINING_PASSES.value)


def in_matrices(shape: TransformerShape) -> float:
    """Weights that every token is multiplied with, embeddings aside [1]."""
    dense = (shape.layers - shape.moe_layers) * (shape.attention_parameters + shape.dense_parameters)
    each = shape.attention_parameters + shape.moe_common_parameters + shape.experts_per_token * shape.expert_parameters
    return dense + shape.moe_layers * each


def peak_rate(network: Network, training: Training, place: str) -> float:
    """What all accelerators of the group do at most, in the number format trained in [FLOP/s].

    Raises
    ------
    AnalysisError
        If there are none, or they cannot compute in it.
    """
    parts = resolve(network, training.job.group, f"{place}.group")
    name = training.job.precision
    slowest, _ = accelerator_of(network, parts, place, lambda one: 1 / one.peak(name))
    return slowest.peak(name) * len(parts)
