"""SimAI's topology text: GPUs by servers, NVSwitches, switches, and a line per link.

The header counts: nodes, GPUs a server, NVSwitches, other switches, links, GPU type. The file's name is no guide.
Sources: aliyun/SimAI, astra-sim-alibabacloud/inputs/topo (Apache-2.0).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from designer.errors import ExchangeError
from designer.interchange.foreign.fabric import FabricDrawing
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.machine import type_for
from designer.interchange.foreign.node_links import Connection, GpuNetwork, Nodes, latency_text, parse_nodes, whole

_HEAD: Final = re.compile(
    r"\A\s*\d+[ \t]+\d+[ \t]+\d+[ \t]+\d+[ \t]+\d+[ \t]+[A-Za-z][\w-]*[ \t]*\r?\n[ \t]*[\d \t]*\r?\n"
)
_GPUS: Final = {
    "A100": "gpu/nvidia/a100-80-sxm4",
    "H100": "gpu/nvidia/h100-sxm5",
    "H200": "gpu/nvidia/h200-sxm",
    "B200": "gpu/nvidia/b200",
    "V100": "gpu/nvidia/v100-sxm2-32",
    "H20": "gpu/nvidia/h20-sxm",
    "H800": "gpu/nvidia/h800-sxm5",
    "A800": "gpu/nvidia/a800-80-sxm4",
}


def _sniff(head: str) -> float:
    return 0.95 if _HEAD.match(head) else 0.0


def _read(text: str, file: str) -> Imported:
    nodes = parse_nodes(text.lstrip(), file, links_at=4)
    if len(nodes.header) < 6:
        raise ExchangeError("the header names no GPU type", file=file, place="line 1", remedy="give the whole file")
    per_server, nvswitches, others = (whole(nodes.header[i], "count", file, 1) for i in (1, 2, 3))
    if len(nodes.switches) != nvswitches + others:
        raise ExchangeError(
            f"the header counts {nvswitches} NVSwitches and {others} switches, line 2 lists {len(nodes.switches)}",
            file=file,
            place="line 2",
            remedy="check the header",
        )
    return _draw(nodes, per_server, nvswitches, file)


def _draw(nodes: Nodes, per_server: int, nvswitches: int, file: str) -> Imported:
    fabric = FabricDrawing(file, "a SimAI topology", "simai", "ethernet")
    product = nodes.header[5]
    found = type_for("gpu", _GPUS.get(product.upper(), ""))
    if found is not None:
        fabric.machine.types[found.id] = found
    network = GpuNetwork(fabric, per_server, found.id if found else "", product)
    switches = set(nodes.switches)
    inner = set(nodes.switches[:nvswitches])
    for number in range(int(nodes.header[0])):
        if number not in switches:
            network.gpu(number)
    homes = _homes(nodes, inner, switches, per_server)
    for number in nodes.switches:
        if number in inner:
            home = fabric.nodes.get(f"server {homes[number]}") if number in homes else None
            made = fabric.machine.add("nvswitch", parent=home, attributes={"node": str(number), "derived": "yes"})
            fabric.nodes[str(number)] = made
        else:
            fabric.switch(str(number), f"switch {number}", {"node": str(number)})
    for connection in nodes.connections:
        _connection(fabric, network, connection, switches, inner)
    network.types(found.id if found else "")
    return fabric.finish(f"{product}: {fabric.summary()}")


def _homes(nodes: Nodes, inner: set[int], switches: set[int], per_server: int) -> dict[int, int]:
    """The server of each NVSwitch whose GPUs are all in one."""
    seen: dict[int, Counter[int]] = {}
    for connection in nodes.connections:
        for switch, gpu in ((connection.a, connection.b), (connection.b, connection.a)):
            if switch in inner and gpu not in switches and per_server:
                seen.setdefault(switch, Counter())[gpu // per_server] += 1
    return {switch: next(iter(homes)) for switch, homes in seen.items() if len(homes) == 1}


def _connection(
    fabric: FabricDrawing, network: GpuNetwork, connection: Connection, switches: set[int], inner: set[int]
) -> None:
    delay = latency_text(connection.delay)
    gpus = [n for n in (connection.a, connection.b) if n not in switches]
    ends = [fabric.nodes[str(n)] if n in switches else network.gpu(n) for n in (connection.a, connection.b)]
    if len(gpus) == 2 or (gpus and inner & {connection.a, connection.b}):
        network.accelerator_link(ends[0], ends[1], connection.rate, delay)
        return
    if gpus:
        ends = [
            network.nic(n) if n not in switches else end
            for n, end in zip((connection.a, connection.b), ends, strict=True)
        ]
    elif inner & {connection.a, connection.b} and not inner >= {connection.a, connection.b}:
        fabric.note(
            "IMP-SWITCH-TO-SWITCH",
            "these links join an NVSwitch to a switch of the network, as no product does: drawn as the file says",
            ends[0],
            remedy="give the servers NICs instead",
        )
    fabric.join(ends[0], ends[1], connection.rate, latency=delay)


IMPORTER = Importer("simai", "SimAI topology", (".txt", ""), _sniff, _read)
