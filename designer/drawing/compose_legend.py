"""The legend: what colours and marks mean. No Qt."""

from __future__ import annotations

from typing import Final

import numpy as np

from designer.drawing.batches import Batch, Boxes, Label, Labels, Lines, Rects
from designer.drawing.compose_boxes import faded
from designer.drawing.fonts import text_width
from designer.drawing.theme import STEPS
from designer.drawing.view_state import Frame, ViewState

#: width of a sample, between it and its word, and of the word for a bottleneck with the gap behind it [px]
_SIGN: Final = 22
_GAP: Final = 5
_BOTTLENECK: Final = 84


def legend_marks(view_state: ViewState) -> tuple[bool, bool]:
    """Whether anything binds, and whether any capacity is assumed: the legend tells what the marks for it mean."""
    bottleneck = bool(view_state.loads.bottleneck.any()) or bool(view_state.loads.box_bottleneck.any())
    return bottleneck, bool(view_state.loads.assumed.any())


def legend(view_state: ViewState, frame: Frame) -> tuple[list[Batch], int, int]:
    """The scale of utilisation and what the marks mean, and its width and height; says so while results are stale.
    Nothing without loads.
    """
    theme, r = view_state.theme, frame.ratio
    if not view_state.loads.known:
        return [], 0, 0
    px = round(12 * r)
    cell_w, cell_h, pad = round(38 * r), round(9 * r), round(9 * r)
    count = len(theme.heat)
    marks = legend_marks(view_state)
    line = round(px * 1.6)
    room = round((2 * _SIGN + _GAP + _BOTTLENECK + text_width("capacity assumed", 12)) * r) if all(marks) else 0
    wide, high = max(count * cell_w, room) + 2 * pad, cell_h + round(px * 2.9) + pad + any(marks) * line
    plate = Boxes(
        np.array([[0, 0, wide, high]], dtype=np.float64), theme.pill, theme.container_edges[0], 1, round(5 * r)
    )
    found: list[Batch] = [plate]
    text = (
        (view_state.loads.title or "Utilisation of the busier direction")
        if not view_state.stale
        else "Utilisation, out of date"
    )
    labels = [Label(pad, pad * 0.6, wide - 2 * pad, px * 1.4, text, px, theme.muted)]
    y = round(pad * 0.6 + px * 1.6)
    for k, colour in enumerate(theme.heat):
        x = pad + k * cell_w
        found.append(Rects(np.array([[x, y, cell_w - round(r), cell_h]], dtype=np.float64), faded(view_state, colour)))
        if k:
            share = f"{STEPS[k - 1] * 100:.0f} %"
            at = (x - cell_w / 2, y + cell_h + 1, cell_w, px * 1.4)
            labels.append(Label(*at, share, px, theme.muted, False, "center"))
    if any(marks):
        found += _keys(view_state, frame, marks, (pad, y + cell_h + round(px * 1.7)), labels)
    found.append(Labels(tuple(labels)))
    return found, wide, high


def _keys(
    view_state: ViewState, frame: Frame, marks: tuple[bool, bool], at: tuple[float, float], labels: list[Label]
) -> list[Batch]:
    """What a mark on a connection and a dashed connection mean, side by side."""
    theme, r = view_state.theme, frame.ratio
    px, tall, sign = round(12 * r), round(16 * r), round(_SIGN * r)
    x, y = at
    found: list[Batch] = []
    if marks[0]:
        size = int(9 * r) | 1
        dot = np.array([[x + (sign - size) / 2, y + (tall - size) / 2, size, size]]).round()
        bar = np.array([[x, y + tall / 2 - 3 * r, sign, 6 * r]]).round()
        found += [Rects(bar, theme.bottleneck + "58"), Boxes(dot, theme.bottleneck, theme.bottleneck, 0, size // 2)]
        labels.append(Label(x + sign + _GAP * r, y, _BOTTLENECK * r, tall, "bottleneck", px, theme.muted))
        x += sign + _BOTTLENECK * r
    if marks[1]:
        middle = round(y + tall / 2)
        stroke = np.array([[x, middle, x + sign, middle]], dtype=np.float64)
        found.append(Lines(stroke, theme.muted, 2 * r, (4 * r, 3 * r), False))
        labels.append(Label(x + sign + _GAP * r, y, 130 * r, tall, "capacity assumed", px, theme.muted))
    return found
