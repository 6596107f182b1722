"""Automatic layout as an edit: of everything, or of what some containers hold."""

from __future__ import annotations

from dataclasses import dataclass

from designer.design.arrange import arrange_block
from designer.design.bends import moved_along
from designer.design.document import Block
from designer.design.edit import BlockEdit, demand, several


@dataclass(frozen=True)
class Arrange(BlockEdit):
    """Give positions to the contents of parts, or with none named, to everything of a block and of its groups.

    Parameters
    ----------
    containers
        Ids of parts whose contents are arranged.
    only_missing
        Leave alone what has a position.
    """

    containers: tuple[str, ...] = ()
    only_missing: bool = False

    @property
    def label(self) -> str:
        what = several(self.containers, "", "containers").strip() if self.containers else "everything"
        return f"Arrange {what}"

    def change(self, block: Block) -> Block:
        demand(block, "parts", self.containers, self.within)
        return moved_along(block, arrange_block(block, self.only_missing, self.containers or None))
