"""Connecting by name: a list of the parts that fit, so that far parts need no journey with the arrow keys."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from designer.gui.actions._action import Window

if TYPE_CHECKING:
    from designer.gui.canvas.canvas import Canvas
    from designer.gui.canvas.editing import Offer

#: so many boxes are asked whether they fit, the nearest first
_MOST: Final = 1500


def connect_to(window: Window) -> None:
    """Offer the parts that the selected ones can be linked to, the nearest first."""
    import numpy as np

    from designer.catalog.parttype import link_kinds
    from designer.gui.canvas.tools.link import Connect
    from designer.gui.dialogs.command_palette import PaletteEntry

    canvas = window.canvas
    if canvas is None:
        return
    view_state, anchors = canvas.scene.view_state, canvas.scene.selected.tolist()
    if not anchors:
        canvas.warn("select a part first, then connect it")
        return
    geometry, tool = view_state.geometry, Connect(canvas, anchors)
    middle = geometry.rect[:, :2] + geometry.rect[:, 2:] / 2
    cards = np.flatnonzero(view_state.boxes.is_card & ~np.isin(np.arange(len(geometry)), anchors))
    near = np.abs(middle[cards] - middle[anchors].mean(axis=0)).sum(axis=1)
    found: list[PaletteEntry] = []
    for box in cards[near.argsort(kind="stable")][:_MOST].tolist():
        offer = tool.offer_for(box)
        if offer.edit is not None:
            above = int(geometry.parent[box])
            where = geometry.label(above) if above >= 0 else geometry.detail(box)
            hint = offer.note or f"{link_kinds()[offer.kinds[0]].title}   {geometry.address(box)[1].id}"
            icon = window.find_icon(geometry.kinds[int(geometry.kind[box])])
            found.append(PaletteEntry(geometry.label(box), partial(_make, canvas, offer), hint, where, icon))
    if found:
        window.offer(found, "Connect to")
    else:
        canvas.warn("nothing here can be connected to what is selected")


def _make(canvas: Canvas, offer: Offer) -> None:
    if offer.edit is not None:
        canvas.make(offer.edit)
    canvas.setFocus()
