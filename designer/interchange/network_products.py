"""Products that a generated network is made of: the servers of a template, switches and storage of the catalog."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Final, Protocol

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import PartType
from designer.design.document import Design, Group, Part
from designer.errors import FormatError
from designer.fields import Quantity
from designer.interchange.templates import template_ids
from designer.interchange.whole_servers import single_server, whole_servers
from designer.sources import Status

#: what may be chosen, by the option that chooses it, and the kind of part it is
CHOICES: Final = {
    "server": "server",
    "switch": "switch",
    "storage": "storage",
    "storage-switch": "switch",
    "inband": "switch",
    "oob": "switch",
}
_NUMBERED: Final = re.compile(r"(.*?)(\d+)\Z")


@dataclass(frozen=True)
class Ports:
    """NICs of a server with one role: their ids, the rate of a port [B/s], the network they speak, and ports of one."""

    ids: tuple[str, ...]
    rate: float
    technology: str
    each: int = 1

    def path(self, first: int, last: int) -> str:
        """The ids of NICs `first` to `last` as a selector.

        Raises
        ------
        FormatError
            If the ids do not end with consecutive numbers.
        """
        if first == last:
            return self.ids[first]
        ends = [_NUMBERED.match(one) for one in (self.ids[first], self.ids[last])]
        stems = {end[1] for end in ends if end}
        numbers = [int(end[2]) for end in ends if end]
        if len(numbers) != len(ends) or len(stems) != 1 or numbers[1] - numbers[0] != last - first:
            raise FormatError(
                f"the NICs {', '.join(self.ids)[:60]} are not numbered one by one",
                place="--server",
                remedy="choose another server, or name them nic0, nic1 … in a file of your own",
            )
        return f"{stems.pop()}{{{numbers[0]}-{numbers[1]}}}"


@dataclass(frozen=True)
class Server:
    """One server as it is joined to others: ``storage`` are its NICs for storage, else those for the front end."""

    design: Design
    compute: Ports | None
    storage: Ports | None
    gpus: int


@dataclass(frozen=True)
class Chosen:
    """The products of a network; None where the generator draws parts of no product."""

    server: Server | None = None
    switch: PartType | None = None
    storage: PartType | None = None
    storage_switch: PartType | None = None
    inband: PartType | None = None
    oob: PartType | None = None


@lru_cache(maxsize=64)
def server_of(name: str) -> Server:
    """A server by its template.

    Raises
    ------
    FormatError
        If there is no such template of a single server.
    """
    design = single_server(name)
    gpus = sum(part.kind == "gpu" for part in design.parts.values())
    other_ports = _ports(design, "storage") or _ports(design, "front-end")
    return Server(design, _ports(design, "compute"), other_ports, gpus)


def _ports(design: Design, role: str) -> Ports | None:
    parts = [p for p in design.parts.values() if p.kind in ("nic", "dpu") and p.attributes.get("role") == role]
    if not parts:
        return None
    first = design.type_of(parts[0])
    if first is None:
        return None
    rate = first.number("port_bandwidth_per_direction") or first.number("bandwidth_per_direction") or 0.0
    said = first.values.get("technology")
    # of two networks a card speaks, InfiniBand joins servers in the references
    kind = "infiniband" if said is not None and "infiniband" in str(said.value).lower() else "ethernet"
    each = int(first.number("ports") or 1)
    return Ports(tuple(sorted(p.id for p in parts)), rate, kind, each) if rate else None


def chosen_parts(names: Mapping[str, str]) -> Chosen:
    """The products by the options of ``designer generate``: a template, the id of a type, or what it is called.

    Raises
    ------
    FormatError
        If there is no such product, or the template does not draw a single server.
    """
    server = server_of(_template(names["server"])) if names.get("server") else None
    types = {option: _type(option, name) for option, name in names.items() if option != "server" and name}
    if (types.get("storage") or types.get("inband")) and server is None:
        raise FormatError(
            "servers of no product have no NICs for it", place="--server", remedy="choose a server, as dgx-h100"
        )
    return Chosen(
        server,
        types.get("switch"),
        types.get("storage"),
        types.get("storage-switch") or types.get("switch"),
        types.get("inband"),
        types.get("oob"),
    )


def _template(name: str) -> str:
    """The template that draws a server, by its id or that of the server's type; a file stays what it is."""
    if name in template_ids() or name.endswith(".json"):
        return name
    type_id = load_catalog().resolve(name, "server")
    whole = whole_servers().get(type_id) if type_id else None
    return whole.template.id if whole is not None and not whole.groups else name


