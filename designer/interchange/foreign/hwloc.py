"""What the objects of an hwloc file say: identities, link speeds and CPU sets, in one wording for all versions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from designer.catalog.architectures import Architecture
from designer.catalog.loader import load_catalog
from designer.design.document import LinkValues
from designer.errors import ExchangeError
from designer.interchange.foreign import hwloc
from designer.interchange.foreign.cpus import CpuModel, cpu_model
from designer.interchange.foreign.devices import Device, known_server, only_displays
from designer.interchange.foreign.machine import MachineDrawing
from designer.interchange.foreign.pcie import unknown_pcie
from designer.interchange.foreign.sockets import join_on_die, join_sockets, note_cpu
from designer.interchange.foreign.xml import Element
from designer.sources import Status

#: osdev_type of versions 1 and 2 is a number, of version 3 a set of bits
_OS_NUMBER: Final = {"0": "block", "1": "gpu", "2": "net", "3": "openfabrics", "4": "dma", "5": "coproc", "6": "memory"}
_OS_BITS: Final = {1: "block", 2: "memory", 4: "gpu", 8: "coproc", 16: "net", 32: "openfabrics", 64: "dma"}


class HwlocDump:
    """The objects of a file, and the machine being made of them.

    Parameters
    ----------
    root
        The outermost element.
    """

    def __init__(self, machine: MachineDrawing, root: Element) -> None:
        self.machine, self.root = machine, root
        self.has_bits = major_version(root) >= 3
        self.objects = [e for e in root.walk() if e.tag == "object"]
        self.above = {id(child): e for e in self.objects for child in e.all("object")}
        #: parts by the type and ``gp_index`` of their object
        self.parts: dict[str, str] = {}
        self.about = self._machine_infos()
        self.server = machine.add(
            "server", device=known_server(self.about.get("DMIProductName", "").strip()), attributes=self.about
        )

    def _machine_infos(self) -> dict[str, str]:
        of_root = infos(self.root)
        for element in self.objects:
            if element.get("type") in ("Machine", "System"):
                return {**infos(element), **of_root}
        return of_root

    def product(self) -> str:
        """Vendor and product name of the machine; empty where the file has none."""
        vendor = self.about.get("DMISysVendor", "").strip()
        name = self.about.get("DMIProductName", self.about.get("PlatformModel", "")).strip()
        if vendor and name.lower().startswith(vendor.lower()):
            return name
        return " ".join(filter(None, (vendor, name)))

    def inside(self, element: Element, *types: str) -> Element | None:
        """The nearest object of these types around `element`."""
        above = self.above.get(id(element))
        while above is not None and above.get("type") not in types:
            above = self.above.get(id(above))
        return above

    def register(self, element: Element, part: str) -> None:
        """Remember which part was made of an object, for what refers to it later."""
        self.parts[f"{element.get('type')}:{element.get('gp_index')}"] = part

    def os_devices(self, element: Element) -> list[tuple[str, Element]]:
        """The devices the operating system has for a PCI device, with the kind of each."""
        below = [child for child in element.all("object") if child.get("type") == "OSDev"]
        return [(kind, child) for child in below for kind in self._os_kinds(child.get("osdev_type"))]

    def _os_kinds(self, text: str) -> list[str]:
        if not self.has_bits:
            return [_OS_NUMBER.get(text, "")]
        value = integer(text)
        return [name for bit, name in _OS_BITS.items() if value & bit]

    def attributes(self, element: Element) -> dict[str, str]:
        """What the file says of a PCI device, in the same words for all versions."""
        pci_class, vendor, device = identity(element)
        found = {"class": pci_class, "vendor": vendor, "device": device} if pci_class else {}
        found |= subsystem(element)
        if element.get("pci_busid"):
            found["busid"] = element.get("pci_busid").lower()
        found |= attributes(element, "name", "bridge_pci", "subtype") | infos(element)
        for child in element.all("object"):
            if child.get("type") == "OSDev":
                prefix = child.get("name") or "osdev"
                found[prefix] = " ".join(k for k in self._os_kinds(child.get("osdev_type")) if k)
                found |= {f"{prefix}.{name}": value for name, value in infos(child).items()}
        return found


_PCI_TYPE = re.compile(
    r"([0-9a-f]{4})(?:\s*\[([0-9a-f]{4}):([0-9a-f]{4})\])?(?:\s*\[([0-9a-f]{4}):([0-9a-f]{4})\])?\s*([0-9a-f]{2})?",
    re.IGNORECASE | re.ASCII,
)
#: the part whose bandwidth a tier of memory has where the file is silent
_TIERS: Final = {
    "PMEM": "memory/intel/pmem-200",
    "HBM": "memory/intel/hbm2e-xeon-max",
    "MCDRAM": "memory/intel/hbm2e-xeon-max",
}
_ANY_TIER: Final = "memory/generic/cxl-gen5-x8"
#: what one PCIe lane carries by generation as hwloc computes it [GB/s]; 5 GT/s appears with either encoding
_LANE_RATES: Final = ((1, 0.25), (2, 0.5), (2, 0.615385), (3, 0.984615), (4, 1.969231), (5, 3.938462), (6, 7.5625))


def major_version(root: Element) -> int:
    """The major version of hwloc that wrote the file; 1 where it does not say."""
    match = re.match(r"([0-9]{1,3})", root.get("version"), re.ASCII)
    return int(match[1]) if match else 1


def infos(element: Element) -> dict[str, str]:
    """The ``<info>`` pairs of an object."""
    return {i.get("name"): i.get("value") for i in element.all("info") if i.get("name")}


def attributes(element: Element, *names: str) -> dict[str, str]:
    """The attributes of these names, those that are empty left out."""
    return {name: element.get(name) for name in names if element.get(name)}


def device_name(element: Element) -> str:
    """The name of a PCI device as the machine's own id list spells it."""
    return infos(element).get("PCIDevice", "") or element.get("name")


