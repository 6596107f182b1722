"""The script that measures a server, run with tools that print what real ones did, and its file in ``calibrate``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from designer.__main__ import main as run
from designer.interchange.templates import open_design
from tests.unit.cli.test_validate_calibrate import NCCL, NVBANDWIDTH

pytestmark = [
    pytest.mark.without_qt,
    pytest.mark.skipif(shutil.which("sh") is None, reason="a POSIX shell runs the script"),
]


def measured(folder: Path, tools: dict[str, str], **environment: str) -> Path:
    """The file the script writes where these tools are in PATH; a tool without output fails."""
    found = folder / "bin"
    found.mkdir()
    for name in ("sed", "date", "uname", "grep", "cat"):
        os.symlink(str(shutil.which(name)), found / name)
    for name, output in tools.items():
        (found / f"{name}.txt").write_text(output)
        body = f'echo "$@" >"{found}/{name}.arguments"; cat "{found}/{name}.txt"' if output else "exit 3"
        (found / name).write_text(f"#!/bin/sh\n{body}\n")
        (found / name).chmod(0o755)
    script, file = folder / "measure.sh", folder / "measured.txt"
    assert run(["measure", "-o", str(script)]) == 0
    shell = str(shutil.which("sh"))
    given = {"PATH": str(found), **environment}
    done = subprocess.run([shell, str(script), str(file)], env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # it never writes over what is there
    again = subprocess.run([shell, str(script), str(file)], env=given, capture_output=True, text=True, check=False)
    assert again.returncode == 2
    return file


def test_one_file_of_measurements_fits_links_and_drives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "data"
    data.write_bytes(b"0")
    tools = {
        "nvbandwidth": NVBANDWIDTH,
        "all_reduce_perf": NCCL,
        "fio": json.dumps({"jobs": [{"read": {"bw_bytes": 3_000_000_000}}]}),
    }
    file, fitted = measured(tmp_path, tools, FIO_FILE=str(data), GPUS="4"), tmp_path / "fitted.design.json"
    assert "-g 4" in (tmp_path / "bin" / "all_reduce_perf.arguments").read_text()
    assert "--readonly" in (tmp_path / "bin" / "fio.arguments").read_text()
    capsys.readouterr()
    assert run(["calibrate", "hgx-h100-8", str(file), "--tool", "measured", "-o", str(fitted), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["measured"] for one in found["fitted"]] == [20e9, 350e9, 3e9, 3e9, 3e9]
    design = open_design(fitted)
    assert {"calibration-nvbandwidth", "calibration-nccl-tests", "calibration-fio"} <= set(design.sources)
    # each output fits as it does alone
    assert found["fitted"][0]["factor"] == pytest.approx(20e9 / found["fitted"][0]["predicted"])


def test_tools_that_fail_or_are_missing_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = measured(tmp_path, {"nvbandwidth": "", "fio": "{}"})
    assert "===" not in file.read_text()
    capsys.readouterr()
    assert run(["calibrate", "hgx-h100-8", str(file), "--tool", "measured", "-o", str(tmp_path / "o.json")]) == 2
    assert "no output of a tool" in capsys.readouterr().err


def test_outputs_that_fit_nothing_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "measured.txt"
    products = "=== designer: products\n1024 1024 1024 bf16 1e-5\n=== end\n"
    file.write_text(products)
    command = ["calibrate", "hgx-h100-8", str(file), "--tool", "measured", "-o", str(tmp_path / "o.design.json")]
    assert run(command) == 2
    assert "nothing to fit in products" in capsys.readouterr().err
    file.write_text(products + f"=== designer: nccl-tests\n{NCCL}=== end\n")
    assert run(command) == 0
    assert "not fitted: products" in capsys.readouterr().out


def test_the_file_is_given_back_as_measurements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was fitted is met: the copy within 1 %, one request of 4 KiB in 250 us as 16.4 MB/s; products are kept."""
    data = tmp_path / "data"
    data.write_bytes(b"0")
    one = {"jobs": [{"job options": {"bs": "4k", "iodepth": "1"}, "read": {"bw_bytes": 16_400_000}}]}
    file = measured(tmp_path, {"nvbandwidth": NVBANDWIDTH, "all_reduce_perf": NCCL}, GPUS="8")
    with file.open("a") as more:
        more.write(f"=== designer: fio\n{json.dumps(one)}\n=== end\n")
        more.write("=== designer: products\n4096 4096 4096 bf16 2e-4\n=== end\n")
    fitted, cases = tmp_path / "fitted.design.json", tmp_path / "cases.json"
    options = ["--tool", "measured", "-o", str(fitted), "--cases", str(cases)]
    assert run(["calibrate", "hgx-h100-8", str(file), *options]) == 0
    kept = json.loads(cases.read_text())
    assert [each["workload"]["kind"] for each in kept["cases"]] == [
        "transfer",
        "collective",
        "collective",
        "transfer",
        "product",
    ]
    assert "measured on" in kept["cases"][0]["source"]
    kept["cases"] = [{**each, "design": fitted.name} for each in kept["cases"]]
    cases.write_text(json.dumps(kept))
    capsys.readouterr()
    assert run(["validate", str(cases), "--json"]) == 0
    errors = [each["error"] for each in json.loads(capsys.readouterr().out)["cases"]]
    assert errors[0] < 0.01
    assert errors[3] < 0.03
    assert max(errors) < 0.3


def test_cases_of_one_tool_name_the_template(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output, cases = tmp_path / "all_reduce.txt", tmp_path / "cases.json"
    output.write_text(NCCL)
    command = ["calibrate", "hgx-h100-8", str(output), "-o", str(tmp_path / "o.design.json"), "--cases", str(cases)]
    assert run([*command, "--tool", "nccl-tests"]) == 0
    first = json.loads(cases.read_text())["cases"][0]
    assert (first["design"], first["metric"], first["value"]) == ("hgx-h100-8", "bus_bandwidth", 293.6e9)
    capsys.readouterr()
    assert run([*command, "--tool", "serving"]) == 2
    assert "serving gives no case" in capsys.readouterr().err
