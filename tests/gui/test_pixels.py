"""PNG pictures out of the window: as large as wanted, with or without a ground."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from designer.gui.main_window import MainWindow
from designer.gui.pictures import PixelsDialog
from tests.designs import one_server

pytest.importorskip("PIL")


def export(window: MainWindow, file: Path, monkeypatch: pytest.MonkeyPatch, scale: int, ground: bool) -> QImage:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file), ""))

    def answer() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, PixelsDialog)
        dialog.scale.setCurrentIndex(dialog.scale.findData(float(scale)))
        if not ground:
            dialog.transparent.click()
        QTest.keyClick(dialog, Qt.Key.Key_Return)

    QTimer.singleShot(0, answer)
    window.qt_actions["file.export_picture"].trigger()
    return QImage(str(file))


def test_scale_and_ground_are_asked_for(window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    window.workspace.add(one_server())
    plain = export(window, tmp_path / "one.png", monkeypatch, 1, True)
    large = export(window, tmp_path / "two.png", monkeypatch, 2, False)
    assert abs(large.width() - 2 * plain.width()) <= 1
    assert abs(large.height() - 2 * plain.height()) <= 1
    assert not plain.hasAlphaChannel()
    assert large.pixelColor(1, 1).alpha() == 0
    middle = [large.pixelColor(x, large.height() // 2).alpha() for x in range(large.width())]
    assert max(middle) == 255, "what is drawn is there"


def test_giving_up_writes_nothing(window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    window.workspace.add(one_server())
    file = tmp_path / "no.png"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file), ""))
    QTimer.singleShot(0, lambda: QTest.keyClick(QApplication.activeModalWidget(), Qt.Key.Key_Escape))
    window.qt_actions["file.export_picture"].trigger()
    assert not file.exists()
