"""Connecting: drag from a port or press C; what fits lights up, what does not dims and says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt

from designer.catalog.parttype import fitting_links, link_kinds, part_kinds
from designer.drawing.batches import Batch, Lines, Rects
from designer.drawing.compose_boxes import visible_boxes
from designer.drawing.marks import outline, tip
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame
from designer.gui.canvas.bulk import NicRule, connect_all, holds_nics, might_connect, rules_of
from designer.gui.canvas.compose_overlay import handles, side_points
from designer.gui.canvas.editing import Offer, connect, rehang
from designer.gui.canvas.hit import Area, Hit, box_at, container_at
from designer.gui.canvas.navigate import Direction, nearest
from designer.gui.canvas.together import Together
from designer.gui.canvas.tools._tool import ARROWS, Pointer, Press, QuickAdd, Rest, Tool, ToolCanvas, ToolKind
from designer.present.numbers import counted

Int = npt.NDArray[np.int64]

#: so many boxes in sight are asked whether they fit; the rest is asked when pointed at
_MOST: Final = 500
#: an end snaps to a box within this distance [view px]
_SNAP: Final = 14.0


class _Aim(Tool):
    """Pointing at a box: the common ground of drawing a link and hanging one to another part."""

    cursor = Qt.CursorShape.CrossCursor
    scrolls = True
    quiet = True

    def __init__(self, host: ToolCanvas, anchors: Sequence[int], start: Pointer | None) -> None:
        super().__init__(host)
        self.anchors = list(anchors)
        self.target = -1
        self.offer = Offer()
        self.at = start
        self._known: dict[int, Offer] = {}
        #: whether the button that began it is still down
        self.dragging = start is not None
        self._start = start

    def offer_for(self, box: int) -> Offer:
        """The link that choosing `box` would make."""
        found = self._known.get(box)
        if found is None:
            found = self._known[box] = self._asked(box)
        return found

    def fits(self, box: int) -> bool:
        """Whether something would be made if `box` were chosen."""
        return self.offer_for(box).ok

    def _asked(self, box: int) -> Offer:
        raise NotImplementedError

    def point_at(self, box: int) -> None:
        """Aim at a box; −1 at nothing."""
        self.target = -1 if box in self.anchors else box
        self.offer = self.offer_for(self.target) if self.target >= 0 else Offer()
        self.host.refresh()

    def move(self, p: Pointer) -> None:
        self.at = p
        self.point_at(self._box_near(p))

    def _box_near(self, p: Pointer) -> int:
        """The box at the pointer, or a fitting one close to it: small ports far away must be easy to hit."""
        view_state = self.host.scene.view_state
        box = box_at(view_state, p.sx, p.sy, self.host.view.scale)
        if box >= 0 and not view_state.geometry.is_container[box] and not view_state.boxes.is_frame[box]:
            return box
        slack = _SNAP / self.host.view.scale
        close = view_state.boxes.index.at(p.sx, p.sy, slack)
        close = close[view_state.boxes.is_card[close]][:20]
        if not len(close):
            return -1
        rect = view_state.geometry.rect[close]
        gap = np.hypot(
            np.maximum(np.maximum(rect[:, 0] - p.sx, p.sx - rect[:, 0] - rect[:, 2]), 0),
            np.maximum(np.maximum(rect[:, 1] - p.sy, p.sy - rect[:, 1] - rect[:, 3]), 0),
        )
        for k in np.argsort(gap, kind="stable").tolist():
            if self.offer_for(int(close[k])).ok:
                return int(close[k])
        return -1

    def key(self, press: Press) -> bool:
        """Arrows go from box to box, Enter chooses."""
        if press.key in ARROWS:
            start = self.target if self.target >= 0 else self.anchors[0]
            self.at = None
            box = self._next(start, ARROWS[press.key])
            self.point_at(box)
            self._reveal(box)
            return True
        if press.key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_C):
            self.commit()
            return True
        return False

    def _next(self, start: int, direction: Direction) -> int:
        """The nearest box that fits; where none does the nearest at all, which says why not."""
        view_state = self.host.scene.view_state
        first = box = nearest(view_state, start, direction)
        for _ in range(_MOST):
            if box not in self.anchors and self.fits(box):
                return box
            before, box = box, nearest(view_state, box, direction)
            if box == before:
                break
        # step over the anchors themselves
        return nearest(view_state, first, direction) if first in self.anchors else first

    def _reveal(self, box: int) -> None:
        if box >= 0:
            view = self.host.view
            rect = self.host.scene.region(np.array([box], dtype=np.int64))
            self.host.set_view(view.revealing(rect))

    def press(self, p: Pointer) -> None:
        self.move(p)

    def release(self, p: Pointer) -> None:
        self.move(p)
        if self.dragging and self._start is not None and not p.far_from(self._start):
            # a click on a port: go on without the button
            self.dragging = False
            return
        if self.target >= 0:
            self.commit()
        else:
            self.dropped(p)

    def dropped(self, p: Pointer) -> None:
        """Let go over empty ground."""
        self.host.finish()

    def commit(self) -> None:
        """Make the offered link, or say why it cannot be made."""
        if self.target < 0:
            return
        if self.offer.edit is None:
            self.host.warn(self.offer.reason)
            if self.dragging:
                self.host.finish()
            return
        edit, select_new = self.offer.edit, False
        self.host.finish()
        self.host.make(edit, select_new)

    def from_point(self, frame: Frame, anchor: int, to: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Where the line leaves a box: the side nearest to its other end."""
        sides = side_points(frame, self.host.scene.geometry.rect[anchor])
        return sides[np.hypot(*(sides - to).T).argmin()]

    def overlay(self, frame: Frame, region: Rect) -> list[Batch]:
        view_state = self.host.scene.view_state
        geometry, theme = view_state.geometry, view_state.theme
        found = self._lights(frame, region)
        anchors = frame.boxes(geometry.rect[self.anchors])
        found.append(outline(anchors, 2 * frame.ratio, theme.selection, frame.ratio))
        to = None
        if self.target >= 0:
            good = self.offer.ok
            rect = geometry.rect[self.target]
            found.append(outline(frame.boxes(rect.reshape(1, 4)), 3 * frame.ratio, theme.good if good else theme.bad))
            middle = frame.points(rect[:2] + rect[2:] / 2)
            start = self.from_point(frame, self.anchors[0], middle)
            to = self.from_point(frame, self.target, start)
        elif self.at is not None:
            to = frame.points(np.array([self.at.sx, self.at.sy]))
        if to is not None:
            colour = theme.selection if self.target < 0 else theme.good if self.offer.ok else theme.bad
            dash = () if self.offer.ok else (5.0 * frame.ratio, 4.0 * frame.ratio)
            lines = np.array([[*self.from_point(frame, a, to), *to] for a in self.anchors[:200]])
            found.append(Lines(lines, colour, 2.0 * frame.ratio, dash, True))
            found += handles(np.concatenate((lines[:, :2], lines[:1, 2:])), frame, colour)
            text = self.remark()
            if text:
                found += tip(text, float(to[0]), float(to[1]), frame, theme, self.offer.ok, region)
        return found

    def remark(self) -> str:
        """The text next to the pointer."""
        if self.target < 0:
            return ""
        return self.offer.reason or f"to {self.host.scene.geometry.label(self.target)}"

    def _lights(self, frame: Frame, region: Rect) -> list[Batch]:
        """Boxes that fit are framed, the others dim."""
        view_state = self.host.scene.view_state
        seen = visible_boxes(view_state, frame, (region,))
        seen = seen[view_state.boxes.is_card[seen]]
        if len(seen) > _MOST:
            return []
        fits = np.array([self.fits(int(box)) for box in seen], dtype=bool)
        own = np.isin(seen, self.anchors)
        rects = frame.boxes(view_state.geometry.rect[seen])
        found: list[Batch] = []
        if (~fits & ~own).any():
            found.append(Rects(rects[~fits & ~own], view_state.theme.background + "a8"))
        if fits.any():
            found.append(outline(rects[fits], 2 * frame.ratio, view_state.theme.good))
        return found


