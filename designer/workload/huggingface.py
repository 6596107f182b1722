"""Reading a Hugging Face ``config.json``: whatever names an architecture uses, one model shape, or a clear refusal."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NoReturn, cast

from designer.errors import CatalogError, ExchangeError
from designer.plain_text import deeper_than
from designer.workload.layer_kinds import LayerKinds, layer_kinds, network_of_layers, searched_layers, selection
from designer.workload.model_families import (
    CLASSIC,
    ENCODERS,
    HEAD_NORMS,
    KNOWN,
    QKV_BIASES,
    TIED,
    WITHOUT_ATTENTION,
    WITHOUT_GATE,
    missing_mechanism,
)
from designer.workload.published_formats import UNSAID, PublishedFormat, published_format
from designer.workload.shape import LARGEST, ModelShape, TransformerShape
from designer.workload.text_files import read_file
from designer.workload.vision import tower_in

#: quantisation ignore-lists make real files of a few megabytes
LARGEST_FILE: Final = 32 * 2**20
DEEPEST: Final = 64
#: where ModelOpt writes how a checkpoint is quantised, in the folder of its config.json
QUANTIZATION_FILE: Final = "hf_quant_config.json"
#: folders that say nothing of the model in them
_ANYWHERE: Final = re.compile(
    r"\.*|checkpoints?|configs?|data|desktop|documents|downloads?|hf|home|main|models?|root|src|te?mp|weights|work",
    re.I,
)
#: revisions: whole hashes, or begins of them, which are hardly ever of letters alone; and dates and other numbers
_HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}|(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,63}|[0-9]+")


@dataclass(frozen=True, slots=True)
class ConfigResult:
    """What a configuration file says.

    Parameters
    ----------
    shape
        The model.
    number_format
        ``torch_dtype`` of the file, empty if it names none.
    quantization
        Method of its quantisation, empty if there is none.
    context_length
        Longest sequence, 0 if unknown.
    assumptions
        What was not in the file and had to be taken for granted.
    published
        What its checkpoint is stored in.
    """

    shape: ModelShape
    number_format: str
    quantization: str
    context_length: int
    assumptions: tuple[str, ...]
    published: PublishedFormat = UNSAID


@dataclass(frozen=True, slots=True)
class _Experts:
    count: int = 0
    per_token: int = 0
    width: int = 0
    shared: int = 0
    shared_width: int = 0
    layers: int = 0


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:60]!r} appears twice")
        found[key] = value
    return found


def parse_config(text: str, name: str = "", quantization: Mapping[str, object] | None = None) -> ConfigResult:
    """The model a ``config.json`` describes, or an image network that lists its ``layers``.

    Parameters
    ----------
    text
        Content of the file; any line ends, with or without a byte-order mark.
    name
        What to call the model; empty for what the file says, or its architecture and size.
    quantization
        What ``hf_quant_config.json`` in the same folder says, for a file that says nothing itself.

    Raises
    ------
    ExchangeError
        If it is no JSON object, or lacks a dimension, or one is impossible; names the key and what to do.
    """
    if len(text) > LARGEST_FILE:
        raise ExchangeError(f"{len(text)} characters are too many for a model configuration", remedy="give config.json")
    data = _object(text)
    try:
        if isinstance(data.get("layers"), list):
            return ConfigResult(network_of_layers(data, name), "", "", 0, ())
        return _Reader(data, name, quantization).read()
    except CatalogError as error:
        raise ExchangeError(error.text, place=error.place, remedy=error.remedy) from None


def _object(text: str) -> dict[str, object]:
    """The object in a JSON text of bounded depth."""
    if deeper_than(DEEPEST, text) is not None:
        raise ExchangeError(f"nested deeper than {DEEPEST} levels", remedy="give the config.json of a model")
    try:
        # Infinity and NaN occur in real files, as limits of time steps; as a dimension of the model they are refused.
        data: object = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise ExchangeError(
            f"not JSON: {error.msg}", place=f"line {error.lineno}, column {error.colno}", remedy="give a config.json"
        ) from None
    except (ValueError, RecursionError) as error:
        raise ExchangeError(f"not JSON: {error}", remedy="give the config.json of a model") from None
    if not isinstance(data, dict):
        raise ExchangeError(
            f"the file holds a {type(data).__name__}, not an object", remedy="give the config.json of a model"
        )
    return cast("dict[str, object]", data)


def _quantization_file(path: Path) -> Mapping[str, object] | None:
    """What ``hf_quant_config.json`` in the folder of a configuration says; None without one."""
    other = path.with_name(QUANTIZATION_FILE)
    if not other.is_file():
        return None
    remedy = f"give {QUANTIZATION_FILE} as ModelOpt writes it, or take it away"
    stated = read_file(other, _object, "a quantisation", largest=LARGEST_FILE, missing=remedy, too_large=remedy)
    found = stated.get("quantization")
    if not isinstance(found, dict):
        raise ExchangeError("it has no object quantization", file=other.name, remedy=remedy)
    producer = stated.get("producer")
    named = cast("dict[str, object]", producer).get("name") if isinstance(producer, dict) else None
    return {"quant_method": named if isinstance(named, str) else "modelopt", **cast("dict[str, object]", found)}


def read_config(path: Path) -> ConfigResult:
    """The model of a ``config.json`` file, and how the checkpoint in its folder is quantised; errors name the file.

    Raises
    ------
    ExchangeError
        If it cannot be read or describes no transformer.
    """
    return read_file(
        path,
        lambda text: parse_config(text, named_by(path), _quantization_file(path)),
        "a model configuration",
        largest=LARGEST_FILE,
        missing="give the path of a config.json",
        too_large="give config.json",
    )


def named_by(path: Path) -> str:
    """What the place of a configuration calls its model; empty where it says nothing.

    >>> named_by(Path("models--meta-llama--Llama-3.1-70B/snapshots/349b2ddb53ce8f2849a6/config.json"))
    'Llama-3.1-70B'
    >>> named_by(Path("Qwen3-32B/config.json")), named_by(Path("downloads/config.json"))
    ('Qwen3-32B', '')
    """
    if path.stem != "config":
        return path.stem
    for folder in path.parts[:-1]:
        if folder.startswith("models--"):
            return folder.rpartition("--")[2]
    return path.parent.name if _calls(path.parent.name) else ""


def _calls(text: str) -> bool:
    """True of what may be the name of a model: no hash, and no folder that everybody has."""
    return _ANYWHERE.fullmatch(text) is None and _HASH.fullmatch(text) is None


def count_in_words(parameters: float) -> str:
    """How many parameters, as names of models have it."""
    return f"{parameters / 1e9:.3g}B" if parameters >= 1e9 else f"{parameters / 1e6:.3g}M"


class _Reader:
    """One configuration, read key by key."""

    def __init__(self, data: Mapping[str, object], name: str, quantization: Mapping[str, object] | None) -> None:
        self.outer = data
        self.quantization_file = quantization
        self.where = ""
        inner = data
        for key in ("text_config", "llm_config", "language_config", "thinker_config"):
            nested = inner.get(key)
            if isinstance(nested, dict):
                inner, self.where = cast("dict[str, object]", nested), f"{self.where}{key}."
        self.data = inner
        self.family = self._text("model_type") or str(data.get("model_type") or "unknown")
        self.family = self.family.removesuffix("_text").lower()
        stated = str(data.get("_name_or_path") or "").replace("\\", "/")
        given = name or named_by(Path(stated) / "config.json")
        #: empty for one that nothing names
        self.name = " ".join(given.split())[:80]
        self.assumptions: list[str] = []

    def _fail(self, key: str, text: str, remedy: str) -> NoReturn:
        raise ExchangeError(text, place=f"{self.where}{key}", remedy=remedy)

    def _text(self, key: str) -> str:
        value = self.data.get(key)
        return value if isinstance(value, str) else ""

    def number(self, *keys: str, least: int = 1) -> int | None:
        """The first of `keys` that has a value; None if all are absent or null."""
        for key in keys:
            value = self.data.get(key)
            if value is None:
                continue
            if isinstance(value, list):
                text = "a value for each layer: layers of different sizes are not modelled"
                self._fail(key, text, "enter a transformer of the same size by hand")
            if isinstance(value, bool) or not isinstance(value, int | float):
                self._fail(key, f"{str(value)[:40]!r} is not a number", "give a whole number")
            if isinstance(value, float) and not (math.isfinite(value) and value.is_integer()):
                self._fail(key, f"{json.dumps(value)} is not a whole number", "give a whole number")
            whole = int(value)
            if not least <= whole <= LARGEST:
                self._fail(key, f"{str(whole)[:40]} is outside {least} to {LARGEST}", "give the size of a real model")
            return whole
        return None

    def need(self, what: str, *keys: str) -> int:
        """A number that must be there."""
        value = self.number(*keys)
        if value is None:
            self._fail(
                keys[0],
                f"no {what}: none of {', '.join(keys)} is given (model_type {self.family[:40]!r})",
                "give the config.json of a transformer, or enter the model by hand",
            )
        return value

    def flag(self, key: str, default: bool) -> bool:
        """A truth value of the inner or outer object; anything else than a truth value counts as absent."""
        for source in (self.data, self.outer):
            value = source.get(key)
            if isinstance(value, bool):
                return value
        return default

    def read(self) -> ConfigResult:
        """The model."""
        self._refuse_others()
        kinds = self._kinds()
        layers = kinds.layers
        hidden = self.need("width", "hidden_size", "n_embd", "d_model", "dim")
        heads = self.need("number of attention heads", "num_attention_heads", "n_head", "n_heads")
        searched = searched_layers(self.data, hidden)
        kv_heads = heads // searched.group if searched and heads % searched.group == 0 else self._kv_heads(heads)
        experts = self._experts(layers, kinds.experts)
        q_rank, kv_rank, rope, head_dim, value_dim = self._latent(hidden, heads)
        window, windowed = self._window(kinds)
        gated = self.family not in WITHOUT_GATE
        classic = self.family in CLASSIC
        shape = TransformerShape(
            name=self.name or ("model" if self.family == "unknown" else " ".join(self.family.split())[:40]),
            layers=layers,
            hidden=hidden,
            heads=heads,
            kv_heads=heads if kv_rank else kv_heads,
            head_dim=head_dim,
            value_head_dim=value_dim,
            ffn=searched.width if searched else self._dense_width(hidden, experts),
            vocabulary=self.need("vocabulary", "vocab_size", "padded_vocab_size"),
            gated=gated,
            tied=self.flag("tie_word_embeddings", self.family in TIED),
            context=self._context(),
            positions=(self.number("n_positions", "max_position_embeddings") or 0) if classic else 0,
            segments=(self.number("type_vocab_size", least=0) or 0) if self.family in ENCODERS else 0,
            experts=experts.count,
            experts_per_token=experts.per_token,
            expert_ffn=experts.width,
            shared_experts=experts.shared,
            shared_ffn=experts.shared_width,
            moe_layers=experts.layers,
            token_groups=self._token_groups() if experts.count else 0,
            q_rank=q_rank,
            kv_rank=kv_rank,
            rope_dim=rope,
            causal=self.family not in ENCODERS,
            window=window,
            windowed_layers=windowed,
            biases=classic or self.family in ("gpt_neox", "bloom", "falcon"),
            qkv_biases=self.flag("attention_bias", self.flag("qkv_bias", self.family in QKV_BIASES)),
            norm_vectors=2 if self.family in WITHOUT_GATE else 1,
            head_norms=self.flag("use_qk_norm", self.family in HEAD_NORMS),
            state_layers=kinds.state,
            state_inputs=kinds.sizes.inputs if kinds.sizes else 0,
            state_outputs=kinds.sizes.outputs if kinds.sizes else 0,
            state_values=kinds.sizes.values if kinds.sizes else 0,
            state_kept=kinds.sizes.kept if kinds.sizes else 0,
            idle_layers=searched.idle if searched else kinds.idle,
            bare_layers=searched.bare if searched else kinds.bare,
            expert_hidden=self.number("moe_latent_size", "routed_expert_hidden_size", least=0) or 0,
            drafting_layers=self._drafting(),
            vision=tower_in(self.outer, hidden),
            attention_gate=self.flag("attn_output_gate", False) or self.flag("mla_use_output_gate", False),
        )
        self.assumptions += [*kinds.notes, *([searched.note] if searched else [])]
        shape = self._sizes_of_windows(self._with_compression(self._with_selected_tokens(shape)))
        if not self.name:
            shape = replace(shape, name=f"{shape.name} {count_in_words(float(shape.parameters))}")
        self._left_out()
        if self.family not in KNOWN:
            self.assumptions.append(f"model_type {self.family[:40]!r} is not known: read as a gated decoder")
        dtype = self._number_format()
        published = published_format(self._quantization_format(), dtype, layers, experts.count > 0)
        return ConfigResult(shape, dtype, self._quantization(), self._context(), tuple(self.assumptions), published)

    def _refuse_others(self) -> None:
        heads = any(self.data.get(key) is not None for key in ("num_attention_heads", "n_head", "n_heads"))
        if not heads and any(word in self.family for word in WITHOUT_ATTENTION):
            self._fail(
                "model_type",
                f"{self.family!r} is an architecture without attention, which is not modelled",
                "enter a transformer of the same size by hand",
            )
        found = missing_mechanism(self.data, self.family)
        if found is not None and not self._is_read(found[0]):
            key, mechanism = found
            self._fail(
                key,
                f"{self.family[:40]!r} has {mechanism}, which are not modelled",
                "enter a transformer of the same size by hand",
            )
        if self.number("num_hidden_layers", "n_layer", "n_layers", "num_layers") is None and "d_model" in self.data:
            encoder, decoder = self.number("encoder_layers"), self.number("decoder_layers")
            if encoder or decoder:
                text = "layers of cross-attention between an encoder and a decoder are not modelled"
                self._fail("encoder_layers", text, "give a decoder or an encoder")

    def _is_read(self, key: str) -> bool:
        """True if layers of the kind that a key shows are read."""
        if key == "block_configs":
            return searched_layers(self.data, self.number("hidden_size") or 0) is not None
        return self._listed_layers() is not None

    def _listed_layers(self) -> LayerKinds | None:
        count = self.number("num_hidden_layers", "n_layer", "n_layers", "num_layers") or 0
        return layer_kinds(self.data, count)

    def _kinds(self) -> LayerKinds:
        """Layers by kind: as they are listed, else all equal."""
        stated = self._listed_layers()
        if stated is not None:
            return stated
        return LayerKinds(self.need("number of layers", "num_hidden_layers", "n_layer", "n_layers", "num_layers"))

    def _with_selected_tokens(self, shape: TransformerShape) -> TransformerShape:
        """The same with the tokens that its attention selects."""
        found = selection(self.data)
        if found is None:
            return shape
        self.assumptions.append(
            f"each token attends to {found.tokens:,} selected tokens, in every layer that attends: "
            "shorter contexts are read as if they had as many"
        )
        return replace(shape, selected_tokens=found.tokens, index_heads=found.heads, index_dim=found.size)

    def _with_compression(self, shape: TransformerShape) -> TransformerShape:
        """The same with keys and values of several tokens in one entry (DeepSeek-V4), as the mean over its layers."""
        listed = self.data.get("compress_ratios")
        if not isinstance(listed, list):
            return shape
        ratios = [one for one in cast("list[object]", listed) if isinstance(one, int)][: shape.layers]
        kept = [one for one in ratios if one > 0]
        if len(ratios) != shape.layers or not kept:
            return shape
        few, selecting = min(kept), sum(one == min(kept) for one in kept)
        self.assumptions.append(
            f"{len(kept)} layers keep one entry for {few} to {max(kept)} tokens: taken as the mean over them, each "
            f"with a share of the selection that {selecting} have"
        )
        return replace(
            shape,
            cached_values=max(1, round(sum(shape.head_dim / one for one in kept) / len(kept))),
            selected_tokens=max(1, round(shape.selected_tokens * few * selecting / len(kept))),
            index_dim=max(1, round(shape.index_dim / few * selecting / len(kept))),
            windowed_layers=len(ratios) - len(kept),
            windowed_values=shape.head_dim,
            q_rank=self.number("q_lora_rank", least=0) or 0,
            out_rank=self.number("o_lora_rank", least=0) or 0,
            out_groups=self.number("o_groups", least=0) or 0,
        )

    def _sizes_of_windows(self, shape: TransformerShape) -> TransformerShape:
        """The same where layers with a window have heads of other sizes than those without."""
        heads, kv_heads = self.number("swa_num_attention_heads"), self.number("swa_num_key_value_heads")
        size, value = self.number("swa_head_dim"), self.number("swa_v_head_dim")
        whole = shape
        if self.number("global_head_dim"):
            # here the sizes that are named without a word are those of windows
            heads, kv_heads, size, value = shape.heads, shape.kv_heads, shape.head_dim, shape.value_head_dim
            of_all = self.number("global_head_dim") or size
            whole = replace(
                shape,
                head_dim=of_all,
                value_head_dim=of_all,
                kv_heads=self.number("num_global_key_value_heads") or kv_heads,
            )
        elif not heads or not kv_heads or not size:
            return replace(shape, value_head_dim=self.number("v_head_dim") or shape.value_head_dim) if heads else shape
        else:
            whole = replace(shape, value_head_dim=self.number("v_head_dim") or shape.value_head_dim)
        if not shape.windowed_layers:
            return whole
        value = value or size
        window = replace(whole, heads=heads, kv_heads=kv_heads, head_dim=size, value_head_dim=value)
        text = f"{shape.windowed_layers} layers with a window have heads of their own size, in time by their parameters"
        self.assumptions.append(text)
        return replace(
            whole, windowed_values=kv_heads * (size + value), windowed_parameters=window.attention_parameters
        )

    def _drafting(self) -> int:
        names = "num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "num_mtp_layers"
        return self.number(*names, least=0) or 0

    def _left_out(self) -> None:
        """Say what of the model is left out: layers that draft, and towers that see or hear."""
        drafting = self._drafting()
        if drafting:
            layers = f"{drafting} layers that draft" if drafting > 1 else "a layer that drafts"
            self.assumptions.append(f"{layers} tokens: in memory and in steps where drafts are asked for")
        for key, what in (("vision_config", "sees"), ("audio_config", "hears")):
            tower = self.outer.get(key)
            if what == "sees" and tower_in(self.outer, 1) is not None:
                text = "in memory, and where images are asked for in prompts and time, without embeddings of positions"
                self.assumptions.append(f"the part that sees (vision_config): {text}")
            elif isinstance(tower, dict) and tower:
                self.assumptions.append(f"the part that {what} ({key}) is left out: requests are of text")

    def _kv_heads(self, heads: int) -> int:
        given = self.number("num_key_value_heads", "num_kv_heads", "n_kv_heads", "multi_query_group_num")
        if given is None:
            return 1 if self.flag("multi_query", False) else heads
        if heads % given:
            self._fail(
                "num_key_value_heads",
                f"{heads} attention heads do not share {given} key-value heads evenly",
                "give a divisor of the number of attention heads",
            )
        return given

    def _latent(self, hidden: int, heads: int) -> tuple[int, int, int, int, int]:
        kv_rank = self.number("kv_lora_rank") or 0
        if kv_rank:
            plain = self.need("head size", "qk_nope_head_dim")
            rope = self.need("rotated head size", "qk_rope_head_dim")
            return (
                self.number("q_lora_rank", least=0) or 0,
                kv_rank,
                rope,
                plain + rope,
                self.need("value head size", "v_head_dim"),
            )
        size = self.number("head_dim", "kv_channels", "attention_head_dim")
        if size is None:
            if hidden % heads:
                self._fail(
                    "head_dim",
                    f"a width of {hidden} does not divide over {heads} heads and no head_dim is given",
                    "give head_dim",
                )
            size = hidden // heads
        return 0, 0, 0, size, size

    def _experts(self, layers: int, listed: int | None) -> _Experts:
        count = self.number("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", least=0) or 0
        if count <= 1:
            return _Experts()
        keys = ("num_experts_per_tok", "experts_per_token", "moe_topk", "num_experts_per_token", "moe_top_k")
        per_token = self.number(*keys, "top_k_experts")
        if per_token is None:
            self.assumptions.append("experts per token are not given: 2 taken")
            per_token = min(2, count)
        width = self.number("moe_intermediate_size", "moe_ffn_hidden_size", "intermediate_size", "ffn_hidden_size")
        if width is None:
            self._fail("moe_intermediate_size", "a model with experts needs their inner width", "give it")
        shared = self.number("n_shared_experts", "num_shared_experts", least=0) or 0
        shared_width = (
            self.number("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", least=0)
            or shared * width
        )
        if self.family == "llama4":
            shared, shared_width = 1, width
        if self.flag("enable_moe_block", False):
            # a dense feed-forward part next to the experts of each layer
            shared, shared_width = 1, self.number("intermediate_size") or width
        return _Experts(
            count, per_token, width, shared, shared_width, self._moe_layers(layers) if listed is None else listed
        )

    def _token_groups(self) -> int:
        """Groups that the experts of a token are taken from; 0 where there is one group."""
        groups = self.number("n_group", least=0) or 0
        return (self.number("topk_group", least=0) or 0) if groups > 1 else 0

    def _moe_layers(self, layers: int) -> int:
        dense = self.data.get("mlp_only_layers")
        listed = len(cast("list[object]", dense)) if isinstance(dense, list) else 0
        first = self.number("first_k_dense_replace", least=0) or 0
        each = self.data.get("moe_layer_freq")
        if isinstance(each, list):
            # 1 for each layer with experts, 0 for each without
            flags = cast("list[object]", each)
            if len(flags) != layers or any(isinstance(one, bool) or one not in (0, 1) for one in flags):
                text = f"a list of {len(flags)} values for {layers} layers, or of other values than 0 and 1"
                self._fail("moe_layer_freq", text, "give 0 or 1 for each layer")
            return sum(one == 1 for one in flags)
        step = (
            self.number("interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_freq", "expert_layer_period")
            or 1
        )
        return max(0, math.ceil((layers - first) / step) - listed)

    def _dense_width(self, hidden: int, experts: _Experts) -> int:
        if self.family == "llama4":
            return self.number("intermediate_size_mlp", "intermediate_size") or 0
        keys = ("dense_intermediate_size", "intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", "d_ff")
        width = self.number(*keys)
        if width is not None:
            return width
        nested = self.data.get("ffn_config")
        ratio = self.number("expansion_ratio")
        if ratio is None and isinstance(nested, dict):
            inner = cast("dict[str, object]", nested).get("ffn_hidden_size")
            if isinstance(inner, int) and not isinstance(inner, bool):
                return inner
        if not experts.count and self.family not in WITHOUT_GATE:
            self.assumptions.append("no feed-forward width is given: 4 times the width taken")
        return (ratio or 4) * hidden

    def _window(self, stated: LayerKinds) -> tuple[int, int]:
        layers = stated.layers - stated.state
        window = self.number("sliding_window", "attention_chunk_size", least=0) or 0
        if not window or not self.flag("use_sliding_window", True):
            return 0, 0
        if stated.windowed is not None:
            return window, stated.windowed
        if self.data.get("compress_ratios"):
            # what a window is next to compressed keys and values is said with them
            return window, 0
        kinds = self.data.get("layer_types")
        if isinstance(kinds, list):
            sliding = sum("sliding" in str(kind) or "chunked" in str(kind) for kind in cast("list[object]", kinds))
            return window, min(sliding, layers)
        if self.family == "llama4":
            return window, layers - layers // 4
        pattern = self.number("sliding_window_pattern")
        return window, layers - layers // pattern if pattern else layers

    def _number_format(self) -> str:
        for source in (self.data, self.outer):
            for key in ("torch_dtype", "dtype"):
                value = source.get(key)
                if isinstance(value, str):
                    return value.removeprefix("torch.")[:20]
        return ""

    def _quantization_format(self) -> object:
        return self.outer.get("quantization_config") or self.data.get("quantization_config") or self.quantization_file

    def _quantization(self) -> str:
        value = self._quantization_format()
        if isinstance(value, dict):
            method = cast("dict[str, object]", value).get("quant_method") or "unknown"
            return str(method)[:40]
        return ""

    def _context(self) -> int:
        return self.number("max_position_embeddings", "n_positions", "max_seq_len", "seq_length") or 0
