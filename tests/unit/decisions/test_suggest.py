"""What to change: hand-worked purchases, and the same as looking at every set of edits."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

import designer
from designer.__main__ import main
from designer.analysis.study import run_workload
from designer.checks.world import World
from designer.decisions.failures_survey import survive
from designer.decisions.suggest import EXACT_LIMIT, Searcher, suggest
from designer.decisions.suggest_candidates import Prices
from designer.decisions.suggest_cost import Cost
from designer.design.document import Design, Link, Part, WorkloadSpec
from designer.design.history import History
from designer.engine.account.worth import share_of
from designer.engine.network import build_network
from designer.errors import AnalysisError, DesignerError
from designer.findings import Severity
from designer.interchange.native.writer import save
from designer.interchange.templates import open_design
from designer.rules.runner import check


def narrow(lanes: int = 8) -> Design:
    """Four GPUs, three of them below one switch, whose link up has fewer lanes than the slot; all of PCIe 4.0."""
    parts = [Part(id="cpu", kind="cpu"), Part(id="memory", kind="memory")]
    parts += [Part(id=f"psw{k}", kind="pcie_switch") for k in range(2)]
    parts += [Part(id=f"gpu{k}", kind="gpu") for k in range(4)]
    links = [Link(id="bus", a="cpu", b="memory", kind="memory_bus", bandwidth_per_direction="400 GB/s")]
    links += [
        Link(id=f"up{k}", a="cpu", b=f"psw{k}", kind="pcie", generation=4, lanes=lanes if k == 0 else 16)
        for k in range(2)
    ]
    links += [
        Link(id=f"g{k}", a=f"psw{int(k == 3)}", b=f"gpu{k}", kind="pcie", generation=4, lanes=16) for k in range(4)
    ]
    h2d = WorkloadSpec(id="h2d", kind="transfer", settings={"from": "memory", "to": "gpus"})
    return Design.model_validate({"name": "narrow", "parts": parts, "links": links, "workloads": [h2d]})


def titles(found: Any) -> list[list[str]]:
    """What each step does."""
    return [[one.title for one in step.edits] for step in found.steps]


def test_by_hand_widening_a_slot() -> None:
    """The link up of the first switch has 8 lanes for three GPUs, that of the second 16 for one. In units of x8 links
    the three get 1 together and the fourth 2, 3 in all; with 16 lanes it is 2 + 2 = 4: a third more. One slot is
    touched."""
    found = suggest(narrow(), gain=1.3, steps=1)
    assert titles(found) == [["widen the slot at up0 to x16"]]
    step = found.steps[0]
    assert step.exact
    assert step.cost == Cost(ports=1)
    assert step.gain == pytest.approx(4 / 3, rel=1e-3)


@pytest.mark.parametrize(("lanes", "helped"), [(0, True), (80, True), (64, False)])
def test_by_hand_a_second_uplink(lanes: int, helped: bool) -> None:
    """Three GPUs get x16 together, the fourth x16 for itself, 2 in all; two uplinks let the three have 2, 3 in all.
    The switch needs 4 × 16 lanes for what it has and 16 more: with 64 there is no place for another uplink."""
    design = narrow(16)
    if lanes:
        design = designer.edit(design, {"parts": {"psw0": {"pcie_lanes": lanes}}})
    found = suggest(design, gain=1.3, steps=1)
    if not helped:
        assert found.steps == ()
        return
    (step,) = found.steps
    assert titles(found) == [["add a second x16 uplink at each of 2 such as up0"]]
    assert step.gain == pytest.approx(1.5, rel=1e-3)
    assert step.cost == Cost(ports=4)


def test_what_helps_another_workload_is_told_where_the_first_has_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An imported machine opens with an all-reduce that nothing lifts; its host copies have a narrow uplink."""
    first = WorkloadSpec(id="alone", kind="transfer", settings={"from": "memory", "to": "gpu3"})
    design = narrow(16)
    design = design.model_copy(update={"workloads": {"alone": first, **design.workloads}})
    file = tmp_path / "imported.design.json"
    save(design, file)
    assert main(["suggest", str(file)]) == 0
    stated = " ".join(capsys.readouterr().out.split())
    assert "imported" not in stated
    assert "Nothing to suggest" in stated
    assert "narrow, h2d: rate" in stated
    assert "add a second x16 uplink" in stated


def test_each_answer_is_what_a_fresh_analysis_gives_and_can_be_undone() -> None:
    design = narrow()
    found = suggest(design, steps=2)
    history = History(design)
    for step in found.steps:
        before = history.design
        history.do(step.edit)
        fresh = run_workload(build_network(history.design), history.design.workloads["h2d"], False)[0]
        assert fresh.metrics[found.metric].value == step.after
        assert share_of(run_workload(build_network(before), before.workloads["h2d"], False)[0], fresh) == step.gain
    for _ in found.steps:
        history.undo()
    assert history.design == design


