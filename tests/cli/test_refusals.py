"""Bad input: exit code 2 and one message with file, place and remedy; quickly, and in bounded memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.calling import call, measured

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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_behind_the_output_is_no_mistake_of_the_program(checkout: Path):
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "designer", "templates"]
        done = subprocess.run(command, cwd=checkout, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert b"No space left" in done.stderr
    assert b"mistake" not in done.stderr
    assert b"Traceback" not in done.stderr


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
