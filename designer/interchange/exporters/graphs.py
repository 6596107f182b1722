"""Designs as graphs of other programs: Graphviz, Mermaid, GraphML."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import networkx as nx

from designer import atomic
from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.design.name_pattern import safe
from designer.design.rates import raw_rate
from designer.errors import ExchangeError
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.network_view import network_view, one_line
from designer.units import format_quantity


def write_dot(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the network: a node a switch or server, an edge a cable."""
    del options
    view = network_view(design)
    cables = view.singles()
    ports: list[dict[str, None]] = [{} for _ in view.nodes]
    for cable in cables:
        ports[cable.a][cable.a_port] = None
        ports[cable.b][cable.b_port] = None
    lines = [f"graph {_quote(design.title or design.name)} {{", '  node [shape="record"]']
    for node, own in zip(view.nodes, ports, strict=True):
        function = "switch" if node.switch else "storage" if node.storage else "host"
        title = node.title if safe(node.title) == node.name else node.name
        label = _record(node.title, own)
        lines.append(
            f'  "{node.name}" [function="{function}" title={_quote(title)} label="{label}" gpus="{node.gpus}"]'
        )
    for cable in cables:
        a, b = view.nodes[cable.a].name, view.nodes[cable.b].name
        speed = f"{cable.rate * 8 / 1e9:.12g}Gbps"
        lines.append(f'  "{a}":"{cable.a_port}" -- "{b}":"{cable.b_port}" [speed="{speed}" kind="{cable.kind}"]')
    return atomic.write(path, ("\n".join([*lines, "}"]) + "\n").encode("utf-8"))


def _quote(text: str) -> str:
    escaped = one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _record(title: str, ports: Iterable[str]) -> str:
    """A box with a field a port, so that Graphviz knows where cables end; its own signs in the title are escaped."""
    named = re.sub(r'([\\"{}|<>])', r"\\\1", one_line(title))
    return f"{{{named}|{{{'|'.join(f'<{port}> {port}' for port in ports)}}}}}"


#: more edges than this Mermaid refuses unless stated otherwise
_USUAL = 500


def write_mermaid(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the chart."""
    del options
    view = network_view(design)
    lines = ["flowchart BT"]
    for n, node in enumerate(view.nodes):
        shape = "([{}])" if node.switch else "[{}]"
        lines.append(f"  n{n}" + shape.format(f'"{_escape(node.title)}"'))
    joined: dict[tuple[int, int, float], int] = {}
    for cable in view.cables:
        key = (min(cable.a, cable.b), max(cable.a, cable.b), cable.rate)
        joined[key] = joined.get(key, 0) + cable.count
    for (a, b, rate), count in joined.items():
        lines.append(f'  n{a} ---|"{count} x {format_quantity(rate, "rate")}"| n{b}')
    notes = atomic.write(path, ("\n".join(lines) + "\n").encode("utf-8"))
    if len(joined) > _USUAL:
        return (*notes, f"{path.name} has {len(joined):,} edges: set maxEdges, Mermaid draws {_USUAL} by itself")
    return notes


def _escape(text: str) -> str:
    """Entity codes for whatever is no letter, digit or plain mark."""
    return "".join(c if c.isalnum() or c in " .,_-/[]()" else f"#{ord(c)};" for c in one_line(text))


#: GraphML of more parts or links than this is of no use to anyone
_MOST = 1_000_000


def write_graphml(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
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


EXPORTERS: Final = (
    Exporter("dot", ".dot", "Graphviz cable plan", write_dot),
    Exporter("mermaid", ".mmd", "Mermaid flow chart", write_mermaid),
    Exporter("graphml", ".graphml", "GraphML graph", write_graphml),
)
