"""Bands of serving answers, spreads over requests, and curves of load."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import designer
from designer.design.document import WorkloadSpec
from designer.engine.network import Network, build_network
from designer.engine.results import WorkloadResult
from designer.families.serving import answers
from designer.families.serving.alone import answered
from designer.families.serving.closed_form import Mean, closed_form, keeps, operated
from designer.families.serving.deployment import Serving
from designer.families.serving.devices import with_kernels
from designer.families.serving.engines import release
from designer.families.serving.formulas._device import Device
from designer.families.serving.frontier import Frontier
from designer.families.serving.limits import largest_load
from designer.families.serving.placement import Placement, place_deployment
from designer.families.serving.spreads import first_spread, held_back, release_spread
from designer.families.serving.widths import every_width, placed, rank
from designer.memo import forget
from designer.units import Seconds
from designer.workload.models import model
from designer.workload.shape import TransformerShape
from tests.asked import answered as found_for
from tests.asked import serving_asked
from tests.unit.families.serving.test_serving_workload import codes, served

# Widths and memory chosen where none are given: limits hold up to the largest load, and the answer says why.

BASE = {"model": "llama-3-70b", "weights": "fp8", "release": "0.12.0", "prompt": 2000, "output": 256, "count": 600}


def network_of(template: str = "hgx-h100-8") -> Network:
    return build_network(designer.open_design(template))


def asked(**more: object) -> Serving:
    return serving_asked({**BASE, **more}, "s")


def at(network: Network, tensor: int, **more: object) -> Placement:
    return place_deployment(network, asked(**more, tensor=tensor).deployment, "s")


def widths(placement: Placement) -> tuple[int, int, int]:
    split = placement.split
    return split.tensor, split.data, split.expert


def test_without_limits_or_with_a_width_given_nothing_is_chosen() -> None:
    network = network_of()
    assert widths(placed(network, asked(), "s")) == (2, 1, 1)
    for tensor in (2, 4, 8):
        one = placed(network, asked(tensor=tensor, tpot_limit="20 ms"), "s")
        assert widths(one) == (tensor, 1, 1)
        assert one.findings == at(network, tensor).findings


@pytest.mark.parametrize("limits", [{"tpot_limit": "20 ms"}, {"ttft_limit": "1 s"}, {"latency_limit": "4 s"}])
def test_the_chosen_width_serves_the_largest_load_of_all(limits: dict[str, object]) -> None:
    """Judged by runs, where the choice was made by the closed form."""
    network, serving = network_of(), asked(rate="4 1/s", **limits)
    chosen = placed(network, serving, "s")
    every = {t: largest_load(at(network, t), serving) for t in (2, 4, 8)}
    assert every[chosen.split.tensor] >= 0.95 * max(every.values())


def test_a_short_token_takes_wide_replicas_and_a_long_one_narrow_ones() -> None:
    network = network_of()
    tensors = [placed(network, asked(tpot_limit=limit), "s").split.tensor for limit in ("10 ms", "20 ms", "60 ms")]
    assert tensors == sorted(tensors, reverse=True)
    assert tensors[0] > tensors[-1]


def test_the_largest_load_by_the_closed_form_is_where_limits_cease_to_hold() -> None:
    network, serving = network_of(), asked(ttft_limit="500 ms", tpot_limit="30 ms")
    for way in rank([at(network, t) for t in (2, 4, 8)], serving):
        load = Mean.of(serving, way.placement)
        one = operated(way.placement, serving, load.prompt, load.output, lambda _: True)[0]
        edge = way.largest / len(one.replicas)
        assert keeps(closed_form(one, 0.999 * edge, load.prompt, load.output), serving.limits, load.output)
        assert not keeps(closed_form(one, 1.001 * edge, load.prompt, load.output), serving.limits, load.output)


def test_clients_get_most_requests_and_their_number_counts() -> None:
    """One client leaves all replicas but one idle: eight devices together answer it soonest."""
    network = network_of()
    few, many = (
        placed(network, asked(load="clients", clients=n, tpot_limit="60 ms"), "s").split.tensor for n in (1, 128)
    )
    assert few == 8
    assert many < few


def test_experts_are_shared_in_groups_of_attention_only_with_experts() -> None:
    network = network_of()
    dense = {(d.data, d.expert) for d in every_width(network, asked().deployment, "s")}
    assert dense == {(0, 1)}
    mixture = {(d.tensor, d.data, d.expert) for d in every_width(network, asked(model="gpt-oss-120b").deployment, "s")}
    assert {(1, 1, 1), (8, 1, 1), (8, 1, 8), (1, 8, 8), (2, 4, 1)} <= mixture
    assert all(t * d <= 8 and e in (1, t * d) for t, d, e in mixture)
    given = every_width(network, asked(model="gpt-oss-120b", data=2, expert=4).deployment, "s")
    assert {(d.data, d.expert) for d in given} == {(2, 4)}


def test_the_answer_says_why_with_what_the_other_width_would_bring() -> None:
    found = served(tensor=0, rate="4 1/s", ttft_limit="1 s")
    why = [f.text for f in found.findings if f.code == "SERVE-OPERATED" and f.text.startswith("tensor")]
    assert len(why) == 1
    assert "by the closed form the limits hold up to" in why[0]
    assert "a token takes" in why[0]
    assert "SERVE-OPERATED" not in codes(served(tensor=4, rate="4 1/s", ttft_limit="1 s"))


def test_the_search_adds_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run that checks limits is the one the answer needs; rates dragged place nothing again."""
    counted: dict[str, int] = {"runs": 0}
    made = answers.run_requests

    def counting(*values: Any, **named: Any) -> Any:
        counted["runs"] += 1
        return made(*values, **named)

    monkeypatch.setattr(answers, "run_requests", counting)
    network, free = network_of(), asked(rate="8 1/s", ttft_limit="400 ms", tpot_limit="40 ms")
    given = asked(rate="8 1/s", ttft_limit="400 ms", tpot_limit="40 ms", tensor=placed(network, free, "s").split.tensor)
    runs: list[int] = []
    for serving in (given, free):
        forget()
        counted["runs"] = 0
        answered(network, serving, "s", explained=False)
        runs.append(counted["runs"])
    assert runs[0] == runs[1] > 0


