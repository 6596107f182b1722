"""Edits that only tests make: random designs need groups at once, and members that differ before anything is edited."""

from __future__ import annotations

from dataclasses import dataclass

from designer.design.address import get_group, missing
from designer.design.document import Block, Design, Group
from designer.design.edit import BlockEdit, add, put
from designer.design.validation import check_size
from designer.errors import DocumentError


@dataclass(frozen=True)
class AddGroup(BlockEdit):
    """Put a new group into a block."""

    group: Group

    @property
    def label(self) -> str:
        return f"Add {self.group.replicas} × {self.group.label}"

    def apply(self, design: Design) -> Design:
        return check_size(super().apply(design), self.place("groups", self.group.id))

    def change(self, block: Block) -> Block:
        if self.group.parent is not None and self.group.parent not in block.parts:
            raise missing("parts", self.group.parent, self.within)
        wrong = [k for k in self.group.exceptions if not 0 <= k < self.group.replicas]
        if wrong:
            raise DocumentError(
                f"member {wrong[0]} is outside the group of {self.group.replicas}",
                place=self.place("groups", self.group.id, "exceptions"),
                remedy=f"choose members 0 to {self.group.replicas - 1}",
            )
        return add(block, "groups", (self.group,), self.within)


@dataclass(frozen=True)
class MakeException(BlockEdit):
    """Give one member of a group a block of its own, equal to the common one until it is edited."""

    group: str
    member: int

    @property
    def label(self) -> str:
        return f"Make {self.group}[{self.member}] an exception"

    def change(self, block: Block) -> Block:
        group = get_group(block, self.group, self.within)
        if not 0 <= self.member < group.replicas:
            raise DocumentError(
                f"there is no member {self.member} in a group of {group.replicas}",
                place=self.place("groups", self.group),
                remedy=f"choose 0 to {group.replicas - 1}",
            )
        if self.member in group.exceptions:
            return block
        exceptions = {**group.exceptions, self.member: group.content}
        return put(block, "groups", (group.model_copy(update={"exceptions": exceptions}),))
