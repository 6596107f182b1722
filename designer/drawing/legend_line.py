"""The legend below a picture: kinds of links, widths, utilisation, what dashes mean. No Qt."""

from __future__ import annotations

from typing import Final

import numpy as np

from designer.catalog.parttype import link_kinds
from designer.drawing.batches import Batch, Label, Labels, Lines, Rects
from designer.drawing.compose_connections import width_of
from designer.drawing.fonts import text_width
from designer.drawing.theme import DASH, STEPS
from designer.drawing.view_state import ViewState
from designer.units import format_quantity

_SIZE: Final = 12
_ROW: Final = 26.0
_SAMPLE: Final = 28.0
#: capacities whose widths are shown [B/s]
_WIDTHS: Final = (1e9, 1e10, 1e11, 1e12)
#: width of a colour of the scale
_CELL: Final = 38.0


class _Line:
    """Parts of the legend, row by row, from a corner on in rows of a width."""

    def __init__(self, view_state: ViewState, x: float, y: float, width: float) -> None:
        self.theme, self.width = view_state.theme, width
        self.corner, self.at, self.row = (x, y), 0.0, 0
        self.batches: list[Batch] = []
        self.labels: list[Label] = []

    @property
    def height(self) -> float:
        """Of all rows; 0 where there is nothing."""
        return (self.row + 1) * _ROW if self.batches or self.labels else 0.0

    def begin(self, extent: float) -> tuple[float, float]:
        """Corner of the next part."""
        if self.at > 0 and self.at + extent > self.width:
            self.at, self.row = 0.0, self.row + 1
        x, y = self.corner[0] + self.at, self.corner[1] + self.row * _ROW
        self.at += extent + 24
        return x, y

    def text(self, x: float, y: float, text: str) -> None:
        """A text beside a sample."""
        wide = text_width(text, _SIZE) + 2
        self.labels.append(Label(x, y, wide, 16, text, _SIZE, self.theme.muted))

    def samples(self, rows: list[tuple[str, str, float, bool]]) -> None:
        """Lines with a text behind each: text, colour, width, dashed."""
        extents = [_SAMPLE + 8 + text_width(text, _SIZE) for text, *_ in rows]
        x, y = self.begin(sum(extents) + 14 * (len(rows) - 1))
        for (text, colour, width, dashed), extent in zip(rows, extents, strict=True):
            line = np.array([[x, y + 8, x + _SAMPLE, y + 8]])
            self.batches.append(Lines(line, colour, width, DASH if dashed else ()))
            self.text(x + _SAMPLE + 8, y, text)
            x += extent + 14


def legend_line(view_state: ViewState, x: float, y: float, width: float) -> tuple[list[Batch], float]:
    """The legend of a picture at 1:1 from (x, y) on, in rows of a width, and its height."""
    geometry, theme, loads = view_state.geometry, view_state.theme, view_state.loads
    seen = np.ones(geometry.n_connections, dtype=bool)
    if view_state.lifted_connections is not None:
        seen &= ~view_state.lifted_connections
    line = _Line(view_state, x, y, width)
    if seen.any():
        if loads.known:
            _scale(line, theme.heat)
        else:
            known = link_kinds()
            names: list[str] = [
                geometry.connection_kinds[k] for k in np.unique(geometry.connection_kind[seen]).tolist()
            ]
            order = {kind.name: kind.order for kind in known.values()}
            for name in sorted(names, key=lambda each: order.get(each, len(order) * 1000)):
                title = known[name].title if name in known else name
                line.samples([(title, theme.link(name), 3.0, False)])
        capacity = geometry.connection_capacity[seen]
        low, high = float(capacity.min()), float(capacity.max())
        shown = [c for c in _WIDTHS if low / 10 < c < high * 10] or [_WIDTHS[0]]
        widths = width_of(np.array(shown)).tolist()
        line.samples([(format_quantity(c, "rate"), theme.muted, w, False) for c, w in zip(shown, widths, strict=True)])
    if loads.assumed[seen].any():
        line.samples([("capacity assumed", theme.muted, 2.0, True)])
    return [*line.batches, Labels(tuple(line.labels))], line.height


def _scale(line: _Line, heat: tuple[str, ...]) -> None:
    """The colours of utilisation, and where each one begins."""
    text = "utilisation"
    left = text_width(text, _SIZE) + 8
    x, y = line.begin(left + len(heat) * _CELL)
    line.text(x, y, text)
    for k, colour in enumerate(heat):
        line.batches.append(Rects(np.array([[x + left + k * _CELL, y + 1, _CELL - 1, 6.0]]), colour))
        if k:
            share = f"{STEPS[k - 1] * 100:.0f} %"
            place = (x + left + (k - 0.5) * _CELL, y + 6, _CELL, 16.0)
            line.labels.append(Label(*place, share, _SIZE - 2, line.theme.muted, False, "center"))
