"""Closing documents gives back what they were made of: panels out of sight keep nothing, and nothing piles up."""

from __future__ import annotations

import gc
from collections import Counter

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from designer.design.document import Design
from designer.engine.results import Analysis
from designer.gui import theme
from designer.gui.canvas.canvas import Canvas
from designer.gui.figures.view import FigureView
from designer.gui.main_window import MainWindow
from designer.gui.panels._entry_rows import EntryRow
from designer.gui.panels.inspector import _SPARE, SectionBox
from designer.gui.session import Session
from designer.gui.viewmodels.forms import Entry, Section
from designer.report.figure import Axis, BarSeries, Figure, LineSeries

#: what belongs to a document and would live on with a panel that holds it
KINDS = (Analysis, Canvas, Session)


def swept() -> None:
    """All that was let go of is gone."""
    for _ in range(2):
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()


def designs() -> int:
    return sum(isinstance(o, Design) for o in gc.get_objects())


def alive() -> Counter[str]:
    return Counter(type(o).__name__ for o in gc.get_objects() if isinstance(o, KINDS))


def widgets() -> int:
    return len(QApplication.allWidgets())


def entry(number: int, sort: int) -> Entry:
    return Entry(f"e{number}", f"Line {number}", "1", "1", "count" if sort else "choice", bar=0.5 if sort > 1 else None)


BARS = Figure(
    "Bars",
    Axis("Rate", "B/s", zero=True),
    Axis("Row", categories=("one", "two")),
    bars=(BarSeries("rows", (0.0, 1.0), (1e9, 2e9), labels=("a", "b")),),
    sideways=True,
)
LINES = Figure(
    "Lines",
    Axis("Size", "B", log=True),
    Axis("Rate", "B/s", log=True),
    lines=(LineSeries("one", (1.0, 8.0), (2.0, 4.0)),),
)


def test_a_figure_keeps_its_widgets_whatever_it_shows(qtbot) -> None:
    view = FigureView(theme.LIGHT)
    qtbot.addWidget(view)
    view.resize(500, 300)
    view.show()
    view.set_figure(BARS)
    swept()
    before = widgets()
    for turn in range(6):
        view.set_figure(LINES if turn % 2 == 0 else BARS)
        view.set_theme(theme.DARK if turn % 3 else theme.LIGHT)
        assert not view.grab().isNull()
    swept()
    assert widgets() == before
    assert view._plot is not None
    # the names of rows and the ranges are those of the figure shown last
    assert [text for _, text in view._plot.item.getAxis("left")._tickLevels[0]] == ["one", "two"]
    view.set_figure(LINES)
    assert view._plot.item.getAxis("left")._tickLevels is None
    assert view._plot.view.viewRange()[0][1] < 10.0


def test_a_plot_brings_none_of_the_forms_of_its_library(qtbot) -> None:
    before = widgets()
    view = FigureView(theme.LIGHT)
    qtbot.addWidget(view)
    empty = widgets()
    view.set_figure(BARS)
    # the plot, its viewport and two hidden bars with what holds them
    assert widgets() - empty <= 8
    assert empty - before <= 4


def test_lines_of_a_form_are_kept_for_later_but_not_without_end(qtbot) -> None:
    made: list[Entry] = []

    def make(one: Entry) -> EntryRow:
        made.append(one)
        return EntryRow(one)

    def show(box: SectionBox, section: Section) -> None:
        for _ in box.showing(section):
            pass

    box = SectionBox(make)
    qtbot.addWidget(box)
    for sort in (0, 1, 2) * 3:
        show(box, Section("Section", tuple(entry(k, sort) for k in range(20))))
        swept()
        assert [row.entry.name for row in box.rows] == [f"e{k}" for k in range(20)]
        assert len(box.findChildren(EntryRow)) <= 20 + _SPARE
    # a form of the same sort makes nothing again
    count = len(made)
    show(box, Section("Section", tuple(entry(k, 2) for k in range(12))))
    show(box, Section("Section", tuple(entry(k, 2) for k in range(20))))
    assert len(made) == count


def come_and_go(window: MainWindow, qtbot) -> None:
    """Open two documents, look at every panel, close them, and wait for what still holds them."""
    look_around(window, qtbot)
    window.workspace.close_all()
    for toast in list(window.toasts.shown):
        toast.leave()
    # jobs that run end, and idle threads with the last thing they held
    qtbot.wait(2300)
    swept()


def look_around(window: MainWindow, qtbot) -> None:
    for template in ("dell-r750xa", "hgx-h100-8"):
        window.open_template(template)
        document = window.document
        assert document is not None
        session = document.session
        qtbot.waitUntil(lambda session=session: session.analysis is not None and not session.stale, timeout=60_000)
        assert window.places is not None
        for name in window.places.panels:
            window.show_panel(name)
            qtbot.wait(1)
        session.select_all()
        qtbot.wait(40)


def test_nothing_of_a_document_outlives_it(window: MainWindow, qtbot) -> None:
    come_and_go(window, qtbot)
    known, held, before = designs(), alive(), widgets()
    for _ in range(2):
        come_and_go(window, qtbot)
        assert widgets() <= before
        assert alive() - held == Counter()
        # templates that were read once stay known; no panel holds a design that was open
        assert designs() <= known
    assert held == Counter()
