"""From a geometry to a display list: containers, connections, cards, badges, title and legend."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Domain, link_kinds
from designer.design.connection_paths import CURVE, beside, connection_width
from designer.design.geometry import STATUSES, Geometry
from designer.report.drawing import cards, legend
from designer.report.drawing.chosen import chosen_part
from designer.report.drawing.elements import Element, Label, Panel, Picture, Point, Stroke
from designer.report.drawing.fonts import fitted_text, lines_of, text_width
from designer.report.drawing.loads import Loads
from designer.report.drawing.palette import Palette, mixed
from designer.sources import Status
from designer.units import format_line_rate, format_quantity

_MARGIN: Final = 32.0
_TITLE: Final = 22.0
#: a picture is at least this wide, and becomes wider for its title up to this
_NARROWEST: Final = 480.0
_WIDEST: Final = 1000.0
#: a connection this full shows its numbers
_FULL: Final = 0.95
#: at most so many labels of bundles, then they are left out
_LABELS: Final = 48
#: a text is written this often; what more connections would say is said once
_REPEATED: Final = 8
#: where labels are tried, from the middle of their connection
_ASIDE: Final = (-9, -31, 13, 35)


@dataclass(frozen=True, slots=True)
class Options:
    """What is in a picture besides boxes and connections.

    Parameters
    ----------
    chosen
        Paths of the only parts and groups drawn, with all they contain and the connections among them; empty:
        everything.
    """

    title: str = ""
    subtitle: str = ""
    legend: bool = True
    labels: bool = True
    chosen: frozenset[str] = field(default_factory=frozenset[str])


def compose(geometry: Geometry, colours: Palette, options: Options = Options(), loads: Loads | None = None) -> Picture:
    """The whole picture of a design, everything in full detail."""
    if options.chosen:
        geometry, loads = chosen_part(geometry, options.chosen, loads)
    elements: list[Element] = []
    cards.add_containers(elements, geometry, colours)
    _add_connections(elements, geometry, colours, loads)
    cards.add_headers(elements, geometry, colours)
    cards.add_cards(elements, geometry, colours)
    if options.labels:
        _add_labels(elements, geometry, colours, loads)
    return _framed(elements, geometry, colours, options, loads)


def _add_connections(elements: list[Element], geometry: Geometry, colours: Palette, loads: Loads | None) -> None:
    width = connection_width(geometry.connection_capacity)
    order = np.argsort(-width, kind="stable")
    if loads is None:
        for w in order.tolist():
            colour = colours.link(geometry.connection_kinds[geometry.connection_kind[w]])
            elements.append(_stroke(geometry, geometry.connection_route[w], w, colour, float(width[w])))
        return
    half = width / 2
    sides = (
        beside(geometry.connection_route, geometry.connection_shape, half / 2 + 0.4),
        beside(geometry.connection_route, geometry.connection_shape, -half / 2 - 0.4),
    )
    idle = mixed(colours.surface["container_border"], colours.surface["container"], 0.35)
    fullest = np.nan_to_num(loads.utilisation, nan=-1.0).max(axis=1) if len(width) else width
    for w in np.argsort(fullest, kind="stable").tolist():
        for direction in (0, 1):
            share = float(loads.utilisation[w, direction])
            colour = colours.utilisation(share) if share > 0 else idle
            points = sides[direction][w]
            elements.append(_stroke(geometry, points, w, colour, max(1.0 if share <= 0 else 1.6, float(half[w]))))


def _stroke(geometry: Geometry, points: npt.NDArray[np.float64], w: int, colour: str, width: float) -> Stroke:
    corners: tuple[Point, ...] = tuple((float(x), float(y)) for x, y in points)
    curve = int(geometry.connection_shape[w]) == CURVE
    if not curve:
        corners = tuple(p for n, p in enumerate(corners) if n == 0 or p != corners[n - 1])
    dashed = STATUSES[int(geometry.connection_status[w])] is Status.ASSUMED
    return Stroke(corners, colour, width, curve, dashed)


def _add_labels(elements: list[Element], geometry: Geometry, colours: Palette, loads: Loads | None) -> None:
    """Numbers on full connections; without loads, what bundles between closed cards of a network are made of."""
    cards = np.flatnonzero(~geometry.is_container)
    taken = [(float(x), float(y), float(w), float(h)) for x, y, w, h in geometry.rect[cards]]
    texts = _load_texts(geometry, loads) if loads is not None else _bundle_texts(geometry)
    if loads is not None:
        _add_part_badges(elements, geometry, colours, loads, taken)
    for w, text, bottleneck in texts[:_LABELS]:
        x, y = _middle(geometry, w)
        width = text_width(text, 12, bold=bottleneck) + 12
        places = ((x - width / 2, y + aside, width, 18.0) for aside in _ASIDE)
        box = next((place for place in places if not _covers(place, taken)), None)
        if box is None:
            continue
        taken.append(box)
        _add_plate(elements, box, text, colours, bottleneck)


def _add_plate(
    elements: list[Element], box: tuple[float, float, float, float], text: str, colours: Palette, bottleneck: bool
) -> None:
    fill = colours.surface["bound"] if bottleneck else colours.surface["container"]
    colour = colours.surface["bound_text"] if bottleneck else colours.surface["text"]
    elements.append(Panel(*box, radius=9, fill=fill, stroke="" if bottleneck else colours.surface["container_border"]))
    elements.append(Label(box[0] + box[2] / 2, box[1] + 13.2, text, 12, colour, bold=bottleneck, anchor="middle"))


def _add_part_badges(
    elements: list[Element],
    geometry: Geometry,
    colours: Palette,
    loads: Loads,
    taken: list[tuple[float, float, float, float]],
) -> None:
    """A mark on the upper edge of each part that binds by itself: a store, a GPU that computes."""
    for box in np.flatnonzero(loads.box_bottleneck).tolist():
        alike = int(loads.box_bottleneck[box])
        text = f"bound ×{alike}" if alike > 1 else "bound"
        x, y, across, _ = geometry.rect[box].tolist()
        width = text_width(text, 12, bold=True) + 12
        place = (x + (across - width) / 2, y - 9.0, width, 18.0)
        taken.append(place)
        _add_plate(elements, place, text, colours, bottleneck=True)


def _covers(box: tuple[float, float, float, float], taken: list[tuple[float, float, float, float]]) -> bool:
    return any(
        box[0] < x + w + 4 and x < box[0] + box[2] + 4 and box[1] < y + h + 2 and y < box[1] + box[3] + 2
        for x, y, w, h in taken
    )


def _load_texts(geometry: Geometry, loads: Loads) -> list[tuple[int, str, bool]]:
    found: list[tuple[float, int, str, bool]] = []
    for w in range(geometry.n_connections):
        shares = np.nan_to_num(loads.utilisation[w], nan=-1.0)
        bottleneck = bool(loads.bottleneck[w].any())
        if not bottleneck and shares.max() < _FULL:
            continue
        d = int(np.argmax(np.where(loads.bottleneck[w], shares + 2, shares)))
        text = f"{_pair(float(loads.rate[w, d]), float(loads.capacity[w, d]))}"
        each = " each" if loads.links[w, d] > 1 else ""
        found.append((-float(shares.max()) - bottleneck, w, text + each, bottleneck))
    return _merged(geometry, [(w, text, bottleneck) for _, w, text, bottleneck in sorted(found)])


def _merged(geometry: Geometry, texts: list[tuple[int, str, bool]]) -> list[tuple[int, str, bool]]:
    """Where many connections say the same, one in their midst says it for all."""
    same: dict[tuple[str, bool], list[int]] = {}
    for w, text, bottleneck in texts:
        same.setdefault((text, bottleneck), []).append(w)
    merged: list[tuple[int, str, bool]] = []
    for (text, bottleneck), connections in same.items():
        if len(connections) <= _REPEATED:
            merged += [(w, text, bottleneck) for w in connections]
            continue
        places = np.array([_middle(geometry, w) for w in connections])
        away = np.linalg.norm(places - places.mean(axis=0), axis=1)
        merged.append((connections[int(np.argmin(away))], f"{len(connections)} × {text}", bottleneck))
    return merged


def _pair(rate: float, capacity: float) -> str:
    """``29.8 / 31.5 GB/s``; the first unit is left out where it is the second one."""
    one, other = format_quantity(rate, "rate"), format_quantity(capacity, "rate")
    number, _, unit = one.partition(" ")
    return f"{number if other.endswith(' ' + unit) else one} / {other}"


def _bundle_texts(geometry: Geometry) -> list[tuple[int, str, bool]]:
    kinds = [link_kinds().get(k) for k in geometry.connection_kinds]
    found: list[tuple[int, str, bool]] = []
    for w in range(geometry.n_connections):
        kind = kinds[int(geometry.connection_kind[w])]
        ends = (int(geometry.connection_a[w]), int(geometry.connection_b[w]))
        grouped = any(geometry.is_group[i] and not geometry.is_container[i] for i in ends)
        if grouped and kind is not None and kind.domain is not Domain.HOST:
            count = int(geometry.connection_count[w])
            rate = float(geometry.connection_capacity[w]) / count
            each = format_line_rate(rate) if kind.domain is Domain.NETWORK else format_quantity(rate, "rate")
            found.append((w, f"{count:,} × {each}".replace(",", " ") if count > 1 else each, False))
    return found if len(found) <= _LABELS else []


def _middle(geometry: Geometry, w: int) -> Point:
    p = geometry.connection_route[w]
    if int(geometry.connection_shape[w]) == CURVE:
        x, y = (p[0] + 3 * p[1] + 3 * p[2] + p[3]) / 8
    else:
        x, y = (p[1] + p[2]) / 2 if (p[1] != p[2]).any() and (p[0] != p[1]).any() else (p[0] + p[3]) / 2
    return float(x), float(y)


def _framed(
    elements: list[Element], geometry: Geometry, colours: Palette, options: Options, loads: Loads | None
) -> Picture:
    """The elements with a title above and a legend below."""
    x, y, width, height = geometry.bounds()
    width = max(width, _NARROWEST, min(text_width(options.title, _TITLE, bold=True), _WIDEST))
    around: list[Element] = []
    top = y - _MARGIN
    if options.subtitle:
        top -= 12
        for text in reversed(lines_of(options.subtitle, 13, width, 2)):
            around.append(Label(x, top, text, 13, colours.surface["text_muted"]))
            top -= 17
        top += 5
    if options.title:
        top -= 6
        text = fitted_text(options.title, _TITLE, width, bold=True)
        around.append(Label(x, top, text, _TITLE, colours.surface["text"], bold=True))
        top -= _TITLE
    bottom = y + height + _MARGIN
    if options.legend and len(geometry):
        items, extent = legend.legend(geometry, colours, loads, x, bottom, width)
        around += items
        bottom += extent + _MARGIN / 2
    return Picture(
        tuple(elements + around), x - _MARGIN, top - _MARGIN / 2, width + 2 * _MARGIN, bottom - top + _MARGIN,
        colours.surface["canvas"], options.title,
    )  # fmt: skip
