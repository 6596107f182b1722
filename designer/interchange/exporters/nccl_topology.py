"""A draft of the file ``NCCL_TOPO_FILE`` names: one server's PCIe tree, GPUs, NICs and links between accelerators.

NCCL takes from the file what it holds and asks the machine for the rest, by bus id. Parts imported from a machine keep
the bus ids they had there; others are numbered here and have to be replaced by those of the machine.

Sources: NVIDIA/nccl, src/graph/xml.h and xml.cc (system version 1); NCCL documentation, NCCL_TOPO_FILE.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

from designer import atomic
from designer.catalog.loader import load_catalog
from designer.catalog.parttype import value_of
from designer.design.document import Design, Link, Wiring
from designer.design.elaborate import Netlist, elaborate
from designer.design.name_pattern import safe
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.formulas.transfer.pcie_rate import pcie_rate
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.foreign.pcie import GENERATIONS
from designer.interchange.network_view import one_line

#: class codes of the PCI code and ID assignment specification
_CLASS: Final = {
    "gpu": "0x030200",
    "pcie_switch": "0x060400",
    "nic": "0x020000",
    "dpu": "0x020000",
    "drive": "0x010802",
    "nvswitch": "0x068000",
}
_INFINIBAND: Final = "0x020700"
_BUS_ID: Final = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]\Z")
_VENDORS: Final = {"intel": "GenuineIntel", "amd": "AuthenticAMD"}
#: where made-up GUIDs begin: the bit that says they are locally administered is set
_LOCAL: Final = 0x0200_0000_0000_0001
#: the PCIe link next to a chip-to-chip link, as such machines report it
_SIDE_PATH: Final = {"link_speed": "2.5 GT/s PCIe", "link_width": "1"}
#: what represents a switch the machine does not see, such as those of a rack
_UNSEEN: Final = "ffff:ff:ff.f"
#: beyond it families are reported as an extension
_BASE_FAMILY: Final = 15
#: buses of one PCI domain
_BUSES: Final = 255
_HOSTS: Final = ("numa", "cpu")


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the file of one server: the one chosen, else the first with GPUs."""
    net = elaborate(design)
    server, others = _server(net, options.chosen)
    root = _Writer(design, net, server).run()
    ET.indent(root)
    name = one_line(net.path(server)) if server >= 0 else one_line(design.title or design.name)
    draft = f"draft for {name.replace('--', '- -')}: bus ids that are not the machine's have to be replaced"
    text = f"<!-- {draft} -->\n{ET.tostring(root, encoding='unicode')}\n"
    notes = atomic.write(path, text.encode("utf-8"))
    if others:
        return (*notes, f"{path.name} is of {name} only; --only SERVER chooses another of the {others + 1} servers")
    return notes


def _server(net: Netlist, chosen: frozenset[str]) -> tuple[int, int]:
    """Number of the server to write, −1 for a design without any, and how many others have GPUs."""
    kinds = [part.kind for part in net.part_defs]
    definition, parent = net.part_def.tolist(), net.parent.tolist()
    having: dict[int, None] = {}
    for part, d in enumerate(definition):
        if kinds[d] == "gpu":
            at = part
            while at >= 0 and kinds[definition[at]] != "server":
                at = parent[at]
            having[at] = None
    if not having:
        raise ExchangeError("the design has no GPU", remedy="give the servers their contents")
    wanted = [server for server in having if server >= 0 and any(_is_within(net.path(server), c) for c in chosen)]
    if chosen and not wanted:
        raise ExchangeError("no server with GPUs is among what is chosen", place="--only")
    return (wanted or list(having))[0], len(having) - 1


def _is_within(path: str, chosen: str) -> bool:
    return path == chosen or path.startswith(f"{chosen}/")


