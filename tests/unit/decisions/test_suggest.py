"""What to change: purchases by hand, storage, added servers, settings that fit."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

import designer
from designer.__main__ import main
from designer.analysis.study import run_workload
from designer.catalog.loader import load_catalog
from designer.checks.world import World
from designer.decisions.failures_survey import survive
from designer.decisions.fitting import fitting_settings
from designer.decisions.more_servers import more_servers
from designer.decisions.suggest import EXACT_LIMIT, Searcher, best_single_change, suggest
from designer.decisions.suggest_candidates import Prices
from designer.decisions.suggest_cost import Cost
from designer.design.address import Ref
from designer.design.document import Block, Design, Group, Link, Part, Wiring, WorkloadSpec
from designer.design.edits.structure import Delete
from designer.design.history import History
from designer.engine.account.worth import share_of
from designer.engine.network import build_network
from designer.errors import AnalysisError, DesignerError, DocumentError
from designer.findings import Severity
from designer.interchange.native.writer import save
from designer.interchange.overrides import overridden
from designer.interchange.templates import open_design
from designer.pages.suggest import change_that_helps
from designer.rules.runner import check

# What to change: hand-worked purchases, and the same as looking at every set of edits.


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


def test_by_hand_the_best_single_change() -> None:
    """As above the slot of x16 brings a third; one that joins x16 to x16 can be widened no further."""
    found = best_single_change(narrow(), "h2d")
    assert titles(found) == [["widen the slot at up0 to x16"]]
    assert found.steps[0].gain == pytest.approx(4 / 3, rel=1e-3)
    change = change_that_helps(found, narrow(), "narrow")
    assert change.gain == "+33%"
    assert change.command == ("suggest", "narrow", "--workload", "h2d")


def test_a_single_change_is_that_of_the_whole_search_or_none() -> None:
    for template, workload in (("su-h100-32", "storage-to-gpus"), ("hgx-h100-8", "h2d")):
        design = open_design(template)
        quick, whole = best_single_change(design, workload), suggest(design, workload, steps=1)
        assert titles(quick) == titles(whole)
    assert change_that_helps(quick, design).title == "No single change to parts, links or routes helps."


def test_a_served_model_whose_accelerators_bind_has_edits() -> None:
    """A model over two cards that are joined by PCIe alone: each card with a copy of its own serves more, at no cost;
    faster cards that fit the same slot, of the same maker, serve more again. What the cheapest answers promise is what
    a fresh analysis of the edited design gives."""
    design = open_design("serving-l40s-4")
    found = suggest(design, "chat-8b-wide", steps=2)
    assert found.metric == "most_requests_per_second"
    assert titles(found)[0] == ["run the model on one GPU each"]
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


# What to change where storage binds: another mount, another system, one more of it; as looking at every set does.

NFS = "storage/generic/nfs-single-mount"


def mounted(type_id: str = NFS) -> Design:
    """One server with a GPU, whose NIC a switch joins to a group of one storage server: 100 Gb/s on each cable."""
    parts = [Part(id="server", kind="server"), Part(id="switch", kind="switch")]
    parts += [Part(id=name, kind=name, parent="server") for name in ("cpu", "gpu", "nic", "memory")]
    links = [Link(id="bus", a="cpu", b="memory", kind="memory_bus", bandwidth_per_direction="200 GB/s")]
    links += [Link(id=f"{name}_slot", a="cpu", b=name, kind="pcie", generation=4, lanes=16) for name in ("gpu", "nic")]
    links += [Link(id="cable", a="nic", b="switch", kind="infiniband", bandwidth_per_direction="100 Gb/s")]
    store = Part(id="filer", kind="storage", type=type_id)
    group = Group(id="store", name="NFS server", replicas=1, content=Block.model_validate({"parts": [store]}))
    wiring = Wiring(
        id="to_store",
        a="store[*]/filer",
        b="switch",
        kind="infiniband",
        pattern="spread",
        bandwidth_per_direction="100 Gb/s",
    )
    read = WorkloadSpec(id="read", kind="transfer", settings={"from": "storage", "to": "gpus"})
    return Design.model_validate(
        {
            "name": "mounted",
            "parts": parts,
            "links": links,
            "groups": [group],
            "wirings": [wiring],
            "part_types": [load_catalog().get(type_id)],
            "workloads": [read],
        }
    )


def searcher(design: Design) -> Searcher:
    return Searcher(design, design.workloads["read"], Prices())


def test_by_hand_one_mount_becomes_many_connections() -> None:
    """One mount reads 2 GB/s whatever the cable. With many connections the same server would give 25 GB/s, so the
    cable of 12.5 GB/s binds; nothing has to be bought."""
    found = suggest(mounted(), gain=1.5, steps=1)
    assert titles(found) == [["mount filer as NFS over TCP, nconnect=16 or multipath"]]
    step = found.steps[0]
    assert (step.cost.ports, step.cost.watts) == (0, 0.0)
    assert step.before == pytest.approx(2e9)
    assert 5 * step.before < step.after <= 12.5e9


def test_other_systems_and_one_more_are_weighed_but_no_datastore_or_object_store() -> None:
    weighed = {one.title for one in searcher(mounted()).candidates}
    assert "add one more NFS server" in weighed
    assert "swap filer for Parallel file system, client on 100 Gb/s" in weighed
    assert not any("VMware" in title or "S3" in title or "RAID" in title for title in weighed)


def test_a_second_server_of_the_group_doubles_what_is_read() -> None:
    """Two mounts of 2 GB/s each are 4 GB/s, below the 12.5 GB/s of the NIC."""
    search = searcher(mounted())
    more = next(k for k, one in enumerate(search.candidates) if one.title.startswith("add one more"))
    assert search.gain((more,)) == pytest.approx(2.0, rel=1e-6)
    # its one cable, and the 1.1 kW that a storage server is assumed to draw
    assert search.candidates[more].cost == Cost(ports=1, watts=1100.0)


@pytest.mark.parametrize(("type_id", "goal"), [(NFS, 1.5), (NFS, 9.0), ("storage/weka/client-100g", 1.5)])
def test_the_cheapest_set_for_storage_is_that_of_brute_force(type_id: str, goal: float) -> None:
    search = searcher(mounted(type_id))
    # fewer are quicker to look at in all their sets
    search.candidates = tuple(one for one in search.candidates if not one.about.startswith("policy"))
    assert 2 <= len(search.candidates) <= EXACT_LIMIT
    found, right = search.cheapest(goal), brute(search, goal)
    assert (found is None) == (right is None)
    if found is not None:
        assert search.cost(found[0]).key == right


# Servers that are added are cabled as the drawn ones are, and carry names of their own.


def test_four_more_gpus_are_one_more_server_with_its_storage_links() -> None:
    before = designer.open_design("serving-h100-8")
    after = more_servers(before, 4).apply(before)
    inside = [p for p in before.parts.values() if p.id == "server" or p.parent == "server"]
    assert len(after.parts) - len(before.parts) == len(inside) == 43
    assert sum(p.kind == "gpu" for p in after.parts.values()) == 16
    # each of the two storage NICs leads to the storage switch, in the copy as in the original
    to_switch = [x for x in after.links.values() if "storage_switch" in (x.a, x.b) and "storage" not in (x.a, x.b)]
    assert len(to_switch) == 4
    names = [p.label for p in after.parts.values() if p.kind == "server"]
    assert len(names) == len(set(names)) == 2
    broken = [f.code for f in designer.check(before) if f.severity is Severity.ERROR]
    assert [f.code for f in designer.check(after) if f.severity is Severity.ERROR] == broken


def test_a_group_of_servers_gets_more_members() -> None:
    before = designer.open_design("su-h100-32")
    # nine GPUs are two servers of eight
    assert more_servers(before, 9).apply(before).groups["servers"].replicas == 34
    assert more_servers(before, 8).apply(before).groups["servers"].replicas == 33


def test_several_servers_do_not_cover_each_other() -> None:
    before = designer.open_design("serving-h100-8")
    after = more_servers(before, 24).apply(before)
    places = {(p.position.x, p.position.y) for p in after.parts.values() if p.kind == "server" and p.position}
    assert len(places) == 4


def test_without_a_server_there_is_none_to_add() -> None:
    design = designer.open_design("serving-h100-8")
    bare = Delete((Ref("parts", "server"),)).apply(design)
    with pytest.raises(DocumentError, match="no accelerator is in a server"):
        more_servers(bare, 1)


# Settings that make a workload fit really do, by arithmetic and by the engine.

#: parameters of Llama 2 7B, and bytes of each: bf16 weights, fp32 gradients, fp32 copy and two moments
PARAMETERS = 6.738e9


WEIGHTS, GRADIENTS, OPTIMIZER = 2, 4, 12


GPUS = 8


def test_sharding_the_optimizer_of_llama_7b_fits_on_eight_h100() -> None:
    design = overridden(designer.open_design("hgx-h100-8"), ["workloads.llama-2-7b-fsdp.sharding=none"])
    result = designer.analyze(design, ["llama-2-7b-fsdp"], curves=False).workloads[0]
    assert result.unfit is not None
    whole = PARAMETERS * (WEIGHTS + GRADIENTS + OPTIMIZER)
    assert result.metrics["memory_per_gpu"].value > whole == pytest.approx(121.3e9, rel=1e-3)
    found = fitting_settings(design, "llama-2-7b-fsdp")
    by_title = {one.title: one for one in found}
    sharded = by_title["Shard the optimizer (ZeRO-1)"]
    # seven eighths of the 80.9 GB of optimizer state are held by the other seven GPUs
    saved = PARAMETERS * OPTIMIZER * (GPUS - 1) / GPUS
    held = result.metrics["memory_per_gpu"].value - saved
    assert sharded.result.metrics["memory_per_gpu"].value == pytest.approx(held, rel=0.01)
    for one in found:
        applied = one.edit.apply(design)
        again = designer.analyze(applied, ["llama-2-7b-fsdp"], curves=False).workloads[0]
        assert again.unfit is None
        assert again.metrics["memory_per_gpu"].value < 85.5e9
        assert again.metrics["step_time"].value == one.result.metrics["step_time"].value
    rates = [one.result.metrics["tokens_per_second"].value for one in found]
    assert rates == sorted(rates, reverse=True)


def test_a_batch_of_pictures_is_halved_until_it_fits() -> None:
    design = overridden(designer.open_design("hgx-h100-8"), ["workloads.resnet-50.micro_batch=4096"])
    found = fitting_settings(design, "resnet-50")
    assert [one.changes for one in found] == [{"micro_batch": 1024}]
    assert found[0].title == "Micro-batch 1024"


def test_a_served_model_is_spread_before_its_weights_are_narrowed() -> None:
    design = overridden(designer.open_design("serving-h100-8"), ["workloads.chat-70b.tensor=1"])
    first = fitting_settings(design, "chat-70b")[0]
    # 72.7 GB of fp8 weights leave no room on one GPU of 85.5 GB at a share of 0.9, half of them do
    assert dict(first.changes) == {"tensor": 2, "replicas": 0}


def test_a_workload_that_fits_is_not_refused_and_one_that_is_not_there_is() -> None:
    design = designer.open_design("hgx-h100-8")
    assert designer.analyze(design, ["llama-2-7b-fsdp"], curves=False).workloads[0].unfit is None
    with pytest.raises(AnalysisError, match="no workload 'x'"):
        fitting_settings(design, "x")


def test_no_step_throws_away_what_one_before_it_bought() -> None:
    """NFS, VMFS and vSAN would take each other's place: the datastore is swapped once, later steps add to it."""
    found = suggest(open_design("vsphere-cluster-4"), "storage-to-gpus")
    swapped = [edit.about for step in found.steps for edit in step.edits if edit.about.startswith("type:")]
    assert len(found.steps) > 1
    assert len(swapped) == len(set(swapped)) == 1
