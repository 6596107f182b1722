"""Training workloads that cannot be: one message naming place and remedy, or a finding that says what would do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from designer.resources import templates
from tests.cli.calling import Call, call

pytestmark = pytest.mark.without_qt

LLAMA: dict[str, Any] = {"model": "llama-2-7b", "sharding": "parameters"}
FED: dict[str, Any] = {**LLAMA, "dataset": "c4-en", "source": "drives"}
CONFIG: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "intermediate_size": 11008,
    "vocab_size": 32000,
}


def analyzed(
    capsys: pytest.CaptureFixture[str], folder: Path, settings: dict[str, Any], template: str = "hgx-h100-8"
) -> Call:
    content = json.loads((templates() / f"{template}.design.json").read_text("utf-8"))
    content["design"]["workloads"] = [{"id": "job", "kind": "training", "settings": settings}]
    content["design"]["default_workload"] = "job"
    file = folder / "bad.design.json"
    file.write_text(json.dumps(content), "utf-8")
    return call(capsys, "analyze", file, "--json")


def config(**changed: Any) -> dict[str, Any]:
    return {"model": json.dumps({**CONFIG, **changed})}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "tensor degree that does not divide": ({**LLAMA, "tensor": 3}, "8 accelerators do not divide by 3"),
    "more ranks than accelerators": ({**LLAMA, "data": 16}, "needs 16 accelerators, 'gpus' has 8"),
    "more stages than layers": ({**LLAMA, "pipeline": 8, "interleave": 5}, r"layout: 40 pipeline stages for 32 layers"),
    "interleaving without a pipeline": ({**LLAMA, "interleave": 3}, "pipeline of 2 or more"),
    "experts that do not divide": ({"model": "mixtral-8x7b", "expert": 3}, "expert degree of 3.*8 experts"),
    "experts of a dense model": ({**LLAMA, "expert": 2}, "no experts to spread"),
    "heads that do not divide": ({"model": "gpt2-xl", "tensor": 2}, r"layout: 25 attention heads"),
    "context longer than the sequence": ({**LLAMA, "context": 8, "sequence": 4}, "4 tokens of a sequence"),
    "context that does not divide": ({**LLAMA, "context": 8, "sequence": 4097}, "4097 tokens of a sequence"),
    "zero microbatch": ({**LLAMA, "micro_batch": 0}, r"job\.micro_batch: "),
    "microbatch above the batch": ({**LLAMA, "micro_batch": 16, "global_batch": 8}, r"job\.global_batch: .*128"),
    "batch that does not divide": ({**LLAMA, "micro_batch": 3, "global_batch": 64}, "take a multiple of 24"),
    "fewer samples than accelerators": ({"model": "resnet-50", "global_batch": 4}, r"job\.global_batch: .*8 samples"),
    "negative batch": ({**LLAMA, "global_batch": -8}, r"job\.global_batch: -8"),
    "huge batch": ({**LLAMA, "global_batch": 10**18}, r"job\.global_batch: .*1,000,000,000,000 at most"),
    "a batch of 4,000 digits": ({**LLAMA, "global_batch": 10**3999}, "a number of 4000 digits"),
    "huge epochs": ({**FED, "epochs": 1e308}, r"job\.epochs: "),
    "negative epochs": ({**FED, "epochs": -1}, r"job\.epochs: "),
    "epochs that are no number": ({**FED, "epochs": float("nan")}, "NaN is not a number"),
    "endless epochs": ({**FED, "epochs": float("inf")}, "Infinity is not a number"),
    "empty sequence": ({**LLAMA, "sequence": 0}, r"job\.sequence: "),
    "half a rank": ({**LLAMA, "tensor": 2.5}, r"job\.tensor: 2\.5"),
    "zero degree": ({**LLAMA, "tensor": 0}, "do not divide by 0"),
    "zero interleaves": ({**LLAMA, "interleave": 0}, "interleave is 0"),
    "unknown model": ({"model": "llama-9"}, r"job\.model: .*did you mean llama-3-8b"),
    "no model": ({"model": ""}, r"job\.model: "),
    "model file that is not there": ({"model": "nowhere.json"}, r"job\.model: not a file"),
    "broken model text": ({"model": '{"model_type":'}, r"job\.model, line 1, column 15: not JSON"),
    "empty model text": ({"model": "{}"}, r"job\.model, num_hidden_layers: no number of layers"),
    "unknown layer type": (config(layer_types=["tensor_soup"] * 32), r"job\.model, layer_types.*: .*tensor_soup"),
    "state-space layers": (config(layer_types=["mamba", "full_attention"] * 16), "state-space"),
    "negative layers": (config(num_hidden_layers=-3), r"job\.model, num_hidden_layers: -3"),
    "no heads": (config(num_attention_heads=0), r"job\.model, num_attention_heads: 0 is outside"),
    "unknown precision": ({**LLAMA, "precision": "fp3"}, r"job\.precision: .*bf16"),
    "unknown dataset": ({**FED, "dataset": "everything"}, r"job\.dataset: .*choose one of"),
    "data from parts that keep none": ({**FED, "source": "nics"}, r"job\.source: .*keeps no data"),
    "data from nowhere": ({**FED, "source": "attic"}, r"job\.source: "),
    "no workers": ({**FED, "workers": 0}, r"job\.workers: "),
    "more cached than read": ({**FED, "cached": "150 %"}, r"job\.cached: "),
    "background that is no workload": ({**FED, "background": "elsewhere"}, r"job\.background: "),
    "online without arrivals": ({**LLAMA, "online": True}, r"job\.arrival_rate: "),
    "checkpoints to parts that keep none": (
        {**LLAMA, "checkpoint_every": 10, "checkpoint_to": "nics"},
        r"job\.checkpoint_to: .*storage, drives or memory",
    ),
    "servers of parameters that keep none": (
        {"model": "resnet-50", "exchange": "parameter-server", "parameter_servers": "nics"},
        "keeps no weights",
    ),
    "servers of parameters for shards": ({**LLAMA, "exchange": "parameter-server"}, r"job\.sharding: "),
    "parts that cannot train": ({**LLAMA, "group": "nics"}, r"job\.group: .*cannot train"),
    "no accelerators named": ({**LLAMA, "group": " "}, r"job\.group: no accelerators"),
    "a convolutional network in slices": ({"model": "resnet-50", "tensor": 2}, "data-parallel only"),
    "a negative time": ({**LLAMA, "measured_compute": "-1 s"}, r"job\.measured_compute: "),
    "a time in bytes": ({**LLAMA, "measured_compute": "1 GB"}, r"job\.measured_compute: "),
    "a setting nobody knows": ({**LLAMA, "tensors": 2}, "no setting 'tensors'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_job_that_cannot_be_is_refused_with_place_and_remedy(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    settings, text = REFUSED[name]
    message = analyzed(capsys, tmp_path, settings).message
    assert re.search(text, message), message
    assert "bad.design.json: " in message or "nowhere.json: " in message
    assert "workloads.job" in message or "line 1" in message
    assert " — " in message


STATED: dict[str, tuple[dict[str, Any], str, str, int]] = {
    "a model too large as laid out": (
        {"model": "llama-2-7b", "sharding": "none"},
        "hgx-h100-8",
        "TRAIN-MEMORY.*this would fit: ",
        1,
    ),
    "a model too large for a server": (
        {"model": "llama-3-405b", "sharding": "parameters"},
        "hgx-h100-8",
        "TRAIN-MEMORY.*spread the model over [1-9]",
        1,
    ),
    "a sequence too long": ({**LLAMA, "sequence": 10**9}, "hgx-h100-8", "TRAIN-MEMORY.*shorter sequences", 1),
    "a microbatch too large": ({**LLAMA, "micro_batch": 1000}, "hgx-h100-8", "this would fit: TP1 PP1 DP8 mb1 ", 1),
    "a model that fits when it is split": (
        {"model": "llama-3-405b", "sharding": "optimizer"},
        "cluster-1024",
        "this would fit: TP",
        1,
    ),
    "a format the part has not": ({**LLAMA, "precision": "fp8"}, "hgx-a100-8", "TRAIN-PRECISION.*runs as bf16", 0),
    "accelerators left idle": ({**LLAMA, "data": 5}, "hgx-h100-8", "TRAIN-IDLE.*3 of 8", 0),
    "pictures for a language model": ({**FED, "dataset": "imagenet-1k"}, "hgx-h100-8", "TRAIN-DATASET", 0),
}


@pytest.mark.parametrize("name", STATED)
def test_a_job_that_is_odd_is_estimated_and_reported(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    settings, template, text, code = STATED[name]
    done = analyzed(capsys, tmp_path, settings, template)
    assert done.code == code
    answer = json.loads(done.out)
    stated = [f"{f['code']} {f['text']} {f['remedy']}" for f in answer["findings"]]
    assert any(re.search(text, one) for one in stated), stated
    assert answer["workloads"][0]["metrics"]["step_time"]["value"] > 0


def test_a_layout_that_is_said_to_fit_fits(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    job = {"model": "llama-3-405b", "sharding": "optimizer"}
    stated = json.loads(analyzed(capsys, tmp_path, job, "cluster-1024").out)["findings"]
    remedy = next(f["remedy"] for f in stated if f["code"] == "TRAIN-MEMORY")
    first = remedy.removeprefix("this would fit: ").split(";")[0]
    tensor, pipeline = (int(re.search(rf"{n}(\d+)", first)[1]) for n in ("TP", "PP"))  # type: ignore[index]
    sharding = "parameters" if "shard-parameters" in first else "optimizer"
    recompute, together = "full" if "recompute-full" in first else "none", " SP" in first
    again = {**job, "tensor": tensor, "pipeline": pipeline, "sharding": sharding, "recompute": recompute}
    again["sequence_parallel"] = together
    assert analyzed(capsys, tmp_path, again, "cluster-1024").code == 0
