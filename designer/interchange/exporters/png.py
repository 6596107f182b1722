"""Designs as PNG pictures."""

from __future__ import annotations

from pathlib import Path

from designer import atomic
from designer.design.document import Design
from designer.interchange.exporters._exporter import Exporter, ExportOptions, picture_of
from designer.report.drawing.png import to_png


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the picture of a design."""
    return atomic.write(path, to_png(picture_of(design, options), options.scale, options.transparent))


EXPORTER = Exporter("png", ".png", "PNG picture", write)
