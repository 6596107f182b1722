"""Searches over sizes of served models: the smallest set within limits, the largest load, prompts and answers apart."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import designer
from designer.decisions.serving_size import _pods, _Search, size_serving
from designer.decisions.serving_ways import (
    PODS_LIMIT,
    Mean,
    Pods,
    Replicas,
    Tried,
    fewest_by_form,
    pods_of,
    replicas_of,
)
from designer.design.document import WorkloadSpec
from designer.engine.network import build_network
from designer.errors import AnalysisError, Cancelled
from designer.families.serving.answers import serve
from designer.families.serving.closed_form import closed_form
from designer.families.serving.deployment import Limits, Serving
from designer.families.serving.formulas.layers import prefill_area
from designer.families.serving.limits import Outcome, largest_load
from designer.families.serving.placement import place_deployment
from designer.interchange.templates import open_design
from designer.progress import Watch
from tests.asked import serving_asked

# The smallest set within limits, and the largest load.

ASKED = {
    "model": "llama-3-70b",
    "weights": "fp8",
    "release": "0.12.0",
    "rate": "20 1/s",
    "prompt": 2000,
    "output": 256,
    "ttft_limit": "1 s",
    "count": 400,
}


def asked(**changes: object) -> Serving:
    found = serving_asked({**ASKED, **changes}, "workloads.s")
    assert isinstance(found, Serving)
    return found


NETWORK = build_network(designer.open_design("hgx-h100-8"))


def test_the_smallest_set_holds_and_the_others_lose_with_a_reason() -> None:
    found = size_serving(NETWORK, asked(), "s")
    best = found.best
    assert best is not None
    assert best.ttft <= 1
    assert best.accelerators == best.replicas * best.tensor
    # prompts alone: 20/s x 2,000 tokens x 2 x 70.6 GFLOP at the data sheet's peak need 2.9 accelerators
    assert best.accelerators >= 3
    assert all(c.accelerators >= best.accelerators for c in found.candidates if c.holds)
    assert any("does not fit" in c.why for c in found.candidates)
    assert all(c.words.startswith(f"tensor parallel {c.tensor}: ") for c in found.candidates)


def test_twice_the_load_needs_about_twice_as_much() -> None:
    one, two = (size_serving(NETWORK, asked(rate=f"{rate} 1/s"), "s").best for rate in (20, 40))
    assert one is not None
    assert two is not None
    assert 1.5 < two.accelerators / one.accelerators < 2.5


def test_the_rate_is_what_was_asked_for() -> None:
    """Four hundred arrivals drawn by chance come to some 5 % more or less than 20/s: replicas get an even share."""
    best = size_serving(NETWORK, asked(), "s").best
    assert best is not None
    assert best.why.startswith(f"each replica gets {20 / best.replicas:.3g} of ")


def test_a_set_says_what_its_analysis_says() -> None:
    """Each way that holds, set as the widths and replicas of a workload, gives the very same times."""
    settings = {**ASKED, "rate": "8 1/s"}
    found = [c for c in size_serving(NETWORK, asked(rate="8 1/s"), "s").candidates if c.holds]
    assert len(found) == 3
    for one in found:
        drawn = settings | {"tensor": one.tensor, "replicas": one.replicas}
        spec = WorkloadSpec(id="s", kind="serving", settings=drawn)
        design = designer.open_design("hgx-h100-8").model_copy(update={"workloads": {"s": spec}})
        metrics = designer.analyze(design, ["s"]).workloads[0].metrics
        stated = [metrics[name].value for name in ("ttft_p95", "tpot", "latency_p95")]
        assert stated == pytest.approx([one.ttft, one.tpot, one.latency], rel=1e-12)


def test_a_limit_nothing_keeps_is_told() -> None:
    found = size_serving(NETWORK, asked(ttft_limit="5 ms"), "s")
    assert found.best is None
    assert any("however" in c.why or "even with" in c.why for c in found.candidates)


def test_only_requests_that_arrive_are_sized() -> None:
    with pytest.raises(AnalysisError, match="requests that arrive"):
        size_serving(NETWORK, asked(load="clients"), "s")


def test_the_largest_load_keeps_the_limits_and_more_does_not() -> None:
    operation = asked()
    placement = place_deployment(NETWORK, replace(operation.deployment, tensor=4), "s")
    strict = largest_load(placement, asked(ttft_limit="200 ms"))
    loose = largest_load(placement, operation)
    assert 0 < strict < loose


def test_a_search_looks_at_thousands_of_ways_and_finds_none_larger_than_without() -> None:
    plain = size_serving(NETWORK, asked(), "s").best
    stated: list[str] = []
    found = size_serving(NETWORK, asked(), "s", Watch(lambda _, text: stated.append(text)), search=("all",))
    best = found.best
    assert plain is not None
    assert best is not None
    assert found.looked > 2000
    assert best.accelerators <= plain.accelerators
    assert best.choice
    assert any("ways looked at" in text for text in stated)
    assert all(c.why for c in found.candidates)


def test_a_search_can_be_stopped_and_refuses_what_it_cannot_choose() -> None:
    with pytest.raises(Cancelled):
        size_serving(NETWORK, asked(), "s", Watch(cancelled=lambda: True), search=("all",))
    with pytest.raises(AnalysisError, match="not chosen by a search"):
        size_serving(NETWORK, asked(), "s", search=("colour",))


def test_the_closed_form_is_near_the_run_where_the_load_is_light() -> None:
    operation = asked(rate="2 1/s")
    placement = place_deployment(NETWORK, replace(operation.deployment, tensor=4, replicas=1), "s")
    ttft, tpot = closed_form(placement, 2.0, 2000, 256)
    run = serve(placement, operation, banded=False).runs[0]
    assert tpot == pytest.approx(float(run.tpot.mean()), rel=0.1)
    assert ttft == pytest.approx(float(run.ttft.mean()), rel=0.25)
    assert closed_form(placement, 1000.0, 2000, 256)[0] == float("inf")


LONG = {"prompt": 300_000, "rate": "0.01 1/s", "weights": "bf16", "ttft_limit": "0 s", "count": 60}


def test_widths_without_room_for_one_request_lose_with_the_reason() -> None:
    """Two devices have room for 17,000 tokens, four for more than one prompt of 300,000: not a division by zero."""
    found = size_serving(NETWORK, asked(**LONG), "s")
    assert found.best is not None
    lost = {c.tensor: c.why for c in found.candidates if not c.holds}
    assert "the shortest request has" in lost[2]
    assert [stated.code for stated in found.findings] == ["SERVE-CONTEXT"]
    none = size_serving(NETWORK, asked(**{**LONG, "prompt": 5_000_000}), "s")
    assert none.best is None
    assert all(c.why for c in none.candidates)


def test_a_search_runs_only_ways_with_room_for_a_request() -> None:
    """More is free to choose, so no more accelerators are needed than without."""
    plain = size_serving(NETWORK, asked(**LONG), "s").best
    free = size_serving(NETWORK, asked(**LONG), "s", search=("weights",)).best
    assert plain is not None
    assert free is not None
    assert free.accelerators <= plain.accelerators


def test_a_long_prompt_in_pieces_is_read_with_what_came_before_it() -> None:
    """A prompt of 32 pieces attends to half of itself in the mean: far slower than 32 first pieces."""
    placement = place_deployment(NETWORK, asked(tensor=8).deployment, "s")
    short, long = (closed_form(placement, 1e-6, tokens, 1)[0] for tokens in (8192.0, 32 * 8192.0))
    run = serve(placement, asked(**LONG, output=1), banded=False).runs[0]
    assert long > 40 * short
    assert long == pytest.approx(float(run.ttft.mean()) * 32 * 8192 / 300_000, rel=0.6)


def test_a_cheaper_way_with_more_accelerators_is_run_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six ways of four cards at 100 each promise 400 and take six cards, 600, when run; 20 cards at 22 are 440."""
    fast, cheap = (place_deployment(NETWORK, asked().deployment, "here") for _ in range(2))
    ways = [Replicas(fast, f"way {n}") for n in range(6)] + [Replicas(cheap, "many")]
    formed = {id(way): (400.0, 4.0, 0.1) if way.placement is fast else (440.0, 20.0, 0.1) for way in ways}
    monkeypatch.setattr(_Search, "_formed", lambda _, way: formed[id(way)])
    monkeypatch.setattr(Replicas, "first", lambda *_: 1)
    monkeypatch.setattr(Replicas, "accelerators", lambda way, _: 6 if way.placement is fast else 20)
    kept = Tried(Outcome(True, 0.1, 0.01, 1.0, 1.0), (1.0, 1.0, 1.0))
    monkeypatch.setattr(Replicas, "run", lambda *_: kept)
    price = {id(fast): 100.0, id(cheap): 22.0}
    search = _Search(asked(), Mean(1.0, 1.0, 1.0), lambda placement: price[id(placement)], Watch())
    assert min((c.cost, c.choice) for c in search.smallest(ways) if c.holds) == (440.0, "many")


