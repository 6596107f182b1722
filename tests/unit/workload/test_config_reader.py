"""Hugging Face configurations: what is read, refused, and the format a checkpoint is published in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.catalog.sources import shipped_sources
from designer.errors import ExchangeError
from designer.families.serving.formulas._number_format import FORMATS
from designer.families.serving.formulas.memory import weights_size
from designer.workload.huggingface import parse_config, read_config
from designer.workload.models import models
from designer.workload.published_formats import published_format
from designer.workload.shape import TransformerShape
from tests.real import real_files

# Hugging Face configurations: real ones read, hostile and broken ones refused with a reason.

PLAIN = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "vocab_size": 1000,
    "intermediate_size": 256,
}


#: billions of parameters, all and per token, of the real files by name
REAL = {
    "codellama-34b-instruct": (33.74, 33.74),
    "deepseek-v2-lite": (15.71, 2.66),
    "deepseek-v3": (671.0, 37.55),
    "gpt-oss-20b": (20.91, 4.19),
    "gpt2": (0.124, 0.124),
    "llama-2-7b": (6.738, 6.738),
    "llama-3.1-70b-instruct": (70.55, 70.55),
    "llama-4-scout": (107.8, 17.17),
    "mixtral-8x7b-v0.1": (46.70, 12.88),
    "qwen2.5-7b-instruct": (7.616, 7.616),
    "qwen3-30b-a3b": (30.53, 3.353),
}


def text(**changes: object) -> str:
    return json.dumps({key: value for key, value in (PLAIN | changes).items() if value != "absent"})


@pytest.mark.real
@pytest.mark.parametrize("file", real_files("hf_config/*.json"), ids=lambda file: file.stem)
def test_real_configurations_read(file: Path) -> None:
    found = read_config(file)
    total, active = REAL[file.stem]
    assert found.shape.parameters / 1e9 == pytest.approx(total, rel=0.005)
    assert found.shape.active_parameters / 1e9 == pytest.approx(active, rel=0.005)
    assert all("drafts tokens" in one for one in found.assumptions)
    assert found.context_length >= 1024


def test_the_real_configurations_are_there_or_said_to_be_missing() -> None:
    files = real_files("hf_config/*.json")
    if not files:
        pytest.skip("no real configurations beside the checkout")
    assert {file.stem for file in files} == set(REAL)


def test_absent_and_null_mean_the_same() -> None:
    plain = parse_config(text(num_key_value_heads="absent"), "m").shape
    assert parse_config(text(num_key_value_heads=None), "m").shape == plain
    assert plain.kv_heads == 4
    assert parse_config(text(num_key_value_heads=1), "m").shape.kv_heads == 1


def test_old_names_and_a_null_inner_width() -> None:
    old = {
        "model_type": "gpt2",
        "n_layer": 2,
        "n_embd": 64,
        "n_head": 4,
        "vocab_size": 100,
        "n_inner": None,
        "n_positions": 32,
    }
    shape = parse_config(json.dumps(old), "m").shape
    assert (shape.layers, shape.hidden, shape.ffn, shape.gated, shape.tied, shape.positions) == (
        2,
        64,
        256,
        False,
        True,
        32,
    )


def test_line_ends_and_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    pretty = json.dumps(PLAIN, indent=1)
    expected = parse_config(pretty, "config").shape
    file = tmp_path / "m" / "config.json"
    file.parent.mkdir()
    file.write_bytes(b"\xef\xbb\xbf" + pretty.replace("\n", "\r\n").encode())
    assert read_config(file).shape.parameters == expected.parameters
    assert read_config(file).shape.name == "m"


def test_an_unknown_architecture_is_read_and_said_so() -> None:
    found = parse_config(text(model_type="zeppelin"), "m")
    assert found.shape.gated
    assert any("zeppelin" in note for note in found.assumptions)


def test_a_multimodal_file_is_read_inside() -> None:
    outer = {"model_type": "whale", "text_config": PLAIN | {"model_type": "llama_text"}, "torch_dtype": "bfloat16"}
    found = parse_config(json.dumps(outer), "m")
    assert found.shape.layers == 2
    assert found.number_format == "bfloat16"


def test_experts_and_their_width() -> None:
    shape = parse_config(text(num_local_experts=8, num_experts_per_tok=2, model_type="mixtral"), "m").shape
    assert (shape.experts, shape.experts_per_token, shape.expert_ffn, shape.moe_layers) == (8, 2, 256, 2)
    first = parse_config(
        text(n_routed_experts=8, num_experts_per_tok=2, moe_intermediate_size=32, first_k_dense_replace=1), "m"
    ).shape
    assert (first.expert_ffn, first.ffn, first.moe_layers) == (32, 256, 1)


def test_windows_by_layer_kind() -> None:
    kinds = ["sliding_attention", "full_attention"]
    shape = parse_config(text(sliding_window=16, layer_types=kinds), "m").shape
    assert (shape.window, shape.windowed_layers) == (16, 1)
    assert parse_config(text(sliding_window=16, use_sliding_window=False), "m").shape.window == 0


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("", "JSON"),
        ("{", "JSON"),
        ("[]", "list"),
        ("3", "int"),
        ('{"a": 1,}', "JSON"),
        ('{"num_hidden_layers": NaN}', "NaN"),
        ('{"num_hidden_layers": Infinity}', "Infinity"),
        ('{"a": 1, "a": 2}', "twice"),
        ("[" * 100_000, "nested"),
        ('{"a":' * 100_000, "nested"),
        ("{}", "num_hidden_layers"),
        (text(num_hidden_layers="many"), "many"),
        (text(num_hidden_layers=True), "num_hidden_layers"),
        (text(num_hidden_layers=2.5), "2.5"),
        (text(num_hidden_layers=-1), "num_hidden_layers"),
        (text(num_hidden_layers=10**18), "num_hidden_layers"),
        (text(hidden_size=1e300), "hidden_size"),
        (text(hidden_size=65), "head_dim"),
        (text(num_key_value_heads=3), "num_key_value_heads"),
        (text(vocab_size="absent"), "vocab"),
        (text(hybrid_override_pattern="M-M*"), "state-space"),
        (
            text(model_type="mamba2", num_attention_heads="absent", time_step_limit=[0.0, float("inf")]),
            "'mamba2' is an architecture without attention",
        ),
        (text(layer_types=["mamba", "attention"]), "state-space"),
        (text(kv_lora_rank=8), "qk_nope_head_dim"),
        (text(text_config={"model_type": "x"}), "text_config"),
        ("x" * (40 * 2**20), "too many"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else None,
)
def test_broken_and_hostile_files_are_refused_with_a_reason(content: str, word: str) -> None:
    with pytest.raises(ExchangeError) as refused:
        parse_config(content, "m")
    assert word in str(refused.value)
    assert refused.value.remedy


@pytest.mark.parametrize(
    ("keys", "key", "mechanism"),
    [
        ({"layer_types": ["linear_attention", "full_attention"]}, "layer_types", "linear attention"),
        ({"linear_num_key_heads": 16, "full_attention_interval": 4}, "linear_num_key_heads", "linear attention"),
        ({"linear_attn_config": {"kda_layers": [1, 2]}}, "linear_attn_config", "linear attention"),
        ({"attn_type_list": [0, 0, 1]}, "attn_type_list", "linear attention"),
        ({"hybrid_override_pattern": "M-M*"}, "hybrid_override_pattern", "state-space"),
        ({"layers_block_type": ["mamba", "hybrid"]}, "layers_block_type", "state-space"),
        ({"model_type": "falcon_h1", "mamba_d_ssm": 768}, "mamba_d_ssm", "state-space"),
        ({"model_type": "jamba"}, "model_type", "state-space"),
        ({"block_types": ["recurrent", "attention"]}, "block_types", "gated linear recurrence"),
        ({"layer_types": ["conv", "full_attention"]}, "layer_types", "convolution"),
        ({"hybrid_layer_pattern": [0, 1, 1]}, "hybrid_layer_pattern", "sliding-window"),
        ({"block_configs": [{"attention": {"no_op": True}}]}, "block_configs", "different sizes"),
        ({"num_attention_heads": [12, 16]}, "num_attention_heads", "different sizes"),
        ({"cross_attention_layers": [3, 8]}, "cross_attention_layers", "cross-attention"),
        ({"layer_types": ["holographic"]}, "layer_types", "unknown type (holographic)"),
    ],
)
def test_the_refusal_of_an_architecture_names_the_mechanism_that_is_missing(
    keys: dict[str, object], key: str, mechanism: str
) -> None:
    """These were read as full attention, or refused as "not a number"."""
    with pytest.raises(ExchangeError, match="not modelled") as refused:
        parse_config(text(**keys), "m")
    assert mechanism in refused.value.text
    assert refused.value.place == key


def test_layers_with_experts_may_be_listed_one_by_one() -> None:
    """Three layers of which the first has no experts."""
    stated: dict[str, object] = {"num_hidden_layers": 3, "num_experts": 8, "num_experts_per_tok": 2}
    found = parse_config(text(**stated, moe_intermediate_size=32, moe_layer_freq=[0, 1, 1]), "m")
    assert found.shape.moe_layers == 2
    with pytest.raises(ExchangeError, match="2 values for 3 layers"):
        parse_config(text(**stated, moe_intermediate_size=32, moe_layer_freq=[0, 1]), "m")


def test_attention_to_selected_tokens_is_an_assumption() -> None:
    assert any("2,048 selected tokens" in one for one in parse_config(text(index_topk=2048), "m").assumptions)


def test_whole_numbers_written_as_decimals_are_read() -> None:
    assert parse_config(text(num_hidden_layers=2.0), "m").shape.layers == 2


def test_a_missing_or_binary_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExchangeError, match="not a file"):
        read_config(tmp_path / "config.json")
    with pytest.raises(ExchangeError, match="not a file"):
        read_config(tmp_path)
    binary = tmp_path / "config.json"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(ExchangeError, match="UTF-8"):
        read_config(binary)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10**9) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*PLAIN, "text_config", "layer_types", "num_local_experts", "head_dim"]), _JSON))
def test_any_object_is_read_or_refused(changes: dict[str, object]) -> None:
    """Never anything but a result or an ``ExchangeError``."""
    try:
        found = parse_config(json.dumps(PLAIN | changes), "m")
    except ExchangeError as refused:
        remedy = refused.remedy
    else:
        remedy = "none needed" if found.shape.parameters > 0 else None
    assert remedy


def test_infinity_where_no_dimension_is_does_no_harm() -> None:
    assert parse_config(text(time_step_limit=[0.0, float("inf")]), "m").shape == parse_config(text(), "m").shape


@pytest.mark.parametrize(
    ("place", "inside", "name"),
    [
        ("Llama-3.1-8B", "", "Llama-3.1-8B"),
        ("models--meta-llama--Llama-3.1-8B/snapshots/0e9e39f249a16976918f6564b8830bc894c89659", "", "Llama-3.1-8B"),
        ("downloads", "", "llama 8.03B"),
        ("downloads", "meta-llama/Meta-Llama-3-8B", "Meta-Llama-3-8B"),
        ("0e9e39f249a16976918f6564b8830bc894c89659", "./", "llama 8.03B"),
        ("0e9e39f", "", "llama 8.03B"),
        ("20251124", "", "llama 8.03B"),
        ("deadbeef", "", "deadbeef"),
        ("defaced", "", "defaced"),
        (
            "tmp",
            "/hub/models--meta-llama--Llama-3.1-8B/snapshots/0e9e39f249a16976918f6564b8830bc894c89659",
            "Llama-3.1-8B",
        ),
    ],
)
def test_a_model_is_called_by_what_names_it(tmp_path: Path, place: str, inside: str, name: str) -> None:
    """Where neither folder nor file says anything, by its architecture and size: 8.03 billion parameters."""
    data = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14336,
        "vocab_size": 128256,
        "_name_or_path": inside,
    }
    file = tmp_path / place / "config.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(data), encoding="utf-8")
    assert read_config(file).shape.name == name


# The format a checkpoint is published in, from the keys that real configurations have.

SMALL = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
}


SMALL |= {"vocab_size": 1000, "intermediate_size": 256}


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
    assert parse_config(json.dumps(SMALL)).published.name == ""
    assert parse_config(json.dumps(SMALL | {"dtype": "torch.bfloat16"})).published.name == "bf16"
    outer = {
        "model_type": "some",
        "text_config": SMALL,
        "quantization_config": BLOCKS,
        "torch_dtype": "bfloat16",
    }
    assert parse_config(json.dumps(outer)).published.name == "fp8"
    assert parse_config(json.dumps(SMALL | {"quantization_config": BLOCKS})).published.said == "quant_method fp8"


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
    (folder / "config.json").write_text(json.dumps({**SMALL, "torch_dtype": "bfloat16", **keys}))
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