def test_engines_take_more_memory_where_requests_lack_room() -> None:
    """(7 - 5.5) GiB / 2 and (3.9 - .6) GiB more than is counted are 4.35 of 85.5 GB: 94 % are left of two devices."""
    network, crowd = network_of(), {"load": "clients", "clients": 800, "ttft_limit": "100 s"}
    one = at(network, 2)
    chosen, why = operated(one, asked(**crowd), 2000.0, 256.0, lambda _: True)
    assert chosen.scheduling.memory_share == 0.94
    # .04 of both devices hold so many tokens of 80 layers, 8 heads of 128, keys and values of 16 bit
    assert chosen.capacity - one.capacity == pytest.approx(2 * 0.04 * one.device.memory / (80 * 8 * 128 * 4), rel=0.01)
    assert "94% of the memory" in why[0].text
    few = asked(**{**crowd, "clients": 100})
    assert operated(one, few, 2000.0, 256.0, lambda _: True)[0].scheduling == one.scheduling
    kept = replace(one, deployment=replace(one.deployment, memory_share=0.9))
    assert operated(kept, asked(**crowd), 2000.0, 256.0, lambda _: True)[0].scheduling == one.scheduling


def test_launch_lines_have_what_was_chosen(tmp_path: Path) -> None:
    design = designer.open_design("hgx-h100-8")
    spec = WorkloadSpec(id="s", kind="serving", settings={**BASE, "tpot_limit": "20 ms", "rate": "4 1/s"})
    design = design.model_copy(update={"workloads": {"s": spec}})
    designer.export_design(design, "launch", tmp_path / "run.sh")
    text = (tmp_path / "run.sh").read_text()
    assert (
        f"--tensor-parallel-size {placed(network_of(), asked(tpot_limit='20 ms', rate='4 1/s'), 's').split.tensor}"
        in text
    )
    assert "--max-num-batched-tokens 512" in text


