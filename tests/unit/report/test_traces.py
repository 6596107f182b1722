"""Traces of a run of a served model, a training and a move: spans nest, times add up, bytes are all there."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from designer.analysis.simulation import simulate
from designer.design.document import WorkloadSpec
from designer.engine.clock.run import Run
from designer.interchange.templates import open_design
from designer.report.traces import chrome_trace, csv_trace
from designer.workload.program import Move, Program, Step

SIZE = 3e9
CHAT = {"model": "llama-3-8b", "tensor": 1, "group": "gpu0", "rate": "4 1/s", "count": 100, "memory_share": 0.4}


@pytest.fixture(scope="module")
def run() -> Run:
    design = open_design("hgx-h100-8")
    chat = WorkloadSpec(id="chat", kind="serving", settings=CHAT)
    design = design.model_copy(update={"workloads": {**design.workloads, "chat": chat}})
    copy = Program("copy", (Step("move", Move("memory0", "gpu1, gpu2", SIZE)),), 3)
    return simulate(design, ["chat", "resnet-50"], programs=[copy], until=8.0, bands=False).run


def events(run: Run) -> list[dict[str, Any]]:
    return json.loads(chrome_trace(run))["traceEvents"]


def test_spans_are_inside_the_run_and_nest(run: Run) -> None:
    tracks: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
    for event in events(run):
        if event["ph"] == "X":
            assert event["ts"] >= 0
            assert event["dur"] >= 0
            assert event["ts"] + event["dur"] <= run.end * 1e6 * (1 + 1e-9)
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    assert len(tracks) > 4
    for spans in tracks.values():
        open_until: list[float] = []
        for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while open_until and open_until[-1] <= begin + 1e-3:
                open_until.pop()
            assert not open_until or end <= open_until[-1] + 1e-3
            open_until.append(end)


def test_every_request_waits_reads_and_answers_in_turn(run: Run) -> None:
    open_spans: dict[int, list[str]] = defaultdict(list)
    lengths: dict[tuple[int, str], float] = defaultdict(float)
    last = 0.0
    for event in (e for e in events(run) if e["ph"] in "be"):
        assert event["ts"] >= last
        last = event["ts"]
        spans = open_spans[event["id"]]
        if event["ph"] == "b":
            spans.append(event["name"])
            lengths[event["id"], event["name"]] -= event["ts"]
        else:
            assert spans.pop() == event["name"]
            lengths[event["id"], event["name"]] += event["ts"]
    assert not any(open_spans.values())
    served = run.requests["chat"].run
    assert len(open_spans) == len(served.sent) > 10
    for k in np.flatnonzero(served.served).tolist():
        parts = sum(lengths[k + 1, name] for name in ("waits", "prompt", "answer"))
        assert parts == pytest.approx(lengths[k + 1, "request"], rel=1e-9)
        assert parts == pytest.approx((served.done[k] - served.sent[k]) * 1e6, rel=1e-9)


def test_loads_of_counters_are_all_the_bytes(run: Run) -> None:
    """Three times 3 GB to each of two GPUs, one after the other, and nothing else on those two links."""
    counters: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for event in events(run):
        if event["ph"] == "C":
            counters[event["name"]].append((event["ts"] / 1e6, event["args"]["load"]))
    for rows in counters.values():
        times, loads = zip(*rows, strict=True)
        assert list(times) == sorted(times)
        assert min(loads) >= 0
    rows = list(csv.DictReader(io.StringIO(csv_trace(run))))
    moved = [row for row in rows if row["program"] == "copy" and row["step"] == "move"]
    assert [float(row["amount"]) for row in moved] == [2 * SIZE] * 3
    assert {row["unit"] for row in moved} == {"B"}
    for row in rows:
        times = [float(row[name]) if row[name] else math.nan for name in ("ready_s", "began_s", "ended_s")]
        known = [t for t in times if not math.isnan(t)]
        assert known == sorted(known), row
    links = [k for k in range(len(run.represents)) if run.table.id(k) in ("psw1--gpu1:ab", "psw2--gpu2:ab")]
    areas: list[float] = []
    for k in links:
        times, load = run.pieces(k, "copy")
        areas.append(float((load[:-1] * np.diff(times)).sum()))
    # a link may carry a little more than what gets through: its use per byte is 1 or above
    assert len(areas) == 2
    assert all(3 * SIZE * (1 - 1e-9) <= area < 3 * SIZE * 1.3 for area in areas)
