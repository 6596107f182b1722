"""Widths and memory chosen where none are given: limits hold up to the largest load, and the answer says why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import designer
from designer.design.document import WorkloadSpec
from designer.engine.network import Network, build_network
from designer.families.serving import answers
from designer.families.serving.alone import answered
from designer.families.serving.closed_form import Mean, closed_form, keeps
from designer.families.serving.deployment import Serving
from designer.families.serving.limits import largest_load
from designer.families.serving.operating import operated
from designer.families.serving.placement import Placement, place_deployment
from designer.families.serving.widths import every_width, placed, rank
from designer.memo import forget
from tests.asked import serving_asked
from tests.unit.families.serving.test_serving_workload import codes, served

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
