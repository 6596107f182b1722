"""A canvas over a session, shown offscreen without animation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from designer.design.address import Ref
from designer.design.document import Design
from designer.gui.canvas.canvas import Canvas
from designer.gui.session import Session
from tests import designs


class Bench:
    """A canvas with what tests need to reach into it."""

    def __init__(self, canvas: Canvas) -> None:
        self.canvas = canvas
        self.session = canvas.session
        self.warnings: list[str] = []
        self.session.warned.connect(self.warnings.append)

    def box(self, part_id: str, what: str = "parts", within: Any = ()) -> int:
        """Number of the box of a thing."""
        found = self.canvas.scene.box_of((within, Ref(what, part_id)))  # type: ignore[arg-type]
        assert found is not None
        return found

    def at(self, part_id: str, fx: float = 0.5, fy: float = 0.5, what: str = "parts", within: Any = ()) -> QPoint:
        """View point inside a box, by shares of its width and height."""
        x, y, w, h = self.canvas.scene.geometry.rect[self.box(part_id, what, within)].tolist()
        vx, vy = self.canvas.view.to_view(x + w * fx, y + h * fy)
        return QPointF(vx, vy).toPoint()

    def scene(self, x: float, y: float) -> QPoint:
        """View point of a scene point."""
        return QPointF(*self.canvas.view.to_view(x, y)).toPoint()

    def connection(self, link_id: str) -> int:
        """Number of the connection of a link."""
        return self.canvas.scene.connections_by_pick[(), Ref("links", link_id)][0]

    def selected(self) -> set[str]:
        """Ids of what is selected."""
        return {ref.id for _, ref in self.session.selection}

    def select(self, *ids: str, what: str = "parts") -> None:
        """Select things by id."""
        self.session.select([((), Ref(what, i)) for i in ids])  # type: ignore[arg-type]

    def steps(self) -> int:
        """How many steps the history has."""
        return self.session.history.done


@pytest.fixture
def make(qapp: QApplication) -> Iterator[Callable[..., Bench]]:
    """Makes canvases and takes them down."""
    made: list[Canvas] = []

    def build(design: Design | None = None, width: int = 1400, height: int = 860) -> Bench:
        canvas = Canvas(Session(design if design is not None else designs.one_server()))
        canvas.camera.animated = False
        canvas.resize(width, height)
        canvas.show()
        # without a window manager nobody else gives the window its keys
        canvas.activateWindow()
        QTest.qWaitForWindowActive(canvas, 2000)
        canvas.settle()
        qapp.processEvents()
        made.append(canvas)
        return Bench(canvas)

    yield build
    for canvas in made:
        canvas.hide()
        canvas.deleteLater()
    qapp.processEvents()


@pytest.fixture
def bench(make: Callable[..., Bench]) -> Bench:
    """A canvas with one server."""
    return make()
