"""Small windows and large text: sides fold, the drawing refits, the legend gives way, no text is cut or covered."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QLabel,
    QPushButton,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.gui import theme
from designer.gui.dialogs.machine_dialog import MachineDialog
from designer.gui.dialogs.paste_dialog import PasteDialog
from designer.gui.dialogs.settings_dialog import SettingsDialog
from designer.gui.dialogs.waive_dialog import WaiveDialog
from designer.gui.dialogs.workload_dialog import WorkloadDialog
from designer.gui.main_window import MainWindow
from designer.gui.panels._entry_rows import EntryRow
from designer.gui.panels._widgets import ElidedLink, Table
from designer.gui.panels.improve import ImprovePanel
from designer.gui.pictures import PixelsDialog
from designer.gui.settings import Settings
from designer.interchange.templates import open_design
from designer.rules.runner import check

#: text may stand out this far: rounding of letters [px]
_LOOSE = 2.0


def texts(root: QWidget) -> Iterator[tuple[QWidget, str]]:
    """Visible labels and buttons with text, and what of them does not fit."""
    for widget in root.findChildren(QWidget):
        if not widget.isVisible() or widget.visibleRegion().isEmpty() or isinstance(widget, ElidedLink):
            continue
        metrics = QFontMetricsF(widget.font())
        if isinstance(widget, QLabel) and widget.text() and not widget.text().startswith("<"):
            room = widget.contentsRect()
            if widget.wordWrap():
                need = metrics.boundingRect(
                    QRect(0, 0, room.width(), 100_000), int(widget.alignment()) | 0x1000, widget.text()
                )
                if need.height() > room.height() + _LOOSE:
                    yield widget, f"{widget.text()[:40]!r} needs {need.height():.0f} of {room.height()} px height"
                longest = max(metrics.horizontalAdvance(word) for word in widget.text().split() or [""])
                if longest > room.width() + _LOOSE:
                    yield widget, f"a word of {widget.text()[:40]!r} is wider than {room.width()} px"
            elif max(map(metrics.horizontalAdvance, widget.text().split("\n"))) > room.width() + _LOOSE:
                yield widget, f"{widget.text()[:40]!r} is wider than {room.width()} px"
        if isinstance(widget, Table):
            yield from cut_heads(widget)
        if isinstance(widget, EntryRow) and widget.entry.editable:
            field = widget.value
            text = field.currentText() if isinstance(field, QComboBox) else widget.entry.text
            # next to its title there is little room; below it, it has all there is
            if metrics.horizontalAdvance(text) > field.width() - 8 and field.width() < widget.width() * 0.8:
                yield widget, f"{text[:40]!r} is cut at {field.width()} px though there is room below its title"
        if isinstance(widget, QPushButton | QToolButton | QCheckBox) and shows_text(widget):
            need = metrics.horizontalAdvance(widget.text().replace("&", ""))
            if need > widget.width() + _LOOSE:
                yield widget, f"{widget.text()[:40]!r} is wider than its button of {widget.width()} px"


def cut_heads(table: Table) -> Iterator[tuple[QWidget, str]]:
    """Heads of columns that are shortened; those of a comparison are names, which can be as long as one likes."""
    from PySide6.QtCore import Qt

    model, header = table.lines, table.horizontalHeader()
    if header.isHidden():
        return
    for n, column in enumerate(model.columns):
        shown = str(model.headerData(n, Qt.Orientation.Horizontal, Qt.ItemDataRole.DisplayRole))
        name = table.accessibleName() == "Comparison of two designs" and n in (1, 2)
        if table.isColumnHidden(n) or (name and "…" in shown):
            continue
        if shown.split() != column.title.split():
            yield table, f"head {column.title!r} is shown as {shown!r} on {table.columnWidth(n)} px"
        if (shown.count("\n") + 1) * QFontMetricsF(header.font()).height() > header.height() + _LOOSE:
            yield table, f"head {column.title!r} is higher than {header.height()} px"


def shows_text(button: QAbstractButton) -> bool:
    """True if the text of a button is written on it, not only its icon."""
    from PySide6.QtCore import Qt

    only_icon = isinstance(button, QToolButton) and button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
    return bool(button.text()) and not (only_icon and not button.icon().isNull())


def covered(root: QWidget) -> Iterator[str]:
    """Labels and buttons of one parent that lie on each other."""
    for parent in [root, *root.findChildren(QWidget)]:
        shown = [
            child
            for child in parent.children()
            if isinstance(child, QLabel | QAbstractButton) and child.isVisible() and child.text()
        ]
        for k, one in enumerate(shown):
            for other in shown[k + 1 :]:
                both = one.geometry().intersected(other.geometry())
                if both.width() > _LOOSE and both.height() > _LOOSE:
                    yield f"{one.text()[:30]!r} and {other.text()[:30]!r}"


def seen_problems(root: QWidget) -> list[str]:
    """All that is cut off or covered."""
    QApplication.processEvents()
    found = [f"{type(w).__name__}: {text}" for w, text in texts(root)]
    return [*found, *covered(root)]


def problems(root: QWidget) -> list[str]:
    """What is cut or covered, and still is after answers of searches that came meanwhile are laid out."""
    if seen_problems(root):
        QTest.qWait(300)
    return seen_problems(root)


#: width and height of the window, size of the text [%]; the last is a screen of 3840 × 2160 at 200 %
SIZES = [(1024, 700, 100), (1440, 900, 100), (1440, 900, 200), (1920, 1080, 100)]
THEMES = ("light", "dark", "contrast")


@pytest.fixture(params=SIZES, ids=lambda p: f"{p[0]}-{p[2]}")
def sized(
    request: pytest.FixtureRequest, window: MainWindow, settings: Settings, qapp: QApplication, qtbot: QtBot
) -> Iterator[MainWindow]:
    width, height, scale = request.param
    before = qapp.font()
    settings.font_scale = scale
    theme.base_font(qapp, scale)
    theme.apply(qapp, theme.LIGHT)
    window.resize(width, height)
    window.open_template("hgx-h100-8")
    document = window.document
    assert document is not None
    qtbot.waitUntil(lambda: document.session.analysis is not None and not document.session.stale, timeout=60_000)
    document.session.set_workload("resnet-50")
    qtbot.waitUntil(lambda: document.session.analysis is not None and not document.session.stale, timeout=60_000)
    qtbot.wait(60)
    yield window
    qapp.setFont(before)


def test_no_text_of_the_panels_is_cut_or_covered(sized: MainWindow, qtbot: QtBot) -> None:
    """Each panel, in the narrowest window in each theme; the window around it, which themes do not move, once."""
    assert sized.places is not None
    panels = sized.places.panels

    def settle() -> None:
        # panels are redrawn one a turn, and laid out in the next
        qtbot.waitUntil(lambda: not any(panel.pending for panel in panels.values()))
        QApplication.processEvents()

    looks = THEMES if sized.width() == SIZES[0][0] else THEMES[:1]
    seen = 0
    for look in looks:
        sized.set_theme(look)
        settle()
        found = problems(sized)
        assert not found, f"{look}: {found}"
        for name, dock in sized.places.frames.items():
            sized.show_panel(name)
            QApplication.processEvents()
            panels[name].flush()
            settle()
            found = problems(sized if look == THEMES[0] else dock)
            assert not found, f"{name}, {look}: {found}"
            seen += 1
    assert seen >= 10 * len(looks)
    of_the_inspector(sized, qtbot)


def of_the_inspector(sized: MainWindow, qtbot: QtBot) -> None:
    """A part and a link in it."""
    assert sized.document is not None
    assert sized.places is not None
    session = sized.document.session
    sized.set_theme("light")
    sized.show_panel("inspector")
    for what in ("parts", "links"):
        first = next(iter(getattr(session.design, what)))
        session.select([((), Ref(what, first))])
        sized.places.inspector.flush()
        qtbot.wait(20)
        assert not problems(sized), what
    rows = [row for row in sized.places.inspector.rows.values() if row.entry.editable]
    assert rows


def test_no_text_of_long_tables_is_cut_or_covered(sized: MainWindow, qtbot: QtBot) -> None:
    of_what_to_change_and_of_failures(sized, qtbot)
    of_a_comparison_and_of_the_waivers(sized, qtbot)


def of_what_to_change_and_of_failures(sized: MainWindow, qtbot: QtBot) -> None:
    assert sized.places is not None
    sized.show_panel("improve")
    panel = sized.places.panels["improve"]
    assert isinstance(panel, ImprovePanel)
    for question in ("survive", "suggest"):
        panel.ask(question)
        qtbot.waitUntil(lambda: panel.answer is not None, timeout=60_000)
        qtbot.wait(20)
        assert not problems(sized)
        table = panel.view.table
        if question == "survive":
            assert table.isVisible()
            # names of some words are broken into lines, and a line has some words
            high = [table.rowHeight(row) for row in range(len(table.lines.lines))]
            assert max(high) <= 6 * table.fontMetrics().height()
            assert not table.horizontalScrollBar().isVisible()


def test_no_text_of_the_forms_of_improve_is_cut_or_covered(sized: MainWindow, qtbot: QtBot) -> None:
    assert sized.places is not None
    sized.show_panel("improve")
    for ask in (sized.places.improve.ask_sweep, sized.places.improve.ask_designs):
        ask()
        qtbot.wait(20)
        assert not problems(sized)


def of_a_comparison_and_of_the_waivers(sized: MainWindow, qtbot: QtBot) -> None:
    assert sized.places is not None
    panel = sized.places.compare
    sized.show_panel("compare")
    panel.choose("template: NVIDIA DGX H200 (8 × H200)")
    qtbot.waitUntil(lambda: panel._answer is not None, timeout=60_000)
    assert len(panel.table.lines.lines) > 10
    assert not problems(sized)
    panel.pictured.click()
    assert not problems(sized)
    sized.show_panel("findings")
    sized.places.findings.show_waivers()
    sized.places.findings.flush()
    assert not problems(sized)


def test_no_text_is_cut_or_covered_where_a_point_is_two_pixels() -> None:
    """A screen of 3840 × 2160 at 200 %: the platform is stated so when the program starts, so it is another process."""
    test = f"{__file__}::test_no_text_of_the_panels_is_cut_or_covered[1920-100]"
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", test],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "QT_SCALE_FACTOR": "2", "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert "1 passed" in ran.stdout


@pytest.mark.parametrize("scale", [100, 200])
@pytest.mark.parametrize("which", ["settings", "workload", "machine", "paste", "waive", "picture"])
def test_no_text_of_a_dialog_is_cut_or_covered(
    window: MainWindow, settings: Settings, qapp: QApplication, qtbot: QtBot, which: str, scale: int
) -> None:
    before = qapp.font()
    theme.base_font(qapp, scale)
    theme.apply(qapp, theme.LIGHT)
    design = open_design("vsphere-cluster-4" if which == "machine" else "hgx-h100-8")
    dialog: QDialog
    if which == "settings":
        dialog = SettingsDialog(settings, window)
    elif which == "workload":
        dialog = WorkloadDialog(design.workloads["resnet-50"], window, design=design)
    elif which == "machine":
        dialog = MachineDialog(design, "hosts[3]/server", window)
    elif which == "paste":
        dialog = PasteDialog(lambda *_: None, "", window)
    elif which == "waive":
        broken = open_design("hpe-apollo-6500-nfs")
        dialog = WaiveDialog(broken, check(broken).findings[0], window)
    else:
        dialog = PixelsDialog(window)
    dialog.show()
    found: list[str] = []
    for look in (theme.LIGHT, theme.DARK, theme.CONTRAST):
        theme.apply(qapp, look)
        qtbot.wait(10)
        found += problems(dialog)
    dialog.close()
    dialog.deleteLater()
    qapp.setFont(before)
    assert not found


@pytest.mark.parametrize(("width", "height", "scale"), SIZES)
def test_no_text_of_the_start_page_is_cut_or_covered(
    window: MainWindow, qapp: QApplication, width: int, height: int, scale: int
) -> None:
    before = qapp.font()
    theme.base_font(qapp, scale)
    theme.apply(qapp, theme.LIGHT)
    window.resize(width, height)
    window.start.fill()
    found: list[str] = []
    for look in THEMES:
        window.set_theme(look)
        QApplication.processEvents()
        found += problems(window)
    qapp.setFont(before)
    assert not found


def test_the_canvas_has_most_of_the_window_and_panels_come_by_key(window: MainWindow, qtbot: QtBot) -> None:
    """At 1440 the panel is next to the canvas, at 1024 over it; the canvas takes what is left."""
    window.resize(1440, 900)
    window.open_template("hgx-h100-8")
    places, canvas = window.places, window.canvas
    assert places is not None
    assert canvas is not None
    QApplication.processEvents()

    def share() -> float:
        return canvas.width() * canvas.height() / (window.width() * window.height())

    assert share() >= 0.70
    assert places.isVisible()
    assert not places.frames["parts"].isVisible()
    window.run("view.side")
    assert not places.isVisible()
    assert share() >= 0.90
    assert canvas.hasFocus()
    window.run("view.side")
    assert places.isVisible()
    window.search_parts()
    QApplication.processEvents()
    palette = places.frames["parts"]
    assert palette.isVisible()
    assert palette.width() >= 250
    assert share() >= 0.70, "the palette lies over the canvas"
    assert places.parts.search.hasFocus()
    QTest.keyClick(places.parts.search, Qt.Key.Key_Escape)
    assert not palette.isVisible()
    window.resize(1024, 700)
    QApplication.processEvents()
    assert not places.isVisible()
    assert places.brief.isVisible()
    assert share() >= 0.79
    window.show_panel("links")
    QApplication.processEvents()
    assert places.isVisible()
    assert share() >= 0.79, "the panel lies over the canvas"
    assert places.width() >= 300
    window.leave_panels()
    assert not places.isVisible()
    window.resize(1440, 900)
    QApplication.processEvents()
    assert places.isVisible()
    window.show_start()
    QApplication.processEvents()
    assert not places.isVisible()
    assert not window.legend.isVisible()


def test_a_wide_panel_takes_much_of_the_window_and_gives_it_back(window: MainWindow) -> None:
    window.resize(1440, 900)
    window.open_template("hgx-h100-8")
    assert window.places is not None
    QApplication.processEvents()
    before = window.places.width()
    window.run("view.wide")
    assert window.places.width() >= 2 * before
    window.run("view.wide")
    assert window.places.width() == before


def test_the_drawing_refits_until_one_looks_elsewhere(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1440, 900)
    window.open_template("hgx-h100-8")
    canvas = window.canvas
    assert canvas is not None
    qtbot.wait(50)
    assert canvas.shows_all()
    scale = canvas.view.scale
    window.resize(1024, 700)
    qtbot.waitUntil(lambda: canvas.width() == 1024)
    qtbot.wait(30)
    assert canvas.shows_all()
    assert canvas.view.scale < scale
    canvas.set_view(canvas.view.zoomed(2.0, 100, 100))
    held = canvas.view
    window.resize(1440, 900)
    qtbot.wait(50)
    assert canvas.view.scale == held.scale


def test_the_legend_lies_below_the_drawing(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1440, 900)
    window.open_template("hgx-h100-8")
    canvas = window.canvas
    assert canvas is not None
    keys = window.legend.keys
    # with the first results there is something to explain
    qtbot.waitUntil(lambda: "limits" in keys.accessibleDescription(), timeout=30_000)
    assert window.legend.geometry().top() >= window.area.pages.geometry().bottom()
    painted = keys.grab().toImage()
    assert len({painted.pixel(x, y) for x in range(0, painted.width(), 2) for y in range(painted.height())}) > 5


def test_enter_closes_the_settings_and_forgets_nothing(
    settings: Settings, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    forgot: list[bool] = []
    monkeypatch.setattr(settings, "forget_recent", lambda *_: forgot.append(True))
    dialog = SettingsDialog(settings)
    qtbot.addWidget(dialog)
    dialog.show()
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    assert not dialog.isVisible()
    assert not forgot


@pytest.mark.parametrize("room", [QRect(0, 0, 1024, 700), QRect(0, 27, 1366, 741), QRect(100, 0, 800, 600)])
def test_the_first_window_is_no_larger_than_the_screen(window: MainWindow, room: QRect) -> None:
    window.fit_screen(room)
    assert room.contains(window.geometry())
    # room for the title bar that the desktop draws
    assert window.height() <= room.height() - 24


def test_on_a_large_screen_the_first_window_keeps_its_size(window: MainWindow) -> None:
    window.fit_screen(QRect(0, 0, 1920, 1080))
    assert (window.width(), window.height()) == (1440, 900)


def test_menus_are_behind_one_button_where_the_window_is_narrow(window: MainWindow, qtbot: QtBot) -> None:
    """At 1024 pixels one button opens all menus and leaves the tabs room; keys of actions work all the same."""
    window.resize(1440, 900)
    window.open_template("hgx-h100-8")
    assert window.head.button.isHidden()
    assert not window.head.bar.isHidden()
    window.resize(1024, 700)
    qtbot.waitUntil(lambda: window.head.button.isVisible())
    assert window.head.bar.isHidden()
    menu = window.head.button.menu()
    menu.aboutToShow.emit()
    assert [a.text() for a in menu.actions()] == [a.text() for a in window.head.bar.actions()]
    assert all(a.menu() is not None for a in menu.actions())
    assert {window.qt_actions[name] for name in ("file.open", "edit.undo")} <= set(window.actions())


def test_the_head_begins_at_the_left_and_ends_at_the_right_without_tabs(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1024, 700)
    window.show()
    qtbot.waitUntil(lambda: window.head.button.isVisible())
    QApplication.processEvents()
    assert window.head.button.geometry().left() <= 4
    last = max(child.geometry().right() for child in window.head.children() if isinstance(child, QWidget))
    assert last >= window.head.width() - 10


def test_text_takes_its_new_size_at_once_everywhere(window: MainWindow, settings: Settings, qapp: QApplication) -> None:
    """What is shown already follows the settings in the middle of work, and back."""
    before = qapp.font()
    window.take_settings()
    window.resize(1440, 900)
    window.open_template("hgx-h100-8")
    QApplication.processEvents()
    shown = [w for w in (*window.findChildren(QLabel), *window.findChildren(QAbstractButton)) if w.isVisible()]
    sizes = [w.font().pointSizeF() for w in shown]
    assert len(shown) > 20
    try:
        settings.font_scale = 200
        window.take_settings()
        QApplication.processEvents()
        assert [w.font().pointSizeF() for w in shown] == pytest.approx([2 * size for size in sizes], rel=0.01)
        assert window.head.height() >= window.head.sizeHint().height()
        for button in (window.autosave, window.legend.scale):
            assert button.height() >= button.sizeHint().height()
            assert button.width() >= button.sizeHint().width()
        settings.font_scale = 100
        window.take_settings()
        assert [w.font().pointSizeF() for w in shown] == pytest.approx(sizes, rel=0.01)
    finally:
        qapp.setFont(before)


def test_the_answer_in_short_cuts_no_figure(sized: MainWindow, qtbot: QtBot) -> None:
    assert sized.places is not None
    brief = sized.places.brief
    if not brief.isVisible():
        return  # the whole answer is next to the canvas
    qtbot.waitUntil(lambda: not brief.pending)
    QApplication.processEvents()
    cells = [cell for cell in brief.figures.cells if cell.isVisible()]
    assert cells
    for cell in cells:
        below = cell.mapTo(brief, cell.rect().bottomLeft()).y()
        assert below < brief.height(), f"{below} of {brief.height()}"


def test_cards_of_the_start_page_are_as_high_as_their_texts(
    window: MainWindow, settings: Settings, qapp: QApplication
) -> None:
    before = qapp.font()
    window.resize(1440, 900)
    window.start.fill()
    try:
        for scale in (100, 200, 100):
            settings.font_scale = scale
            window.take_settings()
            QApplication.processEvents()
            for card in window.start.templates.cards:
                for label in card.findChildren(QLabel):
                    assert label.height() >= label.sizeHint().height()
                    assert card.rect().contains(label.geometry())
    finally:
        qapp.setFont(before)
