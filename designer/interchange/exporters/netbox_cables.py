"""The cables of the network as NetBox imports them: one row a cable, with both devices and both interfaces.

Devices have to be in NetBox first, by these names and with these interfaces. Cells that a spreadsheet would take for a
formula begin with an apostrophe.
Sources: netbox-community/netbox, bulk import of cables and its tests.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

from designer import atomic
from designer.design.document import Design
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.network_view import interface_name, network_view

_COLUMNS = (
    "side_a_device",
    "side_a_type",
    "side_a_name",
    "side_b_device",
    "side_b_type",
    "side_b_name",
    "status",
    "label",
)
_INTERFACE = "dcim.interface"


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write every cable."""
    del options
    view = network_view(design)
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow(_COLUMNS)
    for number, cable in enumerate(view.singles(), start=1):
        ends = [(view.nodes[end].name, port) for end, port in ((cable.a, cable.a_port), (cable.b, cable.b_port))]
        row = [cell for name, port in ends for cell in (name, _INTERFACE, interface_name(port))]
        sheet.writerow([_without_formula(cell) for cell in (*row, "planned", f"{cable.kind} {number}")])
    return atomic.write(path, out.getvalue().encode("utf-8", "replace"))


def _without_formula(cell: str) -> str:
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


EXPORTER = Exporter("netbox-cables", ".cables.csv", "NetBox cables", write)
