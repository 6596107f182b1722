"""Generated networks: published counts, what every family promises, and networks of products."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest

import designer
from designer.cli.main import run
from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.design.port_usage import overfull
from designer.errors import FormatError
from designer.interchange.generating import generate, generators
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import dumps
from designer.report.inventory import bundles, inventory
from designer.report.tables.bill_of_materials import items_of
from designer.report.tables.order import order, sheet

# Generated networks: published switch and cable counts, and what every family promises.


def _counts(family: str, **given: object) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """Switches by role, and cables by the roles they join ("host" for a NIC)."""
    net = elaborate(generate(family, {name: str(value) for name, value in given.items()}))
    role = [d.attributes.get("role", "host" if d.kind == "nic" else d.kind) for d in net.part_defs]
    roles = Counter(role[d] for d in net.part_def.tolist() if net.part_defs[d].kind == "switch")
    cables: Counter[tuple[str, str]] = Counter()
    for a, b, d in zip(net.link_a.tolist(), net.link_b.tolist(), net.link_def.tolist(), strict=True):
        if net.link_defs[d].kind == "infiniband":
            ends = sorted((role[int(net.part_def[a])], role[int(net.part_def[b])]))
            cables[ends[0], ends[1]] += net.link_defs[d].count
    return roles, cables


@pytest.mark.parametrize(
    ("units", "leaf", "spine", "core"),
    [
        (2, 16, 8, 0),
        (4, 32, 16, 0),
        (8, 64, 32, 0),
        (16, 128, 128, 64),
        (32, 256, 256, 128),
        (64, 512, 512, 256),
    ],
)
def test_superpod_b200(units: int, leaf: int, spine: int, core: int) -> None:
    """Units of 32 servers with 8 rails on 64-port switches: 8 leaves a unit, 32 links up for 32 down at each.

    2 units: 64 × 8 = 512 cables down and 512 up; 512 / 64 ports = 8 spines. Beyond 64 leaves a spine has too few ports:
    pods of 32 leaves and 32 spines, 1,024 cables up each, 64 to a core.
    """
    roles, cables = _counts("rail-optimized", nodes=32 * units, unit=32, gpus=8)
    wanted = Counter({"leaf": leaf, "spine": spine, "core": core})
    assert roles == +wanted
    assert set(cables.values()) == {32 * units * 8}


@pytest.mark.parametrize(("units", "leaf", "spine"), [(1, 8, 4), (2, 16, 8), (4, 32, 18), (8, 64, 36), (18, 144, 72)])
def test_superpod_b300_xdr(units: int, leaf: int, spine: int) -> None:
    """Units of 72 servers on 144-port switches. 4 units: 288 × 8 / 144 = 16 spines would take 4.5 links from each leaf;
    the next number that divides its 72 uplinks is 18, with 4 links each."""
    roles, cables = _counts("rail-optimized", nodes=72 * units, unit=72, ports=144)
    assert roles == {"leaf": leaf, "spine": spine}
    assert cables == {("host", "leaf"): 576 * units, ("leaf", "spine"): 576 * units}


@pytest.mark.parametrize(
    ("units", "leaf", "spine"), [(1, 16, 8), (2, 32, 16), (4, 64, 32), (8, 128, 64), (16, 256, 128)]
)
def test_superpod_b300_ethernet(units: int, leaf: int, spine: int) -> None:
    """Units of 64 servers, two planes, 128 ports of 400 Gb/s: 8 leaves a unit and plane, 64 links down, 64 up."""
    roles, _ = _counts("rail-optimized", nodes=64 * units, unit=64, ports=128, planes=2)
    assert roles == {"leaf": leaf, "spine": spine}


def test_superpod_h100_scalable_unit() -> None:
    """One unit of 32 servers: 8 leaves with 32 links up each, 256 / 64 = 4 spines."""
    roles, cables = _counts("rail-optimized", nodes=32, unit=32)
    assert roles == {"leaf": 8, "spine": 4}
    assert cables == {("host", "leaf"): 256, ("leaf", "spine"): 256}


@pytest.mark.parametrize("k", [2, 4, 8])
def test_fat_tree(k: int) -> None:
    """k³/4 servers, k²/2 edge and as many upper switches, k²/4 cores; k³/4 cables in each of three layers."""
    roles, cables = _counts("fat-tree", ports=k)
    assert roles == {"edge": k * k // 2, "aggregation": k * k // 2, "core": k * k // 4}
    assert set(cables.values()) == {k**3 // 4}


@pytest.mark.parametrize(
    ("nodes", "pods", "edges", "cores"), [(1, 2, 1, 1), (8, 2, 1, 1), (32, 2, 4, 4), (33, 4, 4, 8), (128, 8, 4, 16)]
)
def test_a_fat_tree_of_fewer_servers_keeps_full_bandwidth(nodes: int, pods: int, edges: int, cores: int) -> None:
    """Eight ports: four NICs an edge switch; as many cables above each layer as the edge switches have ports down."""
    design = generate("fat-tree", {"nodes": str(nodes)})
    inside = design.groups["pods"].content
    assert (design.groups["pods"].replicas, inside.groups["edges"].replicas) == (pods, edges)
    assert design.groups["cores"].replicas == cores
    roles, cables = _counts("fat-tree", nodes=nodes)
    assert roles == {"edge": pods * edges, "aggregation": pods * edges, "core": cores}
    assert cables["edge", "host"] == nodes
    assert {n for ends, n in cables.items() if "host" not in ends} == {pods * edges * 4}
    assert not list(overfull(design))


def test_torus() -> None:
    """3×2×2: rings of 3 have 3 links, 4 of them; rings of 2 have one, 6 and 6 of them."""
    roles, cables = _counts("torus", shape="3x2x2")
    assert roles == {"router": 12}
    assert cables == {("host", "router"): 12, ("router", "router"): 12 + 6 + 6}


@pytest.mark.parametrize(
    ("shape", "part", "hosted", "links"),
    [
        ("16x16", "gpu/google/tpu-v5e", 8, 512),
        ("4x4x4", "gpu/google/tpu-v5p", 4, 192),
        ("4x4", "gpu/amazon/trainium", 16, 32),
    ],
)
def test_pod(shape: str, part: str, hosted: int, links: int) -> None:
    """A torus has a link for each accelerator and dimension; all of them carry an all-reduce, at most what one has."""
    design = generate("pod", {"shape": shape, "part": part, "hosted": str(hosted)})
    assert len(design.links) == links
    chips = math.prod(int(n) for n in shape.split("x"))
    assert design.groups["hosts"].replicas == chips // hosted
    stated = designer.load_catalog().get(part).values["link_bandwidth_per_direction"]
    assert {(one.source, one.status) for one in design.links.values()} == {(stated.source, stated.status)}
    assert stated.source in design.sources
    bus = designer.analyze(design, "all-reduce").workloads[0].metrics["bus_bandwidth"]
    value = designer.load_catalog().get(part).number("accelerator_bandwidth_per_direction")
    assert value is not None
    assert 0.6 * value < bus.value < bus.high <= value * 1.0001


def test_a_pod_takes_no_products() -> None:
    with pytest.raises(FormatError, match="without products"):
        generate("pod", {}, {"server": "dgx-h100"})
    with pytest.raises(FormatError, match="not joined in a torus"):
        generate("pod", {"part": "gpu/nvidia/h100-sxm5"})
    with pytest.raises(FormatError, match="hosts of 7"):
        generate("pod", {"hosted": "7"})


def test_dragonfly_plus() -> None:
    """5 groups: 10 pairs with 4 cables; inside each group 4 × 4."""
    roles, cables = _counts("dragonfly-plus")
    assert roles == {"leaf": 20, "spine": 20}
    assert cables == {("host", "leaf"): 80, ("leaf", "spine"): 80, ("spine", "spine"): 40}


def test_leaf_spine_oversubscribed() -> None:
    """64 ports at 3:1: 48 down, 16 up; 96 servers on two leaves, 32 cables up on one spine."""
    roles, cables = _counts("leaf-spine", nodes=96, oversubscription=3)
    assert roles == {"leaf": 2, "spine": 1}
    assert cables == {("host", "leaf"): 96, ("leaf", "spine"): 32}


@pytest.mark.parametrize("family", sorted(generators()))
def test_every_family_makes_a_legal_design_that_can_be_saved(family: str) -> None:
    design = generate(family, {})
    assert loads(dumps(design)).design == design
    assert not list(overfull(design))


@pytest.mark.parametrize(
    ("family", "given", "reason"),
    [
        ("ring", {}, "no family"),
        ("leaf-spine", {"nodez": "3"}, "no parameter"),
        ("leaf-spine", {"nodes": "-1"}, "number"),
        ("leaf-spine", {"nodes": "1e9"}, "number"),
        ("fat-tree", {"ports": "7"}, "even"),
        ("fat-tree", {"nodes": "129"}, "more ports"),
        ("torus", {"shape": "4xx"}, "shape"),
        ("leaf-spine", {"kind": "<script>"}, "kind"),
        ("leaf-spine", {"nodes": "99999"}, "three tiers|leaves"),
        ("rail-optimized", {"rate": "fast"}, "fast"),
        ("rail-optimized", {"nodes": "33", "unit": "32"}, "equal units"),
    ],
)
def test_refusals(family: str, given: dict[str, str], reason: str) -> None:
    with pytest.raises(FormatError) as refusal:
        generate(family, given)
    import re

    assert re.search(reason, f"{refusal.value.text} {refusal.value.remedy}")


# Generated networks of products: servers of templates, switches of the catalog, and all fabrics of a cluster.

FABRICS = {"storage": "superpod-h100", "inband": "sn4600c", "oob": "sn2201"}


H100 = {"server": "dgx-h100", "switch": "qm9700"}


@pytest.fixture(scope="module")
def pod() -> Design:
    return generate("rail-optimized", {"nodes": "127", "unit": "32"}, {**H100, **FABRICS})


def test_the_superpod_of_127_systems_has_all_fabrics_of_its_reference(pod: Design) -> None:
    """RA-11333-001 tables 7 and 8: 48 switches of the compute fabric with 1,016 + 1,024 cables, 16 of the storage
    fabric with 254 cables to the systems, 240 between switches (8 leaves × 24 + 4 × 12) and 48 to the storage,
    254 in-band cables and 127 of the systems' controllers."""
    switches = Counter({name: g.replicas for name, g in pod.groups.items() if name != "servers"})
    assert switches["leaves"] + switches["spines"] == 48
    assert switches["storage_leaves"] + switches["store_leaves"] + switches["storage_spines"] == 16
    cables = Counter[str]()
    for bundle in bundles(inventory(pod)):
        cables[bundle.definition.id] += bundle.cables
    assert (cables["rails"], cables["spine"]) == (1_016, 1_024)
    assert (cables["storage_rails"], cables["storage_spine"] + cables["store_spine"], cables["store"]) == (254, 240, 48)
    assert (cables["inband"], cables["oob"]) == (254, 127)


