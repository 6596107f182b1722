"""A value swept from the window: asked from the inspector, run with it, drawn, stopped, saved, kept apart."""

from __future__ import annotations

import csv
import io

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.gui.figures.sweep_plot import SweepPlots
from designer.gui.main_window import MainWindow
from designer.gui.panels._sweep import SweepPage
from designer.gui.session import Session
from designer.gui.viewmodels import inspector, sweep
from designer.interchange.templates import open_design

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def opened(window: MainWindow, qtbot: QtBot) -> tuple[MainWindow, Session]:
    window.open_template("hgx-h100-8")
    document = window.document
    assert document is not None
    qtbot.waitUntil(lambda: document.session.analysis is not None and not document.session.stale, timeout=60_000)
    return window, document.session


def run(qtbot: QtBot, page: SweepPage, values: str) -> None:
    page.first.range.setText(values)
    qtbot.mouseClick(page.job.go, LEFT)
    qtbot.waitUntil(lambda: not page.job.busy, timeout=60_000)


def test_batch_against_memory_throughput_and_time(opened: tuple[MainWindow, Session], qtbot: QtBot) -> None:
    """What is asked first where nothing is selected: the batch; more of it takes more memory and less time."""
    window, session = opened
    session.set_workload("resnet-50")
    window.run("analyze.sweep")
    page = window.places.improve.sweep
    assert page.first.varied is not None
    assert page.first.varied.path == "workloads.resnet-50.micro_batch"
    assert page.first.range.text() == "64..1024*2"
    design = session.design
    run(qtbot, page, "64..256*2")
    shown = {plot.metric: plot.lines[0].y for plot in page.plots.view.plots}  # type: ignore[union-attr]
    assert list(shown) == ["memory_per_gpu", "samples_per_second", "time_to_train"]
    assert list(shown["memory_per_gpu"]) == sorted(shown["memory_per_gpu"])
    assert list(shown["time_to_train"]) == sorted(shown["time_to_train"], reverse=True)
    assert session.design is design, "a sweep changes nothing"
    rows = list(csv.DictReader(io.StringIO(page.csv())))
    assert [row["workloads.resnet-50.micro_batch"] for row in rows] == ["64", "128", "256"]
    assert [float(row["memory_per_gpu [B]"]) for row in rows] == list(shown["memory_per_gpu"])
    page.copy_command()
    assert "--vary 'workloads.resnet-50.micro_batch=64..256*2'" in QGuiApplication.clipboard().text()


@pytest.mark.parametrize(("typed", "varies"), [("micro", "batch"), ("nothing of this", "batch"), ("{title}", "other")])
def test_what_stands_in_the_field_is_what_varies(
    opened: tuple[MainWindow, Session], qtbot: QtBot, typed: str, varies: str
) -> None:
    """Words that choose nothing do not stay; a title in small letters is that value."""
    window, session = opened
    session.set_workload("resnet-50")
    window.run("analyze.sweep")
    page = window.places.improve.sweep
    row = page.first
    batch, other = row.varied, row.known[2]
    assert batch is not None
    assert other != batch
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=3000)
    row.value.setFocus()
    line = row.value.lineEdit()
    assert line is not None
    line.selectAll()
    QTest.keyClicks(line, typed.format(title=other.title.lower()))
    QTest.keyClick(row.value, Qt.Key.Key_Tab)
    wanted = {"batch": batch, "other": other}[varies]
    assert row.varied == wanted
    assert row.value.currentText() == wanted.title


def test_a_value_of_a_part_from_the_inspector(opened: tuple[MainWindow, Session], qtbot: QtBot) -> None:
    window, session = opened
    link = next(x.id for x in session.design.links.values() if x.bandwidth_per_direction is not None)
    session.select([((), Ref("links", link))])
    window.show_panel("inspector")
    assert window.places is not None
    window.places.inspector.flush()
    QApplication.processEvents()
    qtbot.mouseClick(window.places.inspector.what_if.sweep, LEFT)
    page = window.places.improve.sweep
    assert page.first.varied is not None
    assert page.first.varied.path == f"links.{link}.bandwidth_per_direction"
    qtbot.mouseClick(page.job.go, LEFT)
    qtbot.waitUntil(lambda: not page.job.busy, timeout=60_000)
    assert page.rows
    assert not any(row.error for row in page.rows)


