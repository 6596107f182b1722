"""Hands on mouse and keys that count what they do: events of the X server where there is one."""

from __future__ import annotations

import sys
from collections.abc import Callable

from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.gui.main_window import MainWindow
from designer.gui.session import Session
from tests.gui import xtest
from tests.gui.looks import looks_as_kept
from tests.gui.stalls import Stalls

#: keystroke-level model: a key or chord, a letter of a word, pointing, a click, thinking before an action [s]
KEY, LETTER, POINT, CLICK, THINK = 0.28, 0.2, 1.1, 0.2, 1.35
CTRL, SHIFT, NONE = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.NoModifier,
)


#: how long an event of the X server is on its way to the program, at most [ms]
ON_ITS_WAY = 40
#: whoever fills a dialog looks so often for it
LOOKS_LIMIT = 100


class Hands:
    """Does what a person does, and counts it: a chord, a typed word and a click are one action each.

    On an X server the events are made by the server; elsewhere they are handed to the widgets.
    """

    def __init__(self, window: MainWindow, qtbot: QtBot) -> None:
        self.window, self.qtbot = window, qtbot
        self.actions = 0
        self.seconds = 0.0
        self.server = xtest.server()
        if self.server is not None:
            self.server.focus(window)
            qtbot.waitUntil(window.isActiveWindow)
        self.stalls = Stalls()
        self.pictures = False

    @property
    def session(self) -> Session:
        assert self.window.document is not None
        return self.window.document.session

    def _target(self) -> QWidget:
        focus = QApplication.focusWidget() or QApplication.activeModalWidget()
        assert focus is not None
        return focus

    def press(self, key: Qt.Key, keys: Qt.KeyboardModifier = NONE, think: bool = False) -> None:
        """One key or chord."""
        self.stalls.action = f"{keys.name} {key.name}"
        if self.server is not None:
            self.server.press(key, keys)
            self.qtbot.wait(ON_ITS_WAY)
        else:
            QTest.keyClick(self._target(), key, keys)
        self._did(KEY, think)

    def type(self, word: str) -> None:
        """One word."""
        self.stalls.action = word
        for letter in word:
            if self.server is not None:
                self.server.letter(letter)
                self.qtbot.wait(ON_ITS_WAY)
            else:
                QTest.keyClicks(self._target(), letter)
                self.qtbot.wait(1)
        self._did(LETTER * len(word), True)

    def click(self, part_id: str, keys: Qt.KeyboardModifier = NONE, fx: float = 0.5, fy: float = 0.5) -> None:
        """Click on a part of the canvas."""
        canvas = self.window.canvas
        assert canvas is not None
        box = canvas.scene.box_of(((), Ref("parts", part_id)))
        assert box is not None
        x, y, w, h = canvas.scene.geometry.rect[box].tolist()
        at = QPointF(*canvas.view.to_view(x + w * fx, y + h * fy)).toPoint()
        assert canvas.rect().contains(at)
        self.stalls.action = f"click {part_id}"
        if self.server is not None:
            self.server.click(canvas, at, keys)
            self.qtbot.wait(ON_ITS_WAY)
        else:
            QTest.mouseMove(canvas, at)
            QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, keys, at)
        self._did(POINT + CLICK, True)

    def click_on(self, widget: QWidget, at: QPoint | None = None) -> None:
        """Click on a widget: in its middle, or at a place of it."""
        at = widget.rect().center() if at is None else at
        assert widget.isVisible()
        self.stalls.action = f"click {widget.accessibleName() or type(widget).__name__}"
        if self.server is not None:
            self.server.click(widget, at, NONE)
            self.qtbot.wait(ON_ITS_WAY)
        else:
            QTest.mouseClick(widget, Qt.MouseButton.LeftButton, NONE, at)
        self._did(POINT + CLICK, True)

    def in_dialog(self, kind: type[QDialog], act: Callable[[], object], steps: Callable[[QDialog], object]) -> None:
        """Do something that opens a modal dialog, and take steps in it: it waits for an answer meanwhile."""
        asked = QTimer(self.window, interval=100)
        looks = [0]

        def look() -> None:
            dialog = QApplication.activeModalWidget()
            looks[0] += 1
            if looks[0] > LOOKS_LIMIT:  # a test that fails, and does not wait for ever
                asked.stop()
                if isinstance(dialog, QDialog):
                    dialog.reject()
                return
            if isinstance(dialog, kind) and dialog.isVisible():
                asked.stop()
                self.look_at(dialog)
                steps(dialog)

        asked.timeout.connect(look)
        asked.start()
        act()

    def _did(self, seconds: float, think: bool) -> None:
        self.actions += 1
        self.seconds += seconds + (THINK if think else 0.0)
        QApplication.processEvents()

    def picture(self, name: str) -> None:
        """What is to be seen now looks as it did."""
        canvas = self.window.canvas
        if canvas is not None:
            canvas.settle()
        self.window.toasts.hide()
        looks_as_kept(self.window, f"minute-{name}")

    def look_at(self, window: QWidget) -> None:
        """A window manager gives a new window the keyboard; there is none on a bare X server."""
        if self.server is not None and not window.isActiveWindow():
            self.server.focus(window)
            self.qtbot.waitUntil(window.isActiveWindow)

    def report(self) -> None:
        """Say what it took."""
        sys.stdout.write(f"{self.actions} actions, {self.seconds:.0f} s by the keystroke-level model\n")
        self.stalls.close()
        sys.stdout.write(self.stalls.stated() + "\n")
        worst = self.stalls.worst()
        # a stall is longer than 50 ms on a machine with nothing else to do; this holds on one that does much else
        assert worst is None or worst.work < 0.25, self.stalls.stated()

    def settle(self) -> None:
        """Wait for the answer to the last edit."""
        assert self.window.document is not None
        session = self.window.document.session
        self.qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=20_000)
        self.qtbot.wait(60)


def ready(window: MainWindow, qtbot: QtBot) -> Hands:
    """The start page, looked at for a moment."""
    window.resize(1440, 900)
    window.activateWindow()
    QTest.qWaitForWindowActive(window, 3000)
    window.begin([])
    qtbot.waitUntil(lambda: window.warming.done, timeout=60_000)
    return Hands(window, qtbot)
