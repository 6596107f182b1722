"""Cable plans as Graphviz graphs, in the form that Cumulus PTM and NVIDIA Air read: one edge a cable, with its ports.

Sources: Graphviz documentation, the DOT language; Cumulus Linux documentation, Prescriptive Topology Manager.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from designer import atomic
from designer.design.document import Design
from designer.design.name_pattern import safe
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.network_view import network_view, one_line


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
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


EXPORTER = Exporter("dot", ".dot", "Graphviz cable plan", write)
