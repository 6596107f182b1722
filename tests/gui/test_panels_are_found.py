"""Panels are found by their files, each once; their actions come with the first document."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from designer.gui.actions._action import menus
from designer.gui.main_window import MainWindow
from designer.gui.panels._panel import Place, panel_kinds


def test_every_file_is_a_panel_with_a_title_and_place_of_its_own(checkout: Path) -> None:
    files = {path.stem for path in (checkout / "designer" / "gui" / "panels").glob("[!_]*.py")}
    kinds = panel_kinds()
    assert {kind.name for kind in kinds} == files
    assert len({kind.title for kind in kinds}) == len(kinds)
    assert len({(kind.place, kind.order) for kind in kinds}) == len(kinds)
    assert {kind.place for kind in kinds} == set(Place)
    keys = [kind.shortcut for kind in kinds if kind.shortcut]
    assert len(set(keys)) == len(keys)


def test_each_has_a_place_and_an_action(window: MainWindow) -> None:
    window.open_template("hgx-a100-4")
    assert window.places is not None
    assert list(window.places.frames) == [kind.name for kind in panel_kinds()]
    view = next(menu for menu in menus() if menu.name == "view")
    assert [a.id for a in view.actions if a.under == "Panels"] == [f"view.panel_{kind.name}" for kind in panel_kinds()]
    shown = next(m for m in window.menuBar().findChildren(QMenu) if m.title() == "Panels")
    assert [a.text() for a in shown.actions()] == [f"Show {kind.title}" for kind in panel_kinds()]
    window.qt_actions["view.panel_history"].trigger()
    assert window.places.frames["history"].isVisibleTo(window)


def test_the_start_page_loads_no_panel() -> None:
    """In a program of its own: here they are loaded."""
    program = (
        "import sys\nfrom designer.gui.actions._action import all_actions\nall_actions()\n"
        "loaded = [m for m in sys.modules if m.startswith(('designer.gui.panels.', 'designer.gui.canvas.canvas'))]\n"
        "sys.exit(', '.join(loaded) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_every_panel_is_entered_at_a_field_and_left_by_esc(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1440, 900)
    window.open_template("hgx-h100-8")
    document, places = window.document, window.places
    assert document is not None
    assert places is not None
    qtbot.waitUntil(lambda: document.session.analysis is not None and not document.session.stale, timeout=60_000)
    for name in places.frames:
        window.show_panel(name)
        panel = places.panels[name]
        qtbot.waitUntil(lambda panel=panel: not panel.pending)
        window.show_panel(name)
        focus = QApplication.focusWidget()
        assert focus is not None
        assert panel.isAncestorOf(focus) or focus is panel, name
        if focus is panel:
            fields = [w for w in panel.findChildren(QWidget) if w.focusPolicy() & Qt.FocusPolicy.TabFocus]
            seen = [w for w in fields if w.isVisible() and w.isEnabled() and not isinstance(w, QScrollArea)]
            assert not seen, name
        QTest.keyClick(focus, Qt.Key.Key_Escape)
        assert QApplication.focusWidget() is window.canvas, name
