"""What programs that load pictures do with them: bytes that reach accelerators, and the core time of a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from types import MappingProxyType
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Ratio


@dataclass(frozen=True, slots=True)
class Loader:
    """A program that loads pictures.

    Parameters
    ----------
    value_bytes
        Bytes of a colour value as it reaches the accelerator [B].
    decoded, cropped
        Bytes that a core puts out in a second: of compressed pictures, and of pictures stored as they are; None where
        those take no time [B/s].
    pages
        True if samples lie in pages of one file that are read from end to end.
    """

    value_bytes: float
    decoded: Constant
    cropped: Constant | None
    pages: bool


def _ffcv(value: float, low: float, high: float, note: str) -> Constant:
    return Constant(value, low, high, "ffcv-benchmarks", Status.DERIVED, "B/s", note)


#: bytes of a colour value as a 32-bit float, as in datasets, and as it is stored in a picture
FLOAT_VALUE: Final = Constant(4.0, 4.0, 4.0, "counted-training", Status.DERIVED, "B")
STORED_VALUE: Final = Constant(1.0, 1.0, 1.0, "counted-training", Status.DERIVED, "B")
#: of the expected largest of n normal values, Φ⁻¹((n − a) ÷ (n + 1 − 2 a))
BLOM: Final = Constant(0.375, 0.33, 0.39, "blom-1958", Status.PRIMARY)
#: most that sizes may differ
SPREAD_LIMIT: Final = 10.0
LOADERS: Final = MappingProxyType(
    {
        # a worker process reads a file, decodes, crops and makes floats of it
        "files": Loader(
            FLOAT_VALUE.value,
            Constant(60e6, 30e6, 120e6, "assumed-training", Status.ASSUMED, "B/s", "one core, JPEG and crops"),
            None,
            pages=False,
        ),
        # compiled, 8-bit values, one file in pages
        "ffcv": Loader(
            STORED_VALUE.value,
            _ffcv(98.1e6, 70e6, 140e6, "31,278 pictures of 150,528 B on 48 cores: JPEG quality 90, side 512"),
            _ffcv(542e6, 350e6, 800e6, "172,801 pictures of 150,528 B on 48 cores: stored raw, side 256"),
            pages=True,
        ),
        # threads in C++, 8-bit values
        "dali": Loader(
            STORED_VALUE.value,
            Constant(
                45e6, 20e6, 98e6, "assumed-training", Status.ASSUMED, "B/s", "between processes and compiled code"
            ),
            None,
            pages=False,
        ),
    }
)
#: pictures of ImageNet's size that an accelerator decodes in a second
ACCELERATOR_DECODES: Final = Constant(
    6000.0,
    3500.0,
    9000.0,
    "dali-a100-decoder",
    Status.SECONDARY,
    "1/s",
    "A100: 5,000 by its decoder, 6,000 by kernels, 7,000 by both; other accelerators are assumed to do as much",
)


def slowest_batch(spread: Ratio, batch: float, readers: int) -> Ratio:
    """The largest of the batches that readers load at once, over the mean one [1].

    Parameters
    ----------
    spread
        Standard deviation of the size of a sample over its mean [1].
    batch
        Samples over which each reader evens out: its batch, and those it has ready ahead.

    Notes
    -----
    1 + spread ÷ √samples × the expected largest of so many normal values, by Blom's approximation.

    Sources
    -------
    Blom 1958.

    Raises
    ------
    AnalysisError
        If the spread is not between 0 and 10, or there are no samples.
    """
    if not 0 <= spread <= SPREAD_LIMIT or batch < 1 or readers < 1:
        raise AnalysisError(
            f"a spread of {spread:g} over {batch:g} samples", remedy="give a spread of 0 to 10, and a sample or more"
        )
    largest = NormalDist().inv_cdf((readers - BLOM.value) / (readers + 1 - 2 * BLOM.value))
    return Ratio(1 + spread / math.sqrt(batch) * max(0.0, largest))


FORMULA: Final = Formula(
    "slowest-batch",
    "The slowest of the batches loaded at once",
    slowest_batch,
    ("blom-1958",),
    "sizes of samples are independent; all readers wait for the slowest",
)
