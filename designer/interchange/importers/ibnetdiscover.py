"""``ibnetdiscover``: every switch and adapter of an InfiniBand subnet and the cables between them.

Both forms are read: blocks of nodes, and ``-p``, one port a line. Each cable is listed at both of its ends and drawn
once. The aggregation node of a switch (SHARP) shows up as an adapter on a port of its own; it is part of the switch.
Sources: infiniband-diags, man page of ibnetdiscover and its topology file format.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from designer.errors import ExchangeError
from designer.interchange.foreign.fabric import FabricDrawing, host_of
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.rates import rate_of
from designer.plain_text import counted

_TITLE: Final = "the output of ibnetdiscover"
_NODE: Final = re.compile(r'(Switch|Ca|Rt)\s+(\d{1,5})\s+"([SHR]-[0-9a-fA-F]{1,16})"\s*(?:#\s*(.*))?\Z')
_PORT: Final = re.compile(
    r"\[(\d{1,5})\](?:\[ext \d{1,5}\])?\s*(?:\([0-9a-fA-F]{1,16}\))?\s+"
    r'"([SHR]-[0-9a-fA-F]{1,16})"\[(\d{1,5})\](?:\[ext \d{1,5}\])?\s*(?:\([0-9a-fA-F]{1,16}\))?\s*(?:#\s*(.*))?\Z'
)
_RATE: Final = re.compile(r"\b(\d{1,2}x)\s?([A-Z]{3}\d{0,3})\s*\Z")
_HEAD: Final = re.compile(r"(vendid|devid|sysimgguid|switchguid|caguid|rtguid)\s*=\s*(\S{1,60})")
_LINE: Final = re.compile(
    r"(CA|SW|RT)\s+(\d{1,5})\s+(\d{1,5})\s+0x([0-9a-fA-F]{1,16})\s+(\d{1,2}x)\s+(\S{1,10})(?:\s+(.*))?\Z"
)
_PEER: Final = re.compile(r"-\s+(CA|SW|RT)\s+(\d{1,5})\s+(\d{1,5})\s+0x([0-9a-fA-F]{1,16})\s*(?:\((.*)\))?\s*\Z")
#: names of both ends together, in characters
_MOST_NAMES: Final = 2000
_AGGREGATION: Final = "Aggregation Node"


@dataclass(slots=True)
class _Node:
    """A switch or adapter."""

    kind: str
    ports: int = 0
    name: str = ""
    image: str = ""
    device: str = ""


@dataclass(frozen=True, slots=True)
class _Cable:
    """One cable as one of its ends lists it."""

    a: tuple[str, int]
    b: tuple[str, int]
    rate: float | None
    line: int


def _sniff(head: str) -> float:
    if re.search(r'^(?:Switch|Ca)\s+\d+\s+"[SH]-[0-9a-fA-F]+"', head, re.MULTILINE):
        return 0.95
    if re.search(r"^(?:CA|SW)\s+\d+\s+\d+\s+0x[0-9a-fA-F]{1,16}\s+\d+x\s", head, re.MULTILINE):
        return 0.95
    return 0.6 if re.search(r"^(?:switch|ca)guid=0x", head, re.MULTILINE) else 0.0


def _read(text: str, file: str) -> Imported:
    reader = _Reader(file)
    for number, line in enumerate(text.splitlines(), start=1):
        reader.line(line.strip(), number)
    return reader.finish()


class _Reader:
    """Nodes and cables, gathered line by line."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.nodes: dict[str, _Node] = {}
        self.cables: dict[tuple[tuple[str, int], tuple[str, int]], _Cable] = {}
        self.ends: dict[tuple[str, int], int] = {}
        self.head: dict[str, str] = {}
        self.at = ""
        self.dark = 0
        self.strange: list[int] = []
        self.fabric = FabricDrawing(file, _TITLE, "ibnetdiscover")

    def line(self, line: str, number: int) -> None:
        """Take one line."""
        if not line:
            self.head, self.at = {}, ""
            return
        if line.startswith("#"):
            return
        if (node := _NODE.match(line)) is not None:
            self._node(node)
        elif (port := _PORT.match(line)) is not None and self.at:
            rate = _RATE.search(port[4] or "")
            known = rate_of(rate[1], rate[2]) if rate else None
            self._cable((self.at, int(port[1])), (port[2], int(port[3])), known, number)
        elif (head := _HEAD.match(line)) is not None:
            self.head[head[1]] = head[2].split("(")[0]
        elif (flat := _LINE.match(line)) is not None:
            self._flat(flat, number)
        else:
            self.strange.append(number)

    def _node(self, found: re.Match[str]) -> None:
        name, _, rest = _split_quotes(found[4] or "")
        kind = {"Switch": "switch", "Ca": "nic", "Rt": "switch"}[found[1]]
        self.at = found[3].lower()
        device = self.head.get("devid", "")
        self.nodes[self.at] = _Node(kind, int(found[2]), name or rest, self.head.get("sysimgguid", ""), device)

    def _flat(self, found: re.Match[str], number: int) -> None:
        """A line of ``ibnetdiscover -p``."""
        rest = (found[7] or "").strip()
        peer = _PEER.match(rest)
        key = f"{'s' if found[1] == 'SW' else 'h'}-{found[4].lower()}"
        names = (
            re.findall(r"'(.*?)'(?=\s*(?:-\s*'|\)?\s*\Z))", (peer[5] or "")[:_MOST_NAMES])
            if peer
            else [rest.strip("' ")]
        )
        here = self.nodes.setdefault(key, _Node("nic" if found[1] == "CA" else "switch"))
        here.name = here.name or (names[0].strip() if names else "")
        if peer is None:
            self.dark += 1
            return
        other = f"{'s' if peer[1] == 'SW' else 'h'}-{peer[4].lower()}"
        there = self.nodes.setdefault(other, _Node("nic" if peer[1] == "CA" else "switch"))
        there.name = there.name or (names[1].strip() if len(names) > 1 else "")
        rate = rate_of(found[5], found[6])
        self._cable((key, int(found[3])), (other, int(peer[3])), rate, number)

    def _cable(self, a: tuple[str, int], b: tuple[str, int], rate: float | None, number: int) -> None:
        a, b = (a[0].lower(), a[1]), (b[0].lower(), b[1])
        key = (a, b) if a <= b else (b, a)
        self.ends[a] = self.ends.get(a, 0) + 1
        old = self.cables.get(key)
        if old is None:
            self.cables[key] = _Cable(*key, rate, number)
        elif rate is not None and (old.rate is None or rate < old.rate):
            if old.rate is not None:
                self.fabric.note(
                    "IMP-ENDS-DIFFER",
                    f"both ends of a cable state another rate (lines {old.line} and {number}): the lower is used",
                )
            self.cables[key] = _Cable(*key, rate, old.line)

    def finish(self) -> Imported:
        """The design."""
        if not self.nodes:
            raise ExchangeError(
                "there is no switch and no adapter in it", file=self.file, remedy="save it: ibnetdiscover > net.txt"
            )
        for end in sorted({e for cable in self.cables.values() for e in (cable.a, cable.b)}):
            self.nodes.setdefault(end[0], _Node("switch" if end[0].startswith("s") else "nic"))
        inner = {key for key, node in self.nodes.items() if _AGGREGATION in node.name}
        ids = {key: self._draw(key, node) for key, node in self.nodes.items() if key not in inner}
        self._aggregation(inner, ids)
        single = 0
        for (a, b), cable in self.cables.items():
            if a[0] in inner or b[0] in inner:
                continue
            made = self.fabric.join(ids[a[0]], ids[b[0]], cable.rate, ports=(str(a[1]), str(b[1])))
            single += made is not None and not (self.ends.get(a) and self.ends.get(b))
        self._note_findings(single)
        return self.fabric.finish()

    def _draw(self, key: str, node: _Node) -> str:
        stated = {"guid": key.partition("-")[2]}
        stated |= {k: v for k, v in (("device", node.device), ("system_image_guid", node.image)) if v and k != "device"}
        if node.kind == "switch":
            name = node.name.removeprefix("MF0;").split(":")[0] if node.name.startswith("MF0;") else node.name
            model = node.name.partition(":")[2] if node.name.startswith("MF0;") else ""
            return self.fabric.switch(key, name, {**stated, "model": model} if model else stated, ports=node.ports)
        host = self.fabric.named_host(node.name, key)
        return self.fabric.nic(key, host, host_of(node.name)[1], stated)

    def _aggregation(self, inner: set[str], ids: dict[str, str]) -> None:
        parts = self.fabric.machine.parts
        for a, b in self.cables:
            node, home = (a[0], b[0]) if a[0] in inner else (b[0], a[0])
            if node in inner and home in ids:
                part = parts[ids[home]]
                more = {**part.attributes, "aggregation_node": node.partition("-")[2]}
                parts[part.id] = part.model_copy(update={"attributes": more})
        if inner:
            self.fabric.note(
                "IMP-AGGREGATION",
                counted(
                    len(inner),
                    "aggregation node (SHARP) is part of its switch and no server",
                    "aggregation nodes (SHARP) are part of their switches and no servers",
                ),
            )

    def _note_findings(self, single: int) -> None:
        note = self.fabric.note
        if single:
            note(
                "IMP-ONE-END",
                f"{counted(single, 'cable is', 'cables are')} listed at one end only: the file was cut or filtered",
            )
        if self.dark:
            note(
                "IMP-DARK-PORTS",
                f"{counted(self.dark, 'port has', 'ports have')} no cable, or one that does not come up",
            )
        if self.strange:
            where = ", ".join(map(str, self.strange[:5])) + ("…" if len(self.strange) > 5 else "")
            what = counted(len(self.strange), "line was", "lines were")
            note(
                "IMP-LINES",
                f"{what} not understood and left out (at line {where})",
                remedy="save the whole output of ibnetdiscover",
            )


def _split_quotes(text: str) -> tuple[str, str, str]:
    """What is before, in and behind the outer quotes, name first."""
    first, last = text.find('"'), text.rfind('"')
    if first < 0 or last <= first:
        return "", "", text.strip()
    return text[first + 1 : last].strip(), text[:first], text[last + 1 :]


IMPORTER = Importer("ibnetdiscover", "ibnetdiscover", (".txt", ".out", ".topo"), _sniff, _read)
