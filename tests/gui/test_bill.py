"""The bill of materials is found in the menu and by search, follows edits and is saved as workbook or CSV."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from designer.gui.dialogs.bill_dialog import BillDialog
from designer.gui.dialogs.command_palette import CommandPalette
from designer.gui.main_window import MainWindow
from designer.gui.viewmodels.ranking import ordered


def opened(window: MainWindow, qtbot: QtBot) -> BillDialog:
    if window.document is None:
        window.open_template("hgx-h100-8")
    document = window.document
    assert document is not None
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    dialog = window.billing.open[document.session]
    assert dialog.isVisible()
    qtbot.waitUntil(lambda: bool(dialog.tables), timeout=30_000)
    return dialog


def count_of(dialog: BillDialog, item: str) -> list[str]:
    heads = [column.title for column in dialog.lines.columns]
    at = heads.index("Count")
    return [line.cells[at].text for line in dialog.lines.lines if line.cells[0].text == item]


@pytest.mark.parametrize("query", ["bom", "bill", "excel", "xlsx", "parts list"])
def test_search_finds_it(window: MainWindow, qtbot: QtBot, query: str) -> None:
    window.open_template("hgx-h100-8")
    QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    palette = window.findChild(CommandPalette)
    assert palette is not None
    assert ordered(query, window.choices(), lambda c: c.found_by)[0].title == "Bill of materials…"
    QTest.keyClicks(palette.search, query)
    QTest.keyClick(palette.search, Qt.Key.Key_Return)
    assert window.document is not None
    qtbot.waitUntil(lambda: window.document is not None and window.document.session in window.billing.open)


def test_it_counts_what_is_drawn_and_follows_edits(window: MainWindow, qtbot: QtBot) -> None:
    dialog = opened(window, qtbot)
    assert count_of(dialog, "GPU") == ["8"]
    assert count_of(dialog, "NVSwitch") == ["4"]
    session = dialog.session
    gpu = next(p for p in session.design.parts.values() if p.kind == "gpu")
    from designer.design.address import Ref

    session.select([((), Ref("parts", gpu.id))])
    session.delete()
    qtbot.waitUntil(lambda: count_of(dialog, "GPU") == ["7"], timeout=30_000)
    session.undo()
    qtbot.waitUntil(lambda: count_of(dialog, "GPU") == ["8"], timeout=30_000)


def test_it_is_written_and_copied(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = opened(window, qtbot)
    dialog.write(tmp_path / "mine.xlsx")
    assert "Wrote mine.xlsx" in dialog.state.text()
    with zipfile.ZipFile(tmp_path / "mine.xlsx") as book:
        sheets = book.read("xl/workbook.xml").decode()
    assert sheets.count("<sheet ") == len(dialog.tables)
    dialog.write(tmp_path / "mine.csv")
    rows = list(csv.DictReader((tmp_path / "mine.csv").read_text("utf-8").splitlines()))
    assert [row["Count"] for row in rows if row["Item"] == "GPU"] == ["8"]
    dialog.write(tmp_path / "mine.odt")
    assert ".odt names no format" in dialog.problem.text()
    assert not (tmp_path / "mine.odt").exists()
    qtbot.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    text = QGuiApplication.clipboard().text()
    assert text.splitlines()[0].split("\t")[0] == "Item"
    assert sum(line.startswith("GPU\t") for line in text.splitlines()) == 1


def test_prices_bring_costs(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = opened(window, qtbot)
    assert "cost" not in dialog.tables
    prices = tmp_path / "prices.csv"
    prices.write_text(
        "part,currency,price,date,valid until\ngpu/nvidia/h100-sxm5,USD,30000,2026-01-01,2027-01-01\n", "utf-8"
    )
    QTest.keyClicks(dialog.prices, str(prices))
    QTest.keyClick(dialog.prices, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dialog.shown == "cost", timeout=30_000)
    assert any(cell.text == "240,000" for line in dialog.lines.lines for cell in line.cells)
    dialog.prices.selectAll()
    QTest.keyClicks(dialog.prices, str(tmp_path / "none.csv"))
    QTest.keyClick(dialog.prices, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dialog.problem.isVisible(), timeout=30_000)
    assert "none.csv" in dialog.problem.text()


def test_it_closes_with_its_document(window: MainWindow, qtbot: QtBot) -> None:
    dialog = opened(window, qtbot)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not window.billing.open
    dialog = opened(window, qtbot)
    window.close_document()
    assert not window.billing.open
