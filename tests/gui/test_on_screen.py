"""What covers, cuts or mislabels things on screen, by real events."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.drawing.batches import Labels
from designer.drawing.compose_badges import badges
from designer.gui.dialogs.racks_dialog import RacksDialog
from designer.gui.main_window import MainWindow
from designer.gui.viewmodels import sweep
from designer.gui.viewmodels.plots import busy_curve
from designer.gui.viewmodels.scenario import Event, Scenario
from designer.gui.viewmodels.sweep import Varied
from designer.pages.instant import busy_at


def test_racks_open_where_the_first_server_is(window: MainWindow, qtbot: QtBot) -> None:
    """One server at the bottom of a rack that is higher than the dialog."""
    window.open_template("hgx-h100-8")
    window.run("view.racks")
    dialog = next(w for w in QApplication.topLevelWidgets() if isinstance(w, RacksDialog) and w.isVisible())
    dialog.resize(900, 420)
    dialog.hide()
    dialog.show()
    view = dialog.view
    unit = view.plan.racks[0].units[0]
    box = view.box(0, unit.at, unit.height)
    assert view.height() > dialog.area.viewport().height(), "the rack does not fit: else nothing has to be brought"

    def in_sight() -> bool:
        top = view.mapTo(dialog.area.viewport(), QPoint(0, round(box.top()))).y()
        return 0 <= top < dialog.area.viewport().height()

    qtbot.waitUntil(in_sight, timeout=3000)


def test_messages_leave_what_is_selected_free(window: MainWindow, qtbot: QtBot) -> None:
    """A part at the lower end of the canvas is selected: the message goes above."""
    window.open_template("hgx-h100-8")
    canvas, document = window.canvas, window.document
    assert canvas is not None
    assert document is not None
    qtbot.waitUntil(lambda: document.session.analysis is not None and not document.session.stale, timeout=60_000)
    document.session.select([((), Ref("parts", "server"))])
    box = canvas.scene.box_of(((), Ref("parts", "nvsw1")))
    assert box is not None
    x, y, wide, high = canvas.scene.geometry.rect[box].tolist()
    scale = canvas.view.scale
    # the switch stands where messages come
    left, top = canvas.view.to_view(x + wide / 2, y + high / 2)
    canvas.set_view(canvas.view.panned(canvas.width() / 2 - left, canvas.height() - 40 - top))
    assert canvas.view.scale == scale
    document.session.select([((), Ref("parts", "nvsw1"))])
    window.say("The file was saved")
    toasts = window.toasts
    corner = canvas.mapTo(window._over, QPoint(0, 0))
    for rect in canvas.in_question():
        assert not toasts.geometry().intersects(rect.translated(corner)), (toasts.geometry(), rect)


def test_the_share_that_is_busy_is_that_of_the_curve(window: MainWindow, qtbot: QtBot) -> None:
    """Between two steps nothing computes at that instant; the curve and its words show the mean of the same time."""
    window.open_template("hgx-h100-8")
    assert window.document is not None
    player = window.document.player
    player.set_scenario(Scenario(("llama-2-7b-fsdp",), until=60.0))
    qtbot.waitUntil(lambda: player.session.frames is not None, timeout=60_000)
    frames = player.session.frames
    assert frames is not None
    (curve,) = busy_curve(frames, 0.0, frames.end)
    for k in range(61):
        moment = frames.end * k / 60
        assert abs(busy_at(frames, moment) - curve.at(moment)) < 0.5
    assert busy_at(frames, 0.0) > 0.9
    player.seek(15.0)
    window.time_bar._show_limit()
    shown = window.time_bar.binds.text()
    assert f"Processors busy now: {busy_at(frames, player.session.moment) * 100:.0f}%" in shown


def test_a_failed_drive_is_called_failed(window: MainWindow, qtbot: QtBot) -> None:
    window.open_template("hgx-h100-8")
    assert window.document is not None
    assert window.canvas is not None
    session, player = window.document.session, window.document.player
    path = "server/nvme0" if "server/nvme0" in session.design.parts else "nvme0"
    player.set_scenario(Scenario(("storage-to-gpus",), events=(Event(path, 0.2, 0.0),), until=1.0))
    qtbot.waitUntil(lambda: player.session.frames is not None, timeout=60_000)
    player.seek(0.6)
    qtbot.wait(50)
    state, frame = window.canvas.scene.view_state, window.canvas.frame()
    assert state.loads.box_failed.sum() == 1
    assert not (state.loads.box_bottleneck[state.loads.box_failed]).any()
    assert not (state.loads.bottleneck & state.loads.failed).any()
    found = badges(state, frame, (-1e6, -1e6, 2e6, 2e6))
    words = [label.text for batch in found if isinstance(batch, Labels) for label in batch.labels]
    assert words.count("failed") == 1
    player.seek(0.1)
    qtbot.wait(50)
    assert not window.canvas.scene.view_state.loads.box_failed.any()


def test_bare_numbers_of_a_sweep_take_the_unit_of_the_value() -> None:
    rate = Varied("workloads.chat.rate", "Requests", "6 1/s")
    assert sweep.with_units(rate, "1..12*1.1") == "1 1/s..12 1/s*1.1"
    assert sweep.with_units(rate, "1,2, 4") == "1 1/s,2 1/s,4 1/s"
    assert sweep.with_units(rate, "1 1/s,2") == "1 1/s,2 1/s"
    assert sweep.with_units(Varied("x", "Batch", "64"), "64..128+64") == "64..128+64"


def test_a_question_opens_what_answers_it(window: MainWindow, qtbot: QtBot) -> None:
    window.show()
    window.start.fill()
    question = next(q for q in window.start.questions if "training" in q.accessibleName())
    qtbot.mouseClick(question, Qt.MouseButton.LeftButton)
    document = window.document
    assert document is not None
    assert document.session.workload == "llama-2-7b-fsdp"
    assert window.places is not None
    page = window.places.answer
    qtbot.waitUntil(lambda: page.page is not None and page.page.key == "llama-2-7b-fsdp", timeout=60_000)
    assert page.isVisible()
    assert page.headline.text().startswith("Trains in")


def test_templates_are_filtered_and_the_search_keeps_the_keys(window: MainWindow, qtbot: QtBot) -> None:
    window.show()
    window.start.fill()
    start = window.start
    every = len(start.templates.cards)
    qtbot.mouseClick(start.filters["Edge"], Qt.MouseButton.LeftButton)
    assert 0 < len(start.templates.cards) < 6
    start.search.setFocus()
    QTest.keyClicks(start.search, "zzzz")
    assert start.search.hasFocus()
    assert start.nothing.isVisible()
    start.search.clear()
    qtbot.mouseClick(start.filters["All"], Qt.MouseButton.LeftButton)
    assert len(start.templates.cards) == every


def test_links_are_coloured_by_utilization_while_they_are_listed(window: MainWindow, qtbot: QtBot) -> None:
    window.open_template("hgx-h100-8")
    canvas, places = window.canvas, window.places
    assert canvas is not None
    assert places is not None
    QApplication.processEvents()
    assert canvas.scene.colours == "limits"
    window.show_panel("links")
    assert canvas.scene.colours == "utilization"
    window.show_panel("answer")
    assert canvas.scene.colours == "limits"
    window.set_colours("utilization")
    assert canvas.scene.view_state.colours == "utilization"


def test_what_is_selected_takes_the_place_of_the_answer_until_esc(window: MainWindow, qtbot: QtBot) -> None:
    window.open_template("hgx-h100-8")
    canvas, places, document = window.canvas, window.places, window.document
    assert canvas is not None
    assert places is not None
    assert document is not None
    assert places.answer.isVisible()
    document.session.select([((), Ref("parts", "gpu0"))])
    assert places.tabs.tabText(0) == "GPU"
    assert places.inspector.isVisible()
    canvas.setFocus()
    for _ in range(3):
        QTest.keyClick(canvas, Qt.Key.Key_Escape)
    assert not document.session.selection
    assert places.tabs.tabText(0) == "Answer"
    assert places.answer.isVisible()


def test_another_workload_chosen_brings_its_answer(window: MainWindow, qtbot: QtBot) -> None:
    """While a part is selected, choosing a workload asks for its answer."""
    window.open_template("hgx-h100-8")
    places, document = window.places, window.document
    assert places is not None
    assert document is not None
    document.session.select([((), Ref("parts", "gpu0"))])
    assert places.inspector.isVisible()
    chooser = places.head.chooser
    chooser.setCurrentIndex(chooser.findData("resnet-50"))
    chooser.activated.emit(chooser.currentIndex())
    assert document.session.workload == "resnet-50"
    assert places.answer.isVisible()
