"""Products that a generated network is made of: the servers of a template, switches and storage of the catalog."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import PartType
from designer.design.document import Design
from designer.errors import FormatError
from designer.interchange.templates import template_ids
from designer.interchange.whole_servers import single_server, whole_servers

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
