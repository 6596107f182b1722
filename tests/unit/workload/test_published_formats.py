"""The format a checkpoint is published in, from the keys that real configurations have."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from designer.catalog.sources import shipped_sources
from designer.formulas.serving._number_format import FORMATS
from designer.workload.huggingface import parse_config
from designer.workload.models import models
from designer.workload.published_formats import published_format

PLAIN = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4}
PLAIN |= {"vocab_size": 1000, "intermediate_size": 256}
#: as DeepSeek-V3 has it: README_WEIGHTS.md beside its weights
BLOCKS = {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8", "weight_block_size": [128, 128]}


def compressed(*told: tuple[str, int]) -> Mapping[str, object]:
    groups = {f"group_{k}": {"weights": {"type": kind, "num_bits": bits}} for k, (kind, bits) in enumerate(told)}
    return {"quant_method": "compressed-tensors", "config_groups": groups}


@pytest.mark.parametrize(
    ("quantization", "dtype", "name"),
    [
        (None, "bfloat16", "bf16"),
        (None, "float16", "fp16"),
        (None, "float32", "fp16"),
        (None, "", ""),
        (None, "int3", ""),
        (BLOCKS, "bfloat16", "fp8"),
        ({"quant_method": "fbgemm_fp8"}, "bfloat16", "fp8"),
        ({"quant_method": "mxfp4"}, "", "mxfp4"),
        ({"quant_method": "awq", "bits": 4}, "float16", "int4"),
        ({"quant_method": "awq"}, "float16", "int4"),
        ({"quant_method": "gptq", "bits": 4}, "float16", "int4"),
        ({"quant_method": "gptq", "bits": 8}, "float16", "int8"),
        ({"quant_method": "gptq", "bits": 3}, "float16", ""),
        ({"quant_method": "gptq", "bits": True}, "float16", ""),
        ({"quant_method": "gptq", "bits": [4]}, "float16", ""),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "", "int4"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "", "int8"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "bfloat16", "nvfp4"),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "bfloat16", "fp8"),
        (compressed(("float", 8)), "bfloat16", "fp8"),
        (compressed(("int", 4), ("int", 4)), "bfloat16", "int4"),
        (compressed(("int", 4), ("int", 8)), "bfloat16", ""),
        ({"quant_method": "compressed-tensors", "config_groups": [3]}, "bfloat16", ""),
        ({"quant_method": "aqlm"}, "float16", ""),
        ({"bits": 4}, "float16", ""),
    ],
)
def test_what_a_configuration_says_is_taken_and_nothing_else(quantization: object, dtype: str, name: str) -> None:
    found = published_format(quantization, dtype)
    assert found.name == name
    assert not name or name in FORMATS
    # whatever is said is repeated, so that a reader sees why the format is or is not known
    assert bool(found.said) == bool(quantization or dtype)


def test_a_configuration_carries_it_wherever_it_stands() -> None:
    assert parse_config(json.dumps(PLAIN)).published.name == ""
    assert parse_config(json.dumps(PLAIN | {"dtype": "torch.bfloat16"})).published.name == "bf16"
    outer = {"model_type": "some", "text_config": PLAIN, "quantization_config": BLOCKS, "torch_dtype": "bfloat16"}
    assert parse_config(json.dumps(outer)).published.name == "fp8"
    assert parse_config(json.dumps(PLAIN | {"quantization_config": BLOCKS})).published.said == "quant_method fp8"


def test_shipped_models_published_in_other_formats_say_so_with_a_source() -> None:
    told = {name: entry.published for name, entry in models().items() if entry.published.name}
    assert {name: one.name for name, one in told.items()} == {
        "deepseek-v3": "fp8",
        "gpt-oss-120b": "mxfp4",
        "gpt-oss-20b": "mxfp4",
        "kimi-k2": "fp8",
    }
    for one in told.values():
        assert one.said
        assert one.source in shipped_sources()
