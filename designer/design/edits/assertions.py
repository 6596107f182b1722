"""Assertions: the promises a design must keep."""

from __future__ import annotations

from dataclasses import dataclass

from designer.design.document import Assertion, Design
from designer.design.edit import DesignEdit, RemoveEntries, add, demand, several


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
class RemoveAssertions(RemoveEntries):
    """Take assertions out."""

    what = "assertions"
