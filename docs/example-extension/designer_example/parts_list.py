"""A plain list of parts, one line each."""

from __future__ import annotations

from pathlib import Path

from designer import atomic
from designer.design.document import Design
from designer.design.elaborate import elaborate
from designer.interchange.exporting import Exporter, ExportOptions


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the path of every part; return warnings about the file."""
    net = elaborate(design)
    text = "".join(f"{net.path(part)}\n" for part in range(net.n_parts))
    return atomic.write(path, text.encode())


EXPORTER = Exporter("parts-list", ".parts", "List of parts", write)
