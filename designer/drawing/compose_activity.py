"""What parts do at an instant of a run over time: how many of them compute, and how full their memory is. No Qt."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.drawing.batches import Batch, Rects
from designer.drawing.compose_boxes import faded
from designer.drawing.levels import Level
from designer.drawing.theme import mixed
from designer.drawing.view_state import Frame, ViewState

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: thickness of the bars, and how far they keep from the edge of the card, scene units
_THICK: Final = 4.0
_INSET: Final = 6.0
#: what the bar along the head of a card takes of it, scene units
HEAD: Final = _INSET + _THICK


def activity(view_state: ViewState, frame: Frame, boxes: Int) -> list[Batch]:
    """A bar along the head of each card that computes, and one up its right side for its memory; none from afar."""
    loads = view_state.loads
    if frame.level is Level.FAR or (loads.box_busy is None and loads.box_fill is None):
        return []
    cards = boxes[view_state.boxes.is_card[boxes]]
    found: list[Batch] = []
    accent = view_state.theme.accent("gpu")
    for shares, upright, colour in (
        (loads.box_busy, False, accent),
        (loads.box_fill, True, view_state.theme.accent("memory")),
    ):
        if shares is None or not len(cards):
            continue
        known = ~np.isnan(shares[cards])
        if not known.any():
            continue
        chosen = cards[known]
        share = np.clip(shares[chosen], 0.0, 1.0)
        tracks = _tracks(frame, frame.boxes(view_state.geometry.rect[chosen]), upright)
        bars = tracks.copy()
        if upright:
            bars[:, 3] = np.round(tracks[:, 3] * share)
            bars[:, 1] += tracks[:, 3] - bars[:, 3]
        else:
            bars[:, 2] = np.round(tracks[:, 2] * share)
        found.append(Rects(tracks, mixed(view_state.theme.card, colour, 0.22)))
        bars = bars[(bars[:, 2] > 0) & (bars[:, 3] > 0)]
        if len(bars):
            found.append(Rects(bars, faded(view_state, colour)))
    return found


def _tracks(frame: Frame, rects: Float, upright: bool) -> Float:
    """Where the bars of cards run when they are full. : (k, 4)"""
    thick = max(2.0 * frame.ratio, round(_THICK * frame.scale))
    inset = max(2.0 * frame.ratio, round(_INSET * frame.scale))
    tracks = rects.copy()
    if upright:
        tracks[:, 0] += rects[:, 2] - thick - inset / 2
        tracks[:, 1] += inset
        tracks[:, 2] = thick
        tracks[:, 3] = np.maximum(rects[:, 3] - 2 * inset, 1.0)
    else:
        tracks[:, 0] += inset
        tracks[:, 1] += inset / 2
        tracks[:, 2] = np.maximum(rects[:, 2] - 2 * inset, 1.0)
        tracks[:, 3] = thick
    return tracks
