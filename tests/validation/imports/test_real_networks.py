"""Real descriptions of networks against the counts of an independent scanner."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from designer.design.elaborate import elaborate
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.findings import Severity
from designer.interchange.foreign.importer import Imported
from designer.interchange.importing import read_any
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import dumps

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("networks")]


@cache
def _read(path: Path) -> Imported:
    return read_any(path)


def _kinds(imported: Imported) -> Counter[str]:
    return Counter(part.kind for part in imported.design.parts.values())


def _codes(imported: Imported) -> set[str]:
    return {finding.code for finding in imported.findings}


#: file -> parts by kind and links, worked out from the scanner's counts as the comments say
COUNTS = {
    # 582 adapters of which 40 are aggregation nodes inside switches; 1114 links, 40 of them to those
    "cluster/ibnetdiscover_dgx_superpod.txt": ({"switch": 40, "nic": 542}, 1074),
    # 7 port lines with a peer: three cables from both ends and one from a single end
    "cluster/ibnetdiscover_p_ports.txt": ({"switch": 4, "nic": 3}, 4),
    # 6 active lines: three links seen twice
    "cluster/iblinkinfo_grep_up.txt": ({"switch": 1, "nic": 3}, 3),
    # each node once to its leaf, each switch but the root once to the one above
    "cluster/scontrol_topology_jupiter.txt": ({"switch": 394, "server": 5884}, 5884 + 393),
    "cluster/slurm_topology_tree_large.conf": ({"switch": 529, "server": 10_000}, 10_000 + 528),
    # three trees of their own: 7 switches less 3 roots
    "cluster/slurm_topology_disconnected.conf": ({"switch": 7, "server": 40}, 40 + 4),
    "cluster/slurm_topology_block.conf": ({"switch": 8, "server": 32}, 32),
    "cluster/topograph_slurm_tree_commented.conf": ({"switch": 19, "server": 96}, 96 + 18),
    # three described switches and four leaves that only the tree and the blocks name; two nodes a block
    "cluster/topograph_model_medium.yaml": ({"switch": 7, "server": 8}, 8 + 6),
    "cluster/topograph_model_nvl72.yaml": ({"switch": 7, "server": 72}, 72 + 6),
    # 59 edges of which 12 join a device to itself; 16 nodes
    "cluster/cumulus_ptm_topology.dot": ({"switch": 10, "server": 6}, 59 - 12),
    "cluster/netq_topology_graph.json": ({"switch": 3, "server": 8}, 79),
    # 108 cables: 26 from interface to interface, the others are counted in a finding
    "cluster/netbox_cables_fixture_v3.6.json": ({"switch": 26}, 26),
    # nodes less switches are GPUs; every link to the network gets a NIC and a PCIe link
    "simai/Rail_Opti_SingleToR_16g_8gps_200Gbps_H20": ({"gpu": 16, "nvswitch": 2, "switch": 16, "nic": 16}, 96 + 16),
    "simai/Spectrum-X_16g_8gps_100Gbps_A100": ({"gpu": 16, "nvswitch": 2, "switch": 72, "nic": 16}, 544 + 16),
    "simai/edg_topo_T-LLaMA-7B-g8-mpc23w1c": ({"gpu": 8, "switch": 1, "nic": 8}, 36 + 8),
    "simai/edg_topo_full": ({"gpu": 32, "nvswitch": 4, "switch": 4}, 42),
    "astrasim/8_nodes_1_switch_topology.txt": ({"gpu": 8, "switch": 1, "nic": 8}, 8 + 8),
    # 4 + 4 + 4 switches; 8 host links, 8 up from the first tier, 8 bundles of two above
    "astrasim/8nodes.topo": ({"switch": 12, "server": 8}, 8 + 8 + 8),
    "astrasim/HGX-H100-validated.yml": ({"gpu": 8, "nvswitch": 1}, 8),
    "astrasim/Ring_16npus.yml": ({"gpu": 16, "nic": 32}, 16 + 32),
    # 32 pairs; 8 groups of 8 all to all in each of 2 positions by 4 (28 links each); 16 switches of 4
    "astrasim/Ring_FullyConnected_Switch.yml": ({"gpu": 64, "switch": 16}, 32 + 8 * 28 + 64 + 2 * 8 * 28 + 64),
    "astrasim/hgx_h100_16gpu.yml": ({"gpu": 16, "nvswitch": 2, "nic": 16}, 16 + 8 + 16),
    # 3 groups of 4 chassis of 5 routers with 2 hosts: 120 host links; 12 chassis of 10, 15 columns of 6, 3 pairs
    "simgrid/cluster_dragonfly.xml": ({"server": 120, "switch": 60}, 120 + 12 * 10 + 15 * 6 + 3),
    # 16 hosts on 4 leaves, each leaf to two cores by a bundle of two
    "simgrid/cluster_fat_tree.xml": ({"server": 16, "switch": 6}, 16 + 8),
    # 3 x 2 x 2: 12 rings of 3 links shared by three, so 12; 6 and 6 in the dimensions of two
    "simgrid/cluster_torus.xml": ({"server": 12, "switch": 12}, 12 + 12 + 6 + 6),
    # 40 + 50 + 30 hosts on three routers, 4 routers more; 3 cables between them; 3 links that routes share
    "simgrid/data_center.xml": ({"server": 120, "switch": 3 + 4 + 3}, 120 + 3 + 6),
    # 32 + 28 + 32 hosts on three routers and one backbone
    "simgrid/griffon.xml": ({"server": 92, "switch": 4}, 92 + 3),
    "simgrid/hosts_with_disks.xml": ({"server": 3, "drive": 3}, 3),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_those_of_the_scanner(real: Path, name: str) -> None:
    imported = _read(real / name)
    wanted, links = COUNTS[name]
    kinds = _kinds(imported)
    assert {kind: kinds[kind] for kind in wanted} == wanted
    assert len(imported.design.links) == links
    assert elaborate(imported.design).n_parts == kinds.total()


@pytest.mark.parametrize("name", COUNTS)
def test_they_are_whole_designs(real: Path, name: str) -> None:
    design = _read(real / name).design
    assert loads(dumps(design)).design == design


def test_a_platform_of_shared_links_has_all_hosts(real: Path) -> None:
    imported = _read(real / "simgrid" / "small_platform.xml")
    assert _kinds(imported)["server"] == 7
    assert "IMP-SHARED-LINKS" in _codes(imported)


def test_what_simgrid_refuses_is_refused(real: Path) -> None:
    with pytest.raises(ExchangeError, match="second route between"):
        read_any(real / "simgrid" / "bogus_two_hosts_asymetric.xml")


def test_bad_values_are_refused_with_their_place(real: Path) -> None:
    with pytest.raises(ExchangeError) as refusal:
        read_any(real / "astrasim" / "dgx_v100_8gpu.yml")
    assert "tbd" in refusal.value.text
    assert refusal.value.place == "dimension 1"


def test_rates_are_those_of_the_file(real: Path) -> None:
    fabric = _read(real / "cluster" / "ibnetdiscover_dgx_superpod.txt").design
    assert {raw_rate(link)[0] for link in fabric.links.values()} == {50e9}  # 4x NDR: 4 lanes of 100 Gb/s
    simai = _read(real / "simai" / "Rail_Opti_SingleToR_16g_8gps_200Gbps_H20").design
    found = Counter(raw_rate(link)[0] * 8 / 1e9 for link in simai.links.values() if link.kind != "pcie")
    assert found == {900: 16, 200: 16, 400: 64}


def test_nodes_of_a_dgx_are_one_server_with_eight_adapters(real: Path) -> None:
    imported = _read(real / "cluster" / "ibnetdiscover_dgx_superpod.txt")
    named = {p.id: p.name for p in imported.design.parts.values() if p.kind == "server"}
    sizes = Counter(p.parent for p in imported.design.parts.values() if p.kind == "nic")
    dgx = [n for server, n in sizes.items() if server and re.search(r"-dgx-", named[server])]
    assert max(dgx) <= 8
    assert sum(dgx) == 252 + 146 + 68
    assert any("40 aggregation nodes" in f.text for f in imported.findings)


def test_left_out_cables_are_counted(real: Path) -> None:
    imported = _read(real / "cluster" / "netbox_cables_fixture_v3.6.json")
    stated = next(f for f in imported.findings if f.code == "IMP-OTHER-CABLES")
    assert stated.text.startswith(f"{108 - 26} cables")


#: interfaces in all, of the usual data type, and height, of every record
TYPES = {
    "device-type__Arista__DCS-7060X6-64PE.yaml": ("switch", 68, 64, 2),
    "device-type__Cisco__N9K-C9332D-GX2B.yaml": ("switch", 35, 32, 2),
    "device-type__Dell__PowerEdge-R750.yml": ("server", 1, None, 2),
    "device-type__Mellanox__SB7800.yml": ("switch", 37, 36, 1),
    "device-type__Mellanox__SN4700.yml": ("switch", 33, 32, 1),
    "device-type__Nvidia__DGC-A100.yaml": ("server", 37, None, 6),
    "device-type__Nvidia__DGX-Spark.yaml": ("server", 3, None, None),
    "device-type__Nvidia__NVLink-5-Switch.yaml": ("switch", 3, 2, 1),
    "device-type__Nvidia__QM9700.yaml": ("switch", 62, 62, 1),
    "device-type__Supermicro__AS-8125GS-TNMR2.yml": ("server", 14, None, 8),
    "device-type__Supermicro__SYS-421GE-TNRT.yaml": ("server", 3, None, 4),
    "module-type__Broadcom_Corporation__BCM957508-P2100G.yaml": ("nic", 2, 2, None),
    "module-type__Intel__E810-CQDA2.yaml": ("nic", 2, 2, None),
}


@pytest.mark.parametrize("name", TYPES)
def test_types_have_the_ports_of_their_record(real: Path, name: str) -> None:
    imported = _read(real / "netbox" / name)
    kind, interfaces, ports, height = TYPES[name]
    part = next(p for p in imported.design.parts.values() if p.kind == kind)
    assert part.attributes["interfaces"] == str(interfaces)
    if ports is not None:
        assert part.overrides["ports"].value == ports
    assert (part.overrides["height"].value if "height" in part.overrides else None) == height


def test_wrong_records_are_reported(real: Path) -> None:
    assert "IMP-TWICE" in _codes(_read(real / "netbox" / "device-type__Nvidia__DGC-A100.yaml"))
    supermicro = _read(real / "netbox" / "device-type__Supermicro__AS-8125GS-TNMR2.yml")
    assert "IMP-SUPPLIES" in _codes(supermicro)
    server = next(p for p in supermicro.design.parts.values() if p.kind == "server")
    assert sum(name.startswith("bay GPU") for name in server.attributes) == 8
    assert server.attributes["module-bays"] == "60"


def test_what_is_not_known_stays_with_the_design(real: Path) -> None:
    from designer.design.gaps import find_gaps

    gaps = {gap.kind for gap in find_gaps(_read(real / "cluster" / "slurm_topology_block.conf").design)}
    assert {"contents", "speed"} <= gaps
    assert not any(f.severity is Severity.ERROR for f in _read(real / "cluster" / "slurm_topology_block.conf").findings)
