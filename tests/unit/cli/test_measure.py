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
