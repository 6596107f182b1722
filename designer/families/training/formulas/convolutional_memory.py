"""Memory of one accelerator in training a convolutional network, and the largest batch that fits."""

from __future__ import annotations

import math
from typing import Final

from designer.errors import AnalysisError
from designer.families.training.formulas.transformer_memory import GIGA, MemoryBreakdown
from designer.formulas.accelerator import Accelerator
from designer.formulas.formula import Formula
from designer.formulas.precision import Precision
from designer.formulas.shapes import ConvolutionalNumbers
from designer.sources import Constant, Status
from designer.units import Bytes

#: outputs of convolutions are kept, and once more after normalisation or activation
KEPT: Final = Constant(2.2, 1.2, 2.6, "assumed-training", Status.ASSUMED, "1", "fused kernels keep fewer")
WORKSPACE: Final = Constant(2.0e9, 1.0e9, 3.0e9, "assumed-training", Status.ASSUMED, "B", "runtime and workspace")
MOMENTUM: Final = Constant(8.0, 4.0, 8.0, "assumed-training", Status.ASSUMED, "B", "momentum and a 32-bit copy")


def convolutional_memory(
    shape: ConvolutionalNumbers, batch: float, accelerator: Accelerator, precision: Precision
) -> MemoryBreakdown:
    """Memory of one accelerator at a local batch, by part [B]."""
    return MemoryBreakdown(
        Bytes(shape.parameters * precision.weight_bytes.value),
        Bytes(shape.parameters * precision.weight_bytes.value),
        Bytes(shape.parameters * MOMENTUM.value),
        Bytes(batch * shape.activations * precision.activation_bytes.value * KEPT.value),
        Bytes(0.0),
        Bytes(WORKSPACE.value),
        accelerator.memory_capacity,
    )


def largest_batch(shape: ConvolutionalNumbers, accelerator: Accelerator, precision: Precision) -> int:
    """Largest local batch that fits, 0 if not even one sample does."""
    empty = convolutional_memory(shape, 0, accelerator, precision)
    per_sample = convolutional_memory(shape, 1, accelerator, precision).activations
    return max(0, math.floor((empty.capacity - empty.total) / per_sample))


def require_batch(shape: ConvolutionalNumbers, batch: float, accelerator: Accelerator, precision: Precision) -> None:
    """Refuse a local batch that does not fit, and say which would.

    Raises
    ------
    AnalysisError
        With the memory needed and the largest batch.
    """
    need = convolutional_memory(shape, batch, accelerator, precision)
    if need.fits:
        return
    best = largest_batch(shape, accelerator, precision)
    remedy = f"use {best} or fewer samples each" if best else "use an accelerator with more memory"
    raise AnalysisError(
        f"{shape.name} with {batch:g} samples needs {need.total / GIGA.value:.1f} GB on an accelerator of "
        f"{need.capacity / GIGA.value:.1f} GB",
        place="batch",
        remedy=remedy,
    )


FORMULA: Final = Formula(
    "convolutional-memory",
    "Training memory of a convolutional network",
    convolutional_memory,
    ("assumed-training",),
    "momentum optimizers; batch sizes far from the limit",
)
