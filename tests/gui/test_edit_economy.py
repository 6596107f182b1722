"""What an edit costs, counted: only what can be seen is redrawn, and only the rows that are looked at are made."""

from __future__ import annotations

import gc
from functools import partial

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from designer.design.address import Address, Ref, block_at
from designer.design.edits.structure import Delete
from designer.drawing.loads import ChannelState
from designer.engine.routes.channel_rows import ChannelRows
from designer.gui import workers
from designer.gui.main_window import MainWindow
from designer.gui.panels._panel import Panel
from designer.gui.session import Session
from designer.gui.viewmodels.table import LazyLines, Line
from tests.moving import MoveBy

LARGE = "su-h100-32"
SEEN = {"answer"}
#: rows a screen may need of thousands
FEW = 200


def opened(window: MainWindow, qtbot: QtBot) -> Session:
    window.resize(1500, 900)
    window.open_template(LARGE)
    document = window.document
    assert document is not None
    session = document.session
    # till the full analysis has been shown as well, so that only the edit counts
    qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=20_000)
    qtbot.waitUntil(lambda: not document.live._idle.isActive() and not document.live._jobs.busy, timeout=20_000)
    qtbot.wait(50)
    return session


def link_of(session: Session) -> tuple[Address, Ref]:
    design = session.design
    within = next(((g, None),) for g in design.groups if block_at(design, ((g, None),)).links)
    return within, Ref("links", next(iter(block_at(design, within).links)))


def edited(session: Session, qtbot: QtBot) -> ChannelRows:
    """A link taken out, and the channels of the answer."""
    within, link = link_of(session)
    with qtbot.waitSignal(session.analysis_changed, timeout=20_000):
        session.apply(Delete((link,), within=within))
    qtbot.wait(60)
    assert session.analysis is not None
    assert isinstance(session.analysis.channels, ChannelRows)
    return session.analysis.channels


def test_an_edit_redraws_each_panel_in_sight_once_and_no_other(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot)
    assert window.places is not None
    panels = window.places.panels
    assert {name for name, panel in panels.items() if panel.seen} == SEEN
    before = {name: panel.redraws for name, panel in panels.items()}
    edited(session, qtbot)
    redrawn = {name: panel.redraws - before[name] for name, panel in panels.items()}
    assert {name for name, count in redrawn.items() if count} <= SEEN
    assert redrawn["answer"] == 1
    assert redrawn["inspector"] == 0


def test_edits_of_one_turn_ask_the_actions_once(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot)
    group = Ref("groups", next(iter(session.design.groups)))
    before = window.menus.looks
    for k in range(5):
        session.apply(MoveBy((group,), 8, 0))
        session.select({((), group)} if k % 2 else ())
    assert window.menus.looks == before
    qtbot.waitUntil(lambda: window.menus.looks > before)
    assert window.menus.looks == before + 1
    assert window.qt_actions["edit.undo"].isEnabled()


