"""One hwloc file being read: its objects, what lies around each, and the parts made of them."""

from __future__ import annotations

from typing import Final

from designer.interchange.foreign import hwloc
from designer.interchange.foreign.devices import known_server
from designer.interchange.foreign.machine import MachineDrawing
from designer.interchange.foreign.xml import Element

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
        self.has_bits = hwloc.major_version(root) >= 3
        self.objects = [e for e in root.walk() if e.tag == "object"]
        self.above = {id(child): e for e in self.objects for child in e.all("object")}
        #: parts by the type and ``gp_index`` of their object
        self.parts: dict[str, str] = {}
        self.about = self._machine_infos()
        self.server = machine.add(
            "server", device=known_server(self.about.get("DMIProductName", "").strip()), attributes=self.about
        )

    def _machine_infos(self) -> dict[str, str]:
        infos = hwloc.infos(self.root)
        for element in self.objects:
            if element.get("type") in ("Machine", "System"):
                return {**hwloc.infos(element), **infos}
        return infos

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
        value = hwloc.integer(text)
        return [name for bit, name in _OS_BITS.items() if value & bit]

    def attributes(self, element: Element) -> dict[str, str]:
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
