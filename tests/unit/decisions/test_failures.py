"""What failures cost, also of parts that a workload names."""

from __future__ import annotations

import pytest

from designer.decisions.failures_survey import Survey, failures, survive
from designer.design.document import Design, Link, Part, Policy, WorkloadSpec, replaced, with_changes
from designer.engine.network import build_network
from designer.errors import AnalysisError
from designer.fields import Quantity
from designer.formulas.failures import PARTS
from designer.interchange.templates import open_design
from tests.brute_failures import compare
from tests.budget import sample
from tests.properties.test_classes_of_resources import shrunk

# What single failures cost: hand-worked cases, and the same as deleting each from the document.


def two_ways() -> Design:
    """A host of two GPUs and a NIC behind one PCIe switch, and a second NIC at the processor; one store, two ways."""
    parts = [
        Part(id="cpu", kind="cpu"),
        Part(id="memory", kind="memory"),
        Part(id="psw", kind="pcie_switch"),
        Part(id="gpu0", kind="gpu"),
        Part(id="gpu1", kind="gpu"),
        Part(id="nic0", kind="nic"),
        Part(id="nic1", kind="nic"),
        Part(id="leaf", kind="switch"),
        Part(id="store", kind="storage"),
    ]
    pcie = {"kind": "pcie", "generation": 4, "lanes": 16}
    cable = {"kind": "ethernet", "bandwidth_per_direction": "100 Gb/s"}
    links = [
        Link(id="bus", a="cpu", b="memory", kind="memory_bus", bandwidth_per_direction="200 GB/s"),
        Link(id="up", a="cpu", b="psw", **pcie),
        Link(id="g0", a="psw", b="gpu0", **pcie),
        Link(id="g1", a="psw", b="gpu1", **pcie),
        Link(id="n0", a="psw", b="nic0", **pcie),
        Link(id="n1", a="cpu", b="nic1", **pcie),
        Link(id="e0", a="nic0", b="leaf", **cable),
        Link(id="e1", a="nic1", b="leaf", **cable),
        Link(id="s", a="leaf", b="store", count=2, **cable),
    ]
    h2d = WorkloadSpec(id="h2d", kind="transfer", settings={"from": "memory", "to": "gpus"})
    read = WorkloadSpec(id="read", kind="transfer", settings={"from": "storage", "to": "gpus"})
    return Design.model_validate(
        {"name": "two-ways", "parts": parts, "links": links, "workloads": [h2d, read], "default_workload": "h2d"}
    )


def losses(found: Survey) -> dict[str, float]:
    """Share lost by what fails."""
    return {x.path: x.lost for x in found.losses}


def test_by_hand_copies_from_memory() -> None:
    """Both GPUs share the one link up: half of the copies go to each. Without a GPU the other has the whole link, so
    nothing is lost. Without the link up, or the switch, no machine sees a GPU: all stops and two are stranded."""
    found = survive(two_ways(), "h2d")
    lost = losses(found)
    rows = {x.path: x for x in found.losses}
    assert lost["gpu0"] == pytest.approx(0.0, abs=1e-9)
    assert rows["gpu0"].gpus_lost == 1
    assert rows["gpu0"].count == 2, "nothing tells the two GPUs apart"
    for way in ("up", "psw"):
        assert lost[way] == 1.0
        assert rows[way].gpus_stranded == 2
    assert lost["nic0"] == lost["e1"] == lost["leaf"] == 0.0, "copies inside the host need no network"


def test_by_hand_one_link_of_a_bundle() -> None:
    """The store has two cables of 12.5 GB/s each. One less is half of the 25 GB/s, if nothing else was narrower; each
    NIC has 12.5 GB/s, so before the failure reads came to 25 GB/s over both, or to 12.5 over one of them."""
    design = two_ways()
    before = survive(design, "read")
    rows = {x.path: x for x in before.losses}
    capacity = {"one": 12.5e9, "both": 25e9}
    ways = 2 if before.value > capacity["one"] else 1
    assert before.value < capacity["both"]
    if ways == 2:
        assert rows["s"].lost == pytest.approx(0.5, abs=0.02)
    else:
        assert rows["s"].lost == pytest.approx(0.0, abs=1e-6), "one cable carries what one NIC takes"
    assert rows["leaf"].stops
    assert rows["store"].stops


def test_drives_do_not_hold_what_a_lost_storage_system_held() -> None:
    """Two GPUs read 25 GB/s from the store at most. Without it nothing is left to read, though a drive is there."""
    design = two_ways()
    drive, link = Part(id="drive", kind="drive"), Link(id="d", a="cpu", b="drive", kind="pcie", generation=4, lanes=4)
    design = with_changes(design, parts=replaced(design.parts, [drive]), links=replaced(design.links, [link]))
    row = next(x for x in survive(design, "read").losses if x.path == "store")
    assert row.stops


