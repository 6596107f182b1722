"""Attention of requests that decode: a floor per layer, and every cached key and value read once."""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.units import Bytes, BytesPerSecond, Ratio, Seconds


def attention_decode(cached: Bytes, bandwidth: BytesPerSecond, share: Ratio, floor: Seconds) -> Seconds:
    """Time of one layer [s].

    Parameters
    ----------
    cached
        Bytes of keys and values that the layer reads on one device [B].
    bandwidth, share
        Of its memory [B/s], and what such kernels reach of it [1].

    Notes
    -----
    The floor is added, not compared: 16 to 64 MB then come out at .2 to .3 of bandwidth, as measured.
    """
    return Seconds(floor + cached / (share * bandwidth))


FORMULA: Final = Formula(
    "attention-decode",
    "Attention of decoding requests",
    attention_decode,
    ("aic-kernels",),
    "paged keys and values, one new token per request",
)
