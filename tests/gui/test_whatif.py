"""What if: a trial next to the design, with real clicks and keys; the design changes only when that is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.design.edits.links import ChangeLinks
from designer.gui.main_window import MainWindow
from designer.gui.panels._whatif import WhatIf
from designer.gui.session import Session
from designer.gui.viewmodels.answer import page_for
from designer.pages.workload import page_of
from designer.present.blocks import State
from tests.moving import MoveBy

pytestmark = pytest.mark.platform

LEFT = Qt.MouseButton.LeftButton
CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def asked(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> tuple[MainWindow, Session, WhatIf, str]:
    """A saved design with what binds it selected: the question is about its link."""
    window.open_template("hgx-h100-8")
    document = window.document
    assert document is not None
    session = document.session
    qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=60_000)
    assert window.files.save_to(document, tmp_path / "own.design.json")
    assert session.result is not None
    link = next(x.id for x in session.design.links.values() if x.bandwidth_per_direction is not None)
    session.select([((), Ref("links", link))])
    window.show_panel("inspector")
    assert window.places is not None
    window.places.inspector.flush()
    what_if = window.places.inspector.what_if
    QApplication.processEvents()
    assert what_if.isVisible()
    return window, session, what_if, link


def words(what_if: WhatIf) -> str:
    return "\n".join(label.text() for label in what_if.findChildren(QLabel) if label.isVisibleTo(what_if))


def test_twice_as_much_is_tried_beside_the_design_and_changes_nothing(
    asked: tuple[MainWindow, Session, WhatIf, str], qtbot: QtBot
) -> None:
    window, session, what_if, link = asked
    before, answer = session.design, session.analysis
    qtbot.mouseClick(what_if.double, LEFT)
    assert what_if.on_trial
    qtbot.waitUntil(lambda: what_if.answer is not None, timeout=60_000)
    assert session.design is before
    assert session.analysis is answer
    assert not session.history.can_undo
    assert not session.modified
    assert not window.isWindowModified()
    QApplication.processEvents()
    stated = words(what_if)
    for word in ("Trial", "unchanged", "Now", "Limited by"):
        assert word in stated
    assert what_if.design is not None
    assert what_if.design.links[link] != before.links[link]
    assert what_if.answer is not answer


def test_the_trial_is_the_answer_that_the_applied_edit_gets(
    asked: tuple[MainWindow, Session, WhatIf, str], qtbot: QtBot
) -> None:
    _window, session, what_if, link = asked
    qtbot.mouseClick(what_if.half, LEFT)
    qtbot.waitUntil(lambda: what_if.answer is not None, timeout=60_000)
    assert what_if.answer is not None
    tried = next(w for w in what_if.answer.workloads if w.id == session.workload)
    trial = what_if.design
    assert trial is not None
    qtbot.mouseClick(what_if.apply_, LEFT)
    assert session.design.links[link] == trial.links[link]
    assert session.history.done == 1
    assert session.modified
    assert not what_if.on_trial
    qtbot.waitUntil(lambda: not session.stale, timeout=60_000)
    assert session.result is not None
    assert {n: e.value for n, e in session.result.metrics.items()} == {n: e.value for n, e in tried.metrics.items()}
    session.undo()
    assert not session.modified


def test_discarding_and_other_edits_end_the_trial_and_moving_things_does_not(
    asked: tuple[MainWindow, Session, WhatIf, str], qtbot: QtBot
) -> None:
    _window, session, what_if, link = asked
    before = session.design
    qtbot.mouseClick(what_if.double, LEFT)
    qtbot.mouseClick(what_if.discard_, LEFT)
    assert not what_if.on_trial
    assert not what_if.page.isVisible()
    assert what_if.slider.value() == 0
    assert session.design is before
    qtbot.mouseClick(what_if.double, LEFT)
    session.apply(MoveBy((Ref("parts", next(iter(session.design.parts))),), 8, 0))
    assert what_if.on_trial, "moving a part changes no answer"
    session.apply(ChangeLinks((link,), {"count": 2}))
    assert not what_if.on_trial


def test_keys_try_apply_and_discard(asked: tuple[MainWindow, Session, WhatIf, str], qtbot: QtBot) -> None:
    window, session, what_if, link = asked
    canvas = window.canvas
    assert canvas is not None
    window.activateWindow()
    # a server without a window manager brings it to the front in its own time
    qtbot.waitUntil(lambda: QGuiApplication.focusWindow() is window.windowHandle(), timeout=5000)
    canvas.setFocus()
    before = session.design
    up, back, enter = Qt.Key.Key_Up, Qt.Key.Key_Backspace, Qt.Key.Key_Return
    for key, on_trial, done in ((up, True, 0), (back, False, 0), (up, True, 0), (enter, False, 1)):
        QTest.keyClick(canvas, key, CTRL_SHIFT)
        assert (what_if.on_trial, session.history.done) == (on_trial, done)
    assert session.design.links[link] != before.links[link]


def test_selecting_something_else_ends_the_trial(asked: tuple[MainWindow, Session, WhatIf, str], qtbot: QtBot) -> None:
    window, session, what_if, _link = asked
    qtbot.mouseClick(what_if.double, LEFT)
    session.select([((), Ref("parts", "gpu0"))])
    assert window.places is not None
    window.places.inspector.flush()
    assert not what_if.on_trial
    assert not session.history.can_undo


def test_canvas_and_answer_show_the_trial_while_a_value_is_dragged(window: MainWindow, qtbot: QtBot) -> None:
    """A limiting link at half its rate carries half: the canvas says so until the trial is forgotten."""
    window.open_template("hgx-h100-8")
    assert window.document is not None
    session = window.document.session
    session.set_workload("h2d")
    qtbot.waitUntil(lambda: session.state is State.ANSWERED and session.result is not None, timeout=60_000)
    assert window.canvas is not None
    assert window.places is not None
    window.show_panel("inspector")
    session.select([((), Ref("links", "cpu0--psw0"))])
    window.places.inspector.flush()
    what_if = window.places.inspector.what_if
    what_if.begin(window.places.inspector.rows["bandwidth_per_direction"].entry)
    scene, design = window.canvas.scene, session.design
    before = scene.view_state.loads
    what_if.step(-1)
    qtbot.waitUntil(lambda: session.trial is not None, timeout=10_000)
    assert session.shown_result is not None
    assert session.result is not None
    shown, now = session.shown_result.metrics["rate"].value, session.result.metrics["rate"].value
    assert shown < now
    assert page_for(session).figures != page_of(session.result, design).figures
    assert scene.view_state.loads is not before
    assert session.design is design, "nothing is changed by trying"
    what_if.discard()
    assert session.trial is None
    assert session.shown_result is session.result
