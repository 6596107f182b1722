"""Designs as PDF of one page."""

from __future__ import annotations

from pathlib import Path

from designer.design.document import Design
from designer.interchange.exporters._exporter import Exporter, ExportOptions, picture_of, write_bytes
from designer.report.drawing.pdf import to_pdf


def write(design: Design, path: Path, options: ExportOptions) -> None:
    """Write the picture of a design."""
    write_bytes(path, to_pdf(picture_of(design, options)))


EXPORTER = Exporter("pdf", ".pdf", "PDF picture", write)
