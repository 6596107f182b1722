"""The door for writing designs in other formats, and in their own to another place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from designer.atomic import write
from designer.design.document import Design
from designer.errors import ExchangeError
from designer.interchange.exporters._exporter import Exporter, ExportOptions
from designer.interchange.native.envelope import SUFFIX
from designer.interchange.native.writer import save
from designer.registry import discover
from designer.report.drawing.elements import Picture

__all__ = ["ExportOptions", "Exporter", "exporters", "format_of", "write_design", "write_picture"]


def _write_native(design: Design, path: Path, options: ExportOptions) -> tuple[str, ...]:
    del options
    return save(design, path)


_NATIVE: Final = Exporter("design", SUFFIX, "Design file", _write_native)


def exporters() -> Mapping[str, Exporter]:
    """All formats a design can be written in, by name."""
    found = discover("designer.interchange.exporters", "EXPORTER", Exporter, group="designer.exporters")
    return {**found, _NATIVE.name: _NATIVE}


def format_of(path: str | os.PathLike[str]) -> str | None:
    """Name of the format that a file of this name has; None if none fits."""
    name = Path(path).name.lower()
    fitting = [e.name for e in exporters().values() if name.endswith(e.suffix)]
    return fitting[0] if fitting else None


def write_design(
    design: Design, format: str | None, path: str | os.PathLike[str], options: ExportOptions | None = None
) -> tuple[str, ...]:
    """Write a design in a format; where none is named, the file's name decides.

    Returns what one should know of the file written (see ``atomic.write``).

    Raises
    ------
    ExchangeError
        If there is no such format, it cannot show the design, or the file cannot be written.
    """
    name = format if format is not None else format_of(path)
    exporter = exporters().get(name) if name is not None else None
    if exporter is None:
        known = ", ".join(exporters())
        raise ExchangeError(
            f"there is no format {name!r} to write" if name else "the file's name does not say its format",
            file=os.fspath(path),
            remedy=f"use one of {known}",
        )
    return exporter.write(design, Path(path), options or ExportOptions())


def write_picture(picture: Picture, path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Write a picture as SVG, or as PNG where the file's name says so.

    Raises
    ------
    ExchangeError
        If the file cannot be written.
    """
    from designer.report.drawing.png import to_png
    from designer.report.drawing.svg import to_svg

    name = Path(path)
    return write(name, to_png(picture) if name.suffix == ".png" else to_svg(picture).encode("utf-8"))
