"""What is under a point of the scene: a box, its header, a connection or its end. No Qt."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability, part_kinds
from designer.design.arrange.sizes import HEADER
from designer.drawing.levels import Level
from designer.drawing.polylines import distances, straights
from designer.drawing.view_state import ViewState

Int = npt.NDArray[np.int64]

#: boxes smaller than this on screen are not hit, their container is [px]
_SMALLEST: Final = 3.0
#: a connection is hit within this distance, a handle within that one [px]
CONNECTION_REACH: Final = 6.0
HANDLE_REACH: Final = 9.0
#: side of a grip in the corner of what can be resized [px]
GRIP: Final = 10.0


class Area(Enum):
    """Which part of a thing was hit."""

    NOTHING = "nothing"
    CARD = "card"
    HEADER = "header"
    FOLD = "fold"  #: the mark in a header that closes a container
    BODY = "body"  #: the ground of an open container
    CONNECTION = "connection"
    CONNECTION_A = "connection_a"  #: the end of a connection
    CONNECTION_B = "connection_b"


class Hit(NamedTuple):
    """What kind of thing was hit, and the number of the box or connection."""

    area: Area
    number: int = -1

    @property
    def is_connection(self) -> bool:
        """True if it is a connection."""
        return self.area in (Area.CONNECTION, Area.CONNECTION_A, Area.CONNECTION_B)

    @property
    def is_box(self) -> bool:
        """True if it is a box."""
        return self.area in (Area.CARD, Area.HEADER, Area.FOLD, Area.BODY)


NOTHING: Final = Hit(Area.NOTHING)


def pick(view_state: ViewState, x: float, y: float, scale: float, level: Level, ends: bool = True) -> Hit:
    """What is at a point of the scene; `scale` is logical pixels per scene unit."""
    box = box_at(view_state, x, y, scale)
    geometry = view_state.geometry
    ground = box < 0 or bool(geometry.is_container[box]) or bool(view_state.boxes.is_frame[box])
    if not ground:
        return Hit(Area.CARD, box)
    header = _header(view_state, box, x, y, scale) if box >= 0 else None
    if header is not None:
        return Hit(header, box)
    connection = connection_at(view_state, x, y, scale, level)
    if connection >= 0:
        return Hit(_end(view_state, connection, x, y, scale) if ends else Area.CONNECTION, connection)
    return Hit(Area.BODY, box) if box >= 0 else NOTHING


def box_at(
    view_state: ViewState, x: float, y: float, scale: float, without: npt.NDArray[np.bool_] | None = None
) -> int:
    """The innermost box at a point that is large enough to be seen; −1 on empty canvas."""
    found = view_state.boxes.index.at(x, y)
    if without is not None:
        found = found[~without[found]]
    if not len(found):
        return -1
    rect, parent = view_state.geometry.rect, view_state.geometry.parent
    seen = (rect[found, 2:].max(axis=1) * scale >= _SMALLEST) | (parent[found] < 0)
    found = found[seen]
    return int(found[-1]) if len(found) else -1


def container_at(view_state: ViewState, x: float, y: float, without: npt.NDArray[np.bool_] | None = None) -> int:
    """The innermost open container at a point; −1 for the canvas itself."""
    found = view_state.boxes.index.at(x, y)
    if without is not None:
        found = found[~without[found]]
    found = found[view_state.geometry.is_container[found]]
    return int(found[-1]) if len(found) else -1


def container_for(
    view_state: ViewState, x: float, y: float, kinds: Collection[str], without: npt.NDArray[np.bool_] | None = None
) -> int:
    """What would take in parts of some kinds at a point: a server or rack that is there still empty, drawn as a
    card, else the innermost open container; −1 for the canvas itself.
    """
    card = box_at(view_state, x, y, np.inf, without)
    if card >= 0 and view_state.boxes.is_card[card] and view_state.geometry.refs[card].what == "parts":
        geometry = view_state.geometry
        kind = part_kinds().get(geometry.kinds[int(geometry.kind[card])])
        empty = not getattr(geometry.thing(card), "collapsed", False)
        holds = kind is not None and Capability.CONTAIN in kind.capabilities
        if kind is not None and holds and empty and kinds and all(k in kind.contains for k in kinds):
            return card
    return container_at(view_state, x, y, without)


def connection_at(
    view_state: ViewState, x: float, y: float, scale: float, level: Level, reach: float = CONNECTION_REACH
) -> int:
    """The connection nearest to a point within reach; −1 if there is none."""
    slack = reach / scale
    if level is Level.FAR:
        return _far_connection(view_state, x, y, scale, slack)
    connections, lines = view_state.straights_touching(x - slack, y - slack, 2 * slack, 2 * slack)
    if not len(connections):
        return -1
    gaps = distances(lines, x, y)
    # of connections equally near, the one drawn last
    at = len(gaps) - 1 - int(gaps[::-1].argmin())
    return int(connections[at]) if gaps[at] <= slack else -1


def _far_connection(view_state: ViewState, x: float, y: float, scale: float, slack: float) -> int:
    cut = view_state.cut(round(np.log2(scale)))
    if not len(cut) or len(cut) > 20_000:
        return -1
    owner, lines = straights(cut.route)
    gaps = distances(lines, x, y)
    at = int(gaps.argmin())
    return int(cut.connections[cut.first[owner[at]]]) if gaps[at] <= slack else -1


def _end(view_state: ViewState, connection: int, x: float, y: float, scale: float) -> Area:
    route = view_state.geometry.connection_route[connection]
    reach = HANDLE_REACH / scale
    for area, point in ((Area.CONNECTION_A, route[0]), (Area.CONNECTION_B, route[-1])):
        if abs(point[0] - x) <= reach and abs(point[1] - y) <= reach:
            return area
    return Area.CONNECTION


def _header(view_state: ViewState, box: int, x: float, y: float, scale: float) -> Area | None:
    left, top, width, _ = view_state.geometry.rect[box].tolist()
    high = max(HEADER, 14 / scale)
    if y > top + high:
        return None
    if view_state.boxes.is_frame[box]:
        return Area.HEADER
    return Area.FOLD if x <= left + min(max(28, 22 / scale), width / 3) else Area.HEADER


def inside(view_state: ViewState, x: float, y: float, width: float, height: float, touch: bool) -> Int:
    """Boxes a rubber band selects: what it touches, or only what it encloses; open containers only if enclosed."""
    found = view_state.boxes.index.touching(x, y, width, height)
    rect = view_state.geometry.rect[found]
    enclosed = (
        (rect[:, 0] >= x)
        & (rect[:, 1] >= y)
        & (rect[:, 0] + rect[:, 2] <= x + width)
        & (rect[:, 1] + rect[:, 3] <= y + height)
    )
    ground = view_state.geometry.is_container[found] | view_state.boxes.is_frame[found]
    chosen = found[enclosed | (~ground & touch)]
    # what is in a chosen container goes with it
    taken = np.zeros(len(view_state.geometry), dtype=bool)
    taken[chosen] = True
    above = view_state.geometry.parent[chosen]
    covered = np.zeros(len(chosen), dtype=bool)
    while (above >= 0).any():
        covered |= (above >= 0) & taken[np.maximum(above, 0)]
        above = np.where(above >= 0, view_state.geometry.parent[np.maximum(above, 0)], -1)
    return chosen[~covered]
