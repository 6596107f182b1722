"""The window shows of each template what its page says: headline, figures with band, limits; as all other doors do."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

import designer
from designer.gui.main_window import MainWindow
from designer.pages.workload import page_of
from designer.present.blocks import State

TEMPLATES = sorted(
    file.name.removesuffix(".design.json")
    for file in (Path(designer.__file__).parents[1] / "templates").glob("*.design.json")
)


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_window_shows_the_figures_of_the_page(window: MainWindow, qtbot: QtBot, template: str) -> None:
    """Value, unit and band of each figure in the side panel, and of those it has room for in the short answer."""
    window.open_template(template)
    assert window.document is not None
    assert window.places is not None
    session, places = window.document.session, window.places
    qtbot.waitUntil(lambda: session.result is not None and not session.stale, timeout=120_000)
    result = session.result
    assert result is not None
    page = page_of(result, session.design, session.design.name)
    places.answer.flush()
    shown = {cell.figure.title: cell for cell in places.answer.grid.cells if not cell.isHidden()}
    assert list(shown) == [figure.title for figure in page.figures[: len(shown)]]
    assert shown or not page.figures
    for figure in page.figures[: len(shown)]:
        cell = shown[figure.title]
        assert cell.accessibleName().startswith(f"{figure.title} {figure.text}")
        assert figure.band in cell.accessibleName()
        assert (cell.figure.low, cell.figure.at, cell.figure.high) == (figure.low, figure.at, figure.high)
        if figure.name:
            assert figure.at == result.metrics[figure.name].value
    headline = places.answer.headline if page.state is not State.UNFIT else places.answer.banner_text
    assert headline.text() == page.headline
    rows = [row.name.toolTip() for row in places.answer.limits.held if not row.isHidden()]
    assert len(rows) == len(page.limits)
    assert all(limit.title in row for limit, row in zip(page.limits, rows, strict=True))
