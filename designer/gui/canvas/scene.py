"""The picture of a session's design and its state, kept up to date; knows which box shows what. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from designer.design.address import Address, Ref, block_at
from designer.design.diff import Diff
from designer.design.document import Design
from designer.design.geometry import Geometry, lay_out, opened_in, update
from designer.drawing.compose_activity import HEAD
from designer.drawing.compose_boxes import heat_of
from designer.drawing.loads import (
    ChannelState,
    ConnectionMap,
    Loads,
    link_numbers,
    nothing,
    with_binding,
    with_failed,
    with_limits,
    with_loads,
    with_route,
)
from designer.drawing.polylines import same_routes
from designer.drawing.theme import STEPS, CanvasTheme
from designer.drawing.trays import box_of, shown_address
from designer.drawing.view import Rect, bounds_of
from designer.drawing.view_state import ViewState
from designer.errors import DocumentError
from designer.gui.canvas.editing import Picked, connection_picks
from designer.memo import memo

if TYPE_CHECKING:
    from designer.drawing.machines import Machines

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


#: differences below this share cannot be seen
_STATED: Final = 0.01


class Scene:
    """Geometry, loads, binding, route and selection of a design.

    Parameters
    ----------
    design
        The design to draw.
    """

    def __init__(self, design: Design, theme: CanvasTheme) -> None:
        self.theme = theme
        self.members: dict[Address, int] = {}
        self._loads: ChannelState | None = None
        self._loads_of: Design | None = None
        self._by_id: Mapping[str, float | tuple[float, float]] | None = None
        self._binding: tuple[str, ...] = ()
        self._bottleneck_parts: tuple[tuple[str, int], ...] = ()
        self._failed: tuple[str, ...] = ()
        self._mark = ""
        #: what colours mean, as in ``ViewState``
        self.colours = "limits"
        self._route: tuple[str, ...] = ()
        self._stale = False
        self.selection: frozenset[Picked] = frozenset()
        self.machines: Machines | None = None
        self.show_machines = True
        #: the picture before the last change: an undo comes back to it
        self._last: ViewState | None = None
        self._show(design)

    @property
    def geometry(self) -> Geometry:
        """The picture."""
        return self.view_state.geometry

    def _show(self, design: Design, changes: Diff | None = None, before: Geometry | None = None) -> None:
        opened, old, last = self._opened(design), getattr(self, "view_state", None), self._last
        if last is not None and last.geometry.design is design and last.geometry.opened == opened:
            # undone, or done again
            last.lifted = last.lifted_connections = None
            last.theme, last.stale, last.colours = self.theme, self._stale, self.colours
            self.view_state = last
        else:
            if changes is not None and before is not None and opened == before.opened:
                geometry = update(before, design, changes)
            else:
                geometry = lay_out(design, opened)
            self.view_state = ViewState(geometry, nothing(geometry), self.theme, stale=self._stale)
            self.view_state.colours = self.colours
            if old is not None:
                self.view_state.learn(old)
        self._last = old
        self._refresh()
        self._select()
        self._lay_trays()

    # ---- virtual machines

    def set_machines(self, machines: Machines | None, show: bool = True) -> None:
        """Show where virtual machines are placed, or hide them."""
        self.machines, self.show_machines = machines, show
        self._lay_trays()

    def _lay_trays(self) -> None:
        self.view_state.show_machines(self.machines if self.show_machines else None)

    def chip_at(self, x: float, y: float) -> int:
        """Number of the chip of a virtual machine at a point of the scene; −1 for none."""
        trays = self.view_state.trays
        return -1 if trays is None else trays.chip_at(x, y)

    def _opened(self, design: Design) -> frozenset[Address]:
        """The open groups, each showing the member chosen for it."""
        found = opened_in(design)
        if self.members:
            # groups may have become smaller, or gone
            self.members = {a: m for a, m in self.members.items() if _has_member(design, a, m)}
        if not self.members:
            return found
        return frozenset(
            tuple((g, self.members.get((*address[:k], (g, None)), m)) for k, (g, m) in enumerate(address))
            for address in found
        )

    def update(self, changes: Diff) -> Rect | None:
        """Show the design after an edit; the scene rectangle that changed, None for all of it."""
        before, trays = self.geometry, self.view_state.trays
        self._show(changes.after, changes, before if before.design is changes.before else None)
        region, now = changed_region(before, self.geometry), self.view_state.trays
        if region is None or trays is None or now is None or np.array_equal(trays.rect, now.rect):
            return region
        return union(region, union(trays.bounds, now.bounds))

    def show_member(self, within: Address, group: str, member: int | None) -> None:
        """Let an open group show one member, or None for what all share."""
        key = (*within, (group, None))
        if member is None:
            self.members.pop(key, None)
        else:
            self.members[key] = member
        self._show(self.geometry.design)

    def set_theme(self, theme: CanvasTheme) -> None:
        """Other colours."""
        self.theme = self.view_state.theme = theme

    # ---- results

    @property
    def _map(self) -> ConnectionMap:
        return self.view_state.connection_map

    def set_loads(self, loads: ChannelState | Mapping[str, float | tuple[float, float]] | None) -> None:
        """Show loads: of all channels in their order, or utilisation or (load, utilisation) by channel id."""
        self._by_id = self._loads = None
        if isinstance(loads, ChannelState):
            self._loads, self._loads_of = loads, self.geometry.design
        else:
            self._by_id = loads
        self._refresh()

    def set_result(
        self,
        loads: ChannelState | None,
        binding: tuple[str, ...],
        parts: tuple[tuple[str, int], ...] = (),
        failed: tuple[str, ...] = (),
        mark: str = "",
    ) -> bool:
        """Show loads, bottlenecks with the words of their mark, and what failed; False if they are shown already."""
        old, design = self._loads, self.geometry.design
        same = (binding, parts, failed, mark) == (self._binding, self._bottleneck_parts, self._failed, self._mark)
        same = same and self._by_id is None and design is self._loads_of and not self._stale
        if same and loads is not None and old is not None and loads.same(old):
            return False
        self._binding, self._bottleneck_parts, self._failed, self._mark = binding, parts, failed, mark
        self._loads, self._loads_of, self._by_id = loads, design, None
        self._refresh()
        return True

    def lit_region(self, before: Loads) -> Rect | None:
        """The scene rectangle around what looks different from a state before; None for nothing.

        Numbers that a picture states are compared as it states them: classes of utilisation, and bars to a hundredth.
        """
        now, geometry = self.view_state.loads, self.geometry
        if len(now.heat) != len(before.heat) or len(now.box_used) != len(before.box_used):
            return self.view_state.bounds
        connections = (now.heat != before.heat).any(axis=1) | (now.bottleneck != before.bottleneck)
        # a full channel states its load in numbers
        full = (now.heat == len(STEPS)).any(axis=1)
        with np.errstate(invalid="ignore"):
            moved = np.abs(now.load - before.load) > _STATED * np.fmax(now.load, before.load)
        connections |= full & moved.any(axis=1)
        boxes = (_hundredths(now.box_used) != _hundredths(before.box_used)) | (
            now.box_bottleneck != before.box_bottleneck
        )
        boxes |= now.box_failed != before.box_failed
        connections |= now.failed != before.failed
        boxes |= heat_of(now.box_used) != heat_of(before.box_used)
        n = len(boxes)
        boxes |= _hundredths(now.box_fill, n) != _hundredths(before.box_fill, n)
        # most of the time only the bars at the heads of cards move
        heads = ~boxes & (_hundredths(now.box_busy, n) != _hundredths(before.box_busy, n))
        if not connections.any() and not boxes.any() and not heads.any():
            return None
        strips = geometry.rect[heads].copy()
        strips[:, 3] = np.minimum(strips[:, 3], HEAD)
        return bounds_of(
            np.concatenate([*_rects(geometry, np.flatnonzero(boxes), np.flatnonzero(connections)), strips])
        )

    def set_binding(self, ids: Iterable[str]) -> None:
        """Mark channels that bind."""
        self._binding, self._bottleneck_parts = tuple(ids), ()
        self._refresh()

    def highlight(self, ids: Iterable[str]) -> None:
        """Light up channels and dim the rest; none lights nothing."""
        self._route = tuple(ids)
        self._refresh()

    def set_colours(self, colours: str) -> None:
        """What colours mean from now on."""
        self.colours = self.view_state.colours = colours

    def set_stale(self, stale: bool) -> None:
        """Whether the loads belong to an earlier design."""
        self._stale = self.view_state.stale = stale

    def _refresh(self) -> None:
        geometry = self.geometry
        loads = nothing(geometry)
        if self._loads is not None or self._by_id is not None:
            loads = with_loads(loads, geometry, self._map, self._channel_loads())
        if self._binding or self._bottleneck_parts:
            numbers = link_numbers(self._map, self._binding)
            loads = with_binding(loads, self._map, numbers, self._binding, self._bottleneck_parts)
            loads = with_limits(loads, geometry, self._mark)
        if self._failed:
            words = self._loads.words if self._loads is not None else None
            loads = with_failed(loads, self._map, link_numbers(self._map, self._failed), self._failed, words)
        if self._route:
            numbers = link_numbers(self._map, self._route)
            loads = with_route(loads, geometry, self._map, numbers, self._route)
        self.view_state.loads = loads

    def _channel_loads(self) -> ChannelState | None:
        if self._by_id is None:
            return self._loads
        n = 2 * self._map.n_links
        load, used = np.full(n, np.nan), np.full(n, np.nan)
        numbers = link_numbers(self._map, self._by_id)
        for channel, value in self._by_id.items():
            path, _, direction = channel.rpartition(":")
            number = numbers.get(path or channel)
            if number is not None:
                at = 2 * number + (direction == "ba")
                load[at], used[at] = value if isinstance(value, tuple) else (np.nan, value)
        return ChannelState(load, used)

    # ---- selection

    def select(self, selection: frozenset[Picked]) -> None:
        """Show what is selected."""
        self.selection = selection
        self._select()

    def _select(self) -> None:
        boxes: list[int] = []
        connections: set[int] = set()
        for picked in self.selection:
            within, ref = picked
            if ref.what in ("links", "wirings"):
                connections |= set(self.connections_by_pick.get((shown_address(self.geometry, within), ref), ()))
                continue
            box = self.box_of(picked)
            if box is not None:
                boxes.append(box)
        self.selected = np.array(sorted(boxes), dtype=np.int64)
        self.selected_connections = np.array(sorted(connections), dtype=np.int64)

    @property
    def connections_by_pick(self) -> dict[Picked, list[int]]:
        """The connections that show each link and wiring."""
        return _connections_by_pick(self.geometry)

    def box_of(self, picked: Picked) -> int | None:
        """Number of the box that shows a thing; None if it is not drawn."""
        return box_of(self.geometry, picked)

    def picks(self, boxes: Iterable[int]) -> frozenset[Picked]:
        """What some boxes show."""
        return frozenset(self.geometry.address(int(box)) for box in boxes)

    def region(self, boxes: Int, connections: Int | None = None) -> Rect:
        """The scene rectangle around some boxes and connections."""
        return bounds_of(np.concatenate(_rects(self.geometry, boxes, connections)))

    def contents(self, boxes: Iterable[int]) -> Bool:
        """Which boxes are among `boxes` or inside them. : (n,)"""
        found = np.zeros(len(self.geometry), dtype=bool)
        for box in boxes:
            found[box : int(self.geometry.last[box])] = True
        return found


def _hundredths(share: Float | None, count: int = 0) -> Int:
    """Shares as bars state them, in hundredths; −1 where nothing is known."""
    if share is None:
        return np.full(count, -1)
    return np.where(np.isnan(share), -1, np.round(np.nan_to_num(share) / _STATED)).astype(np.int64)


def _has_member(design: Design, address: Address, member: int) -> bool:
    try:
        block_at(design, (*address[:-1], (address[-1][0], member)))
    except DocumentError:
        return False
    return True


def changed_region(old: Geometry, new: Geometry) -> Rect | None:
    """The scene rectangle in which two pictures differ; None if they are too different for that."""
    if len(old) != len(new) or old.n_connections != new.n_connections or old.refs != new.refs or old.kinds != new.kinds:
        return None
    boxes = np.flatnonzero((old.rect != new.rect).any(axis=1) | (old.replicas != new.replicas))
    things = _changed_things(old, new)
    if things is None:
        return None
    boxes = np.union1d(boxes, things)
    same = (
        (old.connection_a == new.connection_a)
        & (old.connection_b == new.connection_b)
        & (old.connection_capacity == new.connection_capacity)
    )
    same &= (old.connection_status == new.connection_status) & (old.connection_count == new.connection_count)
    same &= same_routes(old.connection_route, new.connection_route)
    connections = np.flatnonzero(~same)
    return bounds_of(np.concatenate(_rects(old, boxes, connections) + _rects(new, boxes, connections)))


def region_of(view_state: ViewState, boxes: Bool, connections: Bool | None) -> Rect:
    """The scene rectangle around marked boxes and connections."""
    chosen = None if connections is None else np.flatnonzero(connections)
    return bounds_of(np.concatenate(_rects(view_state.geometry, np.flatnonzero(boxes), chosen)))


def union(a: Rect, b: Rect) -> Rect:
    """The rectangle around two; an empty one at the origin counts as nothing."""
    nothing = (0.0, 0.0, 0.0, 0.0)
    if nothing in (a, b):
        return b if a == nothing else a
    return bounds_of(np.array([a, b]))


def _rects(geometry: Geometry, boxes: Int, connections: Int | None) -> list[Float]:
    found: list[Float] = [geometry.rect[boxes]]
    if connections is not None and len(connections):
        route = geometry.connection_route[connections]
        low, high = route.min(axis=1), route.max(axis=1)
        found.append(np.concatenate((low, high - low), axis=1))
    return found


def _changed_things(old: Geometry, new: Geometry) -> Int | None:
    """Boxes of the top block whose thing changed; None if a group's content did or a type or property of the whole."""
    if old.design.part_types is not new.design.part_types or old.blocks != new.blocks:
        return None
    a, b = old.design, new.design
    found: list[int] = []
    for what, before, after in (
        ("parts", a.parts, b.parts),
        ("groups", a.groups, b.groups),
        ("annotations", a.annotations, b.annotations),
    ):
        if before is after:
            continue
        if before.keys() != after.keys():
            return None
        for key, item in after.items():
            if before[key] is not item:
                if what == "groups":
                    return None
                box = new.box_of((), Ref(what, key))  # type: ignore[arg-type]
                if box is not None:
                    found.append(box)
    return np.array(sorted(found), dtype=np.int64)


def summary_text(scene: Scene) -> str:
    """A description of the canvas for screen readers."""
    geometry = scene.geometry
    chosen = len(scene.selected) + len(scene.selected_connections)
    return f"{geometry.design.title or geometry.design.name}: {len(geometry)} things, {chosen} selected"


@memo(most=4)
def _connections_by_pick(geometry: Geometry) -> dict[Picked, list[int]]:
    found: dict[Picked, list[int]] = {}
    for connection in range(geometry.n_connections):
        for picked in connection_picks(geometry, connection):
            found.setdefault(picked, []).append(connection)
    return found
