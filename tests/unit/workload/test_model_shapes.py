"""Model shapes: parameter counts against published sizes, and shapes that cannot be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import CatalogError
from designer.units import Flop
from designer.workload.models import find_model, load_model, model, models, nearest_models
from designer.workload.shape import ConvolutionalShape, TransformerShape

#: published parameters, in billions
PUBLISHED = {
    "llama-2-7b": 6.738,
    "llama-2-13b": 13.016,
    "llama-2-70b": 68.977,
    "llama-3-8b": 8.030,
    "llama-3-70b": 70.554,
    "llama-3-405b": 405.85,
    "mixtral-8x7b": 46.70,
    "deepseek-v3": 671.0,
    "qwen-2.5-7b": 7.616,
    "qwen3-30b-a3b": 30.53,
    "mistral-7b": 7.242,
    "gpt-oss-20b": 20.91,
    "llama-4-scout": 107.8,
    "llama-4-maverick": 400.7,
    "qwen-2.5-32b": 32.76,
    "qwen-2.5-72b": 72.71,
    "qwen3-8b": 8.19,
    "qwen3-235b-a22b": 235.1,
    "gemma-3-27b": 27.01,
    "kimi-k2": 1026.0,
    "mistral-small-24b": 23.57,
    "mistral-large-2": 122.6,
    "phi-4": 14.66,
    "gpt2": 0.1244,
    "gpt2-xl": 1.558,
    "bert-base": 0.110,
    "bert-large": 0.336,
    "gpt-22b": 22.0,
    "gpt-175b": 174.6,
    "gpt-530b": 529.6,
    "gpt-1t": 1008.0,
    "resnet-18": 0.01169,
    "resnet-50": 0.02556,
    "resnet-152": 0.06019,
    "vgg-16": 0.13836,
    "vgg-19": 0.14367,
    "googlenet": 0.006625,
}
#: as the throughput tables print them
MPT = {
    "mpt-125m": 125311488,
    "mpt-1b": 1315950592,
    "mpt-3b": 2651837440,
    "mpt-7b": 6658859008,
    "mpt-13b": 12853954560,
    "mpt-30b": 29975214080,
    "mpt-70b": 64862437376,
}


@pytest.mark.parametrize(("name", "billions"), PUBLISHED.items())
def test_parameters_against_the_published_size(name: str, billions: float) -> None:
    assert model(name).parameters / 1e9 == pytest.approx(billions, rel=0.004)


@pytest.mark.parametrize(("name", "parameters"), MPT.items())
def test_parameters_of_mpt(name: str, parameters: int) -> None:
    assert model(name).parameters == pytest.approx(parameters, rel=0.001)


@pytest.mark.parametrize(
    ("name", "billions"),
    {"mixtral-8x7b": 12.9, "deepseek-v3": 37.0, "qwen3-30b-a3b": 3.3, "qwen3-235b-a22b": 22.0, "kimi-k2": 32.6}.items(),
)
def test_active_parameters_of_experts(name: str, billions: float) -> None:
    shape = model(name)
    assert isinstance(shape, TransformerShape)
    assert shape.active_parameters / 1e9 == pytest.approx(billions, rel=0.02)


@pytest.mark.parametrize(
    ("name", "id"),
    {
        "llama-3-8b": "llama-3-8b",
        "llama-3.1-8b": "llama-3-8b",
        "meta-llama/Meta-Llama-3.1-8B-Instruct": "llama-3-8b",
        "meta-llama/Llama-3.3-70B-Instruct": "llama-3-70b",
        "meta-llama/Llama-2-7b-chat-hf": "llama-2-7b",
        "meta-llama/Llama-4-Scout-17B-16E-Instruct": "llama-4-scout",
        "mistralai/Mixtral-8x7B-Instruct-v0.1": "mixtral-8x7b",
        "deepseek-ai/DeepSeek-R1": "deepseek-v3",
        "Qwen/Qwen2.5-72B-Instruct": "qwen-2.5-72b",
        "Qwen/Qwen3-235B-A22B": "qwen3-235b-a22b",
        "google/gemma-3-27b-it": "gemma-3-27b",
        "openai/gpt-oss-20b": "gpt-oss-20b",
        "moonshotai/Kimi-K2-Instruct": "kimi-k2",
        "microsoft/phi-4": "phi-4",
    }.items(),
)
def test_a_model_is_found_by_the_name_its_publisher_gives_it(name: str, id: str) -> None:
    found = find_model(name)
    assert found is not None
    assert found.id == id
    assert model(name) == found.shape


def test_no_name_stands_for_two_models() -> None:
    names = [name for entry in models().values() for name in (entry.id, *entry.aliases)]
    assert len(names) == len(set(names))
    for entry in models().values():
        for name in (entry.id, *entry.aliases):
            assert find_model(f"somebody/{name.upper()}") is entry


@pytest.mark.parametrize(
    "name", ["meta-llama/Llama-3.1-9B", "Llama-3.1-8B-Instruct-FP8", "qwen3-8", "x", "", "/", "-it"]
)
def test_a_name_that_is_not_quite_one_is_refused_with_what_was_meant(name: str) -> None:
    assert find_model(name) is None
    with pytest.raises(CatalogError) as refused:
        model(name)
    near = nearest_models(name)
    assert all(id in refused.value.remedy for id in near)
    assert near or "choose one of" in refused.value.remedy


def test_every_shipped_model_names_its_source() -> None:
    assert len(models()) >= 38
    for name, entry in models().items():
        assert name == entry.id
        assert entry.source
        assert entry.title


def test_resnet_50_needs_twice_the_multiply_adds() -> None:
    shape = model("resnet-50")
    assert isinstance(shape, ConvolutionalShape)
    assert shape.flop_forward == pytest.approx(2 * 4.09e9)


def dense(**changes: object) -> TransformerShape:
    values: dict[str, object] = {
        "name": "test",
        "layers": 2,
        "hidden": 64,
        "heads": 4,
        "kv_heads": 2,
        "ffn": 256,
        "vocabulary": 1000,
    }
    return TransformerShape(**(values | changes))  # type: ignore[arg-type]


def test_parameters_by_hand() -> None:
    """Two layers: queries 64x64, keys and values 2x64x32, output 64x64, three matrices of 64x256, two norms."""
    layer = 64 * 64 + 2 * 64 * 32 + 64 * 64 + 3 * 64 * 256 + 2 * 64
    assert dense().parameters == 2 * layer + 2 * 1000 * 64 + 64
    assert dense(tied=True).parameters == 2 * layer + 1000 * 64 + 64
    assert dense(gated=False).parameters == 2 * (layer - 64 * 256) + 2 * 1000 * 64 + 64


def test_flux_has_the_parameters_that_are_published() -> None:
    """By hand, h = 3072: double blocks 36 h^2 + 30 h + 512, single 15 h^2 + 11 h + 256; inputs 256, 768, 4096, 64."""
    h = 3072
    blocks = 19 * (36 * h * h + 30 * h + 512) + 38 * (15 * h * h + 11 * h + 256)
    vectors = (256 + 768) * h + 2 * (h * h + 2 * h)
    ends = (4096 + 64 + 2) * h + 64 * h + 64 + 2 * (h * h + h)
    assert model("flux-1-schnell").parameters == blocks + vectors + ends == 11_891_178_560


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"layers": 0}, "layers"),
        ({"hidden": -4}, "hidden"),
        ({"hidden": 10**12}, "hidden"),
        ({"heads": 3}, "divide"),
        ({"kv_heads": 3}, "share"),
        ({"experts": 8}, "expert"),
        ({"experts": 8, "experts_per_token": 9, "expert_ffn": 8, "moe_layers": 2}, "experts_per_token"),
        ({"moe_layers": 3}, "moe_layers"),
        ({"ffn": 0}, "ffn"),
        ({"vocabulary": 0}, "vocabulary"),
    ],
)
def test_impossible_shapes_are_refused(changes: dict[str, object], word: str) -> None:
    with pytest.raises(CatalogError) as refused:
        dense(**changes)
    assert word in str(refused.value)
    assert refused.value.remedy


@pytest.mark.parametrize(
    "changes", [{"layers": 0}, {"parameters": 0}, {"flop_forward": Flop(-1.0)}, {"activations": 0}]
)
def test_an_empty_network_is_refused(changes: dict[str, float]) -> None:
    values = {"layers": 1, "parameters": 10, "flop_forward": Flop(1.0), "activations": 5} | changes
    with pytest.raises(CatalogError):
        ConvolutionalShape("empty", **values)  # type: ignore[arg-type]


def test_an_unknown_model_is_answered_with_near_ones() -> None:
    with pytest.raises(CatalogError, match="no model 'llama-9b'") as refused:
        model("llama-9b")
    assert "llama-2-7b" in str(refused.value.remedy)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("id = 3", "missing"),
        ("id = [", ""),
        ('id = "x"\nkind = "transformer"\ntitle = "X"\nsource = "s"\nstatus = "primary"\n[shape]\nlayers = 1', ""),
        ('id = "x"\nkind = "rnn"\ntitle = "X"\nsource = "s"\nstatus = "primary"\n[shape]\n', "rnn"),
        ('id = "y"\nkind = "transformer"\ntitle = "X"\nsource = "s"\nstatus = "primary"\n[shape]\n', "file name"),
        ('id = "x"\nkind = "convolutional"\ntitle = "X"\nsource = "s"\nstatus = "primary"\n[shape]\nwheels = 4', "whe"),
    ],
)
def test_a_wrong_model_file_is_refused_by_name(tmp_path, text: str, word: str) -> None:
    file = tmp_path / "x.toml"
    file.write_text(text)
    with pytest.raises(CatalogError) as refused:
        load_model(file)
    assert "x.toml" in str(refused.value)
    assert word in str(refused.value)


@given(
    layers=st.integers(1, 80),
    heads=st.sampled_from([1, 2, 8, 64]),
    head=st.sampled_from([32, 64, 128]),
    width=st.integers(1, 10_000),
    gated=st.booleans(),
)
def test_parameters_grow_with_every_dimension(layers: int, heads: int, head: int, width: int, gated: bool) -> None:
    shape = dense(layers=layers, hidden=heads * head, heads=heads, kv_heads=heads, ffn=width, gated=gated)
    deeper = dense(layers=layers + 1, hidden=heads * head, heads=heads, kv_heads=heads, ffn=width, gated=gated)
    wider = dense(layers=layers, hidden=heads * head, heads=heads, kv_heads=heads, ffn=width + 1, gated=gated)
    assert shape.parameters < deeper.parameters
    assert shape.parameters < wider.parameters
