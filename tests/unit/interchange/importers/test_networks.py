"""Descriptions of networks: lists of cables, UFM, SimGrid, draw.io."""

from __future__ import annotations

import base64
import json
import urllib.parse
import xml.etree.ElementTree as ET
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from designer.design.document import Design
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.findings import Finding
from designer.interchange.exporting import write_design
from designer.interchange.importing import read_any, read_bytes
from designer.interchange.templates import open_design

# Topology files of ibdiagnet, cable plans with indented comments, and compute nodes of NetQ.

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


# Links of UFM: shapes of its REST API, version 6.20.


def link(a: str, b: str, ports: tuple[str, str] = ("5", "5"), **more: Any) -> dict[str, Any]:
    guids = {name: f"{sum(name.split(':')[0].encode()):016x}" for name in (a, b)}
    return {
        "source_guid": guids[a],
        "source_port": ports[0],
        "destination_guid": guids[b],
        "destination_port": ports[1],
        "source_port_dname": "1/3/1",
        "destination_port_dname": ports[1],
        "width": "4x",
        "severity": "Info",
        "source_port_node_description": a,
        "destination_port_node_description": b,
        **more,
    }


def test_switches_hosts_and_cables() -> None:
    """Two switches with two cables, one of them listed from both ends; a host with two adapters; SHARP inside."""
    text = json.dumps(
        [
            link("leaf:1/3/1", "spine:1/3/1"),
            link("spine:1/3/1", "leaf:1/3/1"),
            link("leaf:1/3/2", "spine:1/3/2", ("6", "6"), severity="Warning"),
            link("leaf:1/1/1", "node07 mlx5_0", ("1", "1"), speed="NDR"),
            link("leaf:1/1/2", "node07 mlx5_1", ("2", "1"), cable_info={"speed": "NDR"}),
            link("leaf:41", "Mellanox Technologies Aggregation Node", ("41", "1")),
        ]
    )
    found = read_bytes(text.encode())
    parts = found.design.parts
    kinds = [p.kind for p in parts.values()]
    assert (kinds.count("switch"), kinds.count("server"), kinds.count("nic")) == (2, 1, 2)
    rates = sorted(str(li.bandwidth_per_direction) for li in found.design.links.values())
    # four lanes of 100 Gb/s are 50 GB/s; between switches the file states no generation
    assert rates == ["50 GB/s", "50 GB/s", "None", "None"]
    assert any(li.attributes.get("severity") == "Warning" for li in found.design.links.values())
    assert {"IMP-AGGREGATION", "IMP-ASSUMED-RATE"} <= {f.code for f in found.findings}


def test_hosts_may_stand_by_their_name_alone() -> None:
    design = read_bytes(json.dumps([link("leaf:1", "storage-7", ("1", "1"))]).encode()).design
    assert [p.label for p in design.parts.values() if p.kind == "server"] == ["storage-7"]


@pytest.mark.parametrize(
    "content", [[], [{"source_port_node_description": "a:1"}], {"source_port_node_description": 1}]
)
def test_without_cables_it_is_refused(content: Any) -> None:
    with pytest.raises(ExchangeError, match="two ends"):
        read_bytes(json.dumps(content).encode(), "ufm")


# SimGrid platforms: cabinets and host links of cluster zones, and what a property lists.

#: two clusters of three cabinets of ten hosts, as in the meta cluster of the SimGrid examples
CABINETS = """<?xml version='1.0'?>
<platform version="4">
<AS id="AS0" routing="Full">
  <AS id="c1" routing="Cluster">
    <cabinet id="cabinet1" prefix="host-" suffix=".c1" speed="1Gf" bw="125MBps" lat="100us" radical="1-10"/>
    <cabinet id="cabinet2" prefix="host-" suffix=".c1" speed="1Gf" bw="125MBps" lat="100us" radical="11-30"/>
    <router id="router1"/>
    <backbone id="backbone1" bandwidth="2.25GBps" latency="500us"/>
  </AS>
  <AS id="c2" routing="Cluster">
    <cabinet id="cabinet1" prefix="host-" suffix=".c2" speed="1Gf" bw="125MBps" lat="100us" radical="1-30"/>
    <router id="router2"/>
  </AS>
  <link id="link1-2" bandwidth="2.25GBps" latency="500us"/>
  <ASroute src="c1" dst="c2" gw_src="router1" gw_dst="router2"><link_ctn id="link1-2"/></ASroute>
</AS>
</platform>
"""