def test_its_transceivers(pod: Design) -> None:
    """Compute 1,536; storage 8 leaves × 28 (55 or 56 links) + 4 × 6 + 4 spines × 30 = 368. The reference lists 369,
    with four more ends for fabric managers; QSFP112 modules in the systems: 254."""
    modules = {line.part: line.count for line in order(pod, "optical") if line.item == "Transceiver"}
    assert modules["MMA4Z00-NS"] == 1_536 + 368
    assert modules["MMA1Z00-NS400"] == 254
    assert modules["MMA4Z00-NS-FLT"] == 508


def test_it_is_a_legal_design_whose_file_opens_again(pod: Design) -> None:
    assert loads(dumps(pod)).design == pod
    assert not list(overfull(pod))
    counts = {line.model: line.count for line in items_of(pod)}
    assert counts["NVIDIA DGX H100"] == 127
    assert counts["NVIDIA QM9700 (NDR)"] == 48 + 16


def test_networks_beside_the_fabric_change_no_collective() -> None:
    """An all-reduce takes the compute NICs whatever else is drawn."""
    given = {"nodes": "32", "unit": "32"}
    alone, whole = (generate("rail-optimized", given, parts) for parts in (H100, {**H100, **FABRICS}))
    answers = [designer.analyze(d, ["all-reduce"]).workloads[0].metrics["bus_bandwidth"] for d in (alone, whole)]
    assert answers[0].value == answers[1].value


