"""Assertions: the promises a design must keep."""

from __future__ import annotations

from dataclasses import dataclass

from designer.design.document import Assertion, Design
from designer.design.edit import DesignEdit, add, demand, remove, several


@dataclass(frozen=True)
class AddAssertions(DesignEdit):
    """Put new assertions into the design."""

    assertions: tuple[Assertion, ...]

    @property
    def label(self) -> str:
        return f"Assert {several([a.text for a in self.assertions], 'that', 'promises')}"

    def apply(self, design: Design) -> Design:
        demand(design, "workloads", [a.workload for a in self.assertions if a.workload is not None])
        return add(design, "assertions", self.assertions)


@dataclass(frozen=True)
class RemoveAssertions(DesignEdit):
    """Take assertions out."""

    ids: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"Delete {several(self.ids, 'assertion', 'assertions')}"

    def apply(self, design: Design) -> Design:
        return remove(design, "assertions", self.ids)
