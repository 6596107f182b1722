"""hwloc XML as ``lstopo --of xml`` writes it, versions 1, 2 and 3.

Packages are sockets, NUMANodes NUMA domains with their memory, PCI-PCI bridges switches and PCI devices parts by class.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from designer.catalog.architectures import architecture
from designer.errors import ExchangeError
from designer.fields import amount
from designer.interchange.foreign.accelerator_links import draw_switch_trunk, join_accelerators, mark_missing_links
from designer.interchange.foreign.devices import assumption, known_device
from designer.interchange.foreign.distances import nvlink_bandwidths
from designer.interchange.foreign.finishing import finish
from designer.interchange.foreign.hwloc_dump import HwlocDump
from designer.interchange.foreign.hwloc_numa import NumaDomains
from designer.interchange.foreign.hwloc_pci import PciDevices
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.machine import MachineDrawing, few
from designer.interchange.foreign.xml import Parsed, parse_xml

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
