"""What to change is asked for, applied by one press and undone; failures colour the drawing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from designer.analysis.network import build_network
from designer.analysis.study import run_workload
from designer.decisions.failures_survey import survive
from designer.design.document import WorkloadSpec
from designer.design.edits.properties import SetPolicy
from designer.gui import theme
from designer.gui.panels.decisions import DecisionsPanel
from designer.gui.session import Session
from designer.gui.window.failure_heat import heat_of
from designer.interchange.templates import open_design


@pytest.fixture
def panel(qapp: QApplication) -> Iterator[DecisionsPanel]:
    made = DecisionsPanel(theme.LIGHT)
    made.resize(1100, 300)
    made.show()
    yield made
    made.set_session(None)
    made.close_jobs()
    made.hide()
    made.deleteLater()
    qapp.processEvents()


def ask(panel: DecisionsPanel, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: bool(panel.table.lines.lines or panel.failures.lines.lines), timeout=60_000)


def test_a_suggestion_is_applied_by_one_press_and_undone(panel: DecisionsPanel, qtbot: QtBot) -> None:
    design = open_design("vsphere-cluster-4")
    session = Session(design)
    session.set_workload("evacuate")
    panel.set_session(session)
    QTest.mouseClick(panel.suggest, Qt.MouseButton.LeftButton)
    ask(panel, qtbot)
    assert panel.steps is not None
    step, metric = panel.steps.steps[0], panel.steps.metric
    how = QItemSelectionModel.SelectionFlag
    panel.table.selectionModel().select(panel.table.model().index(0, 0), how.ClearAndSelect | how.Rows)
    QTest.mouseClick(panel.apply_, Qt.MouseButton.LeftButton)
    after = run_workload(build_network(session.design), session.design.workloads["evacuate"], False)[0]
    assert after.metrics[metric].value == pytest.approx(step.after, rel=1e-12)
    assert panel.steps is None, "the answer belonged to the design before"
    session.undo()
    assert session.design == design


def test_failures_colour_the_drawing_until_the_design_changes(panel: DecisionsPanel, qtbot: QtBot) -> None:
    session = Session(open_design("hgx-a100-4"))
    session.set_workload("h2d")
    panel.set_session(session)
    QTest.mouseClick(panel.survive, Qt.MouseButton.LeftButton)
    ask(panel, qtbot)
    assert session.survey is not None
    assert "single failures" in panel.words.text()
    QTest.mouseClick(panel.clear, Qt.MouseButton.LeftButton)
    assert session.survey is None
    session.set_survey(survive(session.design, "h2d"))
    session.apply(SetPolicy({"gpudirect": False}))
    assert session.survey is None, "it belonged to the design before"


def test_the_heat_of_a_link_is_what_its_loss_costs() -> None:
    """Without the link of a GPU that GPU gets nothing: one of four equal shares of the copies is lost, 25 %."""
    design = open_design("hgx-a100-4")
    state = heat_of(design, survive(design, "h2d"))
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


def test_how_many_gpus_a_load_takes_is_told_and_applied(panel: DecisionsPanel, qtbot: QtBot) -> None:
    """What the command line finds stands in the table; a press places the smallest way, and can be undone."""
    session = serving(rate="6 1/s", ttft_limit="1 s")
    panel.set_session(session)
    QTest.mouseClick(panel.how_many, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.sized is not None, timeout=60_000)
    assert panel.sized is not None
    best = panel.sized.found.best
    assert best is not None
    assert panel.words.text().startswith(f"6/s of requests, 95% of them within the limits: {best.needed}")
    assert panel.sized.largest is not None
    assert "As it is placed now it serves up to" in panel.words.text()
    shown = [line.cells[2].text for line in panel.sizes.lines.lines]
    assert shown[0] == str(best.accelerators)
    assert len(shown) == len(panel.sized.found.candidates)
    before = session.design
    QTest.mouseClick(panel.apply_, Qt.MouseButton.LeftButton)
    settings = session.design.workloads["chat"].settings
    assert (settings["tensor"], settings["replicas"]) == (best.tensor, best.replicas)
    assert not panel.apply_.isVisible(), "the answer belonged to the design before"
    session.undo()
    assert session.design == before


def test_a_load_without_a_rate_has_no_size_and_says_why(panel: DecisionsPanel, qtbot: QtBot) -> None:
    panel.set_session(serving(load="clients"))
    QTest.mouseClick(panel.how_many, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "arrive" in panel.words.text(), timeout=60_000)
    assert panel.sized is None
    assert not panel.apply_.isVisible()


def test_only_served_models_are_sized(panel: DecisionsPanel) -> None:
    session = Session(open_design("hgx-a100-4"))
    session.set_workload("h2d")
    panel.set_session(session)
    assert not panel.how_many.isVisible()


def test_the_panel_needs_no_more_room_while_it_waits_to_be_filled(qapp: QApplication) -> None:
    """Buttons for answers that are not there would push the sides of a small window together."""
    made = DecisionsPanel(theme.LIGHT)
    try:
        assert made.minimumSizeHint().width() < 400
    finally:
        made.deleteLater()


def test_what_is_told_names_parts_as_the_drawing_does(panel: DecisionsPanel, qtbot: QtBot) -> None:
    session = Session(open_design("hgx-h100-8"))
    session.set_workload("h2d")
    panel.set_session(session)
    QTest.mouseClick(panel.suggest, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "hold it back" in panel.words.text(), timeout=60_000)
    assert "CPU 0 → PCIe switch 0 (PCIe)" in panel.words.text()
    assert "psw" not in panel.words.text()
    QTest.mouseClick(panel.survive, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(panel.failures.lines.lines), timeout=60_000)
    shown = [cell.text for line in panel.failures.lines.lines for cell in line.cells]
    assert any("PCIe switch" in text for text in shown)
    assert not any("psw" in text for text in shown), shown