HOST_LINKS = """<platform version="4">
<zone id="c1" routing="Cluster">
  <router id="router1"/>
  <host id="host1" speed="1Gf"/>
  <link id="l1_UP" bandwidth="125MBps" latency="100us"/>
  <link id="l1_DOWN" bandwidth="100MBps" latency="100us"/>
  <host_link id="host1" up="l1_UP" down="l1_DOWN"/>
  <host id="host2" speed="1Gf"/>
  <link id="l2" bandwidth="125MBps" latency="100us" sharing_policy="FULLDUPLEX"/>
  <host_link id="host2" up="l2_UP" down="l2_DOWN"/>
  <host id="host3" speed="1Gf"/>
  <link id="l3" bandwidth="125MBps" latency="100us"/>
  <host_link id="host3" up="l3" down="l3"/>
</zone>
</platform>
"""


def test_every_host_of_a_cabinet_is_read() -> None:
    """Ten and twenty hosts of one cluster, thirty of the other: 60, each with one cable to its router."""
    design = read_bytes(CABINETS.encode()).design
    assert _kinds(design) == {"server": 60, "nic": 60, "switch": 2}
    assert Counter(raw_rate(link)[0] for link in design.links.values()) == {125e6: 60, 2.25e9: 1}
    router = next(part for part in design.parts.values() if part.name == "router1")
    assert router.overrides["bandwidth_per_direction"].value == "2.25 GB/s"
    assert sum(part.attributes.get("cabinet") == "cabinet2" for part in design.parts.values()) == 20


def test_hosts_of_a_cluster_zone_hang_on_their_own_links() -> None:
    """Two links of one host count once, at the slower rate; one link may be both ways of a host."""
    design = read_bytes(HOST_LINKS.encode()).design
    assert _kinds(design) == {"server": 3, "nic": 3, "switch": 1}
    assert sorted(raw_rate(link)[0] for link in design.links.values()) == [100e6, 125e6, 125e6]


def test_a_host_link_to_nothing_is_refused_with_its_line() -> None:
    with pytest.raises(ExchangeError, match="not there") as refusal:
        read_bytes(HOST_LINKS.replace('down="l3"', 'down="l4"').encode())
    assert refusal.value.place == "line 13"


def test_hosts_of_a_kind_that_is_not_read_are_counted() -> None:
    text = HOST_LINKS.replace("</zone>", '<peer id="p1" speed="1Gf" bw_in="1MBps" bw_out="1MBps" lat="1ms"/></zone>')
    (finding,) = [f for f in read_bytes(text.encode()).findings if f.code == "IMP-KIND"]
    assert "1 <peer>" in finding.text


@pytest.mark.parametrize("listed", ["", "9 x 1e9Bps infiniband", "1 x 1e400Bps ethernet", "x", "2 x 1e9Bps copper"])
def test_a_list_of_cables_that_is_not_the_link_counts_for_nothing(listed: str) -> None:
    text = f"""<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
    <link id="l" bandwidth="2GBps" latency="1us"><prop id="cables" value="{listed}"/></link>
    <route src="a" dst="b"><link_ctn id="l"/></route></zone></platform>"""
    links = list(read_bytes(text.encode()).design.links.values())
    assert [(link.count, raw_rate(link)[0], link.kind) for link in links] == [(1, 2e9, "fabric")]


# draw.io diagrams back: whole as they were written, with what was changed in them, and by their shapes alone.


def written(template: str, tmp_path: Path) -> ET.Element:
    write_design(open_design(template), "drawio", tmp_path / "x.drawio")
    return ET.parse(tmp_path / "x.drawio").getroot()


def back(root: ET.Element) -> tuple[Design, tuple[Finding, ...]]:
    imported = read_bytes(ET.tostring(root))
    return imported.design, tuple(imported.findings)


def find(root: ET.Element, path: str) -> ET.Element:
    return next(o for o in root.iter("object") if o.get("path") == path)


def drop(root: ET.Element, gone: ET.Element) -> None:
    cells = next(root.iter("root"))
    cells.remove(gone)


@pytest.mark.parametrize("template", ["hgx-h100-8", "su-h100-32", "cluster-98304", "vsphere-cluster-4"])
def test_what_was_written_comes_back_whole(template: str, tmp_path: Path) -> None:
    write_design(open_design(template), "drawio", tmp_path / "x.drawio")
    assert read_any(tmp_path / "x.drawio").design == open_design(template)


def test_changes_made_in_the_diagram_are_done(tmp_path: Path) -> None:
    root = written("hgx-h100-8", tmp_path)
    before = open_design("hgx-h100-8")
    gone, renamed, moved = find(root, "nic7"), find(root, "gpu3"), find(root, "gpu5")
    drop(root, gone)
    renamed.set("label", "<b>my &lt;GPU&gt;</b><br><font>H100</font>")
    moved[0][0].set("x", "-1000")
    moved[0][0].set("y", "2000")
    design, findings = back(root)
    assert design.parts.keys() == before.parts.keys() - {"nic7"}
    assert not any("nic7" in (link.a, link.b) for link in design.links.values())
    assert design.parts["gpu3"].name == "my <GPU>"
    place = design.parts["gpu5"].position
    assert place is not None
    assert (place.x, place.y) == (-1000, 2000)
    assert design.parts["gpu4"] == before.parts["gpu4"]
    assert any(f.code == "IMP-DRAWN" for f in findings)


