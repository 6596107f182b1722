"""Planned InfiniBand fabrics as ``.topo`` files, which ``ibdiagnet -t`` and UFM's topology compare read.

A section begins with type and name of a system; below, each line is a port and what it is cabled to. A cable may be
listed under one of its systems or under both; it is drawn once.
Sources: ibutils, ibdm-topo-file(1); NVIDIA documentation, ibdiagnet utility 2.23, topology file.
"""

from __future__ import annotations

import re
from typing import Final

from designer.errors import ExchangeError
from designer.interchange.foreign.fabric import FabricDrawing
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.rates import number

_CABLE: Final = re.compile(
    r"[ \t]+(?P<port>\S{1,100})[ \t]+(?:-(?P<lanes>\d{1,2})x-(?P<lane>[\d.]{1,10})G)?->"
    r"[ \t]+(?P<type>\S{1,100})[ \t]+(?P<name>\S{1,200})[ \t]+(?P<far>\S{1,100})[ \t]*\Z"
)
_SYSTEM: Final = re.compile(r"(?P<type>[\w.-]{1,100})[ \t]+(?P<name>[^\s#]{1,200})(?:[ \t]+CFG:.{0,2000})?[ \t]*\Z")
#: types of systems that are hosts: the word, or an adapter of Mellanox
_HOST: Final = re.compile(r"HOST|HCA|MT\d{5}|MHG|ConnectX|CX\d", re.IGNORECASE)
_ANY: Final = re.compile(
    r"^[ \t]+[^\s;{}\"]{1,100}[ \t]+-(?:\d{1,2}x-[\d.]{1,10}G-)?>[ \t]+[^\s;\"]{1,100}[ \t]+[^\s;\"]{1,200}[ \t]+"
    r"[^\s;\"]{1,100}[ \t]*\r?$",
    re.MULTILINE,
)
_MOST: Final = 400_000
_LANES: Final = 4


def _sniff(head: str) -> float:
    return 0.9 if _ANY.search(head) else 0.0


def _read(text: str, file: str) -> Imported:
    fabric = FabricDrawing(file, "a topology file of ibdiagnet", "ibdm-topo")
    system: tuple[str, str] | None = None
    seen: set[frozenset[tuple[str, str]]] = set()
    odd: list[int] = []
    for line, raw in enumerate(text.splitlines(), start=1):
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        cable = _CABLE.match(raw)
        if cable is None:
            found = _SYSTEM.match(raw)
            if found is None:
                odd.append(line)
            else:
                system = (found["type"], found["name"])
                if not _HOST.match(found["type"]):
                    _part(fabric, *system, "")
            continue
        if system is None:
            raise ExchangeError(
                "a cable comes before the first system",
                file=file,
                place=f"line {line}",
                remedy="begin each section with type and name of the system",
            )
        ends = frozenset(((system[1], cable["port"]), (cable["name"], cable["far"])))
        if ends in seen:
            continue
        seen.add(ends)
        if len(seen) > _MOST:
            raise ExchangeError(f"it has more than {_MOST:,} cables", file=file, remedy="split it")
        lane = number(cable["lane"] or "")
        rate = lane * 1e9 / 8 * int(cable["lanes"] or _LANES) if lane else None
        near = _part(fabric, *system, cable["port"])
        far = _part(fabric, cable["type"], cable["name"], cable["far"])
        fabric.join(near, far, rate, ports=(cable["port"], cable["far"]))
    if not seen:
        raise ExchangeError("it has no cable", file=file, remedy="give the topology file of the fabric")
    if odd:
        places = ", ".join(map(str, odd[:3]))
        fabric.note("IMP-LINES", f"{len(odd)} lines were not understood, the first: {places}")
    return fabric.finish()


def _part(fabric: FabricDrawing, system: str, name: str, port: str) -> str:
    """The switch, or the adapter of a host that a cable ends at."""
    if _HOST.match(system):
        return fabric.nic(f"{name} {port}", fabric.host(name, name), port)
    return fabric.switch(name, name, {"model": system})


IMPORTER = Importer("ibdm-topo", "topology file of ibdiagnet", (".topo",), _sniff, _read)
