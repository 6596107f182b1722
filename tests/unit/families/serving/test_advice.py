"""What is said with an answer: money, limits to operate at, advice, settings that nothing uses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

import designer
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from designer.families.serving.alone import alone
from designer.families.serving.answers import serve
from designer.families.serving.closed_form import operated
from designer.families.serving.deployment import Serving
from designer.families.serving.drafting import Drafted, gain, pays_until
from designer.families.serving.formulas.speculation import chained
from designer.families.serving.inference import Inference
from designer.families.serving.placement import Placement, place_deployment
from designer.families.serving.unused import unused, unused_in_batches
from designer.findings import Finding, Severity
from designer.sources import Estimate
from designer.units import Ratio
from designer.workload.models import model
from tests.asked import answered, in_batches, serving_asked
from tests.unit.families.serving.test_serving_workload import BASE, codes, served, value

# What a day costs, by hand: hours that are paid for, energy that is drawn, and what is answered for it.

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


def simulated(**more: object) -> Mapping[str, Estimate]:
    design = designer.with_workload(designer.open_design("hgx-h100-8"), "s", "serving", **{**BASE, **more})
    return designer.simulate(design, ["s"], until=120.0).metrics["s"]


def test_a_simulation_states_what_a_day_like_it_costs() -> None:
    """Eight accelerators for 24 hours at 2.5: 480; with energy what they draw at 0.2 a kWh besides, some 20."""
    assert simulated(rate="2 1/s", accelerator_price=2.5)["cost_per_day"].value == pytest.approx(480)
    found, alone = simulated(rate="2 1/s", **PRICES), served(rate="2 1/s", **PRICES)
    energy = value(alone, "power") / 1000 * 24 * 0.2
    assert found["cost_per_day"].value == pytest.approx(480 + energy, rel=0.002)
    assert found["cost_per_day"].low < 480 + energy < found["cost_per_day"].high
    a_day = found["requests_per_second"].value * 86400
    assert found["requests_per_money"].value == pytest.approx(a_day / found["cost_per_day"].value)


def test_replicas_that_follow_a_simulated_load_are_paid_for_while_they_run() -> None:
    """One of two replicas of four is enough: 4 accelerators for 24 hours at 2.5."""
    found = simulated(rate="0.5 1/s", accelerator_price=2.5, scaling=True)
    assert found["cost_per_day"].value == pytest.approx(4 * 24 * 2.5)
    assert "cost_per_day" not in simulated(rate="0.5 1/s")


# Step tokens and slots chosen where none are asked for: the limit of a token holds, and the page says why.


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


# What a newcomer is asked to do: whether more replicas help, how many there must be, and what more would bring.

ADVISED: Mapping[str, Any] = {
    "model": "llama-3-70b",
    "weights": "fp8",
    "release": "0.12.0",
    "tensor": 4,
    "rate": "6 1/s",
    "prompt": 2000,
    "output": 256,
    "spread": "0 %",
    "count": 200,
}


def advised(**changes: object) -> WorkloadResult:
    return answered("serving-h100-8", "serving", {**ADVISED, **changes})


def stated(result: WorkloadResult, code: str) -> Finding:
    return next(f for f in result.findings if f.code == code)


def test_a_request_alone_by_hand() -> None:
    """Its way to the queue, one step with its prompt, then 255 steps that grow by a token each: the mean counts."""
    asked = serving_asked(ADVISED, "s")
    assert isinstance(asked, Serving)
    placement = place_deployment(build_network(designer.open_design("serving-h100-8")), asked.deployment, "s")
    steps = placement.steps
    first, token, whole = alone(serve(placement, asked))
    assert first == pytest.approx(placement.release.overheads.path + steps.step(2000, 2000 * 1000, 1, 0, 0.0))
    assert token == pytest.approx(steps.decode(1) + steps.context() * 2128)
    assert whole == pytest.approx(first + 255 * token)


def test_a_limit_below_what_one_request_takes_is_not_met_by_more_replicas() -> None:
    assert "do not help" in stated(advised(ttft_limit="0.1 s"), "SERVE-LIMIT").remedy
    assert "do not help" in stated(advised(tpot_limit="5 ms"), "SERVE-LIMIT").remedy


def test_a_limit_that_queues_break_is_met_by_more_replicas() -> None:
    short = advised(ttft_limit="0.25 s", rate="10 1/s")
    assert "use more replicas" in stated(short, "SERVE-LIMIT").remedy
    assert "SERVE-LIMIT" not in {f.code for f in advised(ttft_limit="0.25 s", rate="1 1/s").findings}


def test_how_many_replicas_take_a_load_that_is_too_high() -> None:
    """Two take 12.2 requests a second together, so 20 need four of four accelerators."""
    result = advised(rate="20 1/s")
    each = result.metrics["most_requests_per_second"].value / 2
    assert 20 / 4 < each < 20 / 3
    count = 4
    assert stated(result, "SERVE-SATURATED").text.startswith("20/s of requests arrive")
    assert f"{count} replicas ({4 * count} accelerators) or more" in stated(result, "SERVE-SATURATED").remedy


def test_what_more_would_bring_names_the_replica_and_the_part_of_each_phase() -> None:
    text = stated(advised(), "SERVE-MORE").text
    assert "one more replica (4 × NVIDIA H100" in text
    assert re.search(r"prompts \+\d+% with twice the speed of NVIDIA H100 SXM5 80 GB \(arithmetic\)", text)
    assert re.search(r"decoding \+\d+% with twice the speed of NVIDIA H100 SXM5 80 GB \(memory bandwidth\)", text)


@dataclass(frozen=True)
class Even:
    """Steps of 10 ms, and 1 ms more for every eight rows beyond 32."""

    shape: Any = field(default_factory=lambda: model("llama-3-8b"))

    def decode(self, requests: int) -> float:
        return 0.01 + 0.001 * max(0, requests - 32) / 8

    def tokens(self, tokens: int, sampled: int) -> float:
        return self.decode(tokens)

    def context(self) -> float:
        return 0.0


def test_the_batch_at_which_drafts_stop_paying_by_hand() -> None:
    """One draft, 1.5 tokens a step. Rows are free up to 32, so 16 requests gain by 1.5 less what drafting takes.

    Drafting takes a layer of 32 and the head, .03 of a plain step: .06125 of it. With b beyond 32 requests a step takes
    6 + b / 8 ms plain and 6 + b / 4 ms with the drafts, and (1.5 - .06125) (6 + b / 8) = 6 + b / 4 at b = 37.5.
    """
    steps = Even()
    drafted = Drafted(steps, 1, (1.5,))  # pyright: ignore[reportArgumentType]
    assert gain(steps, drafted, 16, 0.0) == pytest.approx(1.5 / 1.06125)  # pyright: ignore[reportArgumentType]
    assert pays_until(steps, drafted, 0.0, 1000) == 37  # pyright: ignore[reportArgumentType]
    assert pays_until(steps, drafted, 0.0, 20) == 20  # pyright: ignore[reportArgumentType]


def test_how_far_drafts_pay_is_told_and_beyond_it_it_is_a_warning() -> None:
    drafts = {"drafts": 3, "draft": "kimi-k2.5-eagle3"}
    light = stated(advised(**drafts), "SERVE-DRAFTS")
    assert light.severity is Severity.INFO
    assert "drafting 3 tokens pays up to" in light.text
    assert not [f for f in advised().findings if f.code == "SERVE-DRAFTS"]


def test_an_acceptance_drafts_for_any_model_by_hand() -> None:
    """.7 of what is right so far: 1.7, 2.19 and 2.533 tokens a step with one, two and three drafted; 1 gives all."""
    assert chained(Ratio(0.7), 3) == pytest.approx((1.7, 2.19, 2.533))
    assert chained(Ratio(1.0), 2) == (2.0, 3.0)
    light = {"rate": "0.5 1/s"}
    plain, drafted = advised(**light), advised(**light, drafts=3, acceptance=0.7)
    gained = plain.metrics["tpot"].value / drafted.metrics["tpot"].value
    # with few at once verifying costs little, and drafting three times a layer of 80 and the head, .0425 of a step
    assert 0.8 * 2.533 / 1.1275 < gained < 2.533
    worse = advised(**light, drafts=3, acceptance=0.1)
    assert worse.metrics["tpot"].value > drafted.metrics["tpot"].value


# What is set and changes nothing is stated, and what nobody set is not.


def settings_stated(**settings: object) -> list[str]:
    asked = serving_asked(settings, "s")
    assert isinstance(asked, Serving)
    return [finding.text for finding in unused(asked)]


def test_what_nobody_set_is_not_told() -> None:
    assert settings_stated() == []
    assert settings_stated(load="clients", clients=64, waves=5) == []
    assert settings_stated(load="offline") == []
    assert settings_stated(load="clients", variation=4) == [], "the knee is looked for with requests that arrive so"
    assert settings_stated(load="clients", count=100) == [], "points of the frontier have that many requests"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"prompt_tensor": 2}, "prompt_tensor changes nothing: all accelerators read prompts"),
        ({"draft": "kimi-k2.5-eagle3"}, "draft changes nothing: no token is drafted"),
        ({"acceptance": "70 %"}, "acceptance changes nothing: no token is drafted"),
        ({"load": "agents", "variation": 3}, "variation changes nothing: the load is agents"),
        ({"load": "agents", "lengths": "azure-2023-code"}, "lengths changes nothing: the load is agents"),
        ({"load": "agents", "count": 100}, "count changes nothing: the load is agents"),
        ({"waves": 5, "clients": 3}, "clients and waves change nothing: the load is a rate"),
        ({"load": "clients", "profile": "1,2"}, "profile changes nothing: the load is clients"),
        ({"load": "clients", "rate": "3 1/s"}, "rate changes nothing: the load is clients"),
        ({"load": "clients", "count": 5000}, "count changes nothing: the load is clients"),
        ({"load": "trace", "trace": "a", "prompt": 9, "seed": 3}, "prompt and seed change nothing: the trace has its"),
        ({"lengths": "azure-2023-code", "spread": "0"}, "spread changes nothing: lengths are those of azure"),
        ({"prompt_group": "gpu0", "tiers": "memory"}, "tiers changes nothing: engines that read prompts"),
        ({"load": "offline", "profile": "1,2"}, "profile changes nothing: the load is everything at once"),
        ({"trace": "a.jsonl"}, "trace changes nothing: the load is a rate"),
        ({"load": "trace", "trace": "a.jsonl", "reuse": "5M:22 %"}, "reuse changes nothing: the trace says"),
        ({"reuse": "5M:22 %", "prefix": "30 %"}, "prefix changes nothing: reuse says"),
        ({"tier_share": "10 %"}, "tier_share changes nothing: keys and values stay"),
        ({"peers": True, "readers": 4}, "peers and readers change nothing: nothing says where weights come from"),
    ],
)
def test_what_waits_for_another_setting_is_told_with_it(settings: Mapping[str, object], words: str) -> None:
    found = settings_stated(**settings)
    assert len(found) == 1
    assert found[0].startswith(words)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"scenario": "offline", "rate": "3 1/s"}, "rate changes nothing: the scenario is offline"),
        ({"streams": 4, "frames": "25 1/s"}, "streams and frames change nothing: the scenario is server"),
        ({"query": 4}, "query changes nothing: the scenario is server"),
        ({"scenario": "multi-stream", "batch": 4}, "batch changes nothing: the scenario is multi-stream"),
        ({"scenario": "offline", "seed": 4}, "seed changes nothing: all samples are there"),
        ({"sequence": 99}, "sequence changes nothing: a sample of this model has no tokens"),
        ({"limit_at": "p50"}, "limit_at changes nothing: there is no limit"),
    ],
)
def test_in_batches_too(settings: Mapping[str, object], words: str) -> None:
    def found(**changes: object) -> list[str]:
        asked = in_batches(changes, "s")
        assert isinstance(asked, Inference)
        return [finding.text for finding in unused_in_batches(asked, tokens=False)]

    assert found() == []
    assert len(found(**settings)) == 1
    assert found(**settings)[0].startswith(words)
