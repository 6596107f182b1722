"""Five journeys of the first hour, by mouse and keys, each with the most actions it may take."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from designer.gui.dialogs.workload_dialog import WorkloadDialog
from designer.gui.main_window import MainWindow
from designer.present.blocks import Page, State
from tests.gui.hands import CTRL, SHIFT, Hands, ready
from tests.gui.test_journeys import TOPOLOGY
from tests.gui.test_minute import built, finished

pytestmark = pytest.mark.platform

#: a dense model of 70 billion parameters, as Hugging Face describes it
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_attention_heads": 64,
    "num_hidden_layers": 80,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
    "_name_or_path": "our-70b",
}


def answered(hands: Hands) -> Page:
    """The page of the answer, once it is there."""
    window = hands.window
    hands.qtbot.waitUntil(
        lambda: window.document is not None and hands.session.state in (State.ANSWERED, State.MET, State.MISSED),
        timeout=60_000,
    )
    assert window.places is not None
    panel = window.places.answer
    panel.flush()
    assert panel.page is not None
    return panel.page


def in_sight(hands: Hands, widget: QWidget) -> QWidget:
    hands.qtbot.waitUntil(lambda: widget.isVisible() and not widget.visibleRegion().isEmpty(), timeout=10_000)
    return widget


def test_template_to_answer_takes_one_action(window: MainWindow, qtbot: QtBot) -> None:
    hands = ready(window, qtbot)
    hands.click_on(in_sight(hands, window.start.templates.cards[0]))
    page = answered(hands)
    assert page.headline
    assert [limit for limit in page.limits if limit.now]
    assert hands.actions <= 1


def test_pasted_topology_to_bottleneck_takes_one_action(window: MainWindow, qtbot: QtBot) -> None:
    hands = ready(window, qtbot)
    QGuiApplication.clipboard().setText(TOPOLOGY)
    hands.press(Qt.Key.Key_V, CTRL)
    page = answered(hands)
    assert [limit for limit in page.limits if limit.now]
    assert hands.session.design.parts
    assert hands.actions <= 1


def test_empty_canvas_to_a_mended_bottleneck(window: MainWindow, qtbot: QtBot) -> None:
    """Two servers, a switch and storage, connected at once; the bottleneck is named, tried and mended."""
    hands = ready(window, qtbot)
    built(hands)
    design = hands.session.design
    servers = [p.id for p in design.parts.values() if p.kind == "server"]
    hands.click(servers[0], fx=0.3, fy=0.02)
    hands.click(servers[1], SHIFT, fx=0.3, fy=0.02)
    hands.click("storage0", SHIFT)
    hands.press(Qt.Key.Key_C, think=True)
    hands.click("switch0")
    assert len(hands.session.design.links) == len(design.links) + 21
    finished(hands)
    hands.stalls.close()
    assert hands.actions <= 20


def test_a_70b_config_to_the_missing_server_drawn(window: MainWindow, qtbot: QtBot) -> None:
    """Pasted, 20 requests/s asked for, sized, and the missing server drawn."""
    hands = ready(window, qtbot)
    QGuiApplication.clipboard().setText(json.dumps(CONFIG))
    hands.press(Qt.Key.Key_V, CTRL)
    answered(hands)
    spec = hands.session.design.workloads[hands.session.workload]
    assert "our-70b" in spec.title

    def fill(dialog: QDialog) -> None:
        assert isinstance(dialog, WorkloadDialog)
        rate = dialog.fields["rate"]
        assert isinstance(rate, QLineEdit)
        dialog.area.ensureWidgetVisible(rate)
        hands.click_on(rate)
        hands.press(Qt.Key.Key_A, CTRL)
        hands.type("20")
        hands.press(Qt.Key.Key_Return)

    hands.in_dialog(WorkloadDialog, partial(hands.press, Qt.Key.Key_Return, CTRL), fill)
    answered(hands)
    assert window.places is not None
    panel = window.places.improve
    hands.click_on(in_sight(hands, panel.asked["size"]))
    qtbot.waitUntil(lambda: panel.answer is not None, timeout=120_000)
    assert panel.answer is not None
    assert panel.answer.page.headline.startswith("20 requests/s need ")
    servers = sum(p.kind == "server" for p in hands.session.design.parts.values())
    # cards take their places in the next turns of the event loop
    qtbot.wait(300)
    button = in_sight(hands, panel.view.cards.shown[0].button)
    area = panel.view.findChildren(QScrollArea)[0].viewport()
    assert area.rect().contains(button.mapTo(area, button.rect().center())), "it can be pressed without scrolling"
    hands.click_on(button)
    qtbot.wait(100)
    now = sum(p.kind == "server" for p in hands.session.design.parts.values())
    assert now > servers
    hands.stalls.close()
    assert hands.actions <= 8


def test_training_to_report_and_bill(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    hands = ready(window, qtbot)
    plan = next(q for q in window.start.questions if "training" in q.accessibleName().lower())
    hands.click_on(in_sight(hands, plan))
    page = answered(hands)
    assert page.headline.startswith("Trains in ")
    hands.press(Qt.Key.Key_E, CTRL | SHIFT)
    report = window.reporting.open[hands.session]
    hands.look_at(report)
    report.file.setText(str(tmp_path / "mine"))
    hands.press(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(report.written), timeout=120_000)
    assert all(file.is_file() for file in report.written)
    report.close()
    hands.look_at(window)
    window.activateWindow()
    window.focus_canvas()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is not None, timeout=5000)
    hands.press(Qt.Key.Key_B, CTRL | SHIFT)
    bill = window.billing.open[hands.session]
    qtbot.waitUntil(bill.isVisible, timeout=10_000)
    assert hands.actions <= 5
    bill.close()
