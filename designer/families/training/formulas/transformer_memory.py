"""Memory of one accelerator in transformer training, by what fills it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.accelerator import Accelerator
from designer.formulas.formula import Formula
from designer.formulas.layout import Layout, Recompute, Schedule, Sharding, check_layout, stage_layers
from designer.formulas.precision import Precision
from designer.formulas.shapes import TransformerNumbers
from designer.formulas.software import Software
from designer.sources import Constant, Status
from designer.units import Bytes


def _count(value: float, note: str) -> Constant:
    return Constant(value, value, value, "megatron-sequence-2022", Status.PRIMARY, "1", note)


# Kept activations in elements of the activation format, per token; the counts of Korthikanti et al., section 4.
SERIAL: Final = _count(4.0, "inputs of two norms, of the attention and of the feed-forward products, per hidden")
MASKS: Final = _count(1.0, "two byte masks of dropout, per hidden")
SCORES: Final = _count(2.5, "scores, probabilities and a byte mask, per head and key")
LOGITS: Final = _count(3.0, "32-bit logits and the gradient in 16 bit, in 16-bit elements")
RESERVE: Final = Constant(
    2.5e9, 1.0e9, 4.0e9, "assumed-training", Status.ASSUMED, "B", "runtime, communication buffers"
)
FRAGMENTS: Final = Constant(
    0.05, 0.02, 0.12, "assumed-training", Status.ASSUMED, "1", "allocator, share of activations"
)
ADAPTERS: Final = Constant(0.002, 0.0005, 0.01, "assumed-training", Status.ASSUMED, "1", "trained share with adapters")


@dataclass(frozen=True, slots=True)
class MemoryBreakdown:
    """Memory of the fullest accelerator [B]."""

    weights: Bytes
    gradients: Bytes
    optimizer: Bytes
    activations: Bytes
    gathered: Bytes
    reserve: Bytes
    capacity: Bytes

    @property
    def total(self) -> Bytes:
        """All parts together [B]."""
        kept = self.weights + self.gradients + self.optimizer + self.activations
        return Bytes(kept + self.gathered + self.reserve)

    @property
    def fits(self) -> bool:
        """True if it fits the memory of the accelerator."""
        return self.total <= self.capacity

    @property
    def least(self) -> Bytes:
        """All parts with as little reserved and fragmented as is known [B]."""
        fragments = (1 + FRAGMENTS.low) / (1 + FRAGMENTS.value)
        kept = self.weights + self.gradients + self.optimizer + self.activations * fragments
        return Bytes(kept + self.gathered + self.reserve * RESERVE.low / RESERVE.value)

    @property
    def may_fit(self) -> bool:
        """True if it fits with as little reserved and fragmented as is known."""
        return self.least <= self.capacity


def local_parameters(shape: TransformerNumbers, layout: Layout) -> tuple[float, float]:
    """Parameters on the fullest rank before sharding: those every replica holds, and those of its experts."""
    spread = stage_layers(shape.layers, layout)
    ends = shape.embedding_parameters + (shape.head_parameters if layout.pipeline == 1 else 0)

    def held(count: int, other: float) -> tuple[float, float]:
        share = min(count, shape.moe_layers)
        dense_layers = count - share if shape.moe_layers else count
        common = (
            count * shape.attention_parameters
            + dense_layers * shape.dense_parameters
            + share * shape.moe_common_parameters
            + shape.extra_parameters * count / shape.layers
        )
        routed = share * shape.experts * shape.expert_parameters / layout.expert
        return (common + other) / layout.tensor, routed / layout.tensor

    common, routed = max(held(spread.first, ends), held(spread.middle, 0.0), key=sum)
    return common * layout.copies, routed * layout.copies


def transformer_memory(
    shape: TransformerNumbers,
    layout: Layout,
    accelerator: Accelerator,
    precision: Precision,
    software: Software,
    sequence: int,
    microbatches: int,
    frozen: bool = False,
) -> MemoryBreakdown:
    """Memory of the fullest accelerator, by part [B].

    Sources
    -------
    Rajbhandari et al. 2020 for sharding; Korthikanti et al. 2022 for activations.
    """
    common, routed = local_parameters(shape, layout)
    replicas = layout.replicas * layout.copies
    expert_replicas = replicas / layout.expert
    trained = ADAPTERS.value if frozen else 1

    def split(part: Sharding) -> float:
        order = (Sharding.NONE, Sharding.OPTIMIZER, Sharding.GRADIENTS, Sharding.PARAMETERS)
        if order.index(layout.sharding) < order.index(part):
            return common + routed
        return common / replicas + routed / expert_replicas

    gathered = 0.0
    if layout.sharding is Sharding.PARAMETERS:
        # the layer at work and the one fetched ahead
        gathered = 2 * (common + routed) / stage_layers(shape.layers, layout).most * precision.weight_bytes.value
    activations = _activations(shape, layout, precision, software, sequence, microbatches, frozen)
    # weights nothing updates are kept in the format they multiply in
    weight = precision.matrix_bytes.value if frozen else precision.weight_bytes.value
    return MemoryBreakdown(
        Bytes(split(Sharding.PARAMETERS) * weight),
        Bytes(trained * split(Sharding.GRADIENTS) * precision.gradient_bytes.value),
        Bytes(trained * split(Sharding.OPTIMIZER) * precision.optimizer_bytes.value),
        Bytes(activations * (1 + FRAGMENTS.value)),
        Bytes(gathered),
        Bytes(RESERVE.value),
        accelerator.memory_capacity,
    )


def layer_activations(
    shape: TransformerNumbers,
    layout: Layout,
    precision: Precision,
    software: Software,
    sequence: int,
    frozen: bool = False,
) -> float:
    """Bytes one layer keeps per token of one microbatch, but for what selective recomputation makes again [B]."""
    split = layout.tensor
    # inputs of products: none where their weights are frozen, a byte each where they run in 8 bit
    narrow = precision.narrow.value * precision.matrix_bytes.value / precision.activation_bytes.value
    inputs = 0.0 if frozen else narrow + 1 - precision.narrow.value
    # what norms and activation functions give can be made again from what they read
    made = 0.0 if layout.recompute is Recompute.POINTWISE else inputs
    serial = shape.hidden * (SERIAL.value * 0.5 * (1 + made) + (MASKS.value if software.dropout else 0))
    serial /= split if layout.sequence_parallel else 1
    heads = 2 * shape.heads * shape.head_dim + 2 * shape.kv_heads * shape.head_dim
    if shape.kv_rank and layout.recompute is Recompute.POINTWISE:
        # latents are kept and widened again
        heads = shape.heads * shape.value_head_dim + split * (shape.q_rank + shape.kv_rank + shape.rope_dim)
    width = shape.ffn
    if shape.moe_layers:
        width = max(shape.ffn if shape.moe_layers < shape.layers else 0, _expert_width(shape))
    inner = width * (1 + made + (1 if shape.gated else 0))
    scores = 0.0
    if not software.fused_attention and layout.recompute is not Recompute.SELECTIVE:
        scores = SCORES.value * shape.heads * sequence
    kept = 1.0
    if software.fused_attention and layout.recompute is Recompute.SELECTIVE:
        kept -= software.selective.value
    return (serial + (heads + inner + scores) / split) * kept * precision.activation_bytes.value


def _expert_width(shape: TransformerNumbers) -> int:
    return shape.experts_per_token * shape.expert_ffn + shape.shared_ffn


def _activations(
    shape: TransformerNumbers,
    layout: Layout,
    precision: Precision,
    software: Software,
    sequence: int,
    microbatches: int,
    frozen: bool,
) -> float:
    tokens = layout.micro_batch * sequence / layout.context
    whole = layer_activations(shape, layout, precision, software, sequence, frozen)
    flying = _layers_in_flight(shape.layers, layout, microbatches)
    if layout.recompute is Recompute.FULL:
        entry = shape.hidden / (layout.tensor if layout.sequence_parallel else 1)
        kept = entry * precision.activation_bytes.value * flying + whole
    else:
        kept = whole * flying
    logits = 0.0
    if layout.pipeline == 1:
        logits = LOGITS.value * shape.vocabulary * shape.predicted_share / layout.tensor
        logits *= precision.activation_bytes.value
    return tokens * (kept + logits)


def _layers_in_flight(layers: int, layout: Layout, microbatches: int) -> float:
    """Layers times microbatches whose activations the fullest stage keeps.

    A stage starts as many microbatches before its first backward pass as there are stages after it, and one. With v
    virtual stages, 2 (p - rank - 1) + (v - 1) p + 1 of its v parts are started (Narayanan 2021, figure 4). From both
    ends at once, p + 1 are (DeepSeek-V3 2024, table 2).
    """
    spread, p, v = stage_layers(layers, layout), layout.pipeline, layout.interleave
    if layout.schedule is Schedule.DUAL_PIPE:
        return spread.most * min(microbatches, p + 1)

    def started(rank: int) -> float:
        if v == 1:
            return min(microbatches, p - rank)
        return min(microbatches, (2 * (p - rank - 1) + (v - 1) * p + 1) / v)

    second = spread.middle * started(1) if p > 1 else 0.0
    return max(spread.first * started(0), second)


def what_would_fit(
    shape: TransformerNumbers,
    layout: Layout,
    accelerator: Accelerator,
    precision: Precision,
    software: Software,
    sequence: int,
    microbatches: int,
    frozen: bool = False,
) -> tuple[Layout, ...]:
    """Changes to the layout that make it fit, cheapest first; on more accelerators if on these none does."""
    options = [
        replace(layout, sharding=Sharding.OPTIMIZER),
        replace(layout, micro_batch=1),
        replace(layout, recompute=Recompute.SELECTIVE),
        replace(layout, recompute=Recompute.FULL),
        replace(layout, sharding=Sharding.PARAMETERS),
        replace(layout, sharding=Sharding.PARAMETERS, recompute=Recompute.FULL, micro_batch=1),
        *_spread(layout, Sharding.OPTIMIZER, layout.recompute),
        *_spread(layout, Sharding.PARAMETERS, Recompute.FULL),
    ]

    def fits(option: Layout) -> bool:
        try:
            check_layout(option, shape, sequence)
        except AnalysisError:
            return False
        return transformer_memory(shape, option, accelerator, precision, software, sequence, microbatches, frozen).fits

    found = [option for option in options if option != layout and fits(option)]
    if not found:
        sharded = replace(layout, sharding=Sharding.PARAMETERS, recompute=Recompute.FULL, micro_batch=1)
        more = (replace(sharded, data=layout.data * 2 ** (k + 1)) for k in range(DOUBLINGS_LIMIT))
        split = (one for wide in more for one in (wide, *_spread(wide, Sharding.PARAMETERS, Recompute.FULL)))
        found = list(islice((one for one in split if fits(one)), 1))
    return tuple(found)


def _spread(layout: Layout, sharding: Sharding, recompute: Recompute) -> list[Layout]:
    """Layouts that split the model over more of the same accelerators, the least split first."""
    found: list[Layout] = []
    times = 2
    while layout.data % times == 0 and times <= SPLIT_LIMIT:
        tensor = times
        while tensor >= 1:
            spread = replace(
                layout,
                tensor=layout.tensor * tensor,
                pipeline=layout.pipeline * times // tensor,
                data=layout.data // times,
                sharding=sharding,
                recompute=recompute,
                micro_batch=1,
                sequence_parallel=layout.sequence_parallel or tensor > 1,
            )
            found.append(spread)
            tensor //= 2
        times *= 2
    return found


#: how often the number of accelerators is doubled to find one that would do
DOUBLINGS_LIMIT: Final = 12
#: a model is not proposed to be split more finely than this
SPLIT_LIMIT: Final = 256


def require_fit(
    breakdown: MemoryBreakdown, options: tuple[Layout, ...], shape: TransformerNumbers, layout: Layout
) -> None:
    """Refuse a layout that needs more memory than there is, and say what would fit.

    Raises
    ------
    AnalysisError
        With the parts, the shortfall and the changes that would help.
    """
    if breakdown.fits:
        return
    giga = GIGA.value
    parts = ", ".join(
        f"{name} {value / giga:.1f}"
        for name, value in (
            ("weights", breakdown.weights),
            ("gradients", breakdown.gradients),
            ("optimizer", breakdown.optimizer),
            ("activations", breakdown.activations),
            ("gathered", breakdown.gathered),
            ("reserve", breakdown.reserve),
        )
    )
    if not options:
        remedy = "no layout tried holds it, on any number of these accelerators: take shorter sequences or more memory"
    elif options[0].ranks > layout.ranks:
        remedy = f"spread the model over {options[0].ranks} of these accelerators: {options[0].describe()} would fit"
    else:
        remedy = "this would fit: " + "; ".join(option.describe() for option in options[:2])
    raise AnalysisError(
        f"{shape.name} with {layout.describe()} needs {breakdown.total / giga:.1f} GB on an accelerator of "
        f"{breakdown.capacity / giga:.1f} GB ({parts})",
        place="layout",
        remedy=remedy,
    )


GIGA: Final = Constant(1e9, 1e9, 1e9, "si", Status.PRIMARY, "1")

FORMULA: Final = Formula(
    "transformer-memory",
    "Training memory of a transformer",
    transformer_memory,
    ("zero-2020", "megatron-sequence-2022", "assumed-training"),
    "Adam-like optimizers, one-forward-one-backward schedules",
)
