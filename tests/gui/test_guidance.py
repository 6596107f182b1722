"""What the window says where there is nothing to show, and where the way on leads; measurements in their dock."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from designer.findings import Severity
from designer.gui.dialogs.workload_dialog import WorkloadDialog
from designer.gui.main_window import MainWindow
from designer.gui.panels._figures import EmptyPage, FiguresPanel
from designer.gui.panels.measured import MeasuredPanel
from designer.gui.viewmodels import flow
from designer.gui.viewmodels.table import sentence_case
from designer.gui.workers import Newest

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def shown(window: MainWindow) -> MainWindow:
    window.resize(1280, 800)
    return window


def settle(window: MainWindow, bot: QtBot) -> None:
    document = window.document
    assert document is not None
    session = document.session
    bot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=30_000)
    bot.waitUntil(lambda: len(session.analysis.workloads) == len(session.design.workloads), timeout=30_000)  # type: ignore[union-attr]


def buttons(page: EmptyPage) -> dict[str, QPushButton]:
    return {b.text(): b for b in page.findChildren(QPushButton)}


def test_an_empty_canvas_tells_how_to_begin_until_something_stands_on_it(shown: MainWindow, qtbot: QtBot) -> None:
    shown.new_document()
    canvas = shown.canvas
    assert canvas is not None
    QApplication.processEvents()
    assert canvas.blank.isVisible()
    assert canvas.rect().contains(canvas.blank.geometry())
    # what lies below takes the clicks
    assert canvas.childAt(canvas.blank.geometry().center()) is None
    canvas.add_part("server", "")
    assert not canvas.blank.isVisible()
    shown.run("edit.undo")
    assert canvas.blank.isVisible()


def test_a_design_without_workload_offers_to_add_one(shown: MainWindow, qtbot: QtBot) -> None:
    shown.new_document()
    assert shown.places is not None
    panel = shown.places.answer
    panel.flush()
    add = next(b for b in panel.findChildren(QPushButton) if b.text().startswith("Add a workload"))
    assert add.isVisible()
    opened: list[bool] = []

    def look() -> None:
        found = [w for w in QApplication.topLevelWidgets() if isinstance(w, WorkloadDialog) and w.isVisible()]
        opened.append(bool(found))
        found[0].reject()

    QTimer.singleShot(0, look)
    qtbot.mouseClick(add, LEFT)
    assert opened == [True]


def test_a_dock_without_figures_leads_to_a_workload_that_has_some(shown: MainWindow, qtbot: QtBot) -> None:
    shown.open_template("hgx-h100-8")
    settle(shown, qtbot)
    document = shown.document
    assert document is not None
    assert shown.places is not None
    session = document.session
    session.set_workload("h2d")
    settle(shown, qtbot)
    shown.show_panel("scaling")
    panel = shown.places.panels["scaling"]
    assert isinstance(panel, FiguresPanel)
    panel.flush()
    offered = buttons(panel.empty)
    training = [w for w in session.design.workloads.values() if w.kind == "training"]
    assert set(offered) == {f"Show “{w.title}”" for w in training}
    qtbot.mouseClick(next(iter(offered.values())), LEFT)
    assert session.design.workloads[session.workload].kind == "training"
    settle(shown, qtbot)
    panel.flush()
    assert panel.figures()


def test_long_findings_are_broken_into_lines(shown: MainWindow, qtbot: QtBot) -> None:
    shown.open_template("vsphere-cluster-4")
    settle(shown, qtbot)
    document = shown.document
    assert document is not None
    assert shown.places is not None
    document.session.set_workload("evacuate")
    settle(shown, qtbot)
    shown.show_panel("findings")
    panel = shown.places.findings
    panel.flush()
    QApplication.processEvents()
    table = panel.table
    texts = [line.cells[1].text for line in table.lines.lines]
    longest = max(range(len(texts)), key=lambda k: len(texts[k]))
    metrics = table.fontMetrics()
    lines = metrics.horizontalAdvance(texts[longest]) / table.columnWidth(1)
    assert lines > 1
    assert table.rowHeight(longest) >= lines * metrics.height()
    names = {p.id for p in document.session.design.parts.values()}
    words = [t.split()[0] for t in texts]
    assert all(word[0].isupper() or word in names for word in words if word.isalpha())
    # without remarks only what has to be mended is left
    panel.kinds[Severity.INFO].click()
    panel.flush()
    left = [line.cells[1].text for line in table.lines.lines]
    assert 0 < len(left) < len(texts)
    assert {line.cells[0].tip for line in table.lines.lines} <= {"error", "warning"}


def test_a_message_is_as_wide_as_its_text(shown: MainWindow) -> None:
    QApplication.processEvents()
    text = "imported 1 server, 8 GPUs, 1 NIC, 2 sockets with 10 remarks, see Checks"
    toast = shown.toasts.say(text)
    QApplication.processEvents()
    assert toast.text.startswith("Imported")
    # two lines at most, and no empty room around them
    assert toast.height() < 2.4 * toast.fontMetrics().height() + 30


def test_names_keep_their_case() -> None:
    assert sentence_case("select a part first") == "Select a part first"
    assert sentence_case("gpu0: no such part") == "gpu0: no such part"
    assert sentence_case("topo.txt cannot be read") == "topo.txt cannot be read"
    assert sentence_case("") == ""


def test_channels_are_reported_with_the_kind_of_their_link() -> None:
    assert flow.channel_title("cpu0 → psw0 (pcie)") == "cpu0 → psw0 (PCIe)"
    assert flow.channel_title("gpu0 → nvsw0 (nvlink ×4)") == "gpu0 → nvsw0 (NVLink ×4)"
    assert flow.channel_title("NVIDIA H100 SXM5 80 GB (arithmetic)") == "NVIDIA H100 SXM5 80 GB (arithmetic)"
    assert flow.channel_title("room on the hosts") == "room on the hosts"


def test_jobs_report_on_the_thread_of_the_window(qtbot: QtBot) -> None:
    jobs, heard = Newest(), list[threading.Thread]()
    jobs.finished.connect(lambda _ticket, _result: heard.append(threading.current_thread()))
    ran: list[threading.Thread] = []
    jobs.submit(lambda _cancelled: ran.append(threading.current_thread()))
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [threading.main_thread()]
    assert ran != heard
    jobs.close()


def case(name: str, value: str, size: str = "1 GiB") -> dict[str, object]:
    settings = {"collective": "all-reduce", "group": "gpus", "size": size}
    return {
        "id": name,
        "source": "a test",
        "design": "hgx-h100-8",
        "metric": "bus_bandwidth",
        "value": value,
        "workload": {"kind": "collective", "settings": settings},
    }


def test_measurements_stand_beside_their_predictions(shown: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    shown.open_template("hgx-h100-8")
    settle(shown, qtbot)
    file = tmp_path / "ours.json"
    cases = [case("large", "450 GB/s"), case("far-off", "90 GB/s"), case("odd", "1 GB/s") | {"design": "no-such"}]
    file.write_text(json.dumps({"format": "designer-cases", "version": 1, "cases": cases}))
    shown.run("analyze.measured")
    assert shown.places is not None
    panel = shown.places.panels["measured"]
    assert isinstance(panel, MeasuredPanel)
    assert panel.opener.isVisible()
    panel.predict([file])
    qtbot.waitUntil(lambda: panel._found is not None, timeout=60_000)
    panel.flush()
    QApplication.processEvents()
    # the worst first
    assert [line.key for line in panel.table.lines.lines] == ["far-off", "large"]
    assert panel.table.isVisible()
    assert panel.headline.text().startswith("2 measurements, error")
    assert "1 could not be read" in panel.headline.text()
    assert [v.figure is not None for v in panel._views] == [True]


def test_stopping_predictions_leaves_the_page_as_it_was(shown: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    shown.open_template("hgx-h100-8")
    settle(shown, qtbot)
    file = tmp_path / "many.json"
    cases = [case(f"c{k}", "450 GB/s", f"{k + 1} MiB") for k in range(200)]
    file.write_text(json.dumps({"format": "designer-cases", "version": 1, "cases": cases}))
    assert shown.places is not None
    shown.show_panel("measured")
    panel = shown.places.panels["measured"]
    panel.predict([file])
    assert panel.stopper.isVisible()
    qtbot.mouseClick(panel.stopper, LEFT)
    assert panel.opener.isVisible()
    qtbot.waitUntil(lambda: not panel._jobs.busy, timeout=30_000)
    assert panel._found is None
