"""Designs as one offline page to look at: zoom, pan, groups that open, loads, numbers on hover."""

from __future__ import annotations

from pathlib import Path

from designer import atomic
from designer.design.document import Design
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.report.renderers.viewer import to_viewer


def write(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    """Write the page of a design, with the loads of its workloads where they were worked out."""
    return atomic.write(path, to_viewer(design, options.analysis).encode("utf-8", "replace"))


EXPORTER = Exporter("html", ".html", "Page to look at", write)
