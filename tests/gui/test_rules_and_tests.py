"""What design rules find stands among the findings with its page, and the tests of a design are red or green."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from designer.design.document import Assertion, Waiver
from designer.design.edits.parts import SetValue
from designer.design.edits.waivers import AddWaivers
from designer.fields import Quantity
from designer.gui import theme
from designer.gui.panels._panel import Panel
from designer.gui.panels.checks import ChecksPanel
from designer.gui.panels.findings import FindingsPanel
from designer.gui.session import Session
from designer.gui.viewmodels import findings
from designer.interchange.templates import open_design

FAIL = Path(__file__).parents[1] / "rules"


@pytest.fixture
def shown(qapp: QApplication) -> Iterator[Callable[[Panel], Panel]]:
    made: list[Panel] = []

    def show(panel: Panel) -> Panel:
        panel.resize(1000, 300)
        panel.show()
        made.append(panel)
        return panel

    yield show
    for panel in made:
        panel.set_session(None)
        panel.close_jobs()  # type: ignore[attr-defined]
        panel.hide()
        panel.deleteLater()
    qapp.processEvents()


def texts(panel: FindingsPanel | ChecksPanel, column: int) -> list[str]:
    panel.flush()
    return [line.cells[column].text for line in panel.table.lines.lines]


def choose(panel: FindingsPanel | ChecksPanel, row: int) -> None:
    how = QItemSelectionModel.SelectionFlag
    panel.table.selectionModel().select(panel.table.model().index(row, 0), how.ClearAndSelect | how.Rows)


def test_a_broken_rule_is_listed_read_waived_and_mended(shown: Callable[[Panel], Panel], qtbot: QtBot) -> None:
    panel = shown(FindingsPanel(theme.LIGHT))
    assert isinstance(panel, FindingsPanel)
    session = Session(open_design(FAIL / "LNK003" / "fail.design.json"))
    panel.set_session(session)
    # LNK001 states that the slot is narrow, LNK003 that its twin's is wider
    qtbot.waitUntil(lambda: "LNK003" in texts(panel, 3))
    assert "LINK-DEGRADED" not in texts(panel, 3), "told once"
    choose(panel, texts(panel, 3).index("LNK003"))
    assert panel.why.isEnabled()
    QTest.mouseClick(panel.why, Qt.MouseButton.LeftButton)
    assert "Why it matters" in panel.page.toPlainText()
    QTest.mouseClick(panel.back, Qt.MouseButton.LeftButton)
    choose(panel, texts(panel, 3).index("LNK003"))
    assert panel.mend.text() == "Draw it as its twin: Gen4 x16"
    QTest.mouseClick(panel.mend, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not any(code.startswith("LNK") for code in texts(panel, 3)))
    session.undo()
    qtbot.waitUntil(lambda: "LNK003" in texts(panel, 3))
    session.apply(AddWaivers((Waiver(id="w", code="LNK003", reason="a test", author="the architect"),)))
    qtbot.waitUntil(lambda: "LNK003" not in texts(panel, 3))


def test_rules_wait_while_loads_are_worked_out(
    shown: Callable[[Panel], Panel], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both need the network and its routes: at once they would make them twice."""
    asked: list[object] = []
    monkeypatch.setattr(findings, "ruled", lambda design: asked.append(design) or findings.Ruled())
    panel = shown(FindingsPanel(theme.LIGHT))
    session = Session(open_design(FAIL / "LNK003" / "fail.design.json"))
    session.set_awaited(True)
    panel.set_session(session)
    qtbot.wait(400)
    assert not asked
    session.set_awaited(False)
    qtbot.waitUntil(lambda: asked == [session.design])
    session.set_awaited(True)
    assert session.apply(AddWaivers((Waiver(id="w", code="LNK003", reason="a test", author="the architect"),)))
    qtbot.wait(400)
    assert len(asked) == 1
    session.set_awaited(False)
    qtbot.waitUntil(lambda: asked[1:] == [session.design])
    # an answer about a design the rules have spoken of asks nothing again
    session.set_awaited(True)
    session.set_awaited(False)
    qtbot.wait(400)
    assert len(asked) == 2


def test_tests_turn_red_and_green_with_the_design(
    shown: Callable[[Panel], Panel], qtbot: QtBot, tmp_path: Path
) -> None:
    panel = shown(ChecksPanel(theme.LIGHT))
    assert isinstance(panel, ChecksPanel)
    file = tmp_path / "m.design.json"
    (tmp_path / "m.checks.toml").write_text('[[check]]\nname = "eight"\nexpect = \'count("gpu") == 8\'\n', "utf-8")
    session = Session(open_design("hgx-h100-8"), file)
    panel.set_session(session)
    qtbot.waitUntil(lambda: len(texts(panel, 1)) == 1)
    assert panel.table.lines.lines[0].cells[0].tone == "good"
    panel.field.setText('part("gpu0").memory_capacity >= 80 GB')
    QTest.mouseClick(panel.add, Qt.MouseButton.LeftButton)
    assert session.design.assertions["test1"] == Assertion(
        id="test1", expression='part("gpu0").memory_capacity >= 80 GB'
    )
    qtbot.waitUntil(lambda: len(texts(panel, 1)) == 2)
    assert [line.cells[0].tone for line in panel.table.lines.lines] == ["good", "good"]
    assert panel.stated.text() == "2 of 2 hold"
    session.apply(SetValue(("gpu0",), "memory_capacity", Quantity(value="40 GB", source="given")))
    qtbot.waitUntil(lambda: panel.table.lines.lines[0].cells[0].tone == "bad")
    assert texts(panel, 3)[0].startswith("40 GB")
    choose(panel, 0)
    QTest.mouseClick(panel.remove, Qt.MouseButton.LeftButton)
    assert not session.design.assertions
    qtbot.waitUntil(lambda: len(texts(panel, 1)) == 1)


def test_what_cannot_be_read_is_told_and_stays_in_the_field(shown: Callable[[Panel], Panel], qtbot: QtBot) -> None:
    panel = shown(ChecksPanel(theme.LIGHT))
    assert isinstance(panel, ChecksPanel)
    session = Session(open_design("hgx-h100-8"))
    panel.set_session(session)
    panel.field.setText("rate >= 400 G")
    with qtbot.waitSignal(session.warned) as stated:
        QTest.mouseClick(panel.add, Qt.MouseButton.LeftButton)
    assert "bits or bytes" in stated.args[0]
    assert panel.field.text() == "rate >= 400 G"
    assert not session.design.assertions
