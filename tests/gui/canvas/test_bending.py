"""Links are bent by dragging their pieces: real presses and moves on the widget, undone, refused, straightened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from designer.design.document import Design, Link, Part
from designer.drawing.batches import Boxes
from designer.gui.canvas.compose_overlay import grips
from designer.gui.canvas.tools.bend import Bend
from designer.gui.canvas.tools.select import Select
from tests.designs import one_unit
from tests.gui.canvas.test_tools import click, move, press, release
from tests.ways import over_any

pytestmark = pytest.mark.platform

Make = Callable[..., Any]


def two() -> Design:
    """A switch above another, linked; a third one at the right."""
    size = {"width": 160, "height": 64}
    parts = [
        Part.model_validate({"id": i, "kind": "switch", "position": {"x": x, "y": y}, "size": size})
        for i, (x, y) in {"a": (0, 0), "b": (400, 400), "c": (700, 160)}.items()
    ]
    return Design(name="two", parts=parts, links=[Link(id="l", a="a", b="b", kind="ethernet")])  # type: ignore[arg-type]


def piece(bench: Any, link: str, number: int) -> QPoint:
    """The middle of a piece of a link, in the view."""
    route = bench.canvas.scene.geometry.connection_route[bench.connection(link)]
    x, y = ((route[number] + route[number + 1]) / 2).tolist()
    return bench.scene(x, y)


def drag(bench: Any, start: QPoint, by: tuple[int, int]) -> None:
    """Select what is there by a click, then drag it."""
    click(bench, start)
    press(bench, start)
    for share in (0.3, 0.7, 1.0):
        move(bench, start + QPoint(round(by[0] * share), round(by[1] * share)))
    release(bench, start + QPoint(*by))


def bends(bench: Any) -> list[tuple[int, int]]:
    return [(p.x, p.y) for p in bench.session.design.links["l"].bends]


def test_a_piece_is_dragged_and_stays_and_is_undone(make: Make) -> None:
    bench = make(two())
    route = bench.canvas.scene.geometry.connection_route[bench.connection("l")].tolist()
    assert len(route) == 4, "down, aside, down"
    middle = piece(bench, "l", 1)
    steps = bench.steps()
    drag(bench, middle, (0, 60))
    dy = 60 / bench.canvas.view.scale
    assert bench.steps() == steps + 1, "one gesture is one step"
    assert [y for _, y in bends(bench)] == pytest.approx([route[1][1] + dy] * 2, abs=1.0)
    bent = bench.canvas.scene.geometry.connection_route[bench.connection("l")].tolist()
    assert [y for _, y in bent[1:3]] == [y for _, y in bends(bench)]
    bench.session.undo()
    assert not bends(bench)
    assert bench.canvas.scene.geometry.connection_route[bench.connection("l")].tolist() == route


def test_escape_leaves_no_trace(make: Make) -> None:
    bench = make(two())
    steps, middle = bench.steps(), piece(bench, "l", 1)
    click(bench, middle)
    press(bench, middle)
    move(bench, middle + QPoint(0, 40))
    assert isinstance(bench.canvas.tool, Bend)
    QTest.keyClick(bench.canvas, Qt.Key.Key_Escape)
    assert isinstance(bench.canvas.tool, Select)
    release(bench, middle + QPoint(0, 40))
    assert bench.steps() == steps
    assert not bends(bench)


def test_the_piece_at_a_box_steps_aside_beyond_its_side(make: Make) -> None:
    """Dragged 200 to the left of a box that begins at x = 0, the link leaves it below, then goes aside."""
    bench = make(two())
    drag(bench, piece(bench, "l", 0), (round(-200 * bench.canvas.view.scale), 0))
    route = bench.canvas.scene.geometry.connection_route[bench.connection("l")].tolist()
    assert len(route) == 6
    assert route[2][0] == route[3][0] < 0
    assert not over_any(bench.canvas.scene.geometry)


def test_a_link_is_not_put_over_a_box(make: Make) -> None:
    bench = make(two())
    # the last piece, down to b, aside to where c stands
    route = bench.canvas.scene.geometry.connection_route[bench.connection("l")]
    at = piece(bench, "l", len(route) - 2)
    to = bench.at("c")
    drag(bench, at, (to.x() - at.x(), 0))
    assert bench.warnings == ["the link would run over a box there"]
    assert not bends(bench)
    assert not over_any(bench.canvas.scene.geometry)


def test_grips_keep_clear_of_words(make: Make) -> None:
    """A word over the middle of a piece moves its grip aside; one over the whole piece leaves it without."""
    bench = make(two())
    frame, geometry = bench.canvas.frame(), bench.canvas.scene.geometry
    link = bench.connection("l")
    (bars,) = grips(geometry, link, frame, "#000000")
    assert isinstance(bars, Boxes)
    first = bars.rects[:1]
    (moved,) = grips(geometry, link, frame, "#000000", first)
    assert isinstance(moved, Boxes)
    x, y, w, h = first[0]
    over = (moved.rects[:, 0] < x + w) & (x < moved.rects[:, 0] + moved.rects[:, 2])
    over &= (moved.rects[:, 1] < y + h) & (y < moved.rects[:, 1] + moved.rects[:, 3])
    assert len(moved.rects) == len(bars.rects)
    assert not over.any()
    assert not grips(geometry, link, frame, "#000000", np.array([[-1e5, -1e5, 2e5, 2e5]]))


def test_what_follows_a_pattern_says_why_it_cannot_be_bent(make: Make) -> None:
    bench = make(one_unit(2))
    geometry = bench.canvas.scene.geometry
    wired = next(
        k for k in range(geometry.n_connections) if {x.what for x in geometry.connection_links(k)[1]} == {"wirings"}
    )
    route = geometry.connection_route[wired]
    x, y = ((route[0] + route[1]) / 2).tolist()
    at = bench.scene(x, y)
    steps = bench.steps()
    drag(bench, at, (40, 40))
    assert bench.steps() == steps
    assert any("pattern" in warning for warning in bench.warnings)
    # selected, it shows no grip to take, and states why where the pointer rests
    frame, theme = bench.canvas.frame(), bench.canvas.scene.theme
    assert not grips(bench.canvas.scene.geometry, wired, frame, theme.selection)
    bench.canvas.scene.selected_connections = np.array([wired])
    QTest.mouseMove(bench.canvas, at + QPoint(1, 1))
    QTest.mouseMove(bench.canvas, at)
    stated = [batch for batch in bench.canvas.tool.overlay(frame, (0, 0, 4000, 4000)) if "pattern" in repr(batch)]
    assert stated
