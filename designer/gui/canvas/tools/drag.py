"""Moving things, or copies of them: snapped to neighbours and grid, into containers, onto links.

Nothing comes to lie on anything else: what is dragged is shown at the nearest place that is free, and drops there. Its
links run around boxes while it is dragged, roughly; the rest settles behind the drop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt

from designer.design.address import Address, Ref, block_at
from designer.design.diff import diff
from designer.design.edit import Edit
from designer.design.edits.clipboard import Duplicate
from designer.design.edits.parts import SetParent
from designer.design.geometry import Geometry, moving_boxes
from designer.design.room import Room
from designer.design.routing.route import sketch
from designer.drawing.batches import Batch
from designer.drawing.compose_boxes import cards, containers
from designer.drawing.compose_connections import near
from designer.drawing.compose_text import texts
from designer.drawing.marks import connection_glow, outline, tip
from designer.drawing.polylines import stretched
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame
from designer.errors import DocumentError
from designer.gui.canvas.compose_overlay import ghosts, guides
from designer.gui.canvas.editing import Offer, movable, move, put_into, thread
from designer.gui.canvas.hit import Area, Hit, connection_at, container_for
from designer.gui.canvas.snapping import MOST_NEIGHBOURS, Snapped, snapped
from designer.gui.canvas.together import Together
from designer.gui.canvas.tools._tool import Pointer, Press, Rest, Tool, ToolCanvas, ToolKind
from designer.gui.session import added

# What dragging a copy does: the things again at another place, in their container or another one; as one step.


def copy_to(geometry: Geometry, boxes: Sequence[int], dx: float, dy: float, container: int | None = None) -> Offer:
    """The edit that copies boxes to a distance in scene units.

    Parameters
    ----------
    container
        Where the copies go, −1 for the canvas itself; None leaves each in the container of its original.
    """
    boxes = movable(geometry, boxes)
    dx, dy = round(dx), round(dy)
    if not boxes or (container is None and not (dx or dy)):
        return Offer()
    by_block: dict[Address, dict[Ref, tuple[int, int]]] = {}
    for box in boxes:
        within, ref = geometry.address(box)
        by_block.setdefault(within, {})[ref] = geometry.position(box)
    edits = tuple(Duplicate(tuple(at), (dx, dy), within=within, start=at) for within, at in by_block.items())
    edit: Edit = edits[0] if len(edits) == 1 else Together(edits, "Duplicate things")
    if container is None:
        return Offer(edit)
    wanted = put_into(geometry, boxes, dx, dy, container)
    if not isinstance(wanted.edit, SetParent):
        return wanted
    try:
        moved = _into(geometry, boxes, edits[0], wanted.edit, container)
    except DocumentError as error:
        return Offer(reason=error.text)
    return Offer(Together((edits[0], moved), edits[0].label))


def _into(geometry: Geometry, boxes: Sequence[int], made: Duplicate, wanted: SetParent, container: int) -> SetParent:
    """The edit that moves the copies into a container, where they are shown while they are dragged."""
    within = geometry.address(boxes[0])[0]
    block = block_at(made.apply(geometry.design), within)
    goal = geometry.origin[container].tolist() if container >= 0 else [0.0, 0.0]
    # where positions without a container count from: the same for all of a block
    around = [geometry.address(int(geometry.parent[b])) for b in boxes if geometry.parent[b] >= 0]
    group = next((geometry.box_of(*a) for a in around if a[1].what == "groups"), None)
    parts, groups, positions = list[str](), list[str](), dict[str, tuple[int, int]]()
    for _, ref in sorted(added(diff(geometry.design, made.apply(geometry.design)))):
        item = block.parts[ref.id] if ref.what == "parts" else block.groups[ref.id]
        base = geometry.box_of(within, Ref("parts", item.parent)) if item.parent is not None else group
        origin = geometry.origin[base].tolist() if base is not None else [0.0, 0.0]
        (parts if ref.what == "parts" else groups).append(ref.id)
        if item.position is not None:
            x, y = item.position.x + origin[0] - goal[0], item.position.y + origin[1] - goal[1]
            positions[ref.id] = (round(x), round(y))
    return SetParent(tuple(parts), wanted.parent, tuple(groups), positions, within=within)


Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
_NO_ROOM = "There is no room here"

#: edges this near to those of a neighbour are pulled in line [view px]
_REACH = 6.0
#: more things or connections than this are shown as plain outlines, or not at all, while they are dragged
_MOST_BOXES = 1200
_MOST_CONNECTIONS = 500
#: more connections than this, or in a larger picture, are only stretched while they are dragged
_MOST_LED = 150
_LARGE = 1500


class Drag(Tool):
    """The chosen boxes follow the pointer, with Ctrl copies of them; one step of undo at the end."""

    hint = "Ctrl: copy · Alt: without snapping · drop into a container or on a link · Esc cancels"
    cursor = Qt.CursorShape.SizeAllCursor
    scrolls = True
    quiet = True

    def __init__(self, host: ToolCanvas, start: Pointer, boxes: Int) -> None:
        super().__init__(host)
        self._start = start
        scene = host.scene
        geometry = scene.geometry
        self._boxes = movable(geometry, boxes.tolist())
        self._lifted = scene.contents(self._boxes)
        a, b = self._lifted[geometry.connection_a], self._lifted[geometry.connection_b]
        self._connections, self._inner = a | b, a & b
        self._frame_rect = scene.region(np.array(self._boxes, dtype=np.int64))
        parents = {int(geometry.parent[i]) for i in self._boxes}
        self._parent = parents.pop() if len(parents) == 1 else None
        self._kinds = {geometry.kinds[int(geometry.kind[i])] for i in self._boxes}
        self._others = self._neighbours()
        self._snap = Snapped(0.0, 0.0)
        self._rooms: dict[tuple[int | None, bool], Room] = {}
        #: where it may land, and how that was found
        self._spot, self._crowded = (0, 0), False
        self._ways: tuple[object, Float] | None = None
        self._target: int | None = None
        self._connection = -1
        self._offer: Offer | None = None
        self._at = start
        self._copying = False

    def enter(self) -> None:
        self.host.lift(self._lifted, self._connections)

    def leave(self) -> None:
        self.host.lift(None, None)

    def _neighbours(self) -> Float:
        """What to line up with: things in sight next to what moves, the nearest ones."""
        view_state = self.host.scene.view_state
        geometry = view_state.geometry
        seen = view_state.boxes.index.touching(*self.host.view.visible())
        seen = seen[~self._lifted[seen]]
        if self._parent is not None:
            siblings = seen[geometry.parent[seen] == self._parent]
            seen = siblings if len(siblings) else seen[~geometry.is_container[seen]]
        rect = geometry.rect[seen]
        if len(rect) > MOST_NEIGHBOURS:
            x, y, w, h = self._frame_rect
            gap = np.abs(rect[:, 0] + rect[:, 2] / 2 - x - w / 2) + np.abs(rect[:, 1] + rect[:, 3] / 2 - y - h / 2)
            rect = rect[np.argpartition(gap, MOST_NEIGHBOURS)[:MOST_NEIGHBOURS]]
        return rect

    def _copy(self, on: bool) -> None:
        """Whether the originals stay where they are, to be seen and to line up with."""
        self._copying = on
        self.host.lift(None if on else self._lifted, None if on else self._connections)
        self.host.set_cursor(Qt.CursorShape.DragCopyCursor if on else self.cursor)

    def move(self, p: Pointer) -> None:
        self._at = p
        if p.ctrl != self._copying:
            self._copy(p.ctrl)
        dx, dy = p.sx - self._start.sx, p.sy - self._start.sy
        reach = _REACH / self.host.view.scale
        self._snap = Snapped(dx, dy) if p.alt else snapped(self._frame_rect, dx, dy, self._around(), reach)
        self._aim(p)
        self.host.refresh()

    def _around(self) -> Float:
        """What to line up with now."""
        if not self._copying:
            return self._others
        return np.concatenate([self._others, self.host.scene.geometry.rect[self._boxes]])

    def _aim(self, p: Pointer) -> None:
        """Where the drop would land and what it would do: hang into another container, or into a link."""
        view_state = self.host.scene.view_state
        self._offer, self._connection = None, -1
        target = container_for(view_state, p.sx, p.sy, self._kinds, without=self._lifted)
        home = self._parent if self._parent is not None else target
        self._target = target if target != home else None
        if len(self._boxes) == 1 and not self._connections.any() and not self._copying:
            connection = connection_at(view_state, p.sx, p.sy, self.host.view.scale, self.host.frame().level)
            if connection >= 0:
                offer = thread(view_state.geometry, connection, self._boxes[0])
                if offer.ok:
                    self._connection, self._offer, self._target = connection, offer, None
        spot = self._room.nearest(self._snap.dx, self._snap.dy)
        self._crowded = spot is None
        if spot is not None:
            self._spot = spot
        if self._target is not None:
            self._offer = put_into(view_state.geometry, self._boxes, *self._spot, self._target)

    @property
    def _room(self) -> Room:
        """What is free where it would land."""
        key = (self._target, self._copying)
        if key not in self._rooms:
            self._rooms[key] = Room(self.host.scene.geometry, self._boxes, *key)
        return self._rooms[key]

    def release(self, p: Pointer) -> None:
        self.move(p)
        offer, geometry = self._offer, self.host.scene.geometry
        if offer is not None and not offer.ok:
            self.host.finish()
            self.host.warn(offer.reason)
            return
        if self._crowded and not self._room.is_free(*self._spot):
            self.host.finish()
            self.host.warn(_NO_ROOM)
            return
        if self._copying:
            edit = copy_to(geometry, self._boxes, *self._spot, self._target).edit
        else:
            edit = move(geometry, self._boxes, *self._spot)
            if offer is not None and self._connection >= 0:
                edit = _both(edit, offer)
            elif offer is not None:
                edit = offer.edit
        if edit is not None and self._room.spoils(edit, *self._spot):
            self.host.finish()
            self.host.warn(_NO_ROOM)
            return
        # the edit comes first, so that nothing is drawn at its old place in between
        if edit is not None:
            self.host.make(edit, select_new=self._copying)
        self.host.finish()

    def key(self, press: Press) -> bool:
        """Keys other than Ctrl and Esc wait until the drag is over."""
        if press.key == Qt.Key.Key_Control:
            self.move(replace(self._at, ctrl=True))
        return True

    def key_up(self, press: Press) -> bool:
        if press.key == Qt.Key.Key_Control:
            self.move(replace(self._at, ctrl=False))
        return True

    def overlay(self, frame: Frame, region: Rect) -> list[Batch]:
        view_state = self.host.scene.view_state
        geometry, theme = view_state.geometry, view_state.theme
        dx, dy = round(self._spot[0] * frame.scale), round(self._spot[1] * frame.scale)
        found: list[Batch] = []
        if self._target is not None and self._target >= 0:
            good = self._offer is not None and self._offer.ok
            rect = frame.boxes(geometry.rect[self._target : self._target + 1])
            found.append(outline(rect, 3 * frame.ratio, theme.good if good else theme.bad))
        if self._connection >= 0:
            found += connection_glow(view_state, frame, np.array([self._connection]), theme.good)
        boxes = np.flatnonzero(self._lifted)
        if len(boxes) <= _MOST_BOXES:
            moved = frame.moved(dx, dy)
            found += containers(view_state, moved, boxes)
            connections = np.flatnonzero(self._inner if self._copying else self._connections)
            if len(connections) <= _MOST_CONNECTIONS:
                found += near(view_state, frame, connections, self._led(connections))
            found += cards(view_state, moved, boxes)
            found += texts(view_state, moved, boxes)
        shift = np.array([*self._spot, 0.0, 0.0])
        now = self._room.rects(*self._spot)
        larger = (now != geometry.rect).any(axis=1) & ~self._lifted
        if larger.any():
            found.append(outline(frame.boxes(now[larger]), max(1.0, round(frame.ratio)), theme.selection))
        found += ghosts(geometry.rect[self._boxes] + shift, frame, theme)
        if self._spot == (round(self._snap.dx), round(self._snap.dy)):
            found += guides(self._snap.guides, frame, theme.guide)
        text = self._offer.reason or self._said() if self._offer is not None else _NO_ROOM if self._crowded else ""
        if text:
            at = frame.points(np.array([self._at.sx, self._at.sy])).tolist()
            good = self._offer is not None and self._offer.ok and not self._crowded
            found += tip(text, at[0], at[1], frame, theme, good, region)
        return found

    def _said(self) -> str:
        if self._crowded:
            return _NO_ROOM
        if self._target is None:
            return "Insert into this link"
        verb = "Copy" if self._copying else "Move"
        if self._target < 0:
            return f"{verb} to the canvas"
        return f"{verb} into {self.host.scene.geometry.label(self._target)}"

    def _led(self, connections: Int) -> Float:
        """Routes of connections whose ends moved: around boxes, as long as that takes no longer than a frame."""
        key = (self._spot, self._target, self._copying, len(connections))
        if self._ways is None or self._ways[0] != key:
            self._ways = (key, self._found_paths(connections))
        return self._ways[1]

    def _found_paths(self, connections: Int) -> Float:
        geometry = self.host.scene.geometry
        shift = np.array(self._spot, dtype=np.float64)
        routes = geometry.connection_route[connections]
        a, b = self._lifted[geometry.connection_a[connections]], self._lifted[geometry.connection_b[connections]]
        found = stretched(routes, np.outer(a, shift), np.outer(b, shift))
        out = np.flatnonzero(a != b)
        if not len(out) or len(out) > _MOST_LED or len(geometry) > _LARGE:
            return found
        parent = geometry.parent.copy()
        if self._target is not None:
            parent[self._boxes] = self._target
        scene = moving_boxes(geometry).links._replace(rect=self._room.rects(*self._spot), parent=parent)
        ways = sketch(scene, connections[out], found[out, 0], found[out, -1])
        wide = max(found.shape[1], ways.shape[1])
        found, ways = (
            np.concatenate((part, np.repeat(part[:, -1:], wide - part.shape[1], axis=1)), axis=1)
            for part in (found, ways)
        )
        found[out] = ways
        return found


def _both(moved: Edit | None, offer: Offer) -> Edit | None:
    """A move and what is offered as one step."""
    if moved is None or offer.edit is None:
        return offer.edit
    return Together((moved, offer.edit), offer.edit.label)


def _drag(rest: Rest, down: Pointer, hit: Hit) -> Tool | None:
    """By a selected card, its header, or the inside of one that was selected before."""
    movable = hit.area in (Area.CARD, Area.HEADER) or (hit.area is Area.BODY and rest.was_selected)
    selected = rest.host.scene.selected
    return Drag(rest.host, down, selected) if movable and hit.number in selected and not down.shift else None


TOOL = ToolKind("drag", 10, drag=_drag)
