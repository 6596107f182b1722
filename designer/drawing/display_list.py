"""A composed picture larger than the view, kept while the view moves over it.

What comes into sight while panning is looked up in the display list instead of being composed again: a mask over each
of
its arrays. It is made in the background, step by step, and dropped when anything changes. No Qt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from designer.drawing.batches import Batch, Glyphs, Labels, Lines
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame, Regions

Float = npt.NDArray[np.float64]


@dataclass(eq=False)
class DisplayList:
    """Batches of a region of a frame.

    Parameters
    ----------
    region
        What it covers, in device pixels of its frame.
    steps
        Makes the batches; used up by `grow`.
    """

    frame: Frame
    region: Rect
    steps: Iterator[list[Batch]]
    ready: bool = False
    _batches: list[Batch] = field(default_factory=list[Batch])
    _sides: list[Float] = field(default_factory=list[Float])
    _edges: Float = field(default_factory=lambda: np.empty((4, 0)))
    _starts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, dtype=np.int64))

    def grow(self) -> bool:
        """Take one step; True when the display list is ready."""
        found = next(self.steps, None)
        if found is None:
            self._finish()
        else:
            self._batches += [batch for batch in found if len(batch)]
            self._sides += [_sides(batch) for batch in found if len(batch)]
        return self.ready

    def _finish(self) -> None:
        """One array of the sides of everything, so that a query is a few calls however many batches there are."""
        self._edges = np.concatenate(self._sides, axis=1) if self._sides else np.empty((4, 0))
        self._starts = np.concatenate(([0], np.cumsum([s.shape[1] for s in self._sides]))).astype(np.int64)
        self._sides.clear()
        self.ready = True

    def covers(self, frame: Frame, regions: Regions) -> bool:
        """True if regions of a frame lie on it."""
        dx, dy = self._shift(frame)
        if not self.ready or self.frame.moved(dx, dy) != frame:
            return False
        x, y, width, height = self.region
        return all(
            r[0] - dx >= x and r[1] - dy >= y and r[0] - dx + r[2] <= x + width and r[1] - dy + r[3] <= y + height
            for r in regions
        )

    def suits(self, frame: Frame) -> bool:
        """True if it is, or will be, a display list of this scale."""
        return self.frame.moved(*self._shift(frame)) == frame

    def _shift(self, frame: Frame) -> tuple[int, int]:
        return frame.x - self.frame.x, frame.y - self.frame.y

    def cut(self, frame: Frame, regions: Regions) -> Iterator[Batch]:
        """What is to be drawn in regions of a frame, in coordinates of the display list; the painter moves them."""
        dx, dy = self._shift(frame)
        left, top, right, bottom = self._edges
        seen = np.zeros(len(left), dtype=bool)
        for x, y, width, height in regions:
            touched = left <= x - dx + width
            touched &= right >= x - dx
            touched &= top <= y - dy + height
            touched &= bottom >= y - dy
            seen |= touched
        chosen = np.flatnonzero(seen)
        cuts = np.searchsorted(chosen, self._starts).tolist()
        for k, batch in enumerate(self._batches):
            first, last = cuts[k], cuts[k + 1]
            if first < last:
                yield batch.taken(chosen[first:last] - self._starts[k])

    def shift(self, frame: Frame) -> tuple[int, int]:
        """How far its coordinates are from those of a frame [px]."""
        return self._shift(frame)


def _sides(batch: Batch) -> Float:
    """Left, top, right and bottom of everything in a batch, with what lines reach beyond it. : (4, n)"""
    if isinstance(batch, Lines):
        reach = batch.width / 2 + 1
        low = np.minimum(batch.lines[:, :2], batch.lines[:, 2:]) - reach
        high = np.maximum(batch.lines[:, :2], batch.lines[:, 2:]) + reach
    elif isinstance(batch, Glyphs):
        low, high = batch.places, batch.places + batch.size
    else:
        rects = np.array([label[:4] for label in batch.labels]) if isinstance(batch, Labels) else batch.rects
        low, high = rects[:, :2], rects[:, :2] + rects[:, 2:]
    return np.ascontiguousarray(np.concatenate((low, high), axis=1).T)
