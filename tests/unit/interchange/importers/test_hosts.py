"""Dumps of hosts: lspci, Redfish, rocm-smi."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.errors import ExchangeError
from designer.interchange.importing import importers, read_any, read_bytes

# Trees of ``lspci -tvv``: what hangs where, by the columns of the drawing.

#: composed after ls-tree.c of pciutils: a root port with a switch of three ports, one empty; a card with two functions;
#: a bridge with a screen behind it; regions as -vv writes them
TREE = r"""-+-[0000:00]-+-00.0  Intel Corporation Device 09a2
 |           +-1d.0-[01-02]----00.0-[02]----00.0  ASPEED Technology, Inc. ASPEED Graphics Family
 |           \-1f.0  Intel Corporation C741 LPC/eSPI Controller
 +-[0000:15]-+-00.0  Intel Corporation Ice Lake Memory Map/VT-d
 |           +-01.0-[16-1d]----00.0-[17-1d]--+-00.0-[18]--+-00.0  Mellanox Technologies MT2910 Family [ConnectX-7]
 |           |                               |            \-00.1  Mellanox Technologies MT2910 Family [ConnectX-7]
 |           |                               +-01.0-[1b]----00.0  NVIDIA Corporation GH100 [H100 SXM5 80GB]
 |           |                               |                      Memory at 20b042000000 (64-bit, prefetchable)
 |           |                               \-02.0-[1c]--
 |           \-03.0-[1e]----00.0  Samsung Electronics Co Ltd NVMe SSD Controller PM9A1/PM9A3/980PRO
 \-[0000:80]-+-00.0  Intel Corporation Ice Lake Memory Map/VT-d
             +-01.0-[81]--+-00.0  NVIDIA Corporation AD102GL [L40S]
             |            \-00.1  NVIDIA Corporation AD102 High Definition Audio Controller
             \-02.0-[82]----00.0  NVIDIA Corporation GH100 [H100 NVSwitch] [10de:22a3]
