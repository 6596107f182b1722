"""The tree of ``lspci -tvv`` (also ``-tv`` and ``-tvvnn``): which devices hang under which bridges and switches.

The tree has names, no classes and no speeds: what a device is follows from its name, or its numbers with ``-nn``, and
PCIe speeds are assumed. Root ports and the ports of a switch are no parts of their own: a bridge with bridges right
below it, itself below another one, is the upstream port of a switch.
Sources: pciutils, ls-tree.c (GPL-2.0, read for the format): indentation, buses in brackets, names, regions with -vv.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from designer.errors import ExchangeError
from designer.interchange.foreign.accelerator_links import mark_missing_links
from designer.interchange.foreign.cpus import NumaHint, memory_share, unknown_processor
from designer.interchange.foreign.devices import Device, device_of_type, is_virtual_function, known_device
from designer.interchange.foreign.finishing import finish
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.machine import MachineDrawing, type_for
from designer.interchange.foreign.pcie import join_pcie, note_system_devices, note_virtual_function, unknown_pcie
from designer.interchange.foreign.sockets import group_into_sockets

_ROOT: Final = re.compile(r"-*\[([0-9a-f]{4,8}):([0-9a-f]{2})\]-?")
_BUS: Final = re.compile(r"-*\[([0-9a-f]{2})(?:-([0-9a-f]{2}))?\]-?")
_DEVICE: Final = re.compile(r"-*([0-9a-f]{2})\.([0-7])")
_REGION: Final = re.compile(r"[ |]*(?:Region \d: )?(?:\[\w+\] )?(?:Memory at|I/O ports at) ")
_NUMBERS: Final = re.compile(r"\s*\[([0-9a-f]{4}):([0-9a-f]{4})\]\s*\Z")
#: a line that branches off somewhere
_BRANCH: Final = re.compile(r"[ |]*[+\\]-(?:\[[0-9a-f]{4,8}:|[0-9a-f]{2}\.[0-7])")
_START: Final = re.compile(r"^[ ]?-(?:\+-)?\[[0-9a-f]{4,8}:[0-9a-f]{2}\]-", re.MULTILINE)
_MOST_LINES: Final = 100_000
_LONGEST: Final = 4_000
#: levels of bridges in a real machine are a handful
_DEEPEST: Final = 200

#: what is no part of a design although a maker of accelerators or NICs made it
_SIDE: Final = re.compile(
    r"\baudio\b|\bUSB\b|UCSI|serial|\bDMA\b|\bI2C\b|SMBus|\bbridge\b|\bIOMMU\b|\bPSP\b|encryption|management|"
    r"data.direct|crypto|\bSATA\b|\bAHCI\b|\bISA\b|\bLPC\b|SoC Manag|\bRCiEP\b|Root Complex|Root Port|dummy",
    re.IGNORECASE,
)
_NVSWITCH: Final = re.compile(r"^NVIDIA\b.*NVSwitch", re.IGNORECASE)
_GPU: Final = re.compile(
    r"^NVIDIA Corporation |^Advanced Micro Devices, Inc\. \[AMD/ATI\] .*(?:Instinct|Radeon|Navi|Vega|Aqua Vanjaram)|"
    r"^Intel Corporation .*(?:Data Center GPU|Ponte Vecchio|Gaudi)|^Habana Labs",
    re.IGNORECASE,
)
_NIC: Final = re.compile(
    r"^Mellanox Technologies |ConnectX-|BlueField|Ethernet|NetXtreme|\bNIC\b|Omni-Path|InfiniBand|Elastic Fabric|"
    r"^Cray Inc|Cassini|Slingshot|^Chelsio|Network (?:Adapter|Connection|Controller)|^Pensando",
    re.IGNORECASE,
)
_INFINIBAND: Final = re.compile(r"InfiniBand|Connect-IB", re.IGNORECASE)
_DRIVE: Final = re.compile(r"NVMe|Non-Volatile memory|\bSSD\b|Optane", re.IGNORECASE)
#: sockets of these have four root complexes each
_EPYC: Final = re.compile(r"(?:Starship/Matisse|Milan|Genoa(?:/Bergamo)?) Root Complex")
_COMPLEXES: Final = 4
#: gives the part that devices hang from, drawing it where it is not drawn yet
_Home = Callable[[], str]


@dataclass(slots=True)
class _Node:
    """A device, a bridge or a root bus."""

    at: str
    name: str = ""
    is_bridge: bool = False
    below: list[_Node] = field(default_factory=lambda: list[_Node]())


def _sniff(head: str) -> float:
    return 0.95 if _START.search(head) else 0.0


def _read(text: str, file: str) -> Imported:
    start = _START.search(text)
    if start is None:
        raise ExchangeError("it holds no tree of lspci", file=file, remedy="save it: lspci -tvv > tree.txt")
    roots = _tree(text[start.start() :], file)
    if not any(node.name for root in roots for node in _walk(root)):
        raise ExchangeError("the tree has no names of devices", file=file, remedy="save it: lspci -tvv > tree.txt")
    return _Reader(file, roots).run()


def _tree(text: str, file: str) -> list[_Node]:
    """Root buses with what hangs from them, by the columns of the drawing."""
    top = _Node("")
    #: whose children begin at a column
    opened: dict[int, _Node] = {}
    buses: dict[int, str] = {}
    if len(_START.findall(text)) > 1:
        raise ExchangeError("there are several trees in it", file=file, remedy="save each machine by itself")
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.rstrip()
        if number > _MOST_LINES or len(line) > _LONGEST:
            raise ExchangeError("it is far larger than such a tree", file=file, remedy="give only the output")
        if not line.strip(" |") or _REGION.match(line):
            continue
        at = len(line) - len(line.lstrip(" |"))
        here = opened.get(at) if line[at] in "+\\" else top if line[at] == "-" else None
        if here is None:
            if _BRANCH.match(line):
                raise _syntax_error(file, number)
            # what follows the tree, such as a shell prompt
            break
        _line(line, at, here, opened, buses, file, number)
    return top.below


def _line(
    line: str, at: int, here: _Node, opened: dict[int, _Node], buses: dict[int, str], file: str, number: int
) -> None:
    """One line from the column where it branches off."""
    while at < len(line):
        if line.startswith(("+-", "\\-"), at):
            for column in [c for c in opened if c > at]:
                del opened[column]
            opened[at] = here
            at += 1
        elif (root := _ROOT.match(line, at)) is not None:
            node = _Node(f"{root[1]}:{root[2]}", is_bridge=True)
            buses[id(node)] = node.at
            here.below.append(node)
            here, at = node, root.end()
        elif (bus := _BUS.match(line, at)) is not None:
            here.is_bridge = True
            buses[id(here)] = f"{here.at[:4]}:{bus[1]}"
            at = bus.end()
        elif (device := _DEVICE.match(line, at)) is not None:
            node = _Node(f"{buses.get(id(here), here.at)}:{device[1]}.{device[2]}")
            here.below.append(node)
            here, at = node, device.end()
            if not line.startswith("-", at):
                if line[at:] and not line.startswith("  ", at):
                    raise _syntax_error(file, number)
                node.name = line[at:].strip()
                return
        elif line[at] == "-":
            at += 1
        else:
            raise _syntax_error(file, number)


def _syntax_error(file: str, number: int) -> ExchangeError:
    return ExchangeError(
        "this is not how lspci draws its tree",
        file=file,
        place=f"line {number}",
        remedy="save it again, lines unbroken: lspci -tvv > tree.txt",
    )


def _walk(node: _Node) -> Iterator[_Node]:
    waiting = [node]
    while waiting:
        at = waiting.pop()
        yield at
        waiting += at.below


class _Reader:
    """Draws parts for devices, and switches where devices hang below some."""

    def __init__(self, file: str, roots: list[_Node]) -> None:
        self.machine = MachineDrawing(file, "the tree of lspci", "lspci")
        self.roots = roots
        self.server = self.machine.add("server")
        self.seen: dict[str, str] = {}

    def run(self) -> Imported:
        """The design."""
        machine = self.machine
        homes = self._homes()
        for root, home in zip(self.roots, homes, strict=True):
            for node in root.below:
                self._place(node, lambda home=home: home, is_port=True, depth=0)
        gpus = machine.of_kind("gpu")
        if not gpus:
            machine.note("IMP-NO-GPU", "there is no GPU in this file")
        mark_missing_links(machine, gpus)
        machine.note(
            "IMP-CLASSES",
            "the tree gives names, no classes and no speeds: what devices are follows from their names",
            remedy="import lstopo --of xml of the same machine for sockets, memory and speeds",
        )
        return finish(machine)

    def _homes(self) -> list[str]:
        """The NUMA domain of each root bus: sockets by their root complexes where these state them."""
        machine = self.machine
        complexes = [any(_EPYC.search(n.name) for n in root.below) for root in self.roots]
        sockets = sum(complexes) // _COMPLEXES if sum(complexes) % _COMPLEXES == 0 else 0
        count = max(1, sockets)
        hints: dict[str, NumaHint] = {}
        for number in range(count):
            numa = machine.add("numa", number=number, parent=self.server, attributes={"derived": "yes"})
            hints[numa] = NumaHint(number, own_socket=True, model=unknown_processor())
        cpus = group_into_sockets(machine, self.server, hints)
        share = memory_share(list(hints.values()))
        for number, numa in enumerate(hints):
            machine.memory(numa, self.server, assumed=share, number=number)
        numas = list(hints)
        if not sockets:
            machine.note(
                "IMP-PLACE",
                "the tree does not say which socket a root bus belongs to: all were put to one",
                *cpus,
                remedy="import lstopo --of xml of the machine, or add sockets and move the devices",
            )
            return [numas[0]] * len(self.roots)
        homes: list[str] = []
        passed = 0
        for is_complex in complexes:
            homes.append(numas[min(count - 1, passed // _COMPLEXES)])
            passed += is_complex
        return homes

    def _place(self, node: _Node, home: _Home, *, is_port: bool, depth: int) -> None:
        """Draw what hangs from a node; switches are drawn when the first device below them is."""
        if not node.is_bridge:
            self._device(node, home)
            return
        if depth > _DEEPEST:
            raise ExchangeError("bridges nest deeper than in any machine", file=self.machine.file)
        bridges = [n for n in node.below if n.is_bridge]
        is_upstream = not is_port and bool(bridges)
        lower = self._switch(node, home) if is_upstream else home
        for child in node.below:
            # the bridges right below an upstream port are ports of the same switch
            self._place(child, lower, is_port=is_upstream and child.is_bridge, depth=depth + 1)

    def _switch(self, node: _Node, home: _Home) -> _Home:
        made: list[str] = []

        def once() -> str:
            if not made:
                stated = {"busid": node.at, "derived": "yes"}
                made.append(self.machine.add("pcie_switch", parent=self.server, attributes=stated))
                join_pcie(self.machine, home(), made[0], unknown_pcie(None))
            return made[0]

        return once

    def _device(self, node: _Node, home: _Home) -> None:
        machine = self.machine
        numbers = _NUMBERS.search(node.name)
        name = node.name[: numbers.start()] if numbers else node.name
        vendor, number = (numbers[1], numbers[2]) if numbers else ("", "")
        kind = _kind(name)
        if not kind or (kind == "gpu" and _SIDE.search(name)):
            note_system_devices(machine)
            return
        if "virtual function" in name.lower() or (vendor and is_virtual_function(vendor, number)):
            note_virtual_function(machine, node.at)
            return
        slot = node.at.rpartition(".")[0]
        if slot in self.seen:
            # one card with several functions has one connection to the machine
            part = machine.parts[self.seen[slot]]
            functions = int(part.attributes.get("functions", "1")) + 1
            machine.parts[part.id] = part.model_copy(
                update={"attributes": {**part.attributes, "functions": str(functions)}}
            )
            return
        stated = {"busid": node.at, **({"vendor": vendor, "device": number} if numbers else {})}
        device = (known_device(vendor, number) if numbers else None) or _product_of(kind, name)
        overrides = {}
        if kind == "nic" and _INFINIBAND.search(name):
            overrides["technology"] = machine.fact("InfiniBand")
        if kind == "drive":
            overrides["interface"] = machine.fact("NVMe")
        part = machine.add(kind, parent=self.server, device=device, attributes=stated, overrides=overrides)
        self.seen[slot] = part
        if kind != "nvswitch":
            join_pcie(machine, home(), part, unknown_pcie(device.architecture))


def _kind(name: str) -> str:
    """What a device is by its name; empty where it is none of a design."""
    if _NVSWITCH.search(name):
        return "nvswitch"
    if _SIDE.search(name) and not _DRIVE.search(name):
        return ""
    if _DRIVE.search(name):
        return "drive"
    if _NIC.search(name):
        return "nic"
    return "gpu" if _GPU.search(name) else ""


def _product_of(kind: str, name: str) -> Device:
    """The product by what is in brackets, else by the whole name."""
    inner = re.findall(r"\[([^\[\]]{1,80})\]", name)
    for tried in [*reversed(inner), name]:
        found = type_for(kind, tried)
        if found is not None:
            return device_of_type(found.id, name)
    return Device(name)


IMPORTER = Importer("lspci", "lspci -tvv", (".txt",), _sniff, _read)
