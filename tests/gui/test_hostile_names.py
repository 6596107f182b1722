"""Names are shown as they are: no markup is obeyed, no picture loaded, no endless text laid out."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QBuffer, QModelIndex, Qt
from PySide6.QtGui import QImage
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from designer.design.edits.parts import ChangeParts
from designer.design.edits.properties import SetProperties
from designer.design.edits.workloads import ChangeWorkload
from designer.gui.controls import Label, plain
from designer.gui.main_window import MainWindow

MARKED = "<b>bold</b><img src='file:{}'> & <a href='x'>here</a>"


def tips(model: QAbstractItemModel, below: QModelIndex) -> list[str]:
    """The tips of all rows of a model."""
    found: list[str] = []
    for row in range(min(model.rowCount(below), 200)):
        for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount(below)):
            index = model.index(row, column, below)
            found.append(str(model.data(index, Qt.ItemDataRole.ToolTipRole) or ""))
            if not column:
                found += tips(model, index)
    return found


def obeyed(text: str) -> bool:
    """True if Qt would take the markup of a name for markup."""
    return GuiQt.mightBeRichText(text) and ("<img" in text or "<a href" in text or "<b>bold" in text)


def test_no_label_and_no_tip_obeys_the_markup_in_names(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    picture = QImage(8, 8, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.red)
    buffer = QBuffer()
    picture.save(buffer, "PNG")
    (tmp_path / "seen.png").write_bytes(bytes(buffer.data().data()))
    name = MARKED.format(tmp_path / "seen.png")
    window.open_template("hgx-h100-8")
    document = window.document
    assert document is not None
    session = document.session
    session.apply(ChangeParts(tuple(session.design.parts), {"name": name, "note": name}))
    session.apply(SetProperties({"title": name}))
    for workload in session.design.workloads:
        session.apply(ChangeWorkload(workload, {"title": name}))
    qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=60_000)
    window.warn(name)
    window.say(name + " again")
    session.select_all()
    first = next(iter(session.design.parts))
    assert window.docks is not None
    seen = 0
    for panel in window.docks.panels:
        window.show_panel(panel)
        if panel == "inspector":
            from designer.design.address import Ref

            session.select([((), Ref("parts", first))])
        window.docks.panels[panel].flush()
        QApplication.processEvents()
        for widget in [window, *window.findChildren(QWidget)]:
            assert not obeyed(widget.toolTip()), f"{panel}: {widget} {widget.toolTip()[:120]}"
            seen += "bold" in widget.toolTip()
            if isinstance(widget, QLabel) and widget.textFormat() != Qt.TextFormat.PlainText:
                assert not obeyed(widget.text()), f"{panel}: {widget.text()[:120]}"
            elif isinstance(widget, QLabel):
                seen += "<b>bold" in widget.text()
        for model in window.findChildren(QAbstractItemModel):
            for tip in tips(model, QModelIndex()):
                assert not obeyed(tip), f"{panel}: {tip[:120]}"
                seen += "bold" in tip
    assert seen > 10, "the names were on show"


@pytest.mark.parametrize("text", ["<b>x</b>", "<img src='file:x'>", "<html>", "a <i>b</i> c"])
def test_a_tip_with_markup_is_written_out(text: str) -> None:
    label = QLabel(plain(text))
    label.setTextFormat(Qt.TextFormat.RichText)
    assert "<b>x</b>" not in plain(text)
    assert "<img" not in plain(text)
    assert "&lt;" in plain(text)
    label.deleteLater()


@pytest.mark.parametrize("text", ["ordinary", "2 < 3 & 4 > 1", "line\nline", ""])
def test_an_ordinary_tip_stays(text: str) -> None:
    assert plain(text) == text


def test_a_megabyte_of_name_and_marks_of_direction_do_no_harm(window: MainWindow, qtbot: QtBot) -> None:
    begin = time.perf_counter()
    label = Label("x" * 1_000_000)
    qtbot.addWidget(label)
    label.setWordWrap(True)
    label.show()
    window.warn("y" * 1_000_000)
    assert len(plain("z" * 1_000_000)) < 3000
    assert len(window.toasts.shown[0].text) < 1000
    assert len(label.text()) < 10_000
    assert time.perf_counter() - begin < 10
    label.setText("abc\u202edcba\x1b[31m")
    assert "\u202e" not in label.text()
    assert "\x1b" not in label.text()
