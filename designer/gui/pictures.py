"""The shown design as a picture file: what the canvas shows, in full detail, with its loads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from designer.design.address import address_text
from designer.interchange.exporting import ExportOptions, write_design

if TYPE_CHECKING:
    from designer.gui.canvas.canvas import Canvas


@dataclass(frozen=True, slots=True)
class Pixels:
    """How a picture becomes pixels: so many for one scene unit, and whether the ground is left out."""

    scale: float = 2.0
    transparent: bool = False


def write_picture(
    canvas: Canvas, file: Path, theme: str, selected_only: bool, pixels: Pixels = Pixels()
) -> tuple[str, ...]:
    """Write SVG, PDF or PNG by the suffix; groups that are open on the canvas are open in the picture.

    Returns what one should know of the file written (see ``atomic.write``).

    Raises
    ------
    DesignerError
        If the suffix is no picture's, nothing is selected, or the file cannot be written.
    """
    from designer.design.geometry import lay_out
    from designer.drawing.loads import loads_of

    session = canvas.session
    opened = canvas.scene.geometry.opened
    loads = None
    if session.analysis is not None and session.workload in session.analysis.loads and not session.stale:
        carried, result = session.analysis.loads[session.workload], session.result
        binding = result.binding if result is not None else ()
        loads = loads_of(lay_out(session.design, opened), carried.load, carried.utilization, binding)
    chosen = frozenset(
        f"{address_text(within)}/{ref.id}" if within else ref.id
        for within, ref in session.selection
        if ref.what in ("parts", "groups")
    )
    options = ExportOptions(
        theme=theme,
        opened=opened,
        chosen=chosen if selected_only else frozenset(),
        loads=loads,
        machines=canvas.machines_shown,
        scale=pixels.scale,
        transparent=pixels.transparent,
    )
    return write_design(session.design, None, file, options)
