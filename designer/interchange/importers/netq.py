"""The topology graph of NVIDIA NetQ: devices in tiers and the links its agents learned by LLDP.

Sources: NVIDIA/topograph, tests/output/netq (Apache-2.0); NetQ user guide, topology view.
"""

from __future__ import annotations

import re
from typing import Any

from designer.errors import ExchangeError
from designer.interchange.foreign.fabric import FabricDrawing
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.json_text import objects, parse_json, string


def _sniff(head: str) -> float:
    return 0.95 if re.search(r"\"compounded_(?:links|nodes)\"\s*:", head) else 0.0


def _read(text: str, file: str) -> Imported:
    content = parse_json(text, file)
    graphs = objects(content) if isinstance(content, list) else objects([content])
    fabric = FabricDrawing(file, "a topology graph of NetQ", "netq", "ethernet")
    about: dict[str, dict[str, Any]] = {}
    for graph in graphs:
        for tier in objects(graph.get("nodes")):
            for node in objects(tier.get("compounded_nodes")) or [tier]:
                about[string(node.get("id"))] = node
    for graph in graphs:
        for bundle in objects(graph.get("links")):
            for cable in objects(bundle.get("compounded_links")) or [bundle]:
                ends = objects(cable.get("interfaces"))
                if len(ends) == 2 and all(string(end.get("node")) for end in ends):
                    ids = [_part(fabric, about, end) for end in ends]
                    ports = (string(ends[0].get("interface")), string(ends[1].get("interface")))
                    fabric.join(ids[0], ids[1], ports=ports)
    if not fabric.nodes:
        raise ExchangeError("it has no link with two ends", file=file, remedy="export the topology graph of NetQ")
    for node, fields in about.items():
        if string(fields.get("device_type")) == "switch":
            fabric.switch(node, string(fields.get("name")))
    return fabric.finish()


def _part(fabric: FabricDrawing, about: dict[str, dict[str, Any]], end: dict[str, Any]) -> str:
    node, port = string(end.get("node")), string(end.get("interface"))
    fields = about.get(node, {})
    name = string(fields.get("name")) or node
    told = {"netq_node": node, "tier": string(fields.get("tier"))}
    if string(fields.get("device_type")) == "switch" or (not fields and port.startswith("swp")):
        return fabric.switch(node, name, told)
    return fabric.nic(f"{node} {port}", fabric.host(node, name, told), port)


IMPORTER = Importer("netq", "NVIDIA NetQ topology graph", (".json",), _sniff, _read)
