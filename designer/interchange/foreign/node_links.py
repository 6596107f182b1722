"""Topologies as numbered nodes and a line per link: the text that ns-3 backends of ASTRA-sim and SimAI read.

A header, the numbers of the switches, then ``from to rate delay error`` a line. All nodes that are no switch are GPUs;
what joins them to the network is drawn as a NIC each, for a GPU has no network port of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from designer.design.document import LinkValues
from designer.errors import ExchangeError
from designer.interchange.foreign.fabric import FabricDrawing
from designer.interchange.foreign.pcie import join_pcie
from designer.interchange.foreign.rates import rate, seconds
from designer.sources import Status
from designer.units import write

MOST_NODES: Final = 40_000
MOST_LINKS: Final = 300_000


@dataclass(frozen=True, slots=True)
class Connection:
    """One line: both ends, rate per direction [B/s], delay as written."""

    a: int
    b: int
    rate: float
    delay: str
    line: int


@dataclass(frozen=True, slots=True)
class Nodes:
    """The file: header words, switches in order, links."""

    header: tuple[str, ...]
    switches: tuple[int, ...]
    connections: tuple[Connection, ...]


def whole(text: str, what: str, file: str, line: int) -> int:
    """A whole number not below zero.

    Raises
    ------
    ExchangeError
        If it is none.
    """
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ExchangeError(
            f"{text[:40]!r} is no {what}", file=file, place=f"line {line}", remedy="give the file the generator wrote"
        )
    return int(text)


def parse_nodes(text: str, file: str, links_at: int) -> Nodes:
    """The parts of such a file; `links_at` is the place of the number of links in the header.

    Raises
    ------
    ExchangeError
        If a line has another shape, a number is out of range, or the header disagrees with the lines.
    """
    lines = text.splitlines()
    header = lines[0].split() if lines else []
    if len(header) <= links_at:
        raise ExchangeError("the header is short", file=file, place="line 1", remedy="give the whole file")
    total = whole(header[0], "number of nodes", file, 1)
    count = whole(header[links_at], "number of links", file, 1)
    if total > MOST_NODES or count > MOST_LINKS:
        raise ExchangeError(
            f"it has {total:,} nodes and {count:,} links",
            file=file,
            place="line 1",
            remedy=f"topologies are read up to {MOST_NODES:,} nodes and {MOST_LINKS:,} links",
        )
    switches = tuple(
        whole(word, "number of a switch", file, 2) for word in (lines[1].split() if len(lines) > 1 else ())
    )
    connections: list[Connection] = []
    for number, line in enumerate(lines[2:], start=3):
        words = line.split()
        if not words:
            continue
        known = rate(words[2]) if len(words) >= 3 else None
        if known is None:
            raise ExchangeError(
                f"{line.strip()[:60]!r} is no link",
                file=file,
                place=f"line {number}",
                remedy="a link is written: from to rate delay error, such as 0 8 400Gbps 0.0005ms 0",
            )
        a, b = whole(words[0], "node", file, number), whole(words[1], "node", file, number)
        connections.append(Connection(a, b, known, words[3] if len(words) > 3 else "", number))
    wrong = next((n for w in connections for n in (w.a, w.b) if n >= total), None)
    wrong = next((n for n in switches if n >= total), wrong)
    if wrong is not None:
        raise ExchangeError(
            f"there is no node {wrong}: the header counts {total}", file=file, place="line 1", remedy="check the header"
        )
    if len(connections) != count:
        raise ExchangeError(
            f"the header counts {count} links, the lines are {len(connections)}",
            file=file,
            place="line 1",
            remedy="give the whole file",
        )
    return Nodes(tuple(header), switches, tuple(connections))


class GpuNetwork:
    """Draws GPUs, their servers and what joins them."""

    def __init__(self, fabric: FabricDrawing, per_server: int, gpu_type: str = "", product: str = "") -> None:
        self.fabric = fabric
        self.per_server = per_server
        self.gpu_type = gpu_type
        self.product = product
        self._gpus: dict[int, str] = {}
        self._nics: dict[int, int] = {}

    def gpu(self, number: int) -> str:
        """GPU `number`, in the server its number falls into."""
        known = self._gpus.get(number)
        if known is None:
            machine = self.fabric.machine
            server = None
            if self.per_server:
                home = number // self.per_server
                server = self.fabric.nodes.get(f"server {home}")
                if server is None:
                    server = self.fabric.nodes[f"server {home}"] = machine.add("server", number=home)
            known = self._gpus[number] = machine.add(
                "gpu", number=number, parent=server, attributes=self._node_attributes(number)
            )
            if self.gpu_type:
                part = machine.parts[known]
                machine.parts[known] = part.model_copy(update={"type": self.gpu_type})
        return known

    def _node_attributes(self, number: int) -> dict[str, str]:
        return {"node": str(number), **({"product": self.product} if self.product else {})}

    def nic(self, number: int) -> str:
        """One more NIC of GPU `number`; how it is attached is not in such files."""
        machine = self.fabric.machine
        gpu = self.gpu(number)
        serial = self._nics[number] = self._nics.get(number, -1) + 1
        made = machine.add("nic", parent=machine.parts[gpu].parent, attributes={"node": f"{number}.{serial}"})
        values = LinkValues(kind="pcie", generation=5, lanes=16, status=Status.ASSUMED)
        join_pcie(machine, gpu, made, values)
        return made

    def accelerator_link(self, a: str, b: str, connection_rate: float, delay: str = "") -> None:
        """A bundle between GPUs, or of a GPU to an NVSwitch, at the rate of all its links together."""
        values = LinkValues(
            kind="nvlink", bandwidth_per_direction=write(connection_rate, "rate"), status=Status.PRIMARY
        )
        self.fabric.machine.link(a, b, values, {"latency": delay} if delay else None)

    def types(self, part_type: str) -> None:
        """State where the type of the GPUs comes from."""
        if part_type and self._gpus:
            text = f"the file calls the GPUs {self.product}: {part_type} is assumed"
            remedy = "choose another type where that is wrong"
            self.fabric.note("IMP-GPU-TYPE", text, *self._gpus.values(), remedy=remedy)


def latency_text(delay: str) -> str:
    """A delay as attribute text; empty where it is none."""
    value = seconds(delay)
    return write(value, "duration") if value else ""
