"""The PCI devices of an hwloc file: switches, GPUs, NICs, drives and memory, and the links they hang from."""

from __future__ import annotations

from typing import Final

from designer.catalog.architectures import Architecture
from designer.design.document import LinkValues
from designer.fields import Quantity
from designer.interchange.foreign import hwloc
from designer.interchange.foreign.devices import Device, assumption, is_virtual_function, known_device
from designer.interchange.foreign.hwloc_dump import HwlocDump
from designer.interchange.foreign.hwloc_numa import NumaDomains
from designer.interchange.foreign.machine import spelled_size
from designer.interchange.foreign.pcie import (
    join_pcie,
    join_virtual_pcie,
    kind_of_class,
    note_idle,
    note_system_devices,
    note_unknown_socket,
    note_virtual_function,
    technology_of_class,
)
from designer.interchange.foreign.xml import Element

#: a coprocessor with an interface to its own system, and an interface behind USB, are no NICs of the machine
_NO_NICS: Final = ("0b40", "0c03")


class PciDevices:
    """Makes a part of every PCI device that matters to a design."""

    def __init__(self, dump: HwlocDump, numa: NumaDomains) -> None:
        self.dump, self.machine, self.numa = dump, dump.machine, numa
        self.real_ports: dict[int, set[tuple[str, str]]] = {}
        #: what is known of each GPU's architecture, by part
        self.architectures: dict[str, Architecture | None] = {}
        #: NVSwitches with their device numbers
        self.nvswitches: list[tuple[str, str]] = []

    def draw(self) -> None:
        """All PCI devices: below host bridges, then those that hang from none, as in files without bridges."""
        found = [e for e in self.dump.objects if e.get("type") in ("Bridge", "PCIDev")]
        for element in found:
            if _is_host_bridge(element) and element.get("type") == "Bridge":
                self._tree(element, element.all("object"))
        for element in found:
            above = self.dump.above.get(id(element))
            top = above is None or above.get("type") not in ("Bridge", "PCIDev")
            if top and not _is_host_bridge(element):
                self._tree(element, [element])

    def _tree(self, top: Element, elements: list[Element]) -> None:
        before = len(self.machine.parts)
        home, sure = self.numa.home(top)
        for element in elements:
            self._pci(element, home)
        if not sure and len(self.machine.parts) > before:
            note_unknown_socket(self.machine, home)

    def _pci(self, element: Element, parent: str) -> None:
        if element.get("type") == "Bridge":
            device = hwloc.identity(element)
            part = self.machine.add(
                "pcie_switch",
                parent=self.dump.server,
                attributes=self.dump.attributes(element),
                device=known_device(*device[1:3]),
            )
            self._edge(parent, part, element, None)
            for child in element.all("object"):
                self._pci(child, part)
        elif element.get("type") == "PCIDev":
            self._device(element, parent)
            for child in element.all("object"):
                if child.get("type") in ("Bridge", "PCIDev"):
                    self._pci(child, parent)

    def _device(self, element: Element, parent: str) -> None:
        pci_class, vendor, device = hwloc.identity(element)
        kind, os_devices = kind_of_class(pci_class), self.dump.os_devices(element)
        if element.get("subtype") == "NVSwitch" or (pci_class == "0680" and vendor == "10de"):
            part = self.machine.add(
                "nvswitch",
                parent=self.dump.server,
                attributes=self.dump.attributes(element),
                device=known_device(vendor, device),
            )
            self.dump.register(element, part)
            self.nvswitches.append((part, device))
        elif kind == "gpu":
            if hwloc.is_display_only(pci_class, vendor, device, os_devices):
                name = hwloc.device_name(element) or f"{vendor}:{device}"
                self.machine.note("IMP-DISPLAY", f"a display controller without compute ({name}) was left out")
            else:
                self._gpu(element, parent, os_devices)
        elif kind == "nic" or (pci_class not in _NO_NICS and any(k in ("net", "openfabrics") for k, _ in os_devices)):
            self._nic(element, parent, os_devices)
        elif kind == "drive":
            self._storage(element, parent, os_devices, nvme=pci_class == "0108")
        elif pci_class == "0502":
            self._memory_device(element, parent, os_devices)
        elif pci_class in ("0b40", "0b80"):
            self.machine.note(
                "IMP-OTHER-DEVICE",
                f"a co-processor ({hwloc.device_name(element) or vendor + ':' + device}) was left out",
            )
        else:
            note_system_devices(self.machine)

    def _edge(self, upper: str, lower: str, element: Element, architecture: Architecture | None) -> None:
        text = element.get("pci_link_speed")
        raw = hwloc.attributes(element, "pci_link_speed")
        if (
            hwloc.is_virtual_link(text)
            and _holds_gpu(element)
            and (not architecture or architecture.pcie_generation > 1)
        ):
            join_virtual_pcie(self.machine, upper, lower, architecture, f"{text} GB/s", raw)
            return
        values, idle = hwloc.pcie_link(text, architecture)
        link_id = join_pcie(self.machine, upper, lower, values, raw)
        if idle and architecture is not None:
            note_idle(self.machine, link_id, architecture)

    def _gpu(self, element: Element, parent: str, os_devices: list[tuple[str, Element]]) -> None:
        machine = self.machine
        _, vendor, device_id = hwloc.identity(element)
        known = known_device(vendor, device_id)
        model = next(
            (hwloc.infos(e)["GPUModel"] for _, e in os_devices if "GPUModel" in hwloc.infos(e)), ""
        ) or hwloc.device_name(element)
        device = known or (Device(model) if model else None)
        architecture = known.architecture if known else None
        part = machine.add(
            "gpu",
            parent=self.dump.server,
            attributes=self.dump.attributes(element),
            device=device,
            overrides=self._gpu_memory(os_devices),
        )
        self.architectures[part] = architecture
        for each in (element, *(e for _, e in os_devices)):
            self.dump.register(each, part)
        self._edge(parent, part, element, architecture)

    def _gpu_memory(self, os_devices: list[tuple[str, Element]]) -> dict[str, Quantity]:
        for _, element in os_devices:
            infos = hwloc.infos(element)
            for name in ("CUDAGlobalMemorySize", "RSMIVRAMSize", "LevelZeroHBMSize"):
                if size := hwloc.size(infos.get(name, "")):
                    return {"memory_capacity": self.machine.fact(spelled_size(size))}
        return {}

    def _nic(self, element: Element, parent: str, os_devices: list[tuple[str, Element]]) -> None:
        machine = self.machine
        pci_class, vendor, device = hwloc.identity(element)
        if self._is_virtual(element, os_devices):
            note_virtual_function(machine, element.get("pci_busid"))
            return
        names = [e.get("name") for _, e in os_devices if e.get("name")]
        known = known_device(vendor, device) or (
            Device(hwloc.device_name(element)) if hwloc.device_name(element) else None
        )
        overrides = technology_of_class(machine, pci_class)
        rate = max((hwloc.port_rate(hwloc.infos(e)) for _, e in os_devices), default=0.0)
        if rate:
            overrides["bandwidth_per_direction"] = machine.fact(f"{rate:.6g} Gb/s")
        part = machine.add(
            "nic",
            parent=self.dump.server,
            name=" / ".join(dict.fromkeys(names)),
            attributes=self.dump.attributes(element),
            device=known,
            overrides=overrides,
        )
        self._edge(parent, part, element, None)

    def _is_virtual(self, element: Element, os_devices: list[tuple[str, Element]]) -> bool:
        _, vendor, device = hwloc.identity(element)
        if is_virtual_function(vendor, device) or "virtual function" in hwloc.device_name(element).lower():
            return True
        if os_devices:
            return False
        bus = element.get("pci_busid").rsplit(":", 1)[0]
        above = self.dump.above.get(id(element))
        if above is None:
            return False
        if id(above) not in self.real_ports:
            self.real_ports[id(above)] = {
                (other.get("pci_busid").rsplit(":", 1)[0], hwloc.identity(other)[2])
                for other in above.all("object")
                if other.get("type") == "PCIDev"
                and hwloc.identity(other)[0][:2] == "02"
                and any(child.get("type") == "OSDev" for child in other.all("object"))
            }
        return any(near == bus and number != device for near, number in self.real_ports[id(above)])

    def _storage(self, element: Element, parent: str, os_devices: list[tuple[str, Element]], nvme: bool) -> None:
        machine = self.machine
        disks = [e for kind, e in os_devices if kind == "block" and not hwloc.is_removable(e)]
        if nvme or not disks:
            if not nvme:
                machine.note("IMP-NO-DISKS", "storage controllers without drives in the file were left out")
                return
            part = self._drive(element, disks[0] if disks else None, "NVMe")
            self._edge(parent, part, element, None)
            return
        sata = assumption("sata")
        for disk in disks:
            part = self._drive(element, disk, "SATA or SAS")
            join_pcie(
                machine,
                parent,
                part,
                LinkValues(
                    kind="pcie",
                    bandwidth_per_direction=str(sata.value),
                    status=sata.status,
                    note=sata.note,
                ),
            )

    def _drive(self, element: Element, disk: Element | None, interface: str) -> str:
        machine = self.machine
        overrides = {"interface": machine.fact(interface)}
        infos = hwloc.infos(disk) if disk is not None else {}
        if size := hwloc.size(infos.get("Size", "")):
            overrides["capacity"] = machine.fact(spelled_size(size))
        name = disk.get("name") if disk is not None else ""
        return machine.add(
            "drive", parent=self.dump.server, name=name, attributes=self.dump.attributes(element), overrides=overrides
        )

    def _memory_device(self, element: Element, parent: str, os_devices: list[tuple[str, Element]]) -> None:
        """Memory behind PCIe, such as CXL."""
        names = [e.get("name") for _, e in os_devices]
        overrides = {"tier": self.machine.fact("CXL")}
        for _, os_device in os_devices:
            infos = hwloc.infos(os_device)
            if size := sum(hwloc.size(infos.get(name, "")) for name in ("CXLRAMSize", "CXLPMEMSize")):
                overrides["memory_capacity"] = self.machine.fact(spelled_size(size))
        part = self.machine.add(
            "memory",
            parent=self.dump.server,
            name=" ".join(names) or "CXL",
            attributes=self.dump.attributes(element),
            overrides=overrides,
        )
        self._edge(parent, part, element, None)


def _is_host_bridge(element: Element) -> bool:
    return element.get("bridge_type").startswith("0-")


def _holds_gpu(element: Element) -> bool:
    """True if a PCI object is an accelerator or has one below."""
    return any(kind_of_class(hwloc.identity(e)[0]) == "gpu" for e in element.walk() if e.get("type") == "PCIDev")
