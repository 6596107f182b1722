"""Replicas that follow the load: when they start and stop, who answers meanwhile, and what it costs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from designer.families.serving.alone import Fleet, Following, follow, places_of, sent_among
from tests.unit.families.serving.test_serving_workload import codes, served, value


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