@pytest.mark.parametrize("replicas", [0, 2])
def test_a_lost_gpu_takes_its_replica_and_no_more(replicas: int) -> None:
    """Two replicas of four GPUs in one server: seven GPUs hold one, so half of what could be answered is lost, whether
    two were asked for or as many as fit. The store the weights came from is not needed any longer."""
    design = open_design("serving-h100-8")
    spec = design.workloads["chat-70b"]
    spec = spec.model_copy(update={"settings": {**spec.settings, "replicas": replicas}})
    design = with_changes(design, workloads=replaced(design.workloads, [spec]), assertions=[])
    found = survive(design, "chat-70b")
    assert found.metric == "most_requests_per_second"
    rows = {x.path: x for x in found.losses}
    assert rows["gpu0"].lost == pytest.approx(0.5, abs=0.01)
    assert rows["server"].stops
    assert not rows["storage"].stops


def test_a_failure_that_takes_all_parts_of_a_workload_says_so():
    """The one server holds all GPUs, the one NFS server all storage: the design names them, only the failure does not
    leave any."""
    rows = {x.path: x for x in survive(open_design("hpe-apollo-6500-nfs")).losses}
    assert rows["server"].binds == "the failure takes all GPUs of the workload"
    assert rows["storage[0]/storage"].binds == "the failure takes all storage systems of the workload"


def test_a_nic_below_a_dead_switch_is_of_no_use() -> None:
    """The NIC behind the switch is still cabled to the leaf; without the link up no machine sees it."""
    found = {x.path: x for x in survive(two_ways(), "read").losses}
    assert found["up"].stops


def test_both_feeds_of_a_rack() -> None:
    """Two servers of 6 kW in a rack whose feeds give 10 kW each: both together carry 12 kW, one alone cannot. In a rack
    with feeds of 17 kW nothing happens."""
    for limit, stops in (("10 kW", True), ("17 kW", False)):
        design = two_ways()
        power = {"power_max": Quantity(value="6 kW", source="test")}
        rack = Part(id="rack", kind="rack", overrides={"power_capacity": Quantity(value=limit, source="test")})
        servers = [Part(id=f"server{k}", kind="server", parent="rack", overrides=power) for k in range(2)]
        inside = {p.id: p.model_copy(update={"parent": "server0"}) for p in design.parts.values() if p.id != "leaf"}
        parts = {**design.parts, **inside, **{p.id: p for p in (rack, *servers)}}
        design = Design.model_validate({**dict(design), "parts": parts})
        row = next(x for x in survive(design, "h2d").losses if x.kind == "feed")
        assert row.stops is stops
        assert bool(row.limits) is stops


@pytest.mark.parametrize("template", sample(["m40-server"], ["hgx-a100-4", "sm-4029gp-trt"]))
def test_survey_is_deletion_by_brute_force(template: str) -> None:
    design = open_design(template)
    for workload in design.workloads:
        compared, wrong = compare(design, workload)
        assert compared >= 5
        assert not wrong


def test_classes_hold_every_failure_once() -> None:
    network = build_network(open_design("su-h100-32"))
    single, equal = failures(network, equal=False), failures(network)
    assert sum(len(f.members) for f in equal) == len(single)
    assert len(equal) < len(single) / 20
    for kind in {f.kind for f in single}:
        numbers = [n for f in equal if f.kind == kind for n in f.members.tolist()]
        assert len(set(numbers)) == len(numbers) == sum(f.kind == kind for f in single)


def test_pairs_are_drawn_by_their_seed() -> None:
    one, again, other = (survive(open_design("hgx-a100-4"), "h2d", pairs=12, seed=s).pairs for s in (3, 3, 4))
    assert one == again != other
    assert len(one) == 12
    assert list(one) == sorted(one, key=lambda p: p.share)


def test_a_machine_that_cannot_restart_is_named() -> None:
    found = survive(open_design("vsphere-cluster-4"), "evacuate")
    assert any(x.kind == "server" and x.machines for x in found.losses)


