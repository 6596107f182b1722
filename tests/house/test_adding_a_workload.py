"""A new workload is one new file, as the documentation says: the page is followed in a copy of the program."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

#: answers of all doors to one design with the new workload and a promise about it
SCRIPT = """
import json
import designer
from designer.design.document import Assertion, WorkloadSpec

design = designer.open_design("su-h100-32")
spec = WorkloadSpec(id="copies", kind="backup", settings={"size": "5 GB"})
kept = Assertion(id="kept", expression="backup_time(copies) <= 1 min")
broken = Assertion(id="broken", expression="backup_time(copies) <= 1 s")
design = design.model_copy(update={
    "workloads": {"copies": spec}, "default_workload": "copies", "assertions": {"kept": kept, "broken": broken},
})
designer.save_design(design, "my.json")
answer = designer.analyze(design, ["copies"]).workloads[0]
run = designer.simulate(design, ["copies"])
again = run.metrics["copies"]["backup_time"]
first = answer.metrics["backup_time"]
print(json.dumps({
    "analyzed": [first.value, first.low, first.high], "simulated": [again.value, again.low, again.high],
    "binding": [b.id for b in answer.binding], "bound": [b.id for b in run.binding["copies"].alone],
    "ends": run.run.ends("copies", "copy"),
}))
"""

FORM = """
from PySide6.QtWidgets import QApplication
app = QApplication([])
from designer.gui.dialogs.workload_dialog import WorkloadDialog
dialog = WorkloadDialog(None)
dialog.kind.setCurrentIndex(dialog.kind.findData("backup"))
print(dialog.kind.currentText(), *dialog.heads, *(label for label in dialog.fields))
"""


@pytest.fixture(scope="module")
def copy(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program with the file of the page."""
    made = tmp_path_factory.mktemp("copy")
    text = (checkout / "docs" / "adding-a-workload.md").read_text(encoding="utf-8")
    block = re.search(r"Save it as `([^`]+)`:\n\n```python\n(.*?)```", text, re.DOTALL)
    assert block is not None
    for folder in ("designer", "tests"):
        shutil.copytree(checkout / folder, made / folder, ignore=shutil.ignore_patterns("pictures", "__pycache__"))
    for folder in ("assets", "templates", "docs", "pyproject.toml", "README.md"):
        (made / folder).symlink_to(checkout / folder)
    (made / block[1]).write_text(block[2], encoding="utf-8")
    return made


def ran(copy: Path, *what: str) -> str:
    done = subprocess.run(
        [sys.executable, *what],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "QT_QPA_PLATFORM": "offscreen", "HOME": str(copy)},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout + done.stderr


def test_analyze_and_simulate_answer_it_alike(copy: Path) -> None:
    found = json.loads(ran(copy, "-c", SCRIPT))
    # by hand: 5 GB of each of 256 drives into storage that takes 62 GB/s
    assert found["analyzed"][0] == pytest.approx(256 * 5e9 / 62e9, rel=0.01)
    assert found["simulated"] == pytest.approx(found["analyzed"], rel=1e-9)
    assert found["binding"] == found["bound"] != []
    assert found["ends"][1] == pytest.approx(2 * found["ends"][0], rel=1e-6)


def test_promises_and_the_report_know_it(copy: Path) -> None:
    ran(copy, "-c", SCRIPT)
    said = ran(copy, "-m", "designer", "test", "my.json")
    assert re.search(r"kept", said)
    assert re.search(r"broken", said)
    assert "mistake" not in said
    ran(copy, "-m", "designer", "report", "my.json", "-o", "out.html")
    assert "Backup" in (copy / "out.html").read_text(encoding="utf-8")
    assert "one copy of all drives" in ran(copy, "-m", "designer", "workloads", "backup")


def test_the_form_of_the_window_has_its_settings(copy: Path) -> None:
    pytest.importorskip("PySide6")
    assert "Backup" in ran(copy, "-c", FORM)


def test_the_guards_that_the_page_names_pass(checkout: Path, copy: Path) -> None:
    text = (checkout / "docs" / "adding-a-workload.md").read_text(encoding="utf-8")
    command = re.search(r"run the guards: `python ([^`]+)`", text)
    assert command is not None
    said = ran(copy, *shlex.split(command[1]), "-q", "-p", "no:cacheprovider", "-k", "kind or every or task or price")
    assert " failed" not in said, said[-2000:]
    assert " passed" in said, said[-2000:]
