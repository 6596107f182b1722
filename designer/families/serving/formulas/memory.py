"""Memory of a served model: weights, keys and values, the room for them, and prefixes found in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from designer.families.serving.formulas._number_format import NumberFormat, number_format
from designer.families.serving.formulas.layers import state_size
from designer.formulas.formula import Formula
from designer.formulas.shapes import TransformerNumbers
from designer.sources import Constant, Status
from designer.units import Bytes, Ratio


def replicated_attention(shape: TransformerNumbers) -> float:
    """Attention weights of a layer that every device holds whole: the compressions of latent attention."""
    return shape.hidden * (shape.q_rank + shape.kv_rank + shape.rope_dim) if shape.kv_rank else 0.0


def weights_size(
    shape: TransformerNumbers,
    weights: NumberFormat,
    tensor: int,
    data: int = 1,
    pipeline: int = 1,
    copies: float = 1.0,
    shared: int = 0,
) -> Bytes:
    """Weights on the fullest device [B].

    Parameters
    ----------
    tensor, data
        Devices that share attention, and how many such groups share the experts and feed-forward layers.
    pipeline
        Stages that share the layers.
    copies
        Experts held, redundant ones with them, over experts there are.
    shared
        Devices that share the layers without experts; 0 for all that share the experts.

    Notes
    -----
    Embeddings and head stay in 16 bit; so does all but the experts where a format says so.
    """
    dense = number_format(weights.dense).size.value if weights.dense else weights.size.value
    whole = replicated_attention(shape)
    attention = whole + (shape.attention_parameters - whole) / tensor
    spread = tensor * data
    held = (attention * shape.attention_layers + shape.state_parameters / tensor * shape.state_layers) * dense
    held += shape.dense_layers * shape.dense_parameters / (shared or spread) * dense
    if shape.experts:
        common = shape.moe_common_parameters / (shared or spread) * dense
        held += shape.moe_layers * (
            common + copies * shape.experts * shape.expert_parameters / spread * weights.size.value
        )
    ends = (
        max(shape.embedding_parameters, shape.head_parameters)
        if pipeline > 1
        else (shape.embedding_parameters + shape.head_parameters)
    )
    return Bytes(held / pipeline + ends / tensor * number_format("bf16").size.value)


#: bytes of a value of the keys by which tokens are selected: 8 bit, and a scale of 4 bytes for 128 of them
INDEX_SIZE: Final = Constant(1.03125, 1.0, 2.0, "counted-serving", Status.SECONDARY, "B", "indexer of DeepSeek-V3.2")


@dataclass(frozen=True, slots=True)
class KvSize:
    """The KV cache of one token: its bytes in a layer, and how many layers keep it.

    Parameters
    ----------
    layer
        Bytes in one layer [B].
    full, windowed
        Layers that keep all tokens, and those that keep the last of them.
    window
        How many those keep [tokens].
    windowed_layer
        Bytes of a token in a layer with a window [B].
    state
        What a request keeps whatever its length: the states of layers that have one [B].
    read
        Bytes of a token that each step reads where tokens are selected: the keys they are selected by [B]; else 0.
    """

    layer: Bytes
    full: int
    windowed: int
    window: int
    windowed_layer: Bytes = Bytes(0.0)
    state: Bytes = Bytes(0.0)
    read: Bytes = Bytes(0.0)

    @property
    def token(self) -> Bytes:
        """Bytes of a token once it is past all windows [B]."""
        return Bytes(self.layer * self.full)

    def held(self, tokens: float) -> Bytes:
        """Bytes of a request of `tokens` [B]."""
        windowed = self.windowed_layer * self.windowed * min(tokens, self.window)
        return Bytes(self.layer * self.full * tokens + windowed + self.state)


def kv_size(shape: TransformerNumbers, tensor: int, element: Bytes) -> KvSize:
    """What a token keeps on one of `tensor` devices, in elements of `element` bytes.

    Notes
    -----
    Heads are shared out; more devices than key-value heads keep copies. Latent attention keeps its compressed vector
    whole on every device, and so does attention to selected tokens the keys they are selected by.
    """
    share = max(1.0, shape.kv_heads / tensor) / shape.kv_heads
    if shape.kv_rank:
        layer = windowed_layer = (shape.kv_rank + shape.rope_dim) * element
    else:
        layer = windowed_layer = share * shape.kv_heads * (shape.head_dim + shape.value_head_dim) * element
        if shape.windowed_values:
            windowed_layer = shape.windowed_values * element / min(tensor, shape.kv_heads)
    if shape.cached_values:
        layer = shape.cached_values * element
    read = shape.index_dim * INDEX_SIZE.value if shape.selected_tokens else 0.0
    windowed = shape.windowed_layers if shape.window else 0
    return KvSize(
        Bytes(layer + read),
        shape.attention_layers - windowed,
        windowed,
        shape.window,
        Bytes(windowed_layer),
        Bytes(shape.state_layers * state_size(shape) / tensor),
        Bytes(read),
    )


#: taken by activations while a step runs, of all devices of a replica together
ACTIVATIONS: Final = Constant(5.5 * 2**30, 2.0 * 2**30, 7.0 * 2**30, "blis", Status.SECONDARY, "B", "dense models")


EXPERT_ACTIVATIONS: Final = Constant(8.0 * 2**30, 3.0 * 2**30, 1.2e10, "blis", Status.SECONDARY, "B", "with experts")


#: taken by the driver, libraries and buffers of collectives, of each device
OTHER_ALONE: Final = Constant(0.15 * 2**30, 0.1 * 2**30, 2.0 * 2**30, "blis", Status.SECONDARY, "B", "one device")


OTHER: Final = Constant(0.6 * 2**30, 0.5 * 2**30, 3.9 * 2**30, "blis", Status.SECONDARY, "B", "several")


#: a card as small as this has no room for buffers of large ones: activations are this share of it at most
SMALL_CARD: Final = Constant(0.1, 0.05, 0.15, "assumed-serving", Status.ASSUMED, "1")


def kv_room(memory: Bytes, share: Ratio, weights: Bytes, devices: int, experts: bool, end: str = "value") -> Bytes:
    """Bytes left for keys and values on each device [B]; negative where the weights alone do not fit.

    Parameters
    ----------
    share
        Of its memory that the engine takes [1].
    devices
        That share a replica.
    end
        ``value``, ``low`` or ``high``: which end of the band of what else is taken.
    """
    taken = getattr(EXPERT_ACTIVATIONS if experts else ACTIVATIONS, end) / devices
    taken = min(taken, SMALL_CARD.value * memory)
    return Bytes(memory * share - weights - taken - getattr(OTHER if devices > 1 else OTHER_ALONE, end))


def spare(devices: int, experts: bool) -> Bytes:
    """Bytes that each device may need beyond what `kv_room` takes for other things [B]."""
    acts, other = EXPERT_ACTIVATIONS if experts else ACTIVATIONS, OTHER if devices > 1 else OTHER_ALONE
    return Bytes((acts.high - acts.value) / devices + other.high - other.value)


def memory_capacity(room: Bytes, token: Bytes) -> int:
    """Tokens that fit [1]."""
    return max(0, int(room / token)) if token > 0 else 0


def reused(curve: Sequence[tuple[float, float]], room: float) -> Ratio:
    """Share of prompt tokens found [1].

    Parameters
    ----------
    curve
        Room in tokens and the share found with it, in order.
    room
        Tokens that fit.

    Notes
    -----
    Below the first point in proportion to the room; beyond the last no more is found.
    """
    if not curve or room <= 0:
        return Ratio(0.0)
    first, last = curve[0], curve[-1]
    if room <= first[0]:
        return Ratio(first[1] * room / first[0])
    for (low, less), (high, more) in pairwise(curve):
        if room <= high:
            return Ratio(less + (more - less) * math.log(room / low) / math.log(high / low))
    return Ratio(last[1])


FORMULAS: Final = (
    Formula(
        "weights-size",
        "Weights on a device",
        weights_size,
        ("counted-serving",),
        "tensor, expert and pipeline parallel",
    ),
    Formula(
        "kv-size", "Keys and values of a token", kv_size, ("counted-serving",), "grouped, latent and windowed attention"
    ),
    Formula(
        "memory-capacity",
        "Tokens that fit",
        memory_capacity,
        ("blis", "aic-config"),
        "engines that claim a share of memory at start; two published accounts differ by 2 to 4 GiB a device",
    ),
    Formula("reuse", "Prefixes found by room", reused, ("counted-serving",), "caches that forget the oldest"),
)
