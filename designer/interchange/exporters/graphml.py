"""Designs as GraphML, for graph tools: parts are vertices, bundles of links are joins with their raw capacity."""

from __future__ import annotations

import io
from pathlib import Path

import networkx as nx

from designer import atomic
from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.interchange.exporters._exporter import Exporter, ExportOptions

#: GraphML of more parts or links than this is of no use to anyone
_MOST = 1_000_000


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the elaborated design: one vertex a part, attributes kind, type, name, parent; one join a bundle."""
    del options
    graph = graph_of(design)
    out = io.BytesIO()
    nx.write_graphml(graph, out, encoding="utf-8", prettyprint=True)
    return atomic.write(path, out.getvalue())


def graph_of(design: Design) -> nx.MultiGraph[str]:
    """The elaborated design as a graph whose vertices are the paths of the parts.

    Raises
    ------
    ExchangeError
        If it is too large.
    """
    net = elaborate(design)
    if max(net.n_parts, net.n_links) > _MOST:
        raise ExchangeError(
            f"the design elaborates to {net.n_parts:,} parts and {net.n_links:,} links",
            remedy=f"GraphML is written up to {_MOST:,} of each: use fewer replicas",
        )
    paths = [net.path(i) for i in range(net.n_parts)]
    graph: nx.MultiGraph[str] = nx.MultiGraph(name=_without_control_characters(design.title or design.name))
    for i, path in enumerate(paths):
        part = net.part(i)
        values = {"kind": part.kind, "type": part.type, "name": part.name}
        above = int(net.parent[i])
        if above >= 0:
            values["parent"] = paths[above]
        graph.add_node(
            _without_control_characters(path), **{k: _without_control_characters(v) for k, v in values.items() if v}
        )
    rates = [raw_rate(link) for link in net.link_defs]
    for i in range(net.n_links):
        link = net.link(i)
        rate, status = rates[int(net.link_def[i])]
        graph.add_edge(
            _without_control_characters(paths[int(net.link_a[i])]),
            _without_control_characters(paths[int(net.link_b[i])]),
            key=_without_control_characters(net.link_path(i)),
            kind=_without_control_characters(link.kind),
            count=link.count,
            bytes_per_second_per_direction=rate * link.count,
            status=str(status),
        )
    return graph


def _without_control_characters(text: str) -> str:
    """`text` without what XML cannot carry."""
    return (
        "".join(c for c in text if c in "\t\n\r" or (ord(c) >= 32 and c not in "\ufffe\uffff"))
        .encode("utf-8", "replace")
        .decode()
    )


EXPORTER = Exporter("graphml", ".graphml", "GraphML graph", write)
