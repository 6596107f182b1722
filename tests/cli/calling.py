"""Calls the command line: in this process, which is quick, or as a process of its own with its time and memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from designer.__main__ import main

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Call:
    """What came of a call; seconds and memory only of a process."""

    code: int
    out: str
    err: str
    seconds: float = 0.0
    megabytes: float = 0.0

    @property
    def message(self) -> str:
        """The one message of a refusal; no traceback, nothing on stdout."""
        assert self.code == 2, (self.code, self.out, self.err)
        assert "Traceback" not in self.err
        assert "mistake in the program" not in self.err
        assert not self.out
        lines = self.err.strip().splitlines()
        assert len(lines) == 1, lines
        assert lines[0].startswith("designer: ")
        return lines[0]


def call(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Call:
    """Run a command in this process."""
    try:
        code = main([str(a) for a in arguments])
    except SystemExit as stop:
        code = int(stop.code or 0)
    captured = capsys.readouterr()
    return Call(code, captured.out, captured.err)


def process(*arguments: str | Path, stdin: bytes | None = None) -> Call:
    """Run a command as a process of its own."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "designer", *map(str, arguments)]
    with subprocess.Popen(
        command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as p:
        out, err = p.communicate(stdin)
    seconds = time.perf_counter() - start
    return Call(p.returncode, out.decode(), err.decode(), seconds)


def measured(*arguments: str | Path) -> Call:
    """Run a command as a process of its own, with the most memory it held."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "designer", *map(str, arguments)]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
        assert p.stderr is not None
        err = p.stderr.read().decode()
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    return Call(p.returncode, "", err, time.perf_counter() - start, usage.ru_maxrss / 1024)
