"""Training step of a convolutional network: t(b) = t0 + b/r, with r from arithmetic and memory passes."""

from __future__ import annotations

from typing import Final

from designer.formulas.accelerator import Accelerator
from designer.formulas.calibration import CARD, share
from designer.formulas.compute.roofline import MEMORY_SHARE
from designer.formulas.compute.winograd import winograd
from designer.formulas.formula import Formula
from designer.formulas.precision import Precision
from designer.formulas.shapes import ConvolutionalNumbers
from designer.formulas.software import Software
from designer.sources import Constant, Status
from designer.units import Seconds

#: one backward pass costs two forward passes
TRAINING_PASSES: Final = Constant(3.0, 3.0, 3.0, "counted-training", Status.DERIVED, "1", "forward, and two backward")
TF32_PASSES: Final = Constant(25.9, 23.0, 31.0, "fit-training", Status.DERIVED, "1", "ResNet-50 TF32: 5 points")
SINGLE_PASSES: Final = Constant(14.1, 12.5, 21.0, "fit-training", Status.DERIVED, "1", "ResNet-50 FP32: 26 points")


def sample_time(
    shape: ConvolutionalNumbers,
    accelerator: Accelerator,
    precision: Precision,
    software: Software,
) -> Seconds:
    """Time one more sample adds to a batch, 1/r [s].

    Notes
    -----
    Arithmetic ÷ (peak x convolution share) + activations x passes ÷ memory bandwidth. Convolutions and the
    normalisations between them run one after the other, so the parts add.
    """
    arithmetic, traffic = _split(shape, accelerator, precision, software)
    return Seconds(arithmetic + traffic + shape.matching)


def _split(
    shape: ConvolutionalNumbers, accelerator: Accelerator, precision: Precision, software: Software
) -> tuple[float, float]:
    """Arithmetic and memory time of one sample [s]."""
    runs_as = accelerator.runs_as(precision.name)
    rate = accelerator.peak(precision.name) * share(accelerator.calibration.convolution, runs_as).value
    if accelerator.is_card and runs_as != "fp32":
        rate *= CARD.value
    passes = _passes(software, runs_as).value
    arithmetic = shape.flop_forward * TRAINING_PASSES.value * winograd(shape, runs_as) / rate
    moved = shape.activations * shape.passes * passes * precision.activation_bytes.value
    return arithmetic, moved / (accelerator.memory_bandwidth * MEMORY_SHARE.value)


def _passes(software: Software, runs_as: str) -> Constant:
    if runs_as == "tf32":
        return TF32_PASSES
    return SINGLE_PASSES if runs_as == "fp32" else software.convolution_traffic


def convolutional_spread(
    shape: ConvolutionalNumbers, accelerator: Accelerator, precision: Precision, software: Software
) -> tuple[tuple[float, Constant], ...]:
    """Constants a training step rests on, with the share of time each decides; negative where more is slower."""
    arithmetic, traffic = _split(shape, accelerator, precision, software)
    runs_as = accelerator.runs_as(precision.name)
    weight = arithmetic / (arithmetic + traffic)
    return (
        (weight, share(accelerator.calibration.convolution, runs_as)),
        (weight - 1, _passes(software, runs_as)),
    )


def convolutional_time(
    shape: ConvolutionalNumbers,
    batch: float,
    accelerator: Accelerator,
    precision: Precision,
    software: Software,
) -> Seconds:
    """Computing time of one step on one accelerator [s].

    Notes
    -----
    t0 is what the kernels of every layer take however little they compute: launches, ramps, tails.
    """
    floor = shape.layers * software.layer_latency.value
    return Seconds(floor + batch * sample_time(shape, accelerator, precision, software))


FORMULA: Final = Formula(
    "convolutional-step",
    "Step of a convolutional network",
    convolutional_time,
    ("fit-training", "roofline-2009", "cnn-benchmarks"),
    "image networks of 10 layers and more; batches of 8 and more",
)
