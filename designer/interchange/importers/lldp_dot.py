"""Cable plans as Graphviz graphs, such as ``topology.dot`` of Cumulus PTM and NVIDIA Air.

The same cable may be written from both ends; it is drawn once. Rates are not in such files.
Sources: Cumulus Linux documentation, Prescriptive Topology Manager; NVIDIA Air, custom topologies.
"""

from __future__ import annotations

import re
from typing import Final

from designer.errors import ExchangeError
from designer.interchange.foreign.dot_text import Graph, parse_dot
from designer.interchange.foreign.fabric import FabricDrawing
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.rates import rate
from designer.interchange.foreign.roles import is_server
from designer.plain_text import counted

_MOST: Final = 100_000


def _sniff(head: str) -> float:
    if not re.search(r"^[ \t]*(?:strict[ \t]+)?(?:di)?graph\b[^{\n]{0,300}\{", head, re.MULTILINE | re.IGNORECASE):
        return 0.0
    return 0.9 if re.search(r":[ \t]{0,4}\"?[\w./-]{1,100}\"?[ \t]{0,8}(?:--|->)", head) else 0.6


def _read(text: str, file: str) -> Imported:
    graph = parse_dot(text, file)
    if not graph.edges:
        raise ExchangeError("the graph has no edges", file=file, remedy="a cable is written: leaf:swp1 -- spine:swp1")
    if len(graph.edges) > _MOST:
        raise ExchangeError(f"it has more than {_MOST:,} edges", file=file, remedy="split it")
    fabric = FabricDrawing(file, "a cable plan", "lldp", "ethernet")
    for node, told in graph.nodes.items():
        if _is_storage(told):
            fabric.switch(node, _name(node, told), told, kind="storage")
        elif not _is_server(node, told):
            fabric.switch(node, _name(node, told), told)
    seen: set[frozenset[tuple[str, str]]] = set()
    again = loops = 0
    for a, b, told in graph.edges:
        key = frozenset((a, b))
        if a[1] and b[1] and key in seen:
            again += 1
            continue
        seen.add(key)
        loops += a[0] == b[0]
        _cable(fabric, graph, a, b, told)
    if again:
        text = f"{counted(again, 'cable is', 'cables are')} written from both ends: each was drawn once"
        fabric.note("IMP-BOTH-ENDS", text)
    if loops:
        text = counted(
            loops,
            "cable from a device to itself (loopback cable) was left out",
            "cables from a device to itself (loopback cables) were left out",
        )
        fabric.note("IMP-LOOPS", text)
    return fabric.finish()


def _is_storage(told: dict[str, str]) -> bool:
    return told.get("function", "").lower() == "storage"


def _is_server(node: str, told: dict[str, str]) -> bool:
    function = told.get("function", told.get("kind", ""))
    return is_server(function or node)


def _name(node: str, told: dict[str, str]) -> str:
    """What a node is called: a title, else a label that is no drawing of ports, else its id."""
    label = told.get("label", "")
    return told.get("title") or (label if label and "|" not in label else node)


def _cable(fabric: FabricDrawing, graph: Graph, a: tuple[str, str], b: tuple[str, str], told: dict[str, str]) -> None:
    if a[0] == b[0]:
        return
    ends: list[str] = []
    for node, port in (a, b):
        about = graph.nodes.get(node, {})
        name = _name(node, about)
        if "title" in about:
            # the label is a drawing of its ports
            about = {k: v for k, v in about.items() if k not in ("title", "label", "shape")}
        if _is_storage(about):
            ends.append(fabric.switch(node, name, about, kind="storage"))
        elif _is_server(node, about):
            server = fabric.host(node, name, about)
            ends.append(fabric.nic(f"{node} {port}", server, port))
        else:
            ends.append(fabric.switch(node, name, about))
    known = rate(told.get("speed", told.get("bandwidth", "")))
    kind = told.get("kind", "") if told.get("kind") in ("ethernet", "infiniband", "fabric") else ""
    fabric.join(ends[0], ends[1], known, ports=(a[1], b[1]), attributes=told, kind=kind)


IMPORTER = Importer("cable-plan", "cable plan as a Graphviz graph (PTM, NVIDIA Air)", (".dot", ".gv"), _sniff, _read)