def test_a_group_is_repeated_as_its_label_says(tmp_path: Path) -> None:
    """The label states how often: 32 servers become 16, half the GPUs."""
    root = written("su-h100-32", tmp_path)
    servers = next(o for o in root.iter("object") if o.get("replicas") == "32")
    servers.set("label", servers.get("label", "").replace("× 32", "× 16"))
    design, _ = back(root)
    assert design.groups["servers"].replicas == 16


def test_new_shapes_and_connections_are_drawn_or_refused_with_the_reason(tmp_path: Path) -> None:
    root = written("hgx-h100-8", tmp_path)
    cells = next(root.iter("root"))
    server = find(root, "gpu0")[0].get("parent", "")
    nic = ET.SubElement(cells, "object", {"id": "n1", "label": "new NIC", "kind": "nic"})
    ET.SubElement(ET.SubElement(nic, "mxCell", {"vertex": "1", "parent": server}), "mxGeometry", {"x": "8", "y": "8"})
    for number, (a, b, kind) in enumerate((("psw0", "n1", "pcie"), ("gpu0", "gpu1", "pcie"))):
        ends = {"source": find(root, a).get("id", ""), "target": "n1" if b == "n1" else find(root, b).get("id", "")}
        edge = ET.SubElement(cells, "object", {"id": f"e{number}", "label": "", "kind": kind})
        ET.SubElement(edge, "mxCell", {"edge": "1", "parent": "1", **ends})
    ET.SubElement(cells, "mxCell", {"id": "doodle", "value": "a note", "vertex": "1", "parent": "1"})
    design, findings = back(root)
    (new,) = [p for p in design.parts.values() if p.name == "new NIC"]
    assert any({link.a, link.b} == {"psw0", new.id} for link in design.links.values())
    (lost,) = [f for f in findings if f.code == "IMP-DRAWN-LOST"]
    assert "gpu0 to gpu1" in lost.text
    assert any(f.code == "IMP-KIND" and f.text.startswith("1 ") for f in findings)


def test_compressed_diagrams_are_opened(tmp_path: Path) -> None:
    root = written("dgx-a100", tmp_path)
    page = next(root.iter("diagram"))
    inner = urllib.parse.quote(ET.tostring(page[0], encoding="unicode"))
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    page.text = base64.b64encode(packer.compress(inner.encode()) + packer.flush()).decode()
    page.remove(page[0])
    assert back(root)[0] == open_design("dgx-a100")


def test_shapes_with_kinds_are_enough(tmp_path: Path) -> None:
    """Without the design the shapes state what they hold: 8 GPUs, and links with their number and rate."""
    root = written("hgx-h100-8", tmp_path)
    drop(root, next(o for o in root.iter("object") if o.get("id") == "designer"))
    design, _ = back(root)
    before = open_design("hgx-h100-8")
    kinds = [p.kind for p in design.parts.values()]
    assert kinds.count("gpu") == 8
    nvlinks = [li for li in design.links.values() if li.kind == "nvlink"]
    assert sum(li.count for li in nvlinks) == sum(li.count for li in before.links.values() if li.kind == "nvlink")
    assert {str(li.bandwidth_per_direction) for li in nvlinks} == {"25 GB/s"}


def bomb() -> str:
    return base64.b64encode(zlib.compress(b"0" * 400_000_000, 9)).decode()


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ('<mxCell id="2" value="a box" vertex="1" parent="1"/>', "no machine"),
        ('<object id="designer" document0="AAAA"><mxCell vertex="1"/></object>', "damaged"),
        ('<object id="designer" document0="eJyrrgUAAXUA+Q=="><mxCell vertex="1"/></object>', "another version"),
    ],
)
def test_pictures_and_damaged_files_are_refused(body: str, what: str) -> None:
    with pytest.raises(ExchangeError, match=what):
        read_bytes(f"<mxGraphModel><root>{body}</root></mxGraphModel>".encode())


def test_what_unpacks_to_too_much_is_refused() -> None:
    text = bomb()
    chunks = " ".join(f'document{k}="{text[at : at + 60_000]}"' for k, at in enumerate(range(0, len(text), 60_000)))
    body = f'<object id="designer" {chunks}><mxCell vertex="1"/></object>'
    with pytest.raises(ExchangeError, match="larger than any design"):
        read_bytes(f"<mxGraphModel><root>{body}</root></mxGraphModel>".encode())
