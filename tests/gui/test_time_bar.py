"""The time bar by real keys and clicks: a run is worked out next to the window, played, scrubbed, broken and left."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QInputDialog
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.design.edits.placement import Place
from designer.design.edits.workloads import RemoveWorkloads
from designer.gui.main_window import MainWindow
from designer.gui.playing import Player
from designer.gui.viewmodels.scenario import Event, Scenario

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture
def player(window: MainWindow, qtbot: QtBot) -> Player:
    """A server whose training and reading have been run for 2 s."""
    window.open_template("hgx-h100-8")
    assert window.document is not None
    found = window.document.player
    found.set_scenario(Scenario(("resnet-50", "storage-to-gpus"), until=2.0))
    qtbot.waitUntil(lambda: found.session.frames is not None, timeout=30_000)
    return found


def test_f6_runs_the_workload_shown(window: MainWindow, qtbot: QtBot):
    window.open_template("hgx-h100-8")
    assert window.document is not None
    session = window.document.session
    assert not window.time_bar.isVisible()
    QTest.keyClick(window, Qt.Key.Key_F6)
    qtbot.waitUntil(lambda: session.frames is not None, timeout=30_000)
    assert window.time_bar.isVisible()
    assert window.document.player.scenario.workloads == (session.workload,)


def test_a_steady_stream_has_no_clock(window: MainWindow, qtbot: QtBot):
    window.open_template("hgx-h100-8")
    assert window.document is not None
    session, bar = window.document.session, window.time_bar
    assert session.workload == "h2d"
    QTest.keyClick(window, Qt.Key.Key_F6)
    qtbot.waitUntil(lambda: session.frames is not None, timeout=30_000)
    qtbot.waitUntil(lambda: "give it a size" in bar.binds.text())
    assert not bar.ruler.isVisible()
    assert not bar.play.isEnabled()


def test_scrubbing_shows_the_loads_of_the_instant(window: MainWindow, player: Player):
    ruler, frames = window.time_bar.ruler, player.session.frames
    assert frames is not None
    middle = QPoint(ruler.width() // 2, ruler.height() // 2)
    QTest.mouseClick(ruler, LEFT, NONE, middle)
    assert player.session.moment == pytest.approx(frames.end / 2, abs=frames.end / ruler.width())
    loads = window.canvas.scene._loads if window.canvas is not None else None
    assert loads is not None
    load, share = frames.channels(player.session.moment)
    assert loads.every()[1] == pytest.approx(share)
    assert loads.load == pytest.approx(load)
    assert loads.activity is not None
    QTest.mousePress(ruler, LEFT, NONE, middle)
    QTest.mouseMove(ruler, QPoint(5, middle.y()))
    QTest.mouseRelease(ruler, LEFT, NONE, QPoint(5, middle.y()))
    assert player.session.moment < frames.end / 10


def test_keys_play_step_and_loop(window: MainWindow, player: Player, qtbot: QtBot):
    ruler, session = window.time_bar.ruler, player.session
    frames = session.frames
    assert frames is not None
    ruler.setFocus()
    QTest.keyClick(ruler, Qt.Key.Key_End)
    assert session.moment == frames.end
    QTest.keyClick(ruler, Qt.Key.Key_Home)
    assert session.moment == 0
    QTest.keyClick(ruler, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    assert session.moment in frames.times
    player.set_speed(0.5)
    before = session.moment
    QTest.keyClick(ruler, Qt.Key.Key_Space)
    assert player.playing
    qtbot.waitUntil(lambda: session.moment > before, timeout=5_000)
    QTest.keyClick(ruler, Qt.Key.Key_Space)
    assert not player.playing
    held = session.moment
    QTest.qWait(60)
    assert session.moment == held
    assert session.span == 0
    QTest.keyClick(ruler, Qt.Key.Key_L)
    assert player.loop
    assert window.time_bar.loop.isChecked()
    speed = player.speed
    QTest.keyClick(ruler, Qt.Key.Key_Plus)
    assert player.speed > speed


def test_it_ends_at_the_end_and_loops(window: MainWindow, player: Player, qtbot: QtBot):
    session = player.session
    assert session.frames is not None
    player.set_speed(50.0)
    QTest.mouseClick(window.time_bar.play, LEFT)
    qtbot.waitUntil(lambda: not player.playing, timeout=10_000)
    assert session.moment == session.frames.end
    player.set_loop(True)
    seen: list[float] = []
    session.moment_changed.connect(seen.append)
    player.play()
    qtbot.waitUntil(lambda: any(b < a for a, b in itertools.pairwise(seen)), timeout=10_000)
    assert player.playing


def test_a_wheel_zooms_at_the_pointer(window: MainWindow, player: Player):
    ruler = window.time_bar.ruler
    assert player.session.frames is not None
    at = QPointF(ruler.width() * 0.75, 20)
    before = ruler.time_at(at.x())
    event = QWheelEvent(
        at,
        ruler.mapToGlobal(at),
        QPoint(),
        QPoint(0, 480),
        Qt.MouseButton.NoButton,
        NONE,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(ruler, event)
    assert ruler.end - ruler.begin < player.session.frames.end
    assert ruler.time_at(at.x()) == pytest.approx(before, rel=1e-9)
    player.seek(1.9)
    player.seek(0.0)
    assert ruler.begin == 0


def test_a_link_fails_where_one_looks(window: MainWindow, player: Player, qtbot: QtBot):
    session = player.session
    player.seek(1.0)
    session.select([((), Ref("parts", "psw0"))])
    window.run("time.fail")
    assert player.scenario.events == (Event("psw0", 1.0, 0.0),)
    qtbot.waitUntil(lambda: not player.busy, timeout=30_000)
    frames = session.frames
    assert frames is not None
    net = frames.run.table.network.net
    links = [k for k in range(net.n_links) if "psw0" in (net.path(int(net.link_a[k])), net.path(int(net.link_b[k])))]
    channels = [2 * k + d for k in links for d in (0, 1)]
    assert frames.channels(0.9)[0][channels].max() > 0
    assert frames.channels(1.5)[0][channels].max() == 0
    # its mark is found by a double click, and it can be taken out again
    ruler = window.time_bar.ruler
    player.seek(0.0)
    QTest.mouseDClick(ruler, LEFT, NONE, QPoint(round(ruler.x_of(1.0)) + 3, 20))
    assert session.moment == 1.0
    menu = window.time_bar.menu()
    assert menu is not None
    gone = next(a for a in menu.actions() if a.text() == "What happens").menu()
    gone.actions()[0].trigger()  # type: ignore[union-attr]
    menu.close()
    assert player.scenario.events == ()


def test_an_edit_makes_the_run_old_and_runs_it_again(window: MainWindow, player: Player, qtbot: QtBot):
    session, ruler = player.session, window.time_bar.ruler
    first = session.simulation
    session.apply(Place({Ref("parts", "gpu0"): (40, 40)}))
    assert not player.stale
    assert player.shown
    session.select([((), Ref("parts", "nvme0"))])
    session.delete()
    assert player.stale
    assert not player.shown
    assert ruler.stale
    qtbot.waitUntil(lambda: session.simulation is not first and not player.busy, timeout=30_000)
    assert player.shown


def test_a_workload_that_goes_leaves_the_run(window: MainWindow, player: Player, qtbot: QtBot):
    player.session.apply(RemoveWorkloads(("resnet-50",)))
    qtbot.waitUntil(lambda: player.scenario.workloads == ("storage-to-gpus",) and not player.busy, timeout=30_000)
    assert player.session.simulation is not None
    assert set(player.session.simulation.metrics) == {"storage-to-gpus"}


def test_what_runs_is_chosen_by_menu(window: MainWindow, player: Player, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch):
    menu = window.time_bar.menu()
    assert menu is not None
    checked = [a.text() for a in menu.actions() if a.isChecked()]
    assert len(checked) == 2
    next(a for a in menu.actions() if a.isChecked()).trigger()
    menu.close()
    assert len(player.scenario.workloads) == 1
    qtbot.waitUntil(lambda: not player.busy, timeout=30_000)
    warned: list[str] = []
    player.failed.connect(warned.append)
    before = player.scenario
    monkeypatch.setattr(QInputDialog, "getText", lambda *a, **k: ("soon", True))
    window.time_bar._ask_until()
    assert warned
    assert player.scenario == before
    monkeypatch.setattr(QInputDialog, "getText", lambda *a, **k: ("500 ms", True))
    window.time_bar._ask_until()
    assert player.scenario.until == 0.5
    qtbot.waitUntil(lambda: not player.busy, timeout=30_000)
    assert player.session.frames is not None
    assert player.session.frames.end == 0.5


def test_leaving_the_run_brings_the_analysis_back(window: MainWindow, player: Player, qtbot: QtBot):
    session = player.session
    qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=30_000)
    QTest.mouseClick(window.time_bar.leave, LEFT)
    assert not window.time_bar.isVisible()
    assert session.frames is None
    loads = window.canvas.scene._loads if window.canvas is not None else None
    assert loads is not None
    assert session.analysis is not None
    assert loads.every()[1] == pytest.approx(session.analysis.loads[session.workload].utilization)
    assert loads.activity is None


def test_playing_works_nothing_out(window: MainWindow, player: Player, monkeypatch: pytest.MonkeyPatch):
    """While it plays no load is worked out again: the frames have them all."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a run was worked out while playing")

    for name in ("designer.analysis.simulation.simulate", "designer.engine.clock.run.Run.load_at"):
        monkeypatch.setattr(name, refuse)
    player.play()
    for _ in range(20):
        player.tick()
    player.pause()
    assert player.session.moment > 0


