"""What the boxes of a picture are, worked out at first need and shared by pictures with the same boxes. No Qt."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from designer.design.geometry import Geometry
from designer.drawing.rect_index import RectIndex

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


class BoxFacts:
    """What depends on the boxes alone."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry

    def hold_for(self, geometry: Geometry) -> bool:
        """True if another picture has the same boxes."""
        return self._geometry.rect is geometry.rect and self._geometry.kind is geometry.kind

    @cached_property
    def index(self) -> RectIndex:
        """Finds boxes."""
        return RectIndex(self._geometry.rect)

    @cached_property
    def codes(self) -> dict[str, int]:
        """Number of each box kind."""
        return {name: i for i, name in enumerate(self._geometry.kinds)}

    @cached_property
    def is_note(self) -> Bool:
        """Which boxes are notes. : (n,)"""
        return self._geometry.kind == self.codes.get("note", -1)

    @cached_property
    def is_frame(self) -> Bool:
        """Which boxes are frames. : (n,)"""
        return self._geometry.kind == self.codes.get("frame", -1)

    @cached_property
    def is_card(self) -> Bool:
        """Which boxes are cards: neither open containers nor annotations. : (n,)"""
        return ~(self._geometry.is_container | self.is_note | self.is_frame)

    @cached_property
    def child_extent(self) -> Float:
        """Mean width of what each open container holds, 0 for others, scene units. : (n,)"""
        geometry = self._geometry
        inside = np.flatnonzero(geometry.parent >= 0)
        n = len(geometry)
        held = np.bincount(geometry.parent[inside], minlength=n)
        wide = np.bincount(geometry.parent[inside], weights=geometry.rect[inside, 2], minlength=n)
        return wide / np.maximum(held, 1)

    @cached_property
    def card_sides(self) -> Float:
        """Left, top, right and bottom of all cards. : (n_cards, 4)"""
        rect = self._geometry.rect[self.is_card]
        return np.concatenate((rect[:, :2], rect[:, :2] + rect[:, 2:]), axis=1)
