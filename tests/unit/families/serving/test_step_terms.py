"""Terms of a step: each by hand, and what all share in one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.analysis.study import run_workload
from designer.engine.account import account
from designer.engine.account.bottlenecks import ResourceClass
from designer.engine.account.expression import Resource, Tie, Time, seconds, shares
from designer.engine.network import build_network
from designer.engine.results import Bottleneck, Step
from designer.families.collective.times import LAUNCH
from designer.families.serving.answers import in_step, jittered
from designer.families.serving.bottlenecks import Phase, step_account, step_of
from designer.families.serving.deployment import Serving
from designer.families.serving.engine_state import Requests
from designer.families.serving.formulas.joining import near_enough
from designer.families.serving.formulas.step_time import Split
from designer.families.serving.placement import Placement, place_deployment
from designer.families.serving.readings import throughput
from designer.families.serving.records import Counts, ServingRun
from designer.families.serving.tasks import Serve
from designer.interchange.templates import open_design
from designer.sources import Estimate
from designer.units import BytesPerSecond
from designer.workload.kind import task_of
from tests.asked import serving_asked
from tests.unit.families.serving.other_steps import steps_with

# Steps of an engine as expressions: their value is the step's, and what each resource gains is counted by hand.

TEMPLATES = ("hgx-h100-8", "hgx-a100-8", "serving-l40s-4", "hgx-b200-8")


DEPLOYED: tuple[dict[str, object], ...] = (
    {"model": "llama-3-8b", "weights": "bf16", "tensor": 1},
    {"model": "llama-3-70b", "weights": "fp8", "tensor": 4},
    {"model": "llama-3-70b", "weights": "fp8", "tensor": 2, "pipeline": 2},
    {"model": "mixtral-8x7b", "weights": "bf16", "tensor": 4, "graph": False},
    {"model": "gpt-oss-120b", "weights": "mxfp4", "tensor": 2, "data": 2, "expert": 4, "adapters": 16},
    {"model": "gemma-3-27b", "weights": "bf16", "tensor": 4, "engine": "sglang"},
)


@cache
def placed(template: str, which: int, release: str = "") -> Placement:
    task = task_of("serving", {"group": "gpu*", "release": release, **DEPLOYED[which]}, "s", Serve)
    assert task is not None
    return place_deployment(build_network(open_design(template)), task.operation.deployment, "s")


def by_laws(placement: Placement) -> Placement:
    """The same where no kernel time was measured: what the laws give, which can be counted by hand."""
    device = replace(placement.device, table=None)
    return replace(placement, device=device, steps=steps_with(placement, device))


def expressed(placement: Placement, phase: Phase) -> Time:
    return phase.time(step_of(placement)).time


def faster(time: Time, *resources: Resource) -> float:
    return float(seconds(time, dict.fromkeys(resources, 0.5)))


def resource(time: Time, name: str) -> Resource:
    """The resource of a time by a word of its label."""
    found = [r for tie in shares(time) for r in tie if isinstance(r, Bottleneck) and name in r.label]
    assert len(set(found)) == 1
    return found[0]


def links(time: Time) -> list[Resource]:
    ties: list[Tie] = list(shares(time))
    return [r for tie in ties for r in tie if isinstance(r, ResourceClass)]


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(TEMPLATES), st.integers(0, len(DEPLOYED) - 1), st.integers(1, 9000), st.integers(1, 1500))
def test_an_expression_is_as_long_as_the_step(template: str, which: int, tokens: int, requests: int) -> None:
    placement = placed(template, which)
    for phase in (Phase("prompts", tokens, 0, 0.0), Phase("decoding", 0, requests, 900.0 * requests)):
        time = expressed(placement, phase)
        assert float(seconds(time)) == pytest.approx(phase.time(placement.steps), rel=1e-9)
        assert sum(shares(time).values()) == pytest.approx(phase.time(placement.steps), rel=1e-9)


def chat_70b() -> Placement:
    """Llama 3 70B in FP8 on four H100 of an eight-GPU server, as the template has it."""
    design = open_design("serving-h100-8")
    task = task_of("serving", design.workloads["chat-70b"].settings, "workloads.chat-70b", Serve)
    assert task is not None
    return place_deployment(build_network(design), task.operation.deployment, "workloads.chat-70b")


def seconds_of(step: Step, label: str) -> float:
    """Seconds of the parts of a step by a word of a label."""
    return sum(part.seconds for part in step.parts if any(label in one.label for one in part.held))


@pytest.mark.parametrize("phase", [Phase("prompts", 2010, 0, 0.0), Phase("decoding", 0, 16, 16 * 2138.0)])
def test_the_parts_of_a_step_add_up_to_it(phase: Phase) -> None:
    """Arithmetic, memory, launches, the engine, the latency of collectives and NVLink, which is one part."""
    placement = chat_70b()
    step = step_account(placement, phase)[2]
    assert step.seconds == pytest.approx(phase.time(placement.steps), rel=1e-9)
    assert sum(part.seconds for part in step.parts) == pytest.approx(step.seconds, rel=1e-9)
    assert [part.seconds for part in step.parts] == sorted((part.seconds for part in step.parts), reverse=True)
    names = ("arithmetic", "memory", "kernel launch", "overhead", "latency", "nvlink")
    assert sorted(next(n for n in names if n in part.held[0].label) for part in step.parts) == sorted(names)
    for part in step.parts:
        assert [one.share for one in part.held] == pytest.approx([part.seconds / step.seconds] * len(part.held))
        assert {one.phase for one in part.held} == {phase.name}


def test_the_token_step_of_a_70b_is_counted_by_hand() -> None:
    """16 requests of 2,138 tokens on four H100 of 3.35 TB/s, by the laws.

    Memory: 80 layers of 8192 × 26,112 bytes of weights and what goes in and comes out, read at 86.5 %, 5.946 ms; the
    head in 16 bit at 85.7 %, 0.183 ms; 81,920 bytes of keys and values a token at 83.7 %, 0.999 ms; 14 passes of the
    hidden state at 80 %, 0.110 ms: 7.239 ms. Where memory meets arithmetic, which needs a tenth of it, 0.1 % of
    that counts as arithmetic.
    """
    phase = Phase("decoding", 0, 16, 16 * 2138.0)
    step = step_account(by_laws(chat_70b()), phase)[2]
    weights = 80 * (8192 * 26_112 + 16 * 25_600 + 2 * 16 * 33_280) / (0.865 * 3.35e12)
    head = (2 * 8192 * 32_064 + 2 * 16 * 8192 + 2 * 16 * 32_064) / (0.857 * 3.35e12)
    cached = 16 * 2138 * 81_920 / (0.837 * 3.35e12)
    between = 80 * 14 * 16 * 8192 * 2 / (0.8 * 3.35e12)
    memory = weights + head + cached + between
    assert memory == pytest.approx(7.239e-3, rel=1e-3)
    assert seconds_of(step, "memory bandwidth") == pytest.approx(memory, rel=2e-3)
    # four products and one attention a layer and the head; the engine's layers, step and requests
    assert seconds_of(step, "kernel launch") == pytest.approx(80 * (4 * 5.91e-6 + 12e-6) + 3.7e-6, rel=1e-9)
    assert seconds_of(step, "overhead") == pytest.approx(80 * 3.62e-6 + 1.66e-3 + 16 * 45.6e-6, rel=1e-9)
    assert seconds_of(step, "memory bandwidth") / step.seconds == pytest.approx(0.51, abs=0.005)


@pytest.mark.parametrize("which", [0, 1])
def test_memory_twice_as_fast_is_the_step_of_a_device_with_wider_memory(which: int) -> None:
    """By the laws every byte over the bandwidth, and nothing else, takes half as long."""
    placement = by_laws(placed("hgx-h100-8", which))
    phase = Phase("decoding", 0, 24, 24 * 2000.0)
    time = expressed(placement, phase)
    device = placement.device
    wider = replace(device, bandwidth=BytesPerSecond(2 * device.bandwidth))
    wide = phase.time(steps_with(placement, wider))
    assert faster(time, resource(time, "memory bandwidth")) == pytest.approx(wide, rel=1e-9)


@pytest.mark.parametrize("which", [0, 1])
def test_memory_twice_as_fast_is_about_that_of_measured_kernels_carried_to_wider_memory(which: int) -> None:
    """The share of memory in a measured time is that of its law, so the two differ where memory meets arithmetic."""
    placement = placed("hgx-h100-8", which)
    phase = Phase("decoding", 0, 24, 24 * 2000.0)
    time = expressed(placement, phase)
    wider = replace(placement.device, bandwidth=BytesPerSecond(2 * placement.device.bandwidth))
    wide = phase.time(steps_with(placement, wider))
    assert faster(time, resource(time, "memory bandwidth")) == pytest.approx(wide, rel=0.02)


def test_links_twice_as_wide_are_the_step_over_wider_links() -> None:
    placement = placed("hgx-h100-8", 1)
    phase = Phase("prompts", 4096, 0, 0.0)
    time = expressed(placement, phase)
    assert faster(time, *links(time)) == pytest.approx(phase.time(steps_with(placement, links=2.0)), rel=1e-9)


@pytest.mark.parametrize(
    ("phase", "held"), [(Phase("prompts", 1000, 0, 0.0), 1), (Phase("decoding", 0, 40, 40 * 500.0), 40)]
)
def test_the_gain_of_the_engines_own_work_is_counted_by_hand(phase: Phase, held: int) -> None:
    """32 layers, one step, each request, and what prompts add: half of these seconds are saved, and no others."""
    placement = placed("hgx-h100-8", 0, "0.12.0")
    over, layers = placement.release.overheads, placement.shape.layers
    own = layers * over.layer + over.step + held * over.request + (over.prefill_step if phase.tokens else 0.0)
    whole = phase.time(placement.steps)
    assert 0.02 < own / whole < 0.5
    found = {b.id: b for listed in step_account(placement, phase)[:2] for b in listed}
    assert found["engine"].gain_if_doubled == pytest.approx(whole / (whole - own / 2), rel=1e-9)
    assert found["engine"].gain_together == found["engine"].gain_if_doubled


def test_launches_are_the_floors_of_all_kernels() -> None:
    """Decoding 8B on one H100 by the laws: four products and one attention a layer, and the product of the head."""
    placement = by_laws(placed("hgx-h100-8", 0))
    time = expressed(placement, Phase("decoding", 0, 16, 16 * 500.0))
    kernels = placement.device.kernels
    floors = 32 * (4 * kernels.floor + kernels.decode_floor) + kernels.floor
    assert shares(time)[(LAUNCH,)] == pytest.approx(floors, rel=1e-9)


def test_links_say_that_they_join_the_devices_and_nothing_else_does() -> None:
    placement = placed("hgx-h100-8", 1)
    stated = [b for listed in step_account(placement, Phase("prompts", 4096, 0, 0.0))[:2] for b in listed]
    links_of = [b for b in stated if b.what == "channel"]
    assert links_of
    assert all("joining the devices: " in b.why for b in links_of)
    assert not any("joining the devices" in b.why for b in stated if b.what != "channel")


def test_an_engines_own_all_reduce_is_for_eight_ranks_of_one_server_at_most() -> None:
    placement = placed("hgx-h100-8", 1)
    assert placement.group is not None
    situation = placement.group.situation
    assert near_enough(situation, Split(8))
    assert not near_enough(situation, Split(16))
    assert not near_enough(replace(situation, servers=2, inter_bandwidth=1e9, host_bandwidth=1e9), Split(8))


def test_a_split_joins_what_it_shares_and_nothing_else() -> None:
    """Stages hand on, groups exchange and dispatch, ranks that share heads reduce: a MiB as the collective does."""
    size = float(2**20)
    alone, heads, stages, groups = (placed("hgx-h100-8", k) for k in (0, 1, 2, 4))
    hop = stages.group.time("send-recv", size).time if stages.group is not None else 0.0
    assert stages.steps.joins.hop(size) == pytest.approx(hop) != 0
    assert groups.group is not None
    both = sum(groups.group.time(kind, size).time for kind in ("all-gather", "reduce-scatter"))
    assert groups.steps.joins.exchange(size) == pytest.approx(both)
    assert groups.steps.joins.dispatch(size, 0.0) > 0
    assert heads.group is not None
    assert 0 < heads.steps.joins.reduce(size) <= heads.group.time("all-reduce", size).time
    joins = heads.steps.joins
    assert joins.hop(size) == joins.exchange(size) == joins.dispatch(size, size) == 0
    assert alone.steps.joins.reduce(size) == groups.steps.joins.hop(size) == stages.steps.joins.exchange(size) == 0


def test_what_binds_a_step_gains_at_least_half_of_what_the_best_does() -> None:
    for phase in (Phase("prompts", 2048, 0, 0.0), Phase("decoding", 0, 64, 64 * 1500.0)):
        placement = placed("hgx-h100-8", 1)
        binding, after, _ = step_account(placement, phase)
        best = max(b.gain or 1.0 for b in binding)
        assert all((b.gain or 1.0) >= 1 + (best - 1) / 2 for b in binding)
        assert all(b.why.startswith(f"{phase.name}: step of ") for b in (*binding, *after))
        found = account(expressed(placement, phase), {})
        assert found.value == pytest.approx(phase.time(placement.steps), rel=1e-9)


# Clients with equal requests: whether they stay in step nobody knows, so the band is that of either.

CLIENTS: Mapping[str, object] = {
    "engine": "sglang",
    "release": "0.5.1",
    "load": "clients",
    "clients": 64,
    "storage": "",
}


@cache
def answer(spread: float) -> Mapping[str, Estimate]:
    design = open_design("serving-h100-8")
    spec = design.workloads["chat-70b"]
    settings = {**spec.settings, **CLIENTS, "prompt": 1024, "spread": spread}
    asked = spec.model_copy(update={"settings": settings})
    return run_workload(build_network(design), asked, curves=False)[0].metrics


def test_the_band_of_equal_requests_reaches_down_to_clients_out_of_step() -> None:
    """SGLang reads prompts first, so clients in step all wait for the whole wave, and those out of step do not."""
    equal, varied = answer(0.0)["ttft"], answer(0.2)["ttft"]
    assert equal.value > 1.5 * varied.value
    assert equal.low / equal.value < 0.6 * varied.low / varied.value


def test_only_equal_answers_of_several_clients_are_in_step() -> None:
    def asked(**changes: object) -> bool:
        found = serving_asked({"load": "clients", "spread": 0, **changes}, "s")
        assert isinstance(found, Serving)
        return in_step(found.load)

    assert asked()
    assert not asked(spread=0.2)
    assert not asked(clients=1)
    assert not asked(load="rate")
    assert not asked(lengths="azure-2023-code")


def test_answers_end_a_few_tokens_apart_and_none_is_longer_or_empty() -> None:
    found = jittered(Requests([10] * 500, [100] * 499 + [1], clients=5)).output
    assert max(found) == 100
    assert 80 < min(found[:-1]) < 98
    assert found[-1] == 1


def test_clients_in_step_are_answered_as_often_as_little_says() -> None:
    """Eight clients whose answers end together, each after 2 s: four requests a second, wherever counting begins."""
    waves, clients = 5, 8
    sent = np.repeat(np.arange(waves) * 2.0, clients) + np.tile(np.arange(clients) * 1e-3, waves)
    done = sent + 2.0
    tokens = np.full(len(sent), 100)
    run = ServingRun(sent, sent + 0.1, done, tokens, tokens, float(done[-1]), np.zeros((0, 7)), Counts(*[0] * 8))
    for first in (0, 8, 16, 21):
        requests, output = throughput(run, first, arriving=False)
        assert requests == pytest.approx(4.0, rel=0.01), first
        assert output == pytest.approx(400.0, rel=0.01)