class Connect(_Aim):
    """Draws links from the anchors to the box that is chosen."""

    hint = "Choose a part that lights up · arrows and Enter work too · Tab: another kind of link · Esc cancels"

    def __init__(self, host: ToolCanvas, anchors: Sequence[int], start: Pointer | None = None) -> None:
        super().__init__(host, anchors, start)
        self._kind: str | None = None
        #: which NICs of servers; None as is usual for what they are connected to
        self._rule: NicRule | None = None
        self._fit: dict[int, bool] = {}

    def _with_plain_parts(self, box: int) -> Offer:
        """The NICs of servers and groups among the anchors, and the other anchors themselves, such as a storage."""
        geometry = self.host.scene.geometry
        plain = [a for a in self.anchors if not holds_nics(geometry, a)]
        if not plain or len(plain) == len(self.anchors) or holds_nics(geometry, box):
            return connect_all(geometry, self.anchors, box, self._rule)
        offer = connect_all(geometry, [a for a in self.anchors if a not in plain], box, self._rule)
        more = [o.edit for o in (connect(geometry, a, box, self._kind) for a in plain) if o.edit is not None]
        if offer.edit is None or not more:
            return offer
        edit = Together((offer.edit, *more), offer.edit.label)
        return replace(offer, edit=edit, note=f"{offer.note}; and {counted(len(more), 'other part')}")

    def _asked(self, box: int) -> Offer:
        if box in self.anchors:
            return Offer(reason="a part cannot be linked to itself")
        geometry = self.host.scene.geometry
        if self._bulk(box):
            return self._with_plain_parts(box)
        offers = [connect(geometry, a, box, self._kind) for a in self.anchors]
        good = [offer for offer in offers if offer.edit is not None]
        if not good:
            return offers[0]
        room = good[0].room
        if room is not None and len(good) > room:
            good = good[:room]
        edits = tuple(offer.edit for offer in good if offer.edit is not None)
        edit = edits[0] if len(edits) == 1 else Together(edits, f"Connect {len(edits)} parts")
        note = good[0].note
        if len(good) < len(offers):
            why = next((o.reason for o in offers if o.edit is None), "no port is left")
            note = f"{note}; " if note else ""
            note += f"{len(good)} of {len(offers)}, the others are left out: {why}"
        return Offer(edit, kinds=good[0].kinds, note=note)

    def fits(self, box: int) -> bool:
        if box in self._known or box in self.anchors or not self._bulk(box):
            return self.offer_for(box).ok
        found = self._fit.get(box)
        if found is None:
            found = self._fit[box] = might_connect(self.host.scene.geometry, self.anchors, box, self._rule)
        return found

    def _bulk(self, box: int) -> bool:
        """True if one side is a server, rack or group, which is connected by its NICs."""
        geometry = self.host.scene.geometry
        return holds_nics(geometry, box) or any(holds_nics(geometry, a) for a in self.anchors)

    def key(self, press: Press) -> bool:
        if press.key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab) and self.target >= 0:
            self._cycle()
            return True
        return super().key(press)

    def _cycle(self) -> None:
        """The next kind of link that fits, or the next rule which NICs of servers are taken."""
        if self._bulk(self.target):
            rules = rules_of(self.host.scene.geometry, [*self.anchors, self.target])
            at = rules.index(self._rule) if self._rule in rules else -1
            self._rule = rules[(at + 1) % len(rules)]
            self._known, self._fit = {}, {}
            self.point_at(self.target)
            return
        kept = self._kind
        self._kind, self._known = None, {}
        kinds = self.offer_for(self.target).kinds
        if kinds:
            at = kinds.index(kept) if kept in kinds else 0
            self._kind = kinds[(at + 1) % len(kinds)]
        self._known = {}
        self.point_at(self.target)

    def dropped(self, p: Pointer) -> None:
        """Over empty ground, parts are offered that fit."""
        scene = self.host.scene
        geometry = scene.geometry
        container = container_at(scene.view_state, p.sx, p.sy)
        kinds = {geometry.kinds[int(geometry.kind[a])] for a in self.anchors}
        known = sorted(part_kinds().values(), key=lambda k: k.order)
        fits = tuple(k.name for k in known if all(fitting_links(own, k.name) for own in kinds))
        inside = geometry.address(container) if container >= 0 else None
        wanted = QuickAdd(p.sx, p.sy, scene.picks(self.anchors), fits, inside)
        self.host.finish()
        self.host.wish(wanted)

    def remark(self) -> str:
        if self.target < 0 or not self.offer.ok:
            return super().remark()
        if self._bulk(self.target):
            several = len(rules_of(self.host.scene.geometry, [*self.anchors, self.target])) > 1
            more = "  (Tab: other NICs)" if several else ""
            cables, then, left = self.offer.note.partition("; ")
            return f"{cables} to {self.host.scene.geometry.label(self.target)}{then}{left}{more}"
        kind = self._kind or self.offer.kinds[0]
        more = f"  ({len(self.offer.kinds)} kinds fit: Tab)" if len(self.offer.kinds) > 1 else ""
        note = f", {self.offer.note}" if self.offer.note else ""
        return f"{link_kinds()[kind].title} to {self.host.scene.geometry.label(self.target)}{note}{more}"


