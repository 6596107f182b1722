"""hwloc XML as ``lstopo --of xml`` writes it, versions 1, 2 and 3.

Packages are sockets, NUMANodes NUMA domains with their memory, PCI-PCI bridges switches and PCI devices parts by class.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from designer.catalog.architectures import Architecture, architecture
from designer.design.document import LinkValues
from designer.errors import ExchangeError
from designer.fields import Quantity, amount
from designer.interchange.foreign import hwloc
from designer.interchange.foreign.accelerator_links import draw_switch_trunk, join_accelerators, mark_missing_links
from designer.interchange.foreign.devices import Device, assumption, is_virtual_function, known_device
from designer.interchange.foreign.finishing import finish
from designer.interchange.foreign.hwloc import HwlocDump, NumaDomains, nvlink_bandwidths
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.machine import MachineDrawing, few, spelled_size
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
from designer.interchange.foreign.xml import Element, Parsed, parse_xml

# The PCI devices of an hwloc file: switches, GPUs, NICs, drives and memory, and the links they hang from.

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


#: the architecture whose NVLinks are assumed where a GPU is unknown
_USUAL: Final = "volta"


def draw_nvlinks(dump: HwlocDump, devices: PciDevices) -> None:
    """The NVLinks that the file's table of bandwidths has."""
    machine = dump.machine
    table = nvlink_bandwidths(dump.root, machine.file)
    drawn: set[tuple[str, str]] = set()
    lost = False
    for (a_key, b_key), megabytes in table.items():
        a, b = dump.parts.get(a_key), dump.parts.get(b_key)
        if a is None or b is None:
            lost = True
            continue
        if a == b or (b, a) in drawn or (a, b) in drawn:
            continue
        drawn.add((a, b))
        gpu = a if a in devices.architectures else b
        known = devices.architectures.get(gpu)
        if known is not None and known.link_kind != "nvlink":
            known = None
        links = known or architecture(_USUAL)
        count = max(1, round(megabytes * 1e6 / amount(links.link_rate, "rate")))
        join_accelerators(machine, a, b, count, links, "nvlink")
        if known is None:
            machine.note(
                "IMP-ASSUMED-LINK",
                f"the GPU's NVLink generation is unknown: {links.link_rate} per link is assumed",
                gpu,
                remedy="set the bandwidth per direction of one link",
            )
    if not table:
        mark_missing_links(machine, devices.architectures)
    if lost:
        machine.note("IMP-DANGLING", "NVLinks to objects that are not in the file were left out")
    _draw_trunk(machine, devices.nvswitches, drawn)


def _draw_trunk(machine: MachineDrawing, nvswitches: Sequence[tuple[str, str]], drawn: set[tuple[str, str]]) -> None:
    """Two boards of six first-generation NVSwitches are joined in pairs, which the file leaves out."""
    first = [part for part, device in nvswitches if device == "0000" or _is_first_nvswitch(device)]
    if not drawn or len(first) != 12 or len(nvswitches) != 12:
        return
    reached: dict[frozenset[str], list[str]] = {}
    for switch in first:
        peers = frozenset(x for pair in drawn if switch in pair for x in pair if x != switch)
        reached.setdefault(peers, []).append(switch)
    islands = list(reached.values())
    if len(islands) == 2 and all(len(i) == 6 for i in islands) and not frozenset.intersection(*reached):
        links = int(assumption("nvswitch_trunk_links").value)
        draw_switch_trunk(machine, islands, links, architecture(_USUAL))


def _is_first_nvswitch(device: str) -> bool:
    known = known_device("10de", device)
    return known is not None and known.type == "nvswitch/nvidia/nvswitch-gen1"


def _sniff(head: str) -> float:
    if re.search(r"<topology[\s>]", head) and re.search(r"<object\s|hwloc", head):
        return 0.95
    if "hwloc.dtd" in head or "hwloc2.dtd" in head:
        return 0.9
    return 0.6 if re.search(r"<object\s+type=\"(?:Machine|Package|PU|Core)\"", head) else 0.0


def _read(text: str, file: str) -> Imported:
    parsed = parse_xml(text, file, ("topology",))
    root = parsed.root
    if root.tag != "topology":
        raise ExchangeError(
            f"its outermost element is <{root.tag[:60]}>, not <topology>: not a whole hwloc file",
            file=file,
            place=f"line {root.line}",
            remedy="write it again with lstopo --of xml",
        )
    if not any(e.tag == "object" for e in root.walk()):
        raise ExchangeError(
            "it holds no objects", file=file, place=f"line {root.line}", remedy="write it again with lstopo --of xml"
        )
    return _design(MachineDrawing(file, "an hwloc XML file", "hwloc-topology"), parsed)


def _design(machine: MachineDrawing, parsed: Parsed) -> Imported:
    dump = HwlocDump(machine, parsed.root)
    machine.note_around(parsed.before, parsed.after)
    devices = PciDevices(dump, NumaDomains(dump))
    devices.draw()
    draw_nvlinks(dump, devices)
    dax = [e.get("name") for e in dump.objects if e.get("type") == "OSDev" and e.get("name").startswith("dax")]
    if dax:
        machine.note(
            "IMP-DAX",
            f"memory that programs open as a device ({few(dax)}) is no NUMA node and was left out",
            dump.server,
            remedy="draw it as memory of a tier of its own if it is used",
        )
    if not any(e.get("type") in ("Bridge", "PCIDev") for e in dump.objects):
        machine.note(
            "IMP-NO-IO",
            "no I/O in this file: CPUs and memory only",
            remedy="write it on the machine itself with lstopo --of xml --whole-io",
        )
    elif not machine.of_kind("gpu"):
        machine.note("IMP-NO-GPU", "there is no GPU in this file")
    return finish(machine, title=dump.product())


IMPORTER = Importer("hwloc-xml", "hwloc (lstopo) XML", (".xml",), _sniff, _read)
