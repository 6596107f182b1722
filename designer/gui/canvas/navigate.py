"""Moving from box to box with the keyboard: the next one, and the nearest in a direction. No Qt."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from designer.drawing.view_state import ViewState

Direction = Literal["left", "right", "up", "down"]
_STEPS: Final[dict[Direction, tuple[float, float]]] = {
    "left": (-1.0, 0.0),
    "right": (1.0, 0.0),
    "up": (0.0, -1.0),
    "down": (0.0, 1.0),
}
#: how much a way to the side counts more than one ahead
_ASIDE: Final = 2.5


def nearest(view_state: ViewState, start: int, direction: Direction) -> int:
    """The box nearest to `start` in a direction, cards before containers; `start` itself if there is none."""
    geometry = view_state.geometry
    rect = geometry.rect
    centre = rect[:, :2] + rect[:, 2:] / 2
    dx, dy = _STEPS[direction]
    ahead = (centre[:, 0] - centre[start, 0]) * dx + (centre[:, 1] - centre[start, 1]) * dy
    aside = np.abs((centre[:, 0] - centre[start, 0]) * dy) + np.abs((centre[:, 1] - centre[start, 1]) * dx)
    around = np.zeros(len(geometry), dtype=bool)
    above = int(geometry.parent[start])
    while above >= 0:
        around[above] = True
        above = int(geometry.parent[above])
    around[start : int(geometry.last[start])] = True
    # what a container holds is nearer than the container
    ground = geometry.is_container & (geometry.last > np.arange(len(geometry)) + 1)
    allowed = (ahead > 1.0) & ~around & ~ground & ~view_state.boxes.is_frame
    if not allowed.any():
        return start
    cost = np.where(allowed, ahead + _ASIDE * aside, np.inf)
    return int(cost.argmin())


def following(view_state: ViewState, start: int | None, back: bool = False) -> int:
    """The next box in the order of the outline, or the one before; round at the ends. −1 in an empty picture."""
    count = len(view_state.geometry)
    if not count:
        return -1
    if start is None:
        return count - 1 if back else 0
    return (start + (-1 if back else 1)) % count


def first_inside(view_state: ViewState, box: int) -> int | None:
    """The first box in an open container; None for anything else."""
    inner = box + 1
    return inner if inner < int(view_state.geometry.last[box]) else None
