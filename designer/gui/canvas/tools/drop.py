"""Dropping from the palette: a ghost of the part, into a container, onto a link, onto the canvas."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import Qt

from designer.catalog.parttype import PartType, fitting_links, part_kinds
from designer.drawing.batches import Batch, Rects
from designer.drawing.compose_boxes import visible_boxes
from designer.drawing.levels import Level
from designer.drawing.marks import connection_glow, outline, tip
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame
from designer.gui.canvas.adding import Landing, add, attach, item_of
from designer.gui.canvas.compose_overlay import ghosts
from designer.gui.canvas.editing import Offer, insert
from designer.gui.canvas.hit import box_at, connection_at, container_for
from designer.gui.canvas.snapping import gridded
from designer.gui.canvas.tools._tool import Pointer, Tool, ToolCanvas, ToolKind

PART_MIME = "application/x-designer-part"
TEMPLATE_MIME = "application/x-designer-template"
_MOST = 500


@dataclass(frozen=True, slots=True)
class Dragged:
    """The part kind being dragged, and its type if one was chosen."""

    kind: str
    type_id: str = ""


def dragged_part(data: bytes) -> Dragged | None:
    """What the data of a drag say: ``{"kind": …, "type": …}``, or the id of a type, or the name of a kind."""
    text = data.decode("utf-8", "replace").strip()
    if text.startswith("{"):
        try:
            found: Any = json.loads(text)
        except ValueError:
            return None
        type_id, kind = str(found.get("type", "")), str(found.get("kind", ""))
        kind = kind or type_id.partition("/")[0]
        return Dragged(kind, type_id) if kind else None
    if "/" in text:
        return Dragged(text.partition("/")[0], text)
    return Dragged(text) if text in part_kinds() else None


class Drop(Tool):
    """A part hangs at the pointer until it is dropped."""

    hint = "Drop into a container, on a link, or on the canvas · Alt: without the grid"
    cursor = Qt.CursorShape.DragCopyCursor
    scrolls = True
    quiet = True

    def __init__(self, host: ToolCanvas, dragged: Dragged) -> None:
        super().__init__(host)
        self._dragged = dragged
        self._type: PartType | None = host.part_type(dragged.type_id) if dragged.type_id else None
        self._at: Pointer | None = None
        self._item = item_of(dragged.kind, self._type)
        self._rect = (0.0, 0.0, *self._item.size)
        self._target, self._connection = -1, -1
        #: the part under the pointer, and what comes of dropping on it
        self._neighbour = -1
        self._attached: dict[int, Landing | None] = {}
        self.offer = Offer()

    def move(self, p: Pointer) -> None:
        view_state = self.host.scene.view_state
        geometry = view_state.geometry
        self._at = p
        width, height = self._item.size
        x, y = p.sx - width / 2, p.sy - height / 2
        if not p.alt:
            x, y = gridded(x), gridded(y)
        self._connection = self._neighbour = -1
        kind = self._dragged.kind
        self._target = container_for(view_state, p.sx, p.sy, (kind,))
        landing = self._on_part(p)
        if landing is None and self.host.frame().level > Level.FAR and not self._item.clip:
            connection = connection_at(view_state, p.sx, p.sy, self.host.view.scale, self.host.frame().level)
            if connection >= 0:
                self.offer = insert(geometry, connection, kind, self._type, x, y)
                self._connection = connection if self.offer.ok else -1
                self._rect = (x, y, width, height)
        if self._connection < 0:
            if landing is None:
                landing = add(geometry, self._item, self._target, x, y)
            self.offer, self._rect = landing.offer, landing.rect
            if self._neighbour < 0 and self.offer.ok:
                self._target = landing.container
        self.host.refresh()

    def _on_part(self, p: Pointer) -> Landing | None:
        """What comes of a drop on a part with ports; asked once a part, for it takes the design apart."""
        view_state = self.host.scene.view_state
        box = box_at(view_state, p.sx, p.sy, self.host.view.scale)
        if box < 0 or not view_state.boxes.is_card[box] or box == self._target:
            return None
        if box not in self._attached:
            self._attached[box] = attach(view_state.geometry, self._item, box)
        landing = self._attached[box]
        self._neighbour = -1 if landing is None else box
        return landing

    def release(self, p: Pointer) -> None:
        self.move(p)
        offer = self.offer
        self.host.finish()
        if offer.edit is not None:
            self.host.make(offer.edit, select_new=True)
        else:
            self.host.warn(offer.reason)

    def overlay(self, frame: Frame, region: Rect) -> list[Batch]:
        if self._at is None:
            return []
        view_state = self.host.scene.view_state
        theme, geometry = view_state.theme, view_state.geometry
        found: list[Batch] = self._lights(frame, region)
        good = self.offer.ok
        if self._connection >= 0:
            found += connection_glow(view_state, frame, np.array([self._connection]), theme.good)
        elif self._neighbour >= 0:
            rect = frame.boxes(geometry.rect[self._neighbour : self._neighbour + 1])
            found.append(outline(rect, 3 * frame.ratio, theme.good if self.offer.kinds else theme.bad))
        elif self._target >= 0:
            rect = frame.boxes(geometry.rect[self._target : self._target + 1])
            found.append(outline(rect, 3 * frame.ratio, theme.good if good else theme.bad))
        rect = np.array([self._rect], dtype=np.float64)
        found += ghosts(rect, frame, theme, good)
        text = self.offer.reason or self._said()
        at = frame.points(np.array([self._at.sx, self._at.sy])).tolist()
        found += tip(text, at[0], at[1], frame, theme, good, region)
        return found

    def _said(self) -> str:
        name = self._item.title
        if self._connection >= 0:
            return f"Insert {name} into this link"
        if self._neighbour >= 0:
            return f"Add {name} next to {self.host.scene.geometry.label(self._neighbour)}, {self.offer.note}"
        where = f" to {self.host.scene.geometry.label(self._target)}" if self._target >= 0 else ""
        return f"Add {name}{where}"

    def _lights(self, frame: Frame, region: Rect) -> list[Batch]:
        """What the part could be linked to is framed, the rest dims."""
        view_state = self.host.scene.view_state
        seen = visible_boxes(view_state, frame, (region,))
        seen = seen[view_state.boxes.is_card[seen]]
        if len(seen) > _MOST or not len(seen):
            return []
        kinds = view_state.geometry.kinds
        fits_kind = np.array([bool(fitting_links(self._dragged.kind, k)) for k in kinds], dtype=bool)
        fits = fits_kind[view_state.geometry.kind[seen]]
        rects = frame.boxes(view_state.geometry.rect[seen])
        found: list[Batch] = []
        if (~fits).any():
            found.append(Rects(rects[~fits], view_state.theme.background + "80"))
        if fits.any():
            found.append(outline(rects[fits], frame.ratio, view_state.theme.good))
        return found


TOOL = ToolKind("drop", 60)
