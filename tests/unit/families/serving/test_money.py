"""What a day costs, by hand: hours that are paid for, energy that is drawn, and what is answered for it."""

from __future__ import annotations

import pytest

from tests.unit.families.serving.test_serving_workload import served, value

PRICES = {"accelerator_price": 2.5, "energy_price": 0.2}
DAY = 86_400


def test_a_day_of_all_replicas_by_hand() -> None:
    """Eight accelerators for 24 hours at 2.50, and 24 hours of what they draw at .20 a kWh."""
    found = served(rate="2 1/s", **PRICES)
    paid = 8 * 24 * 2.5
    energy = value(found, "power") / 1000 * 24 * 0.2
    assert value(found, "cost_per_day") == pytest.approx(paid + energy)
    band = found.metrics["cost_per_day"]
    assert band.high - band.value == pytest.approx((found.metrics["power"].high - value(found, "power")) / 1000 * 4.8)
    answered = value(found, "requests_per_second") * DAY
    assert value(found, "requests_per_money") == pytest.approx(answered / (paid + energy))


def test_what_is_late_is_worth_nothing() -> None:
    """Goodput over the cost: a limit that part of the requests misses makes each that keeps it dearer."""
    free, limited = served(rate="4 1/s", **PRICES), served(rate="4 1/s", ttft_limit="0.15 s", **PRICES)
    kept = value(limited, "goodput") / value(limited, "requests_per_second")
    assert 0 < kept < 1
    dearer = value(free, "requests_per_money") / value(limited, "requests_per_money")
    assert dearer == pytest.approx(value(free, "requests_per_second") / value(limited, "goodput"), rel=0.02)


def test_replicas_that_follow_the_load_are_paid_for_while_they_run() -> None:
    """Hours of the fleet at their price; power is of those that run, so both parts fall."""
    given = {"rate": "6 1/s", "profile": "0.2, 0.2, 2.6", "count": 3000, "prompt": 3000, "ttft_limit": "1 s"}
    always, follows = served(**given, **PRICES), served(**given, **PRICES, scaling=True)
    energy = value(follows, "power") / 1000 * 24 * 0.2
    assert value(follows, "cost_per_day") == pytest.approx(value(follows, "accelerator_hours") * 2.5 + energy)
    assert value(follows, "cost_per_day") < value(always, "cost_per_day")
    # replicas of four accelerators: those that run draw no more than all there are
    most = value(follows, "replicas_mean") * 4 * 700
    assert value(follows, "power") < most
    assert value(follows, "power") < value(always, "power")


def test_no_price_no_sum() -> None:
    assert "cost_per_day" not in served(rate="2 1/s").metrics
    alone = served(rate="2 1/s", accelerator_price=2.5)
    assert value(alone, "cost_per_day") == 8 * 24 * 2.5
    assert alone.metrics["cost_per_day"].low == alone.metrics["cost_per_day"].high
    # above what can be answered there is no day like the load
    assert "cost_per_day" not in served(rate="100 1/s", **PRICES).metrics
