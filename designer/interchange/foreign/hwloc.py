"""What the objects of an hwloc file say: identities, link speeds and CPU sets, in one wording for all versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from designer.catalog.architectures import Architecture
from designer.catalog.loader import load_catalog
from designer.design.document import LinkValues
from designer.interchange.foreign.devices import known_server, only_displays
from designer.interchange.foreign.machine import MachineDrawing
from designer.interchange.foreign.pcie import unknown_pcie
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
