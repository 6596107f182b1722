"""Files that others change, delete or have open while they are open here: stated, asked, and nobody written over."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from designer.design.edits.properties import SetProperties
from designer.gui.documents import Document, FileState
from designer.gui.files import Files
from designer.gui.main_window import MainWindow
from designer.interchange.native.held import file_lock
from designer.interchange.native.reader import load
from designer.interchange.native.writer import Conflict, dumps
from tests.designs import one_server


def titled(title: str) -> str:
    return dumps(SetProperties({"title": title}).apply(one_server()))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A design file."""
    made = tmp_path / "a.design.json"
    made.write_text(titled("first"), encoding="utf-8")
    return made


def opened(window: MainWindow, file: Path) -> Document:
    document = window.workspace.open(file)
    assert document is not None
    return document


def rename(document: Document, title: str) -> None:
    assert document.session.apply(SetProperties({"title": title}))


def by_somebody(qtbot: QtBot, document: Document, file: Path, title: str) -> None:
    """Somebody else saves the file, and the window notices by itself."""
    file.write_text(titled(title), encoding="utf-8")
    qtbot.waitUntil(lambda: document.file_state is FileState.CHANGED, timeout=5_000)


def answers(monkeypatch: pytest.MonkeyPatch, *given: str) -> list[Conflict]:
    asked: list[Conflict] = []

    def answer(_self: Files, _document: Document, _file: Path, conflict: Conflict) -> str:
        asked.append(conflict)
        return given[len(asked) - 1]

    monkeypatch.setattr(Files, "ask_about", answer)
    return asked


def test_a_changed_file_is_noticed_and_reloaded_as_a_step_one_can_undo(
    window: MainWindow, qtbot: QtBot, file: Path
) -> None:
    document = opened(window, file)
    rename(document, "mine")
    by_somebody(qtbot, document, file, "theirs")
    assert window.notice.isVisible()
    assert "changed by somebody else" in window.notice.text.text()
    qtbot.mouseClick(window.notice.buttons["reload"], Qt.MouseButton.LeftButton)
    assert document.session.design.title == "theirs"
    assert not document.session.modified
    assert not window.notice.isVisible()
    document.session.undo()
    assert document.session.design.title == "mine"
    assert document.session.modified


