"""Edits whose additions cover nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from designer.design.address import Address, Ref, block_at
from designer.design.arrange.free_spot import free_spot
from designer.design.diff import diff
from designer.design.document import Design
from designer.design.edit import Extended
from designer.design.edits.clipboard import Paste
from designer.design.edits.parts import ChangeParts
from designer.design.edits.placement import Place
from designer.design.geometry import Geometry, lay_out
from designer.design.scene_geometry import GroupAddress


@dataclass(frozen=True)
class Apart(Extended):
    """An edit, after which all it added moves together to the nearest place where it covers nothing.

    Parameters
    ----------
    opened
        Groups that are shown open, which take more room than the document says; None as it says.
    """

    opened: frozenset[GroupAddress] | None = None

    def apply(self, design: Design) -> Design:
        """The changed design.

        Raises
        ------
        DocumentError
            If the edit cannot be made.
        """
        changed = self.edit.apply(design)
        changes = diff(design, changed)
        geometry = lay_out(changed, self.opened)
        for within, block in changes.blocks.items():
            after = block_at(changed, within)
            by_parent: dict[str | None, list[Ref]] = {}
            new = [(Ref("parts", i), after.parts[i].parent) for i in block["parts"].added]
            new += [(Ref("groups", i), after.groups[i].parent) for i in block["groups"].added]
            for ref, parent in new:
                if parent not in block["parts"].added:
                    by_parent.setdefault(parent, []).append(ref)
            if not within:
                by_parent.setdefault(None, []).extend(Ref("annotations", a) for a in block["annotations"].added)
            for refs in by_parent.values():
                places = _places(geometry, within, refs)
                if places:
                    changed = Place(places, within=within).apply(changed)
        return changed


def _places(geometry: Geometry, within: Address, refs: list[Ref]) -> dict[Ref, tuple[int, int]]:
    """Where things are placed that would cover others; none if they cover nothing."""
    boxes = {ref: box for ref in refs if (box := geometry.box_of(within, ref)) is not None}
    if not boxes:
        return {}
    own = np.array(sorted(boxes.values()), dtype=np.int64)
    rect = geometry.rect[own]
    left, top = rect[:, 0].min(), rect[:, 1].min()
    width, height = (rect[:, 0] + rect[:, 2]).max() - left, (rect[:, 1] + rect[:, 3]).max() - top
    neighbours = geometry.parent == geometry.parent[own[0]]
    neighbours[own] = False
    # frames are drawn behind parts, which may cover them
    frames = np.array([kind == "frame" for kind in geometry.kinds], dtype=bool)
    neighbours &= ~frames[geometry.kind] if frames.any() else True
    x, y = free_spot(geometry.rect[neighbours], float(left), float(top), float(width), float(height))
    dx, dy = round(x - left), round(y - top)
    if not (dx or dy):
        return {}
    found: dict[Ref, tuple[int, int]] = {}
    for ref, box in boxes.items():
        at = geometry.position(box)
        found[ref] = (at[0] + dx, at[1] + dy)
    return found


@dataclass(frozen=True)
class AddWhole(Paste):
    """A server with all it contains; the second one of a name is numbered."""

    @property
    def label(self) -> str:
        return "Add a server"

    def apply(self, design: Design) -> Design:
        changed = super().apply(design)
        before, after = block_at(design, self.within), block_at(changed, self.within)
        new = [p for p in after.parts.values() if p.id not in before.parts and p.parent == self.parent]
        taken = {p.label for p in before.parts.values()} | {g.label for g in before.groups.values()}
        for part in new:
            if part.label in taken:
                name = next(n for n in (f"{part.label} {k}" for k in range(2, len(taken) + 3)) if n not in taken)
                changed = ChangeParts((part.id,), {"name": name}, within=self.within).apply(changed)
        return changed
