"""Servers of a template joined by a generated fabric and fed by storage: what the families of clusters share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil
from typing import Any, Final

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import PartType, SourceRecord
from designer.contrib.proposals.family import name_of
from designer.design.document import Block, Design, Group, Part, Wiring, WorkloadSpec, with_changes
from designer.errors import FormatError, raised_as
from designer.interchange.generating import generate
from designer.interchange.generators._generator import ASKED, even
from designer.interchange.network_products import Ports, Server, server_of
from designer.sources import Status

#: no network: one server alone
ALONE: Final = "none"
#: networks by their spelling: family of the generator, links down for one up
NETWORKS: Final = {
    "leaf-spine 1:1": ("leaf-spine", 1),
    "leaf-spine 2:1": ("leaf-spine", 2),
    "leaf-spine 4:1": ("leaf-spine", 4),
    "rail-optimized 1:1": ("rail-optimized", 1),
    "rail-optimized 2:1": ("rail-optimized", 2),
}
#: drives of the servers themselves, instead of storage of its own
DRIVES: Final = "drives"
#: cables of a storage system to each of its leaves, at most
_STORE_CABLES_LIMIT: Final = 8
_BITS: Final = 8


@lru_cache(maxsize=32)
def switch_for(technology: str, rate: float) -> PartType:
    """The switch of the catalog with most ports of a rate; products come before generic ones.

    Raises
    ------
    FormatError
        If there is none.
    """
    catalog = load_catalog()
    fitting: list[tuple[bool, int, str, PartType]] = []
    for type_id in catalog.ids():
        if type_id.startswith("switch/"):
            one = catalog.get(type_id)
            said = one.values.get("technology")
            ports = int(one.number("ports") or 0)
            port = one.number("port_bandwidth_per_direction") or 0.0
            if said is not None and technology in str(said.value).lower() and ports and abs(port / rate - 1) < 1e-6:
                fitting.append(("/generic/" in type_id, -ports, type_id, one))
    if not fitting:
        raise FormatError(
            f"the catalog has no {technology} switch of {rate * _BITS / 1e9:g} Gb/s",
            place="network",
            remedy="choose another server",
        )
    return min(fitting)[3]


def cluster(name: str, nodes: int, network: str, storage: str, goal: WorkloadSpec, title: str) -> Design:
    """So many servers on a network with storage, and the goal as its workload.

    Raises
    ------
    FormatError
        If the choices do not fit each other.
    """
    server = server_of(name)
    drawing = _Drawing(server, nodes)
    if network != ALONE:
        drawing.join(network)
    if storage not in (ALONE, DRIVES):
        drawing.store(storage, network)
    return drawing.design(goal, title)


class _Drawing:
    def __init__(self, server: Server, nodes: int) -> None:
        self.server, self.nodes = server, nodes
        own = server.design
        block = Block(parts=own.parts, links=own.links)
        self.parts: dict[str, Part] = {}
        self.groups = {"servers": Group(id="servers", name=own.title[:60] or "Servers", replicas=nodes, content=block)}
        self.wirings: dict[str, Wiring] = {}
        self.types: dict[str, PartType] = dict(own.part_types)
        self.sources: dict[str, SourceRecord] = {**own.sources, ASKED: SourceRecord(title="Chosen by the search")}
        self.stated: list[str] = []

    def join(self, network: str) -> None:
        """Compute NICs on the leaves of a generated fabric, of switches of the catalog."""
        known = NETWORKS.get(network)
        ports = self.server.compute
        if known is None:
            remedy = f"use {ALONE}, {', '.join(NETWORKS)}"
            raise FormatError(f"{network[:40]!r} is no network", place="network", remedy=remedy)
        if ports is None:
            raise FormatError(
                f"{self.server.design.name} has no NIC to join it by", place="network", remedy="choose another server"
            )
        family, over = known
        switch = switch_for(ports.technology, ports.rate)
        given = {
            "nodes": str(self.nodes),
            "rails": str(len(ports.ids)),
            "ports": str(int(switch.number("ports") or 0)),
            "rate": f"{ports.rate * _BITS / 1e9:g} Gb/s",
            "kind": ports.technology,
            "oversubscription": str(over),
        }
        made = generate(family, given)
        self._take(switch)
        for group in made.groups.values():
            if group.id != "servers":
                self.groups[group.id] = _typed_group(group, switch.id)
        for wiring in made.wirings.values():
            self.wirings[wiring.id] = wiring
        self._trim(int(switch.number("ports") or 0), over)

    def _trim(self, ports: int, over: int) -> None:
        """No more uplinks and spines than the servers there are use; none above a single leaf."""
        leaves, spines = self.groups.get("leaves"), self.groups.get("spines")
        if leaves is None or spines is None:
            pods = self.groups["pods"].replicas
            self.stated.append(f"{pods} pods of leaves and spines, {self.groups['cores'].replicas} cores.")
            return
        if leaves.replicas == 1:
            if over > 1:
                raise FormatError("one leaf reaches all servers: nothing to oversubscribe", place="network")
            del self.groups["spines"], self.wirings["spine"]
            self.stated.append("One leaf.")
            return
        assert self.server.compute is not None, "it was joined by its NICs"
        cables = self.nodes * len(self.server.compute.ids)
        up = ceil(ceil(cables / leaves.replicas) / over)
        count = even(ceil(leaves.replicas * up / ports), up)
        self.groups["spines"] = with_changes(spines, replicas=count)
        self.wirings["spine"] = with_changes(self.wirings["spine"], count=up // count)
        self.stated.append(
            f"{leaves.replicas} leaves with {up} links up each, {count} spine{'s' if count > 1 else ''}."
        )

    def store(self, type_id: str, network: str) -> None:
        """A storage system on leaves of its own, or on the fabric where servers have no NICs for it."""
        with raised_as(FormatError, "storage"):
            found = load_catalog().get(type_id)
        self._take(found)
        self.parts["storage"] = Part(id="storage", kind="storage", name=found.title[:60], type=found.id)
        ports = self.server.storage or (self.server.compute if network == ALONE else None)
        if ports is None:
            self._store_above()
            return
        switch = switch_for(ports.technology, ports.rate)
        self._take(switch)
        each = int(switch.number("ports") or 0)
        down = each * 3 // 4
        leaves = ceil(self.nodes * len(ports.ids) / down)
        per_leaf = ceil(self.nodes * len(ports.ids) / leaves)
        cables = max(1, min(_STORE_CABLES_LIMIT, each - per_leaf, ceil(per_leaf / 2)))
        content = Block(parts={"switch": _switch("Storage leaf", switch.id, "storage leaf")})
        self.groups["storage_leaves"] = Group(
            id="storage_leaves", name="Storage leaves", replicas=leaves, content=content
        )
        rate = f"{ports.rate * _BITS / 1e9:g} Gb/s"
        for nic in ports.ids:
            self._add_wiring(f"storage_{nic}", "spread", f"servers[*]/{nic}", "storage_leaves[*]/switch", ports, rate)
        self._add_wiring("store", "mesh", "storage", "storage_leaves[*]/switch", ports, rate, cables)
        words = "One storage leaf" if leaves == 1 else f"{leaves} storage leaves, each"
        self.stated.append(f"{words} with {cables} cable{'s' if cables > 1 else ''} from the storage.")

    def _store_above(self) -> None:
        """Storage on free ports of the spines, or of the leaf where it is the only one."""
        ports = self.server.compute
        top = next((g for g in ("cores", "spines", "leaves") if g in self.groups), None)
        if ports is None or top is None:
            raise FormatError("no switch has a port for storage", place="storage", remedy="choose another network")
        each = int(self.types[self.groups[top].content.parts["switch"].type].number("ports") or 0)
        if top == "leaves":
            used = self.nodes * len(ports.ids)
        elif top == "spines":
            used = self.groups["leaves"].replicas * self.wirings["spine"].count
        else:
            used = each
        if used >= each:
            raise FormatError(
                f"all {each} ports of a switch are taken, storage finds none", place="storage", remedy="fewer servers"
            )
        cables = max(1, min(_STORE_CABLES_LIMIT, each - used))
        rate = f"{ports.rate * _BITS / 1e9:g} Gb/s"
        self._add_wiring("store", "mesh", "storage", f"{top}[*]/switch", ports, rate, cables)
        self.stated.append(f"Storage on {cables} port{'s' if cables > 1 else ''} of each of the {top}.")

    def _add_wiring(self, name: str, pattern: str, a: str, b: str, ports: Ports, rate: str, count: int = 1) -> None:
        self.wirings[name] = Wiring(
            id=name,
            pattern=pattern,
            a=a,
            b=b,
            kind=ports.technology,
            count=count,
            bandwidth_per_direction=rate,
            source=ASKED,
            status=Status.SECONDARY,
        )

    def _take(self, part_type: PartType) -> None:
        self.types[part_type.id] = part_type
        self.sources.update(part_type.sources)

    def design(self, goal: WorkloadSpec, title: str) -> Design:
        return Design(
            name=name_of(title),
            title=title,
            description=" ".join(self.stated),
            parts=self.parts,
            groups=self.groups,
            wirings=self.wirings,
            part_types=self.types,
            sources=self.sources,
            policy=self.server.design.policy,
            workloads={goal.id: goal},
            default_workload=goal.id,
        )


def _switch(title: str, type_id: str, role: str) -> Part:
    return Part(id="switch", kind="switch", name=title, type=type_id, attributes={"role": role})


def _typed_group(group: Group, type_id: str) -> Group:
    """A group of the generator with switches of the catalog: their ports and rate are those of the type."""
    block = group.content
    parts = {k: with_changes(p, type=type_id, overrides={}) for k, p in block.parts.items()}
    inner = {k: _typed_group(g, type_id) for k, g in block.groups.items()}
    return with_changes(group, content=with_changes(block, parts=parts, groups=inner))


def with_settings(goal: WorkloadSpec, settings: dict[str, Any]) -> WorkloadSpec:
    """The goal with settings that follow from the choices."""
    return with_changes(goal, settings={**goal.settings, **settings})


def networks_for(nodes: int, given: Sequence[str]) -> tuple[str, ...]:
    """Networks that make sense for so many servers: none for one of them, some for several."""
    fitting = [n for n in given if (n == ALONE) == (nodes == 1)]
    return tuple(fitting) or (ALONE if nodes == 1 else next(iter(NETWORKS)),)
