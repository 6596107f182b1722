"""The format a checkpoint is published in, from the keys that real configurations have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from designer.catalog.sources import shipped_sources
from designer.errors import ExchangeError
from designer.families.serving.formulas._number_format import FORMATS
from designer.families.serving.formulas.weights_size import weights_size
from designer.workload.huggingface import parse_config, read_config
from designer.workload.models import models
from designer.workload.published_formats import published_format
from designer.workload.shape import TransformerShape

PLAIN = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4}
PLAIN |= {"vocab_size": 1000, "intermediate_size": 256}
#: as DeepSeek-V3 has it: README_WEIGHTS.md next to its weights
BLOCKS = {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8", "weight_block_size": [128, 128]}


def compressed(*stated: tuple[str, int]) -> Mapping[str, object]:
    groups = {f"group_{k}": {"weights": {"type": kind, "num_bits": bits}} for k, (kind, bits) in enumerate(stated)}
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
    stated = {name: entry.published for name, entry in models().items() if entry.published.name}
    assert {name: one.name for name, one in stated.items()} == {
        "deepseek-v3": "fp8",
        "gpt-oss-120b": "mxfp4",
        "gpt-oss-20b": "mxfp4",
        "kimi-k2": "fp8",
    }
    for one in stated.values():
        assert one.said
        assert one.source in shipped_sources()


def _saved(folder: Path, quantization: object, **keys: object) -> Path:
    (folder / "config.json").write_text(json.dumps({**PLAIN, "torch_dtype": "bfloat16", **keys}))
    if quantization is not None:
        stated = {"producer": {"name": "modelopt", "version": "0.29.0"}, "quantization": quantization}
        (folder / "hf_quant_config.json").write_text(json.dumps(stated))
    return folder / "config.json"


@pytest.mark.parametrize(
    ("quantization", "name"),
    [
        (None, "bf16"),
        ({"quant_algo": "NVFP4", "group_size": 16, "exclude_modules": ["lm_head"]}, "nvfp4"),
        ({"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}, "fp8"),
        ({"quant_algo": "W4A16_AWQ"}, "int4"),
        ({"quant_algo": "SOMETHING_NEW"}, ""),
        ({"quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": {"quant_algo": "FP8"}}}, "fp8"),
    ],
)
def test_the_file_of_modelopt_in_the_same_folder_says_how_a_checkpoint_is_stored(
    tmp_path: Path, quantization: object, name: str
) -> None:
    """It used to be ignored: an NVFP4 checkpoint counted 2 bytes a weight."""
    assert read_config(_saved(tmp_path, quantization)).published.name == name


def test_what_the_configuration_says_itself_comes_first(tmp_path: Path) -> None:
    path = _saved(tmp_path, {"quant_algo": "NVFP4"}, quantization_config=BLOCKS)
    assert read_config(path).published.name == "fp8"


@pytest.mark.parametrize(
    "content", ["{", "[]", "{}", '{"quantization": 3}', '{"quantization": {}, "quantization": {}}']
)
def test_a_broken_file_of_modelopt_is_refused_by_its_name(tmp_path: Path, content: str) -> None:
    path = _saved(tmp_path, None)
    (tmp_path / "hf_quant_config.json").write_text(content)
    with pytest.raises(ExchangeError) as refused:
        read_config(path)
    assert refused.value.file == "hf_quant_config.json"


EXPERTS = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 128}
ATTENTION = [f"model.layers.{k}.self_attn*" for k in range(2)]


@pytest.mark.parametrize(
    ("listed", "keys", "name"),
    [
        (ATTENTION, EXPERTS, "nvfp4-experts"),
        (["model.layers.*.self_attn*"], EXPERTS, "nvfp4-experts"),
        (["re:.*layers\\..*\\.self_attn.*"], EXPERTS, "nvfp4-experts"),
        (["*self_attn*", "lm_head"], EXPERTS, "nvfp4-experts"),
        ([f"model.layers.{k}.self_attn.{p}_proj" for k in range(2) for p in "qkvo"], EXPERTS, "nvfp4-experts"),
        (["model.layers.0.self_attn.kv_a_proj_with_mqa"], EXPERTS, "nvfp4"),
        (["lm_head", "model.layers.0.mlp.gate"], EXPERTS, "nvfp4"),
        (ATTENTION, {}, "nvfp4"),
    ],
)
def test_attention_that_is_left_out_keeps_its_bytes(
    tmp_path: Path, listed: list[str], keys: dict[str, object], name: str
) -> None:
    found = read_config(_saved(tmp_path, {"quant_algo": "NVFP4", "exclude_modules": listed}, **keys))
    assert found.published.name == name


@pytest.mark.parametrize(("beside", "name"), [("FP8", "nvfp4-experts-fp8"), ("W4A16_AWQ", "")])
def test_experts_and_other_layers_may_have_formats_of_their_own(tmp_path: Path, beside: str, name: str) -> None:
    layers = {
        "model.layers.0.mlp.experts": {"quant_algo": "NVFP4"},
        "model.layers.0.mlp.shared_expert.up_proj": {"quant_algo": beside},
        "model.layers.0.self_attn.q_proj": {"quant_algo": beside},
    }
    stated = {"quant_algo": "MIXED_PRECISION", "quantized_layers": layers}
    found = read_config(_saved(tmp_path, stated, **EXPERTS)).published
    assert found.name == name
    assert "MIXED_PRECISION" in found.said


def test_bytes_of_deepseek_r1_in_nvfp4() -> None:
    """61 layers, 58 of them with 256 experts of 3 × 7168 × 2048 weights: 653.9 G × 0.5625 B = 367.8 GB of experts.

    Attention is left out of that checkpoint: 61 × 187.1 M weights of 2 B are 22.8 GB instead of 6.4.
    """
    shape = models()["deepseek-v3"].shape
    assert isinstance(shape, TransformerShape)
    experts = 58 * 256 * 3 * 7168 * 2048
    other = 61 * shape.attention_parameters + 3 * shape.dense_parameters + 58 * shape.moe_common_parameters
    ends = 2 * 129280 * 7168
    assert 61 * shape.attention_parameters == pytest.approx(11.4e9, rel=0.01)
    wanted = experts * 0.5625 + 2 * (other + ends)
    assert weights_size(shape, FORMATS["nvfp4-experts"], 1) == pytest.approx(wanted, rel=1e-6)
    assert weights_size(shape, FORMATS["nvfp4"], 1) == pytest.approx(wanted - (2 - 0.5625) * other, rel=1e-6)
