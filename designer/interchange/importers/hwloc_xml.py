"""hwloc XML as ``lstopo --of xml`` writes it, versions 1, 2 and 3.

Packages are sockets, NUMANodes NUMA domains with their memory, PCI-PCI bridges switches and PCI devices parts by class.
"""

from __future__ import annotations

import re

from designer.errors import ExchangeError
from designer.interchange.foreign.finishing import finish
from designer.interchange.foreign.hwloc_dump import HwlocDump
from designer.interchange.foreign.hwloc_numa import NumaDomains
from designer.interchange.foreign.hwloc_nvlinks import draw_nvlinks
from designer.interchange.foreign.hwloc_pci import PciDevices
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.machine import MachineDrawing, few
from designer.interchange.foreign.xml import Parsed, parse_xml


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
