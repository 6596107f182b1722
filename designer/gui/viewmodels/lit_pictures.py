"""Two designs as pictures next to each other, with what differs lit: only in the one, only in the other, or changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from designer.design.address import Address, What
from designer.design.diff import MOVES, Diff, diff
from designer.design.document import Design
from designer.design.geometry import lay_out
from designer.design.scene_geometry import Geometry
from designer.drawing.picture import Options
from designer.drawing.theme import palette
from designer.report.drawing.compose import compose
from designer.report.drawing.elements import Element, Panel, Stroke
from designer.report.drawing.png import to_png

#: frames around what differs, and links that do [scene units]
_WIDTH: Final = 3.0
_GAP: Final = 2.0
#: a frame is at least this part of the picture
_SHOWN: Final = 160.0
#: pictures are at most so many pixels wide or high
_PIXELS: Final = 1600.0


def pictures(a: Design, b: Design, look: str, colours: tuple[str, str, str]) -> tuple[bytes, bytes]:
    """Both designs as PNG; can be called from a thread.

    Parameters
    ----------
    look
        Name of the palette.
    colours
        Of what only `a` has, of what only `b` has, and of what both have with other values.
    """
    changes = diff(a, b)
    only_a, only_b, changed = colours
    return _png(a, changes, False, look, only_a, changed), _png(b, changes, True, look, only_b, changed)


def _png(design: Design, changes: Diff, after: bool, look: str, own: str, changed: str) -> bytes:
    geometry = lay_out(design)
    picture = compose(geometry, palette(look), Options(legend=False, machines=False))
    # seen small, a frame must still be seen
    width = max(_WIDTH, max(picture.width, picture.height) / _SHOWN)
    lit = replace(picture, elements=(*picture.elements, *lights(geometry, changes, after, own, changed, width)))
    return to_png(lit, min(2.0, _PIXELS / max(lit.width, lit.height, 1.0)))


def lights(
    geometry: Geometry, changes: Diff, after: bool, own: str, changed: str, line: float = _WIDTH
) -> list[Element]:
    """Frames around the boxes and strokes along the links in which two designs differ."""
    found: list[Element] = []
    for box in range(len(geometry)):
        within, ref = geometry.address(box)
        colour = _colour(changes, within, ref.what, ref.id, after, own, changed)
        if colour:
            x, y, width, height = geometry.rect[box].tolist()
            edge = _GAP + line / 2
            around = (x - edge, y - edge, width + 2 * edge, height + 2 * edge)
            found.append(Panel(*around, 4, "", colour, line))
    for connection in range(geometry.n_connections):
        within, links = geometry.connection_links(connection)
        known = [_colour(changes, within, link.what, link.id, after, own, changed) for link in links]
        colour = next((c for c in known if c), "")
        if colour:
            points = tuple((x, y) for x, y in geometry.connection_route[connection].tolist())
            found.append(Stroke(points, colour, line))
    return found


def _colour(changes: Diff, within: Address, what: What, item_id: str, after: bool, own: str, changed: str) -> str:
    at = changes.at(within, what)
    if item_id in (at.added if after else at.removed):
        return own
    if item_id in at.changed and set(changes.fields(within, what, item_id)) - MOVES:
        return changed
    return ""