def test_another_document_holds_the_run(window: MainWindow, player: Player):
    player.play()
    window.new_document()
    assert not player.playing
    assert not window.time_bar.isVisible()
    window.next_tab(1)
    assert window.time_bar.isVisible()


def test_later_starts_are_looked_for_and_offered(window: MainWindow, player: Player, qtbot: QtBot):
    from dataclasses import replace

    from designer.analysis.simulation.meetings import Shift

    menu = window.time_bar.menu()
    assert menu is not None
    next(a for a in menu.actions() if a.text() == "Look for starts that avoid collisions").trigger()
    menu.close()
    assert player.scenario.shifts
    qtbot.waitUntil(lambda: not player.busy, timeout=30_000)
    menu = window.time_bar.menu()
    assert menu is not None
    # one of the two is a stream: there is nothing to shift
    assert "No later start is better" in [a.text() for a in menu.actions()]
    menu.close()
    found = player.session.simulation
    assert found is not None
    player.session.set_simulation(replace(found, shifts=(Shift("resnet-50", 0.25, 3.0, 2.0),)), player.session.frames)
    menu = window.time_bar.menu()
    assert menu is not None
    offered = next(a for a in menu.actions() if a.text().startswith("Begin "))
    assert offered.text().endswith("250 ms later: together 1.50× as fast")
    offered.trigger()
    menu.close()
    assert player.scenario.starts["resnet-50"] == 0.25
    qtbot.waitUntil(lambda: not player.busy, timeout=30_000)


def test_frames_that_draw_only_what_changes_are_the_same_pictures(window: MainWindow, player: Player, qtbot: QtBot):
    canvas, session = window.canvas, player.session
    assert canvas is not None
    assert session.frames is not None
    canvas.settle()
    for k in range(12):
        session.set_moment(0.05 + k * 0.013, 0.003)
        canvas.settle()
        played = canvas.tile_cache.surface.pixmap
        assert played is not None
        played = played.toImage()
        canvas.tile_cache.drop()
        canvas.repaint()
        canvas.settle()
        anew = canvas.tile_cache.surface.pixmap
        assert anew is not None
        assert played == anew.toImage(), k
