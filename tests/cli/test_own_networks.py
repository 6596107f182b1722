"""Own products and own image networks from the command line: words, JSON, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from designer.cli.main import run

LAYERS: list[dict[str, Any]] = [
    {"convolution": [3, 64], "kernel": 7, "stride": 2},
    {"pool": 2},
    {"convolution": [64, 64], "kernel": 3, "times": 6},
    {"dense": [64, 1000]},
]


def asked(folder: Path, layers: list[dict[str, Any]], **settings: Any) -> list[str]:
    """A network of 512 samples on the eight accelerators of a template."""
    network, workload = folder / "net.json", folder / "own.json"
    network.write_text(json.dumps({"name": "mine", "sample": "3x224x224", "layers": layers}), encoding="utf-8")
    values = {"model": str(network), "software": "tuned", "precision": "fp16", "global_batch": 512, **settings}
    workload.write_text(json.dumps({"id": "own", "kind": "training", "settings": values}), encoding="utf-8")
    return ["analyze", "hgx-h100-8", "--workload-file", str(workload), "--workload", "own"]


def metrics(command: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run([*command, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["workloads"][0]["metrics"]


def test_a_network_of_layers_is_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = asked(tmp_path, LAYERS)
    assert run(command) == 0
    assert "samples_per_second" in capsys.readouterr().out
    once = metrics(command, capsys)["compute_time"]["value"]
    twice = metrics(asked(tmp_path, [*LAYERS, *LAYERS[2:3]]), capsys)["compute_time"]["value"]
    assert once < twice < 2 * once


def test_a_wrong_layer_names_file_layer_and_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(asked(tmp_path, [*LAYERS, {"dense": [64, 0]}])) == 2
    error = capsys.readouterr().err
    assert "net.json" in error
    assert "layers[4]" in error
    assert "give a whole number" in error


def test_release_and_optimizer_are_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fused, loop = (
        metrics(asked(tmp_path, LAYERS, optimizer=one), capsys)["step_time"]["value"] for one in ("fused", "for-loop")
    )
    assert loop > fused
    assert run(asked(tmp_path, LAYERS, release="soon")) == 2
    assert "workloads.own.release" in capsys.readouterr().err


def test_a_product_of_eight_thousand_on_h100(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """2 x 8192^3 = 1.0995 PFLOP at 713 TFLOP/s: 1.54 ms; eight bit is quicker, half the rows take about half."""
    path = tmp_path / "p.json"

    def product(**settings: Any) -> dict[str, Any]:
        values = {"m": 8192, "n": 8192, "k": 8192, "precision": "bf16", **settings}
        path.write_text(json.dumps({"id": "p", "kind": "product", "settings": values}), encoding="utf-8")
        return metrics(["analyze", "hgx-h100-8", "--workload-file", str(path), "--workload", "p"], capsys)

    whole = product()
    time, rate = whole["product_time"]["value"], whole["product_rate"]["value"]
    assert time * rate == pytest.approx(2 * 8192**3)
    assert 600e12 < rate < 800e12
    assert product(precision="fp8")["product_time"]["value"] < 0.7 * time
    assert product(m=4096)["product_time"]["value"] == pytest.approx(time / 2, rel=0.1)
