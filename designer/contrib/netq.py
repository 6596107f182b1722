"""NVIDIA NetQ: the topology graph of devices and the links its agents learned by LLDP, or the list of compute nodes.

Compute nodes are listed by NVLink domain, with their GPUs and their place in the chassis: each domain is drawn as one
NVLink fabric that all GPUs of its nodes are joined to. Number and rate of the NVLinks are not in the list.
Sources: NVIDIA/topograph, tests/output/netq (Apache-2.0); NetQ user guide, topology view.
"""

from __future__ import annotations

import re
from typing import Any, Final

from designer.catalog.parttype import link_kinds
from designer.design.document import LinkValues
from designer.errors import ExchangeError
from designer.interchange.foreign.fabric import FabricDrawing
from designer.interchange.foreign.finishing import finish
from designer.interchange.foreign.importer import Imported, Importer
from designer.interchange.foreign.json_text import objects, parse_json, string
from designer.interchange.foreign.machine import MachineDrawing
from designer.plain_text import counted
from designer.sources import Status

_MOST: Final = 50_000


def _sniff(head: str) -> float:
    if re.search(r"\"compounded_(?:links|nodes)\"\s*:", head):
        return 0.95
    return 0.9 if '"GpuIDList"' in head and '"DomainUUID"' in head else 0.0


def _read(text: str, file: str) -> Imported:  # noqa: C901
    content = parse_json(text, file)
    graphs = objects(content) if isinstance(content, list) else objects([content])
    if isinstance(content, dict) and objects(content.get("computeNodes")):
        graphs = objects(content.get("computeNodes"))
    if any("GpuIDList" in one for one in graphs):
        return _compute_nodes(graphs, file)
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


def _compute_nodes(nodes: list[dict[str, Any]], file: str) -> Imported:
    machine = MachineDrawing(file, "compute nodes of NetQ", "netq")
    if sum(len(_gpu_ids(node)) for node in nodes) > _MOST:
        raise ExchangeError(f"it lists more than {_MOST:,} GPUs", file=file, remedy="split the list")
    fabrics: dict[str, str] = {}
    links: list[str] = []
    for node in nodes:
        about = {name: string(node.get(name)) for name in ("ID", "Health", "Description", "DomainUUID")}
        place = node.get("LocationInfo")
        if isinstance(place, dict):
            about |= {name: string(place.get(name)) for name in ("ChassisID", "SlotID", "TrayIndex", "HostID")}
        stated = {name: value for name, value in about.items() if value}
        server = machine.add("server", name=string(node.get("Name")), attributes=stated)
        domain = about["DomainUUID"]
        if domain and domain not in fabrics:
            fabrics[domain] = machine.add("nvswitch", name="NVLink domain", attributes={"DomainUUID": domain})
        for gpu in _gpu_ids(node):
            part = machine.add("gpu", parent=server, attributes={"ID": gpu})
            if domain:
                links.append(machine.link(part, fabrics[domain], LinkValues(kind="nvlink", status=Status.ASSUMED)))
    if links:
        usual = link_kinds()["nvlink"].default_rate
        machine.note(
            "IMP-ASSUMED-LINK",
            f"number and speed of the NVLinks are not in the file: one of {usual} is assumed for each GPU",
            *links,
            remedy="choose the type of the GPUs, and set count and bandwidth of the links",
        )
    counts = ((len(machine.of_kind("server")), "server"), (len(machine.of_kind("gpu")), "GPU"))
    return finish(machine, ", ".join(counted(count, what) for count, what in counts))


def _gpu_ids(node: dict[str, Any]) -> list[str]:
    gpus = node.get("GpuIDList")
    return [string(gpu) for gpu in gpus] if isinstance(gpus, list) else []


def _part(fabric: FabricDrawing, about: dict[str, dict[str, Any]], end: dict[str, Any]) -> str:
    node, port = string(end.get("node")), string(end.get("interface"))
    fields = about.get(node, {})
    name = string(fields.get("name")) or node
    stated = {"netq_node": node, "tier": string(fields.get("tier"))}
    if string(fields.get("device_type")) == "switch" or (not fields and port.startswith("swp")):
        return fabric.switch(node, name, stated)
    return fabric.nic(f"{node} {port}", fabric.host(node, name, stated), port)


IMPORTER = Importer("netq", "NVIDIA NetQ topology graph or compute nodes", (".json",), _sniff, _read)
