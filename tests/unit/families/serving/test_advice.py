"""What a newcomer is asked to do: whether more replicas help, how many there must be, and what more would bring."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

import designer
from designer.design.document import WorkloadSpec
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from designer.families.serving.alone import alone
from designer.families.serving.answers import serve
from designer.families.serving.deployment import Serving
from designer.families.serving.drafting import Drafted, gain, pays_until
from designer.families.serving.formulas.speculation import chained
from designer.families.serving.placement import place_deployment
from designer.findings import Finding, Severity
from designer.units import Ratio
from designer.workload.models import model
from tests.asked import serving_asked

BASE: Mapping[str, Any] = {
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


def served(**changes: object) -> WorkloadResult:
    spec = WorkloadSpec.model_validate({"id": "s", "kind": "serving", "settings": {**BASE, **changes}})
    design = designer.open_design("serving-h100-8")
    return designer.analyze(design.model_copy(update={"workloads": {"s": spec}}), ["s"]).workloads[0]


def stated(result: WorkloadResult, code: str) -> Finding:
    return next(f for f in result.findings if f.code == code)


def test_a_request_alone_by_hand() -> None:
    """Its way to the queue, one step with its prompt, then 255 steps that grow by a token each: the mean counts."""
    asked = serving_asked(BASE, "s")
    assert isinstance(asked, Serving)
    placement = place_deployment(build_network(designer.open_design("serving-h100-8")), asked.deployment, "s")
    steps = placement.steps
    first, token, whole = alone(serve(placement, asked))
    assert first == pytest.approx(placement.release.overheads.path + steps.step(2000, 2000 * 1000, 1, 0, 0.0))
    assert token == pytest.approx(steps.decode(1) + steps.context() * 2128)
    assert whole == pytest.approx(first + 255 * token)


def test_a_limit_below_what_one_request_takes_is_not_met_by_more_replicas() -> None:
    assert "do not help" in stated(served(ttft_limit="0.1 s"), "SERVE-LIMIT").remedy
    assert "do not help" in stated(served(tpot_limit="5 ms"), "SERVE-LIMIT").remedy


def test_a_limit_that_queues_break_is_met_by_more_replicas() -> None:
    short = served(ttft_limit="0.25 s", rate="10 1/s")
    assert "use more replicas" in stated(short, "SERVE-LIMIT").remedy
    assert "SERVE-LIMIT" not in {f.code for f in served(ttft_limit="0.25 s", rate="1 1/s").findings}


def test_how_many_replicas_take_a_load_that_is_too_high() -> None:
    """Two take 12.2 requests a second together, so 20 need four of four accelerators."""
    result = served(rate="20 1/s")
    each = result.metrics["most_requests_per_second"].value / 2
    assert 20 / 4 < each < 20 / 3
    count = 4
    assert stated(result, "SERVE-SATURATED").text.startswith("20/s of requests arrive")
    assert f"{count} replicas ({4 * count} accelerators) or more" in stated(result, "SERVE-SATURATED").remedy


def test_what_more_would_bring_names_the_replica_and_the_part_of_each_phase() -> None:
    text = stated(served(), "SERVE-MORE").text
    assert "one more replica (4 x NVIDIA H100" in text
    assert "(arithmetic) makes prompts" in text
    assert "(memory bandwidth) makes decoding" in text


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
    light = stated(served(**drafts), "SERVE-DRAFTS")
    assert light.severity is Severity.INFO
    assert "drafting 3 tokens pays up to" in light.text
    assert not [f for f in served().findings if f.code == "SERVE-DRAFTS"]


def test_an_acceptance_drafts_for_any_model_by_hand() -> None:
    """.7 of what is right so far: 1.7, 2.19 and 2.533 tokens a step with one, two and three drafted; 1 gives all."""
    assert chained(Ratio(0.7), 3) == pytest.approx((1.7, 2.19, 2.533))
    assert chained(Ratio(1.0), 2) == (2.0, 3.0)
    light = {"rate": "0.5 1/s"}
    plain, drafted = served(**light), served(**light, drafts=3, acceptance=0.7)
    gained = plain.metrics["tpot"].value / drafted.metrics["tpot"].value
    # with few at once verifying costs little, and drafting three times a layer of 80 and the head, .0425 of a step
    assert 0.8 * 2.533 / 1.1275 < gained < 2.533
    worse = served(**light, drafts=3, acceptance=0.1)
    assert worse.metrics["tpot"].value > drafted.metrics["tpot"].value
