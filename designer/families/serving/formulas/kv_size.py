"""Bytes of keys and values that one token keeps on one device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from designer.formulas.formula import Formula
from designer.formulas.shapes import TransformerNumbers
from designer.units import Bytes


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
    """

    layer: Bytes
    full: int
    windowed: int
    window: int

    @property
    def token(self) -> Bytes:
        """Bytes of a token once it is past all windows [B]."""
        return Bytes(self.layer * self.full)

    def held(self, tokens: float) -> Bytes:
        """Bytes of a request of `tokens` [B]."""
        return Bytes(self.layer * (self.full * tokens + self.windowed * min(tokens, self.window)))


def kv_size(shape: TransformerNumbers, tensor: int, element: Bytes) -> KvSize:
    """What a token keeps on one of `tensor` devices, in elements of `element` bytes.

    Notes
    -----
    Heads are shared out; more devices than key-value heads keep copies. Latent attention keeps its compressed vector
    whole on every device.
    """
    if shape.kv_rank:
        layer = (shape.kv_rank + shape.rope_dim) * element
    else:
        layer = max(1.0, shape.kv_heads / tensor) * (shape.head_dim + shape.value_head_dim) * element
    windowed = shape.windowed_layers if shape.window else 0
    return KvSize(Bytes(layer), shape.layers - windowed, windowed, shape.window)


FORMULA: Final = Formula(
    "kv-size", "Keys and values of a token", kv_size, ("counted-serving",), "grouped, latent and windowed attention"
)
