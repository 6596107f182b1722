"""Forward pass of a convolutional network, for validation inside training and for inference in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from designer.formulas.calibration import CARD, generation, share
from designer.formulas.compute.roofline import MEMORY_SHARE
from designer.formulas.compute.winograd import winograd
from designer.formulas.formula import Formula
from designer.formulas.shapes import ConvolutionalNumbers
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Flop, FlopPerSecond, Seconds

#: output is written and read by the convolution, its norm and its activation; fused by a compiler, one of each is left
PASSES: Final = Constant(6.0, 2.0, 7.2, "fit-forward", Status.DERIVED, "1", "counted; 9 runs of ResNet-50: 4.9 to 7.2")
#: time of a layer however little it computes: captured by a compiler, or launched one by one from Python
LAYER: Final = Constant(22e-6, 3e-6, 130e-6, "fit-forward", Status.DERIVED, "s", "one image: A100 13, T4 130 us")
#: one reading of another network than ResNet-50: its narrow branches fill an accelerator less
NETWORK: Final = Constant(
    1.0, 0.5, 1.0, "fit-forward", Status.DERIVED, "1", "GoogLeNet on 8 V100: 42,000 of 79,000 images/s"
)
#: networks quantised to 8 bit are compiled: share of the 8-bit peak, and passes over the values
COMPILED: Final = Constant(0.38, 0.2, 0.55, "assumed-serving", Status.ASSUMED, "1", "compiled, ResNet-50 in INT8")
COMPILED_PASSES: Final = Constant(2.0, 1.0, 6.0, "counted-serving", Status.DERIVED, "1", "written once, read once")

_NARROW: Final = ("int8", "fp8", "fp4")


@dataclass(frozen=True, slots=True)
class ForwardRates:
    """Nominal rates of what runs the pass.

    Parameters
    ----------
    peak, bandwidth
        Dense peak in the number format it runs as [FLOP/s], and of its own memory [B/s].
    runs_as
        That number format.
    generation
        Whose calibration applies.
    card
        True for a PCIe card, which holds lower clocks under load.
    """

    peak: FlopPerSecond
    bandwidth: BytesPerSecond
    runs_as: str
    generation: str
    card: bool = False

    @property
    def compiled(self) -> bool:
        """True for 8 bit and less, which only compiled networks run in."""
        return self.runs_as in _NARROW

    @property
    def efficiency(self) -> Constant:
        """Share of the peak that convolutions reach."""
        if self.compiled:
            return COMPILED
        return share(generation(self.generation).convolution, self.runs_as)

    @property
    def passes(self) -> Constant:
        """Passes over the activations."""
        return COMPILED_PASSES if self.compiled else PASSES


@dataclass(frozen=True, slots=True)
class ForwardWork:
    """What one network asks of the accelerator.

    Parameters
    ----------
    layers
        Convolutions and dense layers, one after the other.
    flop, moved
        Arithmetic of a sample [FLOP], and bytes that pass through memory for it, all passes counted [B].
    weights
        Read once for the batch [B].
    """

    layers: int
    flop: Flop
    moved: Bytes
    weights: Bytes


def forward_work(shape: ConvolutionalNumbers, rates: ForwardRates, value_size: Bytes) -> ForwardWork:
    """The work of a network whose weights and activations take `value_size` each [B]."""
    moved = shape.activations * rates.passes.value * value_size
    flop = Flop(shape.flop_forward * winograd(shape, rates.runs_as))
    return ForwardWork(shape.layers, flop, Bytes(moved), Bytes(shape.parameters * value_size))


def forward_parts(work: ForwardWork, samples: float, rates: ForwardRates) -> tuple[float, float, float]:
    """Launches, arithmetic and memory traffic of one batch [s]."""
    rate = rates.peak * rates.efficiency.value
    if rates.card and rates.runs_as != "fp32":
        rate *= CARD.value
    layer = LAYER.low if rates.compiled else LAYER.value
    moved = samples * work.moved + work.weights
    return work.layers * layer, samples * work.flop / rate, moved / (rates.bandwidth * MEMORY_SHARE.value)


def forward_time(work: ForwardWork, samples: float, rates: ForwardRates) -> Seconds:
    """Time of the forward pass of a batch on one accelerator [s].

    Notes
    -----
    layers x launch + arithmetic / (peak x convolution share) + (activations x passes + weights) / memory bandwidth.
    Convolutions and what follows them run one after the other, so the parts add up.
    """
    return Seconds(sum(forward_parts(work, samples, rates)))


def forward_spread(work: ForwardWork, samples: float, rates: ForwardRates) -> tuple[tuple[float, Constant], ...]:
    """Constants the pass depends on, with the share of time of each; negative where more of it is slower."""
    parts = forward_parts(work, samples, rates)
    launches, arithmetic, traffic = (part / sum(parts) for part in parts)
    return ((arithmetic, rates.efficiency), (-traffic, rates.passes), (-launches, LAYER), (1.0, NETWORK))


FORMULA: Final = Formula(
    "convolutional-forward",
    "Forward pass of a convolutional network",
    forward_time,
    ("fit-forward", "fit-training", "roofline-2009", "cnn-benchmarks", "assumed-serving", "counted-serving"),
    "image networks of 10 layers and more; 8 bit: compiled",
)
