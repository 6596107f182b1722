"""Where the eye is: scale and offset between scene and view. No Qt.

``view = scene · scale + offset``; scene units are pixels at 1:1, view units logical pixels of the widget.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
Rect = tuple[float, float, float, float]

#: around a whole design [px]
_MARGIN: Final = 16
#: no design is shown larger than this when it is shown whole
_LARGEST: Final = 1.5
MIN_SCALE: Final = 0.0005
MAX_SCALE: Final = 4.0


@dataclass(frozen=True, slots=True)
class View:
    """Scale and offset of a view that is ``width`` × ``height`` logical pixels large."""

    scale: float = 1.0
    x: float = 0.0
    y: float = 0.0
    width: int = 800
    height: int = 600

    def to_scene(self, x: float, y: float) -> tuple[float, float]:
        """The scene point under a view point."""
        return (x - self.x) / self.scale, (y - self.y) / self.scale

    def to_view(self, x: float, y: float) -> tuple[float, float]:
        """The view point of a scene point."""
        return x * self.scale + self.x, y * self.scale + self.y

    def visible(self, margin: float = 0.0) -> Rect:
        """The scene rectangle in sight, with a margin in view pixels: x, y, width, height."""
        x, y = self.to_scene(-margin, -margin)
        return x, y, (self.width + 2 * margin) / self.scale, (self.height + 2 * margin) / self.scale

    def sized(self, width: int, height: int) -> View:
        """The same place in a view of another size."""
        return replace(self, width=max(1, width), height=max(1, height))

    def panned(self, dx: float, dy: float) -> View:
        """Moved by view pixels."""
        return replace(self, x=self.x + dx, y=self.y + dy)

    def zoomed(self, factor: float, at_x: float, at_y: float) -> View:
        """Zoomed so that what is under a view point stays there."""
        scale = min(MAX_SCALE, max(MIN_SCALE, self.scale * factor))
        ratio = scale / self.scale
        return replace(self, scale=scale, x=at_x - (at_x - self.x) * ratio, y=at_y - (at_y - self.y) * ratio)

    def fitted(self, rect: Rect, margin: float = 40.0, largest: float = 1.0) -> View:
        """The view that shows a scene rectangle whole and centred, no larger than ``largest``."""
        x, y, width, height = rect
        room_x, room_y = max(1.0, self.width - 2 * margin), max(1.0, self.height - 2 * margin)
        scale = min(largest, room_x / max(width, 1e-9), room_y / max(height, 1e-9))
        scale = min(MAX_SCALE, max(MIN_SCALE, scale))
        return replace(
            self,
            scale=scale,
            x=self.width / 2 - (x + width / 2) * scale,
            y=self.height / 2 - (y + height / 2) * scale,
        )

    def whole(self, rect: Rect, free: tuple[int, int, int, int] = (0, 0, 0, 0)) -> View:
        """The view of a whole design, clear of what lies over the view at its left, top, right and bottom [px]."""
        left, top, right, bottom = free
        target = self.sized(self.width - left - right, self.height - top - bottom).fitted(rect, _MARGIN, _LARGEST)
        return replace(target.panned(left, top), width=self.width, height=self.height)

    def revealing(self, rect: Rect, margin: float = 24.0) -> View:
        """Moved as little as needed to show a scene rectangle; itself if it is in sight."""
        left, top = self.to_view(rect[0], rect[1])
        right, bottom = self.to_view(rect[0] + rect[2], rect[1] + rect[3])
        dx = _shift(left, right, self.width, margin)
        dy = _shift(top, bottom, self.height, margin)
        return self.panned(dx, dy) if dx or dy else self

    def between(self, other: View, share: float) -> View:
        """A view on the way to another one: scale moves geometrically, the centre with it."""
        scale = self.scale * (other.scale / self.scale) ** share
        a = self.to_scene(self.width / 2, self.height / 2)
        b = other.to_scene(other.width / 2, other.height / 2)
        # the centre moves as the scale does, so that the target does not swing through the view
        if abs(other.scale - self.scale) > 1e-9 * self.scale:
            weight = (1 / self.scale - 1 / scale) / (1 / self.scale - 1 / other.scale)
        else:
            weight = share
        cx, cy = a[0] + (b[0] - a[0]) * weight, a[1] + (b[1] - a[1]) * weight
        return replace(self, scale=scale, x=self.width / 2 - cx * scale, y=self.height / 2 - cy * scale)


def _shift(low: float, high: float, extent: float, margin: float) -> float:
    if high - low > extent - 2 * margin:
        return margin - low if low > margin or high < extent - margin else 0.0
    if low < margin:
        return margin - low
    return extent - margin - high if high > extent - margin else 0.0


def bounds_of(rects: Float) -> Rect:
    """The rectangle around all rectangles. : (n, 4) x, y, width, height → x, y, width, height"""
    if not len(rects):
        return 0.0, 0.0, 0.0, 0.0
    x, y = float(rects[:, 0].min()), float(rects[:, 1].min())
    return x, y, float((rects[:, 0] + rects[:, 2]).max()) - x, float((rects[:, 1] + rects[:, 3]).max()) - y
