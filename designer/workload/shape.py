"""Shapes of AI models: the dimensions that decide arithmetic, memory and traffic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from designer.errors import CatalogError
from designer.units import Flop, Ratio, Seconds
from designer.workload.vision import VisionTower

#: a real model has none of its dimensions above this; larger ones are mistakes or attacks
LARGEST: Final = 10**8


ALL: Final = Ratio(1.0)
RESNET_50_SPATIAL: Final = Ratio(0.41)


@dataclass(frozen=True, slots=True)
class TransformerShape:
    """Dimensions of a transformer.

    Parameters
    ----------
    layers, hidden, heads, kv_heads
        Depth, width, query heads and key-value heads.
    head_dim, value_head_dim
        Size of a query or key head and of a value head; 0 means hidden ÷ heads and the same.
    ffn, gated
        Inner width of a dense feed-forward layer, and whether it has a gate (three matrices) or not (two).
    vocabulary, tied, positions, segments
        Token embeddings, whether the output layer shares them, learned positions, and learned segments.
    experts, experts_per_token, shared_experts, expert_ffn, shared_ffn, moe_layers
        Routed experts per expert layer, those a token uses, shared ones, their inner widths, and how many layers
        have experts.
    token_groups
        Groups of experts that the experts of a token are taken from, one group a server as trained; 0 for all.
    q_rank, kv_rank, rope_dim
        Latent attention: ranks of the query and key-value compression, and the rotated part of a head.
    causal, predicted_share
        Whether tokens see only earlier ones, and the share of tokens that the loss is computed on.
    window, windowed_layers
        Sliding window in tokens, and how many layers have it.
    windowed_values, windowed_parameters
        Values a token keeps in a layer with a window, and parameters of the attention of one; 0: those of the others.
    state_layers, state_inputs, state_outputs, state_values, state_kept
        Layers that keep a state of fixed size in place of keys and values, columns and rows of the products before and
        after it, values of the state of a request, and inputs of its convolution that are kept.
    idle_layers, bare_layers
        Layers that mix no tokens, and layers without a feed-forward part.
    selected_tokens, index_heads, index_dim
        Tokens that attention looks at, and heads and size of the keys by which they are selected; 0: all tokens.
    cached_values
        Values a token keeps in a layer where that is neither its heads nor its ranks; 0 otherwise.
    expert_hidden
        Width that routed experts work at where it is not that of the model; 0 otherwise.
    attention_gate, out_rank, out_groups
        Whether what attention puts out is gated by a product, and the rank and groups of its output product; 0: whole.
    biases, norm_vectors, extra_parameters
        True if products have biases, vectors of a norm (1 scale, 2 scale and shift), and parameters beyond the layers.
    drafting_layers
        Layers in addition that draft tokens, each with the experts of the others.
    vision
        The part that sees, which `parameters` leave out; None where nothing does.
    context
        Tokens of a request that it was made for, as its configuration states; 0 where unknown.
    """

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    vocabulary: int
    head_dim: int = 0
    value_head_dim: int = 0
    gated: bool = True
    tied: bool = False
    positions: int = 0
    segments: int = 0
    experts: int = 0
    experts_per_token: int = 0
    shared_experts: int = 0
    expert_ffn: int = 0
    shared_ffn: int = 0
    moe_layers: int = 0
    token_groups: int = 0
    q_rank: int = 0
    kv_rank: int = 0
    rope_dim: int = 0
    causal: bool = True
    predicted_share: Ratio = ALL
    window: int = 0
    windowed_layers: int = 0
    windowed_values: int = 0
    windowed_parameters: int = 0
    state_layers: int = 0
    state_inputs: int = 0
    state_outputs: int = 0
    state_values: int = 0
    state_kept: int = 0
    idle_layers: int = 0
    bare_layers: int = 0
    selected_tokens: int = 0
    index_heads: int = 0
    index_dim: int = 0
    cached_values: int = 0
    expert_hidden: int = 0
    attention_gate: bool = False
    out_rank: int = 0
    out_groups: int = 0
    biases: bool = False
    qkv_biases: bool = False
    norm_vectors: int = 1
    head_norms: bool = False
    extra_parameters: int = 0
    context: int = 0
    drafting_layers: int = 0
    vision: VisionTower | None = None

    def __post_init__(self) -> None:
        for field_name in ("layers", "hidden", "heads", "kv_heads", "vocabulary"):
            self._require(field_name, 1)
        for field_name in (
            "ffn",
            "experts",
            "experts_per_token",
            "expert_ffn",
            "moe_layers",
            "window",
            "positions",
            "context",
            "state_layers",
            "idle_layers",
            "bare_layers",
            "selected_tokens",
            "expert_hidden",
            "drafting_layers",
        ):
            self._require(field_name, 0)
        if not self.head_dim:
            if self.hidden % self.heads:
                raise self._wrong("hidden", f"{self.hidden} does not divide over {self.heads} heads")
            object.__setattr__(self, "head_dim", self.hidden // self.heads)
        if not self.value_head_dim:
            object.__setattr__(self, "value_head_dim", self.head_dim)
        if self.heads % self.kv_heads:
            raise self._wrong("kv_heads", f"{self.heads} heads do not share {self.kv_heads} key-value heads evenly")
        if self.experts and not (self.moe_layers and self.expert_ffn and self.experts_per_token):
            raise self._wrong("experts", "a model with experts needs moe_layers, expert_ffn and experts_per_token")
        if self.experts_per_token > self.experts:
            raise self._wrong("experts_per_token", f"{self.experts_per_token} of {self.experts} experts")
        self._check_layers()
        if self.shared_experts and not self.shared_ffn:
            object.__setattr__(self, "shared_ffn", self.shared_experts * self.expert_ffn)

    def _check_layers(self) -> None:
        if self.moe_layers + self.bare_layers > self.layers:
            raise self._wrong("moe_layers", f"more than the {self.layers} layers there are")
        if self.windowed_layers > max(0, self.attention_layers):
            raise self._wrong("windowed_layers", f"more than the {self.attention_layers} layers that attend")
        if self.state_layers and not (self.state_inputs and self.state_outputs and self.state_values):
            raise self._wrong("state_layers", "they need state_inputs, state_outputs and state_values")
        if self.dense_layers > 0 and not self.ffn:
            raise self._wrong("ffn", "layers without experts need a feed-forward width")

    def _require(self, field_name: str, least: int) -> None:
        value = getattr(self, field_name)
        if not least <= value <= LARGEST:
            raise self._wrong(field_name, f"{value} is outside {least} to {LARGEST}")

    def _wrong(self, field_name: str, text: str) -> CatalogError:
        return CatalogError(
            f"{field_name}: {text}", place=f"model {self.name}", remedy="correct the dimensions of the model"
        )

    @property
    def attention_layers(self) -> int:
        """Layers that attend."""
        return self.layers - self.state_layers - self.idle_layers

    @property
    def dense_layers(self) -> int:
        """Layers with a feed-forward part that every token passes."""
        return self.layers - self.moe_layers - self.bare_layers

    @property
    def state_parameters(self) -> int:
        """Parameters of one layer that keeps a state, with its norm."""
        return self.hidden * (self.state_inputs + self.state_outputs) + self._norm if self.state_layers else 0

    @property
    def expert_width(self) -> int:
        """Width that routed experts work at."""
        return self.expert_hidden or self.hidden

    @property
    def _other_weights(self) -> int:
        """Parameters of the gate of what attention puts out, and of the selection of tokens."""
        gate = self.hidden * self.heads * self.value_head_dim * self.attention_gate
        if not self.selected_tokens:
            return gate
        return gate + (self.q_rank or self.hidden) * self.index_heads * self.index_dim + self.hidden * self.index_dim

    @property
    def attention_parameters(self) -> int:
        """Parameters of the attention of one layer, with its norm."""
        width = self.heads * self.value_head_dim
        out = width * self.out_rank + self.out_groups * self.out_rank * self.hidden if self.out_rank else 0
        out = (out or width * self.hidden) + self._other_weights
        query_width = self.heads * self.head_dim
        if self.kv_rank:
            rest = self.head_dim - self.rope_dim
            query = self.hidden * self.q_rank + self.q_rank * query_width if self.q_rank else self.hidden * query_width
            keys = self.hidden * (self.kv_rank + self.rope_dim)
            keys += self.kv_rank * self.heads * (rest + self.value_head_dim)
            return query + keys + out + self.q_rank + self.kv_rank + self._norm
        kv_width = self.kv_heads * (self.head_dim + self.value_head_dim)
        biases = (query_width + kv_width) * (self.biases or self.qkv_biases) + self.hidden * self.biases
        head_norms = 2 * self.head_dim * self.head_norms
        query = self.hidden * self.q_rank + self.q_rank * query_width if self.q_rank else self.hidden * query_width
        return query + self.hidden * kv_width + out + biases + head_norms + self._norm

    @property
    def _norm(self) -> int:
        return self.norm_vectors * self.hidden

    def _feed_forward(self, width: int) -> int:
        biases = (width + self.hidden) * self.biases
        return (3 if self.gated else 2) * self.hidden * width + biases

    @property
    def dense_parameters(self) -> int:
        """Parameters of the feed-forward part of one dense layer, with its norm."""
        return self._feed_forward(self.ffn) + self._norm

    @property
    def expert_parameters(self) -> int:
        """Parameters of one routed expert."""
        biases = (self.expert_ffn + self.expert_width) * self.biases
        return (3 if self.gated else 2) * self.expert_width * self.expert_ffn + biases

    @property
    def moe_common_parameters(self) -> int:
        """Parameters of one expert layer that every token uses: router, shared experts, norm."""
        if not self.experts:
            return 0
        shared = self._feed_forward(self.shared_ffn) if self.shared_ffn else 0
        return self.hidden * (self.experts + 2 * self.expert_hidden) + shared + self._norm

    @property
    def embedding_parameters(self) -> int:
        """Parameters of the input embeddings."""
        return (self.vocabulary + self.positions + self.segments) * self.hidden

    @property
    def head_parameters(self) -> int:
        """Parameters of the output layer that are its own."""
        return 0 if self.tied else self.vocabulary * self.hidden

    @property
    def parameters(self) -> int:
        """All parameters."""
        return self._parameters(self.experts)

    @property
    def active_parameters(self) -> int:
        """Parameters one token uses."""
        return self._parameters(self.experts_per_token)

    def _parameters(self, experts: int) -> int:
        windowed = self.windowed_layers if self.windowed_parameters else 0
        mixing = (self.attention_layers - windowed) * self.attention_parameters + windowed * self.windowed_parameters
        mixing += self.state_layers * self.state_parameters
        dense = self.dense_layers * self.dense_parameters
        sparse = self.moe_layers * (self.moe_common_parameters + experts * self.expert_parameters)
        ends = self.embedding_parameters + self.head_parameters + self._norm
        return mixing + dense + sparse + ends + self.extra_parameters


#: sides of square samples that are taken, least and most [pixels]
_SIDES: Final = (8, 65_536)


@dataclass(frozen=True, slots=True)
class ConvolutionalShape:
    """Totals of a convolutional network, per sample.

    Parameters
    ----------
    layers
        Convolutions and dense layers.
    parameters
        Trained values.
    flop_forward
        Arithmetic of a forward pass, two per multiply-add [FLOP].
    activations
        Values that the convolutions and dense layers put out; kept and moved many times.
    sample
        Shape of an input sample, for people: ``3x224x224``.
    spatial
        Share of the arithmetic in convolutions of 3x3 and stride 1; that of ResNet-50 where it was not counted [1].
    fetched
        Bytes of a sample that lie spread over all servers, as features of a graph do [B].
    passes
        Memory passes over activations in training, of those of a network whose normalisations are trained [1].
    matching
        Time of a sample that accelerators of one generation and the next take equally, as for matching boxes [s].
    """

    name: str
    layers: int
    parameters: int
    flop_forward: Flop
    activations: int
    sample: str = ""
    spatial: Ratio = RESNET_50_SPATIAL
    fetched: int = 0
    passes: Ratio = Ratio(1.0)
    matching: Seconds = Seconds(0.0)

    def __post_init__(self) -> None:
        if self.fetched < 0:
            raise CatalogError(
                f"fetched is {self.fetched}", place=f"model {self.name}", remedy="give bytes of a sample, or 0"
            )
        if not 0 <= self.spatial <= 1:
            raise CatalogError(
                f"spatial is {self.spatial}", place=f"model {self.name}", remedy="give a share from 0 to 1"
            )
        for field_name in ("layers", "parameters", "flop_forward", "activations"):
            if not getattr(self, field_name) > 0:
                raise CatalogError(
                    f"{field_name} is {getattr(self, field_name)}",
                    place=f"model {self.name}",
                    remedy="give a positive value",
                )

    def at_side(self, side: int) -> ConvolutionalShape:
        """The same network on square samples of another side.

        Convolutions do the same at each place, so arithmetic and activations grow with the area; weights stay. Dense
        layers behind a mean over all places, 0.05 % of the arithmetic of ResNet-50, do not grow and are not
        distinguished.

        Raises
        ------
        CatalogError
            If the side of the samples it was counted for is not known, or the other is not from 8 to 65,536.
        """
        sides = self.sample.split("x")[1:]
        if len(sides) != 2 or sides[0] != sides[1] or not sides[0].isdigit():
            raise CatalogError(f"{self.name} states no square sample", remedy="name it without a side")
        if not _SIDES[0] <= side <= _SIDES[1]:
            raise CatalogError(f"samples of {side} x {side}", remedy=f"give a side from {_SIDES[0]} to {_SIDES[1]:,}")
        area = (side / int(sides[0])) ** 2
        return replace(
            self,
            name=f"{self.name} at {side} x {side}",
            flop_forward=Flop(self.flop_forward * area),
            activations=round(self.activations * area),
            sample=f"{self.sample.split('x')[0]}x{side}x{side}",
        )


@dataclass(frozen=True, slots=True)
class RecommendationShape(ConvolutionalShape):
    """A recommendation model: totals of its dense layers per sample, and the tables it looks rows up in.

    Parameters
    ----------
    products
        Inner length and columns of every dense product.
    tables, rows, width
        Tables, rows of all of them together, and values of a row.
    lookups
        Rows that a sample looks up in all tables.
    """

    products: tuple[tuple[int, int], ...] = ()
    tables: int = 1
    rows: int = 1
    width: int = 1
    lookups: int = 1


ModelShape = TransformerShape | ConvolutionalShape
