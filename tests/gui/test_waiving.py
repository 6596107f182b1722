"""Accepting findings in the window: the form, the list of waivers, undo, and waivers that ran out."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialogButtonBox
from pytestqt.qtbot import QtBot

from designer.design.document import Waiver
from designer.design.edits.waivers import AddWaivers
from designer.errors import DocumentError
from designer.findings import Finding
from designer.gui.dialogs.waive_dialog import WaiveDialog
from designer.gui.main_window import MainWindow
from designer.gui.panels.findings import FindingsPanel
from designer.gui.viewmodels import waiving
from designer.interchange.native.reader import loads
from designer.interchange.native.writer import encoded
from designer.interchange.templates import open_design
from designer.rules.runner import check

TEMPLATE = "hpe-apollo-6500-nfs"
TODAY = date(2027, 1, 15)


def finding() -> Finding:
    return next(f for f in check(open_design(TEMPLATE)).findings if waiving.can_waive(f))


def panel_of(window: MainWindow, qtbot: QtBot) -> FindingsPanel:
    window.open_template(TEMPLATE)
    window.show_panel("findings")
    assert window.places is not None
    panel = window.places.findings
    qtbot.waitUntil(lambda: any(waiving.can_waive(f) for f in panel._listed), timeout=20_000)
    return panel


def select(panel: FindingsPanel, code: str) -> None:
    rows = [row for row, line in enumerate(panel.table.lines.lines) if getattr(line.key, "code", "") == code]
    panel.table.selectRow(rows[0])


def test_a_finding_is_waived_listed_undone_and_kept_in_the_file(window: MainWindow, qtbot: QtBot) -> None:
    panel = panel_of(window, qtbot)
    document = window.document
    assert document is not None
    session = document.session
    code = finding().code
    before = [f.code for f in panel._listed].count(code)
    select(panel, code)
    assert panel.waive.isEnabled()
    problems: list[str] = []

    def fill() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, WaiveDialog)
        ok = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
        assert not ok.isEnabled()
        problems.append(dialog.problem.text())
        QTest.keyClicks(dialog.reason, "no second leaf in the lab")
        problems.append(dialog.problem.text())
        QTest.keyClicks(dialog.author, "the architect")
        assert ok.isEnabled()
        dialog.expires.setText("never")
        assert not ok.isEnabled()
        problems.append(dialog.problem.text())
        dialog.expires.setText((date.today() + timedelta(days=30)).isoformat())
        ok.click()

    QTimer.singleShot(0, panel, fill)
    panel.waive.click()
    assert ["why" in problems[0].lower(), "who" in problems[1].lower(), "no day" in problems[2]] == [True] * 3
    (waiver,) = session.design.waivers.values()
    assert (waiver.code, waiver.reason, waiver.author) == (code, "no second leaf in the lab", "the architect")
    qtbot.waitUntil(lambda: [f.code for f in panel._listed].count(code) == before - 1, timeout=20_000)
    assert panel.waivers.text() == "Waivers 1"
    panel.waivers.click()
    panel.flush()
    (line,) = panel.accepted.lines.lines
    assert line.cells[1].text == "covers 1 finding"
    assert loads(encoded(session.design, Path("a.design.json"))).design.waivers == (session.design.waivers)
    session.undo()
    assert not session.design.waivers
    session.redo()
    panel.flush()
    panel.accepted.selectRow(0)
    assert panel.unwaive.isEnabled()
    QTest.mouseClick(panel.unwaive, Qt.MouseButton.LeftButton)
    assert not session.design.waivers
    panel.leave.click()
    qtbot.waitUntil(lambda: [f.code for f in panel._listed].count(code) == before, timeout=20_000)


def test_one_that_ran_out_is_shown_so_and_can_be_deleted(window: MainWindow, qtbot: QtBot) -> None:
    panel = panel_of(window, qtbot)
    document = window.document
    assert document is not None
    code = finding().code
    old = Waiver(id="old", code=code, reason="for the fair", author="the lab", expires="2020-02-29")
    document.session.apply(AddWaivers((old,)))
    qtbot.waitUntil(lambda: any(f.code == "WAIVER-EXPIRED" for f in panel._listed), timeout=20_000)
    assert any(f.code == code for f in panel._listed), "what it covered counts again"
    panel.show_waivers()
    panel.flush()
    assert panel.accepted.lines.lines[0].cells[1].text == "has run out"
    panel.leave.click()
    panel.flush()
    select(panel, "WAIVER-EXPIRED")
    assert panel.mend.text() == "Delete the waiver"
    panel.mend.click()
    assert not document.session.design.waivers


@pytest.mark.parametrize(
    ("reason", "author", "expires", "stated"),
    [
        ("", "me", "", "why"),
        ("because", " ", "", "who"),
        ("because", "me", "2027-13-01", "no day"),
        ("because", "me", "2026-12-31", "past"),
    ],
)
def test_a_waiver_must_be_whole(reason: str, author: str, expires: str, stated: str) -> None:
    with pytest.raises(DocumentError, match=stated):
        waiving.waiver_of(open_design(TEMPLATE), finding(), True, reason, author, expires, TODAY)


def test_a_place_or_everywhere() -> None:
    """Three months from 15 January 2027 are 91 days: 16 (rest of January) + 28 + 31 = 75 to 31 March, so 16 April."""
    found = finding()
    day = waiving.last_day(91, TODAY)
    assert day == "2027-04-16"
    assert waiving.waiver_of(open_design(TEMPLATE), found, True, "a", "b", day, TODAY).where == ()
    here = waiving.waiver_of(open_design(TEMPLATE), found, False, "a", "b", "", TODAY)
    assert here.where == tuple(str(w) for w in found.where)
    assert here.expires is None


def test_what_no_rule_says_is_not_waived() -> None:
    from designer.findings import Severity

    assert not waiving.can_waive(Finding("ANALYSIS", Severity.ERROR, "it failed", (), ""))
