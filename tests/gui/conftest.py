"""Windows of tests: settings of their own for each, and nothing left running behind."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("PySide6", reason="the window belongs to the gui extra")
pytest.importorskip("pytestqt", reason="pytest-qt belongs to the dev extra")

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLayout, QLayoutItem, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import Shiboken

from designer.gui import theme, workers
from designer.gui.files import Files
from designer.gui.main_window import MainWindow
from designer.gui.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings nobody else sees."""
    QSettings.setPath(QSettings.Format.IniFormat, QSettings.Scope.UserScope, str(tmp_path / "settings"))
    made = Settings()
    made.reduced_motion = True
    return made


@pytest.fixture(autouse=True)
def sweeps_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """An idle window looks for garbage among what tests made; looking through all tests as well takes seconds."""
    rest = {
        name: getattr(gc, name)
        for name in ("collect", "get_threshold", "set_threshold", "isenabled", "enable", "disable")
    }
    monkeypatch.setattr(workers, "gc", SimpleNamespace(**rest, freeze=lambda: None, unfreeze=lambda: None))


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """A test must leave no thread of ours, no window and no key pressed."""
    before = set(threading.enumerate())
    yield
    app = QApplication.instance()
    if isinstance(app, QApplication):
        app.processEvents()
        # a click with Ctrl leaves Ctrl pressed for Qt, and selecting a row then adds it to what is selected
        QTest.mouseRelease(QWidget(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(0, 0))
        gc.collect()
        # what is still there is not looked through again after every test that follows
        gc.freeze()
        shown = [w for w in app.topLevelWidgets() if w.isVisible()]
        assert not shown, f"windows left open: {shown}"
    left = [t for t in threading.enumerate() if t not in before and t.name.startswith("designer")]
    for thread in left:
        thread.join(5)
    assert not [t for t in left if t.is_alive()], "threads left running"


@pytest.fixture
def window(
    qtbot: QtBot, qapp: QApplication, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MainWindow]:
    """The whole window, empty."""
    theme.apply(qapp, theme.LIGHT)
    monkeypatch.setattr(Files, "ask_to_save", lambda self, unsaved: "discard")
    made = MainWindow(settings)
    made.show()
    yield made
    # layouts are QObjects, and Python learns when one goes; of other items it does not
    wrapped = [w for w in Shiboken.getAllValidWrappers() if isinstance(w, QLayoutItem) and not isinstance(w, QLayout)]
    assert not wrapped, f"Python wrappers of items that Qt deletes: {wrapped}"
    made.close()
    made.deleteLater()
    qapp.processEvents()
    # a window waits for an event loop to delete it; one that lives on takes part in whatever the next one does
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
