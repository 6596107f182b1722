"""Split deployments: numbers of engines on one group, two kinds of accelerators, and the best arrangement found."""

from __future__ import annotations

import json
import math
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
from designer.errors import AnalysisError
from designer.families.serving.closed_form import Mean, reading
from designer.families.serving.deployment import Serving
from designer.families.serving.split import place_split, serve_split
from designer.families.serving.split_search import arrangements, best_split
from tests.asked import serving_asked
from tests.unit.families.serving.test_serving_workload import codes

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


def analysed(design: Design, **more: object):
    spec = WorkloadSpec(id="s", kind="serving", settings={**BASE, **more})
    return designer.analyze(design.model_copy(update={"workloads": {"s": spec}}), ["s"]).workloads[0]


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


def test_the_command_says_what_to_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = WorkloadSpec(id="s", kind="serving", settings={**BASE, "group": "gpus"})
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
