"""Undo, redo, merging, the saved mark, transactions, limits."""

from __future__ import annotations

import pytest

from designer.design.address import Ref
from designer.design.document import Design, Part
from designer.design.edits.parts import AddParts, ChangeParts, RemoveParts
from designer.design.edits.properties import SetProperties
from designer.design.history import History
from designer.errors import DocumentError
from tests.moving import MoveBy

A = (Ref("parts", "a"),)


def fresh(**limits: int) -> History:
    """A history of a design with parts a and b."""
    parts = [Part(id="a", kind="gpu"), Part(id="b", kind="gpu")]
    return History(Design.model_validate({"name": "x", "parts": parts}), **limits)


def nudge(gesture: str | None = "nudge") -> MoveBy:
    """One press of an arrow key."""
    return MoveBy(A, 1, 0, gesture=gesture)


def remove_twice(history: History) -> None:
    """A transaction whose second edit cannot be done."""
    with history.transaction("Fails"):
        history.do(RemoveParts(("a",)))
        history.do(RemoveParts(("a",)))


def test_labels_say_what_undo_and_redo_do() -> None:
    history = fresh()
    assert (history.can_undo, history.can_redo, history.undo_label, history.redo_label) == (False, False, "", "")
    history.do(RemoveParts(("a",)))
    assert (history.can_undo, history.undo_label) == (True, "Delete part a")
    history.undo()
    assert (history.can_redo, history.redo_label) == (True, "Delete part a")
    assert history.undo() is history.design
    history.do(RemoveParts(("b",)))
    assert not history.can_redo, "a new edit forgets what was undone"


def test_an_edit_without_effect_or_with_an_error_leaves_no_trace() -> None:
    history = fresh()
    history.do(ChangeParts(("a",), {"name": ""}))
    with pytest.raises(DocumentError):
        history.do(RemoveParts(("nobody",)))
    assert (history.steps, history.modified) == ((), False)


def test_nudges_are_one_step_until_something_comes_between() -> None:
    history = fresh()
    start = history.design
    for _ in range(5):
        history.do(nudge())
    assert len(history.steps) == 1
    history.seal()
    history.do(nudge())
    history.do(nudge("other"))
    history.do(nudge(None))
    history.do(nudge(None))
    assert len(history.steps) == 5
    history.go_to(1)
    position = history.design.parts["a"].position
    assert position is not None
    assert position.x == 5
    assert history.undo() is start


def test_an_edit_after_undo_does_not_merge_with_the_step_before() -> None:
    history = fresh()
    history.do(nudge())
    kept = history.design
    history.do(SetProperties({"title": "x"}))
    history.undo()
    history.do(nudge())
    assert len(history.steps) == 2
    assert history.undo() is kept


def test_the_modified_mark_is_exact() -> None:
    history = fresh()
    history.do(nudge())
    history.mark_saved()
    assert not history.modified
    history.do(nudge())
    assert history.modified, "an edit after saving is a step of its own"
    history.undo()
    assert not history.modified
    history.undo()
    assert history.modified
    history.redo()
    assert not history.modified
    history.mark_unsaved()
    assert history.modified


def test_a_transaction_is_one_step_or_none() -> None:
    history = fresh()
    start = history.design
    with history.transaction("Two"):
        history.do(ChangeParts(("a",), {"name": "A"}))
        with history.transaction("inner"):
            history.do(ChangeParts(("b",), {"name": "B"}))
        assert not history.can_undo
    assert [(s.label, len(s.edits)) for s in history.steps] == [("Two", 2)]
    assert history.undo() is start
    history.redo()
    with pytest.raises(DocumentError):
        remove_twice(history)
    assert (len(history.steps), "a" in history.design.parts) == (1, True)
    with history.transaction("Nothing"):
        history.do(ChangeParts(("a",), {"name": "A"}))
    assert len(history.steps) == 1


def test_a_cancelled_gesture_goes_back_and_only_the_inner_one() -> None:
    history = fresh()
    history.begin("outer")
    history.do(nudge())
    moved = history.design
    history.begin("inner")
    history.do(nudge())
    assert history.cancel() is moved
    assert history.commit() is moved
    history.begin("drag")
    history.do(nudge())
    assert history.cancel() is moved
    assert [s.label for s in history.steps] == ["outer"]
    for misuse in (history.commit, history.cancel):
        with pytest.raises(AssertionError):
            misuse()


def test_the_oldest_steps_go() -> None:
    history = fresh(max_steps=3)
    for n in range(6):
        history.do(SetProperties({"title": str(n)}))
    assert (len(history.steps), history.done) == (3, 3)
    assert history.go_to(0).title == "2"
    small = fresh(max_held=1)
    for n in range(6):
        small.do(AddParts((Part(id=f"p{n}", kind="gpu"),)))
    assert len(small.steps) == 1
    assert len(small.undo().parts) == 7


def test_opening_and_closing_is_no_change_of_the_file() -> None:
    from designer.design.edits.placement import SetCollapsed

    history = fresh()
    box = next(iter(history.design.parts))
    history.do(SetCollapsed((Ref("parts", box),), True))
    assert history.can_undo
    assert not history.modified
    history.do(nudge())
    assert history.modified
    history.undo()
    assert not history.modified, "closed, but otherwise as saved"
    history.undo()
    assert not history.modified
    history.redo()
    history.mark_unsaved()
    assert history.modified
    history.do(SetCollapsed((Ref("parts", box),), False))
    assert history.modified, "what was not saved before is not saved by closing it"
