"""Patch lists: a host and the switch it is patched to on each line, under the heading ``patch list``."""

from __future__ import annotations

from designer.errors import ExchangeError
from designer.interchange.foreign.fabric import FabricDrawing
from designer.interchange.foreign.importer import Imported, Importer

HEADING = "patch list"


def sniff(head: str) -> float:
    return 0.95 if head.lstrip().startswith(HEADING) else 0.0


def read(text: str, file: str) -> Imported:
    fabric = FabricDrawing(file, "a patch list", "patch-list", "ethernet")
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() in ("", HEADING):
            continue
        words = line.split()
        if len(words) != 2:
            raise ExchangeError("no host and switch", file=file, place=f"line {number}", remedy="write: node1 leaf1")
        host, switch = words
        nic = fabric.nic(host, fabric.host(host, host))
        fabric.join(nic, fabric.switch(switch, switch))
    return fabric.finish()


IMPORTER = Importer("patch-list", "Patch list", (".txt",), sniff, read)
