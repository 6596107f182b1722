"""GraphML as this program writes it: parts with kind, type, name and parent, links with kind, count and rate.

Other GraphML files have no kinds and are refused: a graph of circles is no machine.
Sources: GraphML primer, http://graphml.graphdrawing.org/primer/graphml-primer.html.
"""

from __future__ import annotations

import re
from typing import Final

from designer.catalog.parttype import link_kinds, part_kinds
from designer.design.document import LinkValues
from designer.errors import ExchangeError
from designer.interchange.foreign.devices import Device
from designer.interchange.foreign.finishing import finish
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.machine import MachineDrawing
from designer.interchange.foreign.rates import number
from designer.interchange.foreign.xml import Element, parse_xml
from designer.plain_text import counted
from designer.sources import Status
from designer.units import write

_KNOWN: Final = frozenset(status.value for status in Status)


def _sniff(head: str) -> float:
    return 0.95 if re.search(r"<(?:\w{1,20}:)?graphml[\s>]", head) else 0.0


def _read(text: str, file: str) -> Imported:
    root = parse_xml(text, file, ("graphml",)).root
    names = {key.get("id"): key.get("attr.name") for key in root.all("key")}
    graph = next(iter(root.all("graph")), None)
    if graph is None:
        raise ExchangeError("it has no graph", file=file, remedy="give a GraphML file of this program")
    nodes = {node.get("id"): _data(node, names) for node in graph.all("node")}
    kinds = part_kinds()
    if not any(stated.get("kind") in kinds for stated in nodes.values()):
        raise ExchangeError(
            "its nodes have no kinds of parts", file=file, remedy="give a GraphML file of this program, see export"
        )
    machine = MachineDrawing(file, "a GraphML graph", "graphml")
    ids: dict[str, str] = {}
    odd: list[str] = []
    for path, stated in _parents_first(nodes):
        kind = stated.get("kind", "")
        if kind not in kinds:
            odd.append(path)
            continue
        device = Device(stated.get("name", ""), stated["type"]) if stated.get("type") else None
        parent = ids.get(stated.get("parent", ""))
        ids[path] = machine.add(
            kind, parent=parent, name=stated.get("name", ""), device=device, attributes={"path": path}
        )
    if odd:
        what = counted(len(odd), "node of no known kind was", "nodes of no known kind were")
        text = f"{what} left out: {', '.join(odd[:3])[:100]}"
        machine.note("IMP-KIND", text)
    dropped = sum(not _edge(machine, edge, names, ids) for edge in graph.all("edge"))
    if dropped:
        machine.note("IMP-EDGES", f"{counted(dropped, 'edge')} between other nodes or of no known kind: left out")
    return finish(machine)


def _data(element: Element, names: dict[str, str]) -> dict[str, str]:
    return {names.get(data.get("key"), data.get("key")): data.text.strip() for data in element.all("data")}


def _parents_first(nodes: dict[str, dict[str, str]]) -> list[tuple[str, dict[str, str]]]:
    """Nodes by depth, those in a cycle of parents last."""
    depth: dict[str, int] = {}
    for path in nodes:
        trail: list[str] = []
        at = path
        while at and at in nodes and at not in depth and len(trail) < 64:
            trail.append(at)
            at = nodes[at].get("parent", "")
        base = depth.get(at, 0)
        for step, one in enumerate(reversed(trail), start=1):
            depth[one] = base + step
    return sorted(nodes.items(), key=lambda item: depth[item[0]])


def _edge(machine: MachineDrawing, edge: Element, names: dict[str, str], ids: dict[str, str]) -> bool:
    stated = _data(edge, names)
    a, b, kind = ids.get(edge.get("source")), ids.get(edge.get("target")), stated.get("kind", "")
    if a is None or b is None or a == b or kind not in link_kinds():
        return False
    count = number(stated.get("count", "1")) or 1.0
    total = number(stated.get("bytes_per_second_per_direction", ""))
    status = Status(stated["status"]) if stated.get("status") in _KNOWN else Status.SECONDARY
    rate = write(total / count, "rate") if total else None
    machine.link(
        a, b, LinkValues(kind=kind, count=max(1, min(100_000, int(count))), bandwidth_per_direction=rate, status=status)
    )
    return True


IMPORTER = Importer("graphml", "GraphML of this program", (".graphml",), _sniff, _read)
