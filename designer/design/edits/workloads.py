"""Workloads: add, remove, change, turn one setting, choose the one shown first."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from designer.design.address import missing
from designer.design.document import Design, WorkloadSpec
from designer.design.edit import DesignEdit, RemoveEntries, add, change, put, several


@dataclass(frozen=True)
class AddWorkloads(DesignEdit):
    """Put new workloads into the design; the first of a design becomes its default."""

    workloads: tuple[WorkloadSpec, ...]

    @property
    def label(self) -> str:
        return f"Add {several([w.title or w.id for w in self.workloads], 'workload', 'workloads')}"

    def apply(self, design: Design) -> Design:
        grown = add(design, "workloads", self.workloads)
        if grown is not design and not design.workloads and not design.default_workload:
            grown = grown.model_copy(update={"default_workload": self.workloads[0].id})
        return grown


@dataclass(frozen=True)
class RemoveWorkloads(RemoveEntries):
    """Take workloads out, with the assertions about them."""

    what = "workloads"

    def apply(self, design: Design) -> Design:
        smaller, gone = super().apply(design), set(self.ids)
        smaller = put(smaller, "assertions", removed=[a.id for a in design.assertions.values() if a.workload in gone])
        if smaller.default_workload in gone:
            smaller = smaller.model_copy(update={"default_workload": next(iter(smaller.workloads), "")})
        return smaller


@dataclass(frozen=True)
class ChangeWorkload(DesignEdit):
    """Change fields of a workload: kind, title, settings, note."""

    id: str
    changes: Mapping[str, object]

    @property
    def label(self) -> str:
        return f"Change {' and '.join(self.changes)} of workload {self.id}"

    @property
    def subject(self) -> Hashable:
        return (self.id, tuple(self.changes))

    def apply(self, design: Design) -> Design:
        return change(design, "workloads", (self.id,), self.changes)


@dataclass(frozen=True)
class SetDefaultWorkload(DesignEdit):
    """Choose the workload that is shown first."""

    id: str

    @property
    def label(self) -> str:
        return f"Show workload {self.id}"

    def apply(self, design: Design) -> Design:
        if self.id and self.id not in design.workloads:
            raise missing("workloads", self.id)
        if self.id == design.default_workload:
            return design
        return design.model_copy(update={"default_workload": self.id})
