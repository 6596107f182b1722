"""The number format a model's checkpoint is published in: what engines serve it in where nobody asks for another.

vLLM and SGLang take the method of ``quantization_config`` and, without one, the type of ``torch_dtype``: "auto will use
FP16 precision for FP32 and FP16 models, and BF16 precision for BF16 models" (their engine arguments). Methods are
those of the Hugging Face quantisation guide.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, cast

#: formats by the type of a checkpoint that is not quantised
_TYPES: Final = MappingProxyType(
    {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp16", "float8_e4m3fn": "fp8"}
)
#: formats of methods that know only one
_METHODS: Final = MappingProxyType({"fp8": "fp8", "fbgemm_fp8": "fp8", "mxfp4": "mxfp4"})
#: what modelopt calls its formats
_ALGORITHMS: Final = MappingProxyType({"FP8": "fp8", "NVFP4": "nvfp4"})
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
        Of a shipped model, where that stands.
    """

    name: str = ""
    said: str = ""
    source: str = ""


#: of a model that says nothing
UNSAID: Final = PublishedFormat()


def published_format(quantization: object, dtype: str) -> PublishedFormat:
    """The format of a checkpoint.

    Parameters
    ----------
    quantization
        ``quantization_config`` of its configuration, None without one.
    dtype
        Its ``torch_dtype``, empty without one.

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
    name, detail = _quantized(method, config)
    return PublishedFormat(name, f"quant_method {method}{detail}")


def _quantized(method: str, config: Mapping[str, object]) -> tuple[str, str]:
    """Format and what else was looked at."""
    if method in ("gptq", "awq", "auto-round", "intel/auto-round"):
        bits = config.get("bits", config.get("w_bit", 4 if method == "awq" else None))
        return _integer(bits)
    if method == "bitsandbytes":
        return _integer(8 if config.get("load_in_8bit") else 4 if config.get("load_in_4bit") else None)
    if method in ("modelopt", "modelopt_fp4"):
        told = str(config.get("quant_algo") or ("NVFP4" if method == "modelopt_fp4" else ""))[:20].upper()
        return _ALGORITHMS.get(told, ""), f", {told}" if told else ""
    if method == "compressed-tensors":
        return _compressed(config)
    return _METHODS.get(method, ""), ""


def _integer(bits: object) -> tuple[str, str]:
    if not isinstance(bits, int) or isinstance(bits, bool):
        return "", ""
    return _INTEGERS.get(bits, ""), f", {bits} bit"


def _compressed(config: Mapping[str, object]) -> tuple[str, str]:
    """Of compressed-tensors, which names a type and bits for each group of layers: where all groups agree."""
    groups = config.get("config_groups")
    found: set[tuple[str, int]] = set()
    for group in cast("dict[str, object]", groups).values() if isinstance(groups, dict) else ():
        weights = cast("dict[str, object]", group).get("weights") if isinstance(group, dict) else None
        if isinstance(weights, dict):
            told = cast("dict[str, object]", weights)
            bits = told.get("num_bits")
            found.add((str(told.get("type"))[:10], bits if isinstance(bits, int) else 0))
    if len(found) != 1:
        return "", ""
    kind, bits = found.pop()
    names = {("float", 8): "fp8", ("float", 4): "nvfp4", ("int", 8): "int8", ("int", 4): "int4"}
    return names.get((kind, bits), ""), f", {kind} of {bits} bit"