def test_a_key_right_behind_the_first_edit_undoes_it(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot)
    design, canvas = session.design, window.canvas
    assert canvas is not None
    assert not window.qt_actions["edit.undo"].isEnabled()
    session.apply(MoveBy((Ref("groups", next(iter(design.groups))),), 8, 0))
    # the event loop has not been round: the key itself makes the actions look
    assert not window.qt_actions["edit.undo"].isEnabled()
    qtbot.keyClick(canvas, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert session.design == design


def test_a_panel_that_comes_to_the_front_shows_the_present_state(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot)
    assert window.places is not None
    outline, history = window.places.panels["outline"], window.places.panels["history"]
    edited(session, qtbot)
    assert not history.seen
    window.places.bring("history")
    qtbot.waitUntil(lambda: history.seen and not history.pending)
    assert history.table.lines.rowCount() == len(session.history.steps) + 1
    session.select_all()
    window.places.bring("outline")
    qtbot.waitUntil(lambda: outline.seen and not outline.pending)
    assert len(outline.tree.selectionModel().selectedRows()) == len(session.selection) > 0


def test_a_form_of_other_lines_is_filled_in_turns_and_given_up_for_the_next(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.open_template("hgx-h100-8")
    document = window.document
    assert document is not None
    session = document.session
    qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=20_000)
    assert window.places is not None
    panel = window.places.inspector
    # no time at all: a line a turn
    monkeypatch.setattr("designer.gui.panels.inspector._TURN", 0.0)
    names: dict[str, list[str]] = {}
    for part in ("nic0", "gpu0"):
        session.select({((), Ref("parts", part))})
        panel.flush()
        names[part] = list(panel.rows)
        assert not panel.pending
    session.select({((), Ref("parts", "nic0"))})
    qtbot.waitUntil(lambda: panel._filling is not None)
    # what was there stays in sight until all is there
    assert panel.pending
    assert not panel._body.updatesEnabled()
    session.select({((), Ref("parts", "gpu0"))})
    qtbot.waitUntil(lambda: not panel.pending)
    assert list(panel.rows) == names["gpu0"]
    assert panel._body.updatesEnabled()
    assert [row.entry.name for box in panel._boxes if not box.isHidden() for row in box.rows] == names["gpu0"]
    assert all(not row.isHidden() for row in panel.rows.values())


@pytest.mark.parametrize("front", ["answer", "links"])
def test_few_rows_of_thousands_are_made_after_an_edit(window: MainWindow, qtbot: QtBot, front: str) -> None:
    session = opened(window, qtbot)
    assert window.places is not None
    window.places.bring(front)
    channels = edited(session, qtbot)
    assert len(channels) > 10 * FEW
    assert len(channels._known) < FEW
    result = session.result
    assert result is not None
    assert len(getattr(result.flows, "_known", ())) <= 2


def test_an_answer_as_before_draws_nothing(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot)
    canvas, analysis = window.canvas, session.analysis
    assert canvas is not None
    assert analysis is not None
    found = analysis.loads[session.workload]
    live = canvas.scene.view_state.loads
    shown = canvas.scene._binding, canvas.scene._bottleneck_parts, canvas.scene._mark
    canvas.show_result(ChannelState(found.load.copy(), found.utilization.copy()), *shown)
    assert canvas.scene.view_state.loads is live
    canvas.show_result(ChannelState(found.load * 0.5, found.utilization * 0.5), *shown)
    assert canvas.scene.view_state.loads is not live
    assert np.nanmax(canvas.scene.view_state.loads.used) <= 0.5 + 1e-9


def test_a_move_is_drawn_at_once_while_loads_are_waited_for_only_shortly(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot)
    canvas = window.canvas
    assert canvas is not None
    assert window.document is not None
    session.apply(MoveBy((Ref("groups", next(iter(session.design.groups))),), 8, 0))
    assert not canvas._hold.isActive()
    window.document.live.enabled = False
    within, link = link_of(session)
    session.apply(Delete((link,), within=within))
    assert canvas._hold.isActive()
    qtbot.waitUntil(lambda: not canvas._hold.isActive(), timeout=500)
    assert session.stale
    assert canvas.scene.view_state.stale


def test_memory_is_left_to_python_again_when_the_window_closes(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "gc", gc)
    before = gc.get_threshold()
    opened(window, qtbot)
    assert gc.get_threshold() != before
    assert window.sweeper is not None
    gc.unfreeze()
    window.sweeper.sweep()
    assert gc.get_freeze_count() > 0
    window.shut_down()
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
    # the tests that follow have their peace again
    gc.freeze()


def test_only_new_memory_is_swept_until_nobody_works_for_long_or_a_document_was_closed(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot)
    sweeper = window.sweeper
    assert sweeper is not None
    said: list[tuple[object, ...]] = []
    for name in ("unfreeze", "collect", "freeze"):
        monkeypatch.setattr(workers.gc, name, partial(lambda *stated: said.append(stated), name))
    young, all_of_it = [("collect", 1)], [("unfreeze",), ("collect",), ("freeze",)]
    sweeper.touch()
    sweeper._quiet()
    assert said == young
    assert sweeper._timer.isActive()
    sweeper._quiet()
    assert said == young + all_of_it
    said.clear()
    sweeper.touch()
    usual = sweeper._timer.interval()
    sweeper._quiet()
    assert said == young
    said.clear()
    assert window.document is not None
    window.workspace.close(window.document)
    # whoever closes one design to work on another is not held up
    assert sweeper._timer.interval() > usual
    said.clear()
    sweeper._quiet()
    assert said == all_of_it


def test_what_a_design_is_made_of_is_not_looked_through_by_young_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "gc", gc)
    rounds: list[int] = []

    def begun(phase: str, stated: dict[str, int]) -> None:
        if phase == "start":
            rounds.append(stated["generation"])

    gc.collect()
    gc.callbacks.append(begun)
    before = gc.get_freeze_count()
    try:
        with workers.making_much():
            made = [[k] for k in range(30_000)]
        after = [[k] for k in range(100)]
    finally:
        gc.callbacks.remove(begun)
    assert gc.isenabled()
    assert len(made) + len(after) == 30_100
    assert rounds == []
    assert gc.get_freeze_count() >= before + len(made)


