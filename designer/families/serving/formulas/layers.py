"""Parts of a layer between its products: attention of prompts and answers, states, and what only memory limits."""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.formulas.shapes import TransformerNumbers
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Flop, FlopPerSecond, Ratio, Seconds


def prefill_area(tokens: float, before: float) -> float:
    """Pairs of tokens a piece of `tokens` looks at, `before` of them already cached [1]."""
    return tokens * (before + tokens / 2)


def attention_prefill(area: float, heads: float, head_size: float, peak: FlopPerSecond, share: Ratio) -> Seconds:
    """Time of one layer [s]: 4 x heads x head size x pairs, two for the scores and two for the sums.

    Parameters
    ----------
    head_size
        Mean of the sizes of a query and a value head.
    """
    return Seconds(2 * 2 * heads * head_size * area / (share * peak))


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


#: times the hidden state passes through memory in one layer
PASSES: Final = Constant(
    14.0, 8.0, 20.0, "counted-serving", Status.DERIVED, "1", "two norms, two residuals, rotation, activation"
)


def elementwise(tokens: float, hidden: int, size: Bytes, bandwidth: BytesPerSecond, share: Ratio) -> Seconds:
    """Time of one layer [s]; `size` bytes per value [B]."""
    return Seconds(PASSES.value * tokens * hidden * size / (share * bandwidth))


FORMULAS: Final = (
    Formula(
        "attention-prefill",
        "Attention of prompts",
        attention_prefill,
        ("aic-kernels", "counted-training"),
        "prompts of 1,024 tokens and more; shorter ones vanish against the products",
    ),
    Formula(
        "attention-decode",
        "Attention of decoding requests",
        attention_decode,
        ("aic-kernels",),
        "paged keys and values, one new token per request",
    ),
    Formula(
        "state-layer",
        "Layers that keep a state",
        state_decode,
        ("aic-tables", "counted-serving"),
        "gated delta rule and Mamba-2; within 15 % of measured decoding kernels of 64 to 1,024 requests on vLLM",
    ),
    Formula("elementwise", "Between the products", elementwise, ("counted-serving", "aic-config"), "fused kernels"),
)