class Rehang(_Aim):
    """Hangs one end of a connection to another part."""

    hint = "Drop on another part · Esc cancels"

    def __init__(self, host: ToolCanvas, connection: int, end: Literal["a", "b"], start: Pointer) -> None:
        geometry = host.scene.geometry
        kept = int(geometry.connection_b[connection] if end == "a" else geometry.connection_a[connection])
        super().__init__(host, [kept], start)
        self._connection: int = connection
        self._side: Literal["a", "b"] = end
        self._left = int(geometry.connection_a[connection] if end == "a" else geometry.connection_b[connection])

    def enter(self) -> None:
        connections = np.zeros(self.host.scene.geometry.n_connections, dtype=bool)
        connections[self._connection] = True
        self.host.lift(np.zeros(len(self.host.scene.geometry), dtype=bool), connections)

    def leave(self) -> None:
        self.host.lift(None, None)

    def release(self, p: Pointer) -> None:
        """Back on its part nothing changes."""
        self.move(p)
        if self.target in (-1, self._left):
            self.host.finish()
        else:
            self.commit()

    def _asked(self, box: int) -> Offer:
        return rehang(self.host.scene.geometry, self._connection, self._side, box)


def connect_selected(host: ToolCanvas) -> None:
    """Start connecting the selected parts."""
    scene = host.scene
    view_state = scene.view_state
    cards = [int(b) for b in scene.selected if view_state.boxes.is_card[b] or view_state.geometry.is_container[b]]
    if cards:
        host.switch(Connect(host, cards))
    elif any(ref.what == "parts" for _, ref in scene.selection):
        host.warn("the selected part is inside something closed: open that first, then press C to connect it")
    else:
        host.warn("select a part first, then press C to connect it")


def _press(rest: Rest, p: Pointer) -> Tool | None:
    """On a port handle of a card; from one port of several selected parts, all are connected."""
    if p.button is not Qt.MouseButton.LeftButton or rest.chip_at(p) >= 0:
        return None
    handle = rest.handle_at(p)
    chosen = rest.host.scene.selected.tolist()
    return Connect(rest.host, chosen if handle in chosen else [handle], p) if handle >= 0 else None


def _drag(rest: Rest, down: Pointer, hit: Hit) -> Tool | None:
    """By an end of a selected connection."""
    if hit.area not in (Area.CONNECTION_A, Area.CONNECTION_B) or not rest.was_selected:
        return None
    return Rehang(rest.host, hit.number, "a" if hit.area is Area.CONNECTION_A else "b", down)


def _key(rest: Rest, press: Press) -> bool:
    if press.key != Qt.Key.Key_C or press.ctrl:
        return False
    connect_selected(rest.host)
    return True


TOOL = ToolKind(
    "connect",
    20,
    _press,
    _drag,
    _key,
    take_up=connect_selected,
    title="Connect selected parts",
    shortcut=("C",),
    icon="connect",
    menu="edit",
    section=3,
    on_selection=True,
    words=("link", "cable", "wire"),
)
