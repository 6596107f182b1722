"""Notes and frames on the canvas."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from designer.design.address import missing
from designer.design.document import Annotation, Design, with_changes
from designer.design.edit import DesignEdit, add, change, put, several


@dataclass(frozen=True)
class AddAnnotations(DesignEdit):
    """Put new notes or frames on the canvas."""

    annotations: tuple[Annotation, ...]

    @property
    def label(self) -> str:
        return f"Add {several([a.id for a in self.annotations], 'note', 'notes')}"

    def apply(self, design: Design) -> Design:
        return add(design, "annotations", self.annotations)


@dataclass(frozen=True)
class ChangeAnnotations(DesignEdit):
    """Change text, place, size or style of notes."""

    ids: tuple[str, ...]
    changes: Mapping[str, object]

    @property
    def label(self) -> str:
        return f"Change {several(self.ids, 'note', 'notes')}"

    @property
    def subject(self) -> Hashable:
        return (self.ids, tuple(self.changes))

    def apply(self, design: Design) -> Design:
        return change(design, "annotations", self.ids, self.changes)


@dataclass(frozen=True)
class OrderAnnotations(DesignEdit):
    """Bring notes and frames before all others of their style, or behind them; among themselves they stay as they are.

    Frames are behind all parts and notes in front of them, whatever their order.
    """

    ids: tuple[str, ...]
    front: bool

    @property
    def label(self) -> str:
        notes = several(self.ids, "note", "notes")
        return f"Bring {notes} to front" if self.front else f"Send {notes} to back"

    def apply(self, design: Design) -> Design:
        chosen = set(self.ids)
        if not chosen <= design.annotations.keys():
            raise missing("annotations", min(chosen - design.annotations.keys()))
        drawn = sorted(design.annotations.values(), key=lambda note: note.order)
        moved: list[Annotation] = []
        for style in ("frame", "note"):
            of_style = [note for note in drawn if note.style == style]
            mine = [note for note in of_style if note.id in chosen]
            others = [note.order for note in of_style if note.id not in chosen]
            ends = of_style[-len(mine) :] if self.front else of_style[: len(mine)]
            if not mine or ends == mine:
                continue
            first = max(others) + 1 if self.front else min(others) - len(mine)
            moved += [with_changes(note, order=first + i) for i, note in enumerate(mine)]
        return put(design, "annotations", moved) if moved else design
