"""What the layout moves around."""

from __future__ import annotations

from typing import NamedTuple

from designer.design.address import Ref


class Item(NamedTuple):
    """A box to find a place for, extents in scene units."""

    ref: Ref
    kind: str
    width: float
    height: float


#: top left corners
Places = dict[Ref, tuple[float, float]]
