"""Calls the command line: in this process, which is quick, or as a process of its own with its time and memory."""

from __future__ import annotations

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


#: a child keeps the peak of the process it was forked from, so a small one stands between it and this one
MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(done.returncode)
"""


def measured(*arguments: str | Path) -> Call:
    """Run a command as a process of its own, with the most memory it held."""
    start = time.perf_counter()
    command = [sys.executable, "-c", MEASURE, sys.executable, "-m", "designer", *map(str, arguments)]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, check=False, text=True)
    return Call(done.returncode, "", done.stderr, time.perf_counter() - start, int(done.stdout) / 1024)
