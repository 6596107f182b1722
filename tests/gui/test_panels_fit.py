"""Panels at small sizes: columns, titles, legends and numbers fit the width there is."""

from dataclasses import replace

import pytest
from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from designer.engine import results
from designer.engine.results import WorkloadResult
from designer.gui import theme
from designer.gui.figures.plot import ValueAxis
from designer.gui.figures.view import FigureView
from designer.gui.main_window import MainWindow
from designer.gui.panels import tables
from designer.gui.panels._panel import Panel, Place
from designer.gui.panels._widgets import ElidedLink, shared
from designer.gui.viewmodels import findings, links
from designer.report.figure import Axis, BarSeries, Figure, LineSeries

WAY = Figure(
    "Way of nfs → hosts[0]/server/gpu0 over the storage network",
    Axis("Bandwidth, one direction", "B/s", zero=True),
    Axis("WindowArea", categories=("storage_switch → hosts[0]/storage_nic0", "hosts[0]/cpu1 → hosts[0]/cpu0")),
    bars=(
        BarSeries("this flow", (0.0, 1.0), (1e9, 2e9), labels=("+100 % together", "+0 %")),
        BarSeries("other flows", (0.0,), (3e10,), start=(1e9,), role="quiet"),
    ),
    sideways=True,
)


@pytest.mark.parametrize("columns", [links.COLUMNS, findings.COLUMNS])
@pytest.mark.parametrize("room", [640, 900, 1400])
def test_no_column_is_out_of_sight(columns, room) -> None:
    widths = shared(columns, room)
    assert sum(widths) <= room
    assert all(width >= 30 for width in widths)


def test_words_take_the_width_that_is_left() -> None:
    small, large = shared(links.COLUMNS, 640), shared(links.COLUMNS, 1400)
    assert large[0] > 190 > small[0]
    assert large[4] == links.COLUMNS[4].width


def test_columns_wider_than_the_table_keep_their_least_width() -> None:
    assert min(shared(links.COLUMNS, 100)) >= 60


def shown(qtbot, width: int, figure: Figure = WAY) -> FigureView:
    view = FigureView(theme.LIGHT)
    view.resize(width, 240)
    view.set_figure(figure)
    qtbot.addWidget(view)
    view.show()
    qtbot.wait(1)
    return view


@pytest.mark.parametrize("width", [260, 330, 700, 1200])
def test_title_names_and_labels_fit_a_figure(qtbot, width) -> None:
    view = shown(qtbot, width)
    metrics = QFontMetricsF(view._title.font())
    assert metrics.horizontalAdvance(view._title.text()) <= width
    assert view._title.toolTip() == WAY.title
    item = view._plot.item
    assert item.getAxis("left").width() <= max(80, width * 0.4 + 16)
    low, high = item.getViewBox().viewRange()[0]
    pixels = item.getViewBox().width()
    end = (2e9 - low) / (high - low) * pixels
    assert end + QFontMetricsF(view.font()).horizontalAdvance("+0 %") <= pixels


def test_names_beside_a_plot_and_its_title_are_one_line_each(qtbot) -> None:
    names = ("one\ntwo\u2028three", "plain", "\u202eevil")
    hostile = replace(WAY, title="Rates of\nall", y=replace(WAY.y, categories=names))
    view = shown(qtbot, 700, hostile)
    assert view._elided(names) == ["one two three", "plain", "\ufffdevil"]
    assert view._title.text() == "Rates of all"


def test_the_legend_goes_below_the_title_where_it_is_narrow(qtbot) -> None:
    narrow, wide = shown(qtbot, 300), shown(qtbot, 1200)
    assert narrow._legend.y() > narrow._title.y()
    assert wide._legend.x() > wide._title.x()
    assert "this&nbsp;flow" in narrow._legend.text()


def test_ticks_stand_apart(qapp) -> None:
    axis = ValueAxis("bottom", Axis("Rate", "B/s", zero=True))
    for size in (120.0, 200.0, 400.0, 900.0):
        ((step, values),) = axis.tickValues(0.0, 3e11, size)
        texts = [axis.spelled(v) for v in values]
        widest = max(QFontMetricsF(axis.font()).horizontalAdvance(t) for t in texts)
        assert len(values) < 2 or step / 3e11 * size > widest


