"""hwloc XML as ``lstopo --of xml`` writes it, versions 1, 2 and 3.

Packages are sockets, NUMANodes NUMA domains with their memory, PCI-PCI bridges switches and PCI devices parts by class.
Which NUMA domain belongs to which package is told by CPU sets in all three versions, so one rule reads them all.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from designer.catalog.architectures import Architecture, architecture
from designer.design.document import LinkValues
from designer.errors import ExchangeError
from designer.fields import Quantity, amount
from designer.findings import Severity
from designer.interchange.foreign import hwloc
from designer.interchange.foreign.cpus import CpuModel, cpu_model
from designer.interchange.foreign.devices import Device, assumption, is_virtual_function, known_device
from designer.interchange.foreign.distances import numa_latencies, nvlink_bandwidths, socket_distances
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.links import draw_switch_trunk
from designer.interchange.foreign.machine import Machine
from designer.interchange.foreign.xml import Element, Parsed, parse_xml

_TITLE = "an hwloc XML file"
#: osdev_type of versions 1 and 2 is a number, of version 3 a set of bits
_OS_NUMBER: Final = {"0": "block", "1": "gpu", "2": "net", "3": "openfabrics", "4": "dma", "5": "coproc", "6": "memory"}
_OS_BITS: Final = {1: "block", 2: "memory", 4: "gpu", 8: "coproc", 16: "net", 32: "openfabrics", 64: "dma"}
#: the architecture whose NVLinks are assumed where a GPU is unknown
_USUAL: Final = "volta"


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
    return _Reader(file, parsed).run()


@dataclass(slots=True)
class _Place:
    """A NUMA domain or package as drawn: its part and its logical CPUs."""

    part: str
    cpus: int
    nodes: int = 0
    memory_only: bool = False
    model: CpuModel = field(default_factory=lambda: cpu_model("", "", ""))


class _Reader:
    """Walks the objects and draws parts."""

    def __init__(self, file: str, parsed: Parsed) -> None:
        self.machine = Machine(file, _TITLE, "hwloc-topology")
        self.root = parsed.root
        self.bits = hwloc.major_version(parsed.root) >= 3
        self.objects = [e for e in parsed.root.walk() if e.tag == "object"]
        self.above = {id(child): e for e in self.objects for child in e.all("object")}
        self.server = self.machine.add("server", attributes=self._about())
        self.packages: list[_Place] = []
        self.domains: list[_Place] = []
        #: packages that share a CPU with a set of CPUs, and homes of devices by their sets: both are asked for again
        self.overlaps: dict[int, list[_Place]] = {}
        self.homes: dict[tuple[int, int], tuple[str, bool]] = {}
        self.real_ports: dict[int, set[tuple[str, str]]] = {}
        self.by_gp: dict[str, str] = {}
        self.architectures: dict[str, Architecture | None] = {}
        self.nvswitches: list[tuple[str, str]] = []
        self.machine.note_around(parsed.before, parsed.after)

    def run(self) -> Imported:
        machine = self.machine
        self._packages()
        self._domains()
        for element in self.objects:
            if element.get("type") == "Bridge" and element.get("bridge_type").startswith("0-"):
                self._host_bridge(element)
        self._loose_devices()
        self._nvlinks()
        dax = [e.get("name") for e in self.objects if e.get("type") == "OSDev" and e.get("name").startswith("dax")]
        if dax:
            names = ", ".join(name[:20] for name in dax[:3]) + (" …" if len(dax) > 3 else "")
            machine.note(
                "IMP-DAX",
                Severity.INFO,
                f"memory that programs open as a device ({names}) is no NUMA node and was left out",
                self.server,
                remedy="draw it as memory of a tier of its own if it is used",
            )
        if not any(e.get("type") in ("Bridge", "PCIDev") for e in self.objects):
            machine.note(
                "IMP-NO-IO",
                Severity.WARNING,
                "no I/O in this file: CPUs and memory only",
                remedy="write it on the machine itself with lstopo --of xml --whole-io",
            )
        elif not machine.of_kind("gpu"):
            machine.note("IMP-NO-GPU", Severity.INFO, "there is no GPU in this file")
        return machine.finish(title=self._product())

    # -- the machine -------------------------------------------------------------------------------------------------

    def _about(self) -> dict[str, str]:
        infos = hwloc.infos(self.root)
        for element in self.objects:
            if element.get("type") in ("Machine", "System"):
                return {**hwloc.infos(element), **infos}
        return infos

    def _product(self) -> str:
        about = self._about()
        names = [
            about.get("DMISysVendor", "").strip(),
            about.get("DMIProductName", about.get("PlatformModel", "")).strip(),
        ]
        if names[0] and names[1].lower().startswith(names[0].lower()):
            names = names[1:]
        return " ".join(name for name in names if name)

    def _inside(self, element: Element, *types: str) -> Element | None:
        """The nearest object of these types around `element`."""
        above = self.above.get(id(element))
        while above is not None and above.get("type") not in types:
            above = self.above.get(id(above))
        return above

    # -- sockets and NUMA domains ------------------------------------------------------------------------------------

    def _packages(self) -> None:
        machine, architecture = self.machine, self._about().get("Architecture", "")
        for element in self.objects:
            if element.get("type") not in ("Package", "Socket"):
                continue
            infos = hwloc.infos(element)
            model = cpu_model(
                infos.get("CPUVendor", "") or infos.get("CPUModel", ""),
                infos.get("CPUFamilyNumber", ""),
                infos.get("CPUModelNumber", ""),
                "ppc64" if "pvr" in infos.get("CPURevision", "") else architecture,
                infos.get("CPUModel", ""),
            )
            title = " ".join(infos.get("CPUModel", "").split()) or model.title
            cores = sum(1 for e in element.walk() if e.get("type") == "Core")
            part = machine.add(
                "cpu",
                parent=self.server,
                device=Device(title, model.type) if title else None,
                attributes={**infos, **hwloc.attributes(element, "os_index", "cpuset")},
                overrides={"cores": machine.fact(cores)} if cores else None,
            )
            machine.note_cpu(model, title, part)
            self.by_gp[f"Package:{element.get('gp_index')}"] = part
            self.packages.append(
                _Place(part, hwloc.cpu_set(element.get("cpuset")), hwloc.cpu_set(element.get("nodeset")), model=model)
            )

    def _domains(self) -> None:
        machine = self.machine
        bandwidth = self._memory_bandwidths()
        elements = [e for e in self.objects if e.get("type") == "NUMANode"]
        elements = [e for e in elements if not self._is_gpu_memory(e)]
        numbers = Counter(hwloc.integer(e.get("os_index")) for e in elements)
        sets = [hwloc.cpu_set(e.get("cpuset")) for e in elements]
        tiers = [hwloc.memory_tier(e) for e in elements]
        homes = [self._sockets_of(e, cpus) for e, cpus in zip(elements, sets, strict=True)]
        # memory of one tier behind the same sockets shares the bandwidth of that tier
        sharing = Counter(
            (_ids(home), hwloc.is_dram(tier)) for home, cpus, tier in zip(homes, sets, tiers, strict=True) if cpus
        )
        homes_of = [_ids(home) for home in homes]
        seen: set[int] = set()
        for element, cpus, tier, sockets in zip(elements, sets, tiers, homes, strict=True):
            number = hwloc.integer(element.get("os_index"))
            number = number if numbers[number] == 1 else -1
            infos = hwloc.infos(element)
            attributes = {**infos, **hwloc.attributes(element, "os_index", "cpuset", "subtype", "local_memory")}
            part = machine.add("numa", number=number, parent=self.server, attributes=attributes, name=tier)
            for socket in sockets:
                machine.on_die(socket.part, part)
            model = sockets[0].model if sockets else cpu_model("", "", "")
            dram = hwloc.is_dram(tier)
            whole = model.memory if dram else hwloc.tier_bandwidth(tier)
            machine.memory(
                part,
                self.server,
                number=number,
                assumed=_scaled(whole, len(sockets) if dram else 1, sharing[_ids(sockets), dram] if dram else 1),
                capacity=hwloc.integer(element.get("local_memory")),
                bandwidth=bandwidth.get(element.get("gp_index"), 0.0),
                tier=tier,
            )
            only = not cpus or cpus in seen or not dram
            seen.add(cpus)
            self.domains.append(_Place(part, cpus, hwloc.cpu_set(element.get("nodeset")), memory_only=only))
        if not elements and self.packages:
            for package in self.packages:
                machine.memory(package.part, self.server, assumed=package.model.memory)
        if len(self.packages) > 1:
            latencies = numa_latencies(self.root, [e.get("os_index") for e in elements], self.machine.file)
            machine.join_sockets(
                [p.part for p in self.packages], self.packages[0].model, socket_distances(latencies, homes_of)
            )

    def _is_gpu_memory(self, element: Element) -> bool:
        """True if a NUMA node is the memory of an accelerator, which the accelerator has already."""
        if element.get("subtype") != "GPUMemory":
            return False
        self.machine.note(
            "IMP-GPU-MEMORY",
            Severity.INFO,
            "NUMA nodes that are the memory of GPUs were left out: the GPUs have it",
            self.server,
        )
        return True

    def _sockets_of(self, element: Element, cpus: int) -> list[_Place]:
        """The packages a NUMA domain is part of, or is made of."""
        if cpus not in self.overlaps:
            self.overlaps[cpus] = [p for p in self.packages if cpus and p.cpus & cpus]
        shared = self.overlaps[cpus]
        if shared:
            return shared
        around = self._inside(element, "Package", "Socket")
        wanted = self.by_gp.get(f"Package:{around.get('gp_index')}") if around is not None else None
        return [p for p in self.packages if p.part == wanted] or self.packages[:1]

    def _memory_bandwidths(self) -> dict[str, float]:
        """Bandwidth of each NUMANode by gp_index [B/s], where the file gives it; from its own CPUs."""
        found: dict[str, float] = {}
        for attribute in self.root.all("memattr"):
            if attribute.get("name") not in ("Bandwidth", "ReadBandwidth"):
                continue
            for value in attribute.all("memattr_value"):
                megabytes = hwloc.integer(value.get("value"))
                key = value.get("target_obj_gp_index")
                if 0 < megabytes < 10**8 and (attribute.get("name") == "Bandwidth" or key not in found):
                    found[key] = max(found.get(key, 0.0), megabytes * 1e6)
        return found

    # -- PCI ---------------------------------------------------------------------------------------------------------

    def _host_bridge(self, element: Element) -> None:
        before = len(self.machine.parts)
        home, sure = self._home(element)
        for child in element.all("object"):
            self._pci(child, home)
        self._note_place(home, sure, before)

    def _note_place(self, home: str, sure: bool, before: int) -> None:
        if not sure and len(self.machine.parts) > before:
            self.machine.note(
                "IMP-PLACE",
                Severity.WARNING,
                "the file does not say which socket some PCI devices belong to: they were put to the first",
                home,
                remedy="move the devices to their socket",
            )

    def _loose_devices(self) -> None:
        """PCI objects that hang from no host bridge, as in dumps with bridges filtered out."""
        for element in self.objects:
            above = self.above.get(id(element))
            top = above is None or above.get("type") not in ("Bridge", "PCIDev")
            host_bridge = element.get("bridge_type").startswith("0-")
            if top and not host_bridge and element.get("type") in ("PCIDev", "Bridge"):
                before = len(self.machine.parts)
                home, sure = self._home(element)
                self._pci(element, home)
                self._note_place(home, sure, before)

    def _home(self, element: Element) -> tuple[str, bool]:
        """The NUMA domain, else CPU, that a host bridge belongs to, and whether the file is clear about its socket."""
        above = self.above.get(id(element))
        cpus = nodes = 0
        while above is not None and not cpus:
            cpus, nodes = hwloc.cpu_set(above.get("cpuset")), hwloc.cpu_set(above.get("nodeset"))
            above = self.above.get(id(above))
        if (cpus, nodes) not in self.homes:
            self.homes[cpus, nodes] = self._home_of(cpus, nodes)
        return self.homes[cpus, nodes]

    def _home_of(self, cpus: int, nodes: int) -> tuple[str, bool]:
        usual = [d for d in self.domains if not d.memory_only] or self.domains
        by_cpus = [d for d in usual if d.cpus & cpus]
        near = by_cpus or [d for d in usual if d.nodes & nodes] or usual
        if not near:
            near = [p for p in self.packages if p.cpus & cpus] or self.packages
        if not near:
            near = [_Place(self.machine.add("cpu", parent=self.server, attributes={"derived": "yes"}), 0)]
            self.packages += near
            self.machine.memory(near[0].part, self.server, assumed=near[0].model.memory)
        return near[0].part, len(near) == 1 or not self._spans_sockets(near)

    def _spans_sockets(self, places: list[_Place]) -> bool:
        first: str | None = None
        for place in places:
            if place.cpus not in self.overlaps:
                self.overlaps[place.cpus] = [p for p in self.packages if place.cpus and p.cpus & place.cpus]
            for package in self.overlaps[place.cpus]:
                if first is None:
                    first = package.part
                elif first != package.part:
                    return True
        return False

    def _pci(self, element: Element, parent: str) -> None:
        if element.get("type") == "Bridge":
            device = hwloc.identity(element)
            part = self.machine.add(
                "pcie_switch",
                parent=self.server,
                attributes=self._attributes(element),
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
        os_devices = self._os_devices(element)
        if element.get("subtype") == "NVSwitch" or (pci_class == "0680" and vendor == "10de"):
            part = self.machine.add(
                "nvswitch",
                parent=self.server,
                attributes=self._attributes(element),
                device=known_device(vendor, device),
            )
            self.by_gp[f"PCIDev:{element.get('gp_index')}"] = part
            self.nvswitches.append((part, device))
        elif pci_class[:2] == "03" or pci_class[:2] == "12":
            if hwloc.is_display_only(pci_class, vendor, device, os_devices):
                name = hwloc.device_name(element) or f"{vendor}:{device}"
                self.machine.note(
                    "IMP-DISPLAY",
                    Severity.INFO,
                    f"a display controller without compute ({name}) was left out",
                )
            else:
                self._gpu(element, parent, os_devices)
        elif _is_nic(pci_class, os_devices):
            self._nic(element, parent, os_devices)
        elif pci_class[:2] == "01":
            self._storage(element, parent, os_devices, nvme=pci_class == "0108")
        elif pci_class == "0502":
            self._memory_device(element, parent, os_devices)
        elif pci_class in ("0b40", "0b80"):
            self.machine.note(
                "IMP-OTHER-DEVICE",
                Severity.INFO,
                f"a co-processor ({hwloc.device_name(element) or vendor + ':' + device}) was left out",
            )
        else:
            self.machine.note(
                "IMP-SYSTEM-DEVICES", Severity.INFO, "system devices (USB, timers, memory controllers …) were left out"
            )

    def _os_devices(self, element: Element) -> list[tuple[str, Element]]:
        found: list[tuple[str, Element]] = []
        for child in element.all("object"):
            if child.get("type") == "OSDev":
                found += [(kind, child) for kind in self._os_kinds(child.get("osdev_type"))]
        return found

    def _os_kinds(self, text: str) -> list[str]:
        if not self.bits:
            return [_OS_NUMBER.get(text, "")]
        value = hwloc.integer(text)
        return [name for bit, name in _OS_BITS.items() if value & bit]

    def _attributes(self, element: Element) -> dict[str, str]:
        """What the file says of a PCI device, in the same words for all versions."""
        pci_class, vendor, device = hwloc.identity(element)
        found = {"class": pci_class, "vendor": vendor, "device": device} if pci_class else {}
        found |= hwloc.subsystem(element)
        if element.get("pci_busid"):
            found["busid"] = element.get("pci_busid").lower()
        found |= hwloc.attributes(element, "name", "bridge_pci", "subtype") | hwloc.infos(element)
        for child in element.all("object"):
            if child.get("type") == "OSDev":
                prefix = child.get("name") or "osdev"
                found[prefix] = " ".join(k for k in self._os_kinds(child.get("osdev_type")) if k)
                found |= {f"{prefix}.{name}": value for name, value in hwloc.infos(child).items()}
        return found

    def _edge(self, upper: str, lower: str, element: Element, architecture: Architecture | None) -> None:
        text = element.get("pci_link_speed")
        raw = hwloc.attributes(element, "pci_link_speed")
        if (
            hwloc.is_virtual_link(text)
            and _holds_gpu(element)
            and (not architecture or architecture.pcie_generation > 1)
        ):
            self.machine.virtual_pcie(upper, lower, architecture, f"{text} GB/s", raw)
            return
        values, idle = hwloc.pcie_link(text, architecture)
        link_id = self.machine.pcie(upper, lower, values, raw)
        if idle and architecture is not None:
            self.machine.idle(link_id, architecture.pcie_generation, 16)
            self.machine.note(
                "IMP-IDLE",
                Severity.WARNING,
                "these GPUs stood at 2.5 GT/s when the file was written, as idle ones do; they are faster under load",
                link_id,
                remedy="set the generation the link trains to under load",
            )

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
            parent=self.server,
            attributes=self._attributes(element),
            device=device,
            overrides=self._gpu_memory(os_devices),
        )
        self.architectures[part] = architecture
        self.by_gp[f"PCIDev:{element.get('gp_index')}"] = part
        for _, os_device in os_devices:
            self.by_gp[f"OSDev:{os_device.get('gp_index')}"] = part
        self._edge(parent, part, element, architecture)

    def _gpu_memory(self, os_devices: list[tuple[str, Element]]) -> dict[str, Quantity]:
        for _, element in os_devices:
            infos = hwloc.infos(element)
            for name in ("CUDAGlobalMemorySize", "RSMIVRAMSize", "LevelZeroHBMSize"):
                if size := hwloc.size(infos.get(name, "")):
                    return {"memory_capacity": self.machine.fact(hwloc.spelled_size(size))}
        return {}

    def _nic(self, element: Element, parent: str, os_devices: list[tuple[str, Element]]) -> None:
        machine = self.machine
        pci_class, vendor, device = hwloc.identity(element)
        if self._is_virtual(element, os_devices):
            machine.note(
                "IMP-VIRTUAL-FUNCTION",
                Severity.INFO,
                "virtual functions of NICs were left out: they are shares of a NIC, not NICs",
                element.get("pci_busid"),
            )
            return
        names = [e.get("name") for _, e in os_devices if e.get("name")]
        known = known_device(vendor, device) or (
            Device(hwloc.device_name(element)) if hwloc.device_name(element) else None
        )
        technology = {"0207": "InfiniBand", "0c06": "InfiniBand", "0200": "Ethernet"}.get(pci_class)
        overrides = {"technology": machine.fact(technology)} if technology else {}
        rate = max((hwloc.port_rate(hwloc.infos(e)) for _, e in os_devices), default=0.0)
        if rate:
            overrides["bandwidth_per_direction"] = machine.fact(f"{rate:.6g} Gb/s")
        part = machine.add(
            "nic",
            parent=self.server,
            name=" / ".join(dict.fromkeys(names)),
            attributes=self._attributes(element),
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
        above = self.above.get(id(element))
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
                machine.note(
                    "IMP-NO-DISKS",
                    Severity.INFO,
                    "storage controllers without drives in the file were left out",
                )
                return
            part = self._drive(element, disks[0] if disks else None, "NVMe")
            self._edge(parent, part, element, None)
            return
        sata = assumption("sata")
        for disk in disks:
            part = self._drive(element, disk, "SATA or SAS")
            machine.pcie(
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
            overrides["capacity"] = machine.fact(hwloc.spelled_size(size))
        name = disk.get("name") if disk is not None else ""
        return machine.add(
            "drive", parent=self.server, name=name, attributes=self._attributes(element), overrides=overrides
        )

    def _memory_device(self, element: Element, parent: str, os_devices: list[tuple[str, Element]]) -> None:
        """Memory behind PCIe, such as CXL."""
        names = [e.get("name") for _, e in os_devices]
        overrides = {"tier": self.machine.fact("CXL")}
        for _, os_device in os_devices:
            infos = hwloc.infos(os_device)
            if size := sum(hwloc.size(infos.get(name, "")) for name in ("CXLRAMSize", "CXLPMEMSize")):
                overrides["memory_capacity"] = self.machine.fact(hwloc.spelled_size(size))
        part = self.machine.add(
            "memory",
            parent=self.server,
            name=" ".join(names) or "CXL",
            attributes=self._attributes(element),
            overrides=overrides,
        )
        self._edge(parent, part, element, None)

    # -- NVLink ------------------------------------------------------------------------------------------------------

    def _nvlinks(self) -> None:
        machine = self.machine
        table = nvlink_bandwidths(self.root, self.machine.file)
        drawn: set[tuple[str, str]] = set()
        lost = False
        for (a_key, b_key), megabytes in table.items():
            a, b = self.by_gp.get(a_key), self.by_gp.get(b_key)
            if a is None or b is None:
                lost = True
                continue
            if a == b or (b, a) in drawn or (a, b) in drawn:
                continue
            drawn.add((a, b))
            gpu = a if a in self.architectures else b
            known = self.architectures.get(gpu)
            if known is not None and known.link_kind != "nvlink":
                known = None
            links = known or architecture(_USUAL)
            count = max(1, round(megabytes * 1e6 / amount(links.link_rate, "rate")))
            machine.accelerator_link(a, b, count, links, "nvlink")
            if known is None:
                machine.note(
                    "IMP-ASSUMED-LINK",
                    Severity.WARNING,
                    f"the GPU's NVLink generation is unknown: {links.link_rate} per link is assumed",
                    gpu,
                    remedy="set the bandwidth per direction of one link",
                )
        if not table:
            machine.missing_links(self.architectures)
        if lost:
            machine.note("IMP-DANGLING", Severity.WARNING, "NVLinks to objects that are not in the file were left out")
        self._trunk(drawn)

    def _trunk(self, drawn: set[tuple[str, str]]) -> None:
        """Two boards of six first-generation NVSwitches are joined in pairs, which the file leaves out."""
        first = [part for part, device in self.nvswitches if device == "0000" or _is_first_nvswitch(device)]
        if not drawn or len(first) != 12 or len(self.nvswitches) != 12:
            return
        reached: dict[frozenset[str], list[str]] = {}
        for switch in first:
            peers = frozenset(x for pair in drawn if switch in pair for x in pair if x != switch)
            reached.setdefault(peers, []).append(switch)
        islands = list(reached.values())
        if len(islands) == 2 and all(len(i) == 6 for i in islands) and not frozenset.intersection(*reached):
            links = int(assumption("nvswitch_trunk_links").value)
            draw_switch_trunk(self.machine, islands, links, architecture(_USUAL))


def _is_nic(pci_class: str, os_devices: list[tuple[str, Element]]) -> bool:
    """Network controllers, InfiniBand adapters of the serial bus class, and whatever else has a network interface.

    A coprocessor with an interface to its own system and an interface behind USB are no NICs of the machine.
    """
    if pci_class[:2] == "02" or pci_class == "0c06":
        return True
    return pci_class not in ("0b40", "0c03") and any(kind in ("net", "openfabrics") for kind, _ in os_devices)


def _holds_gpu(element: Element) -> bool:
    """True if a PCI object is an accelerator or has one below."""
    return any(hwloc.identity(e)[0][:2] in ("03", "12") for e in element.walk() if e.get("type") == "PCIDev")


def _is_first_nvswitch(device: str) -> bool:
    known = known_device("10de", device)
    return known is not None and known.type == "nvswitch/nvidia/nvswitch-gen1"


def _ids(places: list[_Place]) -> tuple[str, ...]:
    return tuple(place.part for place in places)


def _scaled(memory: str, sockets: int, domains: int) -> str:
    rate = float(memory.split()[0]) * max(sockets, 1) / max(domains, 1)
    return f"{rate:.6g} {memory.split()[1]}"


IMPORTER = Importer("hwloc-xml", "hwloc (lstopo) XML", (".xml",), _sniff, _read)
