"""A design as a graph for everybody's tools: a ``networkx.MultiDiGraph`` of its parts and both ways of every link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from designer.catalog.parttype import link_kinds, value_of
from designer.design.document import Design, Link, Part, Wiring
from designer.design.elaborate import Netlist, elaborate
from designer.design.rates import raw_rate

if TYPE_CHECKING:
    import networkx


def to_networkx(design: Design) -> networkx.MultiDiGraph[str]:
    """The elaborated design as a graph.

    Nodes are the paths of the parts (``servers[3]/gpu0``) with ``kind``, ``type``, ``name``, ``parent`` (path, where
    there is one) and every value of the part under its own name, quantities in SI units. Every link is two edges, one
    per direction, whose key and ``link`` are the link's path, with ``kind``, ``count``, ``bandwidth_per_direction``
    of one link of the bundle [B/s], ``capacity`` of the bundle [B/s], ``duplex`` and ``status``.

    Raises
    ------
    DocumentError
        If the design cannot be elaborated.
    """
    import networkx

    net = elaborate(design)
    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(name=design.name)
    paths = [net.path(i) for i in range(net.n_parts)]
    shared = [_attributes(design, part) for part in net.part_defs]
    for i, path in enumerate(paths):
        above = int(net.parent[i])
        inside = {"parent": paths[above]} if above >= 0 else {}
        graph.add_node(path, **shared[int(net.part_def[i])], **inside)
    _add_links(graph, net, paths)
    return graph


def _add_links(graph: networkx.MultiDiGraph[str], net: Netlist, paths: list[str]) -> None:
    shared = [_link_attributes(values) for values in net.link_defs]
    for i in range(net.n_links):
        a, b, key = paths[int(net.link_a[i])], paths[int(net.link_b[i])], net.link_path(i)
        attributes = shared[int(net.link_def[i])]
        graph.add_edge(a, b, key=key, link=key, **attributes)
        graph.add_edge(b, a, key=key, link=key, **attributes)


def _attributes(design: Design, part: Part) -> dict[str, Any]:
    part_type = design.type_of(part)
    values = {**(part_type.values if part_type is not None else {}), **part.overrides}
    found: dict[str, Any] = {}
    for name, quantity in values.items():
        number = value_of(part.kind, name, quantity)
        found[name] = quantity.value if number is None else number
    return {**found, "kind": part.kind, "type": part.type, "name": part.label}


def _link_attributes(values: Link | Wiring) -> dict[str, Any]:
    rate, status = raw_rate(values)
    kind = link_kinds().get(values.kind)
    return {
        "kind": values.kind,
        "count": values.count,
        "bandwidth_per_direction": rate,
        "capacity": rate * values.count,
        "duplex": str(kind.duplex) if kind is not None else "full",
        "status": str(status),
    }
