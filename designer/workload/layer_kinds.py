"""What the layers of a configuration mix tokens with: attention, a state of fixed size, or nothing; and their sizes.

Sources: the modelling files of huggingface/transformers 4.57 for Qwen3-Next (gated delta rule), Kimi-Linear (delta
attention), Nemotron-H (Mamba-2), Nemotron-NAS (DeciLM) and Gemma, and the published configurations of Qwen3.5, Kimi-K3,
Nemotron-3, MiMo-V2, DeepSeek-V3.2 and V4, GLM-5 and MiniMax-M3.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from designer.errors import ExchangeError
from designer.units import Flop, Ratio
from designer.workload.shape import LARGEST, ConvolutionalShape

#: words in lists of layers for each kind
_STATE_WORDS: Final = ("linear_attention", "mamba", "mamba2")
#: letters of the patterns of Nemotron-H
_LETTERS: Final = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}


@dataclass(frozen=True, slots=True)
class StateSizes:
    """Sizes of a layer that keeps a state.

    Parameters
    ----------
    inputs, outputs
        Columns of the product before the state, and rows of the one after it.
    values
        Of the state of one request.
    kept
        Inputs of its convolution that a request keeps.
    """

    inputs: int
    outputs: int
    values: int
    kept: int


@dataclass(frozen=True, slots=True)
class LayerKinds:
    """How many layers are of each kind; `layers` counts those that mix tokens.

    Parameters
    ----------
    state
        Keep a state in place of keys and values, of sizes `sizes`.
    idle, bare
        Without a mixer, and without a feed-forward part.
    windowed
        Attend to a window alone.
    experts
        Have experts; None where the list of layers does not say.
    notes
        What is assumed of them.
    """

    layers: int
    state: int = 0
    sizes: StateSizes | None = None
    idle: int = 0
    bare: int = 0
    windowed: int | None = None
    experts: int | None = None
    notes: tuple[str, ...] = ()


def _list(data: Mapping[str, object], *keys: str) -> list[Any] | None:
    for key in keys:
        found = data.get(key)
        if isinstance(found, list):
            return cast("list[Any]", found)
    return None


def _count(data: Mapping[str, object], key: str) -> int:
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= 10**8 else 0


def _gated_delta(data: Mapping[str, object]) -> StateSizes | None:
    """Gated delta rule of Qwen3-Next and Qwen3.5: queries, keys, values and a gate, and two gates of each head."""
    key = _count(data, "linear_num_key_heads") * _count(data, "linear_key_head_dim")
    heads, size = _count(data, "linear_num_value_heads"), _count(data, "linear_value_head_dim")
    if not key or not heads or not size:
        return None
    value, before = heads * size, max(0, _count(data, "linear_conv_kernel_dim") - 1)
    state = heads * size * _count(data, "linear_key_head_dim")
    return StateSizes(2 * key + 2 * value + 2 * heads, value, state, (2 * key + value) * before)


def _delta_attention(data: Mapping[str, object]) -> StateSizes | None:
    """Delta attention of Kimi: queries, keys, values and an output gate of one width, a decay through one head size."""
    heads, size = _count(data, "num_heads"), _count(data, "head_dim")
    if not heads or not size:
        return None
    width, before = heads * size, max(0, _count(data, "short_conv_kernel_size") - 1)
    return StateSizes(4 * width + size + heads, width, width * size, 3 * width * before)


def _mamba(data: Mapping[str, object]) -> StateSizes | None:
    """Mamba-2: the inner width twice, input and output of the state by groups, and a time step of each head."""
    heads, size, state = (_count(data, key) for key in ("mamba_num_heads", "mamba_head_dim", "ssm_state_size"))
    if not heads or not size or not state:
        return None
    inner, groups = heads * size, _count(data, "n_groups") * state
    before = max(0, (_count(data, "conv_kernel") or _count(data, "mamba_d_conv")) - 1)
    return StateSizes(2 * inner + 2 * groups + heads, inner, inner * state, (inner + 2 * groups) * before)


def _kinds_from_blocks(data: Mapping[str, object]) -> LayerKinds | None:
    """Nemotron-H: each block either mixes tokens or is a feed-forward part; both together make a layer here."""
    pattern = data.get("hybrid_override_pattern")
    kinds = (
        [_LETTERS.get(one, one) for one in pattern] if isinstance(pattern, str) else _list(data, "layers_block_type")
    )
    sizes = _mamba(data)
    if not kinds or sizes is None:
        return None
    count = Counter(str(kind) for kind in kinds)
    if set(count) - {"mamba", "attention", "mlp", "moe"}:
        return None
    mixers = count["mamba"] + count["attention"]
    parts = count["mlp"] + count["moe"]
    if not 0 < parts <= mixers or not count["attention"]:
        return None
    note = f"{count['mamba']} layers of Mamba-2 keep a state of fixed size, {count['attention']} attend"
    return LayerKinds(mixers, count["mamba"], sizes, 0, mixers - parts, None, count["moe"], (note,))


def _kinds_from_words(data: Mapping[str, object], layers: int) -> LayerKinds | None:
    """Lists of a word for each layer, and lists of layer numbers."""
    nested = data.get("linear_attn_config")
    if isinstance(nested, Mapping):
        inner = cast("Mapping[str, object]", nested)
        sizes, listed = _delta_attention(inner), _list(inner, "kda_layers")
        if sizes is None or listed is None or not 0 < len(listed) < layers:
            return None
        note = f"{len(listed)} of {layers} layers keep a state of fixed size (delta attention)"
        return LayerKinds(layers, len(listed), sizes, notes=(note,))
    sizes, kinds = _gated_delta(data), _list(data, "layer_types")
    every = _count(data, "full_attention_interval")
    if sizes is None or (kinds is None and every < 1):
        return None
    count = sum(kind in _STATE_WORDS for kind in kinds) if kinds is not None else layers - layers // every
    if not 0 < count < layers:
        return None
    note = f"{count} of {layers} layers keep a state of fixed size (gated delta rule)"
    return LayerKinds(layers, count, sizes, notes=(note,))


def layer_kinds(data: Mapping[str, object], layers: int) -> LayerKinds | None:
    """What a configuration says of its layers; None where it says nothing, or something that is not modelled.

    Parameters
    ----------
    layers
        Number that the configuration gives; 0 where it gives none.
    """
    blocks = _kinds_from_blocks(data)
    if blocks is not None:
        return blocks
    pattern = _list(data, "hybrid_layer_pattern")
    if pattern is not None and len(pattern) == layers and all(one in (0, 1) for one in pattern):
        return LayerKinds(layers, windowed=sum(pattern))
    return _kinds_from_words(data, layers)


@dataclass(frozen=True, slots=True)
class Searched:
    """Layers of a model that a search made of different sizes (Nemotron-NAS), as a model of even ones.

    Parameters
    ----------
    group
        Query heads that share a key-value head.
    width
        Mean inner width of the feed-forward parts there are.
    """

    idle: int
    bare: int
    group: int
    width: int
    note: str


def _layers(count: int) -> str:
    return "1 layer has" if count == 1 else f"{count} layers have"


def searched_layers(data: Mapping[str, object], hidden: int) -> Searched | None:
    """The layers of ``block_configs``; None where there are none, or others than are modelled."""
    blocks = _list(data, "block_configs")
    if not blocks:
        return None
    groups: list[int] = []
    widths: list[int] = []
    for block in blocks:
        if not isinstance(block, Mapping):
            return None
        attention, part = (cast("Mapping[str, Any]", block).get(key) for key in ("attention", "ffn"))
        if not isinstance(attention, Mapping) or not isinstance(part, Mapping):
            return None
        first, second = cast("Mapping[str, object]", attention), cast("Mapping[str, object]", part)
        if first.get("replace_with_linear") or second.get("replace_with_linear"):
            return None
        if not first.get("no_op"):
            groups.append(_count(first, "n_heads_in_group"))
        if not second.get("no_op"):
            times = second.get("ffn_mult")
            if not isinstance(times, int | float) or not 0 < times < 1000:
                return None
            # two thirds of a multiple of the width, up to a whole 256
            widths.append(-(-int(2 * times * hidden / 3) // 256) * 256)
    if not groups or not widths or 0 in groups:
        return None
    group = Counter(groups).most_common(1)[0][0]
    idle, bare = len(blocks) - len(groups), len(blocks) - len(widths)
    note = (
        f"{_layers(idle)} no attention, {_layers(bare)} no feed-forward part; "
        f"widths of {min(widths):,} to {max(widths):,} are taken for their mean"
    )
    return Searched(idle, bare, group, round(sum(widths) / len(widths)), note)


@dataclass(frozen=True, slots=True)
class Selection:
    """Attention to selected tokens: how many, and the heads and size of the keys they are selected by."""

    tokens: int
    heads: int
    size: int


def selection(data: Mapping[str, object]) -> Selection | None:
    """The selected tokens of DeepSeek-V3.2, GLM-5 and MiniMax-M3; None where all tokens are attended to."""
    tokens = _count(data, "index_topk")
    if tokens:
        return Selection(tokens, _count(data, "index_n_heads"), _count(data, "index_head_dim"))
    nested = data.get("sparse_attention_config")
    if not isinstance(nested, Mapping):
        return None
    inner = cast("Mapping[str, object]", nested)
    tokens = _count(inner, "sparse_topk_blocks") * _count(inner, "sparse_block_size")
    if not tokens or not inner.get("use_sparse_attention"):
        return None
    return Selection(tokens, _count(inner, "sparse_num_index_heads"), _count(inner, "sparse_index_dim"))


_KINDS: Final = ("convolution", "dense", "pool")
_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "convolution": frozenset({"convolution", "kernel", "stride", "groups", "side", "times"}),
    "dense": frozenset({"dense", "times"}),
    "pool": frozenset({"pool"}),
}
#: convolutions that algorithms with fewer operations exist for have this kernel and stride 1
_SPATIAL_KERNEL: Final = 3
#: layers and repetitions of one that are read
_LAYERS_LIMIT: Final = 10_000
_EXAMPLE: Final = '{"convolution": [64, 128], "kernel": 3, "stride": 2}, {"pool": 2} or {"dense": [2048, 1000]}'


@dataclass(slots=True)
class _Counter:
    """What the layers so far add up to; `height` and `width` are those of what the next one takes in."""

    height: int
    width: int
    layers: int = 0
    parameters: int = 0
    products: int = 0
    spatial: int = 0
    activations: int = 0
    at: str = field(default="layers")

    def add(self, layer: Mapping[str, object]) -> None:
        """Count one layer."""
        kind = next((one for one in _KINDS if one in layer), None)
        if kind is None:
            raise self.wrong("a layer of no known kind", f"write {_EXAMPLE}")
        if unknown := sorted(layer.keys() - _KEYS[kind]):
            raise self.wrong(f"{unknown[0][:40]!r} is nothing of a {kind} layer", f"use {', '.join(_KEYS[kind])}")
        if kind == "pool":
            self._shrink(self._number(layer, "pool", 1))
            return
        times = self._number(layer, "times", 1)
        if kind == "dense":
            inner, columns = self._pair(layer, "dense")
            self._count(times, inner * columns, columns, places=1)
            return
        inner, columns = self._pair(layer, "convolution")
        kernel, stride, groups = (self._number(layer, name, 1) for name in ("kernel", "stride", "groups"))
        if inner % groups or columns % groups:
            raise self.wrong(f"{inner} and {columns} channels do not divide by {groups} groups", "correct groups")
        if "side" in layer:
            self.height = self.width = self._number(layer, "side", 1)
        self._shrink(stride)
        places = self.height * self.width
        own = kernel * kernel * inner // groups * columns
        self._count(times, own, columns, places)
        if kernel == _SPATIAL_KERNEL and stride == 1:
            self.spatial += times * own * places

    def _count(self, times: int, own: int, columns: int, places: int) -> None:
        self.layers += times
        self.parameters += times * (own + columns)
        self.products += times * own * places
        self.activations += times * columns * places

    def _shrink(self, stride: int) -> None:
        self.height, self.width = math.ceil(self.height / stride), math.ceil(self.width / stride)

    def _number(self, layer: Mapping[str, object], name: str, default: int) -> int:
        value = layer.get(name, default)
        most = _LAYERS_LIMIT if name == "times" else LARGEST
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise self.wrong(f"{name} is {str(value)[:40]}", f"give a whole number from 1 to {most:,}")
        return value

    def _pair(self, layer: Mapping[str, object], name: str) -> tuple[int, int]:
        pair = layer[name]
        if not isinstance(pair, list) or len(cast("list[object]", pair)) != 2:
            raise self.wrong(f"{name} is {str(pair)[:40]}", "give what comes in and what goes out: [64, 128]")
        both = [self._number({name: one}, name, 1) for one in cast("list[object]", pair)]
        return both[0], both[1]

    def wrong(self, text: str, remedy: str) -> ExchangeError:
        """An error at the layer that is counted."""
        return ExchangeError(text, place=self.at, remedy=remedy)


def network_of_layers(data: Mapping[str, object], name: str = "") -> ConvolutionalShape:
    """The image network of a JSON object: ``name``, ``sample`` such as ``3x224x224``, and ``layers``.

    A convolution puts out side ÷ stride places; ``side`` states the side of what it takes in where that is not what the
    layer before it puts out, as in a branch; ``times`` repeats a layer. Arithmetic is places x kernel² x in ÷ groups x
    out multiply-adds; parameters have a bias for each channel that goes out.

    Raises
    ------
    ExchangeError
        If a layer is of no known kind, or one of its numbers is impossible; names the layer.
    """
    sample = str(data.get("sample", ""))
    sides = sample.split("x")
    if len(sides) != 3 or not all(one.isdigit() and len(one) < 6 and int(one) for one in sides):
        raise ExchangeError(
            f"sample is {sample[:40]!r}", place="sample", remedy="give channels, height and width: 3x224x224"
        )
    counted = _Counter(int(sides[1]), int(sides[2]))
    layers = cast("Sequence[object]", data["layers"])
    if not 1 <= len(layers) <= _LAYERS_LIMIT:
        raise counted.wrong(f"{len(layers)} layers", f"give 1 to {_LAYERS_LIMIT:,}")
    for place, layer in enumerate(layers):
        counted.at = f"layers[{place}]"
        if not isinstance(layer, dict):
            raise counted.wrong("a layer that is no object", f"write {_EXAMPLE}")
        counted.add(cast("Mapping[str, object]", layer))
    if not counted.layers:
        raise counted.wrong("nothing but pools", f"write {_EXAMPLE}")
    return ConvolutionalShape(
        name or str(data.get("name", "own network"))[:80],
        counted.layers,
        counted.parameters,
        Flop(2.0 * counted.products),
        counted.activations,
        sample,
        Ratio(counted.spatial / counted.products),
    )
