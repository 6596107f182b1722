"""Handing keys and values from the engine that read a prompt to the one that answers."""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Ratio, Seconds

#: routing, waiting for the other engine's step, and its bookkeeping: 92 to 100 ms of 197 to 263 measured
FIXED: Final = Constant(
    0.095, 0.04, 0.16, "vllm-nixl", Status.SECONDARY, "s", "in addition to the recomputed first token"
)
#: of each piece of memory that is described to the NIC: 76 ms for 5,000 tokens in blocks of 16, 18 in blocks of 64
DESCRIPTOR: Final = Constant(2.5e-6, 1.5e-6, 3.8e-6, "vllm-nixl", Status.DERIVED, "s", "32 to 64 layers")


def descriptors(layers: int, tokens: float, block: int, pieces: float = 1.0) -> float:
    """Pieces of memory of a prompt: keys and values of each layer and block, cut again by unequal widths [1]."""
    return layers * 2 * tokens / block * pieces


def hand_over(pieces: float, size: Bytes, rate: BytesPerSecond, use: Ratio = Ratio(0.0)) -> Seconds:
    """Time of one [s].

    Parameters
    ----------
    pieces
        See `descriptors`.
    size, rate
        Bytes that a device pulls [B], and what its path gives alone [B/s].
    use
        Share of the path that other pulls take, who share it evenly [1].
    """
    return Seconds(FIXED.value + pieces * DESCRIPTOR.value + size / rate / (1 - use))


def left_to_move(moving: Seconds, pieces: float, reading: Seconds) -> Seconds:
    """Time that bytes still take when a prompt has been read, if each piece of it is sent when it is there [s].

    Parameters
    ----------
    moving
        Of all bytes [s].
    pieces
        Equal pieces they are sent in: chunks of the prompt, or layers; 1 where nothing is sent before the end.
    reading
        What reading the prompt took [s].

    Notes
    -----
    Two stages in a row: the last piece is sent after the last was read, and no piece before the one before it.
    """
    if pieces <= 1:
        return moving
    return Seconds(max(moving / pieces, moving - reading * (pieces - 1) / pieces))


FORMULA: Final = Formula(
    "hand-over",
    "Hand-over of keys and values",
    hand_over,
    ("vllm-nixl",),
    "pulls in blocks of 16 to 64 tokens",
)
