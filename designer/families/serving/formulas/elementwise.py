"""What is between the products of a layer: norms, rotations, activations, residuals, all limited by memory."""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Ratio, Seconds

#: times the hidden state passes through memory in one layer
PASSES: Final = Constant(
    14.0, 8.0, 20.0, "counted-serving", Status.DERIVED, "1", "two norms, two residuals, rotation, activation"
)


def elementwise(tokens: float, hidden: int, size: Bytes, bandwidth: BytesPerSecond, share: Ratio) -> Seconds:
    """Time of one layer [s]; `size` bytes per value [B]."""
    return Seconds(PASSES.value * tokens * hidden * size / (share * bandwidth))


FORMULA: Final = Formula(
    "elementwise", "Between the products", elementwise, ("counted-serving", "aic-config"), "fused kernels"
)
