"""Another design in place of this one, as one step."""

from __future__ import annotations

from dataclasses import dataclass

from designer.design.document import Design
from designer.design.edit import DesignEdit


@dataclass(frozen=True)
class Replace(DesignEdit):
    """Take over a whole design: what a file holds now, after somebody else changed it."""

    design: Design

    @property
    def label(self) -> str:
        return "Reload from the file"

    def apply(self, design: Design) -> Design:
        return design if design == self.design else self.design
