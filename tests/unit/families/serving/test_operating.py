"""Step tokens and slots chosen where none are asked for: the limit of a token holds, and the page says why."""

from __future__ import annotations

import pytest

import designer
from designer.engine.network import build_network
from designer.families.serving.deployment import Serving
from designer.families.serving.operating import operated
from designer.families.serving.placement import Placement, place_deployment
from tests.asked import serving_asked
from tests.unit.families.serving.test_serving_workload import BASE, codes, served, value


def asked(**more: object) -> Serving:
    return serving_asked({**BASE, **more}, "s")


def placed(**more: object) -> Placement:
    return place_deployment(build_network(designer.open_design("hgx-h100-8")), asked(**more).deployment, "s")


def chosen(**more: object) -> Placement:
    return operated(placed(**more), asked(**more), 2000.0, 256.0, lambda one: True)[0]


def test_without_a_limit_or_with_a_wide_one_defaults_stay() -> None:
    assert chosen().scheduling == placed().scheduling
    assert chosen(tpot_limit="10 s").scheduling == placed().scheduling


def test_a_step_of_prompts_is_no_longer_than_the_limit_of_a_token() -> None:
    """The most of 16,384 to 512 tokens that a step takes no more than 150 ms for, and the next more takes longer."""
    one = chosen(tpot_limit="150 ms")
    budget = one.scheduling.budget
    assert budget in (512, 1024, 2048, 4096)

    def time(tokens: int) -> float:
        whole = min(tokens, 2000)
        area = tokens / whole * whole * (whole / 2 + max(0.0, (2000 - whole) / 2))
        return one.steps.step(tokens - 1, area, 1, 1, 2128.0)

    assert time(budget) <= 0.15 < time(2 * budget)


def test_where_no_step_is_short_enough_the_shortest_is_taken() -> None:
    assert chosen(tpot_limit="12 ms").scheduling.budget == 512


def test_as_many_requests_run_as_decode_within_the_limit() -> None:
    one = chosen(tpot_limit="20 ms")
    slots = one.scheduling.slots
    assert 1 <= slots < placed().scheduling.slots

    def time(count: int) -> float:
        return one.steps.decode(count) + one.steps.context() * count * 2128

    assert time(slots) <= 0.02 < time(slots + 1)


@pytest.mark.parametrize(("name", "given"), [("budget", 8192), ("slots", 256)])
def test_what_is_asked_for_is_kept(name: str, given: int) -> None:
    assert getattr(chosen(tpot_limit="20 ms", **{name: given}).scheduling, name) == given


def test_nothing_is_chosen_with_which_the_load_is_not_answered() -> None:
    limit = asked(tpot_limit="20 ms")
    assert operated(placed(), limit, 2000.0, 256.0, lambda one: False)[0].scheduling == placed().scheduling


def test_the_page_says_what_was_chosen_and_tokens_come_sooner() -> None:
    long = {"prompt": 7000, "output": 200, "rate": "3 1/s", "tpot_limit": "60 ms"}
    found, plain = served(**long), served(**long, budget=8192, slots=1024)
    assert "SERVE-OPERATED" in codes(found)
    assert "SERVE-OPERATED" not in codes(plain)
    assert value(found, "itl_p99") < value(plain, "itl_p99")
