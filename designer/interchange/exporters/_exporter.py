"""What an exporter is, how pictures are asked for, and how files are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from designer.design.address import Address
from designer.design.document import Design
from designer.design.geometry import lay_out
from designer.drawing.loads import Loads
from designer.drawing.theme import palette
from designer.engine.results import Analysis
from designer.report.drawing.compose import Options, compose
from designer.report.drawing.elements import Picture


@dataclass(frozen=True, slots=True, eq=False)
class ExportOptions:
    """How a design is written; each exporter takes from it what it knows.

    Parameters
    ----------
    theme
        Name of a palette.
    opened
        Addresses of the blocks that open groups show; None means as the document says.
    chosen
        Paths of the only parts and groups to draw, with all they contain; empty means everything.
    scale
        Pixels for one scene unit, of pixel pictures.
    transparent
        True if the ground of pixel pictures is left out.
    machines
        True if virtual machines are next to their hosts.
    loads
        What the connections carry, to be drawn as colours.
    analysis
        What workloads do, for pages on which one can switch between them.
    """

    theme: str = "light"
    opened: frozenset[Address] | None = None
    chosen: frozenset[str] = field(default_factory=frozenset[str])
    scale: float = 2.0
    transparent: bool = False
    legend: bool = True
    title: bool = True
    labels: bool = True
    machines: bool = True
    embed_fonts: bool = False
    loads: Loads | None = None
    analysis: Analysis | None = None


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format designs can be written in.

    Parameters
    ----------
    suffix
        With its dot.
    write
        Design, path and options; gives what one should know of the file written (see ``atomic.write``), and raises
        ``ExchangeError`` where that cannot be done.
    """

    name: str
    suffix: str
    title: str
    write: Callable[[Design, Path, ExportOptions], tuple[str, ...]]


def picture_of(design: Design, options: ExportOptions) -> Picture:
    """The whole design, or what is chosen of it, in full detail."""
    shown = Options(
        title=(design.title or design.name) if options.title else "",
        subtitle=design.intent if options.title else "",
        legend=options.legend,
        labels=options.labels,
        machines=options.machines,
        chosen=options.chosen,
    )
    return compose(lay_out(design, options.opened), palette(options.theme), shown, options.loads)


def without_formula(cell: str) -> str:
    """The text of a cell, quoted if a spreadsheet would take it for a formula."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