"""


def links(text: str) -> set[tuple[str, str]]:
    design = read_bytes(text.encode()).design
    return {(link.a, link.b) for link in design.links.values() if link.kind == "pcie"}


def test_a_switch_is_a_bridge_with_bridges_below_another() -> None:
    """Bus 16 leads to the upstream port 16:00.0, whose ports 17:00.0 and 17:01.0 hold a NIC and a GPU: one switch.
    The drive and the L40S hang from root ports, so from the processor; the screen and the sound are no parts."""
    imported = read_bytes(TREE.encode())
    parts = imported.design.parts
    assert links(TREE) == {
        ("numa0", "pcie_switch0"),
        ("pcie_switch0", "nic0"),
        ("pcie_switch0", "gpu0"),
        ("numa0", "drive0"),
        ("numa0", "gpu1"),
    }
    assert parts["gpu0"].type == "gpu/nvidia/h100-sxm5"
    assert parts["gpu0"].attributes["busid"] == "0000:1b:00.0"
    assert parts["nic0"].attributes["functions"] == "2"
    assert parts["nvswitch0"].type == "nvswitch/nvidia/nvswitch-gen3"
    codes = {f.code for f in imported.findings}
    assert {"IMP-ASSUMED-PCIE", "IMP-PLACE", "IMP-CLASSES"} <= codes


def test_four_root_complexes_of_epyc_are_a_socket() -> None:
    """Eight root complexes of Milan are two sockets; a GPU at bus a0, the sixth of them, is at the second."""
    buses = ("00", "20", "40", "60", "80", "a0", "c0", "e0")
    lines = []
    for place, bus in enumerate(buses):
        start = "-+-" if place == 0 else " \\-" if place == len(buses) - 1 else " +-"
        wall = " " if place == len(buses) - 1 else "|"
        lines.append(f"{start}[0000:{bus}]-+-00.0  Advanced Micro Devices, Inc. [AMD] Milan Root Complex")
        lines.append(
            f" {wall}           \\-03.1-[{int(bus, 16) + 1:02x}]----00.0  NVIDIA Corporation GA100 [A100 SXM4 80GB]"
        )
    design = read_bytes("\n".join(lines).encode()).design
    homes = {link.b: link.a for link in design.links.values() if link.kind == "pcie"}
    assert [homes[f"gpu{k}"] for k in range(8)] == ["numa0"] * 4 + ["numa1"] * 4
    assert sum(p.kind == "cpu" for p in design.parts.values()) == 2


def test_one_root_bus_alone_is_read() -> None:
    """With a single root bus lspci draws no branches before it."""
    text = "-[0000:00]-+-00.0  Intel Corporation Device 1\n           \\-01.0-[01]----00.0  NVIDIA Corporation GA100\n"
    assert links(text) == {("numa0", "gpu0")}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (re.sub(r"  [A-Z].*", "", TREE), "no names"),
        (TREE.replace("-[1b]-", "~[1b]~"), "not how lspci draws"),
        (TREE.replace(" +-[0000:15]", "  +-[0000:15]"), "not how lspci draws"),
        (TREE + TREE, "several trees"),
        ("-+-[0000:00]-+-00.0  " + "x" * 5_000, "far larger"),
    ],
)
def test_what_is_no_such_tree_is_refused(text: str, what: str) -> None:
    with pytest.raises(ExchangeError, match=what) as refused:
        read_bytes(text.encode())
    assert refused.value.remedy


def test_names_are_kept_as_text() -> None:
    text = TREE.replace("[L40S]", '[<script>alert("x")</script> =cmd() \u202e]')
    names = [p.attributes.get("product", "") for p in read_bytes(text.encode()).design.parts.values()]
    assert any("<script>" in name for name in names)


@given(st.integers(0, len(TREE)), st.text(" |+\\-[]0:.x\n", max_size=8))
def test_damaged_trees_are_read_or_refused(at: int, junk: str) -> None:
    text = TREE[:at] + junk + TREE[at + len(junk) :]
    if importers()["lspci"].sniff(text) < 0.5:
        return
    try:
        design = read_bytes(text.encode(), "lspci").design
    except ExchangeError:
        return
    assert design.parts


# Redfish PCIe devices: shapes as the controllers of HPE and Supermicro write them.

_ROOT = "/redfish/v1/Chassis"


def device(
    name: str, *, model: str = "", lanes: int | None = None, generation: str = "", **more: Any
) -> dict[str, Any]:
    path = f"{_ROOT}/1/PCIeDevices/{name}"
    stated = {"@odata.id": path, "@odata.type": "#PCIeDevice.v1_14_0.PCIeDevice", "Id": name, "Name": name, **more}
    if model:
        stated["Model"] = model
    if lanes:
        stated["PCIeInterface"] = {"LanesInUse": lanes, "PCIeType": generation, "MaxLanes": 16, "MaxPCIeType": "Gen6"}
    return stated


def function(of: str, vendor: str, number: str, kind: str, **more: Any) -> dict[str, Any]:
    return {
        "@odata.id": f"{_ROOT}/1/PCIeDevices/{of}/PCIeFunctions/0",
        "@odata.type": "#PCIeFunction.v1_2_3.PCIeFunction",
        "VendorId": vendor,
        "DeviceId": number,
        "DeviceClass": kind,
        # HPE writes the code reversed, NVIDIA as zero: neither may be believed
        "ClassCode": "0X000003",
        "FunctionType": "Physical",
        **more,
    }


def cpu(number: int, module: str = "") -> dict[str, Any]:
    return {
        "@odata.id": f"/redfish/v1/Systems/1/Processors/CPU_{number}",
        "@odata.type": "#Processor.v1_20_0.Processor",
        "ProcessorType": "CPU",
        "Manufacturer": "NVIDIA",
        "Model": "Grace A02P",
        "TotalCores": 72,
        "Location": {"PartLocationContext": module},
    }


def read(*resources: Any) -> Any:
    return read_bytes(json.dumps(list(resources)).encode())


def test_devices_state_generation_and_lanes() -> None:
    found = read(
        device("gpu", model="NVIDIA H100 NVL", lanes=16, generation="Gen5"),
        function("gpu", "0X10DE", "0X2321", "DisplayController"),
        device("nic", lanes=8, generation="Gen4"),
        function("nic", "0x15b3", "0x1021", "NetworkController"),
        device("screen", model="ASPEED Graphics"),
        device("gone", model="NVIDIA H100 NVL", Status={"State": "Absent"}),
    )
    parts, links = found.design.parts, found.design.links
    assert parts["gpu0"].type == "gpu/nvidia/h100-nvl"
    assert parts["nic0"].type == "nic/nvidia/connectx-7"
    assert sum(p.kind in ("gpu", "nic") for p in parts.values()) == 2
    stated = {link.b: (link.generation, link.lanes, str(link.status)) for link in links.values() if link.kind == "pcie"}
    assert stated == {"gpu0": (5, 16, "primary"), "nic0": (4, 8, "primary")}


def test_a_server_the_catalog_has_is_told_by_its_model() -> None:
    system = {"@odata.type": "#ComputerSystem.v1_20_0.ComputerSystem", "Manufacturer": "Dell Inc."}
    gpu = (device("gpu", lanes=16, generation="Gen5"), function("gpu", "0x10de", "0x2330", "DisplayController"))
    known = read({**system, "Model": "PowerEdge XE9680"}, *gpu).design.parts["server0"]
    assert known.type == "server/dell/xe9680"
    assert read({**system, "Model": "PowerEdge of tomorrow"}, *gpu).design.parts["server0"].type == ""


def test_a_gpu_hangs_from_the_cpu_of_its_module() -> None:
    """Two Grace and four GPUs: each GPU is a processor too, on the module of its CPU, known by the same UUID."""
    gpus = [device(f"GPU_{k}", model="NVIDIA GB300", lanes=16, generation="Gen6", UUID=f"u{k}") for k in range(4)]
    accelerators = [
        {
            "@odata.id": f"/redfish/v1/Systems/1/Processors/GPU_{k}",
            "@odata.type": "#Processor.v1_20_0.Processor",
            "ProcessorType": "GPU",
            "UUID": f"u{k}",
            "Location": {"PartLocationContext": f"Module_{k // 2}"},
        }
        for k in range(4)
    ]
    functions = [function(f"GPU_{k}", "0x10DE", "0x31C2", "ProcessingAccelerators") for k in range(4)]
    design = read(cpu(0, "Module_0"), cpu(1, "Module_1"), *accelerators, *gpus, *functions).design
    homes = {link.b: link.a for link in design.links.values() if link.kind == "pcie"}
    assert homes == {"gpu0": "cpu0", "gpu1": "cpu0", "gpu2": "cpu1", "gpu3": "cpu1"}
    assert all(design.parts[f"gpu{k}"].type == "gpu/nvidia/gb300" for k in range(4))


def test_where_no_socket_is_told_it_is_said() -> None:
    found = read(cpu(0), cpu(1), device("GPU", model="NVIDIA GB300"))
    assert any(f.code == "IMP-PLACE" and f.where == ("gpu0",) for f in found.findings)


def test_members_inside_a_collection_are_found() -> None:
    members = {
        "@odata.type": "#PCIeDeviceCollection.PCIeDeviceCollection",
        "Members": [device("g", model="NVIDIA H100")],
    }
    assert "gpu0" in read_bytes(json.dumps(members).encode()).design.parts


@pytest.mark.parametrize(
    "content",
    [
        {"@odata.type": "#PCIeDeviceCollection.PCIeDeviceCollection", "Members": [{"@odata.id": f"{_ROOT}/1"}]},
        {"@odata.id": "/redfish/v1/Systems", "@odata.type": "#ComputerSystemCollection.ComputerSystemCollection"},
    ],
)
def test_a_collection_without_its_members_is_refused(content: Any) -> None:
    with pytest.raises(ExchangeError, match="no PCIeDevice"):
        read_bytes(json.dumps(content).encode())


@pytest.mark.parametrize("odd", [None, 7, "x", [], {"LanesInUse": "16", "PCIeType": 5}, {"LanesInUse": True}])
def test_odd_values_are_assumed_not_believed(odd: Any) -> None:
    found = read(device("g", model="NVIDIA H100", PCIeInterface=odd, Links=odd, Status=odd))
    assert [str(link.status) for link in found.design.links.values() if link.kind == "pcie"] == ["assumed"]


# The tables of rocm-smi --showtopo; layout as printed by ROCm 5 to 7.


def _table(title: str, cells: list[list[str]]) -> str:
    head = "       " + "".join(f"GPU{i:<9}" for i in range(len(cells)))
    rows = [f"GPU{i}   " + "".join(f"{cell:<13}" for cell in row) for i, row in enumerate(cells)]
    return "\n".join([f"{'=' * 26} {title} between two GPUs {'=' * 26}", head, *rows, ""])


def _dump(kind: str, weight: str, gpus: int = 4, far: str = "") -> str:
    def cells(value: str) -> list[list[str]]:
        return [["0" if i == j else value for j in range(gpus)] for i in range(gpus)]

    weights = cells(weight)
    if far:
        weights[0][gpus - 1] = weights[gpus - 1][0] = far
    numa = "".join(
        f"GPU[{i}]\t\t: (Topology) Numa Node: {i * 2 // gpus}\nGPU[{i}]\t\t: (Topology) Numa Affinity: 0\n"
        for i in range(gpus)
    )
    return (
        f"{'=' * 24} ROCm System Management Interface {'=' * 24}\n"
        + _table("Weight", weights)
        + _table("Hops", cells("1"))
        + _table("Link Type", cells(kind))
        + f"{'=' * 34} Numa Nodes {'=' * 34}\n{numa}{'=' * 29} End of ROCm SMI Log {'=' * 30}\n"
    )


def test_eight_gpus_all_joined() -> None:
    """Eight GPUs, each with each: 28 pairs; four in each of two NUMA nodes."""
    design = read_any(_dump("XGMI", "15", 8).encode()).design
    kinds = Counter(p.kind for p in design.parts.values())
    assert (kinds["gpu"], kinds["numa"]) == (8, 2)
    assert sum(link.kind == "xgmi" for link in design.links.values()) == 28
    assert sum(link.kind == "pcie" for link in design.links.values()) == 8


def test_pairs_that_weigh_more_have_no_link_of_their_own() -> None:
    imported = read_any(_dump("XGMI", "15", 4, far="30").encode())
    assert sum(link.kind == "xgmi" for link in imported.design.links.values()) == 5
    assert "IMP-XGMI-FAR" in {f.code for f in imported.findings}


def test_pcie_only() -> None:
    design = read_any(_dump("PCIE", "72").encode()).design
    assert not any(link.kind == "xgmi" for link in design.links.values())


def test_a_row_that_is_missing_is_refused() -> None:
    text = _dump("XGMI", "15")
    cut = text[: text.rindex("GPU3   ")] + text[text.rindex("GPU3   ") :].split("\n", 1)[1]
    with pytest.raises(ExchangeError, match="not square"):
        read_any(cut.encode())
