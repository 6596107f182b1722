"""Replicas: start, scaling with load, sharing of accelerators, tiers of keys and values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import designer
from designer.analysis.simulation import simulate
from designer.design.document import Design, WorkloadSpec
from designer.design.edits.links import RemoveLinks
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.families.serving.alone import Fleet, Following, follow, places_of, sent_among
from designer.families.serving.formulas.memory import reused
from designer.families.serving.formulas.start import rolling_update, seeded_rate
from designer.families.serving.traces import reuse_curve
from designer.interchange.overrides import overridden
from tests.asked import answered
from tests.unit.families.serving.test_serving_workload import codes, served, value

# Replicas that follow the load: when they start and stop, who answers meanwhile, and what it costs.


def even(rates: list[float], each: float = 600.0) -> list[float]:
    """Arrivals at rates that last `each` seconds one after the other."""
    found: list[float] = []
    for k, rate in enumerate(rates):
        found += (k * each + np.arange(int(rate * each)) / rate).tolist()
    return found


def test_a_step_of_the_load_by_hand() -> None:
    """A replica takes 2 requests a second, .8 of that is counted on: 1 a second needs one, 5 a second four.

    The load rises at 600 s. Looked at every 15 s over the last minute, 75 s of it: at 615 s 15 x 5 + 45 x 1 = 120
    requests in a minute, 2 a second: two. At 630 s 3 a second: two; at 645 s 4: three; at 660 s 5: four.
    """
    fleet = follow(even([1.0, 5.0]), 2.0, 100.0, 1, 8)
    assert fleet.started == (0, 615, 645, 660)
    assert fleet.ready == (0, 715, 745, 760)
    assert all(math.isinf(stop) for stop in fleet.stopped)


def test_replicas_are_kept_for_five_minutes_after_the_load_fell() -> None:
    """At 600 s the load falls from 5 to 1 a second, whose last minute needs four; at 900 s none does."""
    fleet = follow(even([5.0, 1.0, 1.0]), 2.0, 100.0, 1, 8)
    assert fleet.started == (0,) * 4
    assert fleet.ready == (0,) * 4
    stops = sorted(fleet.stopped)
    assert stops[0] == 900
    assert math.isinf(stops[-1])
    assert sum(math.isinf(stop) for stop in stops) == 1


def test_what_is_paid_by_hand() -> None:
    fleet = Fleet((0.0, 100.0), (0.0, 160.0), (math.inf, 400.0))
    assert fleet.seconds(1000.0) == 1000 + 300
    assert fleet.seconds(300.0) == 300 + 200
    assert fleet.most() == 2


def test_requests_go_to_those_that_are_ready() -> None:
    fleet = Fleet((0.0, 100.0), (0.0, 160.0), (math.inf, 400.0))
    at = [0.0, 50.0, 150.0, 160.0, 161.0, 399.0, 400.0, 500.0]
    chosen = sent_among(at, fleet)
    assert chosen[:3] == [0, 0, 0]
    assert set(chosen[3:6]) == {0, 1}
    assert chosen[6:] == [0, 0]


def test_a_replica_that_was_stopped_is_started_again() -> None:
    """The third is started when the second was stopped, on its devices; the fourth needs some of its own."""
    fleet = Fleet((0.0, 100.0, 500.0, 510.0), (0.0, 160.0, 560.0, 570.0), (math.inf, 400.0, math.inf, math.inf))
    assert places_of(fleet) == [0, 1, 1, 2]


def test_requests_that_become_known_later_go_where_they_would_have_gone() -> None:
    at = even([1.0, 5.0, 1.0, 1.0])
    fleet = follow(at, 2.0, 100.0, 1, 8)
    places = places_of(fleet)
    whole = [places[k] for k in sent_among(at, fleet)]
    following = Following(2.0, 100.0, 8)
    found = [place for begin in range(0, len(at), 700) for place in following.sent(at[begin : begin + 700])]
    assert found == whole
    assert max(found) == 3


@pytest.mark.parametrize("seed", range(5))
def test_there_are_never_more_than_drawn_nor_none(seed: int) -> None:
    draw = np.random.default_rng(seed)
    at = np.cumsum(draw.exponential(0.3, 3000) * np.repeat(draw.uniform(0.2, 3, 10), 300)).tolist()
    fleet = follow(at, 1.0, 60.0, 1, 5)
    assert 1 <= fleet.most() <= 5
    for now in np.linspace(0, at[-1], 100):
        assert any(ready <= now < stop for ready, stop in zip(fleet.ready, fleet.stopped, strict=True))


def test_a_day_on_drawn_replicas() -> None:
    """Two replicas, a load that is low for two thirds of it: fewer hours are paid, and the first tokens wait longer."""
    given = {"rate": "6 1/s", "profile": "0.2, 0.2, 2.6", "count": 3000, "prompt": 3000, "ttft_limit": "1 s"}
    always, follows = served(**given), served(**given, scaling=True)
    assert "SERVE-SCALED" in codes(follows)
    assert "accelerator_hours" not in always.metrics
    assert value(follows, "replicas_most") <= 2
    assert value(follows, "accelerator_hours") < 8 * 24
    assert value(follows, "replicas_mean") == pytest.approx(value(follows, "accelerator_hours") / 4 / 24)
    assert value(follows, "ttft_p99") >= value(always, "ttft_p99")
    assert value(follows, "requests_per_second") == pytest.approx(value(always, "requests_per_second"), rel=0.1)
    assert "SERVE-UNUSED" in codes(served(load="clients", clients=4, scaling=True))


# Many replicas at once, weights from peers, and a rolling update.


def starting(sets: tuple[str, ...] = (), **changes: object) -> WorkloadResult:
    design = overridden(designer.open_design("serving-split-2-racks"), sets)
    settings = {**design.workloads["together-70b"].settings, "count": 200, "readers": 64, **changes}
    return answered(design, "serving", settings)


def test_by_hand() -> None:
    # 2 GB/s from storage, 10 GB/s from peers, 8 servers: .5 + 3 x .1 = .8 s for each GB
    assert seeded_rate(2.0, 10.0, 8) == pytest.approx(1 / 0.8)
    assert seeded_rate(2.0, 10.0, 1) == 2
    # 8 replicas, 3 at once: three rounds, 5 of 8 answer
    assert rolling_update(8, 3, 40.0) == (120.0, pytest.approx(0.625))
    assert rolling_update(2, 5, 40.0) == (40.0, 0.0)


def test_peers_help_where_the_storage_is_narrow() -> None:
    narrow = ("storage.read_bandwidth=2 GB/s",)
    from_storage, from_peers = (starting(narrow, peers=p).metrics["cold_start_time"] for p in (False, True))
    assert from_peers.value < from_storage.value
    assert from_peers.low <= from_peers.value <= from_peers.high


def test_an_engine_whose_weights_cannot_come_is_named() -> None:
    """One of two hosts has lost its cables to the storage: it would start never, which is no time."""
    design = designer.open_design("serving-mig-farm")
    at = (("hosts", 1),)
    for link in ("cpu0--nic0", "cpu1--nic1"):
        design = RemoveLinks((link,), within=at).apply(design)
    with pytest.raises(AnalysisError, match="no way for weights from storage to hosts"):
        designer.analyze(design, ["mig-1g"])


def test_a_rolling_update_takes_capacity_and_time() -> None:
    one, half = starting(update=1), starting(update=4)
    assert one.metrics["rolling_update_time"].value > 1.5 * half.metrics["rolling_update_time"].value
    most = one.metrics["most_requests_per_second"].value
    assert one.metrics["requests_while_updating"].value == pytest.approx(most * 7 / 8)
    assert half.metrics["requests_while_updating"].value == pytest.approx(most / 2)


def test_peers_of_one_server_change_nothing_and_that_is_told() -> None:
    alone, wide = starting(peers=True, group="answers[0]/gpu*"), starting(peers=True)
    texts = [" ".join(f.text for f in found.findings if f.code == "SERVE-UNUSED") for found in (alone, wide)]
    assert texts[0] == "peers changes nothing: all replicas start in one server"
    assert not texts[1]


def test_storage_that_is_not_there_is_refused_by_the_name_of_its_setting() -> None:
    with pytest.raises(AnalysisError) as refused:
        starting(storage="32")
    assert refused.value.place is not None
    assert refused.value.place.endswith(".storage")


# Several models on one GPU: turns, memory and instances, by hand and against the clock.

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


# Keys and values beyond the GPU: more is found, over links that take their time.

TIERED = {
    "model": "llama-3-70b",
    "weights": "fp8",
    "release": "0.12.0",
    "tensor": 4,
    "rate": "3 1/s",
    "prompt": 4000,
    "output": 200,
    "count": 400,
    "reuse": "1M:10 %, 10M:40 %, 100M:60 %",
}


def tiered(sets: tuple[str, ...] = (), **changes: object) -> WorkloadResult:
    return answered(overridden(designer.open_design("serving-h100-8"), sets), "serving", {**TIERED, **changes})


def test_a_curve_by_hand() -> None:
    curve = ((1e6, 0.1), (1e7, 0.4))
    assert reused(curve, 5e5) == pytest.approx(0.05)
    assert reused(curve, 1e7 / 10**0.5) == pytest.approx(0.25)
    assert reused(curve, 1e9) == 0.4
    assert reused((), 1e9) == 0


def test_the_shipped_curve_is_that_of_the_trace() -> None:
    curve = reuse_curve("mooncake-conversation")
    # 10,000 blocks of 512 tokens find 21.6 % of the tokens
    assert reused(curve, 5_120_000) == pytest.approx(0.2157)
    assert [share for _, share in curve] == sorted(share for _, share in curve)


def test_host_memory_finds_more_and_its_way_takes_time() -> None:
    near, far = tiered(), tiered(tiers="memory")
    hits = [f.metrics["prefix_hits"].value for f in (near, far)]
    assert hits[1] > hits[0] + 0.1
    fetch = far.metrics["fetch_time"]
    assert fetch.low <= fetch.value <= fetch.high
    # what is found is not computed: more requests can be answered
    assert far.metrics["most_requests_per_second"].value > near.metrics["most_requests_per_second"].value
    # by hand: 4,000 tokens x 327,680 B / 4 devices x what the tier adds, at some 50 GB/s of PCIe 5
    moved = (hits[1] - hits[0]) * 4000 * 327_680 / 4
    assert fetch.value == pytest.approx(moved / 50e9, rel=0.5)


def test_a_slow_tier_is_named_and_what_it_cannot_bring_is_computed_again() -> None:
    slow = tiered(("storage.client_read_bandwidth=0.5 GB/s", "storage.capacity=100 TB"), tiers="storage")
    assert "SERVE-TIER" in {f.code for f in slow.findings}
    quick = tiered(tiers="memory")
    assert slow.metrics["prefix_hits"].value < quick.metrics["prefix_hits"].value
    assert any("storage" in b.id or "store" in b.label.lower() for b in (*slow.binding, *slow.next))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"reuse": "much"}, "no reuse"),
        ({"reuse": "5M:40 %, 50M:10 %"}, "does not rise"),
        ({"reuse": "5M:x"}, "no room and share"),
        ({"tiers": "nic0"}, "holds nothing"),
        ({"tiers": "memory", "tier_share": "200 %"}, "of a tier"),
    ],
)
def test_bad_input_is_refused_in_words(changes: dict[str, object], words: str) -> None:
    with pytest.raises(AnalysisError, match=words) as stated:
        tiered(**changes)
    assert stated.value.remedy


def test_a_tier_without_reuse_is_told_to_change_nothing() -> None:
    assert "SERVE-TIER" in {f.code for f in tiered(reuse="", tiers="memory").findings}


def test_engines_that_only_read_prompts_find_what_their_own_caches_hold() -> None:
    """Two racks apart: what is found need not be read, so more prompts can be; the clock says the same."""
    design = designer.open_design("serving-split-2-racks")
    common = {**design.workloads["split-70b"].settings, "count": 300, "storage": "", "prompt": 4000, "rate": "6 1/s"}
    specs = {
        name: WorkloadSpec.model_validate({"id": name, "kind": "serving", "settings": {**common, "reuse": curve}})
        for name, curve in (("none", ""), ("some", "1M:30 %, 100M:60 %"))
    }
    design = design.model_copy(update={"workloads": specs})
    none, some = designer.analyze(design, ["none", "some"]).workloads
    assert "prefix_hits" not in none.metrics
    hits = some.metrics["prefix_hits"].value
    assert 0.3 < hits < 0.6
    # 4,000 tokens x 2 x 70.6 GFLOP on 4 x 1.98 PFLOP/s at two thirds of it .11 s, joining as long again
    gained = none.metrics["ttft"].value - some.metrics["ttft"].value
    assert gained == pytest.approx(0.22 * hits, rel=0.35)
    clocked = designer.simulate(design, ["some"], until=60.0, bands=False).metrics["some"]["ttft_p50"].value
    assert clocked == pytest.approx(some.metrics["ttft_p50"].value, rel=0.1)
