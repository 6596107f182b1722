"""Edit: history, clipboard, selection, arranging, grouping."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from designer.gui.actions import _arranging as arranging
from designer.gui.actions import _members as members
from designer.gui.actions._action import Action, Menu, Window, has_document, has_selection

if TYPE_CHECKING:
    from designer.design.address import Ref
    from designer.design.document import Block
    from designer.gui.canvas.canvas import Canvas
    from designer.gui.canvas.editing import Offer

# Connecting by name: a list of the parts that fit, so that far parts need no journey with the arrow keys.

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


def _can_undo(window: Window) -> bool:
    return window.document is not None and window.document.session.history.can_undo


def _rename(window: Window) -> None:
    if window.canvas is not None:
        window.canvas.rename_selected()


def _one_named(window: Window) -> bool:
    if window.document is None:
        return False
    chosen = window.document.session.selection
    return len(chosen) == 1 and all(ref.what in ("parts", "groups") for _, ref in chosen)


def _can_redo(window: Window) -> bool:
    return window.document is not None and window.document.session.history.can_redo


def _on_session(name: str) -> Callable[[Window], object]:
    """Runs a method of the session shown."""

    def run(window: Window) -> object:
        return getattr(window.document.session, name)() if window.document is not None else None

    return run


def _duplicate(window: Window) -> None:
    if window.canvas is not None:
        window.canvas.duplicate()


def _boxes(window: Window) -> int:
    """How many parts, groups and notes are selected."""
    if window.document is None:
        return 0
    return sum(ref.what in ("parts", "groups", "annotations") for _, ref in window.document.session.selection)


def _two_boxes(window: Window) -> bool:
    return _boxes(window) >= 2


def _three_boxes(window: Window) -> bool:
    return _boxes(window) >= 3


def _one_group(window: Window) -> bool:
    return window.document is not None and [r.what for _, r in window.document.session.selection] == ["groups"]


def _places(window: Window) -> tuple[dict[object, tuple[int, int]], dict[object, tuple[int, int]]]:
    """Where the selected things are drawn and how large, relative to their container; for those without a place."""
    canvas, document = window.canvas, window.document
    if canvas is None or document is None:
        return {}, {}
    geometry = canvas.scene.geometry
    start: dict[object, tuple[int, int]] = {}
    extents: dict[object, tuple[int, int]] = {}
    for within, ref in document.session.selection:
        box = geometry.box_of(within, ref)
        if box is not None:
            x, y, width, height = (float(v) for v in geometry.rect[box])
            parent = int(geometry.parent[box])
            ox, oy = (float(v) for v in geometry.origin[parent]) if parent >= 0 else (0.0, 0.0)
            start[ref] = round(x - ox), round(y - oy)
            extents[ref] = round(width), round(height)
    return start, extents


def _align(side: Literal["left", "center", "right", "top", "middle", "bottom"]) -> Callable[[Window], object]:
    def run(window: Window) -> None:
        from designer.design.edits.placement import Align

        if window.document is not None:
            within, refs = window.document.session.selected_refs()
            refs = tuple(r for r in refs if r.what in ("parts", "groups", "annotations"))
            start, extents = _places(window)
            edit = Align(refs, side, within=within, start=start, extents=extents)  # type: ignore[arg-type]
            arranging.apply_apart(window, edit)

    return run


def _distribute(direction: Literal["horizontal", "vertical"]) -> Callable[[Window], object]:
    def run(window: Window) -> None:
        from designer.design.edits.placement import Distribute

        if window.document is not None:
            within, refs = window.document.session.selected_refs()
            refs = tuple(r for r in refs if r.what in ("parts", "groups", "annotations"))
            start, extents = _places(window)
            edit = Distribute(refs, direction, within=within, start=start, extents=extents)  # type: ignore[arg-type]
            arranging.apply_apart(window, edit)

    return run


def _group(window: Window) -> None:
    from designer.design.address import block_at
    from designer.design.edits.structure import MakeGroup
    from designer.design.ids import next_id

    if window.document is not None:
        session = window.document.session
        within, refs = session.selected_refs()
        refs = tuple(r for r in refs if r.what in ("parts", "groups"))
        taken = block_at(session.design, within)
        new = next_id({**taken.parts, **taken.groups}, "group1")
        if session.apply(MakeGroup(refs, new, name=_together(taken, refs), within=within), select_new=True):
            window.show_panel("inspector")


def _together(block: Block, refs: Sequence[Ref]) -> str:
    """What a group of things is called: as the one thing it is made of, without its number, else as their kind."""
    from designer.catalog.parttype import part_kinds

    things = [block.parts[r.id] if r.what == "parts" else block.groups[r.id] for r in refs]
    if len(things) == 1:
        return re.sub(r" \d+$", "", things[0].name)
    kinds = {block.parts[r.id].kind if r.what == "parts" else "" for r in refs}
    known = part_kinds().get(kinds.pop()) if len(kinds) == 1 else None
    return known.plural if known is not None else ""


def _ungroup(window: Window) -> None:
    from designer.design.edits.structure import Ungroup

    if window.document is not None:
        within, refs = window.document.session.selected_refs()
        window.document.session.apply(Ungroup(refs[0].id, within=within))


def _remove_unused_types(window: Window) -> None:
    from designer.design.edits.properties import RemoveUnusedPartTypes

    if window.document is not None:
        window.document.session.apply(RemoveUnusedPartTypes())


_SIDES = (
    ("left", "left edges"),
    ("center", "centres"),
    ("right", "right edges"),
    ("top", "top edges"),
    ("middle", "middles"),
    ("bottom", "bottom edges"),
)
ACTIONS = (
    Action("edit.undo", "Undo", _on_session("undo"), ("Ctrl+Z",), _can_undo, "undo"),
    Action("edit.redo", "Redo", _on_session("redo"), ("Ctrl+Shift+Z", "Ctrl+Y"), _can_redo, "redo"),
    Action("edit.cut", "Cut", _on_session("cut"), ("Ctrl+X",), has_selection, section=1),
    Action("edit.copy", "Copy", _on_session("copy"), ("Ctrl+C",), has_selection, section=1),
    Action(
        "edit.paste",
        "Paste",
        lambda w: w.files.paste(),
        ("Ctrl+V",),
        section=1,
        tip="parts, or the text of nvidia-smi topo -m, NCCL XML or hwloc XML",
    ),
    Action("edit.duplicate", "Duplicate", _duplicate, ("Ctrl+D",), has_selection, section=1),
    Action("edit.rename", "Rename", _rename, ("F2",), _one_named, section=1),
    Action("edit.delete", "Delete", _on_session("delete"), ("Del",), has_selection, "delete", 1),
    Action("edit.select_all", "Select all", _on_session("select_all"), ("Ctrl+A",), has_document, section=2),
    Action("edit.find", "Find in the design", lambda w: w.find_in_design(), ("Ctrl+F",), has_document, "search", 2),
    Action(
        "edit.connect_to",
        "Connect selected parts to…",
        connect_to,
        ("Ctrl+L",),
        has_selection,
        section=3,
        words=("link", "cable", "wire"),
    ),
    Action("edit.group", "Make a group of equal members", _group, ("Ctrl+G",), has_selection, section=3),
    Action("edit.reset_member", "Make this member like the others", members.reset, (), members.differs, section=3),
    Action("edit.ungroup", "Dissolve group", _ungroup, ("Ctrl+Shift+G",), _one_group, section=3),
    Action(
        "edit.select_similar",
        "Select similar",
        arranging.select_similar,
        ("Ctrl+Shift+A",),
        has_selection,
        section=2,
        tip="All parts of the same kind and type",
    ),
    Action(
        "edit.unused_types",
        "Remove unused part types",
        _remove_unused_types,
        (),
        has_document,
        section=3,
        tip="Part types that the design carries and no part has any more",
    ),
    Action(
        "edit.replace_type",
        "Replace type…",
        arranging.replace_type,
        ("Ctrl+R",),
        has_selection,
        section=3,
        tip="Another product of the catalog for the selected parts; their cables follow",
    ),
    Action(
        "edit.tidy",
        "Tidy",
        arranging.tidy,
        ("Ctrl+T",),
        has_document,
        section=4,
        tip="Place everything again, or what the selected servers, racks and groups hold; bent links keep their bends",
    ),
    Action(
        "edit.straighten",
        "Straighten links",
        arranging.straighten,
        (),
        arranging.has_bent,
        section=4,
        tip="Selected links, and those at selected parts, that were bent by hand find their way themselves again",
    ),
    *(
        Action(f"edit.align_{side}", f"Align {title}", _align(side), (), _two_boxes, section=4, under="Arrange")  # type: ignore[arg-type]
        for side, title in _SIDES
    ),
    Action(
        "edit.distribute_horizontal",
        "Equal gaps, horizontally",
        _distribute("horizontal"),
        (),
        _three_boxes,
        section=4,
        under="Arrange",
    ),
    Action(
        "edit.distribute_vertical",
        "Equal gaps, vertically",
        _distribute("vertical"),
        (),
        _three_boxes,
        section=4,
        under="Arrange",
    ),
    *(
        Action(
            f"edit.same_{name}",
            f"Same {name}",
            arranging.match(*which),
            (),
            arranging.can_match,
            section=4,
            under="Arrange",
            tip=f"as the {largest} of the selected parts and notes",
        )
        for name, largest, which in (
            ("width", "widest", (True, False)),
            ("height", "highest", (False, True)),
            ("size", "largest", (True, True)),
        )
    ),
    Action(
        "edit.to_front",
        "Bring note to front",
        arranging.order(True),
        ("Ctrl+]",),
        arranging.has_notes,
        section=4,
        under="Arrange",
        tip="notes among notes, frames among frames: frames stay behind all parts",
    ),
    Action(
        "edit.to_back",
        "Send note to back",
        arranging.order(False),
        ("Ctrl+[",),
        arranging.has_notes,
        section=4,
        under="Arrange",
        tip="notes among notes, frames among frames: notes stay in front of all parts",
    ),
)
MENU = Menu("edit", "Edit", 20, ACTIONS)
