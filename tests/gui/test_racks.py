"""Racks in the window: units dragged with the mouse and moved by keys, refused with a reason, undone; feeds, limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import designer
from designer.gui.dialogs.racks_dialog import RacksDialog
from designer.gui.main_window import MainWindow
from designer.gui.session import Session
from designer.report.inventory import inventory
from designer.report.tables.racks import plan_of

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def shown(window: MainWindow, qtbot: QtBot) -> Iterator[tuple[RacksDialog, Session]]:
    window.open_template("su-h100-32")
    document = window.document
    assert document is not None
    window.run("view.racks")
    dialog = window.racking.open[document.session]
    qtbot.waitExposed(dialog)
    yield dialog, document.session
    dialog.close()


def path_of(session: Session, rack: int, number: int) -> str:
    unit = sorted(plan_of(session.design).racks[rack].units, key=lambda u: u.at)[number]
    return inventory(session.design).net.path(unit.part)


def where(session: Session, path: str) -> tuple[int, float]:
    """Number of the rack and lowest rack unit of a unit, as the report places it."""
    plan, member = plan_of(session.design), inventory(session.design).net.index_of(path)
    rack = plan.of_unit[member]
    return rack, next(u.at for u in plan.racks[rack].units if u.part == member)


def drag(dialog: RacksDialog, path: str, rack: int, at: int, height: int) -> None:
    """Press, move in steps and release, as a hand does; the grip stays where the unit was taken."""
    view = dialog.view
    start = view.box_of(path).center().toPoint()
    end = view.box(rack, at, height).center().toPoint()
    QTest.mousePress(view, LEFT, Qt.KeyboardModifier.NoModifier, start)
    for step in range(1, 6):
        QTest.mouseMove(view, start + (end - start) * step / 5)
        QApplication.processEvents()
    QTest.mouseRelease(view, LEFT, Qt.KeyboardModifier.NoModifier, end)
    QApplication.processEvents()


def test_a_unit_is_dragged_up_and_into_another_rack(shown: tuple[RacksDialog, Session]) -> None:
    """A proposal is taken over by the first move, as one step; one undo brings the proposal back."""
    dialog, session = shown
    before = session.design
    first = path_of(session, 0, 0)
    assert where(session, first) == (0, 1)
    drag(dialog, first, 0, 33, 8)
    assert where(session, first) == (0, 33)
    assert len(session.design.racks) == len(dialog.view.plan.racks), "the proposal is the design's own now"
    others = [path_of(session, 1, k) for k in range(3)]
    assert [where(session, p) for p in others] == [(1, 1), (1, 9), (1, 17)], "nothing else moved"
    # 32 servers, three a rack for 40 kW: the last rack has two
    plan = plan_of(session.design)
    last = next(n for n, k in enumerate(plan.racks) if sum(u.kind == "server" for u in k.units) == 2)
    drag(dialog, others[0], last, 20, 8)
    assert where(session, others[0]) == (last, 20)
    session.undo()
    session.undo()
    assert session.design == before
    assert where(session, first) == (0, 1)


def test_what_cannot_stand_there_says_why_and_stays(shown: tuple[RacksDialog, Session]) -> None:
    dialog, session = shown
    first, before = path_of(session, 0, 0), session.design
    drag(dialog, first, 0, 12, 8)
    assert "occupied" in dialog.state.text() or dialog.state.text().startswith("Drag")
    assert session.design is before
    # the reason is stated while the unit hangs there
    view = dialog.view
    QTest.mousePress(view, LEFT, Qt.KeyboardModifier.NoModifier, view.box_of(first).center().toPoint())
    QTest.mouseMove(view, view.box(0, 12, 8).center().toPoint())
    QApplication.processEvents()
    assert view.target is not None
    assert "occupied: DGX H100 2 takes units 9 to 16" in view.target.reason
    assert view.target.reason in dialog.state.text()
    QTest.mouseMove(view, view.box(0, 45, 8).center().toPoint())
    QApplication.processEvents()
    assert "beyond the height" in view.target.reason  # type: ignore[union-attr]
    QTest.keyClick(view, Qt.Key.Key_Escape)
    QTest.mouseRelease(view, LEFT, Qt.KeyboardModifier.NoModifier, view.box(0, 30, 8).center().toPoint())
    assert session.design is before, "Esc ends a drag"
    assert dialog.isVisible()
    # four DGX H100 of 10.2 kW are 40.8 kW, the racks of the proposal feed 40 kW
    drag(dialog, first, 1, 33, 8)
    assert session.design is before
    QTest.mousePress(view, LEFT, Qt.KeyboardModifier.NoModifier, view.box_of(first).center().toPoint())
    QTest.mouseMove(view, view.box(1, 33, 8).center().toPoint())
    QApplication.processEvents()
    assert "over its power: 40.8" in view.target.reason  # type: ignore[union-attr]
    QTest.keyClick(view, Qt.Key.Key_Escape)


def test_keys_move_it_and_choose_another(shown: tuple[RacksDialog, Session]) -> None:
    dialog, session = shown
    view, first, third = dialog.view, path_of(session, 0, 0), path_of(session, 0, 2)
    QTest.mouseClick(view, LEFT, Qt.KeyboardModifier.NoModifier, view.box_of(first).center().toPoint())
    assert view.hasFocus()
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert where(session, first) == (0, 25), "past the two that stand above it"
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert where(session, first) == (0, 26)
    QTest.keyClick(view, Qt.Key.Key_Down)
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert where(session, first) == (0, 8 - 7)
    # a row of nudges of one unit is one step
    QTest.keyClick(dialog, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert not session.design.racks
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert "finds no free units below" in dialog.state.text()
    QTest.keyClick(view, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(view, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    assert view.unit == third
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert "over its power" in dialog.state.text()
    assert where(session, third) == (0, 17)


def test_limits_and_feeds_are_edited(shown: tuple[RacksDialog, Session]) -> None:
    """With more power in the second rack the fourth server may stand there; alone on feed A it loads that feed."""
    dialog, session = shown
    view, first = dialog.view, path_of(session, 0, 0)
    QTest.mouseClick(view, LEFT, Qt.KeyboardModifier.NoModifier, view.place_of(1).topLeft().toPoint() + QPoint(20, 20))
    assert (view.unit, view.rack) == ("", 1)
    dialog.power.selectAll()
    QTest.keyClicks(dialog.power, "45 kW")
    QTest.keyClick(dialog.power, Qt.Key.Key_Return)
    assert dialog.isVisible(), "Return takes the value over and closes nothing"
    assert session.design.racks[view.plan.racks[1].key].power == "45 kW"
    QTest.mouseClick(view, LEFT, Qt.KeyboardModifier.NoModifier, view.box_of(first).center().toPoint())
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert where(session, first) == (1, 25)
    dialog.feed.setCurrentIndex(dialog.feed.findData("A"))
    dialog.feed.activated.emit(dialog.feed.currentIndex())
    # 3 × 10.2 kW shared, 10.2 kW on A: A carries 15.3 + 10.2 kW, and 40.8 kW with B lost
    assert "Feed A: 25.5" in dialog.loads.text()
    assert "40.8" in dialog.loads.text()
    assert "Feed B: 15.3" in dialog.loads.text()
    dialog.power.selectAll()
    QTest.keyClicks(dialog.power, "much")
    QTest.keyClick(dialog.power, Qt.Key.Key_Return)
    assert dialog.state.property("role") == "bad"
    assert session.design.racks[view.plan.racks[1].key].power == "45 kW"
    view.choose("", 1)
    dialog.weight.selectAll()
    QTest.keyClicks(dialog.weight, "300 kg")
    QTest.keyClick(dialog.weight, Qt.Key.Key_Return)
    second = path_of(session, 0, 0)
    view.choose(second, 0)
    dialog.view.setFocus()
    dialog.power.clearFocus()
    view.choose("", 1)
    dialog.power.selectAll()
    QTest.keyClicks(dialog.power, "100 kW")
    QTest.keyClick(dialog.power, Qt.Key.Key_Return)
    view.choose(second, 0)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert "over its weight" in dialog.state.text()


def test_a_rack_more_and_away_again(shown: tuple[RacksDialog, Session], qtbot: QtBot) -> None:
    dialog, session = shown
    before = len(dialog.view.plan.racks)
    qtbot.mouseClick(dialog.add, LEFT)
    assert len(dialog.view.plan.racks) == before + 1
    assert dialog.view.rack == before
    assert dialog.remove.isEnabled()
    qtbot.mouseClick(dialog.remove, LEFT)
    assert len(dialog.view.plan.racks) == before
    qtbot.mouseClick(dialog.undo, LEFT)
    qtbot.mouseClick(dialog.undo, LEFT)
    assert not session.design.racks


def test_drawn_racks_keep_what_is_drawn_in_them(qtbot: QtBot, window: MainWindow) -> None:
    window.open_template("gb200-nvl72")
    assert window.document is not None
    session = window.document.session
    window.run("view.racks")
    view = window.racking.open[session].view
    assert view.plan.racks[0].drawn >= 0
    top = max(view.plan.racks[0].units, key=lambda u: u.at)
    path = inventory(session.design).net.path(top.part)
    view.choose(path, 0)
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert where(session, path) == (0, int(top.at) + 1), "a half unit is left for a whole one"
    (rack,) = session.design.racks.values()
    assert rack.part is not None
    assert list(rack.units) == [path], "only what was moved is told"
    session.undo()
    assert not session.design.racks
    window.racking.close_all()


def test_files_keep_elevations(tmp_path: Path) -> None:
    """What is saved is read again, and a part that goes takes its place along."""
    from designer.design.address import Ref
    from designer.design.edits.groups import SetReplicas
    from designer.design.edits.structure import Delete
    from designer.report.rack_moves import move

    design = designer.open_design("su-h100-32")
    plan = plan_of(design)
    moved = move(design, plan, plan.racks[0].units[0].part, 0, 30).apply(design)
    designer.save_design(moved, tmp_path / "moved.design.json")
    assert designer.open_design(tmp_path / "moved.design.json").racks == moved.racks
    group = next(g for g in moved.groups.values() if g.replicas == 32)
    fewer = SetReplicas(group.id, 4).apply(moved)
    assert sum(p.startswith(f"{group.id}[") for r in fewer.racks.values() for p in r.units) == 4
    gone = Delete((Ref("groups", group.id),)).apply(moved)
    assert not any(p.startswith(f"{group.id}[") for r in gone.racks.values() for p in r.units)
