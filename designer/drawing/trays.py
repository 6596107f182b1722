"""Trays next to host boxes with a row for each host and a chip for each virtual machine on it. No Qt.

A host in a closed group, or in an open one that shows one member for all, has no box of its own: then the hosts share
the tray of the box that represents them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from designer.design.address import Address, Ref, split_path
from designer.design.document import Design
from designer.design.geometry import Geometry
from designer.drawing.fonts import text_width
from designer.drawing.rect_index import RectIndex
from designer.drawing.view import Rect, bounds_of
from designer.errors import DocumentError
from designer.memo import memo

if TYPE_CHECKING:
    from designer.design.geometry import Geometry
    from designer.drawing.machines import Chip, HostRow, Machines

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: heights of a row and a chip, padding, gaps, and where a tray is from its box [scene units]
ROW: Final = 30.0
CHIP: Final = 22.0
PAD: Final = 8.0
_GAP: Final = 6.0
_AWAY: Final = 10.0
#: kept free below all trays, where a view that shows everything has its legend [scene units]
_BELOW: Final = 48.0
#: text heights of names and details, the widest name of a host, chip and tray [scene units]
NAME_PX: Final = 12
DETAIL_PX: Final = 11
_HEAD_MOST: Final = 110.0
_CHIP_MOST: Final = 232.0
_TRAY_LEAST: Final = 420.0
#: chips are of few widths, so that few pictures of them are kept [scene units]
_STEP: Final = 8.0
#: text drawn in whole pixels may be wider than measured by so much
SLACK: Final = 1.1
#: hosts shown in one tray; those with machines come first
MOST_HOSTS: Final = 8


@dataclass(frozen=True, slots=True, eq=False)
class TrayRow:
    """A row of a tray: a host, or machines that are placed nowhere where ``host`` is empty."""

    host: str
    title: str
    tray: int


@dataclass(frozen=True, slots=True, eq=False)
class Trays:
    """All trays of a picture, in scene units.

    Parameters
    ----------
    rect : (t, 4)
    box : (t,) the box each tray belongs to, −1 for that of machines that stand nowhere
    row_rect, head : (r, 4) and (r,) rows, and width of their titles
    chip_rect : (c, 4)
    row_of : (c,) the row of each chip
    more : by tray how many hosts it leaves out
    gpu_box, gpu_text : GPUs that machines use, and by which
    cut, fenced : (k,) connections that are switched off, and those that no longer lead everywhere
    one_host : the host a box represents, where it is one
    """

    machines: Machines
    rect: Float
    box: Int
    row_rect: Float
    rows: tuple[TrayRow, ...]
    head: Float
    chip_rect: Float
    chips: tuple[Chip, ...]
    row_of: Int
    more: tuple[int, ...]
    gpu_box: Int
    gpu_text: tuple[str, ...]
    gpu_users: tuple[frozenset[str], ...]
    cut: Int
    fenced: Int
    one_host: dict[int, str]

    def chip_at(self, x: float, y: float) -> int:
        """Number of the chip at a point; −1 for none."""
        return _rect_at(self.chip_rect, x, y)

    def nearest_chip(self, x: float, y: float) -> int:
        """Number of the chip nearest to a point of a tray, for trays too small to show them; −1 next to every tray."""
        tray = _rect_at(self.rect, x, y)
        mine = np.array([row.tray == tray for row in self.rows], dtype=bool)[self.row_of]
        chosen = np.flatnonzero(mine) if tray >= 0 else np.empty(0, dtype=np.int64)
        if not len(chosen):
            return -1
        left, top, wide, high = self.chip_rect[chosen].T
        across = np.maximum(np.maximum(left - x, x - left - wide), 0.0)
        down = np.maximum(np.maximum(top - y, y - top - high), 0.0)
        return int(chosen[np.argmin(across**2 + down**2)])

    def row_at(self, x: float, y: float) -> int:
        """Number of the row at a point; −1 for none."""
        return _rect_at(self.row_rect, x, y)

    @property
    def bounds(self) -> Rect:
        """The rectangle around all, with room below for the legend."""
        x, y, width, height = bounds_of(self.rect)
        return x, y, width, height + _BELOW

    def gpus_of(self, vm_id: str) -> Int:
        """Boxes of the GPUs a machine uses. : (k,)"""
        return self.gpu_box[[vm_id in users for users in self.gpu_users]] if len(self.gpu_box) else self.gpu_box


def _rect_at(rects: Float, x: float, y: float) -> int:
    inside = (
        (rects[:, 0] <= x) & (x <= rects[:, 0] + rects[:, 2]) & (rects[:, 1] <= y) & (y <= rects[:, 1] + rects[:, 3])
    )
    found = np.flatnonzero(inside)
    return int(found[-1]) if len(found) else -1


def lay_trays(machines: Machines, geometry: Geometry, index: RectIndex, cut: Int, fenced: Int) -> Trays | None:
    """The trays of a picture; None without machines.

    Parameters
    ----------
    cut, fenced : (k,) connections that are switched off, and those that no longer lead everywhere
    """
    if not machines.nowhere and not any(row.chips for row in machines.hosts):
        return None
    by_box: dict[int, list[HostRow]] = {}
    standing: dict[int, list[str]] = {}
    for host in machines.hosts:
        box = _box(geometry, host.path)
        if box >= 0:
            standing.setdefault(box, []).append(host.path)
            by_box.setdefault(_outermost(geometry, box), []).append(host)
    made = _Made(geometry, index, len(by_box) + 1)
    for box, hosts in sorted(by_box.items()):
        if any(host.chips for host in hosts) or len(by_box) <= MOST_HOSTS:
            made.add(box, hosts)
    if machines.nowhere:
        made.add_nowhere(machines.nowhere)
    one = {box: paths[0] for box, paths in standing.items() if len(paths) == 1}
    gpus = _gpus(machines, geometry)
    return Trays(
        machines,
        _rects(made.rect),
        np.array(made.box, dtype=np.int64),
        _rects(made.row_rect),
        tuple(made.rows),
        np.array(made.head),
        _rects(made.chip_rect),
        tuple(made.chips),
        np.array(made.row_of, dtype=np.int64),
        tuple(made.more),
        np.array(list(gpus), dtype=np.int64),
        tuple(next(iter(u.values())) if len(u) == 1 else f"{len(u)} VMs" for u in gpus.values()),
        tuple(frozenset(u) for u in gpus.values()),
        cut,
        fenced,
        one,
    )


def _rects(rows: Sequence[Rect]) -> Float:
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def _box(geometry: Geometry, path: str) -> int:
    """The box of a host, else that of the innermost group drawn around it; −1 if there is none."""
    try:
        within, name = split_path(path)
    except DocumentError:
        return -1
    found = box_of(geometry, (within, Ref("parts", name)))
    while found is None and within:
        within, (group, _) = within[:-1], within[-1]
        found = box_of(geometry, (within, Ref("groups", group)))
    return -1 if found is None else found


def _outermost(geometry: Geometry, box: int) -> int:
    """The open group around a host that shows it: the tray is next to that."""
    above = int(geometry.parent[box])
    while above >= 0 and geometry.is_group[above]:
        box, above = above, int(geometry.parent[above])
    return box


def _gpus(machines: Machines, geometry: Geometry) -> dict[int, dict[str, str]]:
    """Machines by id, with their names, on each box of a GPU."""
    found: dict[int, dict[str, str]] = {}
    for row in machines.hosts:
        for chip in row.chips:
            for path in chip.gpus:
                try:
                    within, name = split_path(path)
                except DocumentError:
                    continue
                box = box_of(geometry, (within, Ref("parts", name)))
                if box is not None:
                    found.setdefault(box, {})[chip.id] = chip.title
    return dict(sorted(found.items()))


def chip_width(chip: Chip) -> float:
    """Width of a chip [scene units]."""
    wide = SLACK * (text_width(chip.title, NAME_PX, True) + text_width(chip.detail, DETAIL_PX)) + 3 * PAD
    return min(_CHIP_MOST, float(np.ceil(wide / _STEP)) * _STEP)


class _Made:
    """Trays being laid."""

    def __init__(self, geometry: Geometry, index: RectIndex, most: int) -> None:
        self.geometry, self.index = geometry, index
        self._laid = np.empty((most, 4))
        self.rect: list[Rect] = []
        self.box: list[int] = []
        self.row_rect: list[Rect] = []
        self.rows: list[TrayRow] = []
        self.head: list[float] = []
        self.chip_rect: list[Rect] = []
        self.chips: list[Chip] = []
        self.row_of: list[int] = []
        self.more: list[int] = []

    def add(self, box: int, hosts: Sequence[HostRow]) -> None:
        """The tray of a box."""
        order = sorted(range(len(hosts)), key=lambda k: (not hosts[k].chips, k))[:MOST_HOSTS]
        shown = [hosts[k] for k in sorted(order)]
        own = self.geometry.rect[box].tolist()
        alone = len(hosts) == 1
        named = [(h.path, "" if alone else h.title, h.chips) for h in shown]
        self._tray(box, (own[0], own[1], own[2], own[3]), named, len(hosts) - len(shown))

    def add_nowhere(self, chips: Sequence[Chip]) -> None:
        """The tray of machines that are placed nowhere, below everything."""
        around = np.concatenate([self.geometry.rect, _rects(self.rect)])
        x, y, width, height = bounds_of(around)
        self._tray(-1, (x, y + height + PAD, width, 0.0), [("", "not placed", tuple(chips))], 0)

    def _tray(self, box: int, own: Rect, named: Sequence[tuple[str, str, tuple[Chip, ...]]], more: int) -> None:
        head = max(
            (min(_HEAD_MOST, SLACK * text_width(title, NAME_PX, True)) + 2.5 * PAD for _, title, _ in named if title),
            default=PAD,
        )
        room = min(max(own[2], _TRAY_LEAST), 2 * _TRAY_LEAST) - head - PAD
        spots = [_spread(chips, room) for _, _, chips in named]
        wide = max((x + w for chips, _ in spots for x, _, w in chips), default=80.0)
        width = max(head + wide + PAD, 120.0)
        heights = [ROW * lines for _, lines in spots]
        height = sum(heights) + (ROW * 0.7 if more else 0.0)
        left, top = self._spot(box, own, width, height)
        self._laid[len(self.rect)] = (left, top, width, height)
        self.rect.append((left, top, width, height))
        self.box.append(box)
        self.more.append(more)
        y = top
        for (host, title, chips), (places, _), high in zip(named, spots, heights, strict=True):
            number = len(self.rows)
            self.rows.append(TrayRow(host, title, len(self.rect) - 1))
            self.row_rect.append((left, y, width, high))
            self.head.append(head)
            for chip, (x, line, w) in zip(chips, places, strict=True):
                self.chip_rect.append((left + head + x, y + line * ROW + (ROW - CHIP) / 2, w, CHIP))
                self.chips.append(chip)
                self.row_of.append(number)
            y += high

    def _spot(self, box: int, own: Rect, width: float, height: float) -> tuple[float, float]:
        """Below the box, or on the side where least is covered."""
        x, y, w, h = own
        middle = round((x + (w - width) / 2) / _STEP) * _STEP
        places = [
            (middle, y + h + _AWAY),
            (x + w + 2 * _AWAY, y),
            (middle, y - height - 2 * _AWAY),
            (x - width - _AWAY, y),
        ]
        if box < 0:
            return places[0]
        covered: list[float] = []
        for left, top in places:
            covered.append(self._covered_area(box, (left, top, width, height)))
            if not covered[-1]:
                break
        return places[covered.index(min(covered))]

    def _covered_area(self, box: int, rect: Rect) -> float:
        """Area of boxes and trays a rectangle would cover; what the box is in does not count."""
        others = self.index.touching(*rect)
        around: set[int] = set()
        above = int(self.geometry.parent[box])
        while above >= 0:
            around.add(above)
            above = int(self.geometry.parent[above])
        rects = self.geometry.rect[[o for o in others.tolist() if o not in around]]
        rects = np.concatenate([rects.reshape(-1, 4), self._laid[: len(self.rect)]])
        wide = np.minimum(rects[:, 0] + rects[:, 2], rect[0] + rect[2]) - np.maximum(rects[:, 0], rect[0])
        high = np.minimum(rects[:, 1] + rects[:, 3], rect[1] + rect[3]) - np.maximum(rects[:, 1], rect[1])
        return float((np.maximum(wide, 0) * np.maximum(high, 0)).sum())


def _spread(chips: Sequence[Chip], room: float) -> tuple[list[tuple[float, int, float]], int]:
    """Left edge, line and width of each chip, and how many lines they take."""
    places: list[tuple[float, int, float]] = []
    x, line = 0.0, 0
    for chip in chips:
        width = chip_width(chip)
        if x and x + width > room:
            x, line = 0.0, line + 1
        places.append((x, line, width))
        x += width + _GAP
    return places, line + 1


# Which box of a picture shows a thing of the design. No Qt.


def shown_address(geometry: Geometry, within: Address) -> Address:
    """The address under which a block is drawn: of a member where one is chosen."""
    if within in geometry.blocks or not within:
        return within
    for shown in geometry.blocks:
        if len(shown) == len(within) and all(a[0] == b[0] for a, b in zip(shown, within, strict=True)):
            return shown
    return within


def box_of(geometry: Geometry, picked: tuple[Address, Ref]) -> int | None:
    """Number of the box that shows a thing; None if it is not drawn."""
    within, ref = picked
    if not within and ref.what in ("parts", "groups"):
        own = geometry.boxes.own.get(ref, -1)
        box = own + _frames_behind(geometry.design) if own >= 0 else -1
        return box if box >= 0 and geometry.refs[box] == ref else None
    return geometry.box_of(shown_address(geometry, within), ref)


@memo(most=4)
def _frames_behind(design: Design) -> int:
    """How many frames are drawn before the first part."""
    return sum(1 for a in design.annotations.values() if a.style == "frame")