def test_every_line_of_the_inspector_has_a_path_that_works(opened: tuple[MainWindow, Session]) -> None:
    """What is offered can be done: each path takes its own value."""
    from designer.interchange.overrides import overridden

    _, session = opened
    design = session.design
    selections = [frozenset({((), Ref("parts", p))}) for p in ("gpu0", "nic0", "cpu0", "memory0")]
    selections += [frozenset({((), Ref("links", p))}) for p in list(design.links)[:3]]
    selections += [frozenset(((), Ref("parts", f"gpu{k}")) for k in range(8)), frozenset()]
    found = 0
    for selection in selections:
        form = inspector.inspect(design, selection)
        for entry in (e for s in form.sections for e in s.entries):
            varied = sweep.of_entry(design, form, entry)
            if varied is not None:
                found += 1
                if varied.now:
                    overridden(design, [f"{varied.path}={varied.now}"])
    assert found > 40
    form = inspector.inspect(design, selections[-2])
    paths = {v.path for s in form.sections for e in s.entries if (v := sweep.of_entry(design, form, e))}
    assert "gpu*.memory_capacity" in paths
    three = inspector.inspect(design, frozenset(((), Ref("parts", f"gpu{k}")) for k in range(3)))
    assert not [e for s in three.sections for e in s.entries if sweep.of_entry(design, three, e)]


def test_two_values_lines_switches_axes_and_zoom(opened: tuple[MainWindow, Session], qtbot: QtBot) -> None:
    window, session = opened
    session.set_workload("resnet-50")
    window.run("analyze.sweep")
    page = window.places.improve.sweep
    second = page.second
    second.value.setCurrentIndex(second.value.findData("workloads.resnet-50.precision"))
    second.range.setText("fp16, fp32")
    run(qtbot, page, "64..256*2")
    plots = page.plots
    assert plots.view is not None
    assert [line.name for line in plots.view.plots[0].lines] == ["fp16", "fp32"]
    assert plots.legend.isVisibleTo(page)
    plots.switches["line:fp32"].setChecked(False)
    plots.switches["time_to_train"].setChecked(False)
    assert list(plots.plots) == ["memory_per_gpu", "samples_per_second"]
    plots.log_y.setChecked(True)
    top, below = (plot.getViewBox() for plot in plots.plots.values())
    top.setXRange(1.9, 2.3, padding=0)
    assert below.viewRange()[0] == pytest.approx([1.9, 2.3])
    qtbot.mouseClick(page.whole, LEFT)
    assert top.viewRange()[0] == below.viewRange()[0] == pytest.approx([1.782, 2.432], abs=0.001)
    QApplication.processEvents()
    line = plots.view.plots[0].lines[0]
    import math

    point = top.mapViewToScene(QPointF(math.log10(line.x[1]), math.log10(line.y[1])))
    text = plots.read(QPointF(plots._area.mapFromScene(point)))
    assert "Microbatch: 128" in text
    assert "80% band" in text
    apart = page.pop_out()
    assert apart.isWindow()
    assert apart.findChild(SweepPlots).view is plots.view  # type: ignore[union-attr]
    apart.close()


