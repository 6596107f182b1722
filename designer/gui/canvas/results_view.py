"""A viewport that shows results: loads as colours, what binds, routes, virtual machines and members of groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from PySide6.QtCore import QRect, Signal

from designer.design.address import Address
from designer.drawing.loads import ChannelState
from designer.drawing.polylines import halfway
from designer.gui.canvas.editing import Picked
from designer.gui.canvas.viewport import Viewport

if TYPE_CHECKING:
    from designer.drawing.machines import Machines

#: the ring around a binding link opens once, in so many ticks
_PULSE: Final = 26


class ResultsView(Viewport):
    """Shows a scene and what was found out about it.

    Signals
    -------
    member_changed
        An open group shows another of its members.
    """

    member_changed = Signal()
    #: ticks until the ring around what binds is open
    _pulse = 0

    def set_loads(self, loads: ChannelState | Mapping[str, float | tuple[float, float]] | None) -> None:
        """Colour the connections: loads of all channels as arrays, or by channel id utilisation or (load,
        utilisation)."""
        self.scene.set_loads(loads)
        self._relit()

    def set_binding(self, ids: Iterable[str]) -> None:
        """Mark the channels that bind; a ring opens around each once."""
        ids = tuple(ids)
        self.scene.set_binding(ids)
        self._bottleneck(ids)
        self._relit()

    def show_result(
        self,
        loads: ChannelState | None,
        binding: tuple[str, ...],
        parts: tuple[tuple[str, int], ...] = (),
        mark: str = "",
    ) -> None:
        """ChannelState and what binds, at once; nothing is drawn where all are as shown.

        `mark` are the words about what limits, `binding` are channels, `parts` parts that bind by themselves, each with
        how many equal ones it represents.
        """
        if self.scene.set_result(loads, binding, parts, (), mark):
            self._bottleneck((*binding, *(path for path, _ in parts)))
            self._relit()
        elif self._hold.isActive():
            self._rethought()

    def show_moment(
        self,
        loads: ChannelState | None,
        binding: tuple[str, ...],
        parts: tuple[tuple[str, int], ...] = (),
        failed: tuple[str, ...] = (),
    ) -> None:
        """The same for an instant of a run over time: no ring opens, since what binds changes all the time.

        `failed` are paths of links and parts that have no capacity at that instant.
        """
        before = self.scene.view_state.loads
        if self.scene.set_result(loads, binding, parts, failed):
            region = self.scene.lit_region(before)
            if region is not None:
                self.tile_cache.changed(region)
                self._rethought()
        elif self._hold.isActive():
            self._rethought()

    def in_question(self) -> list[QRect]:
        """Where things that limit and selected things are, logical pixels; those in sight."""
        loads, scene = self.scene.view_state.loads, self.scene
        boxes = np.union1d(np.flatnonzero(loads.box_bottleneck), scene.selected)
        links = np.union1d(np.flatnonzero(loads.bottleneck), scene.selected_connections)
        rects = [scene.geometry.rect[boxes.astype(np.int64)]]
        if len(links):
            middles = halfway(scene.geometry.connection_route[links.astype(np.int64)])
            rects.append(np.concatenate((middles, np.zeros_like(middles)), axis=1))
        found: list[QRect] = []
        for x, y, wide, high in np.concatenate(rects).tolist():
            left, top = self.view.to_view(x, y)
            right, low = self.view.to_view(x + wide, y + high)
            rect = QRect(round(left) - 8, round(top) - 8, round(right - left) + 16, round(low - top) + 16)
            if rect.intersects(self.rect()):
                found.append(rect)
        return found

    def _bottleneck(self, ids: tuple[str, ...]) -> None:
        self._pulse = _PULSE if ids and self.camera.animated else 0
        if self._pulse:
            self._ticker.start()

    @property
    def pulse(self) -> float:
        """How far the ring around what binds has to open still, from 1 to 0."""
        return self._pulse / _PULSE

    def advance(self) -> bool:
        """Open the ring around what binds a little more."""
        if not self._pulse:
            return super().advance()
        self._pulse -= 1
        self.update()
        super().advance()
        return True

    def highlight_route(self, ids: Iterable[str]) -> None:
        """Light up channels and dim the rest; none lights nothing."""
        self.scene.highlight(ids)
        self._relit()

    def set_colours(self, colours: str) -> None:
        """What colours mean: ``limits`` for what limits alone, ``utilization`` for how busy each link is."""
        if colours != self.scene.colours:
            self.scene.set_colours(colours)
            self._relit()

    def set_stale(self, stale: bool) -> None:
        """Whether the loads belong to an earlier design: they fade until new ones come."""
        self.scene.set_stale(stale)
        if self.scene.view_state.loads.known:
            self.tile_cache.changed(None)
            self._frame_soon(stale)

    def _relit(self) -> None:
        self.tile_cache.changed(None)
        self._rethought()

    # ---- virtual machines and members

    def set_machines(self, machines: Machines | None) -> None:
        """Show the placement of virtual machines; a view that showed the whole design is fitted again."""
        self._show_machines(machines, self.scene.show_machines)

    @property
    def machines_shown(self) -> bool:
        """True if virtual machines are shown."""
        return self.scene.show_machines

    def toggle_machines(self) -> None:
        """Show or hide virtual machines."""
        self._show_machines(self.scene.machines, not self.scene.show_machines)

    def _show_machines(self, machines: Machines | None, show: bool) -> None:
        if machines is None and self.scene.machines is None and show == self.scene.show_machines:
            return
        bounds, whole = self.scene.view_state.bounds, self.shows_all()
        self.scene.set_machines(machines, show)
        self._redrawn()
        self._relit()
        if whole and self.scene.view_state.bounds != bounds:
            self.zoom_to_fit(animated=False)

    def show_member(self, within: Any, group: str, member: int | None) -> None:
        """Let an open group show one member, or None for what all share."""
        self.scene.show_member(within, group, member)
        self._redrawn()
        self._relit()
        self.member_changed.emit()

    @property
    def members(self) -> Mapping[Address, int]:
        """Member shown by the address of each group that shows one."""
        return self.scene.members

    def _redrawn(self) -> None:
        """The boxes of the scene are others than before."""

    def reveal(self, picked: Iterable[Picked]) -> None:
        """Bring things into sight; zooms in if they are too small to see, and out if the view is too small for them."""
        scene = self.scene
        picked = list(picked)
        for within, _ in picked:
            self._show_members_of(within)
        found = [box for box in (scene.box_of(p) for p in picked) if box is not None]
        connections = scene.selected_connections
        if found or len(connections):
            rect = scene.region(np.array(found, dtype=np.int64), connections)
            view = self.camera.target
            if max(rect[2], rect[3]) * view.scale < 24:
                self.camera.glide(view.fitted(rect, margin=120.0))
            elif rect[2] * view.scale > view.width or rect[3] * view.scale > view.height:
                self.camera.glide(view.fitted(rect, margin=48.0))
            else:
                self.camera.glide(view.revealing(rect, 48.0))

    def _show_members_of(self, within: Address) -> None:
        """Let the groups of an address show the members it names."""
        for depth, (group, member) in enumerate(within):
            outer: Address = tuple((g, None) for g, _ in within[:depth])
            if member is not None and self.members.get((*outer, (group, None))) != member:
                self.show_member(outer, group, member)