def test_what_is_not_drawn_is_said(pod: Design) -> None:
    """71 switches of 77 have no port drawn for management, nor has the storage; all racks need power distribution."""
    assert "Not drawn: power distribution units." in pod.description
    bare = generate("rail-optimized", {"nodes": "32"}, H100)
    assert "in-band management, out-of-band management, power distribution units, storage network" in bare.description
    notes = " ".join(sheet(bare).notes)
    assert "no out-of-band management for 44 units" in notes
    assert "Power distribution is not drawn" in notes
    assert "no out-of-band management for 78 units" in " ".join(sheet(pod).notes)


def test_parameters_follow_from_the_products() -> None:
    """A DGX B300 has eight ConnectX-8 of 800 Gb/s; Q3400 144 ports of that rate."""
    design = generate("rail-optimized", {"nodes": "72", "unit": "72"}, {"server": "hgx-b300-8", "switch": "q3400"})
    assert (design.groups["leaves"].replicas, design.groups["spines"].replicas) == (8, 4)
    assert design.wirings["rails"].bandwidth_per_direction == "800 Gb/s"


def test_ports_are_split_where_links_are_slower() -> None:
    """64 ports of 800 Gb/s are 128 of 400 Gb/s: a breakout of two links for each cage."""
    design = generate("leaf-spine", {"nodes": "64"}, {"server": "dgx-h100", "switch": "sn5600"})
    switch = design.groups["leaves"].content.parts["switch"]
    assert switch.overrides["ports"].value == 128
    assert design.groups["leaves"].replicas == 8
    assert not list(overfull(design))


