"""What goes into each port: one row a cable and end, as CSV for those who plug and check them.

Cells that a spreadsheet would take for a formula begin with an apostrophe.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from designer import atomic
from designer.design.document import Design
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.network_view import network_view

_COLUMNS = ("device", "shown as", "port", "far device", "far port", "network", "rate [Gb/s]")


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the list, switches first."""
    del options
    view = network_view(design)
    rows: list[tuple[bool, int, int, tuple[str, ...]]] = []
    for serial, cable in enumerate(view.singles()):
        for here, port, there, far in (
            (cable.a, cable.a_port, cable.b, cable.b_port),
            (cable.b, cable.b_port, cable.a, cable.a_port),
        ):
            node = view.nodes[here]
            row = (node.name, node.title, port, view.nodes[there].name, far, cable.kind, f"{cable.rate * 8 / 1e9:.6g}")
            rows.append((not node.switch, here, serial, row))
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow(_COLUMNS)
    sheet.writerows(tuple(_without_formula(cell) for cell in row) for *_, row in sorted(rows))
    return atomic.write(path, out.getvalue().encode("utf-8"))


def _without_formula(cell: str) -> str:
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


EXPORTER = Exporter("port-list", ".ports.csv", "Switch port list", write)
