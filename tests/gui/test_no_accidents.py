"""What one does in passing changes nothing: the wheel, a click more, a group opened to look inside."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QScrollArea, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.design.document import WorkloadSpec
from designer.gui.canvas.canvas import Canvas
from designer.gui.canvas.tools.link import Connect
from designer.gui.dialogs.settings_dialog import SettingsDialog
from designer.gui.dialogs.workload_dialog import WorkloadDialog
from designer.gui.main_window import MainWindow
from designer.gui.session import Session
from designer.gui.settings import Settings

pytestmark = pytest.mark.platform

LEFT = Qt.MouseButton.LeftButton
SHIFT = Qt.KeyboardModifier.ShiftModifier


def opened(window: MainWindow, template: str) -> tuple[Session, Canvas]:
    window.open_template(template)
    QApplication.processEvents()
    document, canvas = window.document, window.canvas
    assert document is not None
    assert canvas is not None
    canvas.zoom_to_fit(animated=False)
    canvas.settle()
    QApplication.processEvents()
    return document.session, canvas


def at(canvas: Canvas, picked: str, fx: float, fy: float, what: str = "parts") -> QPoint:
    """A point of a box in the view, by shares of its width and height."""
    box = canvas.scene.box_of(((), Ref(what, picked)))  # type: ignore[arg-type]
    assert box is not None
    x, y, w, h = canvas.scene.geometry.rect[box].tolist()
    return QPointF(*canvas.view.to_view(x + w * fx, y + h * fy)).toPoint()


def turn_wheel(over: QWidget, steps: int = -3) -> bool:
    """Turn the wheel over a widget; whether the widget kept the event, else what holds it scrolls."""
    middle = QPointF(over.rect().center())
    where = QPointF(over.mapToGlobal(over.rect().center()))
    event = QWheelEvent(
        middle,
        where,
        QPoint(0, 0),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(over, event)
    return event.isAccepted()


def test_the_wheel_scrolls_the_workload_form_and_changes_nothing_it_passes_over(qtbot: QtBot) -> None:
    dialog = WorkloadDialog(WorkloadSpec(id="w", kind="training"))
    qtbot.addWidget(dialog)
    dialog.resize(480, 360)
    dialog.show()
    qtbot.waitExposed(dialog)
    boxes = [f for f in dialog.fields.values() if isinstance(f, QComboBox) and f.count() > 1]
    assert len(boxes) >= 3
    before, kind = dialog.texts(), dialog.kind_name
    area = dialog.findChild(QScrollArea)
    assert area is not None
    for box in (*boxes, dialog.kind):
        area.ensureWidgetVisible(box)
        box.setFocus()
        assert not turn_wheel(box)
        assert not turn_wheel(box, 3)
        assert not turn_wheel(box, -3)
        assert (dialog.texts(), dialog.kind_name) == (before, kind)


def test_the_wheel_changes_no_setting_and_no_choice_of_the_window(
    window: MainWindow, settings: Settings, qtbot: QtBot
) -> None:
    dialog = SettingsDialog(settings)
    qtbot.addWidget(dialog)
    dialog.show()
    session, _ = opened(window, "vsphere-cluster-4")
    workload = session.workload
    assert len(session.design.workloads) > 1
    window.show_panel("inspector")
    assert window.places is not None
    inspector = window.places.inspector
    qtbot.waitUntil(lambda: not inspector.pending)
    tried = [*dialog.findChildren(QComboBox), *dialog.findChildren(QSpinBox), *window.findChildren(QComboBox)]
    assert len(tried) >= 5
    before = [c.currentText() if isinstance(c, QComboBox) else c.value() for c in tried]
    for control in tried:
        turn_wheel(control, -1)
        turn_wheel(control, 1)
        turn_wheel(control, -1)
    assert [c.currentText() if isinstance(c, QComboBox) else c.value() for c in tried] == before
    assert session.workload == workload
    assert not session.modified


def test_a_click_with_shift_selects_and_never_links_wherever_on_the_card(window: MainWindow) -> None:
    session, canvas = opened(window, "dgx-h100")
    nics = [p.id for p in session.design.parts.values() if p.kind == "nic"][:3]
    assert len(nics) == 3
    links = set(session.design.links)
    for fx, fy in ((0.5, 0.5), (0.02, 0.5), (0.5, 0.05), (0.97, 0.5), (0.5, 0.95)):
        session.select(())
        for nic in nics:
            point = at(canvas, nic, fx, fy)
            QTest.mouseMove(canvas, point)
            QTest.mouseClick(canvas, LEFT, SHIFT, point)
            assert not isinstance(canvas.tool, Connect)
        assert {ref.id for _, ref in session.selection} == set(nics), f"clicked at {fx}, {fy}"
    assert set(session.design.links) == links
    assert not session.history.can_undo


def test_a_card_too_small_for_port_handles_is_selected_by_a_click_anywhere(window: MainWindow) -> None:
    session, canvas = opened(window, "dgx-h100")
    nics = [p.id for p in session.design.parts.values() if p.kind == "nic"][:2]
    box = canvas.scene.box_of(((), Ref("parts", nics[0])))
    assert box is not None
    # so far away that its lower side measures 20 px
    canvas.zoom_to(20 / float(canvas.scene.geometry.rect[box, 2:].min()))
    canvas.reveal([((), Ref("parts", n)) for n in nics])
    canvas.settle()
    links = set(session.design.links)
    session.select(())
    for nic in nics:
        point = at(canvas, nic, 0.5, 0.1)
        QTest.mouseMove(canvas, point)
        QTest.mouseClick(canvas, LEFT, Qt.KeyboardModifier.NoModifier, point)
        assert {ref.id for _, ref in session.selection} == {nic}
    assert set(session.design.links) == links


def test_looking_into_a_group_leaves_the_file_as_it_is(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    session, canvas = opened(window, "su-h100-32")
    document = window.document
    assert document is not None
    assert window.files.save_to(document, tmp_path / "unit.design.json")
    group = next(iter(session.design.groups.values()))
    opened_first = not group.collapsed
    canvas.setFocus()
    for _ in range(2):
        session.select([((), Ref("groups", group.id))])
        canvas.zoom_to_fit(animated=False)
        point = at(canvas, group.id, 0.5, 0.02 if not session.design.groups[group.id].collapsed else 0.5, "groups")
        QTest.mouseDClick(canvas, LEFT, Qt.KeyboardModifier.NoModifier, point)
        canvas.settle()
    assert session.history.done == 2, "it was opened and closed"
    assert (not session.design.groups[group.id].collapsed) == opened_first
    assert not session.modified
    assert not window.isWindowModified()
    session.undo()
    assert not session.modified


@pytest.mark.parametrize("by_menu", [False, True])
def test_connecting_begins_from_the_outline_and_goes_on_with_the_keys(
    window: MainWindow, qtbot: QtBot, by_menu: bool
) -> None:
    session, canvas = opened(window, "dgx-h100")
    window.show_panel("outline")
    assert window.places is not None
    outline = window.places.outline
    outline.flush()
    key = ((), Ref("parts", next(p.id for p in session.design.parts.values() if p.kind == "gpu")))
    index = outline.model.index_of(key)
    outline.tree.scrollTo(index)
    outline.tree.setFocus()
    window.activateWindow()
    QTest.mouseClick(
        outline.tree.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, outline.tree.visualRect(index).center()
    )
    assert session.selection == {key}
    if by_menu:
        window.update_actions()
        window.qt_actions["edit.connect"].trigger()
    else:
        qtbot.waitUntil(outline.tree.hasFocus)
        QTest.keyClick(outline.tree, Qt.Key.Key_C)
    assert isinstance(canvas.tool, Connect)
    assert window.focusWidget() is canvas
    links = set(session.design.links)
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    QTest.keyClick(canvas, Qt.Key.Key_Return)
    assert set(session.design.links) - links or window.toasts.shown, "linked, or told why not"


def test_connecting_something_inside_a_closed_group_says_what_to_do(window: MainWindow) -> None:
    session, canvas = opened(window, "su-h100-32")
    group = next(g for g in session.design.groups.values() if g.content.parts)
    if not group.collapsed:
        from designer.design.edits.placement import SetCollapsed

        session.apply(SetCollapsed((Ref("groups", group.id),), True))
    part = next(iter(group.content.parts))
    session.select([(((group.id, None),), Ref("parts", part))])
    window.run("edit.connect")
    assert not isinstance(canvas.tool, Connect)
    assert any("open" in toast.text for toast in window.toasts.shown)


def test_the_letters_of_a_name_that_is_searched_for_are_no_commands(window: MainWindow, qtbot: QtBot) -> None:
    session, canvas = opened(window, "dgx-h100")
    window.find_in_design()
    assert window.places is not None
    search = window.places.outline.search
    assert isinstance(search, QLineEdit)
    qtbot.keyClicks(search, "cpu")
    assert search.text() == "cpu"
    assert not isinstance(canvas.tool, Connect)
    assert not session.history.can_undo
