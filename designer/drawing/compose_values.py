"""Values next to saturated connections, thinned so that they do not cover each other. No Qt.

Which connections are labelled depends on the whole picture and the scale, never on the part of it that is being drawn,
so that pieces drawn at different times fit together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer import fields
from designer.catalog.parttype import Domain, link_kinds
from designer.design.address import block_at
from designer.design.geometry import Geometry
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
#: a trunk has at least so many connections; among more of them in all none is labelled
_LEAST_IN_TRUNK: Final = 6
_MOST_IN_TRUNKS: Final = 2000
#: a line shorter than this has no label [px], nor one of which cards would cover or be covered by more than this share
_SHORTEST: Final = 36.0
_COVERED: Final = 0.1
#: so many values are looked at one by one, so that none is on another
_MOST_APART: Final = 200
#: a value may be this far from where its connection is looked up [px]
_STRAY: Final = 260.0


def values(view_state: ViewState, frame: Frame, regions: Regions) -> list[Batch]:
    """The values in some regions of device pixels."""
    if frame.level is not Level.NEAR or not view_state.loads.known or view_state.calm:
        return []
    connections, near = _thin_out(view_state, frame)
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
    if frame.level is not Level.NEAR or not view_state.loads.known or view_state.calm:
        return np.empty((0, 4))
    points = view_state.label_points(_thin_out(view_state, frame)[0])
    half = np.array(_ROOM) / 2 * frame.ratio / frame.scale
    return np.concatenate((points - half, points + half), axis=1)


def _thin_out(view_state: ViewState, frame: Frame) -> tuple[Int, Float]:
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


class Bundle(NamedTuple):
    """Links stated in one label.

    Parameters
    ----------
    connections : (k,) those it represents
    route : (v, 2) along which the label is, scene units
    """

    connections: Int
    text: str
    route: Float


def bundles(view_state: ViewState, frame: Frame, regions: Regions) -> list[Batch]:
    """How many links of which rate run to closed groups and in trunks, where no value is reported of them."""
    theme, taken = view_state.theme, list[Rect]()
    plates: list[Boxes] = []
    labels: list[Label] = []
    for text, point, _ in _counts(view_state, frame):
        x, y = frame.points(point[None])[0].tolist()
        plate, label = pill(text, x, y, frame, theme.pill, theme.pill_text, theme.container_edges[0])
        if is_free(plate, taken):
            plates.append(plate)
            labels.append(label)
    seen = [k for k, plate in enumerate(plates) if _touches(plate, regions)]
    return stacked([plates[k] for k in seen], [labels[k] for k in seen])


def bundle_plates(view_state: ViewState, frame: Frame) -> Float:
    """About where counts of links stand: left, top, right and bottom of their plates, scene units. : (k, 4)"""
    unit = frame.ratio / frame.scale
    found = [
        (*(point - half), *(point + half))
        for _, point, wide in _counts(view_state, frame)
        for half in (np.array((wide, 1.7 * PX)) / 2 * unit,)
    ]
    return np.array(found, dtype=np.float64).reshape(-1, 4)


def _counts(view_state: ViewState, frame: Frame) -> Iterator[tuple[str, Float, float]]:
    """What is reported of bundles, the middle of its plate in scene units, and how wide that is [px]."""
    if frame.level is Level.FAR:
        return
    if view_state.bundles is None:
        view_state.bundles = (*_to_groups(view_state), *_trunks(view_state))
    chosen = [b for b in view_state.bundles if isinstance(b, Bundle)]
    if view_state.lifted_connections is not None:
        chosen = [b for b in chosen if not view_state.lifted_connections[b.connections].any()]
    taken_by_values = value_plates(view_state, frame) if chosen else np.empty((0, 4))
    unit = frame.scale / frame.ratio
    for bundle in chosen:
        wide = text_width(bundle.text, PX) + _PAD
        if np.ptp(bundle.route, axis=0).max() * unit < _SHORTEST:
            continue
        points, covered = view_state.least_covered(bundle.route[None], wide / unit, 1.7 * PX / unit, taken_by_values)
        # a name under it would be hidden: the tip states it
        if covered[0] * unit**2 <= _COVERED * wide * 1.7 * PX:
            yield bundle.text, points[0], wide


def _to_groups(view_state: ViewState) -> list[Bundle]:
    """The connections with links in number at a closed group; none among too many."""
    geometry = view_state.geometry
    closed = geometry.is_group & ~geometry.is_container
    kinds = [link_kinds().get(k) for k in geometry.connection_kinds]
    labelled = np.array([k is not None and k.domain is not Domain.HOST for k in kinds], dtype=bool)
    ends = closed[geometry.connection_a] | closed[geometry.connection_b]
    connections = (
        np.flatnonzero(ends & labelled[geometry.connection_kind]) if len(labelled) else np.empty(0, dtype=np.int64)
    )
    if len(connections) > _MOST_BUNDLES:
        return []
    rows = connections[:, None]
    return [Bundle(row, _count_text(view_state, row), geometry.connection_route[row[0]]) for row in rows]


def _trunks(view_state: ViewState) -> list[Bundle]:
    """The links that are drawn as one line with branches; none among too many."""
    geometry = view_state.geometry
    a, b = geometry.connection_a, geometry.connection_b
    inside = np.flatnonzero((geometry.parent[a] == geometry.parent[b]) & (geometry.connection_count > 0))
    if not _LEAST_IN_TRUNK <= len(inside) <= _MOST_IN_TRUNKS:
        return []
    found: list[Bundle] = []
    place = geometry.parent[a[inside]] * len(geometry.connection_kinds) + geometry.connection_kind[inside]
    lines = geometry.connection_route[inside]
    for value in np.unique(place).tolist():
        here = np.flatnonzero(place == value)
        level = (lines[here, :-1, 1] == lines[here, 1:, 1]) & (lines[here, :-1, 0] != lines[here, 1:, 0])
        heights = lines[here, :-1, 1]
        for y in np.unique(heights[level]).tolist():
            row, piece = np.nonzero(level & (heights == y))
            ends = np.sort(lines[here[row], :, 0][np.arange(len(row))[:, None], np.column_stack((piece, piece + 1))])
            for some in _stretches(ends):
                members = np.unique(here[row[some]])
                if len(members) >= _LEAST_IN_TRUNK:
                    route = np.array([[ends[some, 0].min(), y], [ends[some, 1].max(), y]])
                    found.append(Bundle(inside[members], _count_text(view_state, inside[members]), route))
    return found


def _stretches(ends: Float) -> list[Int]:
    """Rows of pieces of one line that touch each other, from left to right. : ends (k, 2)"""
    order = np.argsort(ends[:, 0], kind="stable")
    reach = np.maximum.accumulate(ends[order, 1])
    return np.split(order, np.flatnonzero(ends[order[1:], 0] > reach[:-1]) + 1)


def _count_text(view_state: ViewState, connections: Int) -> str:
    """How many links connections have, and what each carries: ``8 × 400 Gb/s``."""
    geometry = view_state.geometry
    kind = link_kinds().get(geometry.connection_kinds[int(geometry.connection_kind[connections[0]])])
    count = int(geometry.connection_count[connections].sum())
    rate = float(geometry.connection_capacity[connections].sum()) / count
    network = kind is not None and kind.domain is Domain.NETWORK

    def spelled(one: float) -> str:
        return format_line_rate(one) if network else format_quantity(one, "rate")

    each, speeds = spelled(rate), _speeds(geometry, connections)
    if len(speeds) > 1:
        # a mean is the speed of none of them
        slow, fast = spelled(speeds[0]), spelled(speeds[-1])
        number, _, unit = slow.partition(" ")
        each = f"{number}–{fast}" if fast.endswith(f" {unit}") else f"{slow}–{fast}"
    return f"{count:,} × {each}" if count > 1 else each


def _speeds(geometry: Geometry, connections: Int) -> list[float]:
    """The speeds that the links of a few connections are reported to have, each once, the slowest first. [B/s]"""
    found: set[float] = set()
    for connection in connections.tolist() if len(connections) <= _MOST_BUNDLES else ():
        within, links = geometry.connection_links(connection)
        block = block_at(geometry.design, within)
        for link in links:
            one = block.links.get(link.id) if link.what == "links" else block.wirings.get(link.id)
            if one is not None and one.bandwidth_per_direction is not None:
                found.add(fields.amount(one.bandwidth_per_direction, "rate"))
    return sorted(found)


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
