"""Extents of cards and the distances between them, in scene units (pixels at 1:1), all on one grid."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

#: everything placed automatically is on this grid
GRID: Final = 8
#: between the border of a container and what it holds; on top of it comes the header with the title
PADDING: Final = 24
HEADER: Final = 32
#: between neighbours in a row, and between rows joined by links
GAP: Final = 24
ROW_GAP: Final = 56
#: a group stays at least this wide when it is open, so that its title can be read
OPEN_GROUP: Final = (240, 96)
#: extent of the card of a closed group
GROUP: Final = (208, 80)
#: extent of an empty container, and of a closed one
CONTAINER: Final = (184, 80)
_CARDS: Final = {
    "cpu": (152, 64),
    "numa": (120, 48),
    "memory": (152, 48),
    "pcie_switch": (120, 48),
    "gpu": (112, 64),
    "nvswitch": (128, 48),
    "nic": (96, 48),
    "dpu": (104, 48),
    "drive": (96, 48),
    "switch": (168, 64),
    "storage": (176, 80),
    "server": CONTAINER,
    "rack": CONTAINER,
    "note": (200, 72),
    "frame": (400, 240),
}
_OTHER: Final = (128, 48)


def card_size(kind: str) -> tuple[int, int]:
    """Width and height of the card of a part of this kind, when its document gives none."""
    return _CARDS.get(kind, _OTHER)


#: how far a link around the things of a row swings out: at least, and per distance, at most
_BOW: Final = (20.0, 0.16, 160.0)


def bow_swing(distance: float) -> float:
    """Room for links around what is between two things `distance` apart in a row, scene units."""
    least, share, most = _BOW
    return min(least + share * distance, most)


def grid_up(value: float) -> int:
    """The multiple of the grid at or above `value`."""
    return -int(-value // GRID) * GRID


def grid_down(value: float) -> int:
    """The multiple of the grid at or below `value`."""
    return int(value // GRID) * GRID


Corner = tuple[float, float]


def fitted(boxes: Iterable[tuple[float, float, float, float]], least: Corner) -> tuple[Corner, Corner]:
    """Top left and bottom right corner of a container that shows `boxes` (left, top, right, bottom).

    Both count from where the positions of the contents count from; the first is (0, 0) unless something is left
    of or above that.
    """
    low_x = low_y = 0.0
    high_x, high_y = least
    for left, top, right, bottom in boxes:
        low_x, low_y = min(low_x, left - PADDING), min(low_y, top - PADDING - HEADER)
        high_x, high_y = max(high_x, right + PADDING), max(high_y, bottom + PADDING)
    return (low_x, low_y), (high_x, high_y)
