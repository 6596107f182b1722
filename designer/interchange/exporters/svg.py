"""Designs as SVG pictures: scalable, text stays text."""

from __future__ import annotations

from pathlib import Path

from designer import atomic
from designer.design.document import Design
from designer.interchange.exporters._exporter import Exporter, ExportOptions, picture_of
from designer.report.drawing.svg import to_svg


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the picture of a design."""
    return atomic.write(path, to_svg(picture_of(design, options), options.embed_fonts).encode("utf-8"))


EXPORTER = Exporter("svg", ".svg", "SVG picture", write)
