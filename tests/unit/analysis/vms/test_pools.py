"""Pooled accelerators of a drawn design."""

from __future__ import annotations

import pytest

from tests.unit.analysis.vms.machines import ask, cluster, rows, value


def test_sharing_shortens_the_wait_and_saves_accelerators() -> None:
    result = ask(cluster(), "pooling", owners=4, jobs_per_second="0.000014 1/s", job_time="20 h")
    told = rows(result, "pools")
    assert told["each team its own"]["accelerators"] == 2
    assert told["all share all"]["accelerators"] == 8
    assert value(result, "gpu_utilization") == pytest.approx(4 * 0.000014 * 72000 / 8)
    assert value(result, "wait_shared") < value(result, "wait_dedicated")
    assert value(result, "accelerators_saved") >= 1
