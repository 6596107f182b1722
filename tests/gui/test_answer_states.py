"""The state of an answer is shown as what it is: computing, none, out of date, refused, cannot run, answered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from designer.design.edits.workloads import ChangeWorkload
from designer.gui import workers
from designer.gui.main_window import MainWindow
from designer.gui.session import Session
from designer.gui.workers import study
from designer.present.blocks import State

TEMPLATE = "hgx-h100-8"
LLAMA = "llama-2-7b-fsdp"


def texts(panel: QWidget) -> list[str]:
    """Everything a panel says."""
    return [x.text() for x in panel.findChildren(QLabel) if x.isVisibleTo(panel)]


def button(panel: QWidget, name: str) -> QPushButton:
    """The first button of a name."""
    return next(b for b in panel.findChildren(QPushButton) if name in (b.text(), b.accessibleName()))


def opened(window: MainWindow, qtbot: QtBot) -> Session:
    window.open_template(TEMPLATE)
    assert window.document is not None
    session = window.document.session
    session.set_workload(LLAMA)
    qtbot.waitUntil(lambda: session.state is State.ANSWERED, timeout=60_000)
    window.show_panel("answer")
    return session


def set_sharding(session: Session, sharding: str) -> None:
    settings = {**session.design.workloads[LLAMA].settings, "sharding": sharding}
    session.apply(ChangeWorkload(LLAMA, {"settings": settings}))


def test_what_does_not_fit_is_said_first_and_the_button_makes_it_fit(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot)
    assert window.places is not None
    flow = window.places.answer
    done = session.history.done
    set_sharding(session, "none")
    qtbot.waitUntil(lambda: session.state is State.UNFIT and bool(session.fitting), timeout=60_000)
    flow.flush()
    qtbot.waitUntil(lambda: "If it did fit" in texts(flow))
    said = texts(flow)
    # 6.74 G parameters at 2 + 4 + 12 bytes are 121 GB, and activations come on top: more than 85.5 GB
    assert said[0] == "Cannot run"
    assert "143 GB" in said[1]
    assert "85.5 GB" in said[1]
    box = flow._change_box
    assert box.mapTo(flow, box.rect().topLeft()).y() < flow.unfit.mapTo(flow, flow.unfit.rect().topLeft()).y()
    assert "cannot run" in window.places.head.live.text()
    assert window.places.head.live.colour == window.theme.bad
    assert window.canvas is not None
    assert not window.canvas.scene.view_state.loads.known
    assert session.fitting is not None
    for one in session.fitting:
        assert one.result.metrics["memory_per_gpu"].value < 85.5e9
    qtbot.mouseClick(button(flow, "Apply"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.state is State.ANSWERED, timeout=60_000)
    assert session.result is not None
    assert session.result.metrics["memory_per_gpu"].value == pytest.approx(
        session.fitting[0].result.metrics["memory_per_gpu"].value if session.fitting else 72.0e9, rel=0.01
    )
    assert session.history.done == done + 2
    session.undo()
    qtbot.waitUntil(lambda: session.state is State.UNFIT, timeout=60_000)


def test_the_change_that_helps_is_found_without_a_press_and_drawn_by_one(window: MainWindow, qtbot: QtBot) -> None:
    """A ninth drive brings 61.7 of 54.8 GB/s; copies from the host have no change that helps."""
    session = opened(window, qtbot)
    assert window.places is not None
    answer = window.places.answer
    session.set_workload("storage-to-gpus")
    qtbot.waitUntil(lambda: session.helps is not None, timeout=60_000)
    answer.flush()
    assert "Add Drive 8, a copy of Drive 0" in texts(answer)
    before, done = len(session.design.parts), session.history.done
    qtbot.mouseClick(button(answer, "Apply"), Qt.MouseButton.LeftButton)
    assert len(session.design.parts) == before + 1
    assert session.history.done == done + 1
    session.undo()
    session.set_workload("h2d")
    qtbot.waitUntil(lambda: session.helps is not None, timeout=60_000)
    answer.flush()
    assert "No single change to parts, links or routes helps." in texts(answer)


def test_the_finding_of_too_little_memory_can_be_mended(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot)
    set_sharding(session, "none")
    qtbot.waitUntil(lambda: bool(session.fitting), timeout=60_000)
    window.show_panel("findings")
    assert window.places is not None
    findings = window.places.findings
    findings.flush()
    assert window.places.tabs.tabText(2) == "Checks 1"
    assert "1 error" in window.places.tabs.tabToolTip(2)
    row = next(k for k, line in enumerate(findings.table.lines.lines) if line.cells[3].text == "TRAIN-MEMORY")
    findings.table.selectRow(row)
    assert findings.mend.isEnabled()
    assert findings.mend.text() == "Shard the optimizer (ZeRO-1)"
    qtbot.mouseClick(findings.mend, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.state is State.ANSWERED, timeout=60_000)
    assert session.design.workloads[LLAMA].settings["sharding"] == "optimizer"


def test_a_served_model_that_is_refused_gets_the_width_that_fits(window: MainWindow, qtbot: QtBot) -> None:
    window.open_template("serving-h100-8")
    assert window.document is not None
    session = window.document.session
    session.set_workload("chat-70b")
    session.apply(
        ChangeWorkload("chat-70b", {"settings": {**session.design.workloads["chat-70b"].settings, "tensor": 1}})
    )
    qtbot.waitUntil(lambda: session.state is State.REFUSED and bool(session.fitting), timeout=60_000)
    window.show_panel("answer")
    assert window.places is not None
    flow = window.places.answer
    flow.flush()
    qtbot.waitUntil(lambda: "No answer" in texts(flow)[:2])
    assert "no answer" in window.places.head.live.text()
    qtbot.mouseClick(button(flow, "Apply"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.state is State.ANSWERED, timeout=60_000)
    assert session.design.workloads["chat-70b"].settings["tensor"] == 2


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Analyses wait until the event is set, as those of large designs do for seconds."""
    go = threading.Event()

    def slow(*args: Any) -> Any:
        cancelled: Callable[[], bool] = args[3]
        args[4](0.25, "routes")
        while not go.wait(0.01):
            if cancelled():
                break
        return study(*args)

    monkeypatch.setattr(workers, "study", slow)
    yield go
    go.set()