def test_a_clocked_run_takes_the_same_widths() -> None:
    design = designer.open_design("hgx-h100-8")
    settings = {**BASE, "count": 200, "tpot_limit": "20 ms", "rate": "4 1/s"}
    design = design.model_copy(update={"workloads": {"s": WorkloadSpec(id="s", kind="serving", settings=settings)}})
    still = designer.analyze(design, ["s"]).workloads[0].metrics
    moving = designer.simulate(design, ["s"], until=200.0, bands=False).metrics["s"]
    assert moving["tpot"].value == pytest.approx(still["tpot"].value, rel=0.05)


# How wide bands of served models are, worked out by hand.

B200 = "gpu/nvidia/b200"


H100 = Device("H100", {"bf16": 989e12}, 3.35e12, 80e9, 132, architecture="Hopper GH100")


def shape(name: str) -> TransformerShape:
    found = model(name)
    assert isinstance(found, TransformerShape)
    return found


def test_a_model_a_format_and_a_generation_that_were_not_fitted_add_in_squares() -> None:
    """vLLM 0.12 was fitted on Qwen3-32B in 16 bit on Hopper within .14: as FP8 sqrt(.14² + .09²) = .166; Ada .205.

    Its first token next to its steps: sqrt(.25² - .14²) = .207, as FP8 sqrt(.207² + .09²) = .226, on Ada .256.
    """
    ada = replace(H100, architecture="Ada AD102")
    known, qwen = release("vllm", "0.12.0").release, shape("qwen3-32b")
    assert release_spread(known, qwen, "bf16", H100) == pytest.approx(0.14)
    assert release_spread(known, qwen, "fp8", H100) == pytest.approx(0.1664, abs=1e-3)
    assert release_spread(known, qwen, "fp8", ada) == pytest.approx(0.2052, abs=1e-3)
    firsts = [first_spread(known, qwen, *what) for what in (("bf16", H100), ("fp8", H100), ("fp8", ada))]
    assert firsts == pytest.approx([0.207, 0.226, 0.256], abs=1e-3)


def test_a_server_that_holds_a_first_token_back_never_sends_it_early() -> None:
    """100 ms of work and 20 ms a step: 10 steps later it is 300 ms, three times; a fitted release was measured so."""
    unknown, known = release("sglang").release, release("sglang", "0.5.1").release
    assert held_back(unknown, Seconds(0.1), Seconds(0.02)) == pytest.approx(math.log(3))
    assert held_back(unknown, Seconds(0.1), Seconds(0.02), interval=1) == 0
    # a prompt of 10 s is late by 2 % of that: its own work is what takes long
    assert held_back(unknown, Seconds(10.0), Seconds(0.02)) == pytest.approx(math.log(1.02))
    assert held_back(known, Seconds(0.1), Seconds(0.02)) == 0
    # what a server of a known release does on another model was not measured
    assert held_back(known, Seconds(0.1), Seconds(0.02), fitted=False) == pytest.approx(math.log(3))
    assert held_back(unknown, Seconds(0.0), Seconds(0.02)) == 0
    # vLLM sends the first token at once, whatever its streaming interval
    assert held_back(release("vllm").release, Seconds(0.1), Seconds(0.02)) == 0


def test_a_generation_adds_less_with_kernels_of_its_own_and_more_where_the_release_is_not_known() -> None:
    """TensorRT-LLM 1.0 on B200, another format than fitted: sqrt(.14² + .09² + .09²) = .189 with its table.

    Without it is .205. A release that is not known: sqrt(.17² + .09² + .2²) = .278.
    """
    b200 = Device("B200", {"bf16": 2250e12, "fp4": 9e15}, 8e12, 180e9, 148, architecture="Blackwell GB100", part=B200)
    known, llama = release("tensorrt-llm", "1.0.0").release, shape("llama-3-70b")
    assert release_spread(known, llama, "nvfp4", with_kernels(b200, "tensorrt-llm")) == pytest.approx(0.1892, abs=1e-3)
    assert release_spread(known, llama, "nvfp4", b200) == pytest.approx(0.2052, abs=1e-3)
    unknown = release("tensorrt-llm").release
    assert release_spread(unknown, llama, "nvfp4", with_kernels(b200, "tensorrt-llm")) == pytest.approx(
        0.2775, abs=1e-3
    )


