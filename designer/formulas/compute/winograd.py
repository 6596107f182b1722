"""Winograd's algorithm: convolutions of 3x3 and stride 1 with fewer multiplications, outside tensor cores."""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.formulas.shapes import ConvolutionalNumbers
from designer.sources import Constant, Status
from designer.units import Ratio

#: how many times as fast such a convolution runs as one without; 2.25 to 4 multiplications are saved, 1x1 fills less
GAIN: Final = Constant(2.6, 1.8, 3.4, "cnn-benchmarks", Status.DERIVED, "1", "VGG against ResNet-50, 2 GPUs")
#: share of them in the arithmetic of ResNet-50, which the shares of peak are fitted on
FITTED_SHARE: Final = Constant(0.41, 0.37, 0.45, "counted-training", Status.DERIVED, "1", "stride in 3x3 or in 1x1")


def winograd(shape: ConvolutionalNumbers, runs_as: str) -> Ratio:
    """Arithmetic time of a network over that of one whose convolutions are mixed as in ResNet-50 [1].

    Notes
    -----
    1 in number formats that tensor cores multiply. Else what s of the arithmetic gains, (1 - s (1 - 1 / gain)), over
    the same of ResNet-50.
    """
    if runs_as != "fp32":
        return Ratio(1.0)
    saved = 1 - 1 / GAIN.value
    return Ratio((1 - shape.spatial * saved) / (1 - FITTED_SHARE.value * saved))


FORMULA: Final = Formula(
    "winograd",
    "Winograd convolutions",
    winograd,
    ("cnn-benchmarks", "counted-training"),
    "cuDNN 5 and later, FP32 without tensor cores",
)
