"""Weights that nobody names are those of the checkpoint, as engines load it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import designer
from designer.design.document import WorkloadSpec
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.findings import Severity

LLAMA = {
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


def served(template: str = "hgx-h100-8", **settings: object) -> WorkloadResult:
    spec = WorkloadSpec(id="s", kind="serving", settings={**ALONE, **settings})
    design = designer.open_design(template).model_copy(update={"workloads": {"s": spec}})
    return designer.analyze(design, ["s"]).workloads[0]


def value(result: WorkloadResult, name: str) -> float:
    return result.metrics[name].value


def said(result: WorkloadResult) -> list[tuple[Severity, str]]:
    return [(f.severity, f.text) for f in result.findings if f.code == "SERVE-PUBLISHED"]


def test_deepseek_is_served_in_fp8_where_that_fits() -> None:
    """671.0 billion weights, 1.85 billion of embedding and head in 16 bit: 672.9 GB, 84.1 GB on each of eight, and
    what every device holds whole. Nine tenths of 141 GiB (of 151 GB) leave 50 GB, of 80 GiB (of 86 GB) nothing."""
    found = served("hgx-h200-8", model="deepseek-v3")
    (stated,) = said(found)
    assert stated[0] is Severity.INFO
    assert "served in fp8" in stated[1]
    # a token keeps 61 layers x (512 + 64) x 2 B = 70,272 B on every device
    room = 0.9 * 141 * 2**30 - 84.1e9
    assert 0.9 * room < value(found, "kv_capacity") * 70_272 < 1.02 * room
    with pytest.raises(AnalysisError, match=r"84\.\d GB of fp8 weights") as refused:
        served("hgx-h100-8", model="deepseek-v3")
    assert "weights=int4" in refused.value.remedy


def test_what_is_asked_wins() -> None:
    """671 billion weights in 16 bit are 168 GB on each of eight."""
    with pytest.raises(AnalysisError, match=r"16\d GB of bf16 weights"):
        served("hgx-h200-8", model="deepseek-v3", weights="bf16")
    asked = served(model="gpt-oss-120b", weights="bf16", tensor=8)
    assert not said(asked)
    assert value(asked, "kv_capacity") < value(served(model="gpt-oss-120b", tensor=8), "kv_capacity")


def test_a_config_is_served_as_it_says(tmp_path: Path) -> None:
    """8.03 billion weights, 6.98 billion of them in layers: in 8 bit 6.98 GB less are read for a token, 2.08 ms at
    3.35 TB/s, a little longer at what memory reaches."""
    path = tmp_path / "Llama" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(LLAMA | FP8), encoding="utf-8")
    auto, fp8, bf16 = (served(model=str(path), tensor=1, **w) for w in ({}, {"weights": "fp8"}, {"weights": "bf16"}))
    assert {k: m.value for k, m in auto.metrics.items()} == {k: m.value for k, m in fp8.metrics.items()}
    assert "served in fp8, as it is published: quant_method fp8" in said(auto)[0][1]
    assert 0.5 * 2.08e-3 < value(bf16, "tpot") - value(auto, "tpot") < 1.3 * 2.08e-3
    # 131,072 B of keys and values a token: 6.98 GB are 53,253 tokens
    assert value(auto, "kv_capacity") - value(bf16, "kv_capacity") == pytest.approx(6.98e9 / 131_072, rel=0.02)


def test_16_bit_is_taken_where_nothing_is_said_and_told_where_it_is_not_known() -> None:
    plain, named = (served(model=json.dumps(LLAMA), tensor=1, **w) for w in ({}, {"weights": "bf16"}))
    assert {k: m.value for k, m in plain.metrics.items()} == {k: m.value for k, m in named.metrics.items()}
    assert not said(plain)
    odd = served(model=json.dumps(LLAMA | {"quantization_config": {"quant_method": "aqlm"}}), tensor=1)
    ((severity, text),) = said(odd)
    assert severity is Severity.WARNING
    assert "aqlm" in text
    assert value(odd, "kv_capacity") == value(plain, "kv_capacity")


def test_prompts_apart_say_it_once() -> None:
    apart = {"group": "gpu0,gpu1,gpu2,gpu3", "prompt_group": "gpu4,gpu5,gpu6,gpu7", "tensor": 4, "prompt_tensor": 4}
    assert len(said(served(model="gpt-oss-120b", load="rate", rate="1 1/s", count=50, **apart))) == 1


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
