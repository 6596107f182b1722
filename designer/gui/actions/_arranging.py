"""Same size, and stacking order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from designer.gui.actions._action import Window

if TYPE_CHECKING:
    from designer.design.address import Address, Ref
    from designer.design.edit import Edit


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
        apply_apart(window, edits[0] if len(edits) == 1 else Together(tuple(edits), edits[0].label))

    return run


def apply_apart(window: Window, edit: Edit) -> None:
    """Apply an edit, unless it would put things on each other: then that is stated and nothing changes."""
    from designer.design.room import new_overlaps

    canvas = window.canvas
    if window.document is None or canvas is None:
        return
    if new_overlaps(canvas.scene.geometry, edit):
        canvas.warn(f"There is no room: {edit.label[:1].lower()}{edit.label[1:]} would put things on each other")
        return
    window.document.session.apply(edit)


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


def tidy(window: Window) -> None:
    """Place again what the selected servers, racks and groups hold; with nothing selected, everything."""
    from designer.design.address import block_at
    from designer.design.edits.arrange import Arrange
    from designer.gui.canvas.together import Together

    if window.document is None or window.canvas is None:
        return
    session = window.document.session
    within, refs = session.selected_refs()
    block = block_at(session.design, within)
    holders = {part.parent for part in block.parts.values()} | {group.parent for group in block.groups.values()}
    chosen = {ref.id for ref in refs if ref.what == "parts" and ref.id in holders}
    # for parts that hold nothing, their container
    loose = [block.parts[r.id].parent for r in refs if r.what == "parts" and r.id not in holders]
    chosen |= {parent for parent in loose if parent is not None}
    groups = [ref.id for ref in refs if ref.what == "groups"]
    edits: list[Arrange] = [Arrange(within=(*within, (group, None))) for group in groups]
    if chosen or (None in loose and not groups) or not refs:
        edits.append(Arrange(() if None in loose or not refs else tuple(sorted(chosen)), within=within))
    whole = not refs or None in loose
    before = session.design
    session.apply(edits[0] if len(edits) == 1 else Together(tuple(edits), "Arrange groups"))
    if session.design is before:
        session.message.emit("Everything is in place already")
    if whole and not within:
        window.canvas.zoom_to_fit()


def _bent(window: Window) -> dict[Address, set[str]]:
    """The links bent by hand that are selected, or end at or in what is selected."""
    if window.canvas is None:
        return {}
    scene = window.canvas.scene
    if not scene.geometry.connections.bends:
        return {}
    from designer.gui.canvas.bending import bent_links

    return bent_links(scene.geometry, scene.selected.tolist(), scene.selected_connections.tolist())


def has_bent(window: Window) -> bool:
    """True if a link that was bent by hand is selected, or something such a link ends at."""
    return bool(_bent(window))


def straighten(window: Window) -> None:
    """Let links that were bent by hand find their way themselves again."""
    from designer.design.edits.links import BendLinks
    from designer.gui.canvas.together import Together

    if window.document is None:
        return
    edits = [BendLinks(dict.fromkeys(sorted(ids), ()), within=within) for within, ids in _bent(window).items()]
    window.document.session.apply(edits[0] if len(edits) == 1 else Together(tuple(edits), "Straighten links"))


def select_similar(window: Window) -> None:
    """Select all parts of the kind and type of those selected, in their blocks."""
    from designer.design.address import Ref, block_at

    if window.document is None:
        return
    session = window.document.session
    wanted: set[tuple[str, str]] = set()
    places = {within for within, _ in session.selection}
    for within, ref in session.selection:
        if ref.what == "parts":
            part = block_at(session.design, within).parts[ref.id]
            wanted.add((part.kind, part.type))
    session.select(
        (within, Ref("parts", part.id))
        for within in places
        for part in block_at(session.design, within).parts.values()
        if (part.kind, part.type) in wanted
    )


def replace_type(window: Window) -> None:
    """Offer the types that the selected parts of one kind may have instead."""
    from functools import partial

    from designer.catalog.loader import load_catalog
    from designer.design.address import block_at
    from designer.design.edits.parts import SetType
    from designer.gui.dialogs.command_palette import PaletteEntry
    from designer.gui.viewmodels.cables import Recabled
    from designer.gui.viewmodels.palette import part_words

    if window.document is None:
        return
    session = window.document.session
    within, refs = session.selected_refs()
    block = block_at(session.design, within)
    parts = [block.parts[ref.id] for ref in refs if ref.what == "parts"]
    kinds = {part.kind for part in parts}
    if len(kinds) != 1:
        session.warned.emit("select parts of one kind to give them another type")
        return
    (kind,), ids = kinds, tuple(part.id for part in parts)
    catalog = load_catalog()
    words, icon = part_words(catalog), window.find_icon(kind)
    now = {part.type for part in parts}

    def give(type_id: str) -> None:
        edit = SetType(ids, type_id, catalog.get(type_id), within=within)
        session.apply(Recabled(edit, ids, within))
        window.focus_canvas()

    found = [
        PaletteEntry(e.title, partial(give, e.id), "as now" if e.id in now else "", e.vendor, icon, words=words[e.id])
        for e in catalog.entries(kind)
    ]
    several = "this part" if len(ids) == 1 else f"these {len(ids)} parts"
    window.offer(found, f"Another type for {several}")
