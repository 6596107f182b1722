"""The slider along a sweep: each place equals a fresh analysis, marks stand where the bottleneck changes."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from designer.analysis.study import analyze
from designer.decisions.answers import Binding, Row
from designer.decisions.frontier import breaks, frontier
from designer.gui.main_window import MainWindow
from designer.gui.panels._sweep import SweepPage
from designer.interchange.overrides import overridden
from designer.sources import Estimate


def row(number: int, *binding: str) -> Row:
    return Row(number, (str(number),), {}, tuple(Binding("channel", b, b) for b in binding))


def test_the_bottleneck_changes_where_nothing_is_left_of_it() -> None:
    """a and b bind, then b alone: b binds all the way. Then c: changed at number 2, counted from 0. Then c and d: c
    still binds. Then d alone: of c, which bound since the change, nothing is left: changed at number 4.
    """
    assert breaks([row(0, "a", "b"), row(1, "b"), row(2, "c"), row(3, "c", "d"), row(4, "d")]) == (2, 4)
    assert breaks([row(0, "a"), row(1, "b"), row(2, "a")]) == (1, 2)
    assert breaks([]) == ()


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot):
    window.open_template("hgx-h100-8")
    assert window.document is not None
    session = window.document.session
    session.set_workload("resnet-50")
    window.run("analyze.sweep")
    assert window.places is not None
    made = window.places.improve.sweep
    made.first.range.setText("64..512*2")
    for name, box in made.metrics.items():
        box.setChecked(name in ("memory_per_gpu", "samples_per_second"))
    made.run()
    qtbot.waitUntil(lambda: made.task is not None and not made.job.busy, timeout=120_000)
    return made


def test_every_place_equals_a_fresh_analysis(page: SweepPage, qtbot: QtBot) -> None:
    task = page.task
    assert task is not None
    assert page.slider.maximum() == 3
    for at in range(4):
        page.slider.setValue(at)
        looked = page.run_looked_at
        assert looked is not None
        design = overridden(task.design, [f"{task.paths[0]}={looked.settings[0]}"])
        fresh = analyze(design, [task.workload], curves=False).workloads[0]
        for name in task.metrics:
            stated: Estimate = looked.metrics[name]
            assert stated.value == pytest.approx(fresh.metrics[name].value, rel=1e-12)
        assert {(b.what, b.id) for b in looked.binding} == {(b.what, b.id) for b in fresh.binding}
        assert looked.settings[0] in page.cards.shown[0].title.text()
        for pointer in page.plots._pointers:
            assert pointer.isVisible()
    assert page.slider.marks == breaks(page.way.rows)
    page.best.setChecked(True)
    best = frontier(page.rows, *task.metrics[:2])
    assert [r.number for r in page.way.rows] == [r.number for r in best]
    assert page.run_looked_at is not None


def test_the_values_of_a_run_are_used_and_undone(page: SweepPage, qtbot: QtBot) -> None:
    session = page.session
    before = session.design
    page.slider.setValue(1)
    page.cards.shown[0].button.click()
    assert session.design != before
    assert session.design.workloads["resnet-50"].settings["micro_batch"] in (128, "128")
    session.undo()
    assert session.design == before
