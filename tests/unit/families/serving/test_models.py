"""What models bring to a step: drafters, images, published weights."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import designer
from designer.design.document import WorkloadSpec
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.families.serving.drafting import Drafter, drafter
from designer.families.serving.formulas._number_format import number_format
from designer.families.serving.images import REACHED, tower_size
from designer.findings import Severity
from designer.units import Bytes
from designer.workload.huggingface import parse_config
from designer.workload.models import model
from designer.workload.shape import TransformerShape
from tests.asked import answered
from tests.unit.families.serving.test_serving_workload import codes, served, value

# Images in requests: longer prompts, time of the part that sees, its memory, and what is refused.

GEMMA = {"model": "gemma-3-27b", "tensor": 2, "prompt": 500, "output": 100, "spread": 0, "count": 300, "rate": "1 1/s"}


#: two images of 4,096 patches on two H100: 5.46 TFLOP each, at 30 % of 2 x 989.4 TFLOP/s
GEMMA_TIME = 2 * 5.464e12 / (0.3 * 2 * 989.4e12)


def test_images_make_prompts_longer_and_take_time_by_hand() -> None:
    """Two images are 512 tokens: the first token comes as late as with so much text, and 18.4 ms later for reading."""
    plain, longer, images = served(**GEMMA), served(**{**GEMMA, "prompt": 1012}), served(**GEMMA, images=2)
    assert value(plain, "ttft") < value(longer, "ttft") < value(images, "ttft")
    # requests seldom meet at one a second; those that do wait for each other
    more = value(images, "ttft") - value(longer, "ttft")
    assert GEMMA_TIME <= more < 1.1 * GEMMA_TIME
    text = next(f.text for f in images.findings if f.code == "SERVE-IMAGES")
    assert "256 tokens" in text
    assert "assumed" in text
    assert "SERVE-IMAGES" not in codes(plain)


def test_the_band_holds_what_is_assumed() -> None:
    """At 10 % of the peak reading takes three times as long, which the band of the first token holds."""
    longer, images = served(**{**GEMMA, "prompt": 1012}), served(**GEMMA, images=2)
    slow = value(longer, "ttft") + GEMMA_TIME * REACHED.value / REACHED.low
    quick = value(longer, "ttft") + GEMMA_TIME * REACHED.value / REACHED.high
    assert images.metrics["ttft"].low < quick
    assert images.metrics["ttft"].high > slow
    # what can be answered at all falls by the time that the devices see, and its band with it
    most, text = images.metrics["most_requests_per_second"], longer.metrics["most_requests_per_second"]
    replicas = value(images, "replicas")
    assert replicas / most.value == pytest.approx(replicas / text.value + GEMMA_TIME, rel=0.1)
    assert most.value / most.low > text.value / text.low


def test_the_part_that_sees_is_in_memory() -> None:
    """Gemma 3: 418 million parameters in 16 bit over two devices, whether images come or not."""
    shape = model("gemma-3-27b")
    assert isinstance(shape, TransformerShape)
    assert tower_size(shape, 2) == pytest.approx(0.418e9, rel=0.01)
    # its 16 heads do not share out over three devices: each holds it whole
    assert tower_size(shape, 3) == pytest.approx(0.836e9, rel=0.01)
    assert value(served(**GEMMA), "kv_capacity") == value(served(**GEMMA, images=1), "kv_capacity")


def test_images_of_a_split_deployment_are_read_where_prompts_are() -> None:
    given = {**GEMMA, "group": "gpu0,gpu1", "prompt_group": "gpu2,gpu3", "prompt_tensor": 2}
    plain, images = served(**{**given, "prompt": 1012}), served(**given, images=2)
    assert value(images, "ttft") - value(plain, "ttft") >= 0.99 * GEMMA_TIME
    assert value(images, "tpot") == pytest.approx(value(plain, "tpot"), rel=0.01)


@pytest.mark.parametrize(
    ("given", "words", "place"),
    [
        ({"model": "llama-3-8b", "images": 1}, "sees no images", "workloads.s.images"),
        ({"images": 1, "image_width": 0}, "without pixels", "workloads.s.image_width"),
        ({"images": 1, "load": "agents"}, "agents that send images", "workloads.s.images"),
    ],
)
def test_images_that_cannot_be_are_refused(given: dict[str, object], words: str, place: str) -> None:
    with pytest.raises(AnalysisError, match=words) as stated:
        served(**{**GEMMA, **given})
    assert stated.value.place == place
    assert stated.value.remedy


def test_sides_without_images_are_said_to_change_nothing() -> None:
    assert "SERVE-UNUSED" in codes(served(**GEMMA, image_width=500))


# What drafts: its parameters, its memory on each device, and the load up to which it pays.

BF16 = number_format("bf16")


LLAMA = {"model": "llama-3-70b", "tensor": 4, "rate": "1 1/s", "prompt": 1000, "output": 200, "count": 300}


def of(name: str, named: str = "") -> Drafter:
    shape = model(name)
    assert isinstance(shape, TransformerShape)
    return drafter(shape, BF16, named, "s.draft_model")


def drafted(curves: bool = False, template: str = "hgx-h100-8", **changes: object) -> WorkloadResult:
    return answered(template, "serving", {**LLAMA, **changes}, curves)


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
        drafted(**extra)
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
    found = drafted(curves=True, drafts=3, acceptance=0.7, draft_model="llama-3-8b")
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


# Weights that nobody names are those of the checkpoint, as engines load it.

LLAMA_8B = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}


FP8 = {"quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic"}, "torch_dtype": "bfloat16"}


ALONE = {"release": "0.12.0", "load": "clients", "clients": 1, "prompt": 500, "output": 50, "spread": "0"}


def published(template: str = "hgx-h100-8", **settings: object) -> WorkloadResult:
    return answered(template, "serving", {**ALONE, **settings})


def said(result: WorkloadResult) -> list[tuple[Severity, str]]:
    return [(f.severity, f.text) for f in result.findings if f.code == "SERVE-PUBLISHED"]


def test_deepseek_is_served_in_fp8_where_that_fits() -> None:
    """671.0 billion weights, 1.85 billion of embedding and head in 16 bit: 672.9 GB, 84.1 GB on each of eight, and
    what every device holds whole. Nine tenths of 141 GiB (of 151 GB) leave 50 GB, of 80 GiB (of 86 GB) nothing."""
    found = published("hgx-h200-8", model="deepseek-v3")
    (stated,) = said(found)
    assert stated[0] is Severity.INFO
    assert "served in fp8" in stated[1]
    # a token keeps 61 layers x (512 + 64) x 2 B = 70,272 B on every device
    room = 0.9 * 141 * 2**30 - 84.1e9
    assert 0.9 * room < value(found, "kv_capacity") * 70_272 < 1.02 * room
    with pytest.raises(AnalysisError, match=r"84\.\d GB of fp8 weights") as refused:
        published("hgx-h100-8", model="deepseek-v3")
    assert "weights=int4" in refused.value.remedy


def test_what_is_asked_wins() -> None:
    """671 billion weights in 16 bit are 168 GB on each of eight."""
    with pytest.raises(AnalysisError, match=r"16\d GB of bf16 weights"):
        published("hgx-h200-8", model="deepseek-v3", weights="bf16")
    asked = published(model="gpt-oss-120b", weights="bf16", tensor=8)
    assert not said(asked)
    assert value(asked, "kv_capacity") < value(published(model="gpt-oss-120b", tensor=8), "kv_capacity")


def test_a_config_is_served_as_it_says(tmp_path: Path) -> None:
    """8.03 billion weights, 6.98 billion of them in layers: in 8 bit 6.98 GB less are read for a token, 2.08 ms at
    3.35 TB/s, a little longer at what memory reaches."""
    path = tmp_path / "Llama" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(LLAMA_8B | FP8), encoding="utf-8")
    auto, fp8, bf16 = (published(model=str(path), tensor=1, **w) for w in ({}, {"weights": "fp8"}, {"weights": "bf16"}))
    assert {k: m.value for k, m in auto.metrics.items()} == {k: m.value for k, m in fp8.metrics.items()}
    assert "served in fp8, as it is published: quant_method fp8" in said(auto)[0][1]
    assert 0.5 * 2.08e-3 < value(bf16, "tpot") - value(auto, "tpot") < 1.3 * 2.08e-3
    # 131,072 B of keys and values a token: 6.98 GB are 53,253 tokens
    assert value(auto, "kv_capacity") - value(bf16, "kv_capacity") == pytest.approx(6.98e9 / 131_072, rel=0.02)


def test_16_bit_is_taken_where_nothing_is_said_and_told_where_it_is_not_known() -> None:
    plain, named = (published(model=json.dumps(LLAMA_8B), tensor=1, **w) for w in ({}, {"weights": "bf16"}))
    assert {k: m.value for k, m in plain.metrics.items()} == {k: m.value for k, m in named.metrics.items()}
    assert not said(plain)
    odd = published(model=json.dumps(LLAMA_8B | {"quantization_config": {"quant_method": "aqlm"}}), tensor=1)
    ((severity, text),) = said(odd)
    assert severity is Severity.WARNING
    assert "aqlm" in text
    assert value(odd, "kv_capacity") == value(plain, "kv_capacity")


def test_prompts_apart_say_it_once() -> None:
    apart = {"group": "gpu0,gpu1,gpu2,gpu3", "prompt_group": "gpu4,gpu5,gpu6,gpu7", "tensor": 4, "prompt_tensor": 4}
    assert len(said(published(model="gpt-oss-120b", load="rate", rate="1 1/s", count=50, **apart))) == 1


def test_what_a_configuration_does_not_say_is_told() -> None:
    """An architecture nobody knows is read as a gated decoder, and that is no secret."""
    config = {
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "vocab_size": 32000,
        "torch_dtype": "bfloat16",
    }
    for family, stated in (("frobnicator", ["model_type 'frobnicator' is not known"]), ("llama", [])):
        for kind in ("serving", "training"):
            text = json.dumps({**config, "model_type": family, "intermediate_size": 11008})
            design = designer.open_design("hgx-h100-8")
            spec = WorkloadSpec.model_validate({"id": "s", "kind": kind, "settings": {"model": text}})
            found = designer.analyze(design.model_copy(update={"workloads": {"s": spec}}), ["s"]).workloads[0]
            texts = [f.text for f in found.findings if f.code == "MODEL-ASSUMED"]
            assert len(texts) == len(stated)
            assert all(words in text for words, text in zip(stated, texts, strict=True))