def brute(search: Searcher, goal: float) -> tuple[int, float, int, float] | None:
    """Cost of the cheapest set that reaches a goal: every set applied and analysed by itself."""
    held = {f.key for f in check(search.design).findings if f.severity is Severity.ERROR}
    best: tuple[int, float, int, float] | None = None
    for size in range(1, len(search.candidates) + 1):
        for chosen in itertools.combinations(search.candidates, size):
            if len({one.about for one in chosen}) < size:
                continue
            design = search.design
            try:
                for one in chosen:
                    design = one.edit.apply(design)
                after = run_workload(build_network(design), search.spec, False)[0]
            except (AnalysisError, DesignerError):
                continue
            broken = {f.key for f in check(design).findings if f.severity is Severity.ERROR}
            if share_of(search.whole, after) >= goal and broken <= held:
                key = sum((one.cost for one in chosen), Cost()).key
                best = key if best is None or key < best else best
    return best


@pytest.mark.parametrize("goal", [1.05, 1.4, 1.9, 6.0])
@pytest.mark.parametrize(
    ("template", "workload"), [("vsphere-cluster-4", "evacuate"), ("dell-c4140-b", "storage-to-gpus"), ("", "h2d")]
)
def test_the_cheapest_set_is_that_of_brute_force(template: str, workload: str, goal: float) -> None:
    design = open_design(template) if template else narrow()
    search = Searcher(design, design.workloads[workload], Prices())
    assert 2 <= len(search.candidates) <= EXACT_LIMIT
    found, right = search.cheapest(goal), brute(search, goal)
    assert (found is None) == (right is None)
    if found is not None:
        assert found[1], "so few candidates are looked at all"
        assert search.cost(found[0]).key == right


def test_prices_of_the_list_decide() -> None:
    """A drive of 300 is dearer than one of 100 that brings as much; without it in the list, what is listed wins."""
    design = open_design("dell-c4140-b")
    drive = next(p.type for p in design.parts.values() if p.kind == "drive")
    cheap = suggest(design, "storage-to-gpus", prices=Prices({drive.lower(): 100.0}, "USD"), steps=1).steps[0]
    assert cheap.cost.money == pytest.approx(100 * len([e for e in cheap.edits if "drive" in e.title]))
    assert cheap.cost.unpriced == 0
    assert "USD" in cheap.cost.text("USD")


def test_sets_come_in_the_order_of_their_cost() -> None:
    design = open_design("vsphere-cluster-4")
    search = Searcher(design, design.workloads["evacuate"], Prices())
    keys = [search.cost(chosen).key for chosen in search.by_cost()]
    assert keys == sorted(keys)
    assert len(keys) == 2 ** len(search.candidates) - 1


def test_where_nothing_helps_it_says_what_binds() -> None:
    found = suggest(narrow(16), gain=50.0)
    assert not found.steps
    assert "limits it" in found.stuck


def test_a_served_model_whose_accelerators_bind_has_edits() -> None:
    """A model over two cards that are joined by PCIe alone: each card with a copy of its own serves more, at no cost;
    faster cards that fit the same slot, of the same maker, serve more again. What the cheapest answers promise is what
    a fresh analysis of the edited design gives."""
    design = open_design("serving-l40s-4")
    found = suggest(design, "chat-8b-wide", steps=2)
    assert found.metric == "most_requests_per_second"
    assert titles(found)[0] == ["the model over 1 accelerator each"]
    assert found.steps[0].cost == Cost()
    (swap,) = titles(found)[1]
    assert swap.startswith("swap 4 × gpu for NVIDIA")
    for step in found.steps:
        before, design = design, step.edit.apply(design)
        spec = design.workloads["chat-8b-wide"]
        fresh = run_workload(build_network(design), spec, False)[0]
        whole = run_workload(build_network(before), before.workloads["chat-8b-wide"], False)[0]
        assert share_of(whole, fresh) == pytest.approx(step.gain)
        kept = "goodput"
        assert fresh.metrics[kept].value >= whole.metrics[kept].value * 0.99


def test_more_machines_of_a_group_serve_more() -> None:
    """Two hosts of a group serve what each can: three serve half as much again."""
    found = suggest(open_design("serving-mig-farm"), "mig-1g", steps=1, gain=1.3)
    (title,) = titles(found)[0]
    assert title.startswith("1 more of ")
    assert found.steps[0].gain == pytest.approx(1.5, rel=0.02)


def test_what_is_lost_is_weighed_alike_by_failures_and_by_promises() -> None:
    design = open_design("serving-mig-farm")
    table = survive(design, "mig-1g")
    row = next(f for f in table.losses if f.kind == "gpu")
    several = World(design).slowdown(row.path, "mig-1g")
    assert several.items[0].value == pytest.approx(1 / row.share)


def test_the_design_written_does_what_the_json_promised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Standard output holds one JSON document and nothing else; the file it was written to gives the promised value."""
    before, after = tmp_path / "narrow.design.json", tmp_path / "wide.design.json"
    save(narrow(), before)
    assert main(["suggest", str(before), "--gain", "1.3", "--steps", "1", "--json", "-o", str(after)]) == 0
    stated = json.loads(capsys.readouterr().out)
    design = open_design(str(after))
    fresh = run_workload(build_network(design), design.workloads["h2d"], False)[0]
    assert fresh.metrics[stated["metric"]["name"]].value == pytest.approx(stated["steps"][-1]["after"])
