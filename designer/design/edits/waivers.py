"""Waivers: findings that were looked at and accepted."""

from __future__ import annotations

from dataclasses import dataclass

from designer.design.document import Design, Waiver
from designer.design.edit import DesignEdit, RemoveEntries, add, several


@dataclass(frozen=True)
class AddWaivers(DesignEdit):
    """Accept findings, with reason, author and last day."""

    waivers: tuple[Waiver, ...]

    @property
    def label(self) -> str:
        return f"Waive {several([w.code for w in self.waivers], 'finding', 'findings')}"

    def apply(self, design: Design) -> Design:
        return add(design, "waivers", self.waivers)


@dataclass(frozen=True)
class RemoveWaivers(RemoveEntries):
    """Report waived findings again."""

    what = "waivers"
