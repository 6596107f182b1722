"""Prompts and answers apart: pods counted by hand, the slower side decides, what is run keeps the limits."""

from __future__ import annotations

import math
from dataclasses import replace

from designer.decisions.serving_size import _pods, _Search
from designer.decisions.serving_ways import PODS_LIMIT, Mean, Pods, fewest_by_form, pods_of
from designer.engine.network import build_network
from designer.families.serving.deployment import Limits, Serving
from designer.families.serving.formulas.attention_prefill import prefill_area
from designer.families.serving.placement import place_deployment
from designer.interchange.templates import open_design
from designer.progress import Watch
from tests.asked import serving_asked

NETWORK = build_network(open_design("hgx-h100-8"))
ASKED = serving_asked(
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


LOAD = Mean(30.0, 1024.0, 64.0)
ENGINES = {width: place_deployment(NETWORK, replace(ASKED.deployment, tensor=width), "here") for width in (1, 2, 4, 8)}


def test_pods_by_hand() -> None:
    """Two accelerators make one pod, one engine of one for each. Three make four more: engines of one and two, of two
    and one, two engines for answers, and two for prompts."""
    assert [p.devices for p in pods_of(ENGINES, ["gpu"] * 2)] == [2]
    assert len(list(pods_of(ENGINES, ["gpu"] * 3))) == 5
    assert Pods(2, ENGINES[4], 3, ENGINES[8]).devices == 2 * 4 + 3 * 8


def test_the_slower_side_decides_by_hand() -> None:
    """An engine that reads a prompt in t seconds is busy t times its rate, and settles below 90 %: two engines take at
    most 1.8 / t together, so a hundred times that load takes 100 pods, and a little more one more of them."""
    one = ENGINES[1]
    pieces = math.ceil(1024 / one.scheduling.budget)
    tokens = round(min(1024, one.scheduling.budget))
    reading = one.steps.step(tokens, prefill_area(tokens, 0.0), 1, 0, 0.0) * pieces
    free = Limits(0.0, 0.0, 0.0, 0.95)
    for engines in (2, 4):
        pod, most = Pods(engines, one, 400, one), engines * 0.9 / reading
        assert fewest_by_form(pod, Mean(99.9 * most, 1024.0, 64.0), free) == 100
        assert fewest_by_form(pod, Mean(100.1 * most, 1024.0, 64.0), free) == 101
    assert fewest_by_form(pod, Mean((PODS_LIMIT + 1) * most, 1024.0, 64.0), free) is None


def test_pods_that_are_run_keep_the_limits() -> None:
    pods = _pods(NETWORK, ASKED, "here", "")
    assert len(pods) == len(list(pods_of(ENGINES, ["gpu"] * 8)))
    found = _Search(ASKED, LOAD, None, Watch()).smallest(pods)
    kept = [one for one in found if one.holds]
    assert kept
    for one in kept:
        assert one.outcome.kept >= 0.95
        assert one.ttft <= 1.0


def test_one_pod_is_enough_where_it_keeps_up() -> None:
    """A prompt of 1024 tokens is 16.5 TFLOP of 8.03 G weights: some 25 ms at two thirds of 989 TFLOP/s, so that one
    engine reads about 36 a second at 90 % of its time, more than the 30 that are sent."""
    pod = Pods(1, ENGINES[1], 1, ENGINES[1], [NETWORK.net.path(int(n)) for n in ENGINES[1].replicas.ravel()])
    found = _Search(ASKED, LOAD, None, Watch()).run(pod)
    assert (found.replicas, found.accelerators) == (1, 2)


def test_what_no_pod_keeps_says_so() -> None:
    hard = replace(ASKED, limits=replace(ASKED.limits, ttft=1e-4))
    found = _Search(hard, LOAD, None, Watch()).smallest(_pods(NETWORK, hard, "here", "")[:4])
    assert not any(one.holds for one in found)
    assert all("100 us" in one.why or "no number of pods" in one.why for one in found)
