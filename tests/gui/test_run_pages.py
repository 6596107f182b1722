"""The lanes of a run, by real clicks."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.gui.main_window import MainWindow
from designer.gui.panels.gantt import GanttPanel
from designer.gui.playing import Player
from designer.gui.viewmodels.gantt import GanttRow, rows_of, visible
from designer.gui.viewmodels.plots import chosen_resources
from designer.gui.viewmodels.scenario import Event, Scenario

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture
def player(window: MainWindow, qtbot: QtBot) -> Player:
    """A server whose training and reading have been run for half a second."""
    window.open_template("hgx-h100-8")
    assert window.document is not None
    found = window.document.player
    found.set_scenario(Scenario(("resnet-50", "storage-to-gpus"), until=0.5))
    qtbot.waitUntil(lambda: found.session.frames is not None, timeout=30_000)
    return found


def test_a_click_on_a_bar_shows_its_instant_and_its_way(window: MainWindow, player: Player, qtbot: QtBot):
    window.show_panel("gantt")
    assert window.places is not None
    panel = window.places.panels["gantt"]
    assert isinstance(panel, GanttPanel)
    qtbot.waitUntil(lambda: bool(panel.chart.rows), timeout=5_000)
    chart, frames = panel.chart, player.session.frames
    assert frames is not None
    number = next(k for k, row in enumerate(chart.rows) if row.program == "storage-to-gpus" and not row.is_head)
    y = 20 + 22 * number + 11
    x = round(chart.x_of(0.3))
    QTest.mouseClick(chart, LEFT, NONE, QPoint(x, y))
    assert player.session.moment == pytest.approx(0.3, abs=0.5 / 200)
    assert frames.run.tasks[chart.chosen].program == "storage-to-gpus"
    assert "psw0--nvme0:ba" in player.session.highlight
    QTest.keyClick(chart, Qt.Key.Key_Escape)
    assert chart.chosen == -1
    assert not player.session.highlight
    before = player.session.moment
    QTest.keyClick(chart, Qt.Key.Key_Right)
    assert player.session.moment > before


def test_rows_hold_all_tasks_and_the_critical_path_has_no_holes(player: Player):
    frames = player.session.frames
    assert frames is not None
    run = frames.run
    rows = rows_of(run)
    stated = sorted(int(k) for row in rows for k in row.task)
    assert stated == [k for k, t in enumerate(run.tasks) if not np.isnan(t.began)]
    # steps follow each other without a gap: the critical path of training is all of its time
    critical = [
        (b, e)
        for row in rows
        if row.program == "resnet-50" and row.depth == 0
        for b, e, c in zip(row.begin, row.end, row.critical, strict=True)
        if c
    ]
    critical.sort()
    reached = 0.0
    for begin, end in critical:
        assert begin <= reached + 1e-6
        reached = max(reached, end)


def test_bars_on_the_same_pixel_are_one():
    n = 10_000
    begin = np.arange(n) * 1.0
    row = GanttRow("a", "b", 0, begin, begin + 0.9, begin, np.arange(n), np.zeros(n, dtype=bool))
    left, right, first = visible(row, 0.0, float(n), 200.0)
    assert len(left) <= 200
    assert right.max() >= 199
    assert (np.diff(first) > 0).all()
    left, right, first = visible(row, 10.0, 14.0, 400.0)
    # 10 to 14 shows bars 10, 11, 12, 13 and the edge of 14, each 90 px wide
    assert first.tolist() == [10, 11, 12, 13, 14]
    assert right[0] - left[0] == pytest.approx(90.0)


def test_curves_below_the_lanes_follow_the_selection_and_share_the_playhead(
    window: MainWindow, player: Player, qtbot: QtBot
):
    window.show_panel("gantt")
    assert window.places is not None
    panel = window.places.panels["gantt"]
    assert isinstance(panel, GanttPanel)
    chart, session, frames = panel.chart, player.session, player.session.frames
    assert frames is not None
    qtbot.waitUntil(lambda: bool(chart.curves), timeout=5_000)
    session.select([((), Ref("parts", "nvme3"))])
    qtbot.waitUntil(lambda: any("nvme3" in c.label for c in chart.curves), timeout=5_000)
    chosen = chosen_resources(frames, session.selection)
    loads = [c for c in chart.curves if c.resource >= 0]
    assert [c.resource for c in loads] == chosen
    middle = len(loads[0].time) // 2
    at = loads[0].time[middle]
    assert loads[0].value[middle] == pytest.approx(
        frames.run.busy(chosen[0], at - 0.5 / 1600, at + 0.5 / 1600), rel=1e-6
    )
    # a press on a curve looks at that instant, in lanes, ruler and canvas
    y = chart._curve_top(1) + 20
    QTest.mouseClick(chart, LEFT, NONE, QPoint(round(chart.x_of(0.4)), y))
    assert session.moment == pytest.approx(0.4, abs=0.01)
    assert chart.moment == session.moment
    assert window.time_bar.ruler.moment == session.moment


def test_each_workload_has_lanes_below_its_title(player: Player):
    frames, found = player.session.frames, player.session.simulation
    assert frames is not None
    assert found is not None
    rows = rows_of(frames.run, found.titles)
    heads = [row for row in rows if row.is_head]
    assert [row.title for row in heads] == [found.titles[name] for name in ("resnet-50", "storage-to-gpus")]
    assert "steps done" in heads[0].note
    first = next(row for row in rows if row.program == "resnet-50" and row.step == "step")
    assert first.title == "Steps"


def test_without_a_run_the_lanes_say_how_to_get_one(window: MainWindow, player: Player):
    assert window.places is not None
    window.show_panel("gantt")
    player.clear()
    panel = window.places.panels["gantt"]
    panel.flush()
    assert isinstance(panel, GanttPanel)
    assert panel.empty.isVisibleTo(panel)
    assert "F6" in panel.empty.text.text()


def test_what_held_a_program_up_is_marked_on_its_rows_and_on_the_ruler(
    window: MainWindow, player: Player, qtbot: QtBot
):
    """The drive path of the reader is gone from 0.1 s to 0.3 s: stated on its rows and nowhere else."""
    before = player.session.simulation
    events = (Event("psw3--gpu3", 0.1, 0.0), Event("psw3--gpu3", 0.3, 1.0))
    player.set_scenario(Scenario(("storage-to-gpus", "all-reduce"), events=events, until=0.5))
    qtbot.waitUntil(lambda: player.session.simulation not in (None, before) and not player.busy, timeout=30_000)
    window.show_panel("gantt")
    assert window.places is not None
    panel = window.places.panels["gantt"]
    assert isinstance(panel, GanttPanel)
    chart = panel.chart
    qtbot.waitUntil(lambda: {row.program for row in chart.rows} == {"storage-to-gpus", "all-reduce"}, timeout=5_000)
    rows = {row.program: 20 + 22 * number + 11 for number, row in reversed(list(enumerate(chart.rows)))}
    assert "psw3--gpu3 is gone for 200 ms" in chart.text_at(chart.x_of(0.2), rows["storage-to-gpus"])
    assert "gone" not in chart.text_at(chart.x_of(0.4), rows["storage-to-gpus"])
    assert "gone" not in chart.text_at(chart.x_of(0.2), rows["all-reduce"])
    # hatched in the colour of what is bad, there alone
    bad = QColor(chart.theme.bad).rgb()
    image = chart.grab().toImage()
    ratio = image.devicePixelRatio()

    def painted(at: float, row: str) -> bool:
        x, y = round(chart.x_of(at) * ratio), rows[row] - 11
        return any(image.pixel(x + dx, round((y + dy) * ratio)) == bad for dx in range(12) for dy in range(5, 14))

    assert painted(0.2, "storage-to-gpus")
    assert not painted(0.42, "storage-to-gpus")
    assert not painted(0.2, "all-reduce")
    assert [round(begin, 3) for begin, _, _ in window.time_bar.ruler.hits] == [0.1]