def identity(element: Element) -> tuple[str, str, str]:
    """PCI class, vendor and device of an object, four digits each, empty where unknown."""
    match = _PCI_TYPE.match(element.get("pci_type"))
    if match is None:
        return "", "", ""
    return match[1].lower(), (match[2] or "").lower(), (match[3] or "").lower()


def subsystem(element: Element) -> dict[str, str]:
    """Vendor and device of the board a PCI device sits on, where the file has them."""
    match = _PCI_TYPE.match(element.get("pci_type"))
    if match is None or not match[4]:
        return {}
    return {"subsystem_vendor": match[4].lower(), "subsystem_device": match[5].lower()}


def memory_tier(node: Element) -> str:
    """The tier of a NUMA node's memory as the file gives it; empty where it does not, which is DRAM.

    Memory that Linux hands on from a DAX device (`DAXDevice`) is persistent or behind CXL, never half of the DRAM.
    """
    subtype, stated = node.get("subtype"), infos(node)
    if subtype.upper().startswith("CXL"):
        return "CXL"
    if "DAXDevice" not in stated and "DAXType" not in stated:
        return "PMEM" if subtype == "NVM" else subtype
    if re.search(r"cxl|decoder[0-9]|dax_region", stated.get("DAXParent", ""), re.IGNORECASE):
        return "CXL"
    return "PMEM" if "NVM" in (stated.get("DAXType"), subtype) else subtype if subtype in ("HBM", "MCDRAM") else "DAX"


def is_dram(tier: str) -> bool:
    """True if memory of this tier is the usual one behind the channels of a CPU."""
    return tier in ("", "DRAM")


def tier_bandwidth(tier: str) -> str:
    """Bandwidth of memory of a tier that the file gives none for, spelled."""
    part = load_catalog().get(_TIERS.get(tier, _ANY_TIER))
    return str(part.values["memory_bandwidth"].value)


def is_display_only(pci_class: str, vendor: str, device: str, os_devices: list[tuple[str, Element]]) -> bool:
    """True if a class 03 device only drives a screen, as the chip of a management controller does."""
    if pci_class != "0300" or vendor == "10de":
        return False
    if any(kind == "coproc" for kind, _ in os_devices):
        return False
    return vendor != "1002" or only_displays(vendor, device)


def is_removable(element: Element) -> bool:
    """True if a block device is a stick, a disc or a loop: no drive of the machine."""
    text = (element.get("subtype") + " " + infos(element).get("Type", "")).lower()
    return "removable" in text or element.get("name").startswith(("sr", "fd", "loop"))


def port_rate(stated: Mapping[str, str]) -> float:
    """Port rate [Gb/s] where a version of hwloc gives one, else 0."""
    match = re.match(r"([0-9]{1,4}(?:\.[0-9]{1,3})?)\s*(?:Gb/s|Gbps)", stated.get("Port1Rate", ""), re.ASCII)
    return float(match[1]) if match else 0.0


