"""Cable plans as Graphviz graphs, in the form that Cumulus PTM and NVIDIA Air read: one edge a cable, with its ports.

Sources: Graphviz documentation, the DOT language; Cumulus Linux documentation, Prescriptive Topology Manager.
"""

from __future__ import annotations

from pathlib import Path

from designer import atomic
from designer.design.document import Design
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.network_view import network_view, one_line


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the network: a node a switch or server, an edge a cable."""
    del options
    view = network_view(design)
    lines = [f"graph {_quoted(design.title or design.name)} {{"]
    for node in view.nodes:
        function = "switch" if node.switch else "host"
        lines.append(f'  "{node.name}" [function="{function}" label={_quoted(node.title)} gpus="{node.gpus}"]')
    for cable in view.singles():
        a, b = view.nodes[cable.a].name, view.nodes[cable.b].name
        speed = f"{cable.rate * 8 / 1e9:.12g}Gbps"
        lines.append(f'  "{a}":"{cable.a_port}" -- "{b}":"{cable.b_port}" [speed="{speed}" kind="{cable.kind}"]')
    return atomic.write(path, ("\n".join([*lines, "}"]) + "\n").encode("utf-8"))


def _quoted(text: str) -> str:
    escaped = one_line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


EXPORTER = Exporter("dot", ".dot", "Graphviz cable plan", write)
