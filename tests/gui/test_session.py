"""A session: one diff an edit, selection that follows the design, transactions, clipboard text."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("PySide6")

from designer.analysis.study import analyze
from designer.design.address import Ref
from designer.design.diff import Diff
from designer.design.document import Part, WorkloadSpec
from designer.design.edits.parts import AddParts, ChangeParts
from designer.design.edits.workloads import AddWorkloads
from designer.gui.session import Session
from tests.designs import one_server, one_unit

GPU0 = ((), Ref("parts", "gpu0"))
GPU1 = ((), Ref("parts", "gpu1"))


@pytest.fixture
def session(qapp: object) -> Session:
    return Session(one_server())


def diffs_of(session: Session) -> list[Diff]:
    seen: list[Diff] = []
    session.design_changed.connect(seen.append)
    return seen


def test_an_edit_sends_one_diff_and_undo_another(session: Session) -> None:
    seen = diffs_of(session)
    start = session.design
    assert session.apply(ChangeParts(("gpu0",), {"name": "first"}))
    assert seen[0]["parts"].changed == ("gpu0",)
    session.undo()
    session.redo()
    session.undo()
    assert len(seen) == 4
    assert session.design is start


def test_an_edit_that_cannot_be_made_is_reported_and_changes_nothing(session: Session) -> None:
    seen, said = diffs_of(session), list[str]()
    session.warned.connect(said.append)
    assert not session.apply(ChangeParts(("nowhere",), {"name": "x"}))
    assert not seen
    assert "nowhere" in said[0]


def test_deleted_things_are_not_selected_any_more_and_a_duplicate_is(session: Session) -> None:
    session.select([GPU0, GPU1])
    session.delete()
    assert not session.selection
    session.undo()
    session.select([GPU0])
    session.duplicate()
    assert len(session.selection) == 1
    (chosen,) = session.selection
    assert chosen != GPU0
    assert chosen[1].id in session.design.parts


def test_a_transaction_is_one_step_and_a_cancelled_one_none(session: Session) -> None:
    start = session.design
    with session.transaction("Rename two"):
        session.apply(ChangeParts(("gpu0",), {"name": "a"}))
        session.apply(ChangeParts(("gpu1",), {"name": "b"}))
    assert len(session.history.steps) == 1
    session.begin("Drag")
    session.apply(ChangeParts(("gpu2",), {"name": "c"}))
    session.cancel()
    assert session.design.parts["gpu2"].name == ""
    session.undo()
    assert session.design is start


def test_the_modified_mark_is_exact(session: Session, tmp_path: Path) -> None:
    marks: list[bool] = []
    session.modified_changed.connect(marks.append)
    session.apply(ChangeParts(("gpu0",), {"name": "a"}))
    session.undo()
    session.redo()
    session.mark_saved(tmp_path / "x.design.json")
    session.undo()
    assert marks == [True, False, True, False, True]


def test_copies_pass_between_sessions_as_text(session: Session) -> None:
    other = Session(one_server())
    session.select([GPU0])
    text = session.copy()
    assert other.paste(text)
    assert len(other.design.parts) == len(session.design.parts) + 1
    assert not other.paste("a letter to a friend")


def test_things_in_groups_are_found_by_their_address(qapp: object) -> None:
    session = Session(one_unit(4))
    inside = ((("servers", None),), Ref("parts", "gpu0"))
    session.select([inside])
    session.delete()
    assert "gpu0" not in session.design.groups["servers"].content.parts
    session.undo()
    assert "gpu0" in session.design.groups["servers"].content.parts


def test_an_added_server_is_selected_without_what_it_contains(session: Session) -> None:
    new = (Part(id="s2", kind="server"), Part(id="g", kind="gpu", parent="s2"))
    session.apply(AddParts(new), select_new=True)
    assert session.selection == {((), Ref("parts", "s2"))}


def test_a_new_workload_makes_the_answer_stale(session: Session) -> None:
    assert not session.stale
    session.apply(AddWorkloads((WorkloadSpec(id="w", kind="transfer"),)))
    assert session.stale
    assert session.workload == "w"
    session.undo()
    assert session.workload == ""


def test_what_is_lit_stays_lit_when_the_full_answer_follows_the_quick_one(session: Session) -> None:
    session.set_analysis(analyze(session.design, curves=False))
    session.set_highlight(["psw0--gpu0:ab"])
    session.set_analysis(analyze(session.design))
    assert session.highlight == {"psw0--gpu0:ab"}
    session.apply(ChangeParts(("gpu0",), {"name": "first"}))
    session.set_analysis(analyze(session.design))
    assert not session.highlight
