"""A right press on a figure writes what it must keep into the design."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from designer.checks.runner import judge, promises_of
from designer.checks.world import World
from designer.gui.main_window import MainWindow
from designer.gui.panels._promises import promise_menu
from designer.gui.viewmodels.promises import value_offered
from designer.sources import Estimate


def estimate(value: float, unit: str) -> Estimate:
    return Estimate(value, value, value, unit, ())


def test_the_value_offered_holds_today() -> None:
    """443.97 GB/s is at least 443 GB/s, in three digits; 87.312 s is at most 87.4 s; 12.0 is itself."""
    assert value_offered(estimate(443.97e9, "B/s"), ">=") == "443 GB/s"
    assert value_offered(estimate(87.312, "s"), "<=") == "87.4 s"
    assert value_offered(estimate(12.0, "1/s"), ">=") == "12 1/s"


def test_a_promise_on_a_figure_is_one_step_that_designer_test_reads(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.open_template("hgx-h100-8")
    assert window.document is not None
    assert window.places is not None
    session, places = window.document.session, window.places
    qtbot.waitUntil(lambda: session.result is not None and not session.stale, timeout=30_000)
    places.answer.flush()
    figure = next(cell.figure for cell in places.answer.grid.cells if cell.figure.name == "rate")
    menu = promise_menu(session, figure.name, window, places.start_test)
    first, *_ = menu.actions()
    assert first.text() == "Must stay ≥ 443 GB/s…"
    monkeypatch.setattr(QInputDialog, "getText", lambda *_args, **_kwargs: ("400 GB/s", True))
    steps = len(session.history.steps)
    first.trigger()
    menu.close()
    assert len(session.history.steps) == steps + 1
    (promise,) = promises_of(session.design)
    assert promise.text == 'rate("h2d") >= 400 GB/s'
    assert str(judge(World(session.design), promise).state) == "held"
    # the figure now shows its target, and a second promise takes the place of the first in one step
    monkeypatch.setattr(QInputDialog, "getText", lambda *_args, **_kwargs: ("500 GB/s", True))
    menu = promise_menu(session, figure.name, window, places.start_test)
    menu.actions()[0].trigger()
    menu.close()
    assert len(session.history.steps) == steps + 2
    (promise,) = promises_of(session.design)
    assert str(judge(World(session.design), promise).state) == "broken"
    session.undo()
    session.undo()
    assert not session.design.assertions


def test_what_is_no_value_is_refused_in_words(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.open_template("hgx-h100-8")
    assert window.document is not None
    assert window.places is not None
    session = window.document.session
    qtbot.waitUntil(lambda: session.result is not None and not session.stale, timeout=30_000)
    stated: list[str] = []
    session.warned.connect(stated.append)
    monkeypatch.setattr(QInputDialog, "getText", lambda *_args, **_kwargs: ("soon", True))
    menu = promise_menu(session, "rate", window, window.places.start_test)
    menu.actions()[0].trigger()
    assert stated
    assert not session.design.assertions
    # experts go on with the formula
    menu.actions()[-1].trigger()
    menu.close()
    assert window.places.panels["checks"].field.text() == 'rate("h2d") >= 443 GB/s'  # type: ignore[attr-defined]
