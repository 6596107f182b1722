"""Model shapes: parameter counts against published sizes, and shapes that cannot be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import CatalogError
from designer.units import Flop
from designer.workload.models import load_model, model, models
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
    ("name", "billions"), {"mixtral-8x7b": 12.9, "deepseek-v3": 37.0, "qwen3-30b-a3b": 3.3}.items()
)
def test_active_parameters_of_experts(name: str, billions: float) -> None:
    shape = model(name)
    assert isinstance(shape, TransformerShape)
    assert shape.active_parameters / 1e9 == pytest.approx(billions, rel=0.02)


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
