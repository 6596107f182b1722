"""Bytes of weights on one device."""

from __future__ import annotations

from typing import Final

from designer.families.serving.formulas._number_format import NumberFormat, number_format
from designer.formulas.formula import Formula
from designer.formulas.shapes import TransformerNumbers
from designer.units import Bytes


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


FORMULA: Final = Formula(
    "weights-size", "Weights on a device", weights_size, ("counted-serving",), "tensor, expert and pipeline parallel"
)
