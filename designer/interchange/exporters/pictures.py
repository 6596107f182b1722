"""Designs as pictures: SVG, PNG, PDF, and one offline page to look at with zoom, loads and numbers on hover."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from designer import atomic
from designer.design.document import Design
from designer.interchange.exporters._exporter import Exporter, ExportOptions, picture_of
from designer.report.drawing.pdf import to_pdf
from designer.report.drawing.png import to_png
from designer.report.drawing.svg import to_svg
from designer.report.renderers.viewer import to_viewer


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the picture of a design."""
    return atomic.write(path, to_svg(picture_of(design, options), options.embed_fonts).encode("utf-8"))


def write_png(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the picture of a design."""
    return atomic.write(path, to_png(picture_of(design, options), options.scale, options.transparent))


def write_pdf(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the picture of a design."""
    return atomic.write(path, to_pdf(picture_of(design, options)))


def write_html(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the page of a design, with the loads of its workloads where they were worked out."""
    return atomic.write(path, to_viewer(design, options.analysis).encode("utf-8", "replace"))


EXPORTERS: Final = (
    Exporter("svg", ".svg", "SVG picture", write),
    Exporter("png", ".png", "PNG picture", write_png),
    Exporter("pdf", ".pdf", "PDF picture", write_pdf),
    Exporter("html", ".html", "Page to look at", write_html),
)
