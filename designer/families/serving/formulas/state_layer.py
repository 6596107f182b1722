"""Layers that keep a state of fixed size in place of keys and values: gated delta rule, Mamba-2, delta attention."""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.formulas.shapes import TransformerNumbers
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Flop, FlopPerSecond, Seconds

#: bytes of a value of the state, which engines keep in 32 bit, and of a kept input of the convolution
STATE_SIZE: Final = Constant(4.0, 2.0, 4.0, "counted-serving", Status.SECONDARY, "B", "mamba_ssm_dtype float32")
KEPT_SIZE: Final = Constant(2.0, 2.0, 2.0, "counted-serving", Status.SECONDARY, "B", "16 bit")
#: share of memory bandwidth at which decoding kernels read and write a state, 64 and more requests
DECODE: Final = Constant(0.85, 0.68, 1.0, "aic-tables", Status.DERIVED, "1", "gdn on H100, H200, B200, three engines")
#: least time of the state and of its convolution, when decoding and with prompts
DECODE_FLOOR: Final = Constant(7e-6, 6e-6, 9e-6, "aic-tables", Status.DERIVED, "s", "4.7 and 1.9 us on H200")
PREFILL_FLOOR: Final = Constant(2.4e-5, 1.4e-5, 2.8e-5, "aic-tables", Status.DERIVED, "s", "chunk kernels and conv1d")
#: share of the 16-bit peak that the least arithmetic of prompts reaches: 14.5 (vLLM), 58 and 109 ns a token of 32 heads
PREFILL: Final = Constant(0.05, 0.02, 0.22, "aic-tables", Status.DERIVED, "1", "gdn on H100 and H200, three engines")
#: operations for a value of the state and a token: decay, what the key reads, what is added, what the query reads
OPERATIONS: Final = Constant(6.0, 5.0, 8.0, "counted-serving", Status.PRIMARY, "1")


def state_size(shape: TransformerNumbers) -> Bytes:
    """What a request keeps in one such layer, on all devices together [B]."""
    return Bytes(shape.state_values * STATE_SIZE.value + shape.state_kept * KEPT_SIZE.value)


def state_decode(size: Bytes, bandwidth: BytesPerSecond) -> Seconds:
    """Reading and writing so much of a state in a decoding step, beyond the least time [s]."""
    return Seconds(2 * size / (DECODE.value * bandwidth))


def state_work(shape: TransformerNumbers) -> Flop:
    """Arithmetic of the state of one such layer for a token of a prompt, on all devices together [FLOP]."""
    return Flop(OPERATIONS.value * shape.state_values)


def state_prefill(work: Flop, peak: FlopPerSecond) -> Seconds:
    """So much arithmetic of states with prompts, beyond the least time [s]."""
    return Seconds(work / (PREFILL.value * peak))


FORMULA: Final = Formula(
    "state-layer",
    "Layers that keep a state",
    state_decode,
    ("aic-tables", "counted-serving"),
    "gated delta rule and Mamba-2; within 15 % of measured decoding kernels of 64 to 1,024 requests on vLLM",
)