def test_the_worst_of_nics_that_look_alike_is_told() -> None:
    """Ranks send on by another NIC, the first that is nearest: which of those equivalent is lost counts."""
    design = open_design("su-h100-32")
    policy = Policy(rail_affinity=False, relay_through_gpu=True, pcie_acs=True)
    asked = {"group": "gpus", "collective": "reduce-scatter", "size": "256 MiB"}
    spec = WorkloadSpec(id="w", kind="collective", settings=asked)
    design = design.model_copy(update={**shrunk(design, {"servers": 2}), "policy": policy, "workloads": {"w": spec}})
    by_class, each = survive(design, "w"), survive(design, "w", equal=False)
    worst = min(x.share for x in each.losses if x.kind == "nic")
    assert worst == pytest.approx(min(x.share for x in by_class.losses if x.kind == "nic"))
    assert worst < max(x.share for x in each.losses if x.kind == "nic" and x.share < 1) - 0.1


def test_an_unknown_workload_is_refused() -> None:
    with pytest.raises(AnalysisError, match="no workload 'nothing'"):
        survive(two_ways(), "nothing")


def test_losing_more_never_costs_less() -> None:
    """A server has eight rails of 50 GB/s; its GPUs are 8 of 256.

    Without it 31/32 of the work is done: 3.125 % are lost. A job that lost one NIC, GPU or PCIe switch of it may leave
    the server out, so none of them costs more than that, though one NIC alone halves what the server sends. Each leaf
    holds 32 NICs of one rail, and cannot cost less than one of them.
    """
    found = survive(open_design("su-h100-32"), "all-reduce")
    rows = {x.path: x for x in found.losses}
    server = rows["servers[0]/server"]
    assert server.lost == pytest.approx(8 / 256)
    # with three of four NVSwitches 1.125 of a message at .75 × 312 GB/s outrun 2 of it at 384 GB/s between servers
    assert rows["servers[0]/nvsw0"].lost == 0.0
    for inner in ("nic0", "nic4", "psw0", "gpu0"):
        row = rows[f"servers[0]/{inner}"]
        assert 0 < row.lost <= server.lost * (1 + 1e-9)
        assert row.leaves_out == "servers[0]/server"
        assert row.gpu_hours.value <= server.gpu_hours.value * (1 + 1e-9)
    assert rows["rails[0]"].lost <= rows["leaves[0]/switch"].lost
    assert rows["servers[0]/nic0"].lost <= rows["leaves[0]/switch"].lost


def test_by_hand_what_a_failure_costs() -> None:
    """256 GPUs wait 40.06 s for the collective; then 8 of them represent the rest of a day:
    256 × 40.06 s + 8 × (86,400 − 40.06) s = 701,138 s = 194.8 GPU-hours. Servers fail every 57,700 h, 32 of them
    4.86 times in 8,766 h: 947 GPU-hours a year for servers alone."""
    found = survive(open_design("su-h100-32"), "all-reduce")
    server = next(x for x in found.losses if x.kind == "server")
    assert server.gpu_hours.value == pytest.approx((256 * 40.06 + 8 * (86_400 - 40.06)) / 3600, rel=1e-4)
    assert server.gpu_hours.low < server.gpu_hours.value < server.gpu_hours.high
    assert found.gpus == 256
    a_year = sum(x.count * x.gpu_hours.value * 8766 * 3600 / PARTS[x.kind].value for x in found.losses)
    assert found.gpu_hours_per_year.value == pytest.approx(a_year)
    assert a_year > 947
    assert next(x for x in found.losses if x.path == "servers[0]/storage_nic0").gpu_hours.value == 0.0


def test_more_parts_fail_more_often() -> None:
    """Half of the servers, NICs, GPUs and links at them: the time between failures nearly doubles."""
    design = open_design("su-h100-32")
    whole = survive(design, "storage-to-gpus").between
    half = survive(design.model_copy(update=shrunk(design, {"servers": 16})), "storage-to-gpus").between
    assert whole.value * 1.8 < half.value <= whole.value * 2


@pytest.mark.parametrize("template", sample(["hgx-a100-4", "sm-4029gp-trt-pair"], ["hgx-h100-8", "m40-server"]))
def test_a_pair_never_costs_less_than_one_of_them(template: str) -> None:
    design = open_design(template)
    for workload in list(design.workloads)[:2]:
        found = survive(design, workload, equal=False, pairs=30)
        alone = {x.path: x.share for x in found.losses}
        for pair in found.pairs:
            assert pair.share <= min(alone[path] for path in pair.paths) * (1 + 1e-9)


# Parts that a workload names are not equivalent to those it leaves alone, though no link tells them apart.


def test_the_gpu_of_a_control_loop_stops_it_and_the_other_does_not() -> None:
    """Both L4 hang at one processor and neither receives frames over its link: by hand 1 of 2 stops the loop."""
    losses = [loss for loss in survive(open_design("edge-robot-cell"), "arm").losses if loss.kind == "gpu"]
    assert sorted(loss.share for loss in losses) == [0.0, 1.0]
    assert all(len(loss.members) == 1 for loss in losses)
