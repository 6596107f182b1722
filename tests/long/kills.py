"""Kills a window at random moments and looks what is left of its work."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from designer.interchange.native.held import is_running
from designer.interchange.native.journal import State, survey
from designer.interchange.native.raw import digest_of
from designer.interchange.native.reader import load
from designer.interchange.native.writer import dumps

#: a window that is not there after so long will not come [s]
_PATIENCE = 60.0


@dataclass
class Stated:
    """What became of one design, as the window stated before it was killed."""

    digest: str
    unsaved: bool
    file: str = ""
    #: what it was opened with: back there nothing is left to lose
    opened: str = ""
    #: how many of that name there are: killed while it was brought back, a design is offered twice
    copies: int = 1
    #: what it was about to do, if it did not come back from that
    pending: dict[str, Any] | None = None


@dataclass
class Score:
    """What the kills showed."""

    kills: int = 0
    accepted: int = 0
    offered: int = 0
    lost: list[str] = field(default_factory=list[str])
    unasked: list[str] = field(default_factory=list[str])
    unreadable: list[str] = field(default_factory=list[str])


@contextmanager
def screen() -> Iterator[dict[str, str]]:
    """Environment of a window: an X server of its own where there is one, else no screen at all."""
    if shutil.which("Xvfb") is None:
        yield {"QT_QPA_PLATFORM": "offscreen"}
        return
    reading, writing = os.pipe()
    # it resets itself when the last window has gone, and refuses the next one meanwhile
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1600x1000x24", "-nolisten", "tcp", "-noreset"]
    with subprocess.Popen(command, pass_fds=[writing], stderr=subprocess.DEVNULL) as server:
        try:
            os.close(writing)
            number = os.read(reading, 20).decode().strip()
            yield {"QT_QPA_PLATFORM": "xcb", "DISPLAY": f":{number}"}
        finally:
            os.close(reading)
            server.terminate()


@contextmanager
def windows(checkout: Path) -> Iterator[subprocess.Popen[str]]:
    """The process that makes windows."""
    program = [sys.executable, "-m", "tests.long.edit_until_killed"]
    with subprocess.Popen(
        program, cwd=checkout, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as server:
        try:
            yield server
        finally:
            assert server.stdin is not None
            server.stdin.close()


def kill_one(server: subprocess.Popen[str], home: Path, seed: int, environment: dict[str, str], score: Score) -> None:
    """Have a window made in a home, kill it, and compare what it stated with what is left."""
    assert server.stdin is not None
    assert server.stdout is not None
    rng = random.Random(seed)
    work, log, errors = home / "work", home / f"{seed}.log", home / f"{seed}.err"
    work.mkdir(parents=True, exist_ok=True)
    log.touch()
    places = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    order = {"log": str(log), "folder": str(work), "seed": seed, "errors": str(errors)}
    server.stdin.write(json.dumps({**order, "environment": {**places, **environment}}) + "\n")
    window = int(server.stdout.readline())
    until = time.monotonic() + _PATIENCE
    # some are killed while they still bring back what the one before left
    early = rng.random() < 0.2
    sign = b'"unsaved"' if early else b'"ready"'
    while sign not in (text := log.read_bytes()) and b'"ready"' not in text:
        assert is_running(window), errors.read_text(errors="replace")
        assert time.monotonic() < until, "no window came"
        time.sleep(0.002)
    time.sleep(rng.random() * (0.02 if early else 0.8))
    assert is_running(window), errors.read_text(errors="replace")
    os.kill(window, signal.SIGKILL)
    assert server.stdout.readline() == "gone\n"
    score.kills += 1
    judge(read(log, score), home / "designer" / "journals", work, f"kill {seed}", score)


def read(log: Path, score: Score) -> dict[str, Stated]:
    """What was stated of each design by its name."""
    designs: dict[str, Stated] = {}
    for text in log.read_bytes().split(b"\n")[:-1]:
        line = json.loads(text)
        what, name = line["what"], line.get("name", "")
        before = designs.get(line.get("was", name))
        if what in ("unsaved", "imported", "opened"):
            opened = line["digest"] if what == "opened" else ""
            copies = before.copies + 1 if before is not None else 1
            designs[name] = Stated(line["digest"], what != "opened", opened=opened, copies=copies)
        elif what in ("changing", "saving", "closing") and before is not None:
            before.pending = line
        elif what == "changed":
            score.accepted += 1
            designs.pop(line.get("was", name), None)
            old = before or Stated("", unsaved=True)
            unsaved = old.copies > 1 or line["digest"] != old.opened
            designs[name] = Stated(line["digest"], unsaved, old.file, old.opened, old.copies)
        elif what == "saved":
            copies = before.copies if before is not None else 1
            designs[name] = Stated(line["digest"], False, line["file"], line["digest"], copies)
        elif what == "closed":
            # of two of one name, as after a kill while one was brought back, the other is closed later
            designs.pop(name, None)
    return designs


def judge(designs: dict[str, Stated], journals: Path, work: Path, where: str, score: Score) -> None:
    """Compare what was stated with what is left."""
    for file in work.glob("*.design.json"):
        try:
            load(file)
        except Exception as error:
            score.unreadable.append(f"{where}: {file.name}: {error}")
    offered: dict[str, set[str]] = {}
    for leftover in survey(journals):
        if leftover.state is State.DAMAGED or leftover.design is None:
            score.unreadable.append(f"{where}: {leftover.journal.name}: {leftover.remark}")
        elif leftover.state is State.UNSAVED:
            score.offered += 1
            text = dumps(leftover.design).encode()
            offered.setdefault(leftover.design.name, set()).add(digest_of(text))
    for name, stated in designs.items():
        pending = stated.pending or {}
        names = {name, pending.get("name", name)}
        here = set[str]().union(*(offered.get(n, set()) for n in names))
        next_digest = pending["digest"] if pending.get("what") == "changing" else ""
        allowed = {stated.digest, next_digest} - {""}
        on_disk = {f for f in (stated.file, pending.get("file", "")) if f}
        saved = {digest_of(Path(f).read_bytes()) for f in on_disk if Path(f).exists()}
        # undone back to what it was opened with, it has nothing unsaved left, so nothing is offered
        undone = stated.copies == 1 and next_digest != "" and next_digest == stated.opened
        left_behind = undone or pending.get("what") == "closing"
        if stated.unsaved and not (here & allowed) and not (saved & allowed) and not left_behind:
            score.lost.append(f"{where}: {name}: {stated}")
        if not stated.unsaved and stated.file and stated.digest not in saved:
            score.lost.append(f"{where}: {name} is not in its file")
        if not stated.unsaved and not pending and here and stated.copies == 1:
            score.unasked.append(f"{where}: {name} was saved or untouched and is offered")
