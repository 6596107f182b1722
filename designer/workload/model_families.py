"""What model architectures have that their ``config.json`` does not say: gates, biases, norms, tied embeddings."""

from __future__ import annotations

from typing import Final

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
