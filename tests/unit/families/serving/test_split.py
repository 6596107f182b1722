"""Prompts and answers apart: the search for sizes, clients of both sides, slices of GPUs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import designer
from designer.catalog.loader import load_catalog
from designer.cli.main import run
from designer.decisions.serving_size import size_serving
from designer.decisions.serving_ways import Pods
from designer.design.document import Design, WorkloadSpec
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from designer.errors import AnalysisError
from designer.families.serving.closed_form import Mean, reading
from designer.families.serving.deployment import Serving
from designer.families.serving.engine_state import Requests
from designer.families.serving.formulas._release import Scheduling
from designer.families.serving.formulas.hand_over import left_to_move
from designer.families.serving.formulas.time_slicing import time_slicing
from designer.families.serving.limits import outcome
from designer.families.serving.split import largest_split_load, place_split, sent_in, serve_split
from designer.families.serving.split_clients import Side, run_split_clients
from designer.families.serving.split_search import arrangements, best_split
from designer.families.serving.unused import unused
from tests.asked import answered, serving_asked
from tests.unit.families.serving.test_serving_workload import codes

# Split deployments: numbers of engines on one group, two kinds of accelerators, and the best arrangement found.

TEMPLATE = "serving-split-2-racks"


BASE = {
    "engine": "vllm",
    "release": "0.12.0",
    "model": "llama-3-70b",
    "weights": "fp8",
    "prompt": 4000,
    "output": 500,
    "rate": "4 1/s",
    "ttft_limit": "1.5 s",
    "tpot_limit": "30 ms",
    "count": 200,
}


APART = {"group": "answers[*]/gpu*", "prompt_group": "prompts[*]/gpu*"}


H200 = "gpu/nvidia/h200-sxm"


def two_kinds() -> Design:
    """Two servers with H100 for prompts, two with H200 for answers."""
    design = designer.open_design(TEMPLATE)
    group = design.groups["answers"]
    parts = {
        k: part.model_copy(update={"type": H200}) if part.kind == "gpu" else part
        for k, part in group.content.parts.items()
    }
    group = group.model_copy(update={"content": group.content.model_copy(update={"parts": parts})})
    types = {**design.part_types, H200: load_catalog().get(H200)}
    return design.model_copy(update={"groups": {**design.groups, "answers": group}, "part_types": types})


def asked(**more: object) -> Serving:
    return serving_asked({**BASE, **more}, "s")


def analysed(design: Design, **more: object) -> WorkloadResult:
    return answered(design, "serving", {**BASE, **more})


def test_prompts_take_the_first_of_one_group_and_answers_the_others() -> None:
    network = build_network(designer.open_design(TEMPLATE))
    one = {"group": "gpus", "prompt_group": "gpus", "tensor": 4, "prompt_tensor": 2}
    for engines in (1, 4):
        answers, prompts = place_split(network, asked(**one, prompt_replicas=engines), "s")
        assert prompts.replicas.shape == (engines, 2)
        assert not len(np.intersect1d(answers.replicas, prompts.replicas))
        # of the server with the prompts whole replicas of 4 are left
        assert len(answers.replicas) == 8 - math.ceil(engines * 2 / 4)
    with pytest.raises(AnalysisError, match="leave no accelerator for answers"):
        place_split(network, asked(**one, prompt_replicas=16), "s")
    with pytest.raises(AnalysisError, match="is in both groups"):
        place_split(network, asked(**one), "s")


def test_more_engines_for_prompts_shorten_the_first_token() -> None:
    design = designer.open_design(TEMPLATE)
    one = {"group": "gpus", "prompt_group": "gpus", "tensor": 4, "prompt_tensor": 4, "rate": "8 1/s"}
    few, many = (analysed(design, **one, prompt_replicas=n).metrics["ttft_p95"].value for n in (3, 5))
    assert many < few


def test_prompts_and_answers_are_each_on_accelerators_of_their_kind() -> None:
    """Keys and values of a prompt on four H200: 80 layers of 8 heads of 128 in 16 bit, a quarter on each device."""
    network = build_network(two_kinds())
    served = serve_split(network, asked(**APART, tensor=4, prompt_tensor=2), "s", banded=False)
    assert served.prompts is not None
    assert "H100" in served.prompts.device.name
    assert "H200" in served.placement.device.name
    assert served.pull is not None
    prompt = sum(served.sent.requests.prompt) / len(served.sent.requests.prompt)
    assert served.pull.size == pytest.approx(prompt * 80 * 2 * 8 * 128 * 2 / 4, rel=0.02)


def test_the_rate_of_an_engine_for_prompts_is_that_of_a_queue() -> None:
    """M/D/1: limit = path + whole (1 + busy / 2 (1 - busy)), solved for busy, at most .9; rate = busy / whole."""
    network = build_network(two_kinds())
    serving = asked(**APART, tensor=4, prompt_tensor=2, ttft_limit="600 ms", tpot_limit="1 s")
    (found,) = arrangements(network, serving, "s")
    _, prompts = place_split(network, serving, "s")
    whole = reading(prompts, Mean.of(serving, prompts).prompt)
    over = (0.6 - prompts.release.overheads.path) / whole - 1
    busy = min(0.9, 2 * over / (1 + 2 * over))
    assert found.short == "reading prompts"
    assert found.rate == pytest.approx(8 * busy / whole, rel=0.01)


def test_of_two_kinds_of_servers_the_best_split_is_found_and_why() -> None:
    network, serving = build_network(two_kinds()), asked(**APART)
    every = list(arrangements(network, serving, "s", free=True))
    assert {one.deployment.group for one in every} == set(APART.values())
    found = best_split(network, serving, "s", free=True)
    assert found.best.rate >= 0.98 * max(one.rate for one in every)
    # runs reach what the closed form says within a fifth
    assert found.rate == pytest.approx(found.best.rate, rel=0.2)
    text = "\n".join(found.why)
    for words in ("ends first", "other widths for prompts", "prompts on the other accelerators", "all read prompts"):
        assert words in text


def test_widths_and_numbers_that_are_given_are_the_only_ones() -> None:
    network = build_network(two_kinds())
    given = {**APART, "tensor": 8, "prompt_tensor": 4, "prompt_replicas": 2, "replicas": 1}
    (one,) = arrangements(network, asked(**given), "s")
    assert (one.deployment.replicas, one.deployment.prompt_replicas) == (1, 2)
    assert (one.deployment.tensor, one.deployment.prompt_tensor) == (8, 4)


def test_a_size_of_pods_counts_both_kinds() -> None:
    network = build_network(two_kinds())
    found = size_serving(network, asked(**APART), "s")
    best = found.best
    assert best is not None
    assert isinstance(best.way, Pods)
    assert "H100" in best.way.prompts.device.name
    assert "H200" in best.way.answers.device.name
    assert best.accelerators == best.replicas * best.way.devices <= found.drawn == 32


def test_engines_for_prompts_change_nothing_without_prompts_of_their_own() -> None:
    found = analysed(designer.open_design(TEMPLATE), group="gpus", prompt_replicas=2)
    assert "SERVE-UNUSED" in codes(found)


def test_a_choice_of_replicas_by_prompts_changes_nothing_where_prompts_have_engines_of_their_own() -> None:
    together, apart = asked(group="gpus"), asked(**APART)
    chosen = [replace(each, load=replace(each.load, kind="agents", routing="prefix")) for each in (together, apart)]
    stated = [" ".join(finding.text for finding in unused(each)) for each in chosen]
    assert ["routing changes nothing" in each for each in stated] == [False, True]


def test_the_command_says_what_to_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = WorkloadSpec(id="s", kind="serving", settings={**BASE, "group": "gpus", "count": 60})
    design = designer.open_design(TEMPLATE).model_copy(update={"workloads": {"s": spec}})
    path = tmp_path / "a.design.json"
    designer.save_design(design, path)
    assert run(["size", str(path), "--largest", "--search", "split", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["requests_per_second"] > 0
    assert found["prompt_group"] == found["group"] == "gpus"
    sets = found["why"][-1]
    assert f"prompt_replicas={found['prompt_replicas']}" in sets
    assert f"prompt_tensor={found['prompt_tensor']}" in sets


# Clients of split deployments, widths of their own for prompts, and hand-overs that begin before a prompt is read.

SPLIT: Mapping[str, object] = {
    "model": "llama-3-70b",
    "weights": "fp8",
    "engine": "vllm",
    "release": "0.12.0",
    "group": "answers[*]/gpu*",
    "prompt_group": "prompts[*]/gpu*",
    "tensor": 8,
    "prompt_tensor": 4,
    "prompt": 2000,
    "output": 256,
}


def served(**changes: object) -> WorkloadResult:
    return answered(TEMPLATE, "serving", {**SPLIT, **changes})


class Even:
    """Steps that take 10 ms each, and 1 us more for each token of a prompt."""

    def decode(self, requests: int) -> float:
        return 0.01

    def context(self) -> float:
        return 0.0

    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float:
        return 0.01 + tokens * 1e-6


HOW = Scheduling(8192, 64, True, True, 0.0, 0.9, 16)


def closed(clients: int, count: int, handed: float, path: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sides = Side(2, Even(), HOW, 100_000), Side(1, Even(), HOW, 100_000)
    requests = Requests([1000] * count, [11] * count, clients=clients)
    run = run_split_clients(sides, requests, path, lambda number, took: handed, None)
    return run.sent, run.first, run.done


def test_one_client_by_hand() -> None:
    """Read 11 ms, handed over 50 ms, first token 10.001 ms, ten more of 10 ms: 171.001 ms, and 5 ms before each."""
    sent, first, done = closed(1, 4, 0.05, path=0.005)
    assert first - sent == pytest.approx(np.full(4, 0.005 + 0.011 + 0.05 + 0.010001))
    assert done - sent == pytest.approx(np.full(4, 0.176001))
    assert sent[1:] == pytest.approx(done[:-1])


def test_two_clients_have_an_engine_for_prompts_each_by_hand() -> None:
    """Both are read at once, so both are as quick as one; their answers share all steps."""
    sent, first, done = closed(2, 6, 0.05)
    assert sent[:2] == pytest.approx([0, 0])
    assert done - sent == pytest.approx(np.full(6, 0.011 + 0.05 + 0.010002 + 0.1))
    assert first[0] == pytest.approx(0.011 + 0.05 + 0.010002)


@pytest.mark.parametrize("clients", [1, 3, 17])
def test_every_request_is_answered_after_its_client_had_the_one_before(clients: int) -> None:
    sent, first, done = closed(clients, 5 * clients, 0.02, path=0.003)
    assert np.isfinite(done).all()
    assert (sent < first).all()
    assert (first < done).all()
    # never more under way than there are clients
    for at in done:
        assert ((sent <= at - 1e-9) & (done > at - 1e-9)).sum() <= clients


def test_requests_that_never_fit_are_passed_over() -> None:
    sides = Side(1, Even(), HOW, 512), Side(1, Even(), HOW, 512)
    requests = Requests([100, 1000, 100], [11] * 3, clients=1)
    run = run_split_clients(sides, requests, 0.0, lambda number, took: 0.02, None)
    assert np.isfinite(run.done).tolist() == [True, False, True]
    assert run.counts.refused == 1


def test_clients_times_requests_a_second_is_as_little_says() -> None:
    found = served(load="clients", clients=32)
    metrics = found.metrics
    answer = metrics["ttft"].value + 255 * metrics["tpot"].value
    assert metrics["requests_per_second"].value * answer == pytest.approx(32, rel=0.05)
    assert "hand_over_time" in metrics
    more = served(load="clients", clients=64).metrics
    assert more["tokens_per_second"].value > metrics["tokens_per_second"].value
    assert more["tpot"].value > metrics["tpot"].value


def test_what_is_left_to_move_by_hand() -> None:
    """100 ms of bytes, prompt read in 400: whole 100; by 4 chunks 25; by 80 layers 1.25; read in 50 ms, 4: 62.5."""
    assert left_to_move(0.1, 1, 0.4) == 0.1
    assert left_to_move(0.1, 4, 0.4) == pytest.approx(0.025)
    assert left_to_move(0.1, 80, 0.4) == pytest.approx(0.00125)
    assert left_to_move(0.1, 4, 0.05) == pytest.approx(0.0625)
    assert left_to_move(0.1, 1, math.inf) == 0.1


def test_layers_and_chunks_are_there_sooner_than_whole_prompts() -> None:
    found = [served(rate="1 1/s", prompt=7000, hand_over=how).metrics["ttft"].value for how in ("whole", "layers")]
    assert found[1] < found[0]
    asked = serving_asked({**SPLIT, "engine": "sglang", "release": ""}, "s")
    prompts = place_split(build_network(designer.open_design(TEMPLATE)), asked, "s")[1]
    # SGLang sends each chunk of 8,192 tokens when it is read
    assert [sent_in(prompts, tokens) for tokens in (100, 8192, 8193, 32000)] == [1, 1, 2, 4]


def test_prompts_have_widths_of_their_own() -> None:
    asked = serving_asked({**SPLIT, "prompt_tensor": 2, "prompt_pipeline": 2}, "s")
    answers, prompts = place_split(build_network(designer.open_design(TEMPLATE)), asked, "s")
    assert (prompts.split.tensor, prompts.split.pipeline, answers.split.tensor) == (2, 2, 8)
    given = {**SPLIT, "model": "gpt-oss-120b", "weights": "mxfp4", "prompt_tensor": 1, "prompt_data": 4}
    asked = serving_asked({**given, "prompt_expert": 4, "tensor": 8, "expert": 8}, "s")
    answers, prompts = place_split(build_network(designer.open_design(TEMPLATE)), asked, "s")
    assert (prompts.split.data, prompts.split.expert, answers.split.data, answers.split.expert) == (4, 4, 1, 8)


def test_the_largest_rate_keeps_the_limits_and_a_larger_one_does_not() -> None:
    network = build_network(designer.open_design(TEMPLATE))
    asked = serving_asked({**SPLIT, "ttft_limit": "600 ms", "tpot_limit": "15 ms", "count": 300}, "s")
    rate = largest_split_load(network, asked, "s")

    def kept(at: float) -> bool:
        load = {
            **SPLIT,
            "ttft_limit": "600 ms",
            "tpot_limit": "15 ms",
            "count": 300,
            "rate": f"{at} 1/s",
        }
        found = serve_split(network, serving_asked(load, "s"), "s", banded=False)
        return bool(found.runs) and outcome(found.runs[0], found.sent.first, found.serving.limits).holds

    assert rate > 1
    assert kept(0.97 * rate)
    assert not kept(1.1 * rate)


# Parts of a GPU: MIG instances, virtual GPUs that take turns, and where the two cross.

SLICED = {"model": "mpt-1b", "release": "0.12.0", "prompt": 500, "output": 100, "count": 400}


def sliced(**changes: object) -> WorkloadResult:
    return answered("dell-r760xa", "serving", {**SLICED, **changes})


def test_turns_by_hand() -> None:
    # eight virtual GPUs, all others idle: nothing is waited for
    assert time_slicing(8, 0.0, 2e-3) == 1
    # seven others always busy: an eighth of the device, and .1 ms of change at every turn of 2 ms
    assert time_slicing(8, 1.0, 2e-3) == pytest.approx(8 + 0.05)
    # one other busy half the time
    assert time_slicing(2, 0.5, 1e-3) == pytest.approx(1.5 + 0.5 * 0.1)


def test_instances_stand_beside_each_other() -> None:
    found = sliced(part="1g.10gb", rate="8 1/s")
    # seven instances on each of four GPUs
    assert found.metrics["replicas"].value == 28
    assert found.metrics["accelerators"].value == 4


def test_turns_are_quicker_while_others_are_idle_and_instances_while_all_are_busy() -> None:
    tpot = {
        (part, rate): sliced(part=part, rate=f"{rate} 1/s").metrics["tpot"].value
        for part in ("1g.10gb", "10C")
        for rate in (2, 160)
    }
    assert tpot["10C", 2] < 0.6 * tpot["1g.10gb", 2]
    assert tpot["1g.10gb", 160] < 0.6 * tpot["10C", 160]


def test_power_of_a_divided_gpu_stays_within_its_limit() -> None:
    for part in ("1g.10gb", "10C"):
        power = sliced(part=part, rate="100 1/s").metrics["power"]
        assert 0 < power.value <= power.high <= 4 * 350.1


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"part": "9g.90gb"}, "no part"), ({"part": "1g.10gb", "tensor": 2}, "no other device")],
)
def test_parts_that_do_not_exist_are_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(AnalysisError, match=words):
        sliced(rate="1 1/s", **changes)


def test_slices_without_a_replica_take_no_power() -> None:
    """Seven instances fit on a GPU and one replica runs: it takes a seventh of what seven equal ones take."""
    one = sliced(part="1g.10gb", rate="1 1/s", replicas=1).metrics
    all_of = sliced(part="1g.10gb", rate="28 1/s", replicas=28).metrics
    assert one["accelerators"].value == 1
    assert one["power"].value == pytest.approx(all_of["power"].value / 28, rel=0.25), (
        "a little less busy, never seven times"
    )
