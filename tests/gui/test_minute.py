"""The first minute: from an empty canvas to a mended bottleneck, with few actions, by mouse and by keys."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import QPointF, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.gui.dialogs.command_palette import CommandPalette
from designer.gui.main_window import MainWindow

#: keystroke-level model: a key or chord, a letter of a word, pointing, a click, thinking before an action [s]
KEY, LETTER, POINT, CLICK, THINK = 0.28, 0.2, 1.1, 0.2, 1.35
CTRL, SHIFT, NONE = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.NoModifier,
)


class Hands:
    """Does what a person does, and counts it: a chord, a typed word and a click are one action each."""

    def __init__(self, window: MainWindow, qtbot: QtBot) -> None:
        self.window, self.qtbot = window, qtbot
        self.actions = 0
        self.seconds = 0.0

    @property
    def session(self) -> object:
        assert self.window.document is not None
        return self.window.document.session

    def _target(self) -> QWidget:
        focus = QApplication.focusWidget()
        assert focus is not None
        return focus

    def press(self, key: Qt.Key, keys: Qt.KeyboardModifier = NONE, think: bool = False) -> None:
        """One key or chord."""
        QTest.keyClick(self._target(), key, keys)
        self._did(KEY, think)

    def type(self, word: str) -> None:
        """One word."""
        QTest.keyClicks(self._target(), word)
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
        QTest.mouseMove(canvas, at)
        QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, keys, at)
        self._did(POINT + CLICK, True)

    def _did(self, seconds: float, think: bool) -> None:
        self.actions += 1
        self.seconds += seconds + (THINK if think else 0.0)
        QApplication.processEvents()

    def report(self) -> None:
        """Say what it took."""
        sys.stdout.write(f"{self.actions} actions, {self.seconds:.0f} s by the keystroke-level model\n")

    def settle(self) -> None:
        """Wait for the answer to the last edit."""
        assert self.window.document is not None
        session = self.window.document.session
        self.qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=20_000)
        self.qtbot.wait(60)


def built(hands: Hands) -> None:
    """Two servers, a switch and storage on an empty canvas."""
    window = hands.window
    hands.press(Qt.Key.Key_N, CTRL, think=True)
    hands.press(Qt.Key.Key_P, CTRL, think=True)
    hands.qtbot.wait(150)
    hands.type("dgx a100")
    hands.press(Qt.Key.Key_Return)
    hands.press(Qt.Key.Key_Return)
    hands.type("qm8700")
    hands.press(Qt.Key.Key_Return)
    hands.type("scale hdr")
    hands.press(Qt.Key.Key_Return)
    hands.press(Qt.Key.Key_Escape)
    assert window.document is not None
    kinds = [p.kind for p in window.document.session.design.parts.values()]
    assert (kinds.count("server"), kinds.count("gpu"), kinds.count("switch"), kinds.count("storage")) == (2, 16, 1, 1)


def finished(hands: Hands) -> None:
    """A workload, the bottleneck named, mended, and the improvement shown."""
    window = hands.window
    assert window.document is not None
    session = window.document.session

    def fill() -> None:
        dialog = QApplication.activeModalWidget()
        if isinstance(dialog, QDialog) and dialog.isVisible():
            asked.stop()
            QTest.keyClick(dialog, Qt.Key.Key_Return)
            hands._did(KEY, False)

    # the dialog waits for an answer: whoever gives it looks until it is there
    asked = QTimer(window, interval=100)
    asked.timeout.connect(fill)
    asked.start()
    hands.press(Qt.Key.Key_W, CTRL | Qt.KeyboardModifier.AltModifier, think=True)
    hands.settle()
    result = session.result
    assert result is not None
    assert result.binding
    assert window.docks is not None
    flow = window.docks.flow
    flow.flush()
    shown = flow._shown
    assert shown is not None
    assert shown.binding is not None
    before = dict(flow._baseline[result.id])
    hands.press(Qt.Key.Key_B, think=True)
    assert session.selection
    hands.press(Qt.Key.Key_Up, CTRL | SHIFT, think=True)
    hands.qtbot.waitUntil(lambda: window.on_trial, timeout=10_000)
    hands.press(Qt.Key.Key_Return, CTRL | SHIFT)
    hands.settle()
    flow.flush()
    assert flow._shown is not None
    better = [n for n in flow._shown.numbers if n.tone == "good"]
    assert better, [(n.name, n.text, n.change, before.get(n.name)) for n in flow._shown.numbers]
    assert better[0].change.startswith("was ")


@pytest.mark.platform
def test_the_first_minute_by_mouse_and_keys(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1440, 900)
    window.activateWindow()
    QTest.qWaitForWindowActive(window, 3000)
    hands = Hands(window, qtbot)
    built(hands)
    assert window.canvas is not None
    assert window.document is not None
    hands.press(Qt.Key.Key_F)
    window.canvas.camera.set(window.canvas.camera.target)
    servers = [p.id for p in window.document.session.design.parts.values() if p.kind == "server"]
    links = len(window.document.session.design.links)
    hands.click(servers[0], fx=0.3, fy=0.02)
    hands.click(servers[1], SHIFT, fx=0.3, fy=0.02)
    hands.press(Qt.Key.Key_C, think=True)
    hands.click("switch0")
    assert len(window.document.session.design.links) == links + 20
    hands.click("storage0")
    hands.press(Qt.Key.Key_C, think=True)
    hands.click("switch0")
    assert len(window.document.session.design.links) == links + 21
    finished(hands)
    hands.report()
    assert hands.actions <= 25
    assert hands.seconds <= 60


@pytest.mark.platform
def test_the_first_minute_by_keyboard_alone(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1440, 900)
    window.activateWindow()
    QTest.qWaitForWindowActive(window, 3000)
    hands = Hands(window, qtbot)
    built(hands)
    assert window.canvas is not None
    assert window.document is not None
    session = window.document.session

    def join(word: str) -> None:
        """Search what to connect, then what to connect it to."""
        hands.press(Qt.Key.Key_L, CTRL, think=True)
        hands.qtbot.wait(100)
        popup = next(w for w in QApplication.topLevelWidgets() if isinstance(w, CommandPalette) and w.isVisible())
        popup.search.setFocus()
        hands.type(word)
        hands.press(Qt.Key.Key_Return)

    links = len(session.design.links)
    join("qm8700")
    assert len(session.design.links) == links + 1
    for name in [p.label for p in session.design.parts.values() if p.kind == "server"]:
        hands.press(Qt.Key.Key_K, CTRL, think=True)
        hands.qtbot.wait(100)
        hands.type(name)
        hands.press(Qt.Key.Key_Return)
        assert session.selection
        join("qm8700")
    assert len(session.design.links) == links + 21
    finished(hands)
    hands.report()
    assert hands.actions <= 60
