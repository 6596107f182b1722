"""A batch of samples through a network once: launches, arithmetic, and weights and values passing through memory."""

from __future__ import annotations

from typing import Final

from designer.families.serving.formulas._terms import NUMBERS
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Flop, FlopPerSecond, Ratio, Seconds

#: of the peak that networks of matrix products reach when they serve large batches
PRODUCTS: Final = Constant(0.54, 0.35, 0.7, "fit-serving", Status.DERIVED, "1", "products in 8 bit of open H100 runs")
#: every value is written once and read once where what is between the products is fused
PASSES: Final = Constant(2.0, 2.0, 6.0, "counted-serving", Status.DERIVED, "1")
#: none of this was measured on the drawn parts: logarithm of the factor either way
SPREAD: Final = Constant(0.45, 0.3, 0.8, "assumed-serving", Status.ASSUMED, "1")


def batch_parts(
    samples: float,
    flop: Flop,
    moved: Bytes,
    weights: Bytes,
    launches: int,
    rate: FlopPerSecond,
    bandwidth: BytesPerSecond,
    least: Seconds,
) -> tuple[Seconds, Seconds, Seconds]:
    """Launches, arithmetic and memory traffic of one batch [s]; parameters are those of `batch_time`."""
    memory = (weights + samples * moved) / bandwidth
    return Seconds(launches * least), Seconds(samples * flop / rate), Seconds(memory)


def batch_time(
    samples: float,
    flop: Flop,
    moved: Bytes,
    weights: Bytes,
    launches: int,
    rate: FlopPerSecond,
    bandwidth: BytesPerSecond,
    least: Seconds,
    sharpness: Ratio,
) -> Seconds:
    """Time of one batch [s].

    Parameters
    ----------
    flop, moved
        Arithmetic of a sample [FLOP], and bytes of values that pass through memory for it [B].
    weights
        Read once for the batch [B].
    launches
        Kernels one after the other, each of at least `least` [s].
    rate, bandwidth
        That the device reaches [FLOP/s, B/s].
    sharpness
        How abruptly arithmetic and memory meet.
    """
    floor, compute, memory = batch_parts(samples, flop, moved, weights, launches, rate, bandwidth, least)
    return NUMBERS.kernel(floor, compute, memory, sharpness) if max(compute, memory) > 0 else floor


FORMULA: Final = Formula(
    "batch-time",
    "Batch through a network",
    batch_time,
    ("assumed-serving", "counted-serving"),
    "compiled networks of speech, ranking and embeddings",
)
