"""Values beside saturated connections, thinned so that they do not cover each other. No Qt.

Which connections are labelled depends on the whole picture and the scale, never on the part of it that is being drawn,
so that pieces drawn at different times fit together.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Domain, link_kinds
from designer.drawing.batches import Batch, Boxes, Label, Labels
from designer.drawing.compose_boxes import faded
from designer.drawing.fonts import text_width
from designer.drawing.levels import Level
from designer.drawing.loads import SATURATED
from designer.drawing.marks import is_free, pill, stacked
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame, Regions, ViewState
from designer.units import format_line_rate, format_quantity

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: text height and padding of a value [px], and the room each one keeps free around it [px]
PX: Final = 11
_PAD: Final = 12.0
_ROOM: Final = (104.0, 26.0)
#: at most so many bundles are labelled, of more none
_MOST_BUNDLES: Final = 48
#: so many values are looked at one by one, so that none stands upon another
_MOST_APART: Final = 200
#: a value may stand this far from where its connection is looked up [px]
_STRAY: Final = 260.0


def values(view_state: ViewState, frame: Frame, regions: Regions) -> list[Batch]:
    """The values in some regions of device pixels."""
    if frame.level is not Level.NEAR or not view_state.loads.known:
        return []
    connections, near = _thinned(view_state, frame)
    seen = np.zeros(len(connections), dtype=bool)
    for region in regions:
        x, y, w, h = frame.scene(region, _STRAY * frame.ratio)
        seen |= (near[:, 0] >= x) & (near[:, 0] <= x + w) & (near[:, 1] >= y) & (near[:, 1] <= y + h)
    chosen = connections[seen]
    if view_state.lifted_connections is not None:
        chosen = chosen[~view_state.lifted_connections[chosen]]
    loads, theme = view_state.loads, view_state.theme
    plates: list[tuple[float, float, float, float]] = []
    labels: list[Label] = []
    px, high = round(PX * frame.ratio), round(PX * 1.7 * frame.ratio)
    for connection, (x, y) in zip(chosen.tolist(), view_state.label_points(chosen).tolist(), strict=True):
        d = int(np.nan_to_num(loads.used[connection]).argmax())
        text = amount(float(loads.load[connection, d]), float(loads.limit[connection, d]))
        wide = round(text_width(text, px) + _PAD * frame.ratio)
        # rounded before it is moved: else it would jump by a pixel from one strip to the next while panning
        left, top = frame.x + round(x * frame.scale - wide / 2), frame.y + round(y * frame.scale - high / 2)
        plates.append((left, top, wide, high))
        labels.append(Label(left, top, wide + 2, high, text, px, theme.pill_text, False, "center"))
    if not labels:
        return []
    edge = faded(view_state, theme.heat[-1])
    return [Boxes(np.array(plates, dtype=np.float64), theme.pill, edge, 1, int(high // 3)), Labels(tuple(labels))]


def value_plates(view_state: ViewState, frame: Frame) -> Float:
    """About where values stand: left, top, right and bottom of their plates, scene units. : (k, 4)"""
    if frame.level is not Level.NEAR or not view_state.loads.known:
        return np.empty((0, 4))
    points = view_state.label_points(_thinned(view_state, frame)[0])
    half = np.array(_ROOM) / 2 * frame.ratio / frame.scale
    return np.concatenate((points - half, points + half), axis=1)


def _thinned(view_state: ViewState, frame: Frame) -> tuple[Int, Float]:
    """Saturated connections of which no two are labelled close together, the most loaded ones kept, and about where.

    Two points closer than the room of a label share a cell in one of four grids, each shifted by that room; a
    connection is kept if it is the most loaded in its cell of all four.
    """
    connections, near = view_state.saturated(SATURATED)
    kept = np.ones(len(connections), dtype=bool)
    room = np.array(_ROOM) * frame.ratio / frame.scale
    for shift in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)):
        cell = np.floor(near / room / 2 + np.array(shift) / 2).astype(np.int64)
        _, first = np.unique(cell[:, 0] * 10_000_019 + cell[:, 1], return_index=True)
        # connections come by falling load, so the first in a cell is the most loaded
        best = np.zeros(len(connections), dtype=bool)
        best[first] = True
        kept &= best
    connections, near = connections[kept], near[kept]
    if len(connections) <= _MOST_APART:
        # they are looked up at the middle of their connections, and written where those leave room
        free, taken = np.zeros(len(connections), dtype=bool), list[Rect]()
        for k, (x, y) in enumerate((view_state.label_points(connections) - room / 2).tolist()):
            plate = Boxes(np.array([[x, y, *room]]), "", "", 0, 0)
            free[k] = is_free(plate, taken)
        connections, near = connections[free], near[free]
    return connections, near


def bundles(view_state: ViewState, frame: Frame, regions: Regions) -> list[Batch]:
    """How many links of which rate run to closed groups, as long as no loads are told."""
    if frame.level is not Level.NEAR or view_state.loads.known:
        return []
    connections, texts = _bundle_texts(view_state)
    if view_state.lifted_connections is not None:
        shown = ~view_state.lifted_connections[connections]
        connections, texts = connections[shown], [t for t, s in zip(texts, shown.tolist(), strict=True) if s]
    theme, taken = view_state.theme, list[Rect]()
    plates: list[Boxes] = []
    labels: list[Label] = []
    points = frame.points(view_state.label_points(connections)).tolist()
    for text, (x, y) in zip(texts, points, strict=True):
        plate, label = pill(text, x, y, frame, theme.pill, theme.pill_text, theme.container_edges[0])
        if is_free(plate, taken):
            plates.append(plate)
            labels.append(label)
    seen = [k for k, plate in enumerate(plates) if _touches(plate, regions)]
    return stacked([plates[k] for k in seen], [labels[k] for k in seen])


def _bundle_texts(view_state: ViewState) -> tuple[Int, list[str]]:
    """The connections with links in number at a closed group, and what is written on them; none among too many."""
    geometry = view_state.geometry
    closed = geometry.is_group & ~geometry.is_container
    kinds = [link_kinds().get(k) for k in geometry.connection_kinds]
    labelled = np.array([k is not None and k.domain is not Domain.HOST for k in kinds], dtype=bool)
    ends = closed[geometry.connection_a] | closed[geometry.connection_b]
    connections = (
        np.flatnonzero(ends & labelled[geometry.connection_kind]) if len(labelled) else np.empty(0, dtype=np.int64)
    )
    if len(connections) > _MOST_BUNDLES:
        return connections[:0], []
    texts: list[str] = []
    for connection in connections.tolist():
        kind, count = kinds[int(geometry.connection_kind[connection])], int(geometry.connection_count[connection])
        rate = float(geometry.connection_capacity[connection]) / count
        network = kind is not None and kind.domain is Domain.NETWORK
        each = format_line_rate(rate) if network else format_quantity(rate, "rate")
        texts.append(f"{count:,} × {each}".replace(",", "\u202f") if count > 1 else each)
    return connections, texts


def _touches(plate: Boxes, regions: Regions) -> bool:
    x, y, wide, high = plate.rects[0].tolist()
    return any(x < rx + rw and rx < x + wide and y < ry + rh and ry < y + high for rx, ry, rw, rh in regions)


def amount(load: float, limit: float) -> str:
    """Load against limit, such as ``29.8 / 31.5 GB/s``; only one of them where the other is unknown."""
    if np.isnan(load):
        return format_quantity(limit, "rate") if not np.isnan(limit) else "–"
    if np.isnan(limit):
        return format_quantity(load, "rate")
    whole, part = format_quantity(limit, "rate"), format_quantity(load, "rate")
    number, _, unit = part.partition(" ")
    return f"{number} / {whole}" if whole.endswith(f" {unit}") else f"{part} / {whole}"
