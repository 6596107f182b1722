"""The frontier with its knee, the roofline, one request, replicas by hour."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import designer
from designer.analysis.study import analyze
from designer.design.document import WorkloadSpec
from designer.engine.results import WorkloadResult
from designer.families.serving.frontier import Frontier

BASE = {
    "model": "llama-3-8b",
    "release": "0.12.0",
    "tensor": 1,
    "prompt": 1000,
    "output": 200,
    "count": 400,
    "rate": "40 1/s",
}


def served(template: str = "hgx-h100-8", curves: bool = True, **changes: object) -> WorkloadResult:
    design = designer.open_design(template)
    spec = WorkloadSpec.model_validate({"id": "s", "kind": "serving", "settings": {**BASE, **changes}})
    return analyze(design.model_copy(update={"workloads": {"s": spec}}), ["s"], curves=curves).workloads[0]


def test_the_knee_of_a_queue_is_at_half_its_load() -> None:
    """M/M/1 with a rate of 1: time 1/(1 - r), so rate over time r (1 - r) is most at one half."""
    rate = np.array([0.1, 0.3, 0.5, 0.6, 0.7, 0.9])
    time = 1 / (1 - rate)
    front = Frontier(rate, time, time, time, time)
    assert front.knee == pytest.approx(0.5, abs=0.01)
    low, high = front.around
    assert low < front.knee < high


def test_latency_rises_along_the_frontier_and_the_knee_lies_on_it() -> None:
    found = served()
    curves = {c.name: c for c in found.curves["serving-frontier"]}
    answer = curves["whole answer, p95"]
    assert list(answer.x) == sorted(answer.x)
    assert answer.y[-1] > 1.5 * answer.y[0]
    knee = found.metrics["knee_requests_per_second"]
    assert knee.low <= knee.value <= knee.high
    assert answer.x[0] < knee.value < found.metrics["most_requests_per_second"].value
    assert curves["knee"].x == (knee.value,)


def test_prompts_stand_right_of_the_ridge_and_decoding_left_of_it_both_below_the_roof() -> None:
    roof, prompts, decoding = served().curves["roofline"]
    low, ridge, high = roof.x
    assert low < decoding.x[0] < ridge < prompts.x[0] < high
    slope = roof.y[0] / roof.x[0]
    assert slope == pytest.approx(3.35e12)
    for point in (prompts, decoding):
        assert 0 < point.y[0] < min(roof.y[2], slope * point.x[0])


def test_the_stretches_of_a_request_follow_each_other() -> None:
    found = served("serving-split-2-racks", group="answers[*]/gpu*", prompt_group="prompts[*]/gpu*", tensor=8)
    for lane in (0, 1):
        mine = [c for c in found.curves["serving-request"] if c.y[0] == lane]
        assert [c.name.split()[0] for c in mine] == ["waiting", "prompt", "hand-over", "first", "answer"]
        assert mine[0].x[0] == 0
        for one, after in pairwise(mine):
            assert one.x[1] == pytest.approx(after.x[0])
            assert one.x[1] >= one.x[0]


def test_replicas_follow_the_day() -> None:
    found = served(profile="0.2, 1, 3, 1", ttft_limit="500 ms")
    day = found.curves["serving-replicas"][0]
    assert day.x[0] == 0
    assert day.x[-1] == 24
    needed = day.y[::2]
    assert needed[2] == max(needed)
    assert needed[1] == needed[3] > needed[0] >= 1


def test_energy_per_million_requests_is_that_of_their_tokens() -> None:
    found = served(curves=False)
    each, million = (found.metrics[n].value for n in ("energy_per_token", "energy_per_million_requests"))
    assert million == pytest.approx(each * 200 * 1e6, rel=0.05)
