"""What to change is asked for, applied by one press and undone; failures colour the drawing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from designer.analysis.study import analyze, run_workload
from designer.decisions.failures_survey import survive
from designer.decisions.serving_size import size_serving
from designer.decisions.suggest import suggest
from designer.design.document import Design, WorkloadSpec
from designer.design.edits.properties import SetPolicy
from designer.engine.network import build_network
from designer.families.serving.deployment import Serving
from designer.families.serving.tasks import Serve
from designer.gui import theme
from designer.gui.panels.improve import ImprovePanel
from designer.gui.session import Session
from designer.gui.viewmodels.overlay import of_failures
from designer.interchange.templates import open_design
from designer.present.blocks import Page
from designer.workload.kind import task_of

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def panel(qapp: QApplication) -> Iterator[ImprovePanel]:
    made = ImprovePanel(theme.LIGHT)
    made.resize(1100, 700)
    made.show()
    yield made
    made.set_session(None)
    made.close_jobs()
    made.hide()
    made.deleteLater()
    qapp.processEvents()


def ask(panel: ImprovePanel, qtbot: QtBot, question: str) -> Page:
    panel.flush()
    QTest.mouseClick(panel.asked[question], LEFT)
    qtbot.waitUntil(lambda: panel.answer is not None, timeout=60_000)
    assert panel.answer is not None
    return panel.answer.page


def texts(panel: ImprovePanel) -> list[str]:
    """What is written in the rows of the table."""
    return [cell.text for line in panel.view.table.lines.lines for cell in line.cells]


def test_a_suggestion_is_applied_by_one_press_and_undone(panel: ImprovePanel, qtbot: QtBot) -> None:
    design = open_design("vsphere-cluster-4")
    session = Session(design)
    session.set_workload("evacuate")
    panel.set_session(session)
    page = ask(panel, qtbot, "suggest")
    found = suggest(design, "evacuate")
    cards = panel.view.cards.shown
    assert len([c for c in page.changes if c.edit is not None]) == len(found.steps)
    done = session.history.done
    QTest.mouseClick(cards[0].button, LEFT)
    assert session.history.done == done + 1
    after = run_workload(build_network(session.design), session.design.workloads["evacuate"], False)[0]
    assert after.metrics[found.metric].value == pytest.approx(found.steps[0].after, rel=1e-12)
    assert panel.answer is None, "the answer belonged to the design before"
    session.undo()
    assert session.design == design


def test_a_card_draws_what_the_cards_above_it_draw_too(panel: ImprovePanel, qtbot: QtBot) -> None:
    """Each step starts from the design the step before leaves: the last card alone comes to the last value."""
    design = open_design("serving-l40s-4")
    session = Session(design)
    session.set_workload("storage-to-gpus")
    panel.set_session(session)
    ask(panel, qtbot, "suggest")
    found = suggest(design, "storage-to-gpus")
    assert len(found.steps) > 1
    cards = [card for card in panel.view.cards.shown if card.button.isVisible()]
    QTest.mouseClick(cards[len(found.steps) - 1].button, LEFT)
    assert len(session.history.steps) == 1
    spec = session.design.workloads["storage-to-gpus"]
    after = run_workload(build_network(session.design), spec, False)[0]
    assert after.metrics[found.metric].value == pytest.approx(found.steps[-1].after, rel=1e-12)


def test_failures_colour_the_drawing_until_the_design_changes(panel: ImprovePanel, qtbot: QtBot) -> None:
    session = Session(open_design("hgx-a100-4"))
    session.set_workload("h2d")
    panel.set_session(session)
    page = ask(panel, qtbot, "survive")
    assert session.overlay is not None
    assert "single failure" in page.headline
    assert panel.view.headline.text() == page.headline
    QTest.mouseClick(panel.clear, LEFT)
    assert session.overlay is None
    session.set_overlay(of_failures(session.design, survive(session.design, "h2d")))
    session.apply(SetPolicy({"gpudirect": False}))
    assert session.overlay is None, "it belonged to the design before"


def test_the_heat_of_a_link_is_what_its_loss_costs() -> None:
    """Without the link of a GPU that GPU gets nothing: one of four equal shares of the copies is lost, 25 %."""
    design = open_design("hgx-a100-4")
    state = of_failures(design, survive(design, "h2d")).state
    net = build_network(design).net
    number = next(k for k in range(net.n_links) if net.link_path(k) == "cpu0--gpu0")
    assert state.utilization[2 * number] == state.utilization[2 * number + 1] == pytest.approx(0.25, abs=1e-6)
    assert state.title == "Throughput lost without it"
    assert state.activity is not None
    at = int(np.flatnonzero(state.activity.parts == net.index_of("gpu0"))[0])
    assert state.activity.busy[at] == pytest.approx(0.25, abs=1e-6)


def serving(**settings: object) -> Session:
    given = {"model": "llama-3-70b", "weights": "fp8", "release": "0.12.0", "prompt": 2000, "count": 300, **settings}
    spec = WorkloadSpec(id="chat", kind="serving", title="Chat", settings=given)
    session = Session(open_design("hgx-h100-8").model_copy(update={"workloads": {"chat": spec}}))
    session.set_workload("chat")
    return session


def asked_of(design: Design) -> Serving:
    found = task_of("serving", design.workloads["chat"].settings, "workloads.chat", Serve)
    assert found is not None
    return found.operation


def test_how_many_gpus_a_load_takes_is_shown_and_applied(panel: ImprovePanel, qtbot: QtBot) -> None:
    """What the command line finds is on the cards; a press places the smallest layout, and can be undone."""
    session = serving(rate="6 1/s", ttft_limit="1 s")
    panel.set_session(session)
    page = ask(panel, qtbot, "size")
    found = size_serving(build_network(session.design), asked_of(session.design), "workloads.chat")
    best = found.best
    assert best is not None
    assert page.headline.startswith(f"6 requests/s need {best.accelerators} GPU")
    assert "8 are drawn and serve" in page.headline
    card = panel.view.cards.shown[0]
    assert card.title.text().startswith(f"{best.accelerators} GPU")
    assert len(texts(panel)) == 5 * len(found.candidates)
    before = session.design
    QTest.mouseClick(card.button, LEFT)
    settings = session.design.workloads["chat"].settings
    assert (settings["tensor"], settings["replicas"]) == (best.tensor, best.replicas)
    qtbot.waitUntil(lambda: panel.answer is not None, timeout=60_000)
    session.undo()
    assert session.design == before
    assert panel.answer is None


def test_a_load_without_a_rate_has_no_size_and_says_why(panel: ImprovePanel, qtbot: QtBot) -> None:
    panel.set_session(serving(load="clients"))
    panel.flush()
    QTest.mouseClick(panel.asked["size"], LEFT)
    qtbot.waitUntil(lambda: "arrive" in panel.words.text(), timeout=60_000)
    assert panel.answer is None


def test_only_served_models_are_sized(panel: ImprovePanel) -> None:
    session = Session(open_design("hgx-a100-4"))
    session.set_workload("h2d")
    panel.set_session(session)
    panel.flush()
    assert panel.asked["survive"].isVisible()
    assert not panel.asked["size"].isVisible()


def test_before_a_question_what_limits_is_shown_with_its_gain(panel: ImprovePanel, qtbot: QtBot) -> None:
    session = Session(open_design("hgx-h100-8"))
    session.set_workload("llama-2-7b-fsdp")
    session.set_analysis(analyze(session.design, [session.workload], curves=False))
    panel.set_session(session)
    panel.flush()
    rows = [row for row in panel.view.limits.held if not row.isHidden()]
    assert rows[0].name.full.startswith("GPU arithmetic")
    assert rows[0].gain.text().startswith("twice: +")


def test_the_panel_needs_no_more_room_while_it_waits_to_be_filled(qapp: QApplication) -> None:
    """Buttons for answers that are not there would push the sides of a small window together."""
    made = ImprovePanel(theme.LIGHT)
    try:
        assert made.minimumSizeHint().width() < 400
    finally:
        made.deleteLater()


def test_the_page_names_parts_as_the_drawing_does(panel: ImprovePanel, qtbot: QtBot) -> None:
    session = Session(open_design("hgx-h100-8"))
    session.set_workload("h2d")
    panel.set_session(session)
    page = ask(panel, qtbot, "suggest")
    assert "CPU 0" in " ".join((page.headline, *page.remarks))
    assert "psw" not in " ".join((page.headline, *page.remarks))
    ask(panel, qtbot, "survive")
    assert any("PCIe switch" in text for text in texts(panel))
    assert not any("psw" in text for text in texts(panel)), texts(panel)