class _Writer:
    """Walks the PCIe tree of one server from its hosts down."""

    def __init__(self, design: Design, net: Netlist, server: int) -> None:
        self.design, self.net = design, net
        self.parts = self._parts_of_server(server)
        self.around: defaultdict[int, list[tuple[int, Link | Wiring]]] = defaultdict(list)
        for a, b, d in zip(net.link_a.tolist(), net.link_b.tolist(), net.link_def.tolist(), strict=True):
            self.around[a].append((b, net.link_defs[d]))
            self.around[b].append((a, net.link_defs[d]))
        self.seen: set[int] = set()
        self.gpus = self.nics = 0

    def _parts_of_server(self, server: int) -> list[int]:
        parent = self.net.parent.tolist()
        if server < 0:
            return list(range(len(parent)))
        held: list[int] = []
        for part in range(len(parent)):
            at = part
            while at >= 0 and at != server:
                at = parent[at]
            if at == server:
                held.append(part)
        return held

    def run(self) -> ET.Element:
        """The ``<system>``.

        Raises
        ------
        ExchangeError
            If nothing of the server is a host.
        """
        root = ET.Element("system", version="1")
        hosts = next((found for kind in _HOSTS if (found := [p for p in self.parts if self._kind(p) == kind])), [])
        if not hosts:
            raise ExchangeError("the server has no CPU, so its tree has no root", remedy="draw CPUs and their links")
        sockets: set[int] = set()
        for number, host in enumerate(hosts):
            stated = self.net.part(host).attributes.get("numaid") or self.net.part(host).attributes.get("numa") or ""
            numa = stated if re.fullmatch(r"[0-9]{1,4}", stated, re.ASCII) else str(number)
            element = ET.SubElement(root, "cpu", {"numaid": numa, **self._processor(host)})
            self._write_children(element, host)
            socket = self._socket(host)
            if socket != host and socket not in sockets:  # what is drawn at the socket hangs from its first domain
                sockets.add(socket)
                self._write_children(element, socket)
        return root

    def _kind(self, part: int) -> str:
        return self.net.part(part).kind

    def _processor(self, host: int) -> dict[str, str]:
        """What identifies the CPU, as far as its type says it; NCCL asks the machine for the rest."""
        socket = self._socket(host)
        recognition = load_catalog().recognitions.get(self.net.part(socket).type)
        arm = self.design.quantity(self.net.part(socket), "architecture")
        if arm is not None and "arm" in str(arm.value).lower():
            return {"arch": "arm64"}
        for spelled in recognition.cpuid if recognition is not None else ():
            vendor, *numbers = spelled.split()
            if vendor not in _VENDORS:
                continue
            found = {"arch": "x86_64", "vendor": _VENDORS[vendor]}
            if numbers:
                found["familyid"] = str(_family(int(numbers[0])))
            if len(numbers) > 1 and numbers[1].isdigit() and len(recognition.cpuid if recognition else ()) == 1:
                found["modelid"] = numbers[1]
            return found
        return {}

    def _socket(self, host: int) -> int:
        if self._kind(host) == "numa":
            return next((p for p, _ in self.around[host] if self._kind(p) == "cpu"), host)
        return host

    def _write_children(self, element: ET.Element, part: int) -> None:
        for lower, link in sorted(self.around[part], key=lambda pair: pair[0]):
            kind = self._kind(lower)
            chip = (
                link.kind == "c2c"
                and kind == "gpu"
                and not any(other.kind == "pcie" for _, other in self.around[lower])
            )
            if (link.kind != "pcie" and not chip) or lower in self.seen or kind not in _CLASS:
                continue
            self.seen.add(lower)
            device = self._device(element, lower, _SIDE_PATH if chip else _pcie_speed(link))
            if kind == "gpu":
                self._gpu(device, lower)
            elif kind in ("nic", "dpu"):
                self._nic(device, lower)
            else:
                self._write_children(device, lower)

    def _device(self, element: ET.Element, part: int, speed: Mapping[str, str]) -> ET.Element:
        infiniband = self._kind(part) in ("nic", "dpu") and "infiniband" in self._text(part, "technology").lower()
        attributes = {
            "busid": self._bus_ids[part],
            "class": _INFINIBAND if infiniband else _CLASS[self._kind(part)],
            **self._pci_ids(part),
            **speed,
        }
        return ET.SubElement(element, "pci", attributes)

    def _pci_ids(self, part: int) -> dict[str, str]:
        recognition = load_catalog().recognitions.get(self.net.part(part).type)
        known = list(recognition.pci) if recognition is not None else []
        if len(known) != 1:
            return {}
        vendor, device = known[0].split(":")
        return {"vendor": f"0x{vendor}", "device": f"0x{device}"}

    def _gpu(self, element: ET.Element, part: int) -> None:
        gdr = "1" if self.design.policy.gpudirect else "0"
        number = {"dev": str(self.gpus), **self._chip(part), "rank": str(self.gpus), "gdr": gdr}
        gpu = ET.SubElement(element, "gpu", number)
        self.gpus += 1
        bundles: defaultdict[tuple[str, int], int] = defaultdict(int)
        for other, link in self.around[part]:
            if link.kind in ("nvlink", "xgmi"):
                bundles[link.kind, other] += link.count
            elif link.kind == "c2c" and self._kind(other) in _HOSTS:
                ET.SubElement(gpu, "c2c", bw=f"{raw_rate(link)[0] / 1e6:.0f}", count=str(link.count))
        outside: defaultdict[str, int] = defaultdict(int)
        for (kind, other), count in sorted(bundles.items(), key=lambda item: item[0][1]):
            if other not in self._bus_ids:
                outside[kind] += count
                continue
            far = _CLASS.get(self._kind(other), "0x068001")
            ET.SubElement(gpu, kind, target=self._bus_ids[other], count=str(count), tclass=far)
        for kind, count in outside.items():
            ET.SubElement(gpu, kind, target=_UNSEEN, count=str(count), tclass=_CLASS["nvswitch"])

    def _chip(self, part: int) -> dict[str, str]:
        """Compute capability, or the name RCCL has for the chip: as the dump had it, else as the type says."""
        definition = self.net.part(part)
        stated = {name: definition.attributes.get(f"gpu.{name}", "") for name in ("sm", "gcn")}
        if any(stated.values()):
            return {name: text for name, text in stated.items() if re.fullmatch(r"[a-z]*[0-9a-f]{2,5}", text, re.ASCII)}
        capability = self._text(part, "compute_capability")
        if re.fullmatch(r"\d{1,2}\.\d", capability, re.ASCII):
            return {"sm": capability.replace(".", "")}
        recognition = load_catalog().recognitions.get(definition.type)
        chips = [chip.split()[0] for chip in recognition.chips] if recognition is not None else []
        chip = next((chip for chip in chips if chip.startswith("gfx")), "")
        return {"gcn": chip} if chip else {}

    def _nic(self, element: ET.Element, part: int) -> None:
        nic = ET.SubElement(element, "nic")
        ports, rate = self._number(part, "ports"), self._number(part, "port_bandwidth_per_direction")
        whole = self._number(part, "bandwidth_per_direction")
        count = max(int(ports), 1)
        rate = rate or whole / count
        label = self.net.part(part).label
        names = label.split(" + ") if label.count(" + ") == count - 1 else [f"{label}_{n + 1}" for n in range(count)]
        for port, name in enumerate(names):
            net = {"name": safe(name), "dev": str(self.nics + port)}
            if rate > 0:
                net["speed"] = f"{rate * 8 / 1e6:.0f}"
            net |= {"port": str(port + 1), "guid": f"0x{_LOCAL + self.nics:016x}"}
            ET.SubElement(nic, "net", net | {"gdr": "1" if self.design.policy.gpudirect else "0"})
        self.nics += count

    @cached_property
    def _bus_ids(self) -> Mapping[int, str]:
        """Bus ids of the machine where the parts have them, others that none of them has."""
        found: dict[int, str] = {}
        taken: set[str] = set()
        for part in self.parts:
            stated = self.net.part(part).attributes.get("busid", "").lower()
            if _BUS_ID.match(stated) and stated not in taken:
                found[part] = stated
                taken.add(stated)
        bus = 0
        for part in self.parts:
            while part not in found:
                bus += 1
                made = f"{bus // _BUSES:04x}:{bus % _BUSES + 1:02x}:00.0"
                if made not in taken:
                    found[part] = made
        return found

    def _text(self, part: int, name: str) -> str:
        quantity = self.design.quantity(self.net.part(part), name)
        return "" if quantity is None else str(quantity.value)

    def _number(self, part: int, name: str) -> float:
        definition = self.net.part(part)
        quantity = self.design.quantity(definition, name)
        return (value_of(definition.kind, name, quantity) or 0.0) if quantity is not None else 0.0


def _family(number: int) -> int:
    """As NCCL prints it: what is beyond fifteen is in the high bits, 175 for 25."""
    return number if number <= _BASE_FAMILY else _BASE_FAMILY + (number - _BASE_FAMILY << 4)


def _pcie_speed(link: Link | Wiring) -> dict[str, str]:
    """Speed and width of a PCIe link; one of which only the rate is known is the narrowest that carries it."""
    rates = {generation: speed for speed, generation in sorted(GENERATIONS.items(), reverse=True)}
    generation, lanes = link.generation, link.lanes or 16
    if generation is None:
        rate = raw_rate(link)[0]
        fitting = [g for g in sorted(rates) if pcie_rate(g, lanes) >= 0.99 * rate]
        generation = fitting[0] if fitting else max(rates)
    if generation not in rates:
        return {}
    return {"link_speed": f"{rates[generation]:.1f} GT/s PCIe", "link_width": str(lanes)}


EXPORTER = Exporter("nccl-topology", ".topo.xml", "NCCL topology file", write)
