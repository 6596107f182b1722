"""Where the command line meets a system that does not play along: one message, never a traceback, never a hang."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.calling import CHECKOUT, call, process

_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="pipes, signals and links as POSIX has them")


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a shell command in which ``$D`` is the program."""
    return subprocess.run(
        ["bash", "-c", command],
        cwd=CHECKOUT,
        env={**os.environ, "D": f"{sys.executable} -m designer", **environment},
        capture_output=True,
        timeout=60,
        check=False,
    )


def harmless(done: subprocess.CompletedProcess[bytes]) -> str:
    """What was said on stderr, which is neither a traceback nor blames the program."""
    text = done.stderr.decode(errors="replace")
    assert "Traceback" not in text
    assert "mistake in the program" not in text
    assert "Exception ignored" not in text
    return text


_OUTPUTS = (">&-", "2>&-", ">&- 2>&-", "<&-", "| true", "| head -c 1 >/dev/null")


@_POSIX
@pytest.mark.parametrize(
    ("command", "output"),
    [
        *(("--help", output) for output in _OUTPUTS),
        # what is written in the same way meets only the two that differ: nowhere to write to, and nobody who reads
        *((command, output) for command in ("--version", "analyze --help") for output in (">&-", "| true")),
        ("templates", ">&- 2>&-"),
        ("templates", "| head -c 1 >/dev/null"),
        ("templates --json", "| true"),
    ],
)
def test_streams_that_are_closed_or_that_nobody_reads(command: str, output: str) -> None:
    done = shell(f"set -o pipefail; $D {command} {output}")
    harmless(done)
    assert done.returncode == 0


@_POSIX
@pytest.mark.parametrize("command", ["--help", "templates", "import -"])
def test_a_full_disk_behind_the_output(command: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    done = shell(f"echo '<system version=\"1\"/>' | $D {command} >/dev/full")
    assert harmless(done).count("\n") == 1
    assert done.returncode == 2


@_POSIX
def test_no_standard_input() -> None:
    done = shell("$D import - <&-")
    assert "standard input" in harmless(done)
    assert done.returncode == 2


@_POSIX
def test_standard_input_without_end() -> None:
    """Six gigabytes were read in nine seconds before this was bounded."""
    done = shell("ulimit -v 3000000; yes | $D import -")
    assert "more than" in harmless(done)
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("encoding", "command"),
    [
        ("ascii", "templates"),
        ("cp1252", "summary dgx-a100"),
        ("ascii", "analyze dgx-a100 --workload h2d"),
        ("cp1252", "analyze no"),
    ],
)
def test_output_that_is_not_utf8(encoding: str, command: str) -> None:
    done = shell(f"$D {command}", PYTHONIOENCODING=encoding)
    harmless(done)
    assert done.returncode == (2 if command.endswith(" no") else 0)
    assert done.stdout or done.stderr


def test_json_is_whole_in_every_encoding(capsys: pytest.CaptureFixture[str]) -> None:
    narrow = shell("$D templates --json", PYTHONIOENCODING="ascii")
    assert json.loads(narrow.stdout) == json.loads(call(capsys, "templates", "--json").out)


@_POSIX
def test_links_in_a_circle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for command in ("analyze", "import", "validate"):
        assert str(tmp_path / "a") in call(capsys, command, tmp_path / "a").message
    # without a command a window would open
    assert process(tmp_path / "a").code == 2


@_POSIX
@pytest.mark.parametrize("wait", [0.02, 0.3])
def test_an_early_stop(wait: float) -> None:
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from designer.__main__ import main; print('on', flush=True); "
            "sys.exit(main(['analyze', 'cluster-16384']))",
        ],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdout is not None
        running.stdout.readline()
        time.sleep(wait)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert b"Traceback" not in said
    assert running.returncode in (0, 1, 2)


@pytest.mark.parametrize("arguments", [("parts",), ("analyze",), ("workloads",), ("summary",), ()])
def test_endless_arguments_are_refused_at_once(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """A search of 100,000 characters took 90 seconds."""
    begun = time.perf_counter()
    found = call(capsys, *arguments, "ab " * 33_000)
    assert found.code == 2
    assert time.perf_counter() - begun < 20
    assert "Traceback" not in found.err
    assert len(found.err) < 2100


def test_a_folder_of_everything_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from designer.interchange import cases

    monkeypatch.setattr(cases, "_MOST_FILES", 5)
    for k in range(6):
        (tmp_path / f"{k}.txt").touch()
    message = call(capsys, "validate", tmp_path).message
    assert "more than 5 files" in message
    assert str(tmp_path) in message
