"""What users of a served model feel while its machine moves, against arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from designer.analysis.study import analyze
from designer.design.document import WorkloadSpec
from designer.engine.results import WorkloadResult
from tests.unit.families.machines.machines import cluster, value

SERVED: Mapping[str, Any] = {
    "model": "llama-3-8b",
    "release": "0.12.0",
    "weights": "int8",
    "tensor": 1,
    "group": "hosts[2]/gpu0",
    "machines": "infer1",
    "prompt": 20,
    "output": 20,
    "rate": "4 1/s",
    "variation": 0,
}


def moved(vms: str = "infer1", **changes: Any) -> WorkloadResult:
    design = cluster()
    chat = WorkloadSpec(id="chat", kind="serving", settings={**SERVED, **changes})
    move = WorkloadSpec(id="move", kind="vmotion", settings={"vms": vms})
    return analyze(design.model_copy(update={"workloads": {"chat": chat, "move": move}}), ["move"]).workloads[0]


def stated(found: WorkloadResult, percentile: str, column: int) -> float:
    row = next(row for row in found.tables["users"].rows if row[1] == percentile)
    return float(row[column] or 0.0)


def test_p95_is_the_pause_less_a_twentieth_of_the_move() -> None:
    """Requests come evenly. In W = 83 s the machine is paused for the last P = 15 s; who comes d after its begin
    waits P − d, so waits over w are a share of (P − w) / W of all. A twentieth is above w = P − W / 20.
    """
    found = moved()
    pause, whole = value(found, "switchover_time"), value(found, "migration_time")
    assert value(found, "ttft_p95_while_moving") == pytest.approx(pause - whole / 20, abs=0.35)
    assert stated(found, "ttft_p99", 2) == pytest.approx(pause - whole / 100, abs=0.35)
    assert stated(found, "ttft_p50", 2) < 0.1
    (stood,) = found.tables["stands_still"].rows
    assert stood[3] == pytest.approx(pause, rel=1e-6)
    assert float(stood[2] or 0.0) + pause == pytest.approx(whole, rel=1e-6)
    assert stated(found, "ttft_p95", 4) == pytest.approx(4 * whole, abs=3)


def test_while_pages_are_tracked_a_step_takes_a_twenty_fifth_longer() -> None:
    """96 % of the speed before the pause: half of the times between tokens are 1 / 0.96 of the usual ones."""
    during, usual = (stated(moved(), "itl_p50", column) for column in (2, 3))
    assert during == pytest.approx(usual / 0.96, rel=0.01)


def test_a_machine_that_serves_nobody_tells_nothing() -> None:
    found = moved("lab0")
    assert "users" not in found.tables
    assert "ttft_p95_while_moving" not in found.metrics


def test_many_requests_are_left_to_the_simulation() -> None:
    found = moved(rate="400 1/s")
    assert "designer simulate" in next(f.remedy for f in found.findings if f.code == "MIGRATE-FELT")
    assert "users" not in found.tables
