"""The legend of a picture: kinds of link, width, utilisation, what dashes mean."""

from __future__ import annotations

from typing import Final

import numpy as np

from designer.catalog.parttype import link_kinds
from designer.design.connection_paths import connection_width
from designer.design.geometry import STATUSES, Geometry
from designer.report.drawing.elements import Element, Label, Panel, Stroke
from designer.report.drawing.fonts import text_width
from designer.report.drawing.loads import Loads
from designer.report.drawing.palette import Palette
from designer.sources import Status
from designer.units import format_quantity

_SIZE: Final = 12.0
_ROW: Final = 26.0
_SAMPLE: Final = 28.0
#: capacities whose widths are shown [B/s]
_WIDTHS: Final = (1e9, 1e10, 1e11, 1e12)
_Part = tuple[list[Element], float]


def legend(
    geometry: Geometry, colours: Palette, loads: Loads | None, x: float, y: float, width: float
) -> tuple[list[Element], float]:
    """The elements of the legend from (x, y) on, in rows of a width, and its height."""
    parts = [] if not geometry.n_connections else [*_kinds(geometry, colours, loads), _widths(geometry, colours)]
    if (geometry.connection_status == STATUSES.index(Status.ASSUMED)).any():
        parts.append(_sample("assumed value", colours.surface["text_muted"], 2, colours, dashed=True))
    elements: list[Element] = []
    at, row = 0.0, 0
    for made, extent in parts:
        if at > 0 and at + extent > width:
            at, row = 0.0, row + 1
        elements += [_moved(e, x + at, y + row * _ROW) for e in made]
        at += extent + 24
    return elements, (row + 1) * _ROW if parts else 0.0


def _kinds(geometry: Geometry, colours: Palette, loads: Loads | None) -> list[_Part]:
    if loads is not None:
        return [_scale(colours)]
    known = link_kinds()
    names: list[str] = [geometry.connection_kinds[k] for k in np.unique(geometry.connection_kind).tolist()]
    order = {kind.name: kind.order for kind in known.values()}
    names = sorted(names, key=lambda name: order.get(name, len(order) * 1000))
    return [_sample(known[n].title if n in known else n, colours.link(n), 3, colours) for n in names]


def _sample(text: str, colour: str, width: float, colours: Palette, dashed: bool = False) -> _Part:
    line = Stroke(((0, 8), (_SAMPLE, 8)), colour, width, dashed=dashed)
    label = Label(_SAMPLE + 8, 12.4, text, _SIZE, colours.surface["text_muted"])
    return [line, label], _SAMPLE + 8 + text_width(text, _SIZE)


def _widths(geometry: Geometry, colours: Palette) -> _Part:
    low, high = float(geometry.connection_capacity.min()), float(geometry.connection_capacity.max())
    shown = [c for c in _WIDTHS if low / 10 < c < high * 10] or [_WIDTHS[0]]
    made: list[Element] = []
    x = 0.0
    for capacity, width in zip(shown, connection_width(np.array(shown)).tolist(), strict=True):
        text = format_quantity(capacity, "rate")
        made.append(Stroke(((x, 8), (x + _SAMPLE, 8)), colours.surface["text_muted"], width))
        made.append(Label(x + _SAMPLE + 6, 12.4, text, _SIZE, colours.surface["text_muted"]))
        x += _SAMPLE + 6 + text_width(text, _SIZE) + 14
    return made, x - 14


def _scale(colours: Palette) -> _Part:
    steps, cell = 24, 6.0
    text = "utilisation 0 %"
    left = text_width(text, _SIZE) + 8
    made: list[Element] = [Label(0, 12.4, text, _SIZE, colours.surface["text_muted"])]
    for n in range(steps):
        colour = colours.utilisation((n + 0.5) / steps)
        made.append(Panel(left + n * cell, 3, cell + 0.3, 10, 0, colour))
    right = left + steps * cell + 8
    made.append(Label(right, 12.4, "100 %", _SIZE, colours.surface["text_muted"]))
    return made, right + text_width("100 %", _SIZE)


def _moved(element: Element, dx: float, dy: float) -> Element:
    if isinstance(element, Stroke):
        return Stroke(
            tuple((x + dx, y + dy) for x, y in element.points), element.colour, element.width, element.curve,
            element.dashed, element.opacity,
        )  # fmt: skip
    if isinstance(element, Label):
        return Label(
            element.x + dx, element.y + dy, element.text, element.size, element.colour, element.bold, element.anchor
        )
    if isinstance(element, Panel):
        return Panel(
            element.x + dx, element.y + dy, element.width, element.height, element.radius, element.fill, element.stroke
        )
    raise AssertionError(element)