def test_another_patch_of_a_release_is_as_sure_as_one_that_is_not_known() -> None:
    near, unknown = release("sglang", "0.5.9").release, release("sglang").release
    assert near.overheads == release("sglang", "0.5.1").release.overheads
    assert (near.step_spread, near.first_spread) == (unknown.step_spread, unknown.first_spread)
    assert not near.known


def test_releases_that_nobody_knows_are_the_widest_of_their_engine() -> None:
    for engine, version in (("vllm", "0.15.1"), ("sglang", "0.5.1"), ("tensorrt-llm", "1.0.0")):
        unknown, known = release(engine).release, release(engine, version).release
        assert unknown.step_spread >= known.step_spread
        assert unknown.first_spread >= known.first_spread


# The frontier with its knee, the roofline, one request, replicas by hour.

CURVED = {
    "model": "llama-3-8b",
    "release": "0.12.0",
    "tensor": 1,
    "prompt": 1000,
    "output": 200,
    "count": 400,
    "rate": "40 1/s",
}


def curved(template: str = "hgx-h100-8", curves: bool = True, **changes: object) -> WorkloadResult:
    return found_for(template, "serving", {**CURVED, **changes}, curves)


def test_the_knee_of_a_queue_is_at_half_its_load() -> None:
    """M/M/1 with a rate of 1: time 1/(1 - r), so rate over time r (1 - r) is most at one half."""
    rate = np.array([0.1, 0.3, 0.5, 0.6, 0.7, 0.9])
    time = 1 / (1 - rate)
    front = Frontier(rate, time, time, time, time)
    assert front.knee == pytest.approx(0.5, abs=0.01)
    low, high = front.around
    assert low < front.knee < high


@pytest.mark.usefixtures("frontier")
def test_latency_rises_along_the_frontier_and_the_knee_lies_on_it() -> None:
    found = curved()
    curves = {c.name: c for c in found.curves["serving-frontier"]}
    answer = curves["whole answer, p95"]
    assert list(answer.x) == sorted(answer.x)
    assert answer.y[-1] > 1.5 * answer.y[0]
    knee = found.metrics["knee_requests_per_second"]
    assert knee.low <= knee.value <= knee.high
    assert answer.x[0] < knee.value < found.metrics["most_requests_per_second"].value
    assert curves["knee"].x == (knee.value,)


def test_prompts_stand_right_of_the_ridge_and_decoding_left_of_it_both_below_the_roof() -> None:
    roof, prompts, decoding = curved().curves["roofline"]
    low, ridge, high = roof.x
    assert low < decoding.x[0] < ridge < prompts.x[0] < high
    slope = roof.y[0] / roof.x[0]
    assert slope == pytest.approx(3.35e12)
    for point in (prompts, decoding):
        assert 0 < point.y[0] < min(roof.y[2], slope * point.x[0])


def test_the_stretches_of_a_request_follow_each_other() -> None:
    found = curved("serving-split-2-racks", group="answers[*]/gpu*", prompt_group="prompts[*]/gpu*", tensor=8)
    for lane in (0, 1):
        mine = [c for c in found.curves["serving-request"] if c.y[0] == lane]
        assert [c.name.split()[0] for c in mine] == ["waiting", "prompt", "hand-over", "first", "answer"]
        assert mine[0].x[0] == 0
        for one, after in pairwise(mine):
            assert one.x[1] == pytest.approx(after.x[0])
            assert one.x[1] >= one.x[0]


@pytest.mark.usefixtures("frontier")
def test_replicas_follow_the_day() -> None:
    found = curved(profile="0.2, 1, 3, 1", ttft_limit="500 ms")
    day = found.curves["serving-replicas"][0]
    assert day.x[0] == 0
    assert day.x[-1] == 24
    needed = day.y[::2]
    assert needed[2] == max(needed)
    assert needed[1] == needed[3] > needed[0] >= 1


def test_energy_per_million_requests_is_that_of_their_tokens() -> None:
    found = curved(curves=False)
    each, million = (found.metrics[n].value for n in ("energy_per_token", "energy_per_million_requests"))
    assert million == pytest.approx(each * 200 * 1e6, rel=0.05)