def _type(option: str, name: str) -> PartType:
    kind = CHOICES[option]
    found = load_catalog().resolve(name, kind)
    if found is None:
        near = ", ".join(load_catalog().nearest(kind, name))
        remedy = f"did you mean {near}?" if near else f"see: designer parts --kind {kind}"
        raise FormatError(f"the catalog has no {kind} {name[:40]!r}", place=f"--{option}", remedy=remedy)
    return load_catalog().get(found)


#: ports of the storage system for 32 servers, and its leaves for each unit of them (RA-11333-001: 48 for four units)
_STORE_PORTS: Final = 12
_UNIT: Final = 32
#: uplinks of a storage leaf to its links down: 24 for 32 (RA-11333-001, "near 4:3")
_UP, _DOWN = 3, 4
#: uplinks of a switch for management
_UPLINKS: Final = 2
_BMC: Final = "nic/generic/ethernet-1g"
_BITS: Final = 8


class Drawing(Protocol):
    """What networks are added to."""

    parts: dict[str, Part]
    groups: dict[str, Group]

    def take(self, part: PartType) -> str:
        """Carry a part type in the design; its id."""
        ...

    def products(self, group: str, title: str, count: int, part: PartType, role: str, rate: float) -> None:
        """A group of equal switches of the catalog, called ``switch``."""
        ...

    def join(self, name: str, pattern: str, a: str, b: str, kind: str, rate: float, count: int = 1) -> None:
        """A wiring of links of a network and rate [B/s]."""
        ...

    def controllers(self, card: PartType) -> None:
        """A management controller in every server."""
        ...


@dataclass(frozen=True, slots=True)
class OtherNetworks:
    """What was drawn next to the compute fabric, in words; and what was not."""

    drawn: tuple[str, ...]
    absent: tuple[str, ...]

    def __str__(self) -> str:
        said = [*self.drawn, f"Not drawn: {', '.join(self.absent)}." if self.absent else ""]
        return " ".join(s for s in said if s)


def draw_other_networks(drawing: Drawing, chosen: Chosen, nodes: int) -> OtherNetworks:
    """Draw the networks that were chosen around `nodes` servers.

    Raises
    ------
    FormatError
        If the servers have no NICs or ports for them.
    """
    drawn: list[str] = []
    absent = ["power distribution units"]
    if chosen.storage is not None and chosen.storage_switch is not None:
        drawn.append(_storage(drawing, chosen, chosen.storage, chosen.storage_switch, nodes))
    else:
        absent.append("storage network")
    if chosen.inband is not None:
        drawn.append(_inband(drawing, chosen, chosen.inband, nodes))
    else:
        absent.append("in-band management")
    if chosen.oob is not None:
        drawn.append(_out_of_band(drawing, chosen.oob, nodes))
    else:
        absent.append("out-of-band management")
    return OtherNetworks(tuple(drawn), tuple(sorted(absent)))


def _ports_of(chosen: Chosen, place: str) -> Ports:
    ports = chosen.server.storage if chosen.server is not None else None
    if ports is None:
        raise FormatError(
            "the server has no NICs with the role storage or front-end",
            place=place,
            remedy="choose another server, or leave the network out",
        )
    return ports


