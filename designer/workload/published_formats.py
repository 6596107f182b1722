"""The number format a model's checkpoint is published in: what engines serve it in where nobody asks for another.

vLLM and SGLang take the method of ``quantization_config`` and, without one, the type of ``torch_dtype``: "auto will use
FP16 precision for FP32 and FP16 models, and BF16 precision for BF16 models" (their engine arguments). Methods are
those of the Hugging Face quantisation guide. Checkpoints of NVIDIA ModelOpt name an algorithm, for all layers or for
each, and the modules they leave as they were (NVIDIA/Model-Optimizer, ``modelopt/torch/export``, 2025).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, cast

#: formats by the type of a checkpoint that is not quantised
_TYPES: Final = MappingProxyType(
    {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp16", "float8_e4m3fn": "fp8"}
)
#: formats of methods that know only one
_METHODS: Final = MappingProxyType({"fp8": "fp8", "fbgemm_fp8": "fp8", "mxfp4": "mxfp4"})
#: what modelopt calls its formats, by what weights are stored in
_ALGORITHMS: Final = MappingProxyType(
    {
        "FP8": "fp8",
        "FP8_PB_WO": "fp8",
        "FP8_PB_REAL": "fp8",
        "FP8_PER_CHANNEL_PER_TOKEN": "fp8",
        "NVFP4": "nvfp4",
        "NVFP4_AWQ": "nvfp4",
        "NVFP4_SVDQUANT": "nvfp4",
        "W4A16_NVFP4": "nvfp4",
        "W4A8_NVFP4_FP8": "nvfp4",
        "MXFP4": "mxfp4",
        "W4A8_MXFP4_FP8": "mxfp4",
        "W4A16_AWQ": "int4",
        "W4A8_AWQ": "int4",
        "W8A16": "int8",
        "W8A8_SQ_PER_CHANNEL": "int8",
    }
)
#: formats whose experts alone are stored so, by the format of the experts and that of all other layers
_EXPERTS: Final = MappingProxyType(
    {("nvfp4", "bf16"): "nvfp4-experts", ("nvfp4", "fp8"): "nvfp4-experts-fp8", ("fp8", "bf16"): "fp8-experts"}
)
#: a module of attention in a list of those left out: its layer, and one projection or all of them
_ATTENTION: Final = re.compile(
    r"(?:.*layers\.(?P<layer>\d{1,5}|\*)\.|\*?\.?)self_attn(?:\.(?P<one>[a-z0-9_]+)(?:\*|$)|\.?\*|$)"
)
#: projections of a layer that have to be left out before its attention counts as left out
_PROJECTIONS: Final = 4
_MIXED: Final = "MIXED_PRECISION"
_INTEGERS: Final = MappingProxyType({4: "int4", 8: "int8"})


class PublishedFormat(NamedTuple):
    """What a configuration says of the numbers of its checkpoint.

    Parameters
    ----------
    name
        Format to serve it in; empty where nothing is said, or nothing that is known.
    said
        What says so, in words.
    source
        Of a shipped model, where that is kept.
    """

    name: str = ""
    said: str = ""
    source: str = ""


#: of a model that says nothing
UNSAID: Final = PublishedFormat()


def published_format(quantization: object, dtype: str, layers: int = 0, experts: bool = False) -> PublishedFormat:
    """The format of a checkpoint.

    Parameters
    ----------
    quantization
        ``quantization_config`` of its configuration, None without one.
    dtype
        Its ``torch_dtype``, empty without one.
    layers
        Layers of the model, 0 where they are not known.
    experts
        True if the model routes tokens to experts, which alone may be quantised.

    >>> published_format({"quant_method": "gptq", "bits": 4}, "float16")
    PublishedFormat(name='int4', said='quant_method gptq, 4 bit', source='')
    >>> published_format(None, "bfloat16").name
    'bf16'
    """
    if quantization and not isinstance(quantization, dict):
        return PublishedFormat("", f"quantization_config {str(quantization)[:40]!r}")
    if not quantization:
        return PublishedFormat(_TYPES.get(dtype, ""), f"torch_dtype {dtype}" if dtype else "")
    config = cast("dict[str, object]", quantization)
    method = str(config.get("quant_method") or "unknown")[:40]
    name, detail = _read_format(method, config)
    said = f"quant_method {method}{detail}"
    experts_ = _EXPERTS.get((name, "bf16"))
    if experts and experts_ and _attention_left_out(config, layers):
        return PublishedFormat(experts_, f"{said}, attention left out")
    if not experts and name in _EXPERTS.values():
        name = name.partition("-")[0]
    return PublishedFormat(name, said)


def _read_format(method: str, config: Mapping[str, object]) -> tuple[str, str]:
    """Format and what else was looked at."""
    if method in ("gptq", "awq", "auto-round", "intel/auto-round"):
        bits = config.get("bits", config.get("w_bit", 4 if method == "awq" else None))
        return _integer(bits)
    if method == "bitsandbytes":
        return _integer(8 if config.get("load_in_8bit") else 4 if config.get("load_in_4bit") else None)
    if method in ("modelopt", "modelopt_fp4"):
        stated = str(config.get("quant_algo") or ("NVFP4" if method == "modelopt_fp4" else ""))[:40].upper()
        if stated == _MIXED:
            return _mixed_format(config)
        return _ALGORITHMS.get(stated, ""), f", {stated}" if stated else ""
    if method == "compressed-tensors":
        return _compressed_tensors_format(config)
    return _METHODS.get(method, ""), ""


def _integer(bits: object) -> tuple[str, str]:
    if not isinstance(bits, int) or isinstance(bits, bool):
        return "", ""
    return _INTEGERS.get(bits, ""), f", {bits} bit"


def _mixed_format(config: Mapping[str, object]) -> tuple[str, str]:
    """Of a checkpoint whose layers differ: one format where all agree, else that of the experts and of the others."""
    listed = config.get("quantized_layers")
    inside: set[str] = set()
    outside: set[str] = set()
    for module, stated in cast("dict[str, object]", listed).items() if isinstance(listed, dict) else ():
        algorithm = cast("dict[str, object]", stated).get("quant_algo") if isinstance(stated, dict) else None
        name = _ALGORITHMS.get(str(algorithm)[:40].upper(), "")
        (inside if "experts" in module and "shared_expert" not in module else outside).add(name)
    found = inside | outside
    if len(found) == 1:
        return found.pop(), f", {_MIXED}"
    detail = f", {_MIXED} of {', '.join(sorted(found)) or 'no listed layers'}"
    if len(inside) != 1 or len(outside) != 1:
        return "", detail
    return _EXPERTS.get((inside.pop(), outside.pop()), ""), detail


def _attention_left_out(config: Mapping[str, object], layers: int) -> bool:
    """True if the modules that are not quantised hold the attention of most layers."""
    listed = config.get("exclude_modules") or config.get("ignore") or config.get("modules_to_not_convert")
    whole: set[str] = set()
    single: dict[str, set[str]] = {}
    for module in cast("list[object]", listed) if isinstance(listed, list) else ():
        found = _ATTENTION.match(_glob(str(module)[:300]))
        if found is None:
            continue
        layer = found["layer"] or "*"
        if found["one"] is None:
            whole.add(layer)
        else:
            single.setdefault(layer, set()).add(found["one"])
    whole |= {layer for layer, projections in single.items() if len(projections) >= _PROJECTIONS}
    return "*" in whole or (layers > 0 and 2 * len(whole) > layers)


def _glob(module: str) -> str:
    """A pattern of modules with ``*`` for any text; compressed-tensors writes regular expressions after ``re:``."""
    if not module.startswith("re:"):
        return module
    return module.removeprefix("re:").replace("\\.", ".").replace(".*", "*")


def _compressed_tensors_format(config: Mapping[str, object]) -> tuple[str, str]:
    """Of compressed-tensors, which names a type and bits for each group of layers: where all groups agree."""
    groups = config.get("config_groups")
    found: set[tuple[str, int]] = set()
    for group in cast("dict[str, object]", groups).values() if isinstance(groups, dict) else ():
        weights = cast("dict[str, object]", group).get("weights") if isinstance(group, dict) else None
        if isinstance(weights, dict):
            stated = cast("dict[str, object]", weights)
            bits = stated.get("num_bits")
            found.add((str(stated.get("type"))[:10], bits if isinstance(bits, int) else 0))
    if len(found) != 1:
        return "", ""
    kind, bits = found.pop()
    names = {("float", 8): "fp8", ("float", 4): "nvfp4", ("int", 8): "int8", ("int", 4): "int4"}
    return names.get((kind, bits), ""), f", {kind} of {bits} bit"
