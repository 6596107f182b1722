"""What is being typed belongs to the design it was typed for, and what is copied is what is read."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.errors import Cancelled
from designer.gui import theme
from designer.gui.controls import Label, breakable
from designer.gui.documents import Document
from designer.gui.main_window import MainWindow
from designer.gui.panels import improve
from designer.gui.panels._entry_rows import ValueField
from designer.gui.session import Session
from designer.gui.workers import Sweeper
from designer.interchange.templates import open_design


def opened(window: MainWindow, qtbot: QtBot) -> Document:
    """A document with a link selected, and its form."""
    window.open_template("hgx-a100-4")
    document = window.document
    assert document is not None
    assert window.places is not None
    document.session.select({((), Ref("links", next(iter(document.session.design.links))))})
    qtbot.waitUntil(lambda: not window.places.inspector.pending)
    return document


def count(document: Document) -> int:
    return next(iter(document.session.design.links.values())).count


def typed(window: MainWindow, text: str) -> None:
    """Type a number into the form without leaving the field."""
    assert window.places is not None
    field = window.places.inspector.rows["count"].value
    assert isinstance(field, ValueField)
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, text)


def test_a_number_typed_before_another_design_opens_is_one_of_the_first(window: MainWindow, qtbot: QtBot) -> None:
    first = opened(window, qtbot)
    typed(window, "7")
    second = opened(window, qtbot)
    assert (count(first), count(second)) == (7, 3)


def test_a_number_typed_before_another_tab_is_clicked_is_one_of_the_design_it_was_typed_for(
    window: MainWindow, qtbot: QtBot
) -> None:
    first, second = opened(window, qtbot), opened(window, qtbot)
    typed(window, "9")
    bar = window.documents.bar
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(0).center())
    qtbot.waitUntil(lambda: window.document is first)
    assert window.canvas is not None
    window.canvas.setFocus()
    assert (count(first), count(second)) == (3, 9)


def test_what_is_copied_has_no_marks_that_nobody_sees(qtbot: QtBot) -> None:
    path = "pods[3]/servers[12]/gpu0-nvlink"
    label = Label(path, wrap=True)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    qtbot.addWidget(label)
    label.show()
    label.setFocus()
    label.setSelection(0, len(breakable(path)))
    assert label.selectedText() != path, "the label breaks the path"
    QTest.keyClick(label, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == path


def test_questions_can_be_asked_again_at_once_after_one_was_stopped(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*values: object) -> object:
        *_, cancelled = values
        while not cancelled():  # type: ignore[operator]
            time.sleep(0.01)
        raise Cancelled("stopped")

    monkeypatch.setitem(improve.QUESTIONS, "suggest", replace(improve.QUESTIONS["suggest"], work=slow))
    panel = improve.ImprovePanel(theme.LIGHT)
    qtbot.addWidget(panel)
    session = Session(open_design("hgx-a100-4"))
    session.set_workload(next(iter(session.design.workloads)))
    panel.set_session(session)
    panel.show()
    panel.flush()
    QTest.mouseClick(panel.asked["suggest"], Qt.MouseButton.LeftButton)
    assert panel.busy
    QTest.mouseClick(panel.stop, Qt.MouseButton.LeftButton)
    assert not panel.busy, "a question that was stopped is not asked again without a press"
    assert panel.asked["suggest"].isEnabled()
    panel.close_jobs()


def test_closed_documents_that_pile_up_are_swept_in_the_shorter_pause(qtbot: QtBot) -> None:
    sweeper = Sweeper(None)
    try:
        sweeper.let_go()
        patient = sweeper._timer.interval()
        for _ in range(4):
            sweeper.let_go()
        assert sweeper._timer.interval() < patient
    finally:
        sweeper.close()


def test_names_of_members_are_typed_and_undone(window: MainWindow, qtbot: QtBot) -> None:
    """A pattern is taken with Enter; one that names all members the same is refused and nothing changes."""
    window.open_template("su-h100-32")
    document = window.document
    assert document is not None
    assert window.places is not None
    document.session.select({((), Ref("groups", "servers"))})
    qtbot.waitUntil(lambda: "naming" in window.places.inspector.rows)
    for text, naming in (("dgx{001}", "dgx{001}"), ("dgx", "dgx{001}")):
        field = window.places.inspector.rows["naming"].value
        assert isinstance(field, ValueField)
        field.setFocus()
        field.selectAll()
        QTest.keyClicks(field, text)
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert document.session.design.groups["servers"].naming == naming
        qtbot.wait(50)
    document.session.undo()
    assert document.session.design.groups["servers"].naming == ""
