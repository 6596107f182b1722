"""Several edits of one gesture as one edit, so that they are one step of undo."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from designer.design.document import Design
from designer.design.edit import Edit


@dataclass(frozen=True)
class Together:
    """Edits done one after the other, all or none."""

    edits: tuple[Edit, ...]
    title: str

    @property
    def label(self) -> str:
        """What they do together."""
        return self.title

    @property
    def merge_key(self) -> Hashable | None:
        """They merge if all of them do."""
        keys = tuple(edit.merge_key for edit in self.edits)
        return None if None in keys else keys

    def apply(self, design: Design) -> Design:
        """The changed design.

        Raises
        ------
        DocumentError
            If one of them cannot be done; then nothing changes.
        """
        for edit in self.edits:
            design = edit.apply(design)
        return design
