"""One transformer layer on one accelerator: every product, attention, pointwise pass and message, by its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from designer.formulas.accelerator import Accelerator
from designer.formulas.compute.gemm import gemm_time, matrix_rate
from designer.formulas.compute.roofline import MEMORY_SHARE
from designer.formulas.formula import Formula
from designer.formulas.layout import Layout, Recompute
from designer.formulas.precision import PRECISIONS, Precision
from designer.formulas.shapes import TransformerNumbers
from designer.formulas.software import Software
from designer.sources import Constant, Status
from designer.units import Bytes, Flop, Seconds


def _count(value: float, note: str) -> Constant:
    return Constant(value, value, value, "counted-training", Status.DERIVED, "1", note)


# Elements read and written per hidden element, counted operation by operation.
NORM_FORWARD: Final = _count(10.0, "two norms (read, write) and two residual additions (read, read, write)")
NORM_BACKWARD: Final = _count(12.0, "two norms (gradient, input, result) and two residual sums (read, read, write)")
DROPOUT_FORWARD: Final = _count(1.0, "two byte masks written")
DROPOUT_BACKWARD: Final = _count(5.0, "two passes: gradient, byte mask, result")
HEADS_FORWARD: Final = _count(2.0, "rotation or transposition of queries, keys, values: read, write")
ACTIVATION_FORWARD: Final = _count(2.0, "activation: read, write; a gate is read too")
ACTIVATION_BACKWARD: Final = _count(3.0, "activation: gradient, input, result; a gate adds two")
SCORES_FORWARD: Final = _count(4.5, "softmax read, write; dropout read, mask, write")
SCORES_BACKWARD: Final = _count(5.5, "dropout gradient, mask, result; softmax gradient, value, result")
CAST: Final = _count(2.0, "16-bit read, 8-bit copy and its transpose written, in 16-bit elements")
ADAPTER_INPUT_FORWARD: Final = _count(3.5, "input of an adapter: dropout read, mask, write; narrow product read")
ADAPTER_INPUT_BACKWARD: Final = _count(7.5, "read for its gradient; gradient written, dropout in 2.5, sum in 3")
ADAPTER_OUTPUT_FORWARD: Final = _count(
    9.0, "of the first product 1.25 wide, of the last 1: written, scaled and summed in 3; the last output once"
)
ADAPTER_OUTPUT_BACKWARD: Final = _count(4.5, "gradients of both outputs, read by two narrow products each")
KERNELS_ADAPTERS: Final = _count(12.0, "dropout, two narrow products, scaling, sum, transposition, of two products")
KERNELS_FORWARD: Final = _count(8.0, "pointwise kernels of a layer")
LOGITS: Final = _count(10.0, "32-bit loss over the vocabulary, forward and backward, in 16-bit elements")
ATTENTION_BACKWARD: Final = _count(2.5, "fused attention computes the scores again")
#: tokens do not spread evenly over experts: the fullest rank against the mean
EXPERT_IMBALANCE: Final = Constant(1.1, 1.0, 1.4, "assumed-training", Status.ASSUMED, "1", "auxiliary loss or dropping")


@dataclass(frozen=True, slots=True)
class LayerCost:
    """What one layer asks of an accelerator and the network for one microbatch.

    Parameters
    ----------
    forward, backward, recompute
        Computing time, nothing hidden, no messages [s].
    flop
        Arithmetic of the forward pass on this accelerator [FLOP].
    tensor_bytes, tensor_messages
        Size and number of tensor-parallel sums in the forward pass; the backward pass has as many.
    expert_bytes, context_bytes
        All-to-all traffic of one direction, and keys and values gathered over the context group [B].
    attention
        The part of `forward` that context traffic can hide behind [s].
    scores, pointwise
        What attention scores and memory-bound kernels take of `forward` and `backward` together [s].
    weights
        The part of `backward` that makes gradients of weights [s].
    """

    forward: Seconds
    backward: Seconds
    recompute: Seconds
    flop: Flop
    tensor_bytes: Bytes
    tensor_messages: int
    expert_bytes: Bytes
    context_bytes: Bytes
    attention: Seconds
    scores: Seconds
    pointwise: Seconds
    weights: Seconds


@dataclass(frozen=True, slots=True)
class _Bench:
    """The accelerator, number format and software a layer runs on, with shorthands for kernels."""

    accelerator: Accelerator
    precision: Precision
    software: Software
    frozen: bool

    def product(self, rows: float, inner: float, columns: float, kernels: int = 1) -> tuple[float, float]:
        """Forward and backward time of a weight product [s]."""
        if rows <= 0 or inner <= 0 or columns <= 0:
            return 0.0, 0.0
        share = self.precision.narrow.value
        forward, backward = self._product(self.precision, rows, inner, columns, kernels)
        if share < 1:
            wide = self._product(PRECISIONS[self.precision.base], rows, inner, columns, kernels)
            return share * forward + (1 - share) * wide[0], share * backward + (1 - share) * wide[1]
        return forward, backward

    def _product(
        self, precision: Precision, rows: float, inner: float, columns: float, kernels: int
    ) -> tuple[float, float]:
        launch = Seconds(self.software.launch.value * kernels)
        operand, result = precision.matrix_bytes.value, precision.activation_bytes.value
        name = precision.name

        def one(m: float, k: float, n: float, out: float) -> float:
            return gemm_time(m, k, n, self.accelerator, name, Bytes(operand), Bytes(out), launch)

        forward = one(rows, inner, columns, result)
        backward = one(rows, columns, inner, result)
        if not self.frozen:
            backward += one(inner, rows, columns, precision.gradient_bytes.value)
        return forward, backward

    def pointwise(self, elements: float, kernels: float = 0) -> float:
        """Time of memory-bound work on `elements` of the activation format [s]."""
        traffic = elements * self.precision.activation_bytes.value * self.software.pointwise.value
        rate = self.accelerator.memory_bandwidth * MEMORY_SHARE.value
        return traffic / rate + kernels * self.software.launch.value


def layer_cost(
    shape: TransformerNumbers,
    layout: Layout,
    accelerator: Accelerator,
    precision: Precision,
    software: Software,
    sequence: int,
    *,
    experts: bool = False,
    windowed: bool = False,
    frozen: bool = False,
    micro_batch: float | None = None,
) -> LayerCost:
    """Time and traffic of one layer for one microbatch.

    Parameters
    ----------
    sequence
        Tokens per sample that are computed, padding left out where the software leaves it out.
    experts, windowed
        Whether the layer has experts, and whether its attention looks back only a window.
    frozen
        Weights are not trained (adapters only): no weight gradients.

    Sources
    -------
    Counting follows Narayanan 2021 and Korthikanti 2022; roofline per kernel.
    """
    bench = _Bench(accelerator, precision, software, frozen)
    samples = layout.micro_batch if micro_batch is None else micro_batch
    tokens = samples * sequence / layout.context
    split = layout.tensor
    linear_forward, linear_backward = _attention_products(shape, bench, tokens, split)
    score = _scores(shape, bench, samples, sequence, layout, windowed)
    feed = _experts(shape, bench, tokens, layout) if experts else _dense(shape, bench, tokens, split)
    point_forward, point_backward = _pointwise(shape, bench, tokens, layout, experts)
    if frozen:
        added = _adapters(shape, bench, tokens, split)
        point_forward, point_backward = point_forward + added.forward, point_backward + added.backward

    forward = linear_forward + score.forward + feed.forward + point_forward
    backward = linear_backward + score.backward + feed.backward + point_backward
    again = 0.0
    if layout.recompute is Recompute.FULL:
        again = forward
    elif layout.recompute is Recompute.POINTWISE:
        again = point_forward + _latent_up(shape, bench, tokens, split)
    elif layout.recompute is Recompute.SELECTIVE:
        kept = 0.0 if software.fused_attention else score.forward
        again = kept + software.selective.value * (forward - score.forward)
    size = Bytes(tokens * shape.hidden * precision.activation_bytes.value)
    head_width = shape.kv_heads * (shape.head_dim + shape.value_head_dim) / split
    return LayerCost(
        Seconds(forward),
        Seconds(backward),
        Seconds(again),
        Flop(2 * tokens * _active_parameters(shape, experts) / split + score.flop),
        size,
        2 if split > 1 else 0,
        Bytes(feed.sent * precision.activation_bytes.value),
        Bytes(layout.context * tokens * head_width * precision.activation_bytes.value if layout.context > 1 else 0.0),
        Seconds(score.forward),
        Seconds(score.forward + score.backward),
        Seconds(point_forward + point_backward),
        # half of the backward products: the others make gradients of what was multiplied
        Seconds(0.0 if frozen else (linear_backward + feed.backward) / 2),
    )


def _active_parameters(shape: TransformerNumbers, experts: bool) -> float:
    if not experts:
        return shape.attention_parameters + shape.dense_parameters
    return shape.attention_parameters + shape.moe_common_parameters + shape.experts_per_token * shape.expert_parameters


def _attention_products(shape: TransformerNumbers, bench: _Bench, tokens: float, split: int) -> tuple[float, float]:
    h, heads = shape.hidden, shape.heads / split
    output = (heads * shape.value_head_dim, h)
    if shape.kv_rank:
        query_width = heads * (shape.head_dim)
        products = [(h, shape.q_rank), (shape.q_rank, query_width)] if shape.q_rank else [(h, query_width)]
        products += [
            (h, shape.kv_rank + shape.rope_dim),
            (shape.kv_rank, heads * (shape.head_dim - shape.rope_dim + shape.value_head_dim)),
            output,
        ]
    else:
        kv = max(1.0, shape.kv_heads / split)
        products = [(h, heads * shape.head_dim + kv * (shape.head_dim + shape.value_head_dim)), output]
    pairs = [bench.product(tokens, inner, columns) for inner, columns in products]
    return sum(f for f, _ in pairs), sum(b for _, b in pairs)


def _latent_up(shape: TransformerNumbers, bench: _Bench, tokens: float, split: int) -> float:
    """Forward time of the products that widen compressed queries, keys and values [s]."""
    if not shape.kv_rank:
        return 0.0
    heads = shape.heads / split
    widths = [(shape.q_rank, heads * shape.head_dim)] if shape.q_rank else []
    widths.append((shape.kv_rank, heads * (shape.head_dim - shape.rope_dim + shape.value_head_dim)))
    return sum(bench.product(tokens, inner, columns)[0] for inner, columns in widths)


@dataclass(frozen=True, slots=True)
class _Part:
    forward: float
    backward: float
    flop: float = 0.0
    sent: float = 0.0


def _scores(
    shape: TransformerNumbers, bench: _Bench, samples: float, sequence: int, layout: Layout, windowed: bool
) -> _Part:
    heads = shape.heads / layout.tensor
    queries = samples * sequence / layout.context
    keys = min(sequence, shape.window) if windowed and shape.window else sequence
    pairs = queries * keys * heads
    flop = 2 * pairs * (shape.head_dim + shape.value_head_dim)
    accelerator, software = bench.accelerator, bench.software
    base = bench.precision.base
    seen = 0.5 if shape.causal and keys == sequence else 1.0
    if software.fused_attention:
        rate = accelerator.peak(base) * accelerator.calibration.fused_attention.value * software.attention.value
        forward = flop * seen / rate + software.launch.value
        return _Part(forward, flop * seen * ATTENTION_BACKWARD.value / rate + 2 * software.launch.value, flop * seen)
    rate_in = matrix_rate(accelerator, base, shape.head_dim)
    rate_out = matrix_rate(accelerator, base, keys)
    first = 2 * pairs * shape.head_dim / rate_in
    second = 2 * pairs * shape.value_head_dim / rate_out
    kept = SCORES_FORWARD.value if software.dropout else 2
    back = SCORES_BACKWARD.value if software.dropout else 1 + 2
    # Both products also write or read the scores.
    forward = first + second + bench.pointwise(pairs * (kept + 2), 2 + 2)
    backward = 2 * (first + second) + bench.pointwise(pairs * (back + 2 * 2), 2 * (2 + 1))
    return _Part(forward, backward, flop * seen)


def _dense(shape: TransformerNumbers, bench: _Bench, tokens: float, split: int) -> _Part:
    width = shape.ffn / split
    up = bench.product(tokens, shape.hidden, width * (2 if shape.gated else 1))
    down = bench.product(tokens, width, shape.hidden)
    return _Part(up[0] + down[0], up[1] + down[1])


def _experts(shape: TransformerNumbers, bench: _Bench, tokens: float, layout: Layout) -> _Part:
    split = layout.tensor
    local = max(1.0, shape.experts / layout.expert)
    routed = tokens * shape.experts_per_token * EXPERT_IMBALANCE.value
    rows = routed / local
    width = shape.expert_ffn / split
    up = bench.product(rows, shape.hidden, width * (2 if shape.gated else 1))
    down = bench.product(rows, width, shape.hidden)
    router = bench.product(tokens, shape.hidden, shape.experts)
    permute = bench.pointwise(2 * 2 * routed * shape.hidden / split, 2 + 2)
    forward = local * (up[0] + down[0]) + router[0] + permute
    backward = local * (up[1] + down[1]) + router[1] + permute
    if shape.shared_ffn:
        both = bench.product(tokens, shape.hidden, shape.shared_ffn / split * (2 if shape.gated else 1))
        back = bench.product(tokens, shape.shared_ffn / split, shape.hidden)
        forward, backward = forward + both[0] + back[0], backward + both[1] + back[1]
    sent = tokens * shape.experts_per_token * shape.hidden / split if layout.expert > 1 else 0.0
    return _Part(forward, backward, sent=sent)


def _adapters(shape: TransformerNumbers, bench: _Bench, tokens: float, split: int) -> _Part:
    """Adapters next to the two products of attention: one reads the gathered hidden state, the other a part of it."""
    whole, kernels = tokens * shape.hidden, KERNELS_ADAPTERS.value
    forward = ADAPTER_INPUT_FORWARD.value * (1 + 1 / split) + ADAPTER_OUTPUT_FORWARD.value / split
    backward = ADAPTER_INPUT_BACKWARD.value * (1 + 1 / split) + ADAPTER_OUTPUT_BACKWARD.value / split
    return _Part(bench.pointwise(forward * whole, kernels), bench.pointwise(backward * whole, 2 * kernels))


def _pointwise(
    shape: TransformerNumbers, bench: _Bench, tokens: float, layout: Layout, experts: bool
) -> tuple[float, float]:
    split = layout.tensor
    h = shape.hidden
    norm_split = split if layout.sequence_parallel else 1
    dropout = bench.software.dropout
    norm_forward = NORM_FORWARD.value + (DROPOUT_FORWARD.value if dropout else 0)
    norm_backward = NORM_BACKWARD.value + (DROPOUT_BACKWARD.value if dropout else 0)
    width = shape.experts_per_token * shape.expert_ffn + shape.shared_ffn if experts else shape.ffn
    heads = (shape.heads + 2 * shape.kv_heads) * shape.head_dim / split
    gate = 1 if shape.gated else 0
    forward = tokens * (
        norm_forward * h / norm_split + HEADS_FORWARD.value * heads + (ACTIVATION_FORWARD.value + gate) * width / split
    )
    backward = tokens * (
        norm_backward * h / norm_split
        + HEADS_FORWARD.value * heads
        + (ACTIVATION_BACKWARD.value + 2 * gate) * width / split
    )
    if bench.precision.casts:
        # every expert a token goes to casts a copy of it
        copies = shape.experts_per_token if experts else 1
        cast = CAST.value * bench.software.casts.value * tokens * ((1 + copies) * h + (h + width) / split)
        forward, backward = forward + cast, backward + cast
    return bench.pointwise(forward, KERNELS_FORWARD.value), bench.pointwise(backward, 2 * KERNELS_FORWARD.value)


def head_cost(
    shape: TransformerNumbers,
    layout: Layout,
    accelerator: Accelerator,
    precision: Precision,
    software: Software,
    sequence: int,
    frozen: bool = False,
) -> tuple[Seconds, Seconds]:
    """Forward and backward time of the output layer and loss for one microbatch, never in 8 bit [s]."""
    bench = _Bench(accelerator, PRECISIONS[precision.base], software, frozen)
    tokens = layout.micro_batch * sequence / layout.context * shape.predicted_share
    width = shape.vocabulary / layout.tensor
    base = bench.product(tokens, shape.hidden, width)
    loss = bench.pointwise(LOGITS.value * tokens * width, 2)
    return Seconds(base[0] + 0.5 * loss), Seconds(base[1] + 0.5 * loss)


FORMULA: Final = Formula(
    "transformer-layer",
    "Transformer layer by rooflines",
    layer_cost,
    ("megatron-2021", "megatron-sequence-2022", "roofline-2009", "fit-training"),
    "dense, expert and latent-attention transformers; hidden sizes of 768 and more",
)
