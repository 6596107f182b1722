"""Dumps of real machines against counts made by an independent scanner."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from designer.catalog.parttype import fitting_links
from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.errors import ExchangeError
from designer.interchange.foreign.importer import Imported
from designer.interchange.importing import read_any
from designer.interchange.native.writer import dumps
from designer.sources import Status
from tests.real import real_files, real_folder

pytestmark = pytest.mark.real

REFUSED = {
    "azure_ncv4_graphs_NOT_A_TOPOLOGY.xml": "rings and trees, not hardware",
    "p2p_matrix_NOT_topo_m.txt": "topo -p2p",
}
#: files without NIC-class endpoints whose NICs are described another way, and how many
NICS_BY_OTHER_MEANS = {
    "a6000_nvlink_fused_nic_one_rank.xml": 1,  # fused RDMA ports below <cpu>
    "aws_p5_48xl.xml": 32,  # leaves without a class
    "gb10_dgx_spark_hand_trimmed.xml": 2,  # <net> below a <pci> without a class
}
FILES = [p for p in real_files("nccl_xml/*", "hwloc_xml/*", "nvidia_smi_topo/*") if p.name not in REFUSED]


@cache
def _imported(path: Path) -> Imported:
    return read_any(path)


def _truth(path: Path) -> Mapping[str, Any]:
    folder = real_folder()
    assert folder is not None
    return json.loads((folder / "truth.json").read_text("utf-8"))[f"{path.parent.name}/{path.name}"]["counts"]


def _kinds(design: Design) -> Counter[str]:
    return Counter(part.kind for part in design.parts.values())


def _links(design: Design, *kinds: str) -> int:
    return sum(link.count for link in design.links.values() if link.kind in kinds)


def _name(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", [p for p in FILES if p.parent.name == "nccl_xml"], ids=_name)
def test_nccl_counts(path: Path) -> None:
    design, truth = _imported(path).design, _truth(path)
    kinds = _kinds(design)
    assert kinds["numa"] == truth["cpus"]
    assert kinds["pcie_switch"] == truth["pci_switches_or_bridges"]
    assert kinds["gpu"] == max(truth["gpu_endpoints"], truth["gpu_elements"])
    assert kinds["nic"] == (truth["nic_endpoints"] or NICS_BY_OTHER_MEANS.get(path.name, 0))
    assert kinds["nvswitch"] == truth.get("nvswitches", 0)
    # Both ends of an xGMI link list it.
    assert 2 * _links(design, "xgmi") == truth.get("xgmi_listed", 0)
    if "nvswitches" in truth:
        assert _links(design, "nvlink") == truth["nvlink_links_listed"]


@pytest.mark.parametrize("path", [p for p in FILES if p.parent.name == "hwloc_xml"], ids=_name)
def test_hwloc_counts(path: Path) -> None:
    design, truth = _imported(path).design, _truth(path)
    kinds = _kinds(design)
    assert kinds["cpu"] == truth["Package"]
    assert kinds["numa"] == truth["NUMANode"]
    bridges = path.read_text("utf-8").count('bridge_type="1-1"')
    assert kinds["pcie_switch"] == bridges
    cores = sum(int(p.overrides["cores"].value) for p in design.parts.values() if p.kind == "cpu")
    assert cores == truth["Core"]
    quiet = {f.code for f in _imported(path).findings}
    assert ("IMP-NO-IO" in quiet) == ("Bridge" not in truth and "PCIDev" not in truth)


@pytest.mark.parametrize("path", [p for p in FILES if p.parent.name == "nvidia_smi_topo"], ids=_name)
def test_matrix_counts(path: Path) -> None:
    design, truth = _imported(path).design, _truth(path)
    kinds = _kinds(design)
    assert (kinds["gpu"], kinds["nic"]) == (truth["gpus"], truth["nics"])
    pairs = {name: n for name, n in truth["gpu_pairs"].items() if name.startswith("NV")}
    if kinds["nvswitch"]:
        (name,) = pairs
        assert _links(design, "nvlink") == truth["gpus"] * int(name[2:])
    else:
        assert _links(design, "nvlink") == sum(int(name[2:]) * n for name, n in pairs.items())
    if "SYS" in truth["gpu_pairs"] or "SOC" in truth["gpu_pairs"]:
        assert kinds["numa"] > 1


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_design_is_whole(path: Path) -> None:
    imported = _imported(path)
    design = imported.design
    assert elaborate(design).n_parts == len(design.parts)
    assert "written_by" in dumps(design)
    for link in design.links.values():
        assert link.kind in fitting_links(design.parts[link.a].kind, design.parts[link.b].kind)
    if design.default_workload:
        assert design.default_workload in design.workloads


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_what_is_assumed_is_reported(path: Path) -> None:
    imported = _imported(path)
    stated = {where for finding in imported.findings for where in finding.where}
    for link in imported.design.links.values():
        if link.status is Status.ASSUMED and link.note != "on the die":
            assert link.id in stated, link


@pytest.mark.parametrize("path", real_files(*(f"*/{name}" for name in REFUSED)), ids=_name)
def test_other_files_are_refused_with_the_reason(path: Path) -> None:
    with pytest.raises(ExchangeError, match=REFUSED[path.name]):
        read_any(path)


@pytest.mark.parametrize(
    ("old", "new"), [("dgx2_16v100_v2.xml", "dgx2_16v100_v3.xml"), ("xeon_manyVFs_v1.xml", "xeon_manyVFs_v2.xml")]
)
def test_hwloc_versions_give_the_same_graph(real: Path, old: str, new: str) -> None:
    a, b = (_imported(real / "hwloc_xml" / name).design for name in (old, new))
    assert {p.id: (p.kind, p.type, p.name) for p in a.parts.values()} == {
        p.id: (p.kind, p.type, p.name) for p in b.parts.values()
    }
    assert {k: (v.kind, v.a, v.b, v.count, v.bandwidth_per_direction) for k, v in a.links.items()} == {
        k: (v.kind, v.a, v.b, v.count, v.bandwidth_per_direction) for k, v in b.links.items()
    }


def test_nvlink_of_special_machines(real: Path) -> None:
    dgx2 = _imported(real / "hwloc_xml" / "dgx2_16v100_v2.xml").design
    assert _kinds(dgx2)["gpu"] == 16
    assert _kinds(dgx2)["nvswitch"] == 12
    to_gpus = [v for v in dgx2.links.values() if v.kind == "nvlink" and "gpu" in v.a + v.b]
    assert sum(v.count for v in to_gpus) == 16 * 6
    power8 = _imported(real / "hwloc_xml" / "power8_4p100_nvlink_v3.xml").design
    assert _kinds(power8)["gpu"] == 4
    assert _links(power8, "nvlink") == 2 + 2 + 4 * 2
    assert "IMP-SLOW-UPLINK" in {f.code for f in _imported(real / "nccl_xml" / "oci_bm_gpu_h100_8.xml").findings}


OTHERS = {
    "astrasim/*.json": "ASTRA-sim",
    "hf_config/*.json": "config.json of a model",
    "simai/SimAI.conf": "ns-3 backend of SimAI",
    "simai/busbw.yaml": "bus bandwidths",
}


@pytest.mark.parametrize(("pattern", "name"), OTHERS.items())
def test_other_formats_are_named(real: Path, pattern: str, name: str) -> None:
    files = sorted(real.glob(pattern))
    assert files
    for path in files:
        with pytest.raises(ExchangeError) as refusal:
            read_any(path)
        assert re.search(name, refusal.value.text), (path.name, refusal.value.text)