def test_long_times_are_marked_at_whole_minutes(qapp) -> None:
    axis = ValueAxis("left", Axis("Stun", "s", zero=True))
    ((_, values),) = axis.tickValues(0.0, 700.0, 200.0)
    assert len(values) > 2
    assert all(v % 60 == 0 for v in values)


def test_lines_of_one_figure_have_colours_of_their_own(qtbot) -> None:
    lines = tuple(LineSeries(f"{n}", (1.0, 2.0), (n, n + 1.0)) for n in range(4))
    view = shown(qtbot, 500, Figure("", Axis("x"), Axis("y"), lines))
    colours = {view._colour(line.role, n).name() for n, line in enumerate(lines)}
    assert len(colours) == 4


def test_a_link_is_shortened_but_reported_whole(qtbot) -> None:
    link = ElidedLink("hosts[0]/vmotion_nic0 → vmotion_switch (ethernet) and one alike")
    qtbot.addWidget(link)
    link.resize(120, 24)
    link.show()
    qtbot.wait(1)
    assert QFontMetricsF(link.font()).horizontalAdvance(link.text()) <= 120
    assert link.accessibleName().endswith("one alike")


def test_tables_of_a_result_are_rows_with_units() -> None:
    table = results.Table(
        "Virtual machines",
        (results.Column("machine"), results.Column("time", "s"), results.Column("nothing", "B")),
        (("front end", 90.0, None), ("training", None, None)),
    )
    result = WorkloadResult("w", "evacuation", "Empty", {}, (), (), (), 0, tables={"vms": table})
    assert tables.titles(result) == (("vms", "Virtual machines"),)
    columns, lines = tables.rows_of(table)
    assert [c.title for c in columns] == ["Machine", "Time"]
    assert [c.number for c in columns] == [False, True]
    assert lines[0].cells[1].text == "90 s"
    assert lines[0].cells[1].sort == 90.0
    assert lines[1].cells[1].text == ""


@pytest.mark.parametrize("look", [theme.LIGHT, theme.DARK, theme.CONTRAST])
@pytest.mark.parametrize("ink", ["text", "muted", "faint", "good", "warn", "bad", "assumed"])
@pytest.mark.parametrize("ground", ["surface", "sunken"])
def test_text_stands_out_from_its_ground(look, ink, ground) -> None:
    assert contrast(getattr(look, ink), getattr(look, ground)) >= 4.0


@pytest.mark.parametrize("ink", ["text", "muted", "faint", "good", "warn", "bad", "assumed", "accent", "border"])
@pytest.mark.parametrize("ground", ["window", "surface", "raised", "sunken"])
def test_high_contrast_is_high(ink, ground) -> None:
    assert contrast(getattr(theme.CONTRAST, ink), getattr(theme.CONTRAST, ground)) >= 7.0


def contrast(one: str, other: str) -> float:
    """Contrast of two colours as WCAG 2 reckons it, 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_a_long_analysis_shows_how_far_it_is(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    window.new_document()
    assert window.places is not None
    window.places.head.busy(True)
    window.places.head.progressed(0.4, "layouts")
    assert not window.places.head.progress.isVisible(), "a bar that only flashes disturbs"
    monkeypatch.setattr(window.places.head, "_busy_since", 0.0)
    window.places.head.progressed(0.5, "layouts")
    assert window.places.head.progress.isVisible()
    assert window.places.head.progress.value() == 50
    assert "layouts" in window.places.head.progress.toolTip()
    window.places.head.busy(False)
    assert not window.places.head.progress.isVisible()


def test_a_panel_nobody_looked_at_is_not_made_and_follows_when_it_is(window: MainWindow, qtbot: QtBot) -> None:
    """Without a start page to get ready on: only what the window needs is there, the rest comes when it is seen."""
    window.warming.close()
    window.open_template("hgx-h100-8")
    qtbot.wait(50)
    assert window.places is not None
    assert window.document is not None
    places = window.places
    assert "gantt" not in places._made
    assert "improve" not in places._made
    assert not places.frames["gantt"].findChildren(Panel)
    window.run("view.run")
    places.books[Place.RUN].show_page("gantt")
    qtbot.waitUntil(lambda: "gantt" in places._made)
    lanes = places.panels["gantt"]
    assert places.frames["gantt"].isAncestorOf(lanes)
    assert lanes.session is window.document.session
    assert lanes.seen
    assert not places.panels["improve"].seen
