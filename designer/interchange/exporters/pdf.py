"""Designs as PDF of one page."""

from __future__ import annotations

from pathlib import Path

from designer import atomic
from designer.design.document import Design
from designer.interchange.exporters._exporter import Exporter, ExportOptions, picture_of
from designer.report.drawing.pdf import to_pdf


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the picture of a design."""
    return atomic.write(path, to_pdf(picture_of(design, options)))


EXPORTER = Exporter("pdf", ".pdf", "PDF picture", write)