def is_virtual_link(text: str) -> bool:
    """True if a speed is that of one lane of the first generation, which buses of virtual machines state."""
    number = _rate(text)
    return 0 < number <= 0.25


def _rate(text: str) -> float:
    return float(text) if re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]{1,9})?", text, re.ASCII) else 0.0


def pcie_link(text: str, architecture: Architecture | None) -> tuple[LinkValues, bool]:
    """The PCIe link of a speed as hwloc prints it [GB/s, whole link], and whether a GPU seems to have been idle."""
    number = _rate(text)
    if number <= 0:
        return unknown_pcie(architecture), False
    fitting = [
        (g, lanes) for g, lane in _LANE_RATES for lanes in (1, 2, 4, 8, 16) if abs(number / lane / lanes - 1) < 2e-3
    ]
    most = architecture.pcie_generation if architecture else 7
    sure = [(g, lanes) for g, lanes in fitting if lanes == 16 and g <= most] if architecture else fitting
    if len(sure) == 1:
        generation, lanes = sure[0]
        values = LinkValues(kind="pcie", generation=generation, lanes=lanes, status=Status.PRIMARY)
        return values, architecture is not None and generation == 1
    spelled = f"{number:.9g} GB/s"
    idle = architecture is not None and number <= 4.0 and architecture.pcie_generation >= 3
    return LinkValues(kind="pcie", bandwidth_per_direction=spelled, status=Status.PRIMARY), idle


def integer(text: str) -> int:
    """`text` as a number, 0 where it is none."""
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text, re.ASCII) else 0


def size(text: str) -> float:
    """A size [B] that hwloc prints in KiB, 0 where it is none."""
    match = re.match(r"([0-9]{1,15})\s*(?:KiB|kB)?\Z", text, re.ASCII)
    return int(match[1]) * 1024.0 if match else 0.0


def cpu_set(text: str) -> int:
    """A cpuset or nodeset as bits; empty words are zero, ``0xf...f`` represents all."""
    if text.startswith("0xf...f"):
        return (1 << 4096) - 1
    value = 0
    words = text.split(",")
    if len(words) > 512:
        return 0
    for word in words:
        digits = word.strip().lower().removeprefix("0x") or "0"
        if not re.fullmatch(r"[0-9a-f]{1,8}", digits, re.ASCII):
            return 0
        value = (value << 32) | int(digits, 16)
    return value


@dataclass(slots=True)
class Place:
    """A NUMA domain or package: its part, its logical CPUs and its NUMA nodes as bits."""

    part: str
    cpus: int
    nodes: int = 0
    memory_only: bool = False
    model: CpuModel = field(default_factory=lambda: cpu_model("", "", ""))


