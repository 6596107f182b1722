"""Undo and redo over whole designs: every step keeps the design before and after it, so there are no inverses.

Designs share all that did not change, so a step costs about the collection it touched; the oldest steps go when
there are too many or they hold too much.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from designer.design.address import BLOCK_COLLECTIONS, DESIGN_COLLECTIONS
from designer.design.diff import diff
from designer.design.document import Block, Design
from designer.design.edit import Edit
from designer.design.edits.placement import SetCollapsed

MAX_STEPS: Final = 1000
#: memory all steps together may hold beyond the current design, roughly [B]
MAX_HELD: Final = 256_000_000


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what was done (of merged edits the last), and the designs before and after it."""

    edits: tuple[Edit, ...]
    before: Design
    after: Design
    label: str
    merge_key: Hashable | None
    held: int


class History:
    """The current design and how it came to be.

    Parameters
    ----------
    design
        The design to start from; it counts as saved.
    max_steps
        So many steps can be undone.
    """

    def __init__(self, design: Design, max_steps: int = MAX_STEPS, max_held: int = MAX_HELD) -> None:
        self._design = design
        #: the saved design, and those that differ from it only in what is open
        self._saved: list[Design] = [design]
        self._steps: list[Step] = []
        self._done = 0
        self._sealed = True
        self._held = 0
        self._open: _Transaction | None = None
        self._max_steps, self._max_held = max_steps, max_held

    @property
    def design(self) -> Design:
        """The current design."""
        return self._design

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, oldest first; the first ``done`` of them are in the current design."""
        return tuple(self._steps)

    @property
    def done(self) -> int:
        """How many of the steps are done and not undone."""
        return self._done

    @property
    def can_undo(self) -> bool:
        """True if there is a step to undo."""
        return self._done > 0 and self._open is None

    @property
    def can_redo(self) -> bool:
        """True if there is a step to redo."""
        return self._done < len(self._steps) and self._open is None

    @property
    def undo_label(self) -> str:
        """What undo would take back; empty if nothing."""
        return self._steps[self._done - 1].label if self._done else ""

    @property
    def redo_label(self) -> str:
        """What redo would do again; empty if nothing."""
        return self._steps[self._done].label if self._done < len(self._steps) else ""

    @property
    def modified(self) -> bool:
        """True if the current design is another than the saved one; undo back to it makes this False again.

        Opening and closing containers and groups is a way of looking at a design: it is saved along with the next
        change, but is none.
        """
        return not any(self._design is saved for saved in self._saved)

    def mark_saved(self) -> None:
        """The current design is now the saved one; the next edit begins a step of its own."""
        self._saved = [self._design]
        self._sealed = True

    def mark_unsaved(self) -> None:
        """No design of this history is on disk: after recovery, or when the file was changed by others."""
        self._saved = []

    def seal(self) -> None:
        """End the present gesture: the next edit does not merge with the last one."""
        self._sealed = True

    def do(self, edit: Edit) -> Design:
        """Apply an edit; the design after it. Nothing is recorded if it changes nothing.

        Raises
        ------
        DocumentError
            If the edit cannot be done; the design and history stay as they were.
        """
        before = self._design
        after = edit.apply(before)
        if after is before:
            return before
        if self._open is not None:
            self._open.edits.append(edit)
            self._design = after
            return after
        self._push((edit,), before, after, edit.label, edit.merge_key)
        return after

    def _push(self, edits: tuple[Edit, ...], before: Design, after: Design, label: str, key: Hashable | None) -> None:
        for undone in self._steps[self._done :]:
            self._held -= undone.held
        redone = len(self._steps) > self._done
        del self._steps[self._done :]
        last = self._steps[-1] if self._steps else None
        if last is not None and key is not None and last.merge_key == key and not self._sealed and not redone:
            self._steps.pop()
            self._held -= last.held
            before = last.before
        if (
            isinstance(edits[-1], SetCollapsed)
            and any(s is before for s in self._saved)
            and diff(before, after).only_folds
        ):
            self._saved.append(after)
        held = weight(before, after)
        self._steps.append(Step(edits, before, after, label, key, held))
        self._held += held
        self._design = after
        self._done = len(self._steps)
        self._sealed = False
        self._forget()

    def _forget(self) -> None:
        while len(self._steps) > self._max_steps or (self._held > self._max_held and len(self._steps) > 1):
            self._held -= self._steps.pop(0).held
            self._done -= 1

    def undo(self) -> Design:
        """Take the last step back; the design before it. Does nothing at the beginning."""
        assert self._open is None, "undo within a transaction"
        if self._done:
            self._done -= 1
            self._design = self._steps[self._done].before
            self._sealed = True
        return self._design

    def redo(self) -> Design:
        """Do the next undone step again; the design after it. Does nothing at the end."""
        assert self._open is None, "redo within a transaction"
        if self._done < len(self._steps):
            self._design = self._steps[self._done].after
            self._done += 1
            self._sealed = True
        return self._design

    def go_to(self, done: int) -> Design:
        """Undo or redo until `done` steps are done, for a list of steps to click in."""
        done = max(0, min(len(self._steps), done))
        while self._done > done:
            self.undo()
        while self._done < done:
            self.redo()
        return self._design

    def begin(self, label: str, merge_key: Hashable | None = None) -> None:
        """Open a transaction: all edits until `commit` become one step, or none with `cancel`. They may nest."""
        if self._open is not None:
            self._open.depth += 1
            self._open.marks.append((self._design, len(self._open.edits)))
            return
        self._open = _Transaction(label, merge_key, self._design)

    def commit(self) -> Design:
        """Close the innermost open transaction; the outermost becomes one step."""
        assert self._open is not None, "no transaction is open"
        if self._open.depth:
            self._open.depth -= 1
            self._open.marks.pop()
            return self._design
        closing, self._open = self._open, None
        after = self._design
        if after is not closing.before:
            self._design = closing.before
            self._push(tuple(closing.edits), closing.before, after, closing.label, closing.merge_key)
        return self._design

    def cancel(self) -> Design:
        """Close the innermost open transaction and forget what was done in it, without a trace."""
        assert self._open is not None, "no transaction is open"
        if self._open.depth:
            self._open.depth -= 1
            self._design, n_edits = self._open.marks.pop()
            del self._open.edits[n_edits:]
            return self._design
        self._design = self._open.before
        self._open = None
        return self._design

    @contextmanager
    def transaction(self, label: str, merge_key: Hashable | None = None) -> Generator[History, None, None]:
        """Several edits as one step; an exception takes them all back and goes on."""
        self.begin(label, merge_key)
        try:
            yield self
        except BaseException:
            self.cancel()
            raise
        self.commit()


class _Transaction:
    """An open transaction; inner ones keep where they began."""

    def __init__(self, label: str, merge_key: Hashable | None, before: Design) -> None:
        self.label, self.merge_key, self.before = label, merge_key, before
        self.edits: list[Edit] = []
        self.depth = 0
        self.marks: list[tuple[Design, int]] = []


def weight(before: Block, after: Block) -> int:
    """Memory that keeping `before` next to `after` costs, roughly: the collections they do not share [B]."""
    if before is after:
        return 0
    names = (*BLOCK_COLLECTIONS, *DESIGN_COLLECTIONS) if isinstance(before, Design) else BLOCK_COLLECTIONS
    total = 1000
    for name in names:
        old, new = getattr(before, name), getattr(after, name)
        if old is not new:
            # what was removed or exchanged is kept alive, about 1 kB an object
            total += sys.getsizeof(old) + 1000 * (abs(len(old) - len(new)) + 1)
    if before.groups is not after.groups:
        for key, group in before.groups.items():
            other = after.groups.get(key)
            if other is not None and other is not group and other.content is not group.content:
                total += weight(group.content, other.content)
    return total
