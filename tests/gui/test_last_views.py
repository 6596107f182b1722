"""The view of a file is there again when it is opened; it is in the settings, not in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from designer.gui.canvas.canvas import Canvas
from designer.gui.last_views import LastView
from designer.gui.session import Session
from designer.gui.settings import Settings
from tests.designs import one_server

Show = Callable[[Path | None], Canvas]


@pytest.fixture
def show(qapp: QApplication, settings: Settings) -> Iterator[Show]:
    made: list[Canvas] = []

    def build(file: Path | None) -> Canvas:
        canvas = Canvas(Session(one_server(), file))
        canvas.camera.animated = False
        canvas.resize(1000, 700)
        canvas.show()
        LastView(canvas, settings)
        qapp.processEvents()
        made.append(canvas)
        return canvas

    yield build
    for canvas in made:
        canvas.hide()
        canvas.deleteLater()
    qapp.processEvents()


def rest(canvas: Canvas) -> None:
    """Wait until the view is kept."""
    QTest.qWait(300)
    canvas.hide()


def zoom(canvas: Canvas, at: QPoint) -> None:
    where = QPointF(at)
    event = QWheelEvent(
        where,
        canvas.mapToGlobal(where),
        QPoint(),
        QPoint(0, 240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas, event)


def middle(canvas: Canvas) -> tuple[float, ...]:
    view = canvas.view
    return (view.scale, *view.to_scene(view.width / 2, view.height / 2))


def test_a_file_opens_where_one_looked_last(show: Show, tmp_path: Path) -> None:
    file = tmp_path / "a.design.json"
    first = show(file)
    whole = middle(first)
    zoom(first, QPoint(300, 200))
    left = middle(first)
    assert left != whole
    rest(first)
    assert middle(show(file)) == pytest.approx(left, rel=1e-6)
    assert middle(show(tmp_path / "other.design.json")) == whole
    assert middle(show(None)) == whole
    assert not file.exists()


def test_the_whole_design_is_fitted_anew_and_not_kept(show: Show, settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "a.design.json"
    canvas = show(file)
    zoom(canvas, QPoint(300, 200))
    rest(canvas)
    assert settings.view_of(file) is not None
    canvas.show()
    canvas.zoom_to_fit()
    rest(canvas)
    assert settings.view_of(file) is None


def test_a_new_document_keeps_its_view_once_it_has_a_file(show: Show, settings: Settings, tmp_path: Path) -> None:
    canvas = show(None)
    zoom(canvas, QPoint(300, 200))
    canvas.session.mark_saved(tmp_path / "new.design.json")
    assert settings.view_of(tmp_path / "new.design.json") == pytest.approx(middle(canvas), rel=1e-6)


@pytest.mark.parametrize("text", ["", "1 2", "nan 0 0", "0 1 1", "a b c", "inf 1 1"])
def test_damaged_settings_are_no_view(settings: Settings, tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.design.json"
    settings._store.setValue("files/views", [f"{text}\t{file.resolve()}"])
    assert settings.view_of(file) is None


def test_a_view_beside_the_design_is_not_gone_back_to(show: Show, settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "a.design.json"
    settings.set_view_of(file, (1.0, 1e7, 1e7))
    canvas = show(file)
    assert canvas.shows_all()


def test_only_so_many_are_kept(settings: Settings, tmp_path: Path) -> None:
    for i in range(120):
        settings.set_view_of(tmp_path / f"{i}.json", (1.0, i, 0.0))
    assert settings.view_of(tmp_path / "119.json") == (1.0, 119.0, 0.0)
    assert settings.view_of(tmp_path / "0.json") is None
