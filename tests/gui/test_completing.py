"""What a field offers while one types: by keys and mouse, in the window the field is in."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from designer.gui.completing import CompletedChoice, CompletedLine, OfferedList

KNOWN = ("gpus", "gpu0", "gpu1", "storage0", "storage_nic0")


class Form(QWidget):
    """Two lines and a choice above each other."""

    def __init__(self) -> None:
        super().__init__()
        self.resize(300, 260)
        self.first, self.second = CompletedLine("", KNOWN), CompletedLine("", KNOWN)
        self.choice = CompletedChoice()
        for name in KNOWN:
            self.choice.addItem(f"The {name}", name)
        self.choice.offer([(name, f"The {name}") for name in KNOWN])
        column = QVBoxLayout(self)
        for field in (self.first, self.second, self.choice):
            column.addWidget(field)
        column.addStretch(1)


@pytest.fixture
def form(qtbot: QtBot) -> Form:
    form = Form()
    qtbot.addWidget(form)
    form.show()
    qtbot.waitExposed(form)
    form.activateWindow()
    qtbot.waitUntil(form.isActiveWindow, timeout=3000)
    form.first.setFocus()
    return form


def of(field: CompletedLine | CompletedChoice) -> OfferedList:
    assert field.offers is not None
    return field.offers


def shown(field: CompletedLine | CompletedChoice) -> list[str]:
    """What is offered; empty where the list is closed."""
    offers = of(field)
    model = offers.model()
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())] if offers.isVisible() else []


def test_words_narrow_what_is_offered_and_the_text_itself_is_not(form: Form) -> None:
    line = form.first
    QTest.keyClicks(line, "gpu")
    assert shown(line) == ["gpus", "gpu0", "gpu1"]
    QTest.keyClicks(line, "s")
    assert shown(line) == []
    QTest.keyClick(line, Qt.Key.Key_Backspace)
    assert len(shown(line)) == 3
    QTest.keyClicks(line, "x")
    assert shown(line) == []


def test_arrows_go_round_by_the_text_as_it_was_typed(form: Form) -> None:
    line = form.first
    QTest.keyClicks(line, "gpu")
    rows = []
    for _ in range(4):
        QTest.keyClick(line, Qt.Key.Key_Down)
        rows.append(of(line).currentIndex().row())
    QTest.keyClick(line, Qt.Key.Key_Up)
    QTest.keyClick(line, Qt.Key.Key_Up)
    rows.append(of(line).currentIndex().row())
    assert rows == [0, 1, 2, -1, 1]
    assert line.text() == "gpu"
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert line.text() == "gpu0"
    assert shown(line) == []


@pytest.mark.parametrize(("key", "text"), [(Qt.Key.Key_Escape, "gpu"), (Qt.Key.Key_Return, "gpu")])
def test_what_is_not_chosen_is_not_taken(form: Form, key: Qt.Key, text: str) -> None:
    QTest.keyClicks(form.first, "gpu")
    QTest.keyClick(form.first, key)
    assert (form.first.text(), shown(form.first)) == (text, [])


@pytest.mark.parametrize(("down", "text"), [(0, "gpu"), (2, "gpu0")])
def test_tab_takes_what_stands_out_and_goes_on(form: Form, down: int, text: str) -> None:
    QTest.keyClicks(form.first, "gpu")
    for _ in range(down):
        QTest.keyClick(form.first, Qt.Key.Key_Down)
    QTest.keyClick(form.first, Qt.Key.Key_Tab)
    assert form.second.hasFocus()
    assert (form.first.text(), shown(form.first)) == (text, [])


def test_the_list_stays_in_the_window_and_takes_no_keys(form: Form) -> None:
    for field in (form.first, form.choice):
        field.setFocus()
        line = field if isinstance(field, CompletedLine) else field.lineEdit()
        assert line is not None
        line.selectAll()
        QTest.keyClicks(line, "gpu")
        assert shown(field)
        assert of(field).window() is form
        assert form.rect().contains(of(field).geometry())
        assert QApplication.activePopupWidget() is None
        assert field.hasFocus()
    assert shown(form.first) == []


def test_a_click_takes_a_line(form: Form, qtbot: QtBot) -> None:
    QTest.keyClicks(form.first, "storage")
    offers = of(form.first)
    where = offers.visualRect(offers.model().index(1, 0)).center()
    qtbot.mouseClick(offers.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert form.first.text() == "storage_nic0"
    assert shown(form.first) == []


def test_a_choice_is_made_by_words_of_its_title(form: Form) -> None:
    made: list[int] = []
    form.choice.activated.connect(made.append)
    form.choice.setFocus()
    line = form.choice.lineEdit()
    assert line is not None
    line.selectAll()
    QTest.keyClicks(line, "storage the")
    assert shown(form.choice) == ["The storage0", "The storage_nic0"]
    QTest.keyClick(form.choice, Qt.Key.Key_Down)
    QTest.keyClick(form.choice, Qt.Key.Key_Return)
    assert form.choice.currentData() == "storage0"
    assert made == [3]


def test_a_field_at_the_lower_edge_offers_above_itself(form: Form) -> None:
    form.resize(300, 120)
    QApplication.processEvents()
    form.choice.setFocus()
    line = form.choice.lineEdit()
    assert line is not None
    line.selectAll()
    QTest.keyClicks(line, "the")
    assert of(form.choice).geometry().bottom() <= form.choice.y()
    assert of(form.choice).y() >= 0


def test_a_click_beside_the_list_closes_it(form: Form, qtbot: QtBot) -> None:
    QTest.keyClicks(form.first, "gpu")
    assert shown(form.first)
    qtbot.mouseClick(form, Qt.MouseButton.LeftButton, pos=form.rect().bottomLeft() + QPoint(2, -2))
    assert (form.first.text(), shown(form.first)) == ("gpu", [])


def test_a_text_in_other_letters_is_taken_by_enter_or_tab(form: Form) -> None:
    """Ids distinguish large letters from small ones: the text itself would be none of them."""
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Tab):
        form.first.setFocus()
        form.first.clear()
        QTest.keyClicks(form.first, "GPU0")
        assert shown(form.first) == ["gpu0"]
        QTest.keyClick(form.first, key)
        assert (form.first.text(), shown(form.first)) == ("gpu0", [])


def test_other_choices_close_the_list_of_those_before(form: Form) -> None:
    form.choice.setFocus()
    line = form.choice.lineEdit()
    assert line is not None
    line.selectAll()
    QTest.keyClicks(line, "the")
    before = of(form.choice)
    assert before.isVisible()
    form.choice.offer([("other", "The other")])
    assert before.isHidden()


def test_in_a_lower_window_the_list_goes_with_its_field(form: Form, qtbot: QtBot) -> None:
    form.choice.setFocus()
    line = form.choice.lineEdit()
    assert line is not None
    line.selectAll()
    QTest.keyClicks(line, "the")
    assert of(form.choice).y() > form.choice.y()
    form.resize(300, 120)
    qtbot.waitUntil(lambda: of(form.choice).geometry().bottom() <= form.choice.y(), timeout=3000)


def test_a_field_that_ends_takes_its_list_along(form: Form, qtbot: QtBot) -> None:
    QTest.keyClicks(form.first, "gpu")
    ended: list[bool] = []
    of(form.first).destroyed.connect(lambda: ended.append(True))
    form.first.deleteLater()
    qtbot.waitUntil(lambda: bool(ended))


@pytest.mark.platform
@pytest.mark.skipif(shutil.which("xdotool") is None, reason="xdotool, which types into an X server, is not installed")
def test_who_types_on_at_once_writes_into_the_next_field(form: Form, qtbot: QtBot) -> None:
    """Keys that wait in the X server while the list closes: Qt's own completer wrote them into the field left."""
    if QApplication.platformName() != "xcb":
        pytest.skip("needs an X server")
    for _ in range(4):
        form.first.clear()
        form.second.clear()
        form.first.setFocus()
        qtbot.waitUntil(form.first.hasFocus)
        keys = [*"storage", "Tab", "ctrl+a", *"gpus"]
        subprocess.run(["xdotool", "key", "--delay", "0", *keys], check=True, timeout=30)
        qtbot.waitUntil(lambda: form.second.text() == "gpus", timeout=5000)
        assert form.first.text() == "storage"
