"""PCIe devices as a management controller states them over Redfish: one resource, a list, or a mockup in one file.

Taken from anywhere in the file are ``PCIeDevice``, ``PCIeFunction`` and ``Processor`` resources. A device states its
generation and lanes; what hangs under which switch is not stated, so devices hang from their processor where they name
one. Class codes are not believed: controllers write them reversed or as zero, the class in words and the ids are right.
Sources: DMTF, DSP2046 Redfish Resource and Schema Guide (PCIeDevice, PCIeFunction, Processor) and the mockups of
DSP2043; spyroot/redfish_ctl at 4c1765c0, dumps of HPE and Supermicro controllers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from designer.design.document import LinkValues
from designer.errors import ExchangeError
from designer.interchange.foreign.accelerator_links import mark_missing_links
from designer.interchange.foreign.cpus import cpu_model
from designer.interchange.foreign.devices import Device, device_of_type, known_device, known_server
from designer.interchange.foreign.finishing import finish
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.json_text import parse_json, string
from designer.interchange.foreign.machine import MachineDrawing, type_for
from designer.interchange.foreign.pcie import LANES, join_pcie, note_system_devices, note_unknown_socket, unknown_pcie
from designer.interchange.foreign.sockets import join_sockets, note_cpu
from designer.sources import Status

_TYPE: Final = re.compile(r"#(PCIeDevice|PCIeFunction|Processor|ComputerSystem)\.")
_GENERATION: Final = re.compile(r"Gen([1-7])\Z")
_MOST: Final = 20_000
#: what a device is, by the class of its functions in words
_CLASSES: Final = {
    "NetworkController": "nic",
    "MassStorageController": "drive",
    "DisplayController": "gpu",
    "ProcessingAccelerators": "gpu",
    "Coprocessor": "gpu",
}
_GPU: Final = re.compile(r"^(?:NVIDIA|GPU)\b|Instinct|\bMI\d{3}|Data Center GPU|Gaudi|\b[AHBL]\d{2,3}\b", re.IGNORECASE)
_NIC: Final = re.compile(r"ConnectX|BlueField|Ethernet|InfiniBand|\bNIC\b|Network|\bNDR|\bHDR|\d+ ?GbE", re.IGNORECASE)
_DRIVE: Final = re.compile(r"NVMe|\bSSD\b", re.IGNORECASE)
_SCREEN: Final = re.compile(r"ASPEED|Matrox|MGA G200|VGA|integrated graphics", re.IGNORECASE)
#: makers whose display controllers compute
_MAKERS: Final = ("10de", "1002", "8086", "1da3")


def _sniff(head: str) -> float:
    if re.search(r"\"@odata\.type\"\s*:\s*\"#(?:PCIeDevice|PCIeFunction)\.", head):
        return 0.95
    return 0.8 if re.search(r"\"@odata\.(?:id|type)\"\s*:\s*\"(?:#|/redfish/)", head) else 0.0


def _read(text: str, file: str) -> Imported:
    found: dict[str, list[dict[str, Any]]] = {}
    for resource in _resources(parse_json(text, file), file):
        kind = _TYPE.match(string(resource.get("@odata.type")))
        if kind is not None:
            found.setdefault(kind[1], []).append(resource)
    if not found.get("PCIeDevice"):
        raise ExchangeError(
            "it holds no PCIeDevice resource",
            file=file,
            remedy="save the members too: GET …/PCIeDevices?$expand=*($levels=2)",
        )
    return _Reader(file, found).run()


def _resources(content: object, file: str) -> Iterator[dict[str, Any]]:
    """Every object that says what it is, outer ones first."""
    waiting: list[object] = [content]
    seen = 0
    while waiting:
        at = waiting.pop(0) if len(waiting) < 100 else waiting.pop()
        seen += 1
        if seen > _MOST * 50:
            raise ExchangeError("it is far larger than the tree of a machine", file=file, remedy="give its PCIeDevices")
        if isinstance(at, dict):
            if "@odata.type" in at:
                yield at
            waiting += at.values()
        elif isinstance(at, list):
            waiting += at


class _Reader:
    """Draws the devices of one machine."""

    def __init__(self, file: str, found: Mapping[str, list[dict[str, Any]]]) -> None:
        self.machine = MachineDrawing(file, "PCIe devices of Redfish", "redfish")
        self.found = found
        self.homes: dict[str, str] = {}
        #: CPUs by the module of the board they are on
        self.modules: dict[str, str] = {}
        self.lost: list[str] = []

    def run(self) -> Imported:
        """The design."""
        machine = self.machine
        system = next(iter(self.found.get("ComputerSystem", ())), {})
        about = _texts(system, "Manufacturer", "Model", "SKU")
        server = machine.add("server", device=known_server(about.get("Model", "")), attributes=about)
        self._processors(server)
        functions: dict[str, list[dict[str, Any]]] = {}
        for function in self.found.get("PCIeFunction", ()):
            functions.setdefault(_device_of(function), []).append(function)
        seen: set[str] = set()
        for number, device in enumerate(self.found["PCIeDevice"]):
            path = _path(device) or f"#{number}"
            if path not in seen and not _absent(device):
                seen.add(path)
                self._device(server, device, functions.get(path, []))
        if self.lost:
            note_unknown_socket(machine, *self.lost)
        mark_missing_links(machine, machine.of_kind("gpu"))
        machine.note(
            "IMP-CLASSES",
            "Redfish lists devices and their speeds, not the switches between: they hang from their processor",
            remedy="import lstopo --of xml of the same machine for the tree",
        )
        return finish(machine, " ".join(v for v in _texts(system, "Manufacturer", "Model").values() if v))

    def _processors(self, server: str) -> None:
        machine = self.machine
        cpus: list[str] = []
        models = []
        for stated in self.found.get("Processor", ()):
            if string(stated.get("ProcessorType")) != "CPU" or _absent(stated):
                continue
            name = " ".join(string(stated.get("Model")).split())
            model = cpu_model(string(stated.get("Manufacturer")), "", "", name=name)
            cores = stated.get("TotalCores")
            cores = cores if isinstance(cores, int) and not isinstance(cores, bool) and 0 < cores < 10_000 else 0
            part = machine.add(
                "cpu",
                parent=server,
                device=Device(name or model.title, model.type) if name or model.title else None,
                attributes={"redfish": _path(stated), **_texts(stated, "Socket")},
                overrides={"cores": machine.fact(cores)} if cores else None,
            )
            note_cpu(machine, model, name or model.title, part)
            self.homes[_path(stated)] = part
            self.modules |= {_module(stated): part} if _module(stated) else {}
            cpus.append(part)
            models.append(model)
        if not cpus:
            models = [cpu_model("", "", "")]
            cpus = [machine.add("cpu", parent=server, attributes={"derived": "yes"})]
            self.homes[""] = cpus[0]
        for cpu, model in zip(cpus, models, strict=True):
            machine.memory(cpu, server, assumed=model.memory)
        if len(cpus) > 1:
            join_sockets(machine, cpus, models[0])

    def _device(self, server: str, device: dict[str, Any], functions: list[dict[str, Any]]) -> None:
        machine = self.machine
        name = " ".join(f"{string(device.get('Name'))} {string(device.get('Model'))}".split())
        first = next((f for f in functions if string(f.get("FunctionType")) != "Virtual"), {})
        vendor, number = (_hexadecimal(first.get(key)) for key in ("VendorId", "DeviceId"))
        kind = _kind(name, [string(f.get("DeviceClass")) for f in functions], vendor)
        if not kind:
            note_system_devices(machine)
            return
        known = (known_device(vendor, number) if vendor and number else None) or _named(kind, device)
        stated = {
            "redfish": _path(device),
            **_texts(device, "Manufacturer", "Model", "PartNumber", "FirmwareVersion"),
            **({"vendor": vendor, "device": number} if vendor and number else {}),
        }
        overrides = {"interface": machine.fact("NVMe")} if kind == "drive" else {}
        label = string(device.get("Name")) or string(device.get("Id"))
        part = machine.add(kind, parent=server, name=label, device=known, attributes=stated, overrides=overrides)
        values, most = _link_speed(device.get("PCIeInterface"))
        join_pcie(machine, self._home(device, functions, part), part, values or unknown_pcie(known.architecture), most)

    def _home(self, device: dict[str, Any], functions: list[dict[str, Any]], part: str) -> str:
        for resource in (device, *functions):
            links = resource.get("Links")
            for processor in links.get("Processors", []) if isinstance(links, dict) else []:
                home = self.homes.get(_path(processor)) if isinstance(processor, dict) else None
                if home is not None:
                    return home
        for processor in self.found.get("Processor", ()):
            # an accelerator is a processor too, on the same module as its CPU where the board has modules
            same = _uuid(device) and _uuid(processor) == _uuid(device)
            if (same or (_path(device) and _named_device(processor) == _path(device))) and _module(
                processor
            ) in self.modules:
                return self.modules[_module(processor)]
        if len(self.homes) > 1:
            self.lost.append(part)
        return next(iter(self.homes.values()))


def _path(resource: Mapping[str, Any]) -> str:
    return string(resource.get("@odata.id")).rstrip("/")


def _device_of(function: Mapping[str, Any]) -> str:
    """The device a function belongs to: the one it names, else the one it is below."""
    return _named_device(function) or _path(function).partition("/PCIeFunctions/")[0]


def _named_device(resource: Mapping[str, Any]) -> str:
    links = resource.get("Links")
    device = links.get("PCIeDevice") if isinstance(links, dict) else None
    return _path(device) if isinstance(device, dict) else ""


def _uuid(resource: Mapping[str, Any]) -> str:
    return string(resource.get("UUID")).lower()


def _module(processor: Mapping[str, Any]) -> str:
    location = processor.get("Location")
    return string(location.get("PartLocationContext")) if isinstance(location, dict) else ""


def _absent(resource: Mapping[str, Any]) -> bool:
    status = resource.get("Status")
    return isinstance(status, dict) and string(status.get("State")) == "Absent"


def _hexadecimal(value: object) -> str:
    """Four digits of ``0x10DE`` or ``0X10DE``; empty where it is something else."""
    found = re.fullmatch(r"0[xX]([0-9a-fA-F]{1,4})", string(value))
    return found[1].lower().zfill(4) if found else ""


def _kind(name: str, classes: list[str], vendor: str) -> str:
    """What a device is; empty where it is none of a design."""
    kinds = [_CLASSES[c] for c in classes if c in _CLASSES]
    if _SCREEN.search(name) or ("gpu" in kinds and vendor and vendor not in _MAKERS):
        return ""
    if kinds:
        return kinds[0]
    if any(classes) and not all(c in ("UnclassifiedDevice", "Other", "UnassignedClass") for c in classes):
        return ""
    for kind, pattern in (("nic", _NIC), ("drive", _DRIVE), ("gpu", _GPU)):
        if pattern.search(name):
            return kind
    return ""


def _named(kind: str, device: Mapping[str, Any]) -> Device:
    names = [" ".join(string(device.get(key)).split()) for key in ("Model", "Name")]
    for name in names:
        found = type_for(kind, name)
        if found is not None:
            return device_of_type(found.id, name)
    # a device called "PCIe Device" is reported by its model, one whose model is a part number by its name
    return Device(names[0] if re.match(r"PCIe Device\b", names[1]) and names[0] else names[1] or names[0])


def _link_speed(interface: object) -> tuple[LinkValues | None, dict[str, str]]:
    """What a link runs at, and what it could as attributes; None where the file does not say."""
    if not isinstance(interface, dict):
        return None, {}
    generation = _GENERATION.match(string(interface.get("PCIeType")))
    lanes = interface.get("LanesInUse")
    most = _texts(interface, "MaxPCIeType")
    if isinstance(interface.get("MaxLanes"), int):
        most["MaxLanes"] = str(interface["MaxLanes"])
    if generation is None or isinstance(lanes, bool) or lanes not in LANES:
        return None, most
    return LinkValues(kind="pcie", generation=int(generation[1]), lanes=int(lanes), status=Status.PRIMARY), most


def _texts(resource: Mapping[str, Any], *names: str) -> dict[str, str]:
    return {name: string(resource.get(name)) for name in names if string(resource.get(name))}


IMPORTER = Importer("redfish", "Redfish PCIe devices", (".json",), _sniff, _read)
