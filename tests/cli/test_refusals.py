"""Bad input: exit code 2 and one message with file, place and remedy; quickly, and in bounded memory."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from designer.resources import templates
from tests.cli.calling import Call, call, measured

# Bad input: exit code 2 and one message with file, place and remedy; quickly, and in bounded memory.

pytestmark = pytest.mark.without_qt


Change = Callable[[dict[str, Any]], None]


GPU = {"id": "gpu0", "kind": "gpu"}


def written(folder: Path, change: Change | None = None, **envelope: Any) -> Path:
    """A small sound design with one thing changed."""
    design: dict[str, Any] = {
        "name": "small",
        "parts": [{"id": "cpu0", "kind": "cpu"}, {"id": "mem0", "kind": "memory"}, dict(GPU)],
        "links": [
            {"id": "bus", "a": "cpu0", "b": "mem0", "kind": "memory_bus", "bandwidth_per_direction": "300 GB/s"},
            {"id": "slot", "a": "cpu0", "b": "gpu0", "kind": "pcie", "generation": 5, "lanes": 16},
        ],
        "groups": [],
        "workloads": [{"id": "h2d", "kind": "transfer"}],
    }
    if change is not None:
        change(design)
    file = folder / "bad.design.json"
    file.write_text(json.dumps({"format": "designer-design", "version": 1, "design": design, **envelope}), "utf-8")
    return file


def test_the_small_design_itself_is_sound(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert call(capsys, "analyze", written(tmp_path)).code == 0


def group(replicas: int, depth: int = 1) -> dict[str, Any]:
    content: dict[str, Any] = {"parts": [GPU]}
    for level in range(depth - 1):
        content = {"groups": [{"id": f"g{level}", "replicas": replicas, "content": content}]}
    return {"id": "many", "replicas": replicas, "content": content}


CHANGES: dict[str, tuple[Change, str]] = {
    "unknown unit": (lambda d: d["links"][0].update(bandwidth_per_direction="300 parsec"), "parsec"),
    "unit of something else": (lambda d: d["links"][0].update(bandwidth_per_direction="300 GB"), "300 GB"),
    "negative speed": (lambda d: d["links"][0].update(bandwidth_per_direction="-3 GB/s"), "-3 GB/s"),
    "no number": (lambda d: d["links"][0].update(bandwidth_per_direction="nan GB/s"), "nan"),
    "negative width": (lambda d: d["links"][1].update(lanes=-16), "lanes"),
    "no cables": (lambda d: d["links"][1].update(count=0), "count"),
    "generation 99": (lambda d: d["links"][1].update(generation=99), "generation"),
    "containment in a circle": (
        lambda d: (d["parts"][0].update(parent="mem0"), d["parts"][1].update(parent="cpu0")),
        "cpu0|mem0",
    ),
    "contained in itself": (lambda d: d["parts"][0].update(parent="cpu0"), "cpu0"),
    "contained in nothing": (lambda d: d["parts"][0].update(parent="rack7"), "rack7"),
    "dangling link": (lambda d: d["links"][1].update(b="gpu7"), "gpu7"),
    "link to itself": (lambda d: d["links"][1].update(b="cpu0"), "slot"),
    "the same id twice": (lambda d: d["parts"].append(dict(GPU)), "gpu0"),
    "an id that is a path": (lambda d: d["parts"][2].update(id="../gpu"), "id"),
    "10^9 replicas": (lambda d: d["groups"].append(group(10**9)), "replicas|million|1,000,000"),
    "10^6 × 10^6 replicas": (lambda d: d["groups"].append(group(10**6, 2)), "1,000,000,000,003 parts"),
    "10^36 replicas": (lambda d: d["groups"].append(group(10**6, 6)), "replicas"),
    "a key nobody knows": (lambda d: d["links"][0].update(colour="red"), "colour"),
    "a list for a name": (lambda d: d.update(name=["x"]), "name"),
    "parts as a number": (lambda d: d.update(parts=7), "parts"),
    "wiring without a pattern": (
        lambda d: d.update(wirings=[{"id": "w", "pattern": "spiral", "a": "cpu0", "b": "gpu0", "kind": "pcie"}]),
        "spiral",
    ),
    "unknown workload kind": (lambda d: d["workloads"][0].update(kind="teleport"), "teleport"),
    "unknown setting": (lambda d: d["workloads"][0].update(settings={"speed": 3}), "speed"),
    "setting with a wrong unit": (lambda d: d["workloads"][0].update(settings={"size": "3 GB/s"}), "3 GB/s"),
    "workload on nothing": (lambda d: d["workloads"][0].update(settings={"to": "tpus"}), "tpus"),
    "workload without a way": (lambda d: d["links"].pop(1), "no way"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_bad_design(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str):
    import re

    change, word = CHANGES[name]
    file = written(tmp_path, change)
    message = call(capsys, "analyze", file).message
    assert str(file) in message
    assert re.search(word, message), message
    assert "—" in message, "a remedy"
    assert len(message) < 600


FILES: dict[str, bytes] = {
    "empty": b"",
    "truncated": b'{"format": "designer-design", "version": 1, "design": {"name": "x", "par',
    "no object": b"[1, 2, 3]",
    "null": b"null",
    "a number": b"7",
    "noise": bytes(range(256)) * 40,
    "another format": b'{"format": "something-else", "version": 1}',
    "a newer version": b'{"format": "designer-design", "version": 99, "design": {"name": "x"}}',
    "version zero": b'{"format": "designer-design", "version": 0, "design": {"name": "x"}}',
    "a text for a version": b'{"format": "designer-design", "version": "1", "design": {"name": "x"}}',
    "no design": b'{"format": "designer-design", "version": 1}',
    "deep": b"[" * 100_000,
    "a huge number": b'{"format": "designer-design", "version": 1' + b"0" * 5000 + b"}",
    "a key twice": b'{"format": "designer-design", "version": 1, "version": 1, "design": {"name": "x"}}',
    "half a character": b'{"format": "designer-design", "version": 1, "design": {"name": "\xff"}}',
    "a lone surrogate": b'{"format": "designer-design", "version": 1, "design": {"name": "\\ud800"}}',
    "NaN": b'{"format": "designer-design", "version": NaN, "design": {"name": "x"}}',
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["analyze", "summary"])
def test_a_bad_file(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, command: str):
    file = tmp_path / "bad.design.json"
    file.write_bytes(FILES[name])
    message = call(capsys, command, file).message
    assert str(file) in message
    assert "—" in message


@pytest.mark.parametrize("command", ["analyze", "summary"])
def test_no_such_design(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str):
    assert "'nosuch'" in call(capsys, command, "nosuch").message
    assert "designer templates" in call(capsys, command, "nosuch").message
    assert str(tmp_path) in call(capsys, command, tmp_path).message
    assert call(capsys, command, tmp_path / "missing.design.json").message
    assert call(capsys, command, "../templates/dgx2").message
    assert call(capsys, command, "").message
    assert call(capsys, command, "a" * 5000).message
    assert call(capsys, command, "nul\0byte").message


def test_unknown_names(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert "h2d" in call(capsys, "analyze", "dgx2", "--workload", "nosuch").message
    assert "designer templates" in call(capsys, "new", "--template", "nosuch", "-o", tmp_path / "x.design.json").message
    assert "frobnicate" in call(capsys, "frobnicate").message
    assert call(capsys, "import", tmp_path / "missing.xml").message
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [["summary"], ["analyze", "dgx2", "--what"], ["new", "--template", "dgx2"]])
def test_arguments_that_do_not_fit(capsys: pytest.CaptureFixture[str], arguments: list[str]):
    found = call(capsys, *arguments)
    assert found.code == 2
    assert "usage: designer" in found.err


def test_a_dump_of_a_machine_is_to_be_imported(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    (tmp_path / "topo.txt").write_text("\tGPU0\tGPU1\nGPU0\t X \tNV2\nGPU1\tNV2\t X \n")
    answer = call(capsys, "analyze", str(tmp_path / "topo.txt"))
    assert answer.code == 2
    assert f"import it: designer import {tmp_path / 'topo.txt'} -o" in answer.err


def test_a_workload_file_without_settings_shows_the_form(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    (tmp_path / "mine.json").write_text('{"kind": "transfer", "from": "memory"}')
    answer = call(capsys, "analyze", "hgx-h100-8", "--workload-file", str(tmp_path / "mine.json"))
    assert answer.code == 2
    assert "'from' is not a key of a workload" in answer.err
    assert '"settings": {' in answer.err


def test_no_display(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    answer = call(capsys, "gui")
    assert answer.code == 2
    assert "no display" in answer.err


def test_places_that_cannot_be_written(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    message = call(capsys, "new", "--template", "dgx2", "-o", tmp_path / "none" / "x.design.json").message
    assert "x.design.json" in message
    assert call(capsys, "new", "--template", "dgx2", "-o", tmp_path).code == 2


def test_a_pipe_or_device_is_no_file(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert call(capsys, "analyze", "/dev/null").message
    fifo = tmp_path / "pipe.design.json"
    os.mkfifo(fifo)
    assert call(capsys, "analyze", fifo).message


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {y} "{f"&{x};" * 10}">' for x, y in zip("abcdefgh", "bcdefghi", strict=True))
    + ']><system version="1"><cpu numaid="&i;"/></system>'
)


def test_an_xml_bomb(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    file = tmp_path / "bomb.xml"
    file.write_text(BOMB, "utf-8")
    message = call(capsys, "import", file, "-o", tmp_path / "x.design.json").message
    assert str(file) in message
    assert not (tmp_path / "x.design.json").exists()


class TestBounded:
    """As processes of their own: within two seconds and a few hundred megabytes."""

    @staticmethod
    def refused(*arguments: str | Path, megabytes: float = 400) -> None:
        found = measured(*arguments)
        assert found.message
        assert found.megabytes < megabytes
        assert found.seconds < 10  # ample for a busy machine; the benches measure

    def test_many_replicas(self, tmp_path: Path):
        self.refused("analyze", written(tmp_path, lambda d: d["groups"].append(group(10**6, 2))), megabytes=150)

    def test_a_million_replicas_of_many_parts(self, tmp_path: Path):
        content = {"parts": [{"id": f"gpu{i}", "kind": "gpu"} for i in range(64)]}
        change: Change = lambda d: d["groups"].append({"id": "m", "replicas": 10**6, "content": content})  # noqa: E731
        self.refused("analyze", written(tmp_path, change), megabytes=150)

    def test_noise_of_a_hundred_megabytes(self, tmp_path: Path):
        file = tmp_path / "noise.design.json"
        block = bytes(range(256)) * 4096
        with file.open("wb") as stream:
            for _ in range(100):
                stream.write(block)
        self.refused("analyze", file)
        self.refused("import", file)

    def test_a_file_larger_than_any_design(self, tmp_path: Path):
        file = tmp_path / "huge.design.json"
        with file.open("wb") as stream:
            stream.truncate(4 * 10**9)
        self.refused("analyze", file, megabytes=150)
        self.refused("import", file, megabytes=150)

    def test_deep_json_and_xml(self, tmp_path: Path):
        file = tmp_path / "deep.design.json"
        file.write_bytes(b'{"design":' * 1_000_000)
        self.refused("analyze", file)
        xml = tmp_path / "deep.xml"
        xml.write_bytes(b"<system>" + b"<pci>" * 1_000_000)
        self.refused("import", xml)


@pytest.mark.parametrize("command", ["analyze", "summary"])
def test_titles_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str):
    """A design may come from anybody; the JSON form keeps the title as it is."""

    def change(design: dict[str, Any]) -> None:
        design["title"] = "red \x1b[31m \x9b2J 机器"
        design["workloads"][0]["title"] = "clear \x1b[2J \x9b2J"

    file = written(tmp_path, change)
    said = call(capsys, command, file)
    assert said.code == 0
    assert "red \ufffd[31m \ufffd2J 机器" in said.out
    assert not {"\x1b", "\x9b"} & set(said.out + said.err)
    if command == "analyze":
        stated = json.loads(call(capsys, command, file, "--json").out)
        assert stated["workloads"][0]["title"] == "clear \x1b[2J \x9b2J"


# Training workloads that cannot be: one message naming place and remedy, or a finding that says what would do.

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
