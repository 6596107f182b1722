"""Designs proposed from the window: searched beside it, shown as table and plot, the chosen one opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from designer.gui.dialogs.propose_dialog import ProposeDialog
from designer.gui.main_window import MainWindow

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def dialog(window: MainWindow) -> ProposeDialog:
    window.run("file.propose")
    found = window.proposing.dialog
    assert found is not None
    found.settings.setText("model=llama-2-7b; dataset=c4-en")
    found.choose.setText("server=dgx-a100,dgx-h100; nodes=1,2; storage=drives")
    found.within.setText("90 d")
    return found


def search(qtbot: QtBot, dialog: ProposeDialog) -> None:
    qtbot.mouseClick(dialog.go, LEFT)
    qtbot.waitUntil(lambda: not dialog.busy, timeout=120_000)


def test_the_best_are_shown_and_one_opens(window: MainWindow, dialog: ProposeDialog, qtbot: QtBot) -> None:
    before = len(list(window.documents.order))
    search(qtbot, dialog)
    assert dialog.found is not None
    assert dialog.found.best
    assert dialog.lines.rowCount() == len(dialog.found.best)
    assert "worked out" in dialog.why.toPlainText()
    dialog.table.selectRow(0)
    title = dialog.lines.lines[0].cells[0].text
    qtbot.mouseClick(dialog.take, LEFT)
    assert len(list(window.documents.order)) == before + 1
    assert window.document is not None
    assert window.document.session.design.title == title


def test_what_cannot_be_is_told(dialog: ProposeDialog, qtbot: QtBot) -> None:
    dialog.within.setText("1 d")
    dialog.power.setText("12 kW")
    search(qtbot, dialog)
    assert dialog.lines.rowCount() == 0
    assert not dialog.take.isEnabled()
    assert "cannot be kept" in dialog.why.toPlainText() or "at best" in dialog.why.toPlainText()


def test_wrong_wishes_stay_in_the_dialog(dialog: ProposeDialog, qtbot: QtBot) -> None:
    for line, text in ((dialog.budget, "much"), (dialog.settings, "modell=x"), (dialog.prices, "/nowhere.csv")):
        kept = line.text()
        line.setText(text)
        qtbot.mouseClick(dialog.go, LEFT)
        assert dialog.problem.isVisibleTo(dialog)
        assert not dialog.busy
        line.setText(kept)


def test_stopped_by_esc_and_closed_with_the_window(window: MainWindow, dialog: ProposeDialog, qtbot: QtBot) -> None:
    dialog.choose.setText("nodes=1,2,4,8,16")
    qtbot.mouseClick(dialog.go, LEFT)
    assert dialog.busy
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.busy
    assert dialog.isVisible()
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.proposing.dialog is None, timeout=20_000)


def test_the_same_search_as_a_command(dialog: ProposeDialog, tmp_path: Path) -> None:
    dialog.copy_command()
    said = QGuiApplication.clipboard().text()
    assert said.startswith("designer propose train --with model=llama-2-7b")
    assert "--within '90 d'" in said


def test_goals_fill_in_what_is_usual(dialog: ProposeDialog) -> None:
    dialog.goal.setCurrentIndex(2)
    dialog.goal.activated.emit(2)
    assert dialog.within.text() == "10 min"
    assert "hosts" in dialog.settings.text()
