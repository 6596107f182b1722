"""A short piece of the long trial, each time: messages and documents that come and go among random edits."""

from __future__ import annotations

import os

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from designer.gui.main_window import MainWindow
from tests.soak import soaked

pytestmark = pytest.mark.platform


def test_sixty_edits_among_messages_and_documents_end_well() -> None:
    report = soaked(60, 5, os.environ.get("QT_QPA_PLATFORM", "offscreen"), patience=300, warm=0)
    assert report.edits >= 60
    assert report.messages >= 12
    assert report.opened == report.closed >= 1


def test_four_hundred_messages_come_and_go(window: MainWindow) -> None:
    """Messages are deleted by Qt while others are made, as in a long day."""
    most = 0
    for number in range(400):
        if number % 2:
            window.warn(f"refused {number}")
        else:
            window.toasts.say(f"found {number}", False, "Show", lambda: None)
        if not number % 7:
            window.toasts.shown[0].leave()
        if not number % 3:
            # only an event loop lets what has left be deleted
            QTimer.singleShot(0, window, QApplication.exit)
            QApplication.exec()
        most = max(most, len(window.toasts.shown))
    assert most == 4
    assert window.toasts.isVisible()
    for toast in list(window.toasts.shown):
        toast.leave()
    assert not window.toasts.shown
    assert not window.toasts.isVisible()
