"""NCCL topology files written and read back."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from designer.design.document import Design, Link, Part
from designer.design.elaborate import elaborate
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.interchange.exporting import ExportOptions, write_design
from designer.interchange.importing import read_any
from designer.interchange.templates import open_design

KINDS = ("gpu", "nic", "nvswitch", "pcie_switch", "drive")
LINKS = ("pcie", "nvlink", "xgmi", "c2c")


def shape(design: Design) -> tuple[Counter[str], Counter[tuple[str, str, str, str]]]:
    """Parts by kind, and links by what they join, kind and rate; CPUs and NUMA domains count as hosts."""
    net = elaborate(design)
    names = {"numa": "host", "cpu": "host", "dpu": "nic"}
    kinds = [names.get(net.part(i).kind, net.part(i).kind) for i in range(net.n_parts)]
    links: Counter[tuple[str, str, str, str]] = Counter()
    for a, b, number in zip(net.link_a.tolist(), net.link_b.tolist(), net.link_def.tolist(), strict=True):
        link = net.link_defs[number]
        ends = sorted((kinds[a], kinds[b]))
        if link.kind in LINKS and ends != ["host", "host"]:
            links[ends[0], ends[1], link.kind, f"{raw_rate(link)[0]:.4g}"] += link.count
    return Counter({kind: kinds.count(kind) for kind in KINDS}), links


def written(design: Design, tmp_path: Path, **options: object) -> bytes:
    path = tmp_path / "x.topo.xml"
    write_design(design, "nccl-topology", path, ExportOptions(**options))  # type: ignore[arg-type]
    return path.read_bytes()


@pytest.mark.parametrize(
    "template", ["hgx-h100-8", "dgx-a100", "azure-ndv4-a100", "gb200-tray", "mi250x-16gcd", "hpe-xl645d-gen10plus"]
)
def test_a_server_read_back_has_the_same_parts_and_rates(template: str, tmp_path: Path) -> None:
    design = open_design(template)
    assert shape(read_any(written(design, tmp_path)).design) == shape(design)


@pytest.mark.parametrize(
    "name",
    ["oci_bm_gpu_h100_8.xml", "h800_8gpu_8ib.xml", "rccl_topo_8p6l_2nic.xml", "gb10_dgx_spark_hand_trimmed.xml"],
)
def test_a_real_dump_written_again_keeps_bus_ids_parts_and_rates(name: str, real: Path, tmp_path: Path) -> None:
    path = real / "nccl_xml" / name
    design = read_any(path).design
    data = written(design, tmp_path)
    assert shape(read_any(data).design) == shape(design)

    def busids(text: bytes) -> set[str]:
        gpus = [e for e in ET.fromstring(text).iter("pci") if e.find("gpu") is not None]
        return {e.get("busid", "").lower() for e in gpus}

    assert busids(data) == busids(path.read_bytes().lstrip())


def test_one_server_of_a_cluster_is_chosen_and_the_note_says_so(tmp_path: Path) -> None:
    """A scalable unit has 32 servers of eight GPUs: one file is of one of them."""
    path = tmp_path / "x.topo.xml"
    notes = write_design(open_design("su-h100-32"), None, path, ExportOptions(chosen=frozenset({"servers[3]"})))
    text = path.read_text("utf-8")
    assert text.startswith("<!-- draft for servers[3]/server:")
    assert len(list(ET.fromstring(text).iter("gpu"))) == 8
    assert "of the 32 servers" in notes[-1]
    with pytest.raises(ExchangeError, match="no server with GPUs"):
        write_design(open_design("su-h100-32"), None, path, ExportOptions(chosen=frozenset({"spines"})))


def test_a_family_beyond_fifteen_is_told_as_nccl_prints_it(tmp_path: Path) -> None:
    """EPYC of family 25: 15 + (25 − 15) × 16 = 175; Xeon of family 6 stays 6."""
    cpu = ET.fromstring(written(open_design("dgx-a100"), tmp_path)).find("cpu")
    assert cpu is not None
    assert (cpu.get("vendor"), cpu.get("familyid")) == ("AuthenticAMD", "143")  # Rome is family 23: 15 + 8 × 16
    cpu = ET.fromstring(written(open_design("hgx-h100-8"), tmp_path)).find("cpu")
    assert cpu is not None
    assert (cpu.get("vendor"), cpu.get("familyid"), cpu.get("modelid")) == ("GenuineIntel", "6", "143")


def test_hostile_names_are_escaped(tmp_path: Path) -> None:
    name = '"><script>--> x\n'
    parts = [
        Part(id="s", kind="server", name=name),
        Part(id="c", kind="cpu", parent="s"),
        Part(id="g", kind="gpu", parent="s", name=name),
        Part(id="n", kind="nic", parent="s", name=name),
    ]
    links = [Link(id=i, a="c", b=i, kind="pcie", generation=4, lanes=16) for i in "gn"]
    design = Design(name="x", title=name, parts={p.id: p for p in parts}, links={x.id: x for x in links})
    text = written(design, tmp_path)
    assert b"<script" not in text
    assert shape(read_any(text).design)[0]["nic"] == 1


def test_what_has_no_tree_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExchangeError, match="no GPU"):
        written(Design(name="x", parts={"c": Part(id="c", kind="cpu")}), tmp_path)
    with pytest.raises(ExchangeError, match="no CPU"):
        written(Design(name="x", parts={"g": Part(id="g", kind="gpu")}), tmp_path)
