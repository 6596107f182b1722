"""A sweep on a real scheduler with two workers on this machine; one is killed and nothing is lost."""

from __future__ import annotations

import gc
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from designer.decisions.answers import Row
from designer.decisions.runs import grid
from designer.decisions.sweep import rows_of, sweep
from designer.decisions.variables import make_variable
from designer.errors import AnalysisError
from tests.unit.decisions.small import FIRST, task

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def start(tool: str, *arguments: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{tool}", *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    pytest.importorskip("distributed", reason="a cluster needs the extra [cluster]")
    import json

    file = tmp_path / "scheduler.json"
    running = [
        start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    ]
    try:
        end = time.monotonic() + 60
        while not file.exists() or not file.read_text("utf-8"):
            assert time.monotonic() < end, "the scheduler does not start"
            time.sleep(0.1)
        address = json.loads(file.read_text("utf-8"))["address"]
        plain = ("--no-nanny", "--nthreads", "1", "--no-dashboard")
        workers = [start("worker", address, *plain, "--local-directory", str(tmp_path)) for _ in range(2)]
        running += workers
        _wait_for_two(address)
        yield address, workers
    finally:
        for process in reversed(running):
            process.kill()
            process.wait()


def _wait_for_two(address: str) -> None:
    import distributed

    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)


def test_one_worker_killed_and_nothing_lost(cluster: tuple[str, list[subprocess.Popen[bytes]]]) -> None:
    address, workers = cluster
    asked, runs = task(FIRST), grid([make_variable(FIRST, "1 GB/s..80 GB/s+1 GB/s")])
    rows: list[Row] = []
    for row in rows_of(asked, runs, scheduler=address):
        if len(rows) == 3:
            workers[0].kill()
        rows.append(row)
    assert sorted(rows, key=lambda r: r.number) == list(sweep(asked, runs, jobs=1))


def test_no_scheduler_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("designer.decisions.sweep._PATIENCE", 1)
    pytest.importorskip("distributed", reason="a cluster needs the extra [cluster]")
    with pytest.raises(AnalysisError, match="no scheduler answers"):
        sweep(task(FIRST), grid([make_variable(FIRST, "1 GB/s,2 GB/s")]), scheduler="tcp://127.0.0.1:9")


@pytest.mark.parametrize("kind", ["mute", "http", "x", "tcp://", "tcp://127.0.0.1:abc", "inproc://x"])
def test_what_is_no_scheduler_is_refused_in_time_and_once(
    kind: str, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    """Something that listens and never answers, a web server, and addresses that cannot be."""
    pytest.importorskip("distributed", reason="a cluster needs the extra [cluster]")
    monkeypatch.setattr("designer.decisions.sweep._PATIENCE", 1)
    unraisable: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    with socket.create_server(("127.0.0.1", 0)) as server:
        held: list[socket.socket] = []

        def answer() -> None:
            while True:
                try:
                    held.append(server.accept()[0])
                    if kind == "http":
                        held[-1].sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                        held[-1].close()
                except OSError:
                    return

        threading.Thread(target=answer, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}" if kind in ("mute", "http") else kind
        begin = time.monotonic()
        with pytest.raises(AnalysisError, match="no scheduler answers"):
            sweep(task(FIRST), grid([make_variable(FIRST, "1 GB/s,2 GB/s")]), scheduler=address)
        assert time.monotonic() - begin < 15
    gc.collect()
    assert not unraisable


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(AnalysisError, match=r"\[cluster\]"):
        sweep(task(FIRST), grid([make_variable(FIRST, "1 GB/s,2 GB/s")]), scheduler="tcp://127.0.0.1:9")
