"""Prompts and answers apart: pods counted by hand, the slower side decides, what is run keeps the limits."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from designer.analysis.network import build_network
from designer.analysis.serving.apart import Pod, pod_rate, shapes, sized_apart
from designer.analysis.serving.placement import place_deployment
from designer.formulas.serving.attention_prefill import prefill_area
from designer.interchange.templates import open_design
from designer.workload.kind import lower
from designer.workload.serving import Limits, Serving

NETWORK = build_network(open_design("hgx-h100-8"))
ASKED = lower(
    "serving",
    {
        "model": "llama-3-8b",
        "release": "0.12.0",
        "rate": "30 1/s",
        "prompt": 1024,
        "output": 64,
        "count": 300,
        "ttft_limit": "1 s",
    },
    "here",
)
assert isinstance(ASKED, Serving)


def test_pods_by_hand() -> None:
    """Two accelerators make one pod, one engine of one for each. Three make four more: engines of one and two, of two
    and one, two engines for answers, and two for prompts."""
    assert [p.devices for p in shapes(2)] == [2]
    assert len(list(shapes(3))) == 5
    assert Pod(2, 4, 3, 8).devices == 2 * 4 + 3 * 8


def test_the_slower_side_decides_by_hand() -> None:
    """An engine that reads a prompt in t seconds is busy t times its rate, and settles below 90 %: two engines take at
    most 1.8 / t together. With many engines for answers nothing else holds a pod back, and its rate comes close."""
    one = place_deployment(NETWORK, replace(ASKED.deployment, tensor=1), "here")
    pieces = math.ceil(1024 / one.scheduling.budget)
    tokens = round(min(1024, one.scheduling.budget))
    reading = one.steps.step(tokens, prefill_area(tokens, 0.0), 1, 0, 0.0) * pieces
    free = Limits(0.0, 0.0, 0.0, 0.95)
    found = pod_rate(one, one, Pod(2, 1, 400, 1), (1e6, 1024.0, 64.0), free)
    assert found == pytest.approx(1.8 / reading, rel=0.01)
    assert pod_rate(one, one, Pod(4, 1, 400, 1), (1e6, 1024.0, 64.0), free) == pytest.approx(2 * found, rel=0.01)


def test_pods_that_are_run_keep_the_limits() -> None:
    looked, found = sized_apart(NETWORK, ASKED, (30.0, 1024.0, 64.0), "here")
    assert looked == len(list(shapes(8)))
    kept = [one for one in found if one.pods]
    assert kept
    for one in kept:
        assert one.kept >= 0.95
        assert one.ttft <= 1.0


def test_what_no_pod_keeps_says_so() -> None:
    hard = replace(ASKED, limits=replace(ASKED.limits, ttft=1e-4))
    assert sized_apart(NETWORK, hard, (30.0, 1024.0, 64.0), "here")[1] == []