class NumaDomains:
    """The sockets and NUMA domains of a file."""

    def __init__(self, dump: HwlocDump) -> None:
        self.dump, self.machine = dump, dump.machine
        self.packages: list[Place] = []
        self.domains: list[Place] = []
        # packages that share a CPU with a set of CPUs, and homes of devices by their sets: both are asked for again
        self._overlaps: dict[int, list[Place]] = {}
        self._homes: dict[tuple[int, int], tuple[str, bool]] = {}
        self._packages()
        self._domains()

    def _packages(self) -> None:
        machine, architecture = self.machine, self.dump.about.get("Architecture", "")
        for element in self.dump.objects:
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
                parent=self.dump.server,
                device=Device(title, model.type) if title else None,
                attributes={**infos, **hwloc.attributes(element, "os_index", "cpuset")},
                overrides={"cores": machine.fact(cores)} if cores else None,
            )
            note_cpu(machine, model, title, part)
            self.dump.register(element, part)
            self.packages.append(
                Place(part, hwloc.cpu_set(element.get("cpuset")), hwloc.cpu_set(element.get("nodeset")), model=model)
            )

    def _domains(self) -> None:
        machine = self.machine
        bandwidth = self._memory_bandwidths()
        elements = [e for e in self.dump.objects if e.get("type") == "NUMANode"]
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
            part = machine.add("numa", number=number, parent=self.dump.server, attributes=attributes, name=tier)
            for socket in sockets:
                join_on_die(machine, socket.part, part)
            model = sockets[0].model if sockets else cpu_model("", "", "")
            dram = hwloc.is_dram(tier)
            whole = model.memory if dram else hwloc.tier_bandwidth(tier)
            machine.memory(
                part,
                self.dump.server,
                number=number,
                assumed=_rate_per_domain(
                    whole, len(sockets) if dram else 1, sharing[_ids(sockets), dram] if dram else 1
                ),
                capacity=hwloc.integer(element.get("local_memory")),
                bandwidth=bandwidth.get(element.get("gp_index"), 0.0),
                tier=tier,
            )
            only = not cpus or cpus in seen or not dram
            seen.add(cpus)
            self.domains.append(Place(part, cpus, hwloc.cpu_set(element.get("nodeset")), memory_only=only))
        if not elements and self.packages:
            for package in self.packages:
                machine.memory(package.part, self.dump.server, assumed=package.model.memory)
        if len(self.packages) > 1:
            latencies = numa_latencies(self.dump.root, [e.get("os_index") for e in elements], self.machine.file)
            join_sockets(
                machine, [p.part for p in self.packages], self.packages[0].model, socket_distances(latencies, homes_of)
            )

    def _is_gpu_memory(self, element: Element) -> bool:
        """True if a NUMA node is the memory of an accelerator, which the accelerator has already."""
        if element.get("subtype") != "GPUMemory":
            return False
        self.machine.note(
            "IMP-GPU-MEMORY", "NUMA nodes that are the memory of GPUs were left out: the GPUs have it", self.dump.server
        )
        return True

    def _sockets_of(self, element: Element, cpus: int) -> list[Place]:
        """The packages a NUMA domain is part of, or is made of."""
        if shared := self._overlapping_packages(cpus):
            return shared
        around = self.dump.inside(element, "Package", "Socket")
        wanted = self.dump.parts.get(f"{around.get('type')}:{around.get('gp_index')}") if around is not None else None
        return [p for p in self.packages if p.part == wanted] or self.packages[:1]

    def _memory_bandwidths(self) -> dict[str, float]:
        """Bandwidth of each NUMANode by gp_index [B/s], where the file gives it; from its own CPUs."""
        found: dict[str, float] = {}
        for attribute in self.dump.root.all("memattr"):
            if attribute.get("name") not in ("Bandwidth", "ReadBandwidth"):
                continue
            for value in attribute.all("memattr_value"):
                megabytes = hwloc.integer(value.get("value"))
                key = value.get("target_obj_gp_index")
                if 0 < megabytes < 10**8 and (attribute.get("name") == "Bandwidth" or key not in found):
                    found[key] = max(found.get(key, 0.0), megabytes * 1e6)
        return found

    def home(self, element: Element) -> tuple[str, bool]:
        """The NUMA domain, else CPU, that a host bridge belongs to, and whether the file is clear about its socket."""
        above = self.dump.above.get(id(element))
        cpus = nodes = 0
        while above is not None and not cpus:
            cpus, nodes = hwloc.cpu_set(above.get("cpuset")), hwloc.cpu_set(above.get("nodeset"))
            above = self.dump.above.get(id(above))
        if (cpus, nodes) not in self._homes:
            self._homes[cpus, nodes] = self._home_of(cpus, nodes)
        return self._homes[cpus, nodes]

    def _home_of(self, cpus: int, nodes: int) -> tuple[str, bool]:
        usual = [d for d in self.domains if not d.memory_only] or self.domains
        by_cpus = [d for d in usual if d.cpus & cpus]
        near = by_cpus or [d for d in usual if d.nodes & nodes] or usual
        if not near:
            near = [p for p in self.packages if p.cpus & cpus] or self.packages
        if not near:
            near = [Place(self.machine.add("cpu", parent=self.dump.server, attributes={"derived": "yes"}), 0)]
            self.packages += near
            self.machine.memory(near[0].part, self.dump.server, assumed=near[0].model.memory)
        return near[0].part, len(near) == 1 or not self._spans_sockets(near)

    def _spans_sockets(self, places: list[Place]) -> bool:
        found = (package.part for place in places for package in self._overlapping_packages(place.cpus))
        first = next(found, None)
        return any(part != first for part in found)

    def _overlapping_packages(self, cpus: int) -> list[Place]:
        """The packages that share a logical CPU with a set of them."""
        if cpus not in self._overlaps:
            self._overlaps[cpus] = [p for p in self.packages if cpus and p.cpus & cpus]
        return self._overlaps[cpus]


def _ids(places: list[Place]) -> tuple[str, ...]:
    return tuple(place.part for place in places)


