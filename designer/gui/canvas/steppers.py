"""The two arrows in the header of an opened group that lead to its next member and the one before. No Qt."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.arrange.sizes import HEADER
from designer.drawing.batches import Batch, Boxes, Label, Labels
from designer.drawing.levels import Level
from designer.drawing.view_state import Frame, ViewState

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: smallest and largest side of an arrow, and the narrowest group that has them [px]
_SIDES: Final = (16.0, 26.0)
_NARROWEST: Final = 150.0
_SIGNS: Final = ("‹", "›")
#: what a header keeps free above its text [scene units]
_ABOVE: Final = 6.0


def step_marks(view_state: ViewState, frame: Frame) -> tuple[Int, Float]:
    """The opened groups that have arrows, and where these are: the one before, the next.

    Returns
    -------
    boxes, rects : (k,), (k, 2, 4) device pixels
    """
    groups = view_state.open_groups
    if frame.level is Level.FAR or not len(groups):
        return np.empty(0, dtype=np.int64), np.empty((0, 2, 4))
    rects = frame.boxes(view_state.geometry.rect[groups])
    wide = rects[:, 2] >= _NARROWEST * frame.ratio
    groups, rects = groups[wide], rects[wide]
    high = HEADER * frame.scale
    side = round(min(max(0.8 * high, _SIDES[0] * frame.ratio), _SIDES[1] * frame.ratio))
    top = rects[:, 1] + np.round(max(2 * frame.ratio, _ABOVE * frame.scale + (high - side) / 2))
    right = rects[:, 0] + rects[:, 2] - round(max(6 * frame.ratio, 12 * frame.scale))
    found = np.empty((len(groups), 2, 4))
    found[:, :, 1], found[:, :, 2:] = top[:, None], side
    found[:, 1, 0] = right - side
    found[:, 0, 0] = right - 2 * side - round(3 * frame.ratio)
    return groups, found


def step_at(view_state: ViewState, frame: Frame, x: float, y: float) -> tuple[int, int]:
    """The group whose arrow is at a point [px], and how many members it steps by; −1 and 0 for none."""
    groups, rects = step_marks(view_state, frame)
    hit = (rects[:, :, 0] <= x) & (x < rects[:, :, 0] + rects[:, :, 2])
    hit &= (rects[:, :, 1] <= y) & (y < rects[:, :, 1] + rects[:, :, 3])
    found = np.argwhere(hit)
    if not len(found):
        return -1, 0
    group, which = found[-1].tolist()
    return int(groups[group]), 1 if which else -1


def steppers(view_state: ViewState, frame: Frame, over: tuple[int, int] = (-1, 0)) -> list[Batch]:
    """The arrows of all opened groups, the one under the pointer brighter."""
    groups, rects = step_marks(view_state, frame)
    if not len(groups):
        return []
    theme = view_state.theme
    side = float(rects[0, 0, 2])
    px = round(0.8 * side)
    labels = [
        Label(x, y - 0.06 * side, w, h, sign, px, theme.header_text, True, "center")
        for pair in rects.tolist()
        for sign, (x, y, w, h) in zip(_SIGNS, pair, strict=True)
    ]
    radius = max(2, int(side // 5))
    found: list[Batch] = [Boxes(rects.reshape(-1, 4), theme.pill, theme.container_edges[0], 1, radius)]
    lit = rects[groups == over[0], int(over[1] > 0)]
    if len(lit):
        found.append(Boxes(lit, theme.pill, theme.selection, 1, radius))
    return [*found, Labels(tuple(labels))]