def test_the_closed_form_counts_replicas_one_by_one() -> None:
    """Not in halves of the load: each way has the fewest replicas whose share of the load it can take."""
    placement = place_deployment(NETWORK, replace(asked().deployment, tensor=2), "s")
    limits = asked().limits
    for rate in (11.0, 20.0, 37.0):
        count = fewest_by_form(Replicas(placement), Mean(rate, 2000.0, 256.0), limits)
        assert count is not None
        assert closed_form(placement, rate / count, 2000, 256)[0] <= limits.ttft
        # the next smaller number: it cannot keep up, or the first token comes too late
        assert closed_form(placement, rate / (count - 1), 2000, 256)[0] > limits.ttft
        assert count & (count - 1), "a power of two would say nothing here"


def test_formats_of_experts_are_tried_where_there_are_some() -> None:
    """gpt-oss is published in MXFP4, so a search of formats has that; of a dense model it would be bf16 again."""
    for model, tried in (("gpt-oss-120b", True), ("llama-3-70b", False)):
        deployment = replace(asked(model=model, weights="fp8").deployment, tensor=4)
        ways = replicas_of(place_deployment(NETWORK, deployment, "s"), ["weights"])
        assert ("mxfp4" in {way.choice for way in ways}) is tried


# Prompts and answers apart: pods counted by hand, the slower side decides, what is run keeps the limits.

