"""A whole design as one picture, in full detail whatever a view shows: for files, reports and pages. No Qt."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import link_kinds
from designer.design.address import address_text
from designer.design.geometry import Geometry
from designer.drawing.batches import Batch, Label, Labels, Lines, Rects
from designer.drawing.compose_activity import activity
from designer.drawing.compose_badges import badges, bottleneck_glow, limit_frames
from designer.drawing.compose_boxes import cards, containers, grid_dots, meters, notes, plates, visible_boxes
from designer.drawing.compose_connections import connections, width_of
from designer.drawing.compose_text import texts
from designer.drawing.compose_values import bundles, values
from designer.drawing.compose_virtual_machines import virtual_machines
from designer.drawing.fonts import fitted_text, lines_of, text_width
from designer.drawing.levels import Level
from designer.drawing.loads import Loads, nothing
from designer.drawing.machines import machines_of
from designer.drawing.theme import DASH, STEPS, CanvasTheme
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame, Regions, ViewState
from designer.errors import DesignerError, ExchangeError
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
        """A text next to a sample."""
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
    text = "utilization"
    left = text_width(text, _SIZE) + 8
    x, y = line.begin(left + len(heat) * _CELL)
    line.text(x, y, text)
    for k, colour in enumerate(heat):
        line.batches.append(Rects(np.array([[x + left + k * _CELL, y + 1, _CELL - 1, 6.0]]), colour))
        if k:
            share = f"{STEPS[k - 1] * 100:.0f} %"
            place = (x + left + (k - 0.5) * _CELL, y + 6, _CELL, 16.0)
            line.labels.append(Label(*place, share, _SIZE - 2, line.theme.muted, False, "center"))


Bool = npt.NDArray[np.bool_]

_MARGIN: Final = 32
_TITLE: Final = 22
_SUBTITLE: Final = 13
#: a picture is at least this wide, and becomes wider for its title up to this
_NARROWEST: Final = 480.0
_WIDEST: Final = 1000.0


@dataclass(frozen=True, slots=True)
class Options:
    """What is in a picture in addition to boxes and connections.

    Parameters
    ----------
    labels
        True if values and marks are written on connections.
    machines
        True if virtual machines are next to their hosts; not where only some things are chosen.
    chosen
        Paths of the only parts and groups drawn, with all they contain and the connections among them; empty:
        everything. A path is an address and an id, ``servers[*]/gpu0``.
    """

    title: str = ""
    subtitle: str = ""
    legend: bool = True
    labels: bool = True
    machines: bool = True
    chosen: frozenset[str] = field(default_factory=frozenset[str])


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """A display list with its frame: a rectangle of its coordinates, and the ground it is drawn on.

    Parameters
    ----------
    legend
        From where on downwards the legend is; infinite without one.
    """

    batches: tuple[Batch, ...]
    bounds: Rect
    background: str
    title: str = ""
    legend: float = inf


def drawing_of(
    geometry: Geometry, theme: CanvasTheme, options: Options = Options(), loads: Loads | None = None
) -> Drawing:
    """The whole picture of a design at 1:1, with its title above and its legend below.

    Raises
    ------
    ExchangeError
        If something chosen is not drawn.
    """
    view_state = ViewState(geometry, loads if loads is not None else nothing(geometry), theme)
    if options.machines and not options.chosen:
        _show_machines(view_state)
    bounds = _choose(view_state, options.chosen) if options.chosen else view_state.bounds
    batches = full_detail(view_state, 1.0, bounds, options.labels)
    return _with_title_and_legend(view_state, batches, bounds, options)


def _show_machines(view_state: ViewState) -> None:
    design = view_state.geometry.design
    if design.vms:
        # a design that cannot be elaborated has no hosts that anything could be on
        with suppress(DesignerError):
            view_state.show_machines(machines_of(design))


def full_detail(view_state: ViewState, scale: float, bounds: Rect, labels: bool = True) -> list[Batch]:
    """All that is to be seen within a scene rectangle, at so many pixels for a scene unit; scene (0, 0) is pixel
    (0, 0).
    """
    frame = Frame(scale, 0, 0, Level.NEAR, max(0.5, min(scale, 3.0)))
    x, y, width, height = (v * scale for v in bounds)
    region = (x - _MARGIN, y - _MARGIN, width + 2 * _MARGIN, height + 2 * _MARGIN)
    found = [batch for step in compose_steps(view_state, frame, (region,), False, labels) for batch in step]
    return found + (badges(view_state, frame, region) if labels else [])


def _choose(view_state: ViewState, paths: Collection[str]) -> Rect:
    """Leave out all but the boxes at some paths with what they contain; the scene rectangle around those."""
    geometry = view_state.geometry
    keep = np.zeros(len(geometry), dtype=bool)
    number = {path_of(geometry, box): box for box in range(len(geometry))}
    for path in paths:
        box = number.get(path)
        if box is None:
            raise ExchangeError(f"{path!r} is not in the picture", remedy="choose something that is drawn")
        keep[box : geometry.last[box]] = True
    among = keep[geometry.connection_a] & keep[geometry.connection_b]
    view_state.lifted, view_state.lifted_connections = ~keep, ~among
    loads = view_state.loads
    view_state.loads = replace(
        loads, bottleneck=loads.bottleneck & among, box_bottleneck=np.where(keep, loads.box_bottleneck, 0)
    )
    return geometry.bounds(keep, among)


def path_of(geometry: Geometry, box: int) -> str:
    """Path of what a box shows: ``servers[3]/gpu0``, ``servers[*]/gpu0`` where it represents all members."""
    within, ref = geometry.address(box)
    return f"{address_text(within)}/{ref.id}" if within else ref.id


def _with_title_and_legend(view_state: ViewState, batches: list[Batch], bounds: Rect, options: Options) -> Drawing:
    """The picture with a title above and a legend below."""
    theme = view_state.theme
    x, y, width, height = bounds
    width = max(width, _NARROWEST, min(text_width(options.title, _TITLE, bold=True), _WIDEST))
    words: list[Label] = []
    top = y - _MARGIN

    def line(text: str, px: int, colour: str, bold: bool) -> None:
        nonlocal top
        high = px * 1.4
        top -= high
        words.append(Label(x, top, width + 2, high, text, px, colour, bold))

    if options.subtitle:
        for text in reversed(lines_of(options.subtitle, _SUBTITLE, width, 2)):
            line(text, _SUBTITLE, theme.muted, False)
        top -= 4
    if options.title:
        line(fitted_text(options.title, _TITLE, width, bold=True), _TITLE, theme.text, True)
    bottom = y + height + _MARGIN
    around: list[Batch] = [Labels(tuple(words))]
    legend = inf
    if options.legend and len(view_state.geometry):
        items, extent = legend_line(view_state, x, bottom, width)
        around += items
        legend = bottom
        bottom += extent + _MARGIN / 2
    frame = (x - _MARGIN, top - _MARGIN / 2, width + 2 * _MARGIN, bottom - top + _MARGIN)
    return Drawing((*batches, *around), frame, theme.background, options.title, legend)


# The whole picture of a region as batches, in painter's order, step by step. No Qt.


def compose_steps(
    view_state: ViewState, frame: Frame, regions: Regions, grid: bool = True, labels: bool = True
) -> Iterator[list[Batch]]:
    """What is to be drawn in rectangles of device pixels; the painter clips it to them.

    Each step is short even where there are many things, so that the window can live between two of them.
    """
    if grid:
        yield grid_dots(view_state, frame, regions)
    boxes = visible_boxes(view_state, frame, regions)
    yield containers(view_state, frame, boxes)
    yield connections(view_state, frame, regions)
    yield bottleneck_glow(view_state, frame)
    yield view_state.kept("plates", frame, regions, lambda: plates(view_state, frame, boxes))
    yield limit_frames(view_state, frame)
    yield meters(view_state, frame, boxes) + activity(view_state, frame, boxes) + notes(view_state, frame, boxes)
    yield view_state.kept("texts", frame, regions, lambda: texts(view_state, frame, boxes))
    if labels and view_state.loads.on_route is None:
        yield values(view_state, frame, regions) + bundles(view_state, frame, regions)
    yield virtual_machines(view_state, frame, regions)
    if view_state.loads.on_route is not None and view_state.loads.box_on_route is not None:
        # everything fades, then the route is drawn again on top
        yield [Rects(np.array(regions, dtype=np.float64), view_state.theme.background + "c0")]
        yield connections(view_state, frame, regions, only=view_state.loads.on_route)
        lit = boxes[view_state.loads.box_on_route[boxes] & ~view_state.geometry.is_container[boxes]]
        yield cards(view_state, frame, lit)
        yield texts(view_state, frame, lit)
        yield values(view_state, frame, regions)


def compose(view_state: ViewState, frame: Frame, regions: Regions, grid: bool = True) -> list[Batch]:
    """All steps together."""
    return [batch for step in compose_steps(view_state, frame, regions, grid) for batch in step]
