"""Redfish PCIe devices: shapes as the controllers of HPE and Supermicro write them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from designer.errors import ExchangeError
from designer.interchange.importing import read_bytes

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
