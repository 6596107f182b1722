"""What model architectures have that their ``config.json`` does not say: gates, biases, norms, tied embeddings.

Mechanisms that layers of today's models have and that are not modelled, by the keys of ``config.json`` for them.

Sources: the configuration classes of huggingface/transformers 4.57, and the public ``config.json`` of Qwen3-Next,
Kimi-Linear, MiniMax-Text-01, Nemotron-H, Jamba, Zamba2, Falcon-H1, RecurrentGemma, MiMo-V2 and DeciLM.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

#: architectures whose feed-forward layers have no gate
WITHOUT_GATE: Final = {
    "bert",
    "bloom",
    "codegen",
    "distilbert",
    "electra",
    "falcon",
    "gpt2",
    "gpt_bigcode",
    "gpt_neo",
    "gpt_neox",
    "gptj",
    "mpt",
    "nemotron",
    "nemotron_h",
    "opt",
    "phi",
    "roberta",
    "starcoder2",
    "xlm-roberta",
}
#: what names of layers that attend, or route to experts, hold
LAYER_WORDS: Final = ("attention", "full", "sliding", "chunked", "global", "local", "dense", "sparse", "moe")
#: architectures that look both ways
ENCODERS: Final = {"bert", "distilbert", "electra", "roberta", "xlm-roberta"}
#: architectures with learned positions, biases on every product and norms of two vectors
CLASSIC: Final = {"bert", "codegen", "gpt2", "gpt_bigcode", "opt", "roberta"}
#: architectures that share input and output embeddings unless the file says otherwise
TIED: Final = ENCODERS | {
    "bloom",
    "gemma",
    "gemma2",
    "gemma3",
    "gemma4",
    "gpt2",
    "gpt_bigcode",
    "gpt_neo",
    "mpt",
    "opt",
}
#: architectures whose queries, keys and values have biases unless the file says otherwise
QKV_BIASES: Final = {"qwen2", "qwen2_moe", "glm4"}
#: architectures that normalise every head
HEAD_NORMS: Final = {
    "gemma3",
    "gemma4",
    "olmo2",
    "qwen3",
    "qwen3_5",
    "qwen3_5_moe",
    "qwen3_moe",
    "qwen3_next",
    "qwen3_vl",
    "qwen3_vl_moe",
}
#: words in the names of architectures that have state-space or recurrent layers only
WITHOUT_ATTENTION: Final = ("mamba", "rwkv", "xlstm", "retnet", "recurrent", "hyena")
#: architectures that are read as what they are
KNOWN: Final = (
    WITHOUT_GATE
    | QKV_BIASES
    | HEAD_NORMS
    | {
        "cohere",
        "deepseek",
        "deepseek_v2",
        "deepseek_v3",
        "gemma",
        "gemma2",
        "gpt_oss",
        "granite",
        "grok",
        "internlm2",
        "llama",
        "llama4",
        "minimax",
        "mistral",
        "mistral3",
        "mixtral",
        "phi3",
        "phimoe",
        "stablelm",
        "yi",
        "deepseek_v32",
        "deepseek_v4",
        "glm_moe_dsa",
        "kimi_k2",
        "kimi_linear",
        "mimo",
        "mimo_v2_flash",
        "minimax_m2",
        "minimax_m3",
        "minimax_m3_vl",
        "nemotron-nas",
        "step3p7",
        "glm4_moe",
    }
)

_STATE_SPACE: Final = "state-space layers (Mamba) with attention"
_LINEAR: Final = "layers of linear attention"
_RECURRENT: Final = "layers of gated linear recurrence with attention"
#: keys that represent a mechanism wherever they have a value
_KEYS: Final = (
    ("linear_attn_config", _LINEAR),
    ("linear_num_key_heads", _LINEAR),
    ("mamba_d_ssm", _STATE_SPACE),
    ("mamba_d_state", _STATE_SPACE),
    ("mamba_num_heads", _STATE_SPACE),
    ("ssm_state_size", _STATE_SPACE),
    ("lru_width", _RECURRENT),
    ("block_configs", "layers of different sizes"),
    ("hybrid_layer_pattern", "layers of sliding-window attention with sizes of their own"),
    ("cross_attention_layers", "layers of cross-attention to images"),
)
#: keys that list a word for each layer
_LISTS: Final = ("layer_types", "layers_block_type", "block_types")
_WORDS: Final = (
    ("mamba", _STATE_SPACE),
    ("ssm", _STATE_SPACE),
    ("linear", _LINEAR),
    ("lightning", _LINEAR),
    ("delta", _LINEAR),
    ("recurrent", _RECURRENT),
    ("conv", "convolution layers with attention"),
    ("rwkv", "recurrent layers (RWKV) with attention"),
)


def missing_mechanism(data: Mapping[str, object], family: str) -> tuple[str, str] | None:
    """The key that shows a mechanism which is not modelled, and what it is, in the plural; None where there is none."""
    for key in _LISTS:
        listed = data.get(key)
        kinds = sorted({str(kind)[:40] for kind in cast("list[object]", listed)}) if isinstance(listed, list) else []
        for word, mechanism in _WORDS:
            if any(word in kind for kind in kinds):
                return key, mechanism
        unknown = [kind for kind in kinds if not any(word in kind for word in LAYER_WORDS)]
        if unknown:
            return key, f"layers of an unknown type ({', '.join(unknown[:2])})"
    pattern = data.get("hybrid_override_pattern")
    if isinstance(pattern, str) and "M" in pattern:
        return "hybrid_override_pattern", _STATE_SPACE
    # 0 for each layer of lightning attention, 1 for each of softmax attention
    types = data.get("attn_type_list")
    if isinstance(types, list) and 0 in cast("list[object]", types):
        return "attn_type_list", _LINEAR
    for key, mechanism in _KEYS:
        if data.get(key):
            return key, mechanism
    return ("model_type", _STATE_SPACE) if "mamba" in family or family == "jamba" else None