def test_saving_over_a_changed_file_asks_and_cancel_leaves_both(
    window: MainWindow, qtbot: QtBot, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = opened(window, file)
    rename(document, "mine")
    file.write_text(titled("theirs"), encoding="utf-8")
    asked = answers(monkeypatch, "cancel", "keep")
    # at once, before anything was noticed: the file itself is looked at
    assert not window.files.save_document(document)
    assert (load(file).design.title, document.session.design.title) == ("theirs", "mine")
    assert document.session.modified
    assert window.files.save_document(document)
    assert load(file).design.title == "mine"
    assert len(asked) == 2


def test_a_file_replaced_between_two_looks_is_still_the_same_one(
    window: MainWindow, qtbot: QtBot, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another writer puts a new file in its place just while a save asks whether this is the file it read."""
    document = opened(window, file)
    rename(document, "mine")
    file.write_text(titled("theirs"), encoding="utf-8")
    monkeypatch.setattr(Path, "samefile", lambda one, other: False)
    asked = answers(monkeypatch, "cancel")
    assert not window.files.save_to(document, file)
    assert [conflict.found is not None for conflict in asked] == [True]
    assert load(file).design.title == "theirs"


def test_an_answer_holds_for_what_was_asked_about_alone(
    window: MainWindow, qtbot: QtBot, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = opened(window, file)
    rename(document, "mine")
    file.write_text(titled("theirs"), encoding="utf-8")
    asked: list[Conflict] = []

    def answer(_self: Files, _document: Document, _file: Path, conflict: Conflict) -> str:
        asked.append(conflict)
        if len(asked) == 1:
            # while the question stands somebody saves once more
            file.write_text(titled("newer"), encoding="utf-8")
            return "keep"
        return "cancel"

    monkeypatch.setattr(Files, "ask_about", answer)
    assert not window.files.save_document(document)
    assert len(asked) == 2
    assert load(file).design.title == "newer"


def test_keep_mine_goes_on_and_saving_writes_it(
    window: MainWindow, qtbot: QtBot, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = opened(window, file)
    by_somebody(qtbot, document, file, "theirs")
    window.notice.buttons["keep"].click()
    assert not window.notice.isVisible()
    assert document.session.modified, "the file holds something else"
    asked = answers(monkeypatch, "cancel")
    assert window.files.save_document(document)
    assert load(file).design.title == "first"
    assert not asked


def test_compare_shows_the_file_beside_the_design(window: MainWindow, qtbot: QtBot, file: Path) -> None:
    document = opened(window, file)
    by_somebody(qtbot, document, file, "theirs")
    window.notice.buttons["compare"].click()
    assert window.places is not None
    panel = window.places.compare
    qtbot.waitUntil(panel.isVisible, timeout=5_000)
    assert panel.chooser.currentText() == "its file as it is now"
    assert document.on_disk() is not None
    assert window.notice.isVisible(), "nothing was decided yet"


def test_a_deleted_file_is_noticed_and_can_be_written_anew(window: MainWindow, qtbot: QtBot, file: Path) -> None:
    document = opened(window, file)
    file.unlink()
    qtbot.waitUntil(lambda: document.file_state is FileState.DELETED, timeout=5_000)
    assert "deleted or moved" in window.notice.text.text()
    window.notice.buttons["save"].click()
    assert load(file).design.title == "first"
    assert document.file_state is FileState.OURS
    assert not window.notice.isVisible()
    # and it is watched again
    by_somebody(qtbot, document, file, "theirs")


def test_a_file_that_is_replaced_is_watched_on(window: MainWindow, qtbot: QtBot, file: Path) -> None:
    document = opened(window, file)
    for turn in range(3):
        beside = file.with_suffix(".new")
        beside.write_text(titled(f"turn {turn}"), encoding="utf-8")
        beside.replace(file)
        qtbot.waitUntil(lambda: document.file_state is FileState.CHANGED, timeout=5_000)
        document.reload()
        assert document.session.design.title == f"turn {turn}"


def test_a_second_window_is_reported_who_has_the_file_and_asked_before_it_saves(
    window: MainWindow, qtbot: QtBot, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = opened(window, file)
    other = MainWindow(window.settings)
    other.show()
    second = opened(other, file)
    assert second.file_state is FileState.SHARED
    assert second.owner is not None
    assert second.owner.text in other.notice.text.text()
    rename(first, "of the first")
    rename(second, "of the second")
    asked = answers(monkeypatch, "cancel", "keep", "cancel")
    assert not other.files.save_document(second)
    assert asked[0].owner is not None
    assert load(file).design.title == "first"
    assert other.files.save_document(second)
    # now it is the first that would write over the other
    assert not window.files.save_document(first)
    assert load(file).design.title == "of the second"
    assert len(asked) == 3
    window.workspace.close(first)
    second.look()
    assert second.file_state is FileState.OURS, "the file is ours once the first window has let go of it"
    other.close()
    other.deleteLater()
    assert file_lock(file).owner() is None
    assert [p.name for p in file.parent.glob(".*")] == []


def test_save_as_over_a_file_that_is_open_elsewhere_asks(
    window: MainWindow, qtbot: QtBot, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = file_lock(file)
    assert lock.take()
    document = window.workspace.new()
    rename(document, "mine")
    asked = answers(monkeypatch, "cancel", "cancel")
    assert not window.files.save_to(document, file)
    assert load(file).design.title == "first"
    lock.release()
    assert window.files.save_to(document, file)
    assert len(asked) == 1


def test_what_one_saves_oneself_is_no_change_by_others(window: MainWindow, qtbot: QtBot, file: Path) -> None:
    document = opened(window, file)
    for turn in range(3):
        rename(document, f"turn {turn}")
        assert window.files.save_document(document)
        qtbot.wait(300)
        assert document.file_state is FileState.OURS
    # nor is a touch
    file.touch()
    qtbot.wait(300)
    assert document.file_state is FileState.OURS


def test_the_question_about_a_conflict_writes_nothing_by_enter(
    window: MainWindow, qtbot: QtBot, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from designer.gui import files
    from designer.gui.dialogs.question import QuestionDialog

    questions: list[QuestionDialog] = []

    def seen(question: QuestionDialog) -> str:
        questions.append(question)
        qtbot.addWidget(question)
        return "cancel"

    monkeypatch.setattr(files, "ask", seen)
    document = opened(window, file)
    rename(document, "mine")
    file.write_text(titled("theirs"), encoding="utf-8")
    assert not window.files.save_document(document)
    (question,) = questions
    assert question.buttons.keys() == {"keep", "compare", "reload", "cancel", "save_as"}
    assert not question.buttons["keep"].isDefault()
    letters = [b.text()[b.text().index("&") + 1].lower() for b in question.buttons.values()]
    assert len(set(letters)) == len(letters)


def test_a_reload_of_a_broken_file_says_so_and_changes_nothing(window: MainWindow, qtbot: QtBot, file: Path) -> None:
    document = opened(window, file)
    rename(document, "mine")
    file.write_text("{", encoding="utf-8")
    qtbot.waitUntil(lambda: document.file_state is FileState.CHANGED, timeout=5_000)
    window.notice.buttons["reload"].click()
    assert document.session.design.title == "mine"
    assert window.toasts.shown
