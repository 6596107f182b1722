"""Number formats of a training run: which peak rate counts and how many bytes each value takes."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from designer.errors import AnalysisError
from designer.sources import Constant, Status


def _bytes(value: float) -> Constant:
    return Constant(value, value, value, "ieee-754", Status.PRIMARY, "B")


BYTE: Final = _bytes(1.0)
HALF: Final = _bytes(2.0)
#: 4 bits, and a scale of 8 bits for each block of 16
FOUR_BIT: Final = Constant(0.5625, 0.5625, 0.5625, "nvfp4-pretraining", Status.PRIMARY, "B", "NVFP4")
ALL_LAYERS: Final = Constant(1.0, 1.0, 1.0, "ieee-754", Status.PRIMARY, "1", "products of every layer")
#: the first and the last layers stay in 16 bit
MOST_LAYERS: Final = Constant(0.85, 0.8, 1.0, "nvfp4-pretraining", Status.SECONDARY, "1", "10 of 62 blocks in 16 bit")
SINGLE: Final = Constant(4.0, 4.0, 4.0, "ieee-754", Status.PRIMARY, "B")


@dataclass(frozen=True, slots=True)
class Precision:
    """A number format for training.

    Parameters
    ----------
    name
        Key of the peak rate in ``Accelerator.flops``.
    matrix_bytes, activation_bytes
        Bytes a matrix operand and a kept activation take [B].
    weight_bytes, gradient_bytes, optimizer_bytes
        Bytes per parameter that stay in memory [B].
    mixed
        True if attention and pointwise operations run in 16 bit while matrices run in a narrower format.
    narrow
        Share of the layers whose products run in the format; the others run in `base` [1].
    """

    name: str
    matrix_bytes: Constant
    activation_bytes: Constant
    weight_bytes: Constant
    gradient_bytes: Constant
    optimizer_bytes: Constant
    base: str
    narrow: Constant = ALL_LAYERS

    @property
    def casts(self) -> bool:
        """True if operands are made narrower than what other kernels write."""
        return self.matrix_bytes.value < self.activation_bytes.value


_ADAM_MIXED: Final = Constant(12.0, 8.0, 12.0, "zero-2020", Status.PRIMARY, "B", "32-bit copy and two moments")
_ADAM_SINGLE: Final = Constant(8.0, 8.0, 8.0, "zero-2020", Status.PRIMARY, "B", "two 32-bit moments")
#: Megatron sums gradients in 32 bit; many others keep 16 bit
_GRADIENT_MIXED: Final = Constant(4.0, 2.0, 4.0, "megatron-sequence-2022", Status.SECONDARY, "B")

PRECISIONS: Final = MappingProxyType(
    {
        "fp32": Precision("fp32", SINGLE, SINGLE, SINGLE, SINGLE, _ADAM_SINGLE, "fp32"),
        "tf32": Precision("tf32", SINGLE, SINGLE, SINGLE, SINGLE, _ADAM_SINGLE, "tf32"),
        "fp16": Precision("fp16", HALF, HALF, HALF, _GRADIENT_MIXED, _ADAM_MIXED, "fp16"),
        "bf16": Precision("bf16", HALF, HALF, HALF, _GRADIENT_MIXED, _ADAM_MIXED, "bf16"),
        "fp8": Precision("fp8", BYTE, HALF, HALF, _GRADIENT_MIXED, _ADAM_MIXED, "bf16"),
        "nvfp4": Precision("nvfp4", FOUR_BIT, HALF, HALF, _GRADIENT_MIXED, _ADAM_MIXED, "bf16", MOST_LAYERS),
    }
)


def precision(name: str) -> Precision:
    """The training number format called `name`.

    Raises
    ------
    AnalysisError
        If there is none.
    """
    found = PRECISIONS.get(name)
    if found is None:
        raise AnalysisError(
            f"{name!r} is not a number format for training", remedy=f"use one of {', '.join(sorted(PRECISIONS))}"
        )
    return found
