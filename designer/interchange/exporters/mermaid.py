"""The network as a Mermaid flow chart: parallel cables are one line that states their number and rate.

Sources: Mermaid documentation, flowcharts and entity codes.
"""

from __future__ import annotations

from pathlib import Path

from designer import atomic
from designer.design.document import Design
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.network_view import network_view, one_line
from designer.units import format_quantity

#: more edges than this Mermaid refuses unless stated otherwise
_USUAL = 500


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
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


EXPORTER = Exporter("mermaid", ".mmd", "Mermaid flow chart", write)
