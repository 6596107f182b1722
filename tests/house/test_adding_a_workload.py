"""A new workload is one new file, as the documentation says: its file is put into a copy of the program and run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json
import designer
from designer.design.document import WorkloadSpec

design = designer.open_design("su-h100-32")
spec = WorkloadSpec(id="nightly", kind="backup", settings={"from": "%(drives)s", "nights": 2, "size": "500 GB"})
design = design.model_copy(update={"workloads": {**design.workloads, "nightly": spec}})
answer = designer.analyze(design, ["nightly"]).workloads[0]
run = designer.simulate(design, ["nightly"])
print(json.dumps({
    "time": answer.metrics["transfer_time"].value, "binding": [b.id for b in answer.binding],
    "ends": run.run.ends("nightly", "copy"), "metrics": {k: m.value for k, m in run.metrics["nightly"].items()},
}))
"""


def test_the_backup_of_the_documentation_is_one_new_file(checkout: Path, tmp_path: Path) -> None:
    text = (checkout / "docs" / "adding-a-workload.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert block is not None
    shutil.copytree(checkout / "designer", tmp_path / "designer", ignore=shutil.ignore_patterns("gui"))
    for folder in ("assets", "templates"):
        (tmp_path / folder).symlink_to(checkout / folder)
    (tmp_path / "designer" / "workload" / "kinds" / "backup.py").write_text(block[1], encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT % {"drives": "drives"}],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["time"] > 0
    assert found["binding"]
    assert found["metrics"]["transfer_time"] == found["time"]
    # the second night begins a day after the first
    assert abs(found["ends"][1] - found["ends"][0] - 86400) < 1e-6 * 86400
    listed = subprocess.run(
        [sys.executable, "-m", "designer", "workloads", "backup"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Bytes per drive" in listed.stdout, listed.stderr
