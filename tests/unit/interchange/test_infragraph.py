"""InfraGraph documents, written and read."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from designer.design.document import Design, Link, Part
from designer.design.elaborate import elaborate
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.interchange.exporting import write_design
from designer.interchange.importing import read_any
from designer.interchange.templates import open_design

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
