"""Several models on one GPU: turns, memory and instances, by hand and against the clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import designer
from designer.analysis.simulation import simulate
from designer.design.document import Design, WorkloadSpec
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError

BASE: Mapping[str, Any] = {
    "model": "llama-3-8b",
    "release": "0.12.0",
    "tensor": 1,
    "prompt": 500,
    "output": 100,
    "count": 300,
    "group": "gpu0",
    "memory_share": 0.45,
    "rate": "4 1/s",
}


def two(first: Mapping[str, Any], second: Mapping[str, Any]) -> Design:
    specs = {
        "a": WorkloadSpec(id="a", kind="serving", settings={**BASE, "beside": "b", **first}),
        "b": WorkloadSpec(id="b", kind="serving", settings={**BASE, **second}),
    }
    return designer.open_design("hgx-h100-8").model_copy(update={"workloads": specs})


def asked(first: Mapping[str, Any], second: Mapping[str, Any]) -> WorkloadResult:
    return designer.analyze(two(first, second), ["a"]).workloads[0]


def test_beside_one_that_always_computes_a_step_takes_twice_as_long() -> None:
    """The other never rests: each of the two computes half of the time."""
    alone = asked({"beside": ""}, {}).metrics["itl_p50"].value
    beside = asked({}, {"rate": "14 1/s"}).metrics["itl_p50"].value
    assert beside == pytest.approx(2 * alone, rel=0.05)


def test_beside_one_that_hardly_computes_nothing_changes() -> None:
    """One request in ten seconds, of less than a second: a tenth of the time at most, so a tenth longer."""
    alone = asked({"beside": ""}, {}).metrics["itl_p50"].value
    beside = asked({}, {"rate": "0.1 1/s"}).metrics["itl_p50"].value
    assert 1.0 <= beside / alone < 1.2


def test_the_clock_agrees() -> None:
    design = two({}, {"rate": "10 1/s"})
    found = simulate(design, ["a"], until=60.0, bands=False)
    closed = designer.analyze(design, ["a"]).workloads[0].metrics
    assert set(found.metrics) == {"a", "b"}
    for name in ("tpot", "ttft_p50", "itl_p50"):
        assert found.metrics["a"][name].value == pytest.approx(closed[name].value, rel=0.03), name


def test_more_than_half_of_what_it_can_answer_alone_is_too_much_beside_one_as_busy() -> None:
    """Alone it answers twice as much as next to one that never rests, and more than that piles up for ever."""
    most = asked({"beside": ""}, {}).metrics["most_requests_per_second"].value
    found = asked({"rate": f"{0.6 * most} 1/s"}, {"rate": f"{0.9 * most} 1/s"})
    assert found.metrics["most_requests_per_second"].value == pytest.approx(most / 2, rel=0.03)
    assert found.metrics["requests_per_second"].value == pytest.approx(most / 2, rel=0.03)
    assert not {"ttft_p95", "requests_running", "energy_per_token"} & found.metrics.keys()
    assert "SERVE-SATURATED" in {f.code for f in found.findings}


def test_as_many_requests_are_under_way_as_arrive_while_one_is_answered() -> None:
    """Little's law holds alone and with another."""
    for found in (asked({"beside": ""}, {}), asked({}, {"rate": "10 1/s"})):
        latency, rate = (found.metrics[name].value for name in ("latency_p50", "requests_per_second"))
        assert found.metrics["requests_running"].value == pytest.approx(latency * rate, rel=0.1)


def test_memory_for_both_is_not_there() -> None:
    """Nine tenths each are 1.8 of the memory."""
    with pytest.raises(AnalysisError, match="do not fit") as stated:
        asked({"memory_share": 0.9}, {"memory_share": 0.9})
    assert "memory_share" in str(stated.value.remedy)


def test_instances_that_fit_keep_out_of_each_others_way_and_others_are_refused() -> None:
    """3 + 4 slices of seven fit; 4 + 4 do not."""
    plain: Mapping[str, Any] = {"memory_share": 0}
    quiet = asked({**plain, "part": "3g.40gb"}, {**plain, "part": "4g.40gb", "rate": "0.1 1/s"})
    busy = asked({**plain, "part": "3g.40gb"}, {**plain, "part": "4g.40gb", "rate": "12 1/s"})
    assert busy.metrics["itl_p50"].value == quiet.metrics["itl_p50"].value
    assert busy.metrics["replicas"].value == 1
    with pytest.raises(AnalysisError, match="do not fit"):
        asked({**plain, "part": "4g.40gb"}, {**plain, "part": "4g.40gb"})


@pytest.mark.parametrize(
    ("first", "words"),
    [
        ({"beside": "nobody"}, "no workload"),
        ({"beside": "a"}, "with itself"),
        ({"part": "3g.40gb", "memory_share": 0}, "a part of it"),
    ],
)
def test_what_cannot_be_beside_is_refused(first: Mapping[str, Any], words: str) -> None:
    with pytest.raises(AnalysisError, match=words):
        asked(first, {})


def test_an_instance_and_a_part_are_asked_for_once() -> None:
    with pytest.raises(AnalysisError, match="both say"):
        asked({"beside": "", "machines": "3g.40gb", "part": "3g.40gb", "memory_share": 0}, {})
