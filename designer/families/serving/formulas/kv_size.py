"""Bytes of keys and values that one token keeps on one device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from designer.families.serving.formulas.state_layer import state_size
from designer.formulas.formula import Formula
from designer.formulas.shapes import TransformerNumbers
from designer.sources import Constant, Status
from designer.units import Bytes

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


FORMULA: Final = Formula(
    "kv-size", "Keys and values of a token", kv_size, ("counted-serving",), "grouped, latent and windowed attention"
)
