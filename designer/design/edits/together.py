"""Several edits as one step."""

from __future__ import annotations

from dataclasses import dataclass

from designer.design.document import Design
from designer.design.edit import DesignEdit, Edit


@dataclass(frozen=True)
class Together(DesignEdit):
    """Edits applied one after the other, undone as one."""

    edits: tuple[Edit, ...]
    title: str = ""

    @property
    def label(self) -> str:
        return self.title or "; ".join(edit.label for edit in self.edits)

    def apply(self, design: Design) -> Design:
        for edit in self.edits:
            design = edit.apply(design)
        return design