H100 = build_network(open_design("hgx-h100-8"))


PODS = serving_asked(
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


assert isinstance(PODS, Serving)


LOAD = Mean(30.0, 1024.0, 64.0)


ENGINES = {width: place_deployment(H100, replace(PODS.deployment, tensor=width), "here") for width in (1, 2, 4, 8)}


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
    pods = _pods(H100, PODS, "here", "")
    assert len(pods) == len(list(pods_of(ENGINES, ["gpu"] * 8)))
    found = _Search(PODS, LOAD, None, Watch()).smallest(pods)
    kept = [one for one in found if one.holds]
    assert kept
    for one in kept:
        assert one.outcome.kept >= 0.95
        assert one.ttft <= 1.0


def test_one_pod_is_enough_where_it_keeps_up() -> None:
    """A prompt of 1024 tokens is 16.5 TFLOP of 8.03 G weights: some 25 ms at two thirds of 989 TFLOP/s, so that one
    engine reads about 36 a second at 90 % of its time, more than the 30 that are sent."""
    pod = Pods(1, ENGINES[1], 1, ENGINES[1], [H100.net.path(int(n)) for n in ENGINES[1].replicas.ravel()])
    found = _Search(PODS, LOAD, None, Watch()).run(pod)
    assert (found.replicas, found.accelerators) == (1, 2)


def test_what_no_pod_keeps_says_so() -> None:
    hard = replace(PODS, limits=replace(PODS.limits, ttft=1e-4))
    found = _Search(hard, LOAD, None, Watch()).smallest(_pods(H100, hard, "here", "")[:4])
    assert not any(one.holds for one in found)
    assert all("100 us" in one.why or "no number of pods" in one.why for one in found)
