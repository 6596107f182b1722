"""Topology files of ibdiagnet, cable plans with indented comments, and compute nodes of NetQ."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from designer.design.document import Design
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.interchange.importing import read_bytes

#: the example of ibdm-topo-file(1), whose switch lists the cables of two adapters
MANUAL = """MTS2400 S-1
   P1 -> MT23108 H-1 P1
   P2 -> MT23108 H-1 P2
   P24 -> MT23108 H-2 P1
"""


def _kinds(design: Design) -> Counter[str]:
    return Counter(part.kind for part in design.parts.values())


def test_the_example_of_the_manual() -> None:
    design = read_bytes(MANUAL.encode()).design
    assert _kinds(design) == {"switch": 1, "server": 2, "nic": 3}
    assert {(link.a_port, link.b_port) for link in design.links.values()} == {("P1", "P1"), ("P2", "P2"), ("P24", "P1")}


def test_a_cable_of_both_sections_is_drawn_once_with_its_rate() -> None:
    """Four lanes of 100 Gb/s are 50 GB/s."""
    text = "SWITCH s1 CFG: leaf3=R\n\tP1 -4x-100G-> HOST h1 nic0\n\n# plan\nHOST h1\n\tnic0 -4x-100G-> SWITCH s1 P1\n"
    (link,) = read_bytes(text.encode()).design.links.values()
    assert raw_rate(link)[0] == 50e9


def test_a_cable_without_a_system_is_refused_with_its_line() -> None:
    with pytest.raises(ExchangeError, match="before the first system") as refusal:
        read_bytes(b"\n   P1 -> HOST h1 nic0\n")
    assert refusal.value.place == "line 2"


@pytest.mark.parametrize("comment", ["# first", "   # indented", "\t# tab", '"a":"p2" -- "b":"p2" # behind a cable'])
def test_comments_of_a_cable_plan_may_be_indented(comment: str) -> None:
    text = f'graph "air" {{\n  "a" [function="leaf"]\n{comment}\n  "a":"swp1" -- "b":"swp1" # [x\n}}\n'
    design = read_bytes(text.encode()).design
    assert len(design.links) == (2 if "behind" in comment else 1)
    assert _kinds(design)["switch"] == 2


def test_the_switch_of_the_storage_is_no_server() -> None:
    """A list of cables says what a device is by its name alone."""
    head = "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name\n"
    row = "{},dcim.interface,p1,{},dcim.interface,p2\n"
    rows = [("storage_leaves-0", "NFS-datastore"), ("storage_leaves-0", "compute-1"), ("storage-spine1", "core")]
    design = read_bytes((head + "".join(row.format(a, b) for a, b in rows)).encode()).design
    switches = {part.name for part in design.parts.values() if part.kind == "switch"}
    assert switches == {"storage_leaves-0", "storage-spine1", "core"}


def test_compute_nodes_are_servers_on_the_fabric_of_their_domain() -> None:
    """Two nodes of four GPUs in one domain, one of two in another."""
    nodes = [
        {
            "Name": f"node{k}",
            "DomainUUID": domain,
            "GpuIDList": [f"{k}-{n}" for n in range(gpus)],
            "Health": "HEALTHY",
            "LocationInfo": {"ChassisID": 1, "SlotID": k},
        }
        for k, (domain, gpus) in enumerate([("x", 4), ("x", 4), ("y", 2)])
    ]
    imported = read_bytes(json.dumps(nodes).encode())
    design = imported.design
    assert _kinds(design) == {"server": 3, "gpu": 10, "nvswitch": 2}
    joined = Counter(link.b for link in design.links.values())
    assert sorted(joined.values()) == [2, 8]
    assert "IMP-ASSUMED-LINK" in {finding.code for finding in imported.findings}
    assert next(p for p in design.parts.values() if p.name == "node2").attributes["SlotID"] == "2"
