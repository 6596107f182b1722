"""Nothing is lost: journals of runs that ended badly, the page that lists them, and the question at the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from designer.design.document import Design
from designer.design.edits.properties import SetProperties
from designer.gui.actions._action import all_actions
from designer.gui.dialogs.question import QuestionDialog
from designer.gui.documents import Autosave, Document
from designer.gui.files import Files
from designer.gui.main_window import MainWindow
from designer.gui.recovery_page import RecoveryPage, when
from designer.gui.settings import journal_folder
from designer.interchange.native.journal import Journal, State, new_path, recover
from designer.interchange.native.raw import digest_of
from designer.interchange.native.reader import load
from designer.interchange.native.writer import save
from tests.designs import one_server


@pytest.fixture(autouse=True)
def nothing_of_others() -> Iterator[None]:
    """Journals of this test alone."""
    folder = journal_folder()
    for path in folder.glob("*"):
        path.unlink()
    yield
    assert not list(folder.glob("*.lock")), "a lock is still held"
    for path in folder.glob("*"):
        path.unlink()


def left(title: str, edits: int = 1, file: Path | None = None) -> Path:
    """A journal of a program that was killed."""
    digest = digest_of(file.read_bytes()) if file is not None else None
    keeper = Journal(new_path(journal_folder()), str(file) if file is not None else None, digest=digest)
    design = one_server()
    keeper.record(design)
    for n in range(edits):
        keeper.record(design := SetProperties({"title": title + "!" * (edits - 1 - n)}).apply(design))
    keeper.close()
    return keeper.path


def rename(document: Document, title: str) -> None:
    assert document.session.apply(SetProperties({"title": title}))


def shown(window: MainWindow, qtbot: QtBot, number: int) -> RecoveryPage:
    window.run("file.recover")
    page = window.recovery
    assert page is not None
    qtbot.waitUntil(lambda: len(page.entries) == number, timeout=20_000)
    return page


def journals() -> list[Path]:
    return sorted(journal_folder().glob("*.journal"))


def test_the_page_lists_every_journal_and_brings_all_back(window: MainWindow, qtbot: QtBot) -> None:
    names = ["first", "second", "third", "fourth", "fifth"]
    for number, name in enumerate(names, start=1):
        left(name, number)
    page = shown(window, qtbot, 5)
    assert {e.leftover.title for e in page.entries} == set(names)
    assert {e.leftover.edits for e in page.entries} == {1, 2, 3, 4, 5}
    assert "today" in page.entries[0].details[0].text()
    qtbot.waitUntil(lambda: not any(e.waits for e in page.entries), timeout=20_000)
    assert page.restore.text() == "&Bring back 5 designs"
    qtbot.mouseClick(page.restore, Qt.MouseButton.LeftButton)
    assert {d.session.title for d in window.workspace.documents} == set(names)
    assert all(d.session.modified for d in window.workspace.documents)
    # what was brought back is in journals of this run, no fewer edits than before
    assert {recover(p).design.title for p in journals()} == set(names)
    assert sorted(d.edits for d in window.workspace.documents) == [1, 2, 3, 4, 5]
    qtbot.waitUntil(lambda: not page.entries, timeout=20_000)


def test_some_are_brought_back_and_the_rest_survives_being_ignored(window: MainWindow, qtbot: QtBot) -> None:
    left("wanted")
    left("ignored", 3)
    page = shown(window, qtbot, 2)
    next(e for e in page.entries if e.leftover.title == "ignored").box.setChecked(False)
    page.restore.click()
    (document,) = window.workspace.documents
    assert document.session.title == "wanted"
    assert window.document is document
    qtbot.waitUntil(lambda: [e.leftover.title for e in page.entries] == ["ignored"], timeout=20_000)
    assert not page.entries[0].box.isChecked(), "what was not wanted stays unticked"
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert window.document is document
    window.workspace.close(document)
    assert [x.title for x in window.workspace.leftovers()] == ["ignored"]


def test_it_is_offered_at_the_start_and_stays_on_the_start_page(window: MainWindow, qtbot: QtBot) -> None:
    left("lost")
    window.begin([])
    qtbot.waitUntil(lambda: window.pages.currentWidget() is window.recovery, timeout=20_000)
    assert window.recovery is not None
    window.recovery.back.click()
    assert window.pages.currentWidget() is window.start
    assert window.start.leftovers.isVisible()
    assert "1 design" in window.start.leftovers.text()
    window.start.leftovers.click()
    assert window.pages.currentWidget() is window.recovery


def test_nothing_is_asked_where_nothing_is_left(window: MainWindow, qtbot: QtBot) -> None:
    window.begin([])
    qtbot.wait(50)
    assert window.recovery is None
    assert not window.start.leftovers.isVisible()
    page = shown(window, qtbot, 0)
    qtbot.waitUntil(lambda: "Nothing is left" in page.stated.text(), timeout=20_000)
    assert not page.restore.isVisible()


def test_somebody_at_work_is_reported_and_not_taken_away(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    left("lost")
    file = tmp_path / "open.design.json"
    save(one_server(), file)
    window.begin([str(file)])
    qtbot.waitUntil(lambda: any("unsaved work in 1 design" in t.text for t in window.toasts.shown), timeout=20_000)
    assert window.document is not None
    assert window.document.session.file == file


def test_older_and_damaged_journals_are_listed_apart_and_deleted_when_asked(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    file = tmp_path / "a.design.json"
    save(one_server(), file)
    older = left("older", file=file)
    os.utime(older, (1e9, 1e9))
    save(SetProperties({"title": "later"}).apply(one_server()), file)
    torn = journal_folder() / "torn.journal"
    torn.write_bytes(b'{"format": "designer-journal", "desi')
    left("lost")
    page = shown(window, qtbot, 3)
    assert [e.leftover.state for e in page.entries] == [State.UNSAVED, State.OLDER, State.DAMAGED]
    assert [e.box.isChecked() for e in page.entries] == [True, False, False]
    assert page.chosen() == [page.entries[0].leftover.journal]
    for entry in page.entries:
        entry.box.setChecked(entry.leftover.state is not State.UNSAVED)
    asked: list[object] = []

    def answer(_self: Files, things: object) -> bool:
        asked.append(things)
        return len(asked) > 1

    monkeypatch.setattr(Files, "ask_to_delete", answer)
    page.delete.click()
    assert older.exists()
    page.delete.click()
    qtbot.waitUntil(lambda: len(page.entries) == 1, timeout=20_000)
    assert not older.exists()
    assert not torn.exists()


def test_edits_imports_and_pastes_are_in_the_journal_before_anything_else_happens(
    window: MainWindow, qtbot: QtBot
) -> None:
    document = window.workspace.new()
    for n in range(5):
        rename(document, f"title {n}")
        assert [recover(p).design.title for p in journals()] == [f"title {n}"]
    document.session.undo()
    assert recover(journals()[0]).design.title == "title 3"
    dump = (
        "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-31\nGPU1\tNV12\t X \t0-31\n\n"
        "Legend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n"
    )
    imported = window.workspace.import_bytes(dump.encode(), "clipboard")
    assert imported is not None
    kept = [recover(p) for p in journals()]
    assert imported.session.design in [k.design for k in kept]
    assert imported.autosave in (Autosave.KEEPING, Autosave.KEPT)
    qtbot.waitUntil(lambda: imported.autosave is Autosave.KEPT, timeout=5_000)


def test_the_state_of_the_autosave_is_seen(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not window.autosave.isVisible()
    document = window.workspace.new()
    assert window.autosave.text() == "Not changed"
    rename(document, "mine")
    qtbot.waitUntil(lambda: window.autosave.text().startswith("Autosaved "), timeout=5_000)
    assert window.files.save_to(document, tmp_path / "a.design.json")
    assert window.autosave.text() == "Saved"
    from designer.interchange.native import journal

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(journal, "_write", full)
        rename(document, "lost?")
    assert window.autosave.text() == "Autosave failed"
    assert any("No space left" in t.text for t in window.toasts.shown)
    rename(document, "kept again")
    qtbot.waitUntil(lambda: window.autosave.text().startswith("Autosaved "), timeout=5_000)
    assert recover(journals()[0]).design.title == "kept again"


def test_a_saved_document_is_not_offered_after_a_crash(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    document = window.workspace.new()
    rename(document, "saved")
    file = tmp_path / "a.design.json"
    assert window.files.save_to(document, file)
    found = recover(journals()[0])
    assert (found.file, found.edits) == (str(file), 0)
    assert load(file).design == found.design
    rename(document, "not saved")
    assert recover(journals()[0]).edits == 1


def test_a_clean_end_leaves_nothing(window: MainWindow, qtbot: QtBot) -> None:
    document = window.workspace.new()
    rename(document, "given up")
    window.close()
    assert journals() == []


def test_two_windows_do_not_bring_back_the_same(window: MainWindow, qtbot: QtBot) -> None:
    journal = left("lost")
    other = MainWindow(window.settings)
    assert window.workspace.recover(journal) is not None
    assert other.workspace.recover(journal) is None
    assert other.workspace.leftovers() == [], "what is open in the other window is not left behind"
    other.close()
    other.deleteLater()


# ---- the question at the end


def answered(window: MainWindow, monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[list[str]]:
    """Answers the questions to come; the names each of them was about."""
    asked: list[list[str]] = []
    given = iter(answers)

    def answer(self: Files, unsaved: list[Document]) -> str:
        asked.append([self._host.workspace.names()[d] for d in unsaved])
        return next(given)

    monkeypatch.setattr(Files, "ask_to_save", answer)
    return asked


def test_one_question_names_each_unsaved_design(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    workspace = window.workspace
    untitled = [workspace.new() for _ in range(3)]
    same = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        save(one_server(), tmp_path / folder / "node.design.json")
        same.append(workspace.open(tmp_path / folder / "node.design.json"))
    templates = [workspace.open_template("hgx-h100-8") for _ in range(2)]
    for number, document in enumerate([*untitled[:2], *same, *templates]):
        assert document is not None
        assert document.session.apply(SetProperties({"intent": f"{number}"}))
    asked = answered(window, monkeypatch, "cancel", "discard")
    window.close()
    assert window.isVisible()
    assert len(workspace.documents) == 7
    (names,) = asked
    assert len(names) == len(set(names)) == 6
    assert names[:4] == ["Untitled", "Untitled 2", "node – a", "node – b"]
    assert [window.tabs.tabText(at) for at in range(3)] == ["● Untitled", "● Untitled 2", "Untitled 3"]
    window.close()
    assert not window.isVisible()
    assert len(asked) == 2


def test_save_all_saves_all_and_one_that_fails_keeps_everything_open(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from PySide6.QtWidgets import QFileDialog

    for name in ("one", "two"):
        document = window.workspace.new()
        assert window.files.save_to(document, tmp_path / f"{name}.design.json")
        rename(document, f"{name} changed")
    nameless = window.workspace.new()
    rename(nameless, "nameless")
    answered(window, monkeypatch, "save", "save")
    titles: list[str] = []

    def name(_over: object, title: str, *_: object) -> tuple[str, str]:
        titles.append(title)
        return ("", "") if len(titles) == 1 else (str(tmp_path / "three.design.json"), "")

    monkeypatch.setattr(QFileDialog, "getSaveFileName", name)
    window.close()
    assert window.isVisible()
    assert len(window.workspace.documents) == 3
    window.close()
    assert not window.isVisible()
    assert titles == ["Save nameless as"] * 2
    found = [load(tmp_path / f"{n}.design.json").design.title for n in ("one", "two", "three")]
    assert found == ["one changed", "two changed", "nameless"]


def test_the_buttons_have_mnemonics_and_places_of_their_own(
    window: MainWindow, qtbot: QtBot, qapp: QApplication
) -> None:
    documents = [window.workspace.new() for _ in range(2)]
    for document in documents:
        rename(document, document.session.title + " edited")
    places: list[list[str]] = []
    for unsaved in (documents, documents[:1]):
        question = window.files.unsaved_question(unsaved)
        qtbot.addWidget(question)
        question.show()
        left_to_right = sorted(question.buttons, key=lambda k: question.buttons[k].x())
        places.append(left_to_right)
        texts = [b.text() for b in question.buttons.values()]
        letters = [t[t.index("&") + 1].lower() for t in texts]
        assert len(set(letters)) == len(letters)
        assert question.buttons["save"].isDefault()
        question.close()
    assert places == [["discard", "cancel", "save"]] * 2
    assert [question.buttons[k].text() for k in places[0]] == ["&Discard", "&Cancel", "&Save"]


@pytest.mark.parametrize(("key", "chosen"), [(Qt.Key.Key_Escape, "cancel"), (Qt.Key.Key_Return, "save")])
def test_keys_answer_a_question(qtbot: QtBot, key: Qt.Key, chosen: str) -> None:
    from designer.gui.dialogs.question import CANCEL, AnswerButton, QuestionRow

    question = QuestionDialog(
        "Unsaved",
        "Save?",
        [QuestionRow("a <b>", "in /x")] * 9,
        [AnswerButton("discard", "&Discard")],
        [CANCEL, AnswerButton("save", "&Save")],
    )
    qtbot.addWidget(question)
    question.show()
    qtbot.keyClick(question, key)
    assert question.chosen == chosen


def test_times_are_said_as_people_say_them() -> None:
    import time

    noon = time.mktime((2026, 11, 21, 12, 0, 0, 0, 0, -1))
    assert when(noon - 3600, noon) == "today 11:00"
    assert when(noon - 86_400, noon) == "yesterday 12:00"
    assert when(noon - 30 * 86_400, noon) == "22 October 2026, 12:00"


def test_recovery_is_in_the_file_menu_and_found_by_the_search(window: MainWindow) -> None:
    assert "file.recover" in all_actions()
    assert any("Recover" in c.title for c in window.choices())


def test_a_design_without_a_title_has_a_name(window: MainWindow) -> None:
    assert list(window.workspace.names().values()) == []
    window.workspace.add(Design(name="plain"))
    assert list(window.workspace.names().values()) == ["plain"]