def _storage(drawing: Drawing, chosen: Chosen, storage: PartType, switch: PartType, nodes: int) -> str:
    """Leaves of servers with three links up for four down, leaves of the storage system 1:1, spines above both."""
    ports = _ports_of(chosen, "--storage")
    # the reference joins its dual-port InfiniBand cards at the rate of the switch
    rate = amount_of(switch) if ports.technology == "infiniband" else min(amount_of(switch), ports.rate)
    total = ports_of(switch, rate)
    half = total // 2
    units = ceil(nodes / half)
    up = max(1, half * _UP // _DOWN)
    store = ceil(nodes * _STORE_PORTS / _UNIT)
    leaves, store_leaves = units * len(ports.ids), max(_UPLINKS, units)
    each = ceil(store / store_leaves)
    spines = max(_UPLINKS, ceil((leaves * up + store_leaves * each) / total))
    while leaves * ceil(up / spines) + store_leaves * ceil(each / spines) > total:
        spines += 1
    kind = network_of(switch)
    for group, title, count, role in (
        ("storage_leaves", "Storage leaves, servers", leaves, "storage leaf"),
        ("store_leaves", "Storage leaves, storage", store_leaves, "storage leaf"),
        ("storage_spines", "Storage spines", spines, "storage spine"),
    ):
        drawing.products(group, title, count, switch, role, rate)
    drawing.parts["storage"] = Part(id="storage", kind="storage", name=storage.title[:60], type=storage.id)
    drawing.take(storage)
    path = f"servers[*]/{ports.path(0, len(ports.ids) - 1)}"
    drawing.join("storage_rails", "rails", path, "storage_leaves[*]/switch", kind, rate)
    drawing.join(
        "storage_spine", "mesh", "storage_leaves[*]/switch", "storage_spines[*]/switch", kind, rate, ceil(up / spines)
    )
    drawing.join("store", "mesh", "storage", "store_leaves[*]/switch", kind, rate, each)
    drawing.join(
        "store_spine", "mesh", "store_leaves[*]/switch", "storage_spines[*]/switch", kind, rate, ceil(each / spines)
    )
    return (
        f"Storage network of {leaves} + {store_leaves} leaves and {spines} spines, {store_leaves * each} storage ports."
    )


def _inband(drawing: Drawing, chosen: Chosen, switch: PartType, nodes: int) -> str:
    """Each NIC of a server to a leaf of its own, leaves with two spines; a port of a dual-port NIC next to storage."""
    ports = _ports_of(chosen, "--inband")
    if chosen.storage is not None and ports.each < 2:
        raise FormatError(
            "the server's NICs have one port, which joins the storage network",
            place="--inband",
            remedy="choose another server, or leave one of both networks out",
        )
    rate = min(ports.rate, amount_of(switch))
    total = ports_of(switch, rate)
    down = total * _UP // _DOWN
    leaves = ceil(nodes / down) * len(ports.ids)
    up = max(1, (total - down) // _UPLINKS)
    while leaves * up > total:
        up -= 1
    if not up:
        raise FormatError(
            f"{leaves} leaves are too many for {_UPLINKS} spines", place="--inband", remedy="use larger switches"
        )
    drawing.products("inband_leaves", "In-band leaves", leaves, switch, "in-band leaf", rate)
    drawing.products("inband_spines", "In-band spines", _UPLINKS, switch, "in-band spine", rate)
    path = f"servers[*]/{ports.path(0, len(ports.ids) - 1)}"
    drawing.join("inband", "rails", path, "inband_leaves[*]/switch", "ethernet", rate)
    drawing.join("inband_spine", "mesh", "inband_leaves[*]/switch", "inband_spines[*]/switch", "ethernet", rate, up)
    return f"In-band management on {leaves} leaves and {_UPLINKS} spines."


def _out_of_band(drawing: Drawing, switch: PartType, nodes: int) -> str:
    """The controller of each server on management switches, sized for the management ports of all other units too."""
    others = sum(g.replicas for name, g in drawing.groups.items() if name != "servers" and not g.content.groups)
    total = int(switch.number("ports") or 1)
    count = ceil((nodes + others) / total)
    drawing.controllers(load_catalog().get(_BMC))
    rate = amount_of(switch)
    drawing.products("oob", "Out-of-band switches", count, switch, "out-of-band", rate)
    drawing.join("oob", "spread", "servers[*]/bmc", "oob[*]/switch", "ethernet", rate)
    return f"Out-of-band management on {count} switches: {nodes} servers, and room for {others} switches."


def amount_of(switch: PartType) -> float:
    """The rate of one port of a switch [B/s]."""
    return switch.number("port_bandwidth_per_direction") or 0.0


def ports_of(switch: PartType, rate: float) -> int:
    """How many links of a rate [B/s] a switch has ports for, split where they are faster."""
    return int((switch.number("ports") or 0) * max(1, int(amount_of(switch) / rate + 1e-6))) if rate else 0


def network_of(part: PartType) -> str:
    """The kind of network a product speaks: InfiniBand where it speaks both."""
    said = part.values.get("technology")
    return "infiniband" if said is not None and "infiniband" in str(said.value).lower() else "ethernet"


def spelled(rate: float) -> str:
    """A rate as text."""
    return f"{rate * _BITS / 1e9:g} Gb/s"


def quantity(value: int | str, source: str) -> Quantity:
    """A value that was asked for."""

    return Quantity(value=value, source=source, status=Status.SECONDARY)
