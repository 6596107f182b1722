"""What no design can beat: the arithmetic of a goal at the peak rate of its accelerators, nothing else counted.

Whatever the network, the storage and the layout do, the products of weights and activations have to be computed, and no
accelerator does more of them a second than its data sheet says. Attention is left out, since causal masks leave out
about half of it, and so is everything that is no product.
"""

from __future__ import annotations

from typing import Final

from designer.engine.accelerators import accelerator_of
from designer.engine.network import Network
from designer.engine.routes.selection import resolve
from designer.families.serving.deployment import Serving
from designer.families.serving.devices import device_of
from designer.families.training.formulas.transformer_step import TRAINING_PASSES
from designer.families.training.preparation import samples_of, shape_of
from designer.families.training.tasks import TrainStep
from designer.workload.shape import TransformerShape

#: of weights that stay as they are, only activations go back through the products
_FROZEN_PASSES: Final = 2


def least_work(goal: TrainStep | Serving, place: str) -> float:
    """Arithmetic that a whole training, or a request in the mean, cannot do without [FLOP]; 0 where it is not known.

    Raises
    ------
    AnalysisError
        If the model or the dataset is not known.
    """
    return _training_bound(goal, place) if isinstance(goal, TrainStep) else _request_bound(goal, place)


def _training_bound(training: TrainStep, place: str) -> float:
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


def _request_bound(asked: Serving, place: str) -> float:
    """Every token that is read or put out is multiplied with the weights it uses, unless a prefix cache holds it."""
    shape, load = shape_of(asked.deployment.model, f"{place}.model"), asked.load
    if not isinstance(shape, TransformerShape) or load.lengths or load.trace:
        return 0.0
    # found by room, any share of a prompt may be there; lengths are drawn, so the shortest count
    read = 0.0 if load.reuse else load.prompt * (1 - load.prefix)
    return 2 * in_matrices(shape) * max(0.0, (read + load.output) * (1 - load.spread) - 1)


def in_matrices(shape: TransformerShape) -> float:
    """Weights that every token is multiplied with, embeddings aside [1]."""
    mixing = shape.attention_layers * shape.attention_parameters + shape.state_layers * shape.state_parameters
    each = shape.moe_common_parameters + shape.experts_per_token * shape.expert_parameters
    return mixing + shape.dense_layers * shape.dense_parameters + shape.moe_layers * each


def peak_rate(network: Network, goal: TrainStep | Serving, place: str) -> float:
    """What all accelerators do at most: in the number format trained in, or the quickest they have [FLOP/s].

    Raises
    ------
    AnalysisError
        If there are none, or they cannot compute in it.
    """
    if isinstance(goal, TrainStep):
        parts = resolve(network, goal.job.group, f"{place}.group")
        name = goal.job.precision
        slowest, _ = accelerator_of(network, parts, place, lambda one: 1 / one.peak(name))
        return slowest.peak(name) * len(parts)
    parts = resolve(network, "gpus", f"{place}.group")
    return max(device_of(network, parts, place)[0].flops.values()) * len(parts)
