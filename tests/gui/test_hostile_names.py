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

from designer.design.address import Ref
from designer.design.edits.parts import ChangeParts
from designer.design.edits.properties import SetProperties
from designer.design.edits.workloads import ChangeWorkload
from designer.drawing.fonts import fitted_text
from designer.gui.controls import Label, plain
from designer.gui.main_window import MainWindow
from designer.gui.panels._widgets import ElidedLink
from designer.plain_text import BREAK, breakable

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
    assert window.places is not None
    seen = 0
    for panel in window.places.panels:
        window.show_panel(panel)
        if panel == "inspector":
            session.select([((), Ref("parts", first))])
        window.places.panels[panel].flush()
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
def test_a_tip_with_markup_is_written_out(text: str, qapp: QApplication) -> None:
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


def test_a_word_without_end_widens_no_panel(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1440, 900)
    window.open_template("hgx-h100-8")
    assert window.document is not None
    assert window.places is not None
    session, places = window.document.session, window.places
    first = next(iter(session.design.parts))
    session.select([((), Ref("parts", first))])
    qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=60_000)
    qtbot.waitUntil(lambda: not any(p.pending for p in places.panels.values()))
    before = {name: dock.width() for name, dock in places.frames.items() if dock.isVisible()}
    word = "W" * 110
    session.apply(ChangeParts((first,), {"name": word}))
    for workload in session.design.workloads:
        session.apply(ChangeWorkload(workload, {"title": word}))
    session.apply(SetProperties({"title": word}))
    qtbot.waitUntil(lambda: not session.stale and not any(p.pending for p in places.panels.values()), timeout=60_000)
    qtbot.wait(50)
    assert places.inspector.title.text() == word
    assert {name: places.frames[name].width() for name in before} == before
    # and nothing of it hangs out of what it stands in
    assert places.inspector.title.minimumSizeHint().width() <= before["inspector"]


def test_names_of_several_lines_and_marks_of_direction_are_one_line_that_reads_as_it_is(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.open_template("hgx-h100-8")
    assert window.document is not None
    assert window.places is not None
    session = window.document.session
    name = "one\ntwo\u2028three \u202eevil &x[*]"
    shown = "one two three \ufffdevil &x[*]"
    for workload in session.design.workloads:
        session.apply(ChangeWorkload(workload, {"title": name}))
    session.apply(SetProperties({"title": name}))
    first = next(iter(session.design.parts))
    session.apply(ChangeParts((first,), {"name": name}))
    qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=60_000)
    chooser = window.places.head.chooser
    assert chooser.currentText() == shown
    # a title that changes is the title of the tab and of the window at once
    assert window.documents.bar.tabText(0).removeprefix("● ") == shown.replace("&", "&&")
    assert window.windowTitle().startswith(shown.replace("[*]", "[*][*]") + "[*]")
    window.places.answer.flush()
    assert window.places.answer.page is not None
    assert not any(mark in label.text() for mark in "\n\u202e" for label in window.places.answer.findChildren(Label))
    link = ElidedLink(name)
    qtbot.addWidget(link)
    link.resize(600, 30)
    link.show()
    assert link.text() == shown.replace("&", "&&")
    window.places.outline.flush()
    titles = [str(index.data()) for _, index in window.places.outline.model.walk()]
    assert shown in titles
    assert not any("\n" in title or "\u202e" in title for title in titles)
    assert fitted_text(name, 10.0, 1000.0) == shown


def test_a_long_heading_leaves_room_for_what_stands_below_it(window: MainWindow, qtbot: QtBot) -> None:
    window.open_template("hgx-h100-8")
    assert window.document is not None
    assert window.places is not None
    session, places = window.document.session, window.places
    name = "very long name " * 60
    session.apply(SetProperties({"title": name}))
    for workload in session.design.workloads:
        session.apply(ChangeWorkload(workload, {"title": name}))
    qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=60_000)
    places.inspector.flush()
    places.answer.flush()
    headings = [places.inspector.title]
    named = [heading for heading in headings if heading.text().startswith("very long name")]
    assert len(named) == 1
    for heading in named:
        assert len(heading.text()) < 200
        assert heading.heightForWidth(300) < 200


@pytest.mark.parametrize("text", ["short", "words of a usual length " * 9, "", "a" * 20])
def test_usual_texts_have_no_places_to_break_at(text: str) -> None:
    assert breakable(text) == text


def test_words_without_end_can_be_broken_and_read_as_before() -> None:
    text = f"see {'x' * 100} and {'y' * 21}"
    broken = breakable(text)
    assert broken.replace(BREAK, "") == text
    assert max(len(piece) for word in broken.split() for piece in word.split(BREAK)) <= 20
