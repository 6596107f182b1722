"""Pooled accelerators of a drawn design."""

from __future__ import annotations

import pytest

from designer.errors import AnalysisError
from tests.unit.families.machines.machines import ask, cluster, rows, value


def test_sharing_shortens_the_wait_and_saves_accelerators() -> None:
    result = ask(cluster(), "pooling", owners=4, jobs_per_second="0.000014 1/s", job_time="20 h")
    stated = rows(result, "pools")
    assert stated["each team its own"]["accelerators"] == 2
    assert stated["all share all"]["accelerators"] == 8
    assert value(result, "gpu_utilization") == pytest.approx(4 * 0.000014 * 72000 / 8)
    assert value(result, "wait_shared") < value(result, "wait_dedicated")
    assert value(result, "accelerators_saved") >= 1
    for name in ("gpu_utilization", "wait_shared", "wait_dedicated"):
        found = result.metrics[name]
        assert found.low < found.value < found.high, name


def test_accelerators_nobody_owns_are_reported() -> None:
    found = {f.code: f.text for f in ask(cluster(), "pooling", owners=3).findings}
    assert found == {"POOL-REST": "2 of 8 accelerators are left out: 3 teams own 2 each"}
    assert not ask(cluster(), "pooling", owners=4).findings


def test_more_work_than_accelerators_is_reported() -> None:
    result = ask(cluster(), "pooling", owners=4, jobs_per_second="0.00003 1/s", job_time="20 h")
    assert [f.code for f in result.findings] == ["POOL-FULL"]


@pytest.mark.parametrize(
    ("kind", "settings", "place"),
    [
        ("vmotion", {"vms": "web0", "dirty_rate": "-1 B/s"}, "workloads.asked.dirty_rate"),
        ("vmotion", {"vms": "web0", "round_trip": "1"}, "workloads.asked.round_trip"),
        ("pooling", {"owners": 2, "jobs_per_second": "1 1/s"}, "workloads.asked"),
    ],
)
def test_wrong_settings_name_their_workload(kind: str, settings: dict[str, object], place: str) -> None:
    with pytest.raises(AnalysisError) as caught:
        ask(cluster(), kind, **settings)
    assert caught.value.place == place
