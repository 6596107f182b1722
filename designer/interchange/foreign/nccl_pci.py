"""The PCI tree of an NCCL topology file: switches, GPUs, NICs and drives, and the links they hang from."""

from __future__ import annotations

import re
from collections.abc import Mapping

from designer.catalog.architectures import Architecture
from designer.design.document import LinkValues
from designer.fields import Quantity
from designer.interchange.foreign import nccl
from designer.interchange.foreign.machine import MachineDrawing
from designer.interchange.foreign.nccl_hosts import Host
from designer.interchange.foreign.nccl_links import AcceleratorLinks, note_ignored
from designer.interchange.foreign.nccl_nics import draw_nic
from designer.interchange.foreign.pcie import join_pcie, join_virtual_pcie, note_idle, unknown_pcie
from designer.interchange.foreign.xml import Element
from designer.sources import Status

_BUS_ID = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]\Z")


class PciTree:
    """Makes a part of every PCI device that matters to a design.

    Parameters
    ----------
    links
        Where GPUs are entered, with what they list.
    numbers
        Numbers of GPUs by element, where the file has them.
    """

    def __init__(self, machine: MachineDrawing, links: AcceleratorLinks, numbers: Mapping[int, int]) -> None:
        self.machine, self.links, self.numbers = machine, links, numbers

    def draw(self, host: Host, element: Element, parent: str, numa: str) -> None:
        """The parts of a ``<pci>`` element and of those below it, hung from `parent` in a NUMA domain."""
        kind = nccl.kind_of(element)
        if kind is None:
            self.machine.note("IMP-OTHER-DEVICE", f"a device of class {element.get('class')} was left out")
            return
        part = {"gpu": self._gpu, "pcie_switch": self._bridge, "nic": self._nic}.get(kind, self._other)(
            host, element, parent, numa, kind
        )
        busid = element.get("busid").lower()
        if busid in host.parts:
            self.machine.note("IMP-DUPLICATE", f"the bus id {busid[:40]} exists more than once in one machine", part)
        elif busid and not _BUS_ID.match(busid):
            self.machine.note("IMP-BUS-ID", "the bus id has an unusual form", part)
        host.parts.setdefault(busid, part)
        below = part if kind == "pcie_switch" else parent
        for child in element.all("pci"):
            self.draw(host, child, below, numa)

    def _bridge(self, host: Host, element: Element, parent: str, numa: str, kind: str) -> str:
        part = self.machine.add(
            kind, parent=host.server, attributes=element.attributes, device=nccl.listed_device(element)
        )
        self._edge(parent, part, element, None)
        if nccl.interfaces(element):
            self._nic(host, element, part, numa, "nic", own_link=False)
        for child in element.children:
            if child.tag == "pcilink":
                self.machine.note(
                    "IMP-PCILINK",
                    "direct links between PCIe switches (<pcilink>) were left out",
                    part,
                    remedy="draw them as PCIe links",
                )
            elif child.tag not in ("pci", "nic", "net"):
                note_ignored(self.machine, child)
        return part

    def _gpu(self, host: Host, element: Element, parent: str, numa: str, kind: str) -> str:
        machine = self.machine
        gpus = element.all("gpu")
        architecture = nccl.architecture_of(element, gpus)
        attributes = dict(element.attributes)
        for index, gpu in enumerate(gpus):
            prefix = "gpu." if len(gpus) == 1 else f"gpu{index}."
            attributes |= {prefix + name: value for name, value in gpu.attributes.items()}
        number = self.numbers.get(id(element))
        device = nccl.listed_device(element) or nccl.device_of_gpus(gpus)
        overrides: dict[str, Quantity] = {}
        if architecture is not None and device is None:
            overrides["architecture"] = machine.fact(architecture.name, status=Status.DERIVED)
        part = machine.add(
            kind, number=number, parent=host.server, attributes=attributes, device=device, overrides=overrides
        )
        if len(gpus) > 1:
            machine.note("IMP-SHARED-GPU", "several ranks or halves share one physical GPU: drawn once", part)
        self.links.architectures[part] = architecture
        chip_links = [c for gpu in gpus for c in gpu.all("c2c")]
        self._edge(parent, part, element, architecture, slow_side_path=bool(chip_links))
        self.links.chip_links(numa, part, chip_links)
        host.gpus.setdefault(element.get("busid").lower(), part)
        self.links.gpus.append((host, part, element.get("busid").lower(), gpus))
        return part

    def _nic(self, host: Host, element: Element, parent: str, _numa: str, kind: str, own_link: bool = True) -> str:
        nets = nccl.interfaces(element)
        attributes = dict(element.attributes)
        link = (nccl.pcie_generation(element.get("link_speed")), nccl.integer(element.get("link_width"), 0))
        part = draw_nic(self.machine, host, nets, attributes, nccl.listed_device(element), element.get("class"), link)
        if own_link:
            self._edge(parent, part, element, None)
        else:
            join_pcie(self.machine, parent, part, unknown_pcie(None))
        if not element.get("class"):
            self.machine.note(
                "IMP-NO-CLASS",
                "these PCI devices have no class: taken as NICs, the only leaves NCCL lists beside GPUs",
                part,
                remedy="change the kind of those that are something else",
            ) if not nets else None
        return part

    def _other(self, host: Host, element: Element, parent: str, _numa: str, kind: str) -> str:
        part = self.machine.add(
            kind, parent=host.server, attributes=element.attributes, device=nccl.listed_device(element)
        )
        if kind == "nvswitch":
            self.links.switches[host.server, element.get("busid").lower()] = part
        else:
            self._edge(parent, part, element, None)
        return part

    def _edge(
        self, upper: str, lower: str, element: Element, architecture: Architecture | None, slow_side_path: bool = False
    ) -> None:
        """The PCIe link between an element and what it hangs from."""
        machine = self.machine
        raw = {k: v for k, v in element.attributes.items() if k in ("link_speed", "link_width")}
        generation, lanes = nccl.pcie_generation(element.get("link_speed")), nccl.integer(element.get("link_width"), 0)
        if generation == 1 and slow_side_path:
            machine.note(
                "IMP-SIDE-PATH",
                "this GPU talks to its CPU over the chip-to-chip link: the slow PCIe link beside it is not drawn",
                lower,
            )
            return
        if generation == 1 and lanes == 1 and nccl.holds_gpu(element):
            join_virtual_pcie(machine, upper, lower, architecture, "Gen1 x1", raw)
            return
        if generation and 1 <= lanes <= 32:
            values = LinkValues(kind="pcie", generation=generation, lanes=lanes, status=Status.PRIMARY)
        elif generation:
            values = LinkValues(kind="pcie", generation=generation, lanes=16, status=Status.ASSUMED)
        else:
            if element.get("link_speed"):
                machine.note("IMP-LINK-SPEED", "the link speed cannot be read", lower)
            values = unknown_pcie(architecture)
        link_id = join_pcie(machine, upper, lower, values, raw)
        if generation == 1 and architecture is not None and architecture.pcie_generation >= 3:
            note_idle(machine, link_id, architecture)
