"""An edit that moves things by a distance from where they are placed, as many presses of arrow keys do."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from designer.design.address import Ref, get_item
from designer.design.document import Block
from designer.design.edit import BlockEdit
from designer.design.edits.placement import Place


@dataclass(frozen=True)
class MoveBy(BlockEdit):
    refs: tuple[Ref, ...]
    dx: int
    dy: int

    @property
    def label(self) -> str:
        return f"Move {len(self.refs)} things"

    @property
    def subject(self) -> Hashable:
        return (self.within, self.refs)

    def change(self, block: Block) -> Block:
        here = {ref: get_item(block, ref, self.within).position for ref in self.refs}
        places = {r: (at.x + self.dx, at.y + self.dy) if at else (self.dx, self.dy) for r, at in here.items()}
        return Place(places, within=self.within).change(block)
