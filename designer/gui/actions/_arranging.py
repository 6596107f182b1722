"""Same size, and what stands before what."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from designer.gui.actions._action import Window

if TYPE_CHECKING:
    from designer.design.address import Ref


def _sized(window: Window) -> list[tuple[Ref, int, int]]:
    """Selected parts and notes of one block that have a size of their own, with how large they are drawn."""
    canvas, document = window.canvas, window.document
    if canvas is None or document is None:
        return []
    geometry = canvas.scene.geometry
    within, refs = document.session.selected_refs()
    found: list[tuple[Ref, int, int]] = []
    for ref in refs:
        box = geometry.box_of(within, ref) if ref.what in ("parts", "annotations") else None
        if box is not None:
            x, y, width, height = (float(v) for v in geometry.rect[box])
            if geometry.is_container[box]:
                # the size of a container counts from where its contents do
                ox, oy = (float(v) for v in geometry.origin[box])
                width, height = width - (ox - x), height - (oy - y)
            found.append((ref, round(width), round(height)))
    return found


def can_match(window: Window) -> bool:
    """True if two things are selected that have a size of their own."""
    document = window.document
    return document is not None and sum(r.what in ("parts", "annotations") for _, r in document.session.selection) >= 2


def match(width: bool, height: bool) -> Callable[[Window], object]:
    """Makes things as wide as the widest of them, as high as the highest."""

    def run(window: Window) -> None:
        from designer.design.edits.placement import MatchSize
        from designer.gui.canvas.together import Together

        sized = _sized(window)
        if window.document is None or len(sized) < 2:
            return
        within = window.document.session.selected_refs()[0]
        extents = {ref: (w, h) for ref, w, h in sized}
        edits: list[MatchSize] = []
        for axis, wanted in ((0, width), (1, height)):
            if wanted:
                largest_first = sorted(extents, key=lambda ref, axis=axis: -extents[ref][axis])
                edits.append(MatchSize(tuple(largest_first), axis == 0, axis == 1, within=within, extents=extents))
        window.document.session.apply(edits[0] if len(edits) == 1 else Together(tuple(edits), edits[0].label))

    return run


def _notes(window: Window) -> tuple[str, ...]:
    """The selected notes and frames."""
    if window.document is None:
        return ()
    return tuple(sorted(ref.id for _, ref in window.document.session.selection if ref.what == "annotations"))


def has_notes(window: Window) -> bool:
    """True if a note or frame is selected."""
    return bool(_notes(window))


def order(front: bool) -> Callable[[Window], object]:
    """Brings the selected notes to the front, or sends them to the back."""

    def run(window: Window) -> None:
        from designer.design.edits.annotations import OrderAnnotations

        if window.document is not None:
            window.document.session.apply(OrderAnnotations(_notes(window), front))

    return run
