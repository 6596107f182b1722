"""The arrows in the header of an open group; values and marks that keep off the parts; the legend out of the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.design.document import Block, Design, Group, Part, Position
from designer.drawing.levels import Level
from designer.gui.canvas.steppers import step_at, step_marks
from designer.gui.main_window import MainWindow
from tests import designs

Make = Callable[..., Any]
LEFT = Qt.MouseButton.LeftButton
SERVERS = (("servers", None),)


def drag(bench: Any, start: QPoint, end: QPoint) -> None:
    canvas = bench.canvas
    QTest.mousePress(canvas, LEFT, Qt.KeyboardModifier.NoModifier, start)
    for share in (0.2, 0.6, 1.0):
        at = QPointF(start) + (QPointF(end) - QPointF(start)) * share
        event = QMouseEvent(
            QMouseEvent.Type.MouseMove,
            at,
            canvas.mapToGlobal(at),
            Qt.MouseButton.NoButton,
            LEFT,
            Qt.KeyboardModifier.NoModifier,
        )
        QApplication.sendEvent(canvas, event)
    QTest.mouseRelease(canvas, LEFT, Qt.KeyboardModifier.NoModifier, end)


def opened(window: MainWindow, qtbot: QtBot) -> Any:
    """A unit of 32 servers with its group open and large enough for arrows."""
    window.resize(1280, 800)
    window.open_template("su-h100-32")
    assert window.document is not None
    session, canvas = window.document.session, window.canvas
    assert canvas is not None
    qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=30_000)
    QApplication.processEvents()
    box = canvas.scene.box_of(((), Ref("groups", "servers")))
    assert box is not None
    x, y, w, h = canvas.scene.geometry.rect[box].tolist()
    at = QPointF(*canvas.view.to_view(x + w / 2, y + h / 2)).toPoint()
    qtbot.mouseDClick(canvas, LEFT, pos=at)
    canvas.zoom_to(0.45)
    box = canvas.scene.box_of(((), Ref("groups", "servers")))
    x, y, w, _ = canvas.scene.geometry.rect[box].tolist()
    canvas._centre(x + w - 200, y + 100)
    canvas.settle()
    return canvas


def arrow(canvas: Any, which: int) -> QPoint:
    frame = canvas.frame()
    assert frame.level is not Level.FAR
    _, rects = step_marks(canvas.scene.view_state, frame)
    x, y, w, h = (rects[0, which] / frame.ratio).tolist()
    return QPointF(x + w / 2, y + h / 2).toPoint()


def test_arrows_of_an_open_group_step_through_its_members(window: MainWindow, qtbot: QtBot) -> None:
    canvas = opened(window, qtbot)
    shown = lambda: canvas.members.get(SERVERS)  # noqa: E731
    before = canvas.session.selection
    assert shown() is None
    for want in (0, 1):
        qtbot.mouseMove(canvas, arrow(canvas, 1))
        qtbot.mouseClick(canvas, LEFT, pos=arrow(canvas, 1))
        assert shown() == want
    qtbot.mouseClick(canvas, LEFT, pos=arrow(canvas, 0))
    assert shown() == 0
    qtbot.mouseClick(canvas, LEFT, pos=arrow(canvas, 0))
    qtbot.mouseClick(canvas, LEFT, pos=arrow(canvas, 0))
    assert shown() == 31
    # looking at another member is no edit, and selects nothing
    assert canvas.session.selection == before
    assert canvas.session.history.done == 1


def test_arrows_go_where_the_header_is_too_small_for_them(window: MainWindow, qtbot: QtBot) -> None:
    canvas = opened(window, qtbot)
    at = arrow(canvas, 1)
    assert step_at(canvas.scene.view_state, canvas.frame(), at.x(), at.y())[1] == 1
    canvas.zoom_to(0.05)
    canvas.settle()
    assert not len(step_marks(canvas.scene.view_state, canvas.frame())[0])


def test_a_closed_group_has_no_arrows(make: Make) -> None:
    content = Block(parts={"gpu": Part(id="gpu", kind="gpu")})
    bench = make(Design(name="d", groups={"g": Group(id="g", replicas=4, content=content)}))
    assert not len(step_marks(bench.canvas.scene.view_state, bench.canvas.frame())[0])


def test_the_view_of_all_is_clear_of_the_tools(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1280, 800)
    window.open_template("su-h100-32")
    canvas = window.canvas
    assert canvas is not None
    QApplication.processEvents()
    canvas.zoom_to_fit(animated=False)
    below = window.toolbar.geometry().bottom()
    assert below > 20
    for x, y, w, _h in canvas.scene.geometry.rect.tolist():
        (left, top), (right, _) = canvas.view.to_view(x, y), canvas.view.to_view(x + w, y)
        assert top > below
        assert left > 0
        assert right < canvas.width()


def test_values_keep_off_the_parts_where_a_connection_leaves_room(make: Make) -> None:
    view_state = make(designs.one_server()).canvas.scene.view_state
    rect = view_state.geometry.rect[view_state.boxes.is_card]
    points, least = view_state.least_covered(view_state.geometry.connection_route, 20.0, 10.0)
    for (x, y), covered in zip(points.tolist(), least.tolist(), strict=True):
        inside = (rect[:, 0] < x) & (x < rect[:, 0] + rect[:, 2]) & (rect[:, 1] < y) & (y < rect[:, 1] + rect[:, 3])
        assert covered or not inside.any()
    assert (least == 0).any()


def test_an_empty_rack_takes_a_server_in_and_gives_it_back(make: Make) -> None:
    parts = (
        Part(id="rack", kind="rack", position=Position(x=0, y=0)),
        Part(id="host", kind="server", position=Position(x=600, y=0)),
        Part(id="nic", kind="nic", position=Position(x=600, y=400)),
    )
    bench = make(Design(name="d", parts={p.id: p for p in parts}))
    # a NIC stands in no rack: it is only moved there
    drag(bench, bench.at("nic"), bench.at("rack"))
    assert bench.session.design.parts["nic"].parent is None
    bench.session.undo()
    drag(bench, bench.at("host"), bench.at("rack"))
    assert bench.session.design.parts["host"].parent == "rack"
    drag(bench, bench.at("nic"), bench.at("host"))
    assert bench.session.design.parts["nic"].parent == "host"
    assert bench.steps() == 2
    bench.session.undo()
    bench.session.undo()
    assert all(p.parent is None for p in bench.session.design.parts.values())
    assert np.isfinite(bench.canvas.scene.geometry.rect).all()
