"""Two designs next to each other in the window: why each number moved, and pictures with what differs lit."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from designer.decisions.comparing import compare as compare_designs
from designer.decisions.comparing import explained
from designer.design.address import Ref
from designer.design.diff import diff
from designer.design.edits.links import ChangeLinks
from designer.design.edits.structure import Delete
from designer.design.geometry import lay_out
from designer.design.naming import in_names
from designer.gui.main_window import MainWindow
from designer.gui.viewmodels import compare
from designer.gui.viewmodels.compare import lights
from designer.gui.viewmodels.flow import channel_title
from designer.interchange.templates import open_design
from designer.report.drawing.elements import Panel, Stroke

LINK = "cpu0--psw0"


def narrowed(design):
    """The same with the first uplink at half its width."""
    return ChangeLinks((LINK,), {"lanes": 8}).apply(design)


def test_each_number_that_moved_says_why(window: MainWindow, qtbot: QtBot) -> None:
    window.open_template("hgx-h100-8")
    document = window.document
    assert document is not None
    session = document.session
    qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=30_000)
    session.apply(ChangeLinks((LINK,), {"lanes": 8}))
    qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=30_000)
    window.show_panel("compare")
    assert window.places is not None
    panel = window.places.compare
    panel.choose("itself as it was opened")
    qtbot.waitUntil(lambda: bool(panel._reasons), timeout=60_000)
    stated = {
        line.cells[0].text.strip(): line.cells[4].text
        for line in panel.table.lines.lines
        if line.cells[3].text and line.cells[4].text
    }
    first = session.history.steps[0].before
    known = compare_designs(session.design, first)
    wanted = {
        channel_title(in_names(session.design, explained(m).partition(": ")[2])) for m in known.metrics if m.shares
    }
    assert stated, "half an uplink moves something"
    assert set(stated.values()) <= wanted
    assert any("links" in text for text in stated.values())
    assert any("CPU 0 → PCIe switch 0 (PCIe)" in text for text in stated.values()), stated
    panel.pictured.click()
    qtbot.waitUntil(lambda: not panel.pair.panes[1].picture.isNull(), timeout=60_000)
    assert all(pane.picture.width() > 300 for pane in panel.pair.panes)


def test_what_differs_is_lit_on_both_sides() -> None:
    """The link with other lanes is a stroke in both; a part taken away is framed where it still is."""
    a = open_design("hgx-h100-8")
    b = narrowed(a)
    changes = diff(a, b)
    for design, after in ((a, False), (b, True)):
        found = lights(lay_out(design), changes, after, "own", "changed")
        assert [type(e) for e in found] == [Stroke]
        assert found[0].colour == "changed"
    less = Delete((Ref("parts", "nic0"),)).apply(a)
    changes = diff(a, less)
    before = lights(lay_out(a), changes, False, "own", "changed")
    frames = [e for e in before if isinstance(e, Panel)]
    assert [e.stroke for e in frames] == ["own"]
    assert all(e.colour == "own" for e in before if isinstance(e, Stroke))
    assert not [e for e in lights(lay_out(less), changes, True, "own", "changed") if isinstance(e, Panel)]


def test_reasons_leave_the_share_to_its_own_column() -> None:
    """The table has a column for the change: the reason does not say it again."""
    a = open_design("hgx-h100-8")
    found = compare.reasons_of(compare_designs(a, narrowed(a)))
    moved = {k: v for k, v in found.items() if v}
    assert moved
    assert not any(v.startswith(("+", "-")) and "%:" in v for v in moved.values())


def test_both_designs_are_in_sight_beside_the_drawing(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1440, 900)
    window.open_template("hgx-h100-8")
    window.open_template("vsphere-cluster-4")
    document = window.document
    assert document is not None
    qtbot.waitUntil(lambda: document.session.analysis is not None and not document.session.stale, timeout=60_000)
    window.show_panel("compare")
    panel = window.places.compare
    panel.choose("HGX H100 8-GPU (Delta-Next)")
    qtbot.waitUntil(lambda: len(panel.table.lines.lines) > 10, timeout=60_000)
    shown = [n for n in range(len(panel.table.lines.columns)) if not panel.table.isColumnHidden(n)]
    assert len(shown) == 3
    assert sum(panel.table.columnWidth(n) for n in shown) <= panel.table.viewport().width()