@pytest.mark.parametrize("dock", ["answer", "links", "timeline", "scaling", "migration", "tables", "findings"])
def test_while_the_first_answer_is_computed_every_panel_says_so(
    window: MainWindow, qtbot: QtBot, held: threading.Event, dock: str
) -> None:
    window.open_template(TEMPLATE)
    assert window.document is not None
    session = window.document.session
    assert session.state is State.COMPUTING
    assert "computing" in window.places.head.live.text()
    window.show_panel(dock)
    assert window.places is not None
    panel = window.places.panels[dock]
    qtbot.waitUntil(lambda: session.progress == (0.25, "routes"))
    panel.flush()
    qtbot.waitUntil(lambda: bool(texts(panel)))
    said = " ".join(texts(panel))
    assert "omputing" in said or "routes" in said, said
    for lie in ("No workload", "0 ms", "Nothing", "No channel", "No findings"):
        assert lie not in said
    assert "0 ms" not in window.places.head.live.text()
    held.set()
    qtbot.waitUntil(lambda: session.state is State.ANSWERED, timeout=60_000)
    qtbot.waitUntil(lambda: "up to date" in window.places.head.live.text())


def test_a_cancelled_first_answer_is_not_computed_and_can_be(
    window: MainWindow, qtbot: QtBot, held: threading.Event
) -> None:
    window.open_template(TEMPLATE)
    assert window.document is not None
    session = window.document.session
    window.show_panel("answer")
    assert window.places is not None
    flow = window.places.answer
    flow.flush()
    qtbot.mouseClick(button(flow, "Cancel"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.state is State.STALE)
    flow.flush()
    qtbot.waitUntil(lambda: "No answer for this design yet." in texts(flow))
    assert "out of date" in window.places.head.live.text()
    held.set()
    qtbot.mouseClick(button(flow, "Update now"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.state is State.ANSWERED, timeout=60_000)


def test_an_edit_without_live_updates_leaves_the_answer_marked(window: MainWindow, qtbot: QtBot) -> None:
    session = opened(window, qtbot)
    assert window.document is not None
    window.document.live.enabled = False
    set_sharding(session, "optimizer")
    assert session.state is State.STALE
    assert window.places is not None
    flow = window.places.answer
    qtbot.waitUntil(lambda: "Out of date" in texts(flow), timeout=5000)
    assert window.canvas is not None
    assert window.canvas.scene.view_state.stale
    window.document.live.enabled = True
    qtbot.mouseClick(button(flow, "Update now"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.state is State.ANSWERED, timeout=60_000)
    flow.flush()
    assert "Out of date" not in texts(flow)


def test_a_design_without_workloads_says_what_would_fill_the_panel(window: MainWindow, qtbot: QtBot) -> None:
    window.new_document()
    assert window.document is not None
    assert window.document.session.state is State.NONE
    window.show_panel("answer")
    assert window.places is not None
    flow = window.places.answer
    flow.flush()
    qtbot.waitUntil(lambda: "No workload yet" in texts(flow))
    assert button(flow, "Add a workload…").isVisible()


def test_a_panel_without_a_page_says_nothing(qtbot: QtBot) -> None:
    """Until the first page is there, none of what a page may have is seen."""
    from designer.gui import theme
    from designer.gui.panels.answer import AnswerPanel

    panel = AnswerPanel(theme.LIGHT)
    qtbot.addWidget(panel)
    panel.show()
    assert not [text for text in texts(panel) if text]
    assert not [b for b in panel.findChildren(QPushButton) if b.isVisible()]


def test_how_long_an_answer_took_gives_way_to_a_narrow_panel(window: MainWindow, qtbot: QtBot) -> None:
    opened(window, qtbot)
    assert window.places is not None
    shown = window.places.head.live
    qtbot.waitUntil(lambda: "   " in shown.text())
    room = shown.fontMetrics().horizontalAdvance(shown.text())
    shown.setFixedWidth(room - 1)
    qtbot.waitUntil(lambda: shown.text() == "● up to date")
    shown.setFixedWidth(room)
    qtbot.waitUntil(lambda: "   " in shown.text())