@pytest.mark.parametrize("held", [Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier])
def test_the_wheel_scrolls_past_the_plots_and_zooms_with_ctrl(
    opened: tuple[MainWindow, Session], qtbot: QtBot, held: Qt.KeyboardModifier
) -> None:
    window, session = opened
    session.set_workload("resnet-50")
    window.run("analyze.sweep")
    assert window.places is not None
    page = window.places.improve.sweep
    run(qtbot, page, "64..256*2")
    QApplication.processEvents()
    (box, *_) = (plot.getViewBox() for plot in page.plots.plots.values())
    view = page.plots._area
    at = QPointF(view.mapFromScene(box.sceneBoundingRect().center()))
    before = box.viewRange()
    none, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    seen = QPointF(view.viewport().mapToGlobal(at.toPoint()))
    event = QWheelEvent(at, seen, QPoint(), QPoint(0, -360), none, held, phase, False)
    QApplication.sendEvent(view.viewport(), event)
    zooms = held == Qt.KeyboardModifier.ControlModifier
    assert event.isAccepted() == zooms
    assert (box.viewRange() != before) == zooms


def test_a_run_names_what_limits_it_as_the_drawing_does(window: MainWindow, qtbot: QtBot) -> None:
    window.open_template("vsphere-cluster-4")
    document = window.document
    assert document is not None
    session = document.session
    qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=60_000)
    window.run("analyze.sweep")
    assert window.places is not None
    page = window.places.improve.sweep
    run(qtbot, page, "64MiB, 1GiB")
    view = page.plots.view
    assert view is not None
    texts = view.plots[0].lines[0].texts
    assert all("limited by client of NFS datastore at ESXi host 1" in text for text in texts), texts


def test_it_can_be_stopped_and_what_came_stays(opened: tuple[MainWindow, Session], qtbot: QtBot) -> None:
    window, session = opened
    session.set_workload("resnet-50")
    window.run("analyze.sweep")
    page = window.places.improve.sweep
    page.first.range.setText("1..1000")
    qtbot.mouseClick(page.job.go, LEFT)
    qtbot.waitUntil(lambda: len(page.rows) >= 3, timeout=60_000)
    QTest.keyClick(page, Qt.Key.Key_Escape)
    assert not page.job.busy
    came = len(page.rows)
    assert 3 <= came < 1000
    qtbot.wait(100)
    assert len(page.rows) == came
    assert page.job.state.text().startswith("Stopped after")
    assert page.isVisible()


@pytest.mark.parametrize("values", ["", "8..1", "1..9..2", "1..100000"])
def test_what_cannot_be_is_told_beside_the_field(opened: tuple[MainWindow, Session], qtbot: QtBot, values: str) -> None:
    window, session = opened
    session.set_workload("resnet-50")
    window.run("analyze.sweep")
    page = window.places.improve.sweep
    page.first.range.setText(values)
    qtbot.mouseClick(page.job.go, LEFT)
    assert page.job.problem.isVisible()
    assert page.job.problem.text()
    assert not page.job.busy


def test_closing_the_document_stops_its_sweep(opened: tuple[MainWindow, Session], qtbot: QtBot) -> None:
    window, session = opened
    session.set_workload("resnet-50")
    window.run("analyze.sweep")
    assert window.places is not None
    page = window.places.improve.sweep
    page.first.range.setText("1..1000")
    qtbot.mouseClick(page.job.go, LEFT)
    qtbot.waitUntil(lambda: len(page.rows) >= 1, timeout=60_000)
    window.close_document()
    assert not page.job.busy
    assert not page.rows


def test_another_workload_is_swept_after_it_is_shown(opened: tuple[MainWindow, Session], qtbot: QtBot) -> None:
    window, session = opened
    session.set_workload("resnet-50")
    window.run("analyze.sweep")
    assert window.places is not None
    page = window.places.improve.sweep
    run(qtbot, page, "64, 128")
    session.set_workload("all-reduce")
    window.run("analyze.sweep")
    assert not page.rows
    assert page.first.varied is not None
    assert page.first.varied.path.startswith("workloads.all-reduce.")


def test_what_is_varied_first_has_a_range() -> None:
    """Where a workload has a number, a sweep of it is one Enter away."""
    design = open_design("vsphere-cluster-4")
    for workload in ("evacuate", "vmotion"):
        first = sweep.of_workload(design, workload)[0]
        assert not first.choices
        assert ".." in sweep.suggested(first), first
