"""What drafts: its parameters, its memory on each device, and the load up to which it pays."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import designer
from designer.analysis.study import analyze
from designer.design.document import WorkloadSpec
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.families.serving.drafter import Drafter, drafter
from designer.families.serving.formulas._number_format import number_format
from designer.units import Bytes
from designer.workload.huggingface import parse_config
from designer.workload.models import model
from designer.workload.shape import TransformerShape

BF16 = number_format("bf16")
LLAMA = {"model": "llama-3-70b", "tensor": 4, "rate": "1 1/s", "prompt": 1000, "output": 200, "count": 300}


def of(name: str, named: str = "") -> Drafter:
    shape = model(name)
    assert isinstance(shape, TransformerShape)
    return drafter(shape, BF16, named, "s.draft_model")


def served(curves: bool = False, template: str = "hgx-h100-8", **changes: object) -> WorkloadResult:
    spec = WorkloadSpec.model_validate({"id": "s", "kind": "serving", "settings": {**LLAMA, **changes}})
    design = designer.open_design(template).model_copy(update={"workloads": {"s": spec}})
    return analyze(design, ["s"], curves=curves).workloads[0]


def test_the_layer_of_deepseek_that_drafts_has_the_published_parameters() -> None:
    """README_WEIGHTS of DeepSeek-V3: 11.5 billion of its own, without the embeddings and the head that it shares.

    By hand: 256 experts and a shared one of 3 x 7,168 x 2,048, a router of 7,168 x 256, attention 187 million, and
    2 x 7,168 squared to join the state with the embedding: 11,318 + 2 + 187 + 103 = 11.61 billion.
    """
    one = of("deepseek-v3")
    assert one.parameters == pytest.approx(11.5e9, rel=0.015)
    by_hand = 257 * 3 * 7168 * 2048 + 7168 * 256 + 187.1e6 + 2 * 7168**2
    assert one.parameters == pytest.approx(by_hand, rel=1e-3)
    # eight devices: experts are cut, the latent part of attention and what joins are whole
    assert one.held(8, 1) == pytest.approx(2 * (11.32e9 / 8 + 7168**2 * 2), rel=0.05)
    # one layer of latent attention: 512 + 64 values of 2 bytes, on every device
    assert one.token(8, Bytes(2.0)) == 1152


def test_a_trained_head_by_hand() -> None:
    """Llama 3 8B: q, k, v of 2 x 4,096 by 4,096 + 2 x 1,024, o, feed-forward of 14,336, 3 states, 32,000 tokens."""
    by_hand = 8192 * (4096 + 2048) + 4096**2 + 3 * 4096 * 14336 + 3 * 4096**2 + 32_000 * 4096
    one = of("llama-3-8b")
    assert one.parameters == pytest.approx(by_hand, rel=1e-3)
    assert one.token(1, Bytes(2.0)) == 2 * 8 * 128 * 2


def test_a_model_that_drafts_is_held_whole() -> None:
    """8.03 billion parameters in 16 bit over four devices; 32 layers of 2 x 2 heads of 128."""
    one = of("llama-3-70b", "llama-3-8b")
    assert one.alone
    assert one.held(4, 1) == pytest.approx(2 * 8.03e9 / 4, rel=0.01)
    assert one.token(4, Bytes(2.0)) == 32 * 2 * 2 * 128 * 2
    # eight key-value heads and 32 heads: three devices do not share them evenly
    assert one.tensor(3) == 2


def test_configurations_say_how_many_layers_draft() -> None:
    config = {
        "model_type": "qwen3",
        "hidden_size": 1024,
        "num_hidden_layers": 4,
        "num_attention_heads": 8,
        "num_key_value_heads": 8,
        "intermediate_size": 2048,
        "vocab_size": 1000,
        "num_nextn_predict_layers": 2,
    }
    found = parse_config(json.dumps(config))
    assert found.shape.drafting_layers == 2
    one = drafter(found.shape, BF16, "", "s")
    layer = 4 * 1024**2 + 3 * 1024 * 2048
    assert one.parameters == pytest.approx(2 * (layer + 2 * 1024**2), rel=0.01)
    # the model itself is what it was
    assert found.shape.parameters == replace(found.shape, drafting_layers=0).parameters


def test_what_drafts_takes_room_for_keys_and_values() -> None:
    """Room is what a token takes times how many fit: less by the weights of the head, of more bytes a token."""
    plain, head, small = (
        served(**extra)
        for extra in (
            {},
            {"drafts": 3, "acceptance": 0.7},
            {"drafts": 3, "acceptance": 0.7, "draft_model": "llama-3-8b"},
        )
    )
    before, after, least = (one.metrics["kv_capacity"].value for one in (plain, head, small))
    # 80 layers of 2 x 2 heads of 128 in 16 bit
    token = 80 * 2 * 2 * 128 * 2
    weights = of("llama-3-70b").held(4, 1)
    assert after == pytest.approx((before * token - weights) / (token + 2 * 2 * 128 * 2), rel=0.001)
    assert least == pytest.approx((before * token - 8.03e9 / 2) / (token + 32 * 2 * 2 * 128 * 2), rel=0.001)
    texts = [" ".join(f.text for f in one.findings if f.code == "SERVE-DRAFTER") for one in (head, small)]
    assert "assumed" in texts[0]
    assert "Llama 3 8B drafts" in texts[1]
    # a model reads prompts as well, and drafting one token with it takes longer than with a layer
    assert small.metrics["ttft"].value > head.metrics["ttft"].value
    assert small.metrics["tpot"].value > head.metrics["tpot"].value


def test_the_crossing_is_drawn() -> None:
    """A model that drafts loses where many decode at once: the curve falls from above one to below it."""
    found = served(curves=True, drafts=3, acceptance=0.7, draft_model="llama-3-8b")
    with_drafts, without = found.curves["serving-drafts"]
    assert with_drafts.y[0] > 1 > with_drafts.y[-1]
    assert set(without.y) == {1.0}
    text = next(f.text for f in found.findings if "pays up to" in f.text)
    most = int(text.split("pays up to ")[1].split(" ")[0])
    below = [y for x, y in zip(with_drafts.x, with_drafts.y, strict=True) if x <= most]
    above = [y for x, y in zip(with_drafts.x, with_drafts.y, strict=True) if x > most]
    assert min(below) > 1
    assert max(above) <= 1


@pytest.mark.parametrize(
    ("named", "words"),
    [("llama-2-7b", "cannot be verified"), ("resnet-50", "gives no tokens"), ("none-9b", "no model")],
)
def test_models_that_cannot_draft_are_refused(named: str, words: str) -> None:
    with pytest.raises(AnalysisError, match=words) as stated:
        of("llama-3-70b", named)
    assert stated.value.remedy