def _rate_per_domain(memory: str, sockets: int, domains: int) -> str:
    rate = float(memory.split()[0]) * max(sockets, 1) / max(domains, 1)
    return f"{rate:.6g} {memory.split()[1]}"


# The matrices of hwloc files: which objects NVLink joins and how fast, and how far NUMA nodes are from each other.

MOST_OBJECTS: Final = 2048
_KEY = re.compile(r"(?:[A-Za-z0-9]{1,20}:)?[0-9]{1,20}\Z", re.ASCII)


def nvlink_bandwidths(root: Element, file: str) -> dict[tuple[str, str], int]:
    """Bandwidth between two objects [MB/s] by ``Type:gp_index``, zero entries and the diagonal left out.

    Raises
    ------
    ExchangeError
        If the matrix does not have the size it says.
    """
    found: dict[tuple[str, str], int] = {}
    for element in root.children:
        if element.tag in ("distances2", "distances2hetero") and element.get("name") == "NVLinkBandwidth":
            _read_matrix(element, file, found)
    return found


def _read_matrix(element: Element, file: str, found: dict[tuple[str, str], int]) -> None:
    keys = " ".join(e.text for e in element.all("indexes")).split()
    if element.tag == "distances2":
        keys = [f"{element.get('type')}:{key}" for key in keys]
    values = " ".join(e.text for e in element.all("u64values")).split()
    size = len(keys)
    if size > MOST_OBJECTS or element.get("nbobjs") != str(size) or len(values) != size * size:
        raise ExchangeError(
            f"the NVLink matrix of {element.get('nbobjs')[:20]} objects has {size} names and {len(values)} values",
            file=file,
            place=f"line {element.line}",
            remedy="the file is damaged; write it again with lstopo",
        )
    if not all(_KEY.match(key) for key in keys):
        raise ExchangeError("the NVLink matrix names no objects", file=file, place=f"line {element.line}")
    for row in range(size):
        for column in range(size):
            text = values[row * size + column]
            value = int(text) if re.fullmatch(r"[0-9]{1,12}", text, re.ASCII) else 0
            if value and row != column and (keys[column], keys[row]) not in found:
                found[keys[row], keys[column]] = value


def numa_latencies(root: Element, numbers: Sequence[str], file: str) -> list[list[float]]:
    """Relative latencies between the NUMA nodes with these numbers of the system; empty where the file has none.

    Versions 2 and 3 write ``<distances2 name="NUMALatency">`` at the end, version 1 ``<distances>`` inside an object.

    Raises
    ------
    ExchangeError
        If the matrix does not have the size it says.
    """
    for element in root.walk():
        if element.tag == "distances2" and element.get("type") == "NUMANode" and "Latency" in element.get("name"):
            keys = " ".join(e.text for e in element.all("indexes")).split()
            values = " ".join(e.text for e in element.all("u64values")).split()
            if len(keys) > MOST_OBJECTS or len(values) != len(keys) ** 2:
                raise ExchangeError(
                    f"the latency matrix of NUMA nodes has {len(keys)} names and {len(values)} values",
                    file=file,
                    place=f"line {element.line}",
                    remedy="the file is damaged; write it again with lstopo",
                )
            found = _latency_rows(values, len(keys))
            row = {key: i for i, key in enumerate(keys)}
            if found and element.get("indexing", "os") == "os" and set(numbers) <= set(row):
                return [[found[row[a]][row[b]] for b in numbers] for a in numbers]
        elif element.tag == "distances" and element.get("nbobjs") == str(len(numbers)):
            found = _latency_rows([e.get("value") for e in element.all("latency")], len(numbers))
            if found:
                return found
    return []


def _latency_rows(values: Sequence[str], size: int) -> list[list[float]]:
    if len(values) != size * size or not all(re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", v, re.ASCII) for v in values):
        return []
    return [[float(v) for v in values[row * size : (row + 1) * size]] for row in range(size)]


def socket_distances(
    latencies: Sequence[Sequence[float]], sockets: Sequence[Sequence[str]]
) -> dict[tuple[str, str], float]:
    """The least latency between two sockets, by the NUMA nodes each has; ``sockets`` names those of each node."""
    found: dict[tuple[str, str], float] = {}
    for row, ones in zip(latencies, sockets, strict=False):
        for value, others in zip(row, sockets, strict=False):
            for a in ones:
                for b in others:
                    if a != b:
                        key = (a, b) if a < b else (b, a)
                        found[key] = min(found.get(key, value), value)
    return found
