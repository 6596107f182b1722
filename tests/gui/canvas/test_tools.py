"""Every tool as a hand uses it: real presses, moves and keys on the widget."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QGuiApplication,
    QMouseEvent,
    QWheelEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from designer.design.address import Ref
from designer.design.document import Annotation, Design, Group, Link, Part, Position, Size
from designer.gui.canvas.tools._tool import QuickAdd
from designer.gui.canvas.tools.band import Band
from designer.gui.canvas.tools.drag import Drag
from designer.gui.canvas.tools.drop import PART_MIME, dragged_part
from designer.gui.canvas.tools.link import Connect, Rehang
from designer.gui.canvas.tools.pan import Hand, Pan
from designer.gui.canvas.tools.replicate import Replicate, pitch, squarish
from designer.gui.canvas.tools.resize import Resize
from designer.gui.canvas.tools.select import Select
from tests import designs
from tests.ways import over_boxes

pytestmark = pytest.mark.platform

LEFT, MIDDLE, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton
NONE = Qt.KeyboardModifier.NoModifier
SHIFT, CTRL, ALT = (
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
)
Key = Qt.Key
Make = Callable[..., Any]


def press(bench: Any, at: QPoint, button: Qt.MouseButton = LEFT, keys: Qt.KeyboardModifier = NONE) -> None:
    QTest.mouseMove(bench.canvas, at)
    QTest.mousePress(bench.canvas, button, keys, at)


def move(bench: Any, at: QPoint, keys: Qt.KeyboardModifier = NONE, button: Qt.MouseButton = LEFT) -> None:
    # QTest.mouseMove knows neither buttons nor modifiers
    where = QPointF(at)
    event = QMouseEvent(
        QEvent.Type.MouseMove, where, bench.canvas.mapToGlobal(where), Qt.MouseButton.NoButton, button, keys
    )
    QApplication.sendEvent(bench.canvas, event)


def release(bench: Any, at: QPoint, button: Qt.MouseButton = LEFT, keys: Qt.KeyboardModifier = NONE) -> None:
    QTest.mouseRelease(bench.canvas, button, keys, at)


def drag(bench: Any, start: QPoint, stop: QPoint, keys: Qt.KeyboardModifier = NONE, **more: Any) -> None:
    press(bench, start, keys=keys, **more)
    for share in (0.2, 0.6, 1.0):
        move(bench, QPointF(start + (stop - start) * share).toPoint(), keys)
    release(bench, stop, keys=keys, **more)


def label_of(bench: Any, connection: int) -> QPoint:
    """Where on the widget the value of a connection is written."""
    return bench.scene(*bench.canvas.scene.view_state.label_points(np.array([connection]))[0].tolist())


def click(bench: Any, at: QPoint, keys: Qt.KeyboardModifier = NONE, button: Qt.MouseButton = LEFT) -> None:
    press(bench, at, button, keys)
    release(bench, at, button, keys)


def key(bench: Any, code: Qt.Key, keys: Qt.KeyboardModifier = NONE) -> None:
    QTest.keyClick(bench.canvas, code, keys)


# ---- select


def test_clicks_select_add_and_take_away(bench: Any) -> None:
    click(bench, bench.at("gpu0"))
    assert bench.selected() == {"gpu0"}
    click(bench, bench.at("gpu1"), SHIFT)
    assert bench.selected() == {"gpu0", "gpu1"}
    click(bench, bench.at("gpu0"), CTRL)
    assert bench.selected() == {"gpu1"}
    click(bench, bench.at("gpu3"))
    assert bench.selected() == {"gpu3"}
    click(bench, QPoint(5, 5))
    assert bench.selected() == set()
    assert bench.steps() == 0


def test_a_click_on_one_of_many_selects_it_alone(bench: Any) -> None:
    bench.select("gpu0", "gpu1")
    click(bench, bench.at("gpu0"))
    assert bench.selected() == {"gpu0"}


def test_a_click_on_a_connection_selects_its_link(bench: Any) -> None:
    connection = bench.connection("cpu0--psw0")
    at = label_of(bench, connection)
    click(bench, at)
    assert bench.selected() == {"cpu0--psw0"}
    assert bench.canvas.scene.selected_connections.tolist() == [connection]


def grid_of_parts() -> Design:
    parts = {f"gpu{i}": Part(id=f"gpu{i}", kind="gpu", position=Position(x=200 * i, y=0)) for i in range(4)}
    return Design(name="row", parts=parts)


@pytest.mark.parametrize(("turned", "expected"), [(False, {"gpu0", "gpu1"}), (True, {"gpu0", "gpu1", "gpu2"})])
def test_the_rubber_band(make: Make, turned: bool, expected: set[str]) -> None:
    bench = make(grid_of_parts())
    start, stop = bench.at("gpu0", -0.2, -0.3), bench.at("gpu2", 0.5, 1.3)
    if turned:
        start, stop = stop, start
    press(bench, start)
    move(bench, (start + stop) / 2)
    assert isinstance(bench.canvas.tool, Band)
    bench.canvas.grab()
    move(bench, stop)
    release(bench, stop)
    assert isinstance(bench.canvas.tool, Select)
    assert bench.selected() == expected
    drag(bench, bench.at("gpu3", -0.1, -0.2), bench.at("gpu3", 1.1, 1.2), SHIFT)
    assert bench.selected() == expected | {"gpu3"}
    drag(bench, bench.at("gpu0", -0.1, -0.2), bench.at("gpu0", 1.1, 1.2), CTRL)
    assert bench.selected() == (expected | {"gpu3"}) - {"gpu0"}
    assert bench.steps() == 0


def test_a_band_may_begin_on_a_connection_or_in_a_container(bench: Any) -> None:
    connection = bench.connection("cpu0--psw0")
    at = label_of(bench, connection)
    press(bench, at)
    move(bench, at + QPoint(30, 30))
    assert isinstance(bench.canvas.tool, Band)
    key(bench, Key.Key_Escape)
    assert isinstance(bench.canvas.tool, Select)


def test_escape_backs_out_one_step_at_a_time(bench: Any) -> None:
    bench.select("gpu0")
    press(bench, QPoint(8, 8))
    move(bench, QPoint(600, 500))
    key(bench, Key.Key_Escape)
    assert isinstance(bench.canvas.tool, Select)
    assert bench.selected() == {"gpu0"}
    release(bench, QPoint(600, 500))
    assert bench.selected() == {"gpu0"}
    key(bench, Key.Key_Escape)
    assert bench.selected() == {"server"}
    key(bench, Key.Key_Escape)
    assert bench.selected() == set()


# ---- move


def test_a_drag_moves_by_whole_grid_steps_and_is_one_step(bench: Any) -> None:
    before = bench.canvas.scene.geometry.rect[bench.box("gpu0")].copy()
    drag(bench, bench.at("gpu0"), bench.at("gpu0") + QPoint(0, 61))
    assert bench.steps() == 1
    after = bench.canvas.scene.geometry.rect[bench.box("gpu0")]
    assert after[1] > before[1]
    assert bench.session.design.parts["gpu0"].position is not None
    bench.session.undo()
    assert (bench.canvas.scene.geometry.rect[bench.box("gpu0")] == before).all()


def test_alt_moves_freely(bench: Any) -> None:
    scale = bench.canvas.view.scale
    x = bench.canvas.scene.geometry.position(bench.box("gpu0"))[0]
    drag(bench, bench.at("gpu0"), bench.at("gpu0") + QPoint(11, 31), ALT)
    position = bench.session.design.parts["gpu0"].position
    assert position is not None
    assert position.x - x == pytest.approx(11 / scale, abs=1)


def test_all_selected_things_move_together(bench: Any) -> None:
    bench.select("gpu0", "gpu1")
    geometry = bench.canvas.scene.geometry
    before = [geometry.position(bench.box(g)) for g in ("gpu0", "gpu1")]
    drag(bench, bench.at("gpu1"), bench.at("gpu1") + QPoint(0, 50))
    after = [(p.x, p.y) for p in (bench.session.design.parts[g].position for g in ("gpu0", "gpu1")) if p]
    assert {(b[0] - a[0], b[1] - a[1]) for a, b in zip(before, after, strict=True)} == {
        (after[0][0] - before[0][0], after[0][1] - before[0][1])
    }
    assert bench.steps() == 1
    assert bench.session.history.steps[0].label == "Move 2 things"


def test_a_cancelled_drag_leaves_no_trace(bench: Any) -> None:
    design = bench.session.design
    start = bench.at("gpu0")
    press(bench, start)
    move(bench, start + QPoint(80, 80))
    assert isinstance(bench.canvas.tool, Drag)
    assert bench.canvas.scene.view_state.lifted is not None
    key(bench, Key.Key_Escape)
    release(bench, start + QPoint(80, 80))
    assert bench.session.design is design
    assert bench.canvas.scene.view_state.lifted is None


def test_a_drag_into_a_container_changes_what_contains_it(make: Make) -> None:
    parts = [
        Part(id="loose", kind="gpu", position=Position(x=0, y=400)),
        Part(id="box2", kind="server", position=Position(x=400, y=0), size=Size(width=400, height=200)),
        Part(id="inner", kind="gpu", parent="box2", position=Position(x=40, y=80)),
    ]
    bench = make(Design(name="d", parts={p.id: p for p in parts}))
    drag(bench, bench.at("loose"), bench.at("box2", 0.8, 0.8))
    assert bench.session.design.parts["loose"].parent == "box2"
    assert bench.steps() == 1
    # and out again
    drag(bench, bench.at("loose"), bench.at("box2", 0.5, 1.8))
    assert bench.session.design.parts["loose"].parent is None


def test_a_container_refuses_what_it_cannot_hold(make: Make) -> None:
    parts = {
        "rack": Part(id="rack", kind="rack", position=Position(x=0, y=0), size=Size(width=500, height=300)),
        "server": Part(id="server", kind="server", parent="rack", position=Position(x=40, y=80)),
        "gpu": Part(id="gpu", kind="gpu", position=Position(x=700, y=40)),
    }
    bench = make(Design(name="d", parts=parts))
    drag(bench, bench.at("gpu"), bench.at("rack", 0.8, 0.85))
    assert bench.warnings
    assert "rack" in bench.warnings[0].lower()
    assert bench.session.design.parts["gpu"].parent is None
    assert bench.steps() == 0


def test_dropping_a_free_part_on_a_link_inserts_it(make: Make) -> None:
    parts = {
        "cpu": Part(id="cpu", kind="cpu", position=Position(x=0, y=0)),
        "gpu": Part(id="gpu", kind="gpu", position=Position(x=800, y=0)),
        "sw": Part(id="sw", kind="pcie_switch", position=Position(x=300, y=300)),
    }
    link = Link(id="l", a="cpu", b="gpu", kind="pcie", generation=5, lanes=16)
    bench = make(Design(name="d", parts=parts, links={"l": link}))
    at = label_of(bench, 0)
    drag(bench, bench.at("sw"), at)
    assert bench.steps() == 1
    ends = {frozenset((x.a, x.b)) for x in bench.session.design.links.values()}
    assert ends == {frozenset(("cpu", "sw")), frozenset(("sw", "gpu"))}
    assert {x.kind for x in bench.session.design.links.values()} == {"pcie"}


def test_arrow_keys_nudge_and_merge(bench: Any) -> None:
    bench.select("gpu0")
    x, y = bench.canvas.scene.geometry.position(bench.box("gpu0"))
    for _ in range(2):
        key(bench, Key.Key_Right)
    key(bench, Key.Key_Down, SHIFT)
    key(bench, Key.Key_Left, ALT)
    position = bench.session.design.parts["gpu0"].position
    assert position is not None
    assert (position.x - x, position.y - y) == (15, 64)
    assert bench.steps() == 1
    bench.select("gpu1")
    key(bench, Key.Key_Right)
    assert bench.steps() == 2


# ---- connect


def free_pair() -> Design:
    parts = [
        Part(id="cpu0", kind="cpu", position=Position(x=0, y=0)),
        Part(id="nic0", kind="nic", position=Position(x=400, y=0)),
        Part(id="memory0", kind="memory", position=Position(x=0, y=300)),
        Part(id="drive0", kind="drive", position=Position(x=400, y=300)),
    ]
    return Design(name="pair", parts={p.id: p for p in parts})


def test_dragging_from_a_port_links_two_parts(make: Make) -> None:
    bench = make(free_pair())
    move(bench, bench.at("cpu0"), button=Qt.MouseButton.NoButton)
    drag(bench, bench.at("cpu0", 1.0, 0.5), bench.at("nic0"))
    (link,) = bench.session.design.links.values()
    assert (link.a, link.b, link.kind) == ("cpu0", "nic0", "pcie")
    assert bench.steps() == 1


def test_what_does_not_fit_says_why_and_changes_nothing(make: Make) -> None:
    design = free_pair()
    leaf = Part(id="leaf", kind="switch", position=Position(x=800, y=300))
    bench = make(design.model_copy(update={"parts": {**design.parts, "leaf": leaf}}))
    move(bench, bench.at("memory0"), button=Qt.MouseButton.NoButton)
    press(bench, bench.at("memory0", 0.99, 0.5))
    move(bench, bench.at("leaf"))
    tool = bench.canvas.tool
    assert isinstance(tool, Connect)
    assert not tool.offer.ok
    assert "no link fits" in tool.offer.reason
    bench.canvas.grab()
    release(bench, bench.at("leaf"))
    assert "no link fits" in bench.warnings[0]
    assert not bench.session.design.links


def test_dropping_a_link_on_empty_ground_offers_what_fits(make: Make) -> None:
    bench = make(free_pair())
    wished: list[QuickAdd] = []
    bench.canvas.quick_add_requested.connect(wished.append)
    move(bench, bench.at("memory0"), button=Qt.MouseButton.NoButton)
    drag(bench, bench.at("memory0", 1.0, 0.5), bench.scene(250, 200))
    (wanted,) = wished
    assert "cpu" in wanted.kinds
    assert "switch" not in wanted.kinds
    assert bench.canvas.add_part("cpu", wanted=wanted)
    (link,) = bench.session.design.links.values()
    assert {link.a, link.b} == {"memory0", "cpu1"}
    assert bench.steps() == 1
    assert bench.selected() == {"cpu1"}
    bench.session.undo()
    assert set(bench.session.design.parts) == {"cpu0", "nic0", "memory0", "drive0"}


def test_connecting_by_keyboard_alone(make: Make) -> None:
    bench = make(free_pair())
    bench.canvas.setFocus()
    key(bench, Key.Key_Tab)
    assert bench.selected() == {"cpu0"}
    key(bench, Key.Key_C)
    assert isinstance(bench.canvas.tool, Connect)
    key(bench, Key.Key_Right)
    bench.canvas.grab()
    key(bench, Key.Key_Return)
    (link,) = bench.session.design.links.values()
    assert {link.a, link.b} == {"cpu0", "nic0"}
    assert isinstance(bench.canvas.tool, Select)
    key(bench, Key.Key_C)
    key(bench, Key.Key_Escape)
    assert isinstance(bench.canvas.tool, Select)
    assert bench.selected() == {"cpu0"}


def test_several_parts_are_connected_at_once(make: Make) -> None:
    parts = {f"gpu{i}": Part(id=f"gpu{i}", kind="gpu", position=Position(x=200 * i, y=300)) for i in range(4)}
    parts["sw"] = Part(id="sw", kind="pcie_switch", position=Position(x=300, y=0))
    bench = make(Design(name="d", parts=parts))
    bench.select(*[f"gpu{i}" for i in range(4)])
    key(bench, Key.Key_C)
    move(bench, bench.at("sw"), button=Qt.MouseButton.NoButton)
    click(bench, bench.at("sw"))
    assert len(bench.session.design.links) == 4
    assert bench.steps() == 1


def test_tab_changes_the_kind_of_link(make: Make) -> None:
    parts = {f"gpu{i}": Part(id=f"gpu{i}", kind="gpu", position=Position(x=300 * i, y=0)) for i in range(2)}
    bench = make(Design(name="d", parts=parts))
    bench.select("gpu0")
    key(bench, Key.Key_C)
    key(bench, Key.Key_Right)
    kinds = bench.canvas.tool.offer.kinds
    assert len(kinds) > 1
    key(bench, Key.Key_Tab)
    key(bench, Key.Key_Return)
    (link,) = bench.session.design.links.values()
    assert link.kind == kinds[1]


def test_a_link_from_a_group_is_a_wiring_of_all_members(make: Make) -> None:
    block = designs.switch_block()
    groups = {g: Group(id=g, replicas=n, content=block) for g, n in (("leaves", 4), ("spines", 2))}
    bench = make(Design(name="d", groups=groups))
    bench.select("leaves", what="groups")
    key(bench, Key.Key_C)
    key(bench, Key.Key_Right)
    if bench.canvas.tool.target < 0 or not bench.canvas.tool.offer.ok:
        key(bench, Key.Key_Down)
    key(bench, Key.Key_Return)
    (wiring,) = bench.session.design.wirings.values()
    assert {wiring.a, wiring.b} == {"leaves[*]/switch", "spines[*]/switch"}
    assert wiring.pattern == "mesh"


def test_an_end_of_a_link_is_hung_to_another_part(make: Make) -> None:
    design = free_pair()
    link = Link(id="l", a="cpu0", b="nic0", kind="pcie", generation=5, lanes=16)
    bench = make(design.model_copy(update={"links": {"l": link}}))
    route = bench.canvas.scene.geometry.connection_route[0]
    end = route[-1] + (route[0] - route[-1]) * 0.02
    click(bench, label_of(bench, 0))
    press(bench, bench.scene(*end.tolist()))
    move(bench, bench.at("drive0"))
    assert isinstance(bench.canvas.tool, Rehang)
    bench.canvas.grab()
    move(bench, bench.at("drive0"))
    release(bench, bench.at("drive0"))
    assert (bench.session.design.links["l"].a, bench.session.design.links["l"].b) == ("cpu0", "drive0")
    assert bench.session.design.links["l"].generation == 5
    assert bench.steps() == 1


# ---- view


@pytest.mark.parametrize("button", [MIDDLE, RIGHT])
def test_dragging_with_other_buttons_moves_the_view(bench: Any, button: Qt.MouseButton) -> None:
    before = bench.canvas.view
    asked: list[object] = []
    bench.canvas.context_requested.connect(lambda at, what: asked.append(what))
    press(bench, bench.at("gpu0"), button)
    assert isinstance(bench.canvas.tool, Pan)
    move(bench, bench.at("gpu0") + QPoint(50, 20), button=button)
    release(bench, bench.at("gpu0") + QPoint(50, 20), button)
    assert (bench.canvas.view.x - before.x, bench.canvas.view.y - before.y) == (50, 20)
    assert bench.steps() == 0
    assert not asked


def test_a_right_click_asks_for_a_menu_of_what_it_hits(bench: Any) -> None:
    asked: list[object] = []
    bench.canvas.context_requested.connect(lambda at, what: asked.append(what))
    click(bench, bench.at("gpu0"), button=RIGHT)
    assert asked == [((), Ref("parts", "gpu0"))]
    assert bench.selected() == {"gpu0"}


def test_space_and_drag_moves_the_view(bench: Any) -> None:
    before = bench.canvas.view
    QTest.keyPress(bench.canvas, Key.Key_Space)
    assert isinstance(bench.canvas.tool, Hand)
    drag(bench, QPoint(300, 300), QPoint(340, 310))
    QTest.keyRelease(bench.canvas, Key.Key_Space)
    assert isinstance(bench.canvas.tool, Select)
    assert bench.canvas.view.x - before.x == 40


def test_escape_takes_a_pan_back(bench: Any) -> None:
    before = bench.canvas.view
    press(bench, QPoint(300, 300), MIDDLE)
    move(bench, QPoint(400, 350), button=MIDDLE)
    key(bench, Key.Key_Escape)
    assert bench.canvas.view == before


def test_the_wheel_zooms_at_the_pointer(bench: Any) -> None:
    at = bench.at("gpu5")
    before = bench.canvas.view.to_scene(at.x(), at.y())
    event = QWheelEvent(
        QPointF(at),
        bench.canvas.mapToGlobal(QPointF(at)),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        NONE,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    scale = bench.canvas.view.scale
    QApplication.sendEvent(bench.canvas, event)
    assert bench.canvas.view.scale > 1.3 * scale
    assert bench.canvas.view.to_scene(at.x(), at.y()) == pytest.approx(before)


def test_fit_and_zoom_to_selection_and_back(bench: Any) -> None:
    canvas = bench.canvas
    fitted = canvas.view
    bench.select("gpu0")
    canvas.zoom_to_selection()
    assert canvas.view.scale > fitted.scale
    x, y, w, h = canvas.scene.geometry.rect[bench.box("gpu0")].tolist()
    assert canvas.view.to_view(x + w / 2, y + h / 2) == pytest.approx((canvas.width() / 2, canvas.height() / 2), abs=1)
    canvas.zoom_back()
    assert canvas.view == fitted
    canvas.zoom_to(1.0)
    assert canvas.view.scale == pytest.approx(1.0)
    canvas.zoom_to_fit()
    assert canvas.view == fitted


# ---- keyboard


def test_everything_is_reached_by_tab(make: Make) -> None:
    bench = make(free_pair())
    bench.canvas.setFocus()
    seen: list[str] = []
    for _ in range(4):
        assert bench.canvas.focusNextPrevChild(True)
        seen += bench.selected()
    assert sorted(seen) == ["cpu0", "drive0", "memory0", "nic0"]
    # behind the last one, Tab leaves the canvas: nothing else is here to take the focus
    assert bench.canvas.focusNextPrevChild(True) is False or bench.selected() == {seen[-1]}


def test_ctrl_arrows_go_to_the_neighbour_and_enter_goes_in(bench: Any) -> None:
    bench.select("gpu0")
    key(bench, Key.Key_Right, CTRL)
    assert bench.selected() == {"gpu1"}
    assert bench.steps() == 0
    key(bench, Key.Key_Escape)
    assert bench.selected() == {"server"}
    key(bench, Key.Key_Return)
    assert bench.selected() == {bench.canvas.scene.geometry.refs[bench.box("server") + 1].id}


def test_delete_duplicate_copy_and_paste(bench: Any) -> None:
    bench.select("gpu0")
    key(bench, Key.Key_D, CTRL)
    assert bench.selected() == {"gpu8"}
    assert bench.session.design.parts["gpu8"].parent == "server"
    key(bench, Key.Key_Delete)
    assert "gpu8" not in bench.session.design.parts
    assert bench.steps() == 2
    bench.select("gpu0", "psw0")
    key(bench, Key.Key_C, CTRL)
    assert "designer-clipboard" in json.loads(QGuiApplication.clipboard().text())["format"]
    QTest.mouseMove(bench.canvas, QPoint(40, 40))
    assert bench.canvas.paste_here()
    assert bench.steps() == 3
    assert {"gpu8", "psw8"} == bench.selected()


def test_delete_with_healing_joins_the_neighbours(make: Make) -> None:
    parts = {
        "cpu": Part(id="cpu", kind="cpu", position=Position(x=0, y=0)),
        "sw": Part(id="sw", kind="pcie_switch", position=Position(x=300, y=0)),
        "gpu": Part(id="gpu", kind="gpu", position=Position(x=600, y=0)),
    }
    links = {
        "a": Link(id="a", a="cpu", b="sw", kind="pcie", generation=5, lanes=16),
        "b": Link(id="b", a="sw", b="gpu", kind="pcie", generation=5, lanes=16),
    }
    bench = make(Design(name="d", parts=parts, links=links))
    bench.select("sw")
    key(bench, Key.Key_Delete, CTRL)
    (link,) = bench.session.design.links.values()
    assert {link.a, link.b} == {"cpu", "gpu"}
    assert bench.steps() == 1


def test_copies_in_rows_and_columns(make: Make) -> None:
    bench = make(free_pair())
    bench.select("nic0")
    key(bench, Key.Key_D, CTRL | SHIFT)
    assert isinstance(bench.canvas.tool, Replicate)
    for code in (Key.Key_Right, Key.Key_Right, Key.Key_Down, Key.Key_Left):
        key(bench, code)
    bench.canvas.grab()
    key(bench, Key.Key_Return)
    nics = [p for p in bench.session.design.parts.values() if p.kind == "nic"]
    assert len(nics) == 3 * 2
    assert bench.steps() == 1
    spots = {(p.position.x, p.position.y) for p in nics if p.position}
    assert len(spots) == 6


def test_a_new_part_is_called_as_its_like(make: Make) -> None:
    named = {f"gpu{i}": Part(id=f"gpu{i}", kind="gpu", name=f"GPU {i}") for i in range(2)}
    unnamed = {"nic0": Part(id="nic0", kind="nic")}
    bench = make(Design(name="d", parts={**named, **unnamed}))
    for kind in ("gpu", "nic", "switch", "switch"):
        assert bench.canvas.add_part(kind)
    called = {p.id: p.label for p in bench.session.design.parts.values()}
    assert called["gpu2"] == "GPU 2"
    assert called["nic1"] == "nic1", "as what was read from a machine"
    assert (called["switch0"], called["switch1"]) == ("Switch 0", "Switch 1")


def test_copies_of_a_typed_number_cover_nothing(make: Make) -> None:
    bench = make(free_pair())
    bench.select("nic0")
    before = {p.id for p in bench.session.design.parts.values()}
    key(bench, Key.Key_D, CTRL | SHIFT)
    for code in (Key.Key_1, Key.Key_6):
        key(bench, code)
    key(bench, Key.Key_Return)
    geometry = bench.canvas.scene.geometry
    assert len(geometry) == len(before) + 15
    rects = geometry.rect
    for i in range(len(rects)):
        for j in range(i):
            (x, y, w, h), (u, v, a, b) = rects[i].tolist(), rects[j].tolist()
            assert x + w <= u or u + a <= x or y + h <= v or v + b <= y, (geometry.refs[i], geometry.refs[j])
    key(bench, Key.Key_D, CTRL | SHIFT)
    tool = bench.canvas.tool
    assert isinstance(tool, Replicate)
    # a fourth digit begins again
    for code in (Key.Key_1, Key.Key_2, Key.Key_3, Key.Key_4, Key.Key_X, Key.Key_2):
        key(bench, code)
    assert (tool.columns, tool.rows) == (4, 2)
    assert squarish(7) == (7, 1)


def test_rows_stand_beyond_what_is_in_their_way() -> None:
    below = np.array([[0.0, 110.0, 50.0, 50.0]])
    assert pitch((0, 0, 100, 80), 4, 4, (128, 104), below) == (128, 184), "a row below it"
    assert pitch((0, 0, 100, 80), 4, 1, (128, 104), below) == (128, 104), "one row alone does not reach it"
    beside = np.array([[300.0, 0.0, 50.0, 50.0]])
    assert pitch((0, 0, 100, 80), 2, 1, (128, 104), beside) == (128, 104)
    assert pitch((0, 0, 100, 80), 4, 1, (128, 104), beside)[0] >= 374
    assert pitch((0, 0, 100, 80), 4, 4, (128, 104), np.empty((0, 4))) == (128, 104)


def test_all_that_was_in_sight_stays_so(make: Make) -> None:
    bench = make(free_pair())
    bench.canvas.zoom_to_fit(animated=False)
    assert bench.canvas.sees_all()
    bench.select("nic0")
    key(bench, Key.Key_D, CTRL | SHIFT)
    for code in (Key.Key_9, Key.Key_X, Key.Key_9):
        key(bench, code)
    key(bench, Key.Key_Return)
    assert bench.canvas.sees_all()
    assert len(bench.canvas.scene.geometry) > 80
    bench.canvas.zoom_to(1.0)
    view = bench.canvas.camera.target
    assert not bench.canvas.sees_all()
    bench.select("nic0")
    bench.canvas.duplicate()
    assert bench.canvas.camera.target.scale == view.scale, "who looks at a detail goes on looking at it"


# ---- containers, groups, notes


def test_the_mark_in_a_header_closes_and_a_double_click_opens(bench: Any) -> None:
    count = len(bench.canvas.scene.geometry)
    x, y, _, _ = bench.canvas.scene.geometry.rect[bench.box("server")].tolist()
    click(bench, bench.scene(x + 12, y + 14))
    assert bench.session.design.parts["server"].collapsed
    assert len(bench.canvas.scene.geometry) == 1
    QTest.mouseDClick(bench.canvas, LEFT, NONE, bench.at("server"))
    assert len(bench.canvas.scene.geometry) == count
    assert bench.steps() == 2


def test_a_group_opens_to_what_its_members_share(make: Make) -> None:
    bench = make(designs.one_unit(32))
    QTest.mouseDClick(bench.canvas, LEFT, NONE, bench.at("servers", what="groups"))
    inner = (("servers", None),)
    gpu = bench.box("gpu0", within=inner)
    bench.canvas.zoom_to_fit()
    click(bench, bench.at("gpu0", within=inner))
    assert bench.session.selection == {(inner, Ref("parts", "gpu0"))}
    drag(bench, bench.at("gpu0", within=inner), bench.at("gpu0", within=inner) + QPoint(0, 40))
    assert bench.session.design.groups["servers"].content.parts["gpu0"].position is not None
    assert bench.steps() == 2
    bench.canvas.show_member((), "servers", 5)
    assert bench.canvas.scene.geometry.blocks[1] == (("servers", 5),)
    # what is selected in all of them is shown in the one
    assert bench.canvas.scene.selected.tolist() == [gpu]


def test_a_container_is_made_larger_but_not_smaller_than_its_contents(bench: Any) -> None:
    bench.select("server")
    key(bench, Key.Key_Minus, CTRL)
    corner = bench.at("server", 1.0, 1.0)
    press(bench, corner)
    assert isinstance(bench.canvas.tool, Resize)
    move(bench, corner + QPoint(80, 40))
    release(bench, corner + QPoint(80, 40))
    size = bench.session.design.parts["server"].size
    assert size is not None
    assert size.width % 8 == 0
    before = bench.canvas.scene.geometry.rect[bench.box("server")].copy()
    corner = bench.at("server", 1.0, 1.0)
    drag(bench, corner, QPoint(20, 20))
    after = bench.canvas.scene.geometry.rect[bench.box("server")]
    assert (after[2:] <= before[2:]).all()
    for child in ("gpu7", "nvsw3"):
        x, y, w, h = bench.canvas.scene.geometry.rect[bench.box(child)].tolist()
        assert x + w <= after[0] + after[2]
        assert y + h <= after[1] + after[3]


def test_notes_move_and_resize(make: Make) -> None:
    note = Annotation(id="n", text="Mind the gap", position=Position(x=0, y=0), size=Size(width=200, height=80))
    bench = make(free_pair().model_copy(update={"annotations": {"n": note}}))
    drag(bench, bench.at("n", 0.3, 0.3, "annotations"), bench.at("n", 0.3, 0.3, "annotations") - QPoint(0, 100), ALT)
    assert bench.session.design.annotations["n"].position.y < -50
    corner = bench.at("n", 1.0, 1.0, "annotations")
    drag(bench, corner, corner + QPoint(40, 40))
    size = bench.session.design.annotations["n"].size
    assert size is not None
    assert size.width > 200


# ---- drag and drop


def drop_events(bench: Any, data: QMimeData, at: QPoint, drop: bool = True) -> None:
    actions, where = Qt.DropAction.CopyAction, QPointF(at)
    QApplication.sendEvent(bench.canvas, QDragEnterEvent(at, actions, data, LEFT, NONE))
    QApplication.sendEvent(bench.canvas, QDragMoveEvent(at, actions, data, LEFT, NONE))
    bench.canvas.grab()
    if drop:
        QApplication.sendEvent(bench.canvas, QDropEvent(where, actions, data, LEFT, NONE))


def part_data(text: str) -> QMimeData:
    data = QMimeData()
    data.setData(PART_MIME, text.encode())
    return data


def test_a_part_is_dropped_from_the_palette(make: Make) -> None:
    bench = make(designs.one_server())
    x, y, w, h = bench.canvas.scene.geometry.rect[bench.box("server")].tolist()
    drop_events(bench, part_data("gpu/nvidia/h100-sxm5"), bench.scene(x + w / 2, y + h - 8))
    part = bench.session.design.parts["gpu8"]
    assert part.type == "gpu/nvidia/h100-sxm5"
    assert part.parent == "server"
    assert "gpu/nvidia/h100-sxm5" in bench.session.design.part_types
    assert bench.selected() == {"gpu8"}
    assert bench.steps() == 1


def test_a_part_dropped_on_a_link_is_inserted(make: Make) -> None:
    design = free_pair()
    link = Link(id="l", a="cpu0", b="nic0", kind="pcie", generation=5, lanes=16)
    bench = make(design.model_copy(update={"links": {"l": link}}))
    at = label_of(bench, 0)
    drop_events(bench, part_data('{"kind": "pcie_switch"}'), at)
    assert len(bench.session.design.links) == 2
    assert bench.steps() == 1


def test_a_drop_that_is_refused_says_why(bench: Any) -> None:
    x, y, w, h = bench.canvas.scene.geometry.rect[bench.box("server")].tolist()
    drop_events(bench, part_data("rack"), bench.scene(x + w / 2, y + h - 8))
    assert "does not contain" in bench.warnings[0]
    assert bench.steps() == 0


def test_leaving_with_a_dragged_part_changes_nothing(bench: Any) -> None:
    drop_events(bench, part_data("gpu"), QPoint(50, 50), drop=False)
    QApplication.sendEvent(bench.canvas, QDragLeaveEvent())
    assert isinstance(bench.canvas.tool, Select)
    assert bench.steps() == 0


@pytest.mark.parametrize("text", ["", "{", '{"kind": ""}', "[1]", "nonsense"])
def test_strange_data_are_no_part(text: str) -> None:
    assert dragged_part(text.encode()) is None


def test_undo_while_dragging_ends_the_drag(bench: Any) -> None:
    bench.select("gpu0")
    key(bench, Key.Key_Right)
    start = bench.at("gpu0")
    press(bench, start)
    move(bench, start + QPoint(50, 50))
    assert isinstance(bench.canvas.tool, Drag)
    bench.session.undo()
    assert isinstance(bench.canvas.tool, Select)
    release(bench, start + QPoint(50, 50))
    assert bench.steps() == 0


# ---- copies by dragging


def place(bench: Any, part_id: str) -> tuple[int, int]:
    at = bench.session.design.parts[part_id].position
    assert at is not None
    return at.x, at.y


def test_a_drag_with_ctrl_copies_in_one_step(make: Make) -> None:
    bench = make(grid_of_parts())
    design = bench.session.design
    bench.select("gpu0", "gpu1")
    start = bench.at("gpu1")
    shift = round(240 * bench.canvas.view.scale)
    drag(bench, start, start + QPoint(0, shift), CTRL)
    parts = bench.session.design.parts
    new = set(parts) - set(design.parts)
    assert len(new) == 2
    assert bench.selected() == new
    assert {i: p for i, p in parts.items() if i in design.parts} == design.parts
    low = sorted(place(bench, i) for i in new)
    assert [x for x, _ in low] == [0, 200], "copies line up with their originals"
    assert len({y for _, y in low}) == 1
    assert low[0][1] > 150
    assert bench.steps() == 1
    bench.session.undo()
    assert bench.session.design == design


def test_alt_is_for_snapping_whether_copies_are_made_or_not(make: Make) -> None:
    places: dict[bool, tuple[int, int]] = {}
    for free in (False, True):
        bench = make(grid_of_parts())
        start = bench.at("gpu0")
        drag(bench, start, start + QPoint(3, 203), CTRL | ALT if free else CTRL)
        (new,) = bench.selected()
        places[free] = place(bench, new)
        assert place(bench, "gpu0") == (0, 0)
    assert places[False][0] == 0
    assert places[True][0] != 0


def test_ctrl_may_be_pressed_and_let_go_during_the_drag(make: Make) -> None:
    bench = make(grid_of_parts())
    start, stop = bench.at("gpu0"), bench.at("gpu0") + QPoint(0, 200)
    press(bench, start)
    move(bench, stop)
    view_state = bench.canvas.scene.view_state
    assert view_state.lifted is not None
    QTest.keyPress(bench.canvas, Key.Key_Control, CTRL)
    assert view_state.lifted is None, "the original is seen where it stays"
    assert bench.canvas.cursor().shape() is Qt.CursorShape.DragCopyCursor
    bench.canvas.repaint()
    QTest.keyRelease(bench.canvas, Key.Key_Control, NONE)
    assert view_state.lifted is not None
    release(bench, stop)
    assert set(bench.session.design.parts) == {"gpu0", "gpu1", "gpu2", "gpu3"}
    assert place(bench, "gpu0")[1] > 0
    # and Esc leaves no trace of a copy
    design = bench.session.design
    press(bench, bench.at("gpu1"), keys=CTRL)
    move(bench, bench.at("gpu1") + QPoint(0, 90), CTRL)
    key(bench, Key.Key_Escape)
    assert bench.session.design is design


def test_a_click_with_ctrl_still_takes_away(bench: Any) -> None:
    bench.select("gpu0", "gpu1")
    press(bench, bench.at("gpu0"), keys=CTRL)
    assert bench.selected() == {"gpu0", "gpu1"}
    release(bench, bench.at("gpu0"), keys=CTRL)
    assert bench.selected() == {"gpu1"}
    assert bench.steps() == 0


def test_a_copy_may_go_into_another_container_with_what_it_holds(make: Make) -> None:
    parts = [
        Part(id="box1", kind="server", position=Position(x=0, y=0), size=Size(width=400, height=240)),
        Part(id="own", kind="gpu", parent="box1", position=Position(x=40, y=80)),
        Part(id="box2", kind="server", position=Position(x=600, y=0), size=Size(width=600, height=240)),
        Part(id="rack", kind="rack", position=Position(x=0, y=600), size=Size(width=900, height=500)),
        Part(
            id="other", kind="server", parent="rack", position=Position(x=480, y=80), size=Size(width=300, height=200)
        ),
    ]
    bench = make(Design(name="d", parts={p.id: p for p in parts}))
    design = bench.session.design
    drag(bench, bench.at("own"), bench.at("box2", 0.5, 0.6), CTRL)
    (new,) = bench.selected()
    assert bench.session.design.parts[new].parent == "box2"
    assert bench.session.design.parts["own"] == design.parts["own"]
    x, y = bench.canvas.scene.geometry.rect[bench.box(new)][:2].tolist()
    left, top, width, height = bench.canvas.scene.geometry.rect[bench.box("box2")].tolist()
    assert left < x < left + width
    assert top < y < top + height
    assert bench.steps() == 1
    bench.session.undo()
    # a whole server, with the GPU in it
    stop = bench.at("rack", 0.25, 0.5)
    drag(bench, bench.at("box1", 0.3, 0.06), stop, CTRL)
    (new,) = bench.selected()
    assert bench.session.design.parts[new].parent == "rack"
    assert [p.kind for p in bench.session.design.parts.values() if p.parent == new] == ["gpu"]
    # what it cannot hold is refused
    bench.session.undo()
    steps = bench.steps()
    drag(bench, bench.at("own"), bench.at("rack", 0.2, 0.8), CTRL)
    assert bench.steps() == steps
    assert bench.warnings


def test_copies_of_parts_that_were_laid_out_stand_where_they_are_dropped(bench: Any) -> None:
    """Parts without a place of their own."""
    box = bench.box("gpu0")
    before = bench.canvas.scene.geometry.rect[box].tolist()
    start = bench.at("gpu0")
    drag(bench, start, start + QPoint(0, 64), CTRL)
    (new,) = bench.selected()
    after = bench.canvas.scene.geometry.rect[bench.box(new)].tolist()
    moved = (after[1] - before[1]) * bench.canvas.view.scale
    assert moved == pytest.approx(64, abs=14)
    assert abs(after[0] - before[0]) * bench.canvas.view.scale < 14


def test_notes_and_groups_are_copied_too(make: Make) -> None:
    group = Group(
        id="pods",
        replicas=3,
        position=Position(x=0, y=0),
        content=Design(name="x", parts={"gpu0": Part(id="gpu0", kind="gpu")}),
    )
    note = Annotation(id="n", text="note", position=Position(x=600, y=0))
    bench = make(Design(name="d", groups={"pods": group}, annotations={"n": note}))
    for what, thing in (("annotations", "n"), ("groups", "pods")):
        start = bench.at(thing, what=what)
        drag(bench, start, start + QPoint(0, 250), CTRL)
        assert len(getattr(bench.session.design, what)) == 2
    assert bench.steps() == 2
    assert not bench.warnings


def covering(bench: Any, now: np.ndarray | None = None) -> list[tuple[str, str]]:
    """Boxes of one container that cover each other."""
    geometry = bench.canvas.scene.geometry
    rect, found = geometry.rect if now is None else now, []
    for a in range(len(geometry)):
        for b in range(a + 1, len(geometry)):
            if geometry.parent[a] == geometry.parent[b]:
                low = np.maximum(rect[a, :2], rect[b, :2])
                high = np.minimum(rect[a, :2] + rect[a, 2:], rect[b, :2] + rect[b, 2:])
                if (high - low > 1e-6).all():
                    found.append((geometry.label(a), geometry.label(b)))
    return found


def test_a_server_of_the_palette_comes_with_its_contents(make: Make) -> None:
    bench = make(Design(name="empty"))
    for _ in range(2):
        # twice at the same place: the second one gives way
        drop_events(bench, part_data("server/nvidia/dgx-a100"), QPoint(600, 400))
    design = bench.session.design
    kinds = [p.kind for p in design.parts.values()]
    assert kinds.count("server") == 2
    assert kinds.count("gpu") == 16
    assert len({p.label for p in design.parts.values() if p.kind == "server"}) == 2
    assert covering(bench) == []
    assert bench.steps() == 2
    # where only the chassis is known, the chassis comes
    drop_events(bench, part_data("server/dell/r750"), QPoint(600, 400))
    assert len(bench.session.design.parts) == len(kinds) + 1
    assert covering(bench) == []


def test_a_part_dropped_on_another_is_linked_to_it(make: Make) -> None:
    bench = make(designs.one_server())
    switch = next(p.id for p in bench.session.design.parts.values() if p.kind == "pcie_switch")
    drop_events(bench, part_data("gpu/nvidia/h100-sxm5"), bench.at(switch), drop=False)
    assert "linked by PCIe" in bench.canvas.tool.offer.note
    drop_events(bench, part_data("gpu/nvidia/h100-sxm5"), bench.at(switch))
    design = bench.session.design
    (new,) = bench.selected()
    assert design.parts[new].parent == design.parts[switch].parent
    (link,) = [x for x in design.links.values() if new in (x.a, x.b)]
    assert (link.kind, {link.a, link.b}) == ("pcie", {switch, new})
    # the slower end and the narrower one decide
    assert link.generation == 5
    assert link.lanes == 16
    assert covering(bench) == []
    assert bench.steps() == 1
    # all its ports are taken: the new one stands next to it, and the tip says why
    drop_events(bench, part_data("memory"), bench.at("gpu0"), drop=False)
    assert bench.canvas.tool.offer.note.startswith("not linked: ")


def test_what_is_pasted_or_duplicated_does_not_cover_its_original(make: Make) -> None:
    bench = make(designs.one_server())
    bench.select("server")
    text = bench.session.copy()
    bench.session.paste(text)
    bench.session.paste(text)
    bench.session.duplicate()
    assert sum(p.kind == "server" for p in bench.session.design.parts.values()) == 4
    assert covering(bench) == []


def test_of_a_selection_that_does_not_fit_wholly_it_is_told_what_is_left_out(make: Make) -> None:
    parts = [Part(id=f"nic{k}", kind="nic", position=Position(x=160 * k, y=0)) for k in range(6)]
    switch = Part(
        id="sw",
        kind="switch",
        position=Position(x=300, y=240),
        overrides={"ports": {"value": 4, "source": "U", "status": "assumed"}},
    )
    bench = make(Design(name="few", parts=[*parts, switch]))
    bench.select(*(p.id for p in parts))
    key(bench, Qt.Key.Key_C)
    move(bench, bench.at("sw"))
    assert "4 of 6" in bench.canvas.tool.remark()
    assert "no port is left" in bench.canvas.tool.remark()
    click(bench, bench.at("sw"))
    assert len(bench.session.design.links) == 4


def test_selected_servers_are_connected_by_keys(make: Make) -> None:
    bench = make(Design(name="empty"))
    for _ in range(2):
        drop_events(bench, part_data("server/nvidia/dgx-a100"), QPoint(600, 400))
    drop_events(bench, part_data("switch/nvidia/qm8700"), QPoint(30, 30))
    bench.canvas.zoom_to_fit(animated=False)
    bench.select(*(p.id for p in bench.session.design.parts.values() if p.kind == "server"))
    before = len(bench.session.design.links)
    key(bench, Qt.Key.Key_C)
    move(bench, bench.at("switch0"))
    assert bench.canvas.tool.remark().startswith("20 cables of InfiniBand at 200 Gb/s, all NICs")
    key(bench, Qt.Key.Key_Tab)
    key(bench, Qt.Key.Key_Tab)
    assert "16 cables" in bench.canvas.tool.remark()
    bench.canvas.grab()
    key(bench, Qt.Key.Key_Return)
    assert len(bench.session.design.links) == before + 16
    assert bench.steps() == 4


def test_what_is_added_by_key_keeps_the_whole_in_sight(make: Make) -> None:
    bench = make(Design(name="empty"))
    for _ in range(4):
        assert bench.canvas.add_part("server", "server/nvidia/dgx-a100")
        bench.canvas.zoom_to_fit(animated=False)
    assert covering(bench) == []
    _, _, width, height = bench.canvas.scene.view_state.bounds
    # four wide servers make a block about as wide as the view, not one row
    assert 0.4 < (width / height) / (1400 / 860) < 2.5


def test_links_run_around_boxes_while_one_is_dragged(bench: Any) -> None:
    """Every frame of a drag of a GPU across its server, and the box of the server as it is shown meanwhile."""
    start = bench.at("gpu0")
    press(bench, start)
    seen = set()
    for n in range(1, 25):
        move(bench, start + QPoint(n * 22, n * 9))
        tool, geometry = bench.canvas.tool, bench.canvas.scene.geometry
        assert isinstance(tool, Drag)
        bench.canvas.grab()
        links = np.flatnonzero(tool._connections)
        now = tool._room.rects(*tool._spot)
        solid = np.ones(len(geometry), dtype=bool)
        a, b = geometry.connection_a[links], geometry.connection_b[links]
        assert not over_boxes(now, geometry.parent, solid, a, b, tool._led(links))
        assert not covering(bench, now)
        seen.add(tool._spot)
    assert len(seen) > 6
    release(bench, start + QPoint(24 * 22, 24 * 9))
    assert not covering(bench)


def test_what_is_dragged_onto_another_part_lands_beside_it(make: Make) -> None:
    bench = make(grid_of_parts())
    drag(bench, bench.at("gpu0"), bench.at("gpu2", 0.5, 0.6), ALT)
    assert bench.steps() == 1
    assert not covering(bench)
    x, y = place(bench, "gpu0")
    assert 272 <= x <= 528, "beside or below the third"
    assert abs(y) <= 64


def test_a_server_does_not_grow_over_its_neighbours(make: Make) -> None:
    parts = [
        Part(id="one", kind="server", position=Position(x=0, y=0)),
        Part(id="gpu", kind="gpu", parent="one", position=Position(x=24, y=56)),
        Part(id="two", kind="server", position=Position(x=240, y=0)),
    ]
    bench = make(Design(name="d", parts={p.id: p for p in parts}))
    bench.canvas.set_view(bench.canvas.view.revealing((-600.0, -600.0, 1800.0, 1800.0)))
    bench.select("gpu")
    for _ in range(12):
        key(bench, Key.Key_Right, SHIFT)
    assert not covering(bench)
    assert bench.warnings, "it says why it stays"
    # 8 units are left between the servers, 24 inside the border
    assert place(bench, "gpu") == (240 - 8 - 24 - 112, 56)
    # and the corner of a server stops at the other
    bench.select("one")
    corner = bench.at("one", 1.0, 1.0)
    drag(bench, corner, corner + QPoint(400, 0))
    left, _, wide, _ = bench.canvas.scene.geometry.rect[bench.box("one")].tolist()
    assert left + wide <= 240
    assert not covering(bench)