@pytest.mark.parametrize("switch", ["q3400", "qm9700", "sn5600"])
def test_a_fat_tree_of_large_switches_needs_no_number(switch: str) -> None:
    """1,024 DGX H100 at 400 Gb/s, where q3400 has 288 ports: 144 NICs an edge switch, 1,024 / 144 = 7.1, so two pods
    of four edge switches; bundles of 144 / 4 = 36 links to each upper switch, 288 / 2 = 144 to the 2 · 4 / 2 cores."""
    design = generate("fat-tree", {}, {"server": "dgx-h100", "switch": switch})
    assert design.groups["servers"].replicas == 1_024
    assert not list(overfull(design))
    assert all(line.part for line in order(design))
    if switch == "q3400":
        pods = design.groups["pods"]
        assert (pods.replicas, pods.content.groups["edges"].replicas, design.groups["cores"].replicas) == (2, 4, 4)
        assert (pods.content.wirings["inside"].count, design.wirings["core"].count) == (36, 144)


@pytest.mark.parametrize("switch", ["q3400", "qm9700", "sn5600"])
@pytest.mark.parametrize("server", ["dgx-h100", "dgx-b200", "hgx-h200-8", "gb200-tray", "hgx-b300-8", "dgx-a100"])
@pytest.mark.parametrize("family", sorted(name for name, one in generators().items() if one.products))
def test_every_pair_of_products_has_a_bill(family: str, server: str, switch: str) -> None:
    """Without any number: each cable is in the bill; no product is known of 200 Gb/s and of 800 Gb/s Ethernet."""
    design = generate(family, {}, {"server": server, "switch": switch})
    assert not list(overfull(design))
    lines = order(design)
    drawn = sum(b.cables for b in bundles(inventory(design)))
    assert sum(line.links for line in lines if line.item != "Transceiver") == drawn
    known = server != "dgx-a100" and (server, switch) != ("hgx-b300-8", "sn5600")
    assert all(line.part for line in lines) is known


@pytest.mark.parametrize(
    ("given", "parts", "reason"),
    [
        ({}, {"switch": "qm97"}, "did you mean|designer parts"),
        ({}, {"server": "no-such-server"}, "no-such-server"),
        ({"rails": "9"}, H100, "8 compute NICs"),
        ({"ports": "128"}, H100, "64 ports"),
        ({}, {"switch": "qm9700", "storage": "superpod-h100"}, "choose a server"),
        ({}, {**H100, "switch": "dgx-h100"}, "no switch"),
    ],
)
def test_products_that_are_refused(given: dict[str, str], parts: dict[str, str], reason: str) -> None:
    import re

    with pytest.raises(FormatError) as refusal:
        generate("rail-optimized", given, parts)
    assert re.search(reason, f"{refusal.value.text} {refusal.value.remedy}")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "pod.design.json"
    words = ["generate", "rail-optimized", "--set", "nodes=32", "--server", "dgx-h100", "--switch", "qm9700"]
    assert run([*words, "--storage", "superpod-h100", "-o", str(target)]) == 0
    assert "storage ports" in capsys.readouterr().out
    assert run(["bom", str(target), "--table", "cabling"]) == 0
    assert "MMA4Z00-NS" in capsys.readouterr().out
