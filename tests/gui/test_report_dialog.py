"""The report from the window: typed, written next to the work, stopped, refused; never over a file unasked."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from designer.design.edits.parts import SetValue
from designer.fields import Quantity
from designer.gui.dialogs.report_dialog import ReportDialog
from designer.gui.main_window import MainWindow

LEFT = Qt.MouseButton.LeftButton


def opened(window: MainWindow, folder: Path, template: str = "hgx-h100-8") -> ReportDialog:
    window.open_template(template)
    document = window.document
    assert document is not None
    QTest.keyClick(window, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    dialog = window.reporting.open[document.session]
    assert dialog.isVisible()
    dialog.file.selectAll()
    QTest.keyClicks(dialog.file, str(folder / "mine"))
    return dialog


def test_html_and_pdf_of_a_changed_design(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    """Storage changed, then both formats by Return; what is there already is replaced only when asked again."""
    dialog = opened(window, tmp_path, "m40-server")
    session = dialog.session
    drive = next(p.id for p in session.design.parts.values() if p.kind == "drive")
    session.apply(SetValue((drive,), "read_bandwidth", Quantity(value="3 GB/s", source="given")))
    QTest.keyClick(dialog.file, Qt.Key.Key_Return)
    assert dialog.busy
    qtbot.waitUntil(lambda: not dialog.busy, timeout=120_000)
    assert "Wrote mine.html and mine.pdf" in dialog.state.text()
    assert (tmp_path / "mine.pdf").read_bytes().startswith(b"%PDF")
    assert "3\u00a0GB/s" in (tmp_path / "mine.html").read_text("utf-8")
    assert dialog.look.isEnabled()
    other = tmp_path / "other.md"
    other.write_text("mine", "utf-8")
    dialog.file.selectAll()
    QTest.keyClicks(dialog.file, str(other))
    for suffix, box in dialog.formats.items():
        if box.isChecked() is not (suffix == ".md"):
            QTest.keyClick(box, Qt.Key.Key_Space)
    qtbot.mouseClick(dialog.go, LEFT)
    assert not dialog.busy
    assert "other.md is there already" in dialog.problem.text()
    assert other.read_text("utf-8") == "mine"
    qtbot.mouseClick(dialog.go, LEFT)
    qtbot.waitUntil(lambda: not dialog.busy, timeout=120_000)
    assert other.read_text("utf-8").startswith("#")


def test_it_is_stopped_and_refuses_what_is_wrong(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = opened(window, tmp_path)
    QTest.keyClicks(dialog.settings, str(tmp_path / "nobody.toml"))
    qtbot.mouseClick(dialog.go, LEFT)
    qtbot.waitUntil(lambda: not dialog.busy, timeout=60_000)
    assert "nobody.toml" in dialog.problem.text()
    dialog.settings.clear()
    qtbot.mouseClick(dialog.go, LEFT)
    assert dialog.busy
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.busy
    assert dialog.isVisible(), "Esc stops first"
    qtbot.wait(300)
    assert not list(tmp_path.glob("mine*"))
    dialog.file.clear()
    qtbot.mouseClick(dialog.go, LEFT)
    assert "nothing to write" in dialog.problem.text()
