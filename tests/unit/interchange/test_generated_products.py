"""Generated networks of products: servers of templates, switches of the catalog, and all fabrics of a cluster."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import designer
from designer.cli.main import run
from designer.design.document import Design
from designer.design.port_usage import overfull
from designer.errors import FormatError
from designer.interchange.generating import generate, generators
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import dumps
from designer.report.inventory import bundles, inventory
from designer.report.tables.bill_of_materials import items_of
from designer.report.tables.order import order, sheet

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
@pytest.mark.parametrize("family", sorted(generators()))
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
def test_refusals(given: dict[str, str], parts: dict[str, str], reason: str) -> None:
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
