"""Parts and templates into an open design."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from designer.design.address import Ref
from designer.design.edits.clipboard import copy
from designer.design.edits.workloads import AddWorkloads
from designer.design.geometry import lay_out
from designer.errors import DesignerError
from designer.interchange.templates import open_any

if TYPE_CHECKING:
    from designer.design.document import Design
    from designer.gui.canvas.canvas import Canvas
    from designer.gui.session import Session

#: scene units of the grid
_GRID: Final = 8


def insert(canvas: Canvas, what: str, key: str) -> None:
    """Put in a template, a part of a kind, or one of a type (``kind/name``), where room is."""
    if what == "template":
        drop_template(canvas, key)
    else:
        canvas.add_part(key.split("/", 1)[0], key if "/" in key else "")


def drop_template(canvas: Canvas, template_id: str, x: float | None = None, y: float | None = None) -> None:
    """Put in a template, and say why if that cannot be done."""

    try:
        insert_template(canvas, template_id, x, y)
    except DesignerError as error:
        canvas.warn(error.text)


def insert_template(canvas: Canvas, template_id: str, x: float | None, y: float | None) -> None:
    """Put the content of a template into the design, its middle at a point of the scene or where room is.

    An empty design that gets a template gets its workloads as well.

    Raises
    ------
    DesignerError
        If the template cannot be opened, or does not fit in.
    """

    session = canvas.session
    design = open_any(template_id).design
    refs = [Ref("parts", p.id) for p in design.parts.values() if p.parent is None]
    refs += [Ref("groups", g.id) for g in design.groups.values() if g.parent is None]
    _, _, width, height = lay_out(design).bounds()
    if x is None or y is None:
        x, y = canvas.free_point(width, height)
    at = (round((x - width / 2) / _GRID) * _GRID, round((y - height / 2) / _GRID) * _GRID)
    empty = not session.design.parts and not session.design.groups
    if session.paste(copy(design, refs), at=at) and empty:
        _take_workloads(session, design)
        canvas.zoom_to_fit()


def _take_workloads(session: Session, design: Design) -> None:
    new = tuple(w for w in design.workloads.values() if w.id not in session.design.workloads)
    if new:
        session.apply(AddWorkloads(new))
