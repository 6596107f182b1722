"""Networks and traces written for other programs, read back by their readers."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from designer.design.document import Design, Link, Part
from designer.design.elaborate import elaborate
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.interchange.exporting import write_design
from designer.interchange.generating import generate
from designer.interchange.importing import read_any
from designer.interchange.network_view import network_view
from designer.interchange.templates import open_design

# Networks written for other programs, read back by their readers.

FORMATS = {
    "dot": ".dot",
    "mermaid": ".mmd",
    "slurm-topology": ".conf",
    "ibdiagnet": ".topo",
    "port-list": ".ports.csv",
    "simgrid": ".simgrid.xml",
    "node-labels": ".labels.yaml",
}


HOSTILE = (
    "<script>alert(1)</script>",
    "a\"b'c\\",
    "line\nbreak\r\n]];}",
    "=cmd()|' /C calc'!A0",
    "x" * 10_000,
    "\u202egnirts\u202c",
    "🚀 rack",
    "../../etc/passwd",
    "#{x}; --> y",
    "",
    "a]b[c",
    "{{ jinja }} ${x}",
)


def _pod() -> Design:
    return generate("rail-optimized", {"nodes": "8", "unit": "4", "rails": "2", "ports": "8", "gpus": "2"})


def _written(design: Design, name: str, tmp_path: Path) -> str:
    path = tmp_path / f"x{FORMATS.get(name, '.txt')}"
    write_design(design, name, path)
    return path.read_text("utf-8")


def _rates(design: Design) -> Counter[float]:
    return Counter({c.rate: 0 for c in network_view(design).cables}) + Counter(
        c.rate for c in network_view(design).singles()
    )


def test_a_cable_plan_read_back_has_the_same_cables(tmp_path: Path) -> None:
    """8 servers × 2 rails = 16 cables down, 16 up."""
    design = _pod()
    back = read_any(_written(design, "dot", tmp_path).encode()).design
    assert _rates(back) == _rates(design) == {50e9: 32}
    kinds = Counter(p.kind for p in back.parts.values())
    assert (kinds["server"], kinds["nic"], kinds["switch"]) == (8, 16, network_view(design).nodes.__len__() - 8)


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("hostile", [False, True])
def test_graphviz_finds_every_port(hostile: bool, tmp_path: Path) -> None:
    """Each end of a cable is a field of its box: Graphviz warns of a port that it cannot find."""
    design = _hostile() if hostile else _pod()
    _written(design, "dot", tmp_path)
    (file,) = tmp_path.glob("*.dot")
    ran = subprocess.run(["dot", "-Tcanon", str(file)], capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    drawn = subprocess.run(["dot", "-Tsvg", str(file)], capture_output=True, text=True, check=False, timeout=60)
    assert (drawn.returncode, drawn.stderr) == (0, "")


def test_a_slurm_tree_read_back_has_every_node_once(tmp_path: Path) -> None:
    """Two units of four servers, their two rails one leaf each, all spines one switch above."""
    text = _written(_pod(), "slurm-topology", tmp_path)
    assert len(re.findall(r"^SwitchName=", text, re.MULTILINE)) == 3
    back = read_any(text.encode()).design
    assert Counter(p.kind for p in back.parts.values())["server"] == 8


def test_the_port_list_names_both_ends_of_every_cable(tmp_path: Path) -> None:
    rows = list(csv.DictReader(_written(_pod(), "port-list", tmp_path).splitlines()))
    assert len(rows) == 2 * 32
    seen = Counter((r["device"], r["port"]) for r in rows)
    assert set(seen.values()) == {1}
    assert {(r["far device"], r["far port"]) for r in rows} == set(seen)


def test_a_simgrid_platform_has_every_host_router_and_route(tmp_path: Path) -> None:
    root = ET.fromstring(_written(_pod(), "simgrid", tmp_path))
    found = Counter(e.tag for e in root.iter())
    view = network_view(_pod())
    assert found["host"] == 8
    assert found["router"] == len(view.nodes) - 8
    assert found["link"] == len(view.cables)  # no two servers or switches are joined by two bundles here
    assert found["route"] == 2 * len(view.cables)


def test_a_simgrid_platform_read_back_has_the_same_cables(tmp_path: Path) -> None:
    design = _pod()
    back = read_any(_written(design, "simgrid", tmp_path).encode()).design
    kinds = Counter(p.kind for p in back.parts.values())
    assert kinds["server"] == 8
    assert kinds["switch"] == len(network_view(design).nodes) - 8
    assert sum(c.rate * c.count for c in network_view(back).cables) == 32 * 50e9


def test_bundles_between_the_same_two_nodes_are_one_link_and_come_back_apart(tmp_path: Path) -> None:
    """A switch and a storage system on two cables of 400 Gb/s and one of 100: 2 × 50 + 12.5 = 112.5 GB/s in SimGrid."""
    parts = [Part(id="s", kind="switch"), Part(id="store", kind="storage", name="Store")]
    links = [
        Link(id="a", a="s", b="store", kind="infiniband", count=2, bandwidth_per_direction="400 Gb/s"),
        Link(id="b", a="s", b="store", kind="ethernet", bandwidth_per_direction="100 Gb/s"),
    ]
    design = Design(name="x", parts={p.id: p for p in parts}, links={x.id: x for x in links})
    text = _written(design, "simgrid", tmp_path)
    (link,) = [e for e in ET.fromstring(text).iter() if e.tag == "link"]
    assert link.get("bandwidth") == "112500000000Bps"
    back = read_any(text.encode()).design
    assert sorted((p.kind, p.name) for p in back.parts.values()) == [("storage", "Store"), ("switch", "s")]
    view = network_view(back)
    assert sorted((c.kind, c.count, c.rate) for c in view.cables) == [("ethernet", 1, 12.5e9), ("infiniband", 2, 50e9)]


def test_a_topo_file_lists_each_cable_under_both_systems(tmp_path: Path) -> None:
    lines = re.findall(r"^   \S+ -4x-(\S+)G-> \S+ \S+ \S+$", _written(_pod(), "ibdiagnet", tmp_path), re.MULTILINE)
    assert lines == ["100"] * 64


def test_astra_sim_read_back_has_the_gpus_and_rates(tmp_path: Path) -> None:
    """Two GPUs with 18 links of 25 GB/s each; two cables of 50 GB/s for two GPUs are 50 GB/s each."""
    path = tmp_path / "x.astra.yml"
    write_design(_pod(), None, path)
    back = read_any(path).design
    assert Counter(p.kind for p in back.parts.values())["gpu"] == 16
    numbers = re.search(r"bandwidth: \[ (\S+), (\S+) \]", path.read_text())
    assert numbers is not None
    assert float(numbers[1]) * 2**30 == pytest.approx(18 * 25e9)
    assert float(numbers[2]) * 2**30 == pytest.approx(50e9)


def _hostile() -> Design:
    parts = [Part(id=f"s{i}", kind="switch", name=name) for i, name in enumerate(HOSTILE)]
    links = [
        Link(id=f"l{i}", a=f"s{i}", b=f"s{i + 1}", kind="infiniband", bandwidth_per_direction="400 Gb/s")
        for i in range(len(HOSTILE) - 1)
    ]
    parts += [Part(id="h", kind="server", name=HOSTILE[0]), Part(id="n", kind="nic", parent="h")]
    links.append(Link(id="up", a="n", b="s0", kind="infiniband", bandwidth_per_direction="400 Gb/s"))
    return Design(name="x", title=HOSTILE[2], parts={p.id: p for p in parts}, links={x.id: x for x in links})


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_names_change_nothing(name: str, tmp_path: Path) -> None:
    design = _hostile()
    text = _written(design, name, tmp_path)
    assert "<script>" not in text or name in ("dot", "port-list")
    assert "\u202e" not in text
    assert max(map(len, text.splitlines())) < 2000
    if name == "dot":
        assert len(read_any(text.encode()).design.links) == len(design.links)
    if name == "port-list":
        cells = [cell for row in csv.reader(text.splitlines()) for cell in row]
        assert not any(cell[:1] in "=+-@" for cell in cells if cell)
    if name == "simgrid":
        ET.fromstring(text)
    if name == "slurm-topology":
        assert Counter(p.kind for p in read_any(text.encode()).design.parts.values())["switch"] >= 1
    assert elaborate(design).n_parts == len(design.parts)


@pytest.mark.parametrize("name", [*FORMATS, "astra-sim"])
def test_a_design_without_a_network_is_refused(name: str, tmp_path: Path) -> None:
    alone = Design(name="x", parts={"g": Part(id="g", kind="gpu")})
    with pytest.raises(ExchangeError, match="no network"):
        write_design(alone, name, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_graphml_read_back_has_every_part_link_and_rate(tmp_path: Path) -> None:
    from designer.design.rates import raw_rate

    design = _pod()
    write_design(design, "graphml", tmp_path / "x.graphml")
    back = read_any(tmp_path / "x.graphml").design
    net, again = elaborate(design), elaborate(back)
    assert (again.n_parts, again.n_links) == (net.n_parts, net.n_links)

    def rates(flat: object) -> Counter[tuple[str, int, float]]:
        assert isinstance(flat, type(net))
        found = [flat.link(i) for i in range(flat.n_links)]
        return Counter((link.kind, link.count, raw_rate(link)[0]) for link in found)

    assert rates(again) == rates(net)
    homes = [again.part(int(p)).kind for p in again.parent if p >= 0]
    assert set(homes) == {"server"}


def test_one_server_without_a_network_has_its_generic_resources(tmp_path: Path) -> None:
    """A server is a node, whatever it is joined to; its types stand apart, with devices counted on."""
    gpus = {"a": "gpu/nvidia/h100-sxm5", "b": "gpu/nvidia/h100-sxm5", "c": "gpu/nvidia/l40s"}
    parts = [Part(id="box", kind="server"), *(Part(id=k, kind="gpu", type=t, parent="box") for k, t in gpus.items())]
    gres = _written(Design(name="x", parts={p.id: p for p in parts}), "slurm-gres", tmp_path)
    assert "NodeName=box Name=gpu Type=h100-sxm5 File=/dev/nvidia[0-1]\n" in gres
    assert "NodeName=box Name=gpu Type=l40s File=/dev/nvidia2\n" in gres
    assert "#NodeName=box Gres=gpu:h100-sxm5:2,gpu:l40s:1" in gres


def test_drafts_for_jobs_name_the_gpus(tmp_path: Path) -> None:
    gres = _written(_pod(), "slurm-gres", tmp_path)
    assert "NodeName=servers-[0-7] Name=gpu File=/dev/nvidia[0-1]" in gres
    environment = _written(_pod(), "nccl-environment", tmp_path)
    assert "NCCL_CROSS_NIC=0" in environment
    assert "8 servers with 2 GPUs, about 2 cabled NICs each" in environment


# InfraGraph documents, written and read.

SERVER: dict[str, Any] = {
    "name": "box",
    "components": [
        {"name": "cpu", "count": 1, "choice": "cpu", "cpu": {}},
        {"name": "xpu", "count": 4, "choice": "xpu", "xpu": {}},
        {"name": "pciesw", "count": 1, "choice": "switch", "switch": {}, "description": "PCI Express switch"},
        {"name": "slot", "count": 1, "choice": "custom", "custom": {"type": "slot"}},
        {"name": "card", "count": 2, "choice": "device", "device": {}, "description": "NIC"},
    ],
    "links": [
        {
            "name": "pcie",
            "physical": {"bandwidth": {"choice": "gigatransfers_per_second", "gigatransfers_per_second": 32}},
        }
    ],
    "edges": [
        {"ep1": {"component": "cpu[0]"}, "ep2": {"component": "pciesw[0]"}, "scheme": "one2one", "link": "pcie"},
        {"ep1": {"component": "xpu[0:4]"}, "ep2": {"component": "pciesw[0]"}, "scheme": "many2many", "link": "pcie"},
        {"ep1": {"component": "xpu[:]"}, "ep2": {"component": "xpu"}, "scheme": "ring", "link": "nvlink"},
        {"ep1": {"component": "slot[0]"}, "ep2": {"component": "pciesw[0]"}, "scheme": "one2one", "link": "pcie"},
        {
            "ep1": {"device": "card[0:2]", "component": "bus[0]"},
            "ep2": {"component": "slot[0]"},
            "scheme": "many2many",
            "link": "pcie",
        },
    ],
}


CARD: dict[str, Any] = {
    "name": "card",
    "components": [
        {"name": "bus", "count": 1, "choice": "custom", "custom": {"type": "pcie"}},
        {"name": "port", "count": 1, "choice": "port", "port": {}},
    ],
    "links": [],
    "edges": [{"ep1": {"component": "bus[0]"}, "ep2": {"component": "port[0]"}, "scheme": "one2one", "link": "x"}],
}


SWITCH: dict[str, Any] = {
    "name": "sw",
    "components": [
        {"name": "asic", "count": 1, "choice": "cpu", "cpu": {}},
        {"name": "port", "count": 8, "choice": "port", "port": {}},
    ],
    "links": [],
    "edges": [{"ep1": {"component": "asic[0]"}, "ep2": {"component": "port"}, "scheme": "many2many", "link": "x"}],
}


CABLE = {"name": "eth", "physical": {"bandwidth": {"choice": "gigabits_per_second", "gigabits_per_second": 100}}}


WHOLE: dict[str, Any] = {
    "name": "two boxes",
    "devices": [SERVER, CARD, SWITCH],
    "links": [CABLE],
    "instances": [{"name": "host", "device": "box", "count": 2}, {"name": "leaf", "device": "sw", "count": 1}],
    "edges": [
        {
            "ep1": {"instance": "host[0:2]", "component": "card[0:2].port[0]"},
            "ep2": {"instance": "leaf[0]", "component": "port[0:4]"},
            "scheme": "one2one",
            "link": "eth",
        }
    ],
}


def counted(design: Design) -> tuple[Counter[str], Counter[tuple[str, ...]]]:
    """Parts by kind and type, links by what they join, kind and rate."""
    net = elaborate(design)
    kinds = [net.part(i).kind for i in range(net.n_parts)]
    links: Counter[tuple[str, ...]] = Counter()
    for a, b, number in zip(net.link_a.tolist(), net.link_b.tolist(), net.link_def.tolist(), strict=True):
        link = net.link_defs[number]
        links[(*sorted((kinds[a], kinds[b])), link.kind, f"{raw_rate(link)[0]:.9g}")] += link.count
    parts = Counter(
        f"{net.part(i).kind} {net.part(i).type}" for i in range(net.n_parts) if kinds[i] not in ("server", "rack")
    )
    return parts, links


@pytest.mark.parametrize("template", ["hgx-h100-8", "dgx-a100", "gb200-nvl72", "su-h100-32", "vsphere-cluster-4"])
def test_a_design_read_back_has_the_same_parts_and_links(template: str, tmp_path: Path) -> None:
    design = open_design(template)
    write_design(design, None, tmp_path / "x.infragraph.json")
    assert counted(read_any(tmp_path / "x.infragraph.json").design) == counted(design)


def test_equal_servers_are_one_device(tmp_path: Path) -> None:
    """A scalable unit: 32 servers of one kind; its leaves, spines and storage are few devices more."""
    write_design(open_design("su-h100-32"), "infragraph", tmp_path / "x.json")
    stated = json.loads((tmp_path / "x.json").read_text("utf-8"))
    assert {i["count"] for i in stated["instances"]} >= {32}
    assert len(stated["devices"]) <= 8
    names = [d["name"] for d in stated["devices"]]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_slices_schemes_cards_and_ports(form: str) -> None:
    """Two hosts of four GPUs in a ring and two cards behind one slot; four cables of 100 Gb/s to one switch."""
    import yaml

    text = json.dumps(WHOLE) if form == "json" else yaml.safe_dump(WHOLE)
    design = read_any(text.encode()).design
    parts, links = counted(design)
    assert {kind.strip(): n for kind, n in parts.items()} == {
        "cpu": 2,
        "gpu": 8,
        "pcie_switch": 2,
        "nic": 4,
        "switch": 1,
    }
    by_kind = Counter[tuple[str, str, str]]()
    for (a, b, kind, _), count in links.items():
        by_kind[a, b, kind] += count
    assert by_kind == {
        ("cpu", "pcie_switch", "pcie"): 2,
        ("gpu", "pcie_switch", "pcie"): 8,
        ("gpu", "gpu", "nvlink"): 8,
        ("nic", "pcie_switch", "pcie"): 4,
        ("nic", "switch", "ethernet"): 4,
    }
    assert {rate for (_, _, kind, rate) in links if kind == "ethernet"} == {"1.25e+10"}
    generations = {link.generation for link in design.links.values() if link.kind == "pcie"}
    assert generations == {5}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"instances": []}, "no devices with instances"),
        ({"instances": [{"name": "host", "device": "tower", "count": 1}]}, "'tower', which is not in the document"),
        ({"instances": [{"name": "host", "device": "box", "count": -1}]}, "is no count"),
        (
            {"instances": [{"name": "host", "device": "box", "count": 400_000}]},
            "unfold to more than 400,000 components",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ExchangeError, match=words):
        read_any(json.dumps({**WHOLE, **change}).encode())


def test_edges_to_nothing_are_told() -> None:
    edge = {**WHOLE["edges"][0], "ep2": {"instance": "leaf[7]", "component": "port[0]"}}
    found = read_any(json.dumps({**WHOLE, "edges": [edge]}).encode())
    assert [f.text for f in found.findings if f.code == "IMP-EDGES"] == ["1 edge to nothing that is a part: left out"]


def test_a_device_that_holds_itself_ends(tmp_path: Path) -> None:
    inner = {
        **CARD,
        "components": [*CARD["components"], {"name": "card", "count": 2, "choice": "device", "device": {}}],
    }
    design = read_any(json.dumps({**WHOLE, "devices": [SERVER, inner, SWITCH]}).encode()).design
    assert Counter(p.kind for p in design.parts.values())["nic"] == 4


def test_hostile_names_are_plain_names(tmp_path: Path) -> None:
    names = ("<script>", "a.b[0]", "x" * 5000, "\u202egnirts", "=cmd()", "")
    parts = [Part(id=f"s{i}", kind="switch", name=name) for i, name in enumerate(names)]
    links = [Link(id=f"l{i}", a=f"s{i}", b=f"s{i + 1}", kind="ethernet") for i in range(len(names) - 1)]
    design = Design(name="x", title=names[0], parts={p.id: p for p in parts}, links={x.id: x for x in links})
    write_design(design, "infragraph", tmp_path / "x.json")
    text = (tmp_path / "x.json").read_text("utf-8")
    assert "\u202e" not in text
    back = read_any(text.encode()).design
    assert Counter(p.kind for p in back.parts.values()) == {"switch": len(names)}
    assert len(back.links) == len(links)
