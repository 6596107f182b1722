"""Notes and frames on the canvas."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from designer.design.document import Annotation, Design
from designer.design.edit import DesignEdit, add, change, remove, several


@dataclass(frozen=True)
class AddAnnotations(DesignEdit):
    """Put new notes or frames on the canvas."""

    annotations: tuple[Annotation, ...]

    @property
    def label(self) -> str:
        """See `Edit`."""
        return f"Add {several([a.id for a in self.annotations], 'note', 'notes')}"

    def apply(self, design: Design) -> Design:
        """See `Edit`."""
        return add(design, "annotations", self.annotations)


@dataclass(frozen=True)
class RemoveAnnotations(DesignEdit):
    """Take notes away."""

    ids: tuple[str, ...]

    @property
    def label(self) -> str:
        """See `Edit`."""
        return f"Delete {several(self.ids, 'note', 'notes')}"

    def apply(self, design: Design) -> Design:
        """See `Edit`."""
        return remove(design, "annotations", self.ids)


@dataclass(frozen=True)
class ChangeAnnotations(DesignEdit):
    """Change text, place, size or style of notes."""

    ids: tuple[str, ...]
    changes: Mapping[str, object]

    @property
    def label(self) -> str:
        """See `Edit`."""
        return f"Change {several(self.ids, 'note', 'notes')}"

    @property
    def subject(self) -> Hashable:
        """See `DesignEdit`."""
        return (self.ids, tuple(self.changes))

    def apply(self, design: Design) -> Design:
        """See `Edit`."""
        return change(design, "annotations", self.ids, self.changes)
