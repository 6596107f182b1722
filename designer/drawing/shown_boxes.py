"""Which box of a picture shows a thing of the design. No Qt."""

from __future__ import annotations

from designer.design.address import Address, Ref
from designer.design.document import Design
from designer.design.geometry import Geometry
from designer.memo import memo


def shown_address(geometry: Geometry, within: Address) -> Address:
    """The address under which a block is drawn: of a member where one is chosen."""
    if within in geometry.blocks or not within:
        return within
    for shown in geometry.blocks:
        if len(shown) == len(within) and all(a[0] == b[0] for a, b in zip(shown, within, strict=True)):
            return shown
    return within


def box_of(geometry: Geometry, picked: tuple[Address, Ref]) -> int | None:
    """Number of the box that shows a thing; None if it is not drawn."""
    within, ref = picked
    if not within and ref.what in ("parts", "groups"):
        own = geometry.boxes.own.get(ref, -1)
        box = own + _frames_behind(geometry.design) if own >= 0 else -1
        return box if box >= 0 and geometry.refs[box] == ref else None
    return geometry.box_of(shown_address(geometry, within), ref)


@memo(most=4)
def _frames_behind(design: Design) -> int:
    """How many frames are drawn before the first part."""
    return sum(1 for a in design.annotations.values() if a.style == "frame")
