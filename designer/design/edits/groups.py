"""Groups: add, remove, change, rename, and how many members they have."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from designer.design.address import block_at, with_block
from designer.design.document import Block, Design
from designer.design.edit import BlockEdit, ChangeFields, changed, demand, put, with_id
from designer.design.references import reaches, rewrite_references, with_head
from designer.design.selectors import parse_selector
from designer.design.validation import check_size


@dataclass(frozen=True)
class ChangeGroups(ChangeFields):
    """Change the same fields of some groups: name, naming, note, collapsed."""

    what = "groups"
    fixed = ("id", "replicas", "content", "exceptions", "parent")


@dataclass(frozen=True)
class SetReplicas(BlockEdit):
    """Repeat a group more or less often; exceptions and links of members that go away go with them."""

    id: str
    replicas: int

    @property
    def label(self) -> str:
        return f"Repeat {self.id} {self.replicas} times"

    @property
    def subject(self) -> Hashable:
        return (self.within, self.id)

    def apply(self, design: Design) -> Design:
        block = block_at(design, self.within)
        demand(block, "groups", (self.id,), self.within)
        group = block.groups[self.id]
        if group.replicas == self.replicas:
            return design
        kept = {k: v for k, v in group.exceptions.items() if k < self.replicas}
        at = self.place("groups", self.id)
        new = changed(group, {"replicas": self.replicas, "exceptions": kept}, at)
        block = put(block, "groups", (new,))
        design = check_size(with_block(design, self.within, block), at)
        if self.replicas > group.replicas:
            return design
        return rewrite_references(design, self.within, {self.id}, lambda path: self._clip_path(block, path))

    def _clip_path(self, block: Block, path: str) -> str | None:
        if "/" not in path:
            return path
        step = parse_selector(path).steps[0]
        if step.high is None or step.high < self.replicas:
            return path
        if step.low >= self.replicas:
            return None
        last = self.replicas - 1
        members = f"[{step.low}-{last}]" if step.low < last else f"[{last}]"
        clipped = f"{step.group}{members}/{path.split('/', 1)[1]}"
        return clipped if reaches(block, clipped) else None


@dataclass(frozen=True)
class SetGroupId(BlockEdit):
    """Give a group another id; everything that refers to it follows."""

    id: str
    new_id: str

    @property
    def label(self) -> str:
        return f"Call {self.id} {self.new_id}"

    def apply(self, design: Design) -> Design:
        block = block_at(design, self.within)
        renamed = with_id(block, "groups", self.id, self.new_id, self.within)
        if self.new_id == self.id:
            return design
        groups = {self.new_id if k == self.id else k: renamed if k == self.id else g for k, g in block.groups.items()}
        return rewrite_references(
            with_block(design, self.within, block.model_copy(update={"groups": groups})),
            self.within,
            {self.id},
            lambda path: with_head(path, self.new_id) if "/" in path else path,
        )
