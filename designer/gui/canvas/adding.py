"""What is put in from the palette: a part, or a server with all it contains; where it lands, and what it is joined to.

Nothing covers anything else. A part dropped on a part it can be linked to is placed next to it, and the link is drawn.
No Qt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import PartType, link_kinds, part_kinds
from designer.design.address import Address, block_at
from designer.design.arrange.free_spot import free_spot
from designer.design.arrange.sizes import GAP, ROW_GAP, card_size
from designer.design.document import Design, Link, Part
from designer.design.edits.links import AddLinks
from designer.design.edits.parts import AddParts
from designer.design.geometry import Geometry, lay_out
from designer.design.ids import next_id
from designer.design.legality import can_connect, can_contain
from designer.drawing.view import Rect, View
from designer.errors import DesignerError
from designer.gui.canvas.editing import Offer, link_values, new_part
from designer.gui.canvas.together import Together
from designer.gui.viewmodels.apart import AddWhole
from designer.interchange.whole_servers import WholeServer, clip_of, whole_servers

#: frames are drawn behind parts, which may cover them
_FRAME: Final = "frame"
#: what is added by key keeps this far from all there is [scene units]
_APART: Final = 64


@dataclass(frozen=True, slots=True)
class NewItem:
    """What is to be put in.

    Parameters
    ----------
    clip
        The server with its contents as text; empty for a part alone.
    """

    kind: str
    type: PartType | None = None
    clip: str = ""
    size: tuple[float, float] = (0.0, 0.0)

    @property
    def title(self) -> str:
        """Name for people."""
        known = part_kinds().get(self.kind)
        return self.type.title if self.type is not None else known.title if known else self.kind


@dataclass(frozen=True, slots=True)
class Landing:
    """Where something lands.

    Parameters
    ----------
    rect
        Left, top, width and height in the scene.
    part
        The part that is added; None for a server with contents.
    container
        The box it is placed in; −1 for the canvas.
    """

    offer: Offer
    rect: tuple[float, float, float, float]
    part: Part | None = None
    container: int = -1


def item_of(kind: str, part_type: PartType | None) -> NewItem:
    """The parts that an entry of the palette adds."""
    width, height = card_size(kind)
    if part_type is not None:
        server = whole_servers().get(part_type.id) if kind == "server" else None
        found = _whole(server) if server is not None else None
        if found is not None:
            return NewItem(kind, part_type, *found)
    return NewItem(kind, part_type, "", (float(width), float(height)))


@lru_cache(maxsize=64)
def _whole(server: WholeServer) -> tuple[str, tuple[float, float]] | None:
    """A server as text, and how large it is drawn; None if its template cannot be read."""
    try:
        text = clip_of(server)
        alone = AddWhole(text, at=(0, 0)).apply(Design(name="server"))
    except DesignerError:
        return None
    _, _, width, height = lay_out(alone).bounds()
    return text, (width, height)


def add(geometry: Geometry, item: NewItem, container: int, x: float, y: float) -> Landing:
    """Put something into a container (−1: the canvas), its top left corner as near to a point as it is free.

    A server dropped on a server goes next to it; other parts a container does not hold are refused, with the reason.
    """
    container = _outwards(geometry, container, item.kind)
    within: Address = () if container < 0 else geometry.content_address(container)
    parent: str | None = None
    origin = (0.0, 0.0)
    if container >= 0:
        origin = (float(geometry.origin[container, 0]), float(geometry.origin[container, 1]))
        if geometry.refs[container].what == "parts":
            parent = geometry.refs[container].id
            verdict = can_contain(geometry.design, block_at(geometry.design, within).parts[parent].kind, item.kind)
            if not verdict.ok:
                return Landing(Offer(reason=verdict.reason), (x, y, *item.size))
    x, y = _free(geometry, container, x, y, item.size)
    at = (round(x - origin[0]), round(y - origin[1]))
    rect = (x, y, *item.size)
    if item.clip:
        return Landing(Offer(AddWhole(item.clip, at=at, parent=parent, within=within)), rect, None, container)
    part = new_part(geometry.design, item.kind, item.type, within, parent, at)
    return Landing(Offer(AddParts((part,), _types(item), within=within)), rect, part, container)


def holder(geometry: Geometry, chosen: Sequence[int], kind: str) -> int:
    """The part that a part named in the palette goes into: the one chosen, or the one around it; −1 for the canvas.

    What may be in a rack by itself (servers, switches, storage) is put next to it, as without a choice.
    """
    rack = part_kinds().get("rack")
    if len(chosen) != 1 or (rack is not None and kind in rack.contains):
        return -1
    at = int(chosen[0])
    while at >= 0 and geometry.refs[at].what == "parts":
        own = geometry.kinds[int(geometry.kind[at])]
        if own != kind and can_contain(geometry.design, own, kind).ok:
            return at
        at = int(geometry.parent[at])
    return -1


def place_in(geometry: Geometry, box: int, kind: str) -> tuple[float, float]:
    """The place of a new part in a container: next to parts of its kind, else in a row below everything."""
    within = np.flatnonzero(geometry.parent == box)
    rects = geometry.rect[within]
    if not len(within):
        x, y, _, _ = geometry.rect[box].tolist()
        return x + GAP, y + ROW_GAP
    equal = [k for k, n in enumerate(within.tolist()) if geometry.kinds[int(geometry.kind[n])] == kind]
    if equal:
        x, y, wide, _ = rects[max(equal, key=lambda k: (float(rects[k, 1]), float(rects[k, 0])))].tolist()
        return x + wide + GAP, y
    return float(rects[:, 0].min()), float((rects[:, 1] + rects[:, 3]).max()) + ROW_GAP


def attach(geometry: Geometry, item: NewItem, box: int) -> Landing | None:
    """Put a part next to the one it was dropped on, and link the two if possible; None if that part takes no links."""
    target = geometry.thing(box)
    if item.clip or not isinstance(target, Part) or not _has_ports(target.kind) or not _has_ports(item.kind):
        return None
    within, ref = geometry.address(box)
    container = _around(geometry, box, within, item.kind)
    left, top, width, height = geometry.rect[box].tolist()
    landing = add(geometry, item, container, left + (width - item.size[0]) / 2, top + height + ROW_GAP)
    part, edit = landing.part, landing.offer.edit
    if part is None or edit is None:
        return landing
    after = edit.apply(geometry.design)
    verdict = can_connect(after, ref.id, part.id, within=within)
    if not verdict.ok:
        return Landing(Offer(edit, note=f"not linked: {verdict.reason}"), landing.rect, part)
    kind = verdict.kinds[0]
    block = block_at(after, within)
    values = link_values(after, kind, target, part)
    name = next_id(block.links, f"{ref.id}--{part.id}"[:180])
    link = Link(id=name, a=ref.id, b=part.id, kind=kind, **values)
    both = Together((edit, AddLinks((link,), within=within)), f"Add {part.label} to {target.label}")
    said = f"linked by {link_kinds()[kind].title}"
    return Landing(Offer(both, kinds=verdict.kinds, note=said), landing.rect, part)


def _types(item: NewItem) -> tuple[PartType, ...]:
    return () if item.type is None else (item.type,)


def _has_ports(kind: str) -> bool:
    known = part_kinds().get(kind)
    return known is not None and bool(known.ports)


def _outwards(geometry: Geometry, container: int, kind: str) -> int:
    """A container, or what is around it where it is of the very kind that is put in; −1 for the canvas."""
    while container >= 0 and geometry.kinds[int(geometry.kind[container])] == kind:
        if can_contain(geometry.design, kind, kind).ok:
            break
        container = int(geometry.parent[container])
    return container


def _around(geometry: Geometry, box: int, within: Address, kind: str) -> int:
    """The innermost container around a box, of its block, that may hold a part of a kind; −1 for the canvas."""
    at = int(geometry.parent[box])
    while at >= 0:
        if geometry.content_address(at) != within:
            break
        if geometry.refs[at].what != "parts":
            return at
        if can_contain(geometry.design, geometry.kinds[int(geometry.kind[at])], kind).ok:
            return at
        at = int(geometry.parent[at])
    return at if at >= 0 and geometry.refs[at].what == "groups" else -1


def _free(geometry: Geometry, container: int, x: float, y: float, size: tuple[float, float]) -> tuple[float, float]:
    neighbours = np.flatnonzero(geometry.parent == container) if len(geometry) else np.empty(0, dtype=np.int64)
    frames = np.array([k == _FRAME for k in geometry.kinds], dtype=bool)
    if len(neighbours) and frames.any():
        neighbours = neighbours[~frames[geometry.kind[neighbours]]]
    return free_spot(geometry.rect[neighbours].reshape(-1, 4), x, y, *size)


def free_point(
    view: View, bounds: Rect, rects: npt.NDArray[np.float64], width: float, height: float
) -> tuple[float, float]:
    """Where the middle of something so large may be placed: the middle of the view, or next to or below all there is,
    whichever lets the whole be seen larger.
    """
    x, y = view.to_scene(view.width / 2, view.height / 2)
    if not len(rects):
        return x, y
    apart_x = np.abs(rects[:, 0] + rects[:, 2] / 2 - x) >= (rects[:, 2] + width) / 2
    apart_y = np.abs(rects[:, 1] + rects[:, 3] / 2 - y) >= (rects[:, 3] + height) / 2
    if (apart_x | apart_y).all():
        return x, y
    left, top, wide, high = bounds
    neighbours = (wide + _APART + width, max(high, height))
    below = (max(wide, width), high + _APART + height)
    if _scale_of(view, *below) > _scale_of(view, *neighbours):
        return left + width / 2, top + high + _APART + height / 2
    return left + wide + _APART + width / 2, top + height / 2


def _scale_of(view: View, width: float, height: float) -> float:
    """How large something is shown when all of it is."""
    return min(view.width / max(width, 1.0), view.height / max(height, 1.0))
