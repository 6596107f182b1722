"""Wirings: links by a pattern between selected parts. What would not join is refused with the pattern's reason."""

from __future__ import annotations

from dataclasses import dataclass

from designer.design.address import block_at, with_block
from designer.design.document import Block, Design, Wiring
from designer.design.edit import BlockEdit, ChangeFields, RemoveEntries, add, change
from designer.design.elaborate import elaborate


@dataclass(frozen=True)
class AddWirings(BlockEdit):
    """Put new wirings into a block."""

    wirings: tuple[Wiring, ...]

    @property
    def label(self) -> str:
        if len(self.wirings) == 1:
            return f"Connect {self.wirings[0].a} to {self.wirings[0].b}"
        return f"Add {len(self.wirings)} wirings"

    def change(self, block: Block) -> Block:
        grown = add(block, "wirings", self.wirings, self.within)
        elaborate(grown)
        return grown


@dataclass(frozen=True)
class RemoveWirings(RemoveEntries):
    """Take wirings out."""

    what = "wirings"


@dataclass(frozen=True)
class ChangeWirings(ChangeFields):
    """Change the same fields of some wirings: pattern, ends, kind, count, bandwidth_per_direction …"""

    what = "wirings"

    def apply(self, design: Design) -> Design:
        block = block_at(design, self.within)
        new = change(block, "wirings", self.ids, self.changes, self.within)
        if new is block:
            return design
        if {"a", "b", "pattern"} & set(self.changes):
            elaborate(new)
        return with_block(design, self.within, new)
