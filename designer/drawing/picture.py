"""A whole design as one picture, in full detail whatever a view shows: for files, reports and pages. No Qt."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.address import address_text
from designer.design.geometry import Geometry
from designer.drawing.batches import Batch, Label, Labels
from designer.drawing.compose import compose_steps
from designer.drawing.compose_badges import badges
from designer.drawing.fonts import fitted_text, lines_of, text_width
from designer.drawing.legend_line import legend_line
from designer.drawing.levels import Level
from designer.drawing.loads import Loads, nothing
from designer.drawing.machines import machines_of
from designer.drawing.theme import CanvasTheme
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame, ViewState
from designer.errors import DesignerError, ExchangeError

Bool = npt.NDArray[np.bool_]

_MARGIN: Final = 32
_TITLE: Final = 22
_SUBTITLE: Final = 13
#: a picture is at least this wide, and becomes wider for its title up to this
_NARROWEST: Final = 480.0
_WIDEST: Final = 1000.0


@dataclass(frozen=True, slots=True)
class Options:
    """What is in a picture besides boxes and connections.

    Parameters
    ----------
    labels
        True if values and marks are written on connections.
    machines
        True if virtual machines stand beside their hosts; not where only some things are chosen.
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
        From where on downwards the legend stands; infinite without one.
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
    return _framed(view_state, batches, bounds, options)


def _show_machines(view_state: ViewState) -> None:
    design = view_state.geometry.design
    if design.vms:
        # a design that cannot be elaborated has no hosts that anything could stand on
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
    """Path of what a box shows: ``servers[3]/gpu0``, ``servers[*]/gpu0`` where it stands for all members."""
    within, ref = geometry.address(box)
    return f"{address_text(within)}/{ref.id}" if within else ref.id


def _framed(view_state: ViewState, batches: list[Batch], bounds: Rect, options: Options) -> Drawing:
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