def test_keys_and_mouse_have_their_turn_between_two_panels(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(window, qtbot)
    window.search_parts()
    window.run("view.run")
    assert window.places is not None
    panels = {name: panel for name, panel in window.places.panels.items() if panel.seen}
    assert set(panels) == {*SEEN, "parts", "gantt"}
    qtbot.waitUntil(lambda: not any(p.pending for p in panels.values()))
    order: list[str] = []
    for name, panel in panels.items():
        # not the inspector's own: it goes on for several turns
        monkeypatch.setattr(panel, "refresh", partial(order.append, name))
        monkeypatch.setattr(panel, "_redraw", partial(Panel._redraw, panel))
        panel._timer.timeout.disconnect()
        panel._timer.timeout.connect(panel._redraw)
    beat = QTimer(window, interval=0)
    beat.timeout.connect(lambda: order.append("another"))
    beat.start()
    for panel in panels.values():
        panel.outdate()
    qtbot.waitUntil(lambda: set(order) >= set(panels))
    beat.stop()
    redrawn = [order.index(name) for name in panels]
    assert sorted(order[k] for k in redrawn) == sorted(panels)
    assert all(order[k + 1] == "another" for k in sorted(redrawn)[:-1]), order


def test_a_trial_is_begun_without_making_the_form_anew(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot)
    session.select({link_of(session)})
    assert window.places is not None
    inspector = window.places.inspector
    qtbot.waitUntil(lambda: not inspector.pending)
    before = inspector.redraws
    inspector.scale(1)
    assert inspector.what_if.on_trial
    assert inspector.redraws == before
    inspector.what_if.discard()
    # a form that is old, or not all there yet, is made first, and holds up nobody
    session.select(())
    session.select({link_of(session)})
    inspector.scale(1)
    inspector.scale(1)
    assert inspector.redraws == before
    assert not inspector.what_if.on_trial
    qtbot.waitUntil(lambda: inspector.what_if.on_trial)
    assert inspector.redraws == before + 1
    assert inspector.what_if.factor.text() == "× 4"
    # what is selected meanwhile is not meant
    inspector.what_if.discard()
    session.select(())
    session.select({link_of(session)})
    inspector.scale(1)
    within, chosen = link_of(session)
    another = next(key for key in block_at(session.design, within).links if key != chosen.id)
    session.select({(within, Ref("links", another))})
    qtbot.waitUntil(lambda: not inspector.pending)
    assert not inspector.what_if.on_trial


def test_enter_again_inserts_without_searching_again(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.new_document()
    assert window.document is not None
    assert window.places is not None
    parts, session = window.places.parts, window.document.session
    parts.search.setText("qm8700")
    QTest.keyClick(parts.search, Qt.Key.Key_Return)
    assert len(session.design.parts) == 1
    redrawn = parts.redraws
    QTest.keyClick(parts.search, Qt.Key.Key_Return)
    assert [p.type for p in session.design.parts.values()] == ["switch/nvidia/qm8700"] * 2
    assert parts.redraws == redrawn


def test_lazy_lines_make_each_row_once() -> None:
    made: list[int] = []

    def make(k: int) -> Line:
        made.append(k)
        return Line((), k)

    lines = LazyLines(1000, make)
    assert len(lines) == 1000
    assert (lines[3].key, lines[-1].key, lines[3].key) == (3, 999, 3)
    assert [x.key for x in lines[10:12]] == [10, 11]
    assert made == [3, 999, 10, 11]
    with pytest.raises(IndexError):
        lines[1000]


def test_comparing_reads_and_runs_the_other_design_once(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot)
    assert window.places is not None
    compare = window.places.compare
    window.places.bring("compare")
    qtbot.waitUntil(lambda: compare._answer is not None, timeout=20_000)
    assert compare._answer is not None
    other, answer = compare._answer
    assert other is compare._other
    edited(session, qtbot)
    # what it was opened as is offered first now; the template chosen before stays chosen, and so does its answer
    qtbot.waitUntil(lambda: not compare.pending)
    assert compare._other is other
    assert compare._answer == (other, answer)
    assert compare.table.lines.rowCount() > 0


class _LayoutRequests(QObject):
    """Counts how often the window is asked to lay out its docks."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


def test_an_edit_does_not_lay_out_the_docks_anew(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot)
    # the first one marks the tab as changed
    edited(session, qtbot)
    requests = _LayoutRequests()
    window.installEventFilter(requests)
    within, link = link_of(session)
    with qtbot.waitSignal(session.analysis_changed, timeout=20_000):
        session.apply(Delete((link,), within=within))
    qtbot.wait(60)
    window.removeEventFilter(requests)
    assert requests.count == 0


def test_an_undo_comes_back_to_the_picture_before(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot)
    assert window.canvas is not None
    scene = window.canvas.scene
    before, boxes = scene.view_state, scene.geometry.rect
    edited(session, qtbot)
    assert scene.view_state is not before
    assert scene.geometry.rect is boxes, "an edit of links keeps the boxes"
    session.undo()
    assert scene.view_state is before


def test_moving_things_does_not_look_for_their_channels_again(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot)
    assert window.canvas is not None
    scene = window.canvas.scene
    known = scene.view_state.connection_map
    session.apply(MoveBy((Ref("groups", next(iter(session.design.groups))),), 8, 8))
    assert scene.view_state.connection_map is known
