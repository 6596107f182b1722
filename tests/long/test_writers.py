"""Several writers of one file at the same time: nobody is written over unasked."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6", reason="the window belongs to the gui extra")

from designer.interchange.native.raw import digest_of
from designer.interchange.native.reader import load
from designer.interchange.native.writer import save
from tests.designs import one_server
from tests.long.kills import screen


def race(checkout: Path, folder: Path, writers: list[tuple[str, str]], rounds: int, environment: dict[str, str]) -> Any:
    """Let writers at one file; what they stated."""
    file, log = folder / "shared.design.json", folder / "states.log"
    save(one_server(), file)
    first = digest_of(file.read_bytes())
    running: list[subprocess.Popen[bytes]] = []
    for kind, who in writers:
        home = folder / who
        home.mkdir()
        places = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
        program = [sys.executable, "-m", "tests.long.save_over_each_other"]
        arguments = [kind, who, str(file), str(log), str(rounds), str(len(writers))]
        running.append(
            subprocess.Popen([*program, *arguments], cwd=checkout, env={**os.environ, **places, **environment})
        )
    assert [p.wait(3600) for p in running] == [0] * len(running)
    stated = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    check(stated, first, digest_of(file.read_bytes()))
    load(file)
    assert [p.name for p in folder.glob(".*")] == [], "a lock is left beside the file"
    return stated


def check(stated: list[dict[str, Any]], first: str, last: str) -> None:
    """Each version of the file was replaced once, by somebody who knew or was shown just that version."""
    saves = [line for line in stated if line["what"] == "saved"]
    followed = Counter(line["over"] for line in saves)
    wrote = {line["wrote"] for line in saves} | {first}
    assert len(wrote) == len(saves) + 1, "each save is a version of its own"
    assert [v for v, times in followed.items() if times > 1] == [], "two writers took the place of one version"
    assert set(followed) <= wrote
    assert wrote - set(followed) == {last}, "only what is in the file now was not replaced knowingly"


def summary(stated: list[dict[str, Any]]) -> dict[str, int]:
    counts = Counter(line["what"] for line in stated)
    counts["refused"] = sum(line["times"] for line in stated if line["what"] == "refused")
    return dict(counts)


def test_a_window_and_a_script_on_one_file(checkout: Path, tmp_path: Path) -> None:
    writers = [("window", "anna"), ("script", "nightly")]
    stated = race(checkout, tmp_path, writers, 8, {"QT_QPA_PLATFORM": "offscreen"})
    assert {line["who"] for line in stated if line["what"] == "saved"} == {"anna", "nightly"}


def test_a_script_does_not_write_what_a_window_has_open(checkout: Path, tmp_path: Path) -> None:
    from designer.interchange.native.held import file_lock

    file = tmp_path / "shared.design.json"
    save(one_server(), file)
    before = file.read_bytes()
    lock = file_lock(file)
    assert lock.take()
    program = [sys.executable, "-m", "tests.long.save_over_each_other", "plain", "nightly", str(file)]
    log = tmp_path / "states.log"
    subprocess.run([*program, str(log), "3", "1"], cwd=checkout, check=True)
    lock.release()
    assert summary([json.loads(x) for x in log.read_text(encoding="utf-8").splitlines()])["refused"] == 3
    assert file.read_bytes() == before


@pytest.mark.long
@pytest.mark.parametrize(
    "writers",
    [
        [("window", "anna"), ("window", "berta")],
        [("window", "anna"), ("script", "nightly")],
        [("window", "anna"), ("window", "berta"), ("script", "nightly"), ("plain", "careless")],
    ],
    ids=["two windows", "window and script", "four writers"],
)
def test_a_hundred_rounds(checkout: Path, tmp_path: Path, writers: list[tuple[str, str]]) -> None:
    with screen() as environment:
        stated = race(checkout, tmp_path, writers, 100, environment)
    logging.getLogger(__name__).info("%s", summary(stated))
    assert summary(stated)["asked"] > 10
