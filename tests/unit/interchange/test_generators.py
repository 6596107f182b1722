"""Generated networks: published switch and cable counts, and what every family promises."""

from __future__ import annotations

from collections import Counter

import pytest

from designer.design.elaborate import elaborate
from designer.design.port_usage import overfull
from designer.errors import FormatError
from designer.interchange.generating import generate, generators
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import dumps


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
