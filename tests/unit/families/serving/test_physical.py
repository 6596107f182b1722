"""What holds of any serving, whatever is fitted: more of a resource is never slower, and no figure beats its roof."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designer.engine.network import Network, build_network
from designer.families.serving.answers import Served, factors_of, fastest, most_of, serve, settled
from designer.families.serving.deployment import Serving
from designer.families.serving.engine_state import Requests
from designer.families.serving.formulas.step_time import StepTime
from designer.families.serving.load import sent_to_one
from designer.families.serving.metrics import metrics
from designer.families.serving.placement import Placement, place_deployment
from designer.families.serving.scheduler import run_requests
from designer.families.serving.spreads import step_spread
from designer.interchange.templates import open_design
from tests.asked import serving_asked
from tests.unit.families.serving.other_steps import steps_with

MODELS = {
    "llama-3-8b": "bf16",
    "llama-3-70b": "fp8",
    "gpt-oss-120b": "mxfp4",
    "mixtral-8x7b": "bf16",
    "gemma-3-27b": "bf16",
}
ENGINES = ("vllm", "sglang", "tensorrt-llm")
TEMPLATES = ("hgx-h100-8", "hgx-h200-8", "hgx-a100-8", "serving-l40s-4", "hgx-b200-8")


@cache
def network(template: str) -> Network:
    return build_network(open_design(template))


def asked(**changes: object) -> Serving:
    found = serving_asked({"rate": "2 1/s", "prompt": 600, "output": 60, "count": 60, **changes}, "s")
    assert isinstance(found, Serving)
    return found


@cache
def placed(template: str, model: str, engine: str, tensor: int) -> Placement:
    one = asked(model=model, weights=MODELS[model], engine=engine, tensor=tensor, group="gpu*")
    return place_deployment(network(template), one.deployment, "s")


ANY = st.tuples(st.sampled_from(TEMPLATES), st.sampled_from(sorted(MODELS)), st.sampled_from(ENGINES))


def times(steps: StepTime, requests: int, context: int, tokens: int) -> tuple[float, float, float]:
    """Decoding, decoding next to a prompt, a prompt alone [s]."""
    area = tokens * tokens / 2
    return (
        steps.decode(requests) + steps.context() * requests * context,
        steps.step(tokens, area, 1, requests, float(requests * context)),
        steps.step(tokens, area, 1, 0, 0.0),
    )


@settings(deadline=None, max_examples=40)
@given(ANY, st.integers(1, 256), st.integers(1, 8000), st.integers(16, 8192), st.sampled_from(["bandwidth", "flops"]))
def test_a_faster_device_is_never_slower(
    where: tuple[str, str, str], requests: int, context: int, tokens: int, what: str
) -> None:
    placement = placed(*where, 4)
    device = placement.device
    changes = {"bandwidth": {"bandwidth": 2 * device.bandwidth}, "flops": {"flops": _twice(device.flops)}}[what]
    faster = steps_with(placement, replace(device, **changes))  # pyright: ignore[reportArgumentType]
    pair = times(faster, requests, context, tokens), times(placement.steps, requests, context, tokens)
    for then, now in zip(*pair, strict=True):
        assert then <= now * (1 + 1e-9)


def _twice(flops: Mapping[str, float]) -> dict[str, float]:
    return {name: 2 * value for name, value in flops.items()}


@settings(deadline=None, max_examples=40)
@given(ANY, st.integers(1, 256), st.integers(1, 8000), st.integers(16, 8192), st.floats(1.1, 8))
def test_wider_links_are_never_slower(
    where: tuple[str, str, str], requests: int, context: int, tokens: int, wider: float
) -> None:
    placement = placed(*where, 4)
    wide = steps_with(placement, links=wider)
    pair = times(wide, requests, context, tokens), times(placement.steps, requests, context, tokens)
    for then, now in zip(*pair, strict=True):
        assert then <= now * (1 + 1e-9)


@settings(deadline=None, max_examples=60)
@given(ANY, st.integers(1, 255), st.integers(1, 8000))
def test_a_larger_batch_gives_no_fewer_tokens_a_second(
    where: tuple[str, str, str], requests: int, context: int
) -> None:
    """One request more shares the weights that are read anyway; tiles cost a twentieth where the batch passes one."""
    steps = placed(*where, 4).steps
    few, more = (n / times(steps, n, context, 16)[0] for n in (requests, requests + 1))
    assert more >= few * 0.95
    assert 2 * requests / times(steps, 2 * requests, context, 16)[0] >= few * 0.98


@settings(deadline=None, max_examples=40)
@given(ANY, st.integers(1, 512), st.integers(1, 8000), st.integers(16, 8192))
def test_no_end_of_a_band_beats_the_data_sheet(
    where: tuple[str, str, str], requests: int, context: int, tokens: int
) -> None:
    """Arithmetic of the active parameters at the peak, and every weight that is read, once, at the full bandwidth."""
    placement = placed(*where, 4)
    steps, device, shape = placement.steps, placement.device, placement.shape
    fast = factors_of(placement, step_spread(placement))[0]
    peak = max(device.flops[device.runs_as(how)] for how in (steps.weights, steps._base))  # pyright: ignore[reportPrivateUsage]
    decoding, _, prompt = (fast * time for time in times(steps, requests, context, tokens))
    assert 2 * shape.active_parameters * tokens / placement.split.devices / prompt <= peak * (1 + 1e-6)
    assert requests * context * steps.kv.token / device.bandwidth <= decoding * (1 + 1e-6) or shape.kv_rank
    if not shape.experts:
        # embeddings, of which a step reads a row a token, keep 16 bits: 70.6 B parameters at 8 bits take 72.7 GB
        embeddings = shape.vocabulary * shape.hidden * max(2.0, steps.weights.size.value) / placement.split.tensor
        read = placement.weights - embeddings
        assert read / device.bandwidth <= decoding * (1 + 1e-6)


def run(**changes: object) -> tuple[Served, Placement]:
    one = asked(model="llama-3-8b", tensor=1, replicas=1, release="0.12.0", **changes)
    placement = place_deployment(network("hgx-h100-8"), one.deployment, "s")
    return serve(placement, one), placement


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"rate": "2 1/s"}, {"rate": "8 1/s"}),
        ({"prompt": 300}, {"prompt": 1200}),
        ({"prefix": 0.5}, {"prefix": 0}),
        ({"variation": 0}, {"variation": 5}),
        ({"graph": True}, {"graph": False}),
        ({"adapters": 0}, {"adapters": 64}),
        ({"weights": "fp8"}, {"weights": "bf16"}),
    ],
)
def test_less_to_do_is_answered_no_later(better: dict[str, object], worse: dict[str, object]) -> None:
    """Mean times to the first token and per token, and what can be answered at all."""
    common = {"count": 400}
    first, then = (metrics(run(**{**common, **one})[0]) for one in (better, worse))
    for name in ("ttft", "tpot", "latency_p95"):
        assert first[name].value <= then[name].value * 1.005, name
    assert first["most_requests_per_second"].value >= then["most_requests_per_second"].value * 0.995


def test_a_cache_in_8_bit_is_read_faster_and_costs_a_conversion() -> None:
    """vLLM on H100: a token of a prompt is written 7.5 ns a layer later, and a layer's attention starts 1.8 us later.

    600 tokens of 32 layers are .14 ms of 33; a step of 10 ms takes .06 ms more, which 2,000 cached tokens win back.
    """
    for prompt, most in ((600, 1.015), (6000, 1.0)):
        eight, half = (metrics(run(count=400, prompt=prompt, cache=one)[0]) for one in ("fp8", "bf16"))
        for name in ("tpot", "latency_p95"):
            assert eight[name].value <= half[name].value * most, name
        assert half["ttft"].value <= eight["ttft"].value <= half["ttft"].value * 1.015
        assert eight["most_requests_per_second"].value >= half["most_requests_per_second"].value * 0.995


@pytest.mark.parametrize("model", ["llama-3-8b", "gpt-oss-120b"])
def test_drafts_pay_most_for_few_requests(model: str) -> None:
    steps = placed("hgx-h100-8", model, "vllm", 4)
    drafted = replace(steps, deployment=replace(steps.deployment, drafts=3), curve=(1.83, 2.43, 2.88, 3.24))
    gain = [steps.steps.decode(n) / drafted.timed.decode(n) for n in (1, 1024)]
    assert gain[0] > 1.3
    assert gain[1] < 0.9 * gain[0]


def test_more_slots_and_more_memory_never_answer_less() -> None:
    able = []
    for slots, share in ((8, 0.9), (64, 0.9), (256, 0.5), (256, 0.9)):
        served, placement = run(slots=slots, memory_share=share, prompt=2000, output=400)
        able.append(most_of(placement, served.sent.requests, 0.1, None)[0])
    assert able[0] < able[1] <= able[3] * 1.01
    assert able[2] <= able[3] * 1.01


@pytest.mark.parametrize(
    ("engine", "prompt", "output", "spread", "slots"),
    [
        ("tensorrt-llm", 30, 200, "0", 0),  # two thousand answers end at once, and as many again much later
        ("sglang", 300, 5, "0", 0),  # all prompts are read before anybody answers
        ("sglang", 2000, 1, "1", 64),
        ("vllm", 2000, 200, "0", 64),
    ],
)
def test_what_can_be_answered_is_what_a_long_run_answers(
    engine: str, prompt: int, output: int, spread: str, slots: int
) -> None:
    """Also where answers end in waves: many more requests than fit at once, over the time until the last is done."""
    changes = {"engine": engine, "prompt": prompt, "output": output, "spread": spread, "slots": slots, "count": 300}
    operation = asked(model="llama-3-8b", weights="fp8", tensor=1, **changes)
    placement = place_deployment(network("serving-h100-8"), operation.deployment, "s")
    requests = sent_to_one(operation.load, 1, "s").requests
    count = 12_000 if not slots else 6_000
    taken = [k % len(requests.prompt) for k in range(count)]
    many = Requests([requests.prompt[k] for k in taken], [requests.output[k] for k in taken], [0.0] * count)
    run = run_requests(placement.timed, many, placement.scheduling, placement.capacity, 0.0)
    assert most_of(placement, requests, 0.1, None)[0] == pytest.approx(count / run.end, rel=0.06)


def test_prompts_near_their_limit_leave_the_band_between_tokens_as_it_is() -> None:
    """An edge box reads prompts at half of its peak already; decoding, it is far from its bandwidth."""
    design = open_design("edge-jetson-orin")
    one = serving_asked({**design.workloads["assistant"].settings}, "s")
    assert isinstance(one, Serving)
    placement = place_deployment(build_network(design), one.deployment, "s")
    served = serve(placement, one)
    found = metrics(served)
    fast = math.exp(-served.spread)
    ideal = placement.steps.ideal()
    assert fastest(placement) > 1.1 * fast
    assert found["itl_p50"].low == pytest.approx(fast * found["itl_p50"].value, rel=0.02)
    assert found["ttft"].low > fast * found["ttft"].value
    # however fast it were stated to be, no token comes sooner than all weights are read
    gaps, _ = settled(placement, served.sent.requests, 0.01).gaps()
    assert gaps.min() >= ideal.decode(1)
