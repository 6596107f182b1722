"""The canvas shows what the document says, throughout: after every edit, undo and redo, and to the last pixel."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtTest import QTest

from designer.design.address import Address, Ref
from designer.design.document import Block, Design
from designer.design.geometry import lay_out, opened_in
from designer.drawing.loads import ChannelState
from designer.drawing.theme import DARK
from designer.drawing.view import View
from designer.gui.canvas.canvas import Canvas
from designer.gui.canvas.editing import move
from designer.gui.canvas.scene import Scene
from designer.gui.canvas.surface import Surface
from designer.gui.session import Session
from tests import designs
from tests.budget import sample
from tests.edit_maker import EditMaker

Make = Callable[..., Any]


def expected_things(block: Block, opened: frozenset[Address], within: Address = ()) -> set[tuple[Address, Ref]]:
    """What a document says is to be drawn, worked out without the layout."""
    hidden: set[str] = set()
    for part in block.parts.values():
        above, seen = part.parent, set[str]()
        while above is not None and above not in seen:
            seen.add(above)
            if block.parts[above].collapsed:
                hidden.add(part.id)
            above = block.parts[above].parent
    shut = {p.id for p in block.parts.values() if p.collapsed}
    found = {(within, Ref("parts", p)) for p in block.parts if p not in hidden}
    for group in block.groups.values():
        if group.parent in hidden | shut:
            continue
        found.add((within, Ref("groups", group.id)))
        inner = (*within, (group.id, None))
        if inner in opened:
            found |= expected_things(group.content, opened, inner)
    if isinstance(block, Design):
        found |= {((), Ref("annotations", a)) for a in block.annotations}
    return found


def check(scene: Scene, design: Design) -> None:
    """The picture holds just what the document says, and every link between different boxes has its connection."""
    geometry = scene.geometry
    assert geometry.design is design
    opened = opened_in(design)
    shown = [geometry.address(box) for box in range(len(geometry))]
    assert len(shown) == len(set(shown))
    assert set(shown) == expected_things(design, opened)
    connected = scene.connections_by_pick
    for link in design.links.values():
        a, b = (geometry.boxes.own.get(Ref("parts", path)) for path in (link.a, link.b))
        if a is not None and b is not None:
            assert (((), Ref("links", link.id)) in connected) == (a != b)


def same_as_new(scene: Scene) -> None:
    """The picture kept up to date equals one made again."""
    kept, new = scene.geometry, lay_out(scene.geometry.design)
    assert list(kept.refs) == list(new.refs)
    for name in (
        "rect",
        "parent",
        "last",
        "is_container",
        "connection_a",
        "connection_b",
        "connection_route",
        "connection_capacity",
    ):
        assert (getattr(kept, name) == getattr(new, name)).all(), name


@pytest.mark.parametrize(("seed", "steps"), sample([(0, 250)], [(seed, 2000) for seed in range(5)]))
def test_ten_thousand_random_edits(qapp: object, seed: int, steps: int) -> None:
    rng = random.Random(seed)
    session = Session(designs.one_server())
    canvas = Canvas(session)
    maker = EditMaker(lambda n: rng.randrange(n))
    for step in range(steps):
        if rng.random() < 0.12:
            session.undo()
        elif rng.random() < 0.08:
            session.redo()
        else:
            session.apply(maker.edit(session.design))
        check(canvas.scene, session.design)
        if step % 50 == 0:
            same_as_new(canvas.scene)
        if len(session.design.parts) > 150 or len(canvas.scene.geometry) > 400:
            session.go_to(0)
        for within, ref in session.selection:
            assert (within, ref) in expected_things(session.design, opened_in(session.design)) or ref.what == "links"
    canvas.deleteLater()


def pixels(pixmap: QPixmap) -> np.ndarray[Any, Any]:
    """The colours of a picture. : (height, width, 4)"""
    image = pixmap.toImage().convertToFormat(QImage.Format.Format_RGB32)
    data = np.frombuffer(image.constBits(), dtype=np.uint8)
    return data.reshape(image.height(), image.bytesPerLine() // 4, 4)[:, : image.width(), :3]


def assert_pixels_true(canvas: Canvas) -> None:
    """What was scrolled and repaired together equals what is drawn from nothing."""
    canvas.repaint()
    canvas.tile_cache.finish(canvas.frame())
    kept = canvas.tile_cache.surface
    assert kept.pixmap is not None
    assert kept.frame == canvas.frame()
    fresh = Surface(canvas.batch_painter, kept.source, kept.background, kept.width, kept.height)
    fresh.draw_now(canvas.frame())
    assert fresh.pixmap is not None
    a, b = pixels(kept.pixmap).astype(int), pixels(fresh.pixmap).astype(int)
    differing = (np.abs(a - b) > 24).any(axis=2)
    # antialiased pieces of a line may fall a shade apart where it was cut
    assert differing.mean() < 5e-4, f"{differing.sum()} pixels differ"


def with_loads(canvas: Canvas) -> None:
    """Some load on everything."""
    net = canvas.scene._map.net
    assert net is not None
    used = np.random.default_rng(5).uniform(0, 1, 2 * net.n_links)
    canvas.set_loads(ChannelState(used * 1e10, used))


@pytest.mark.parametrize("scale", [1.0, 0.45, 0.12])
def test_panning_leaves_no_trace(make: Make, scale: float) -> None:
    bench = make(designs.one_unit(8).model_copy(update={"groups": opened(designs.one_unit(8))}))
    canvas = bench.canvas
    with_loads(canvas)
    canvas.zoom_to(scale)
    rng = random.Random(2)
    for k in range(40):
        canvas.set_view(canvas.view.panned(rng.randint(-60, 60), rng.randint(-60, 60)))
        canvas.repaint()
        if k % 3 == 0:
            for _ in range(4):
                canvas.tile_cache._work()
    assert_pixels_true(canvas)


def opened(design: Design) -> dict[str, Any]:
    """The groups of a design, open."""
    return {g.id: g.model_copy(update={"collapsed": False}) for g in design.groups.values()}


def test_edits_repair_just_what_changed(make: Make) -> None:
    bench = make(designs.one_server())
    canvas, session = bench.canvas, bench.session
    with_loads(canvas)
    rng = random.Random(4)
    for k in range(25):
        box = rng.randrange(1, len(canvas.scene.geometry))
        edit = move(canvas.scene.geometry, [box], rng.randint(-80, 80), rng.randint(-80, 80))
        assert edit is not None
        session.apply(edit)
        if k % 4 == 0:
            session.undo()
        if k % 5 == 0:
            assert_pixels_true(canvas)
    assert_pixels_true(canvas)


def test_a_drag_puts_everything_back(make: Make) -> None:
    bench = make(designs.one_server())
    canvas = bench.canvas
    for end in (Qt.Key.Key_Escape, None):
        start = bench.at("cpu1")
        QTest.mousePress(canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start)
        for k in range(1, 6):
            QTest.mouseMove(canvas, start + QPoint(12 * k, 9 * k))
            canvas.repaint()
        if end is not None:
            QTest.keyClick(canvas, end)
        QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start + QPoint(60, 45))
        assert canvas.scene.view_state.lifted is None
        assert_pixels_true(canvas)


def test_looks_results_and_routes_are_drawn_anew(make: Make) -> None:
    bench = make(designs.one_server())
    canvas = bench.canvas
    with_loads(canvas)
    before = pixels(canvas.grab()).copy()
    for change in (
        lambda: canvas.set_theme(DARK),
        lambda: canvas.highlight_route(["cpu0--psw1:ab"]),
        lambda: canvas.set_stale(True),
        lambda: canvas.set_binding(["gpu0--nvsw0:ab"]),
        lambda: canvas.set_loads(None),
    ):
        change()
        canvas.settle()
        after = pixels(canvas.grab()).copy()
        assert (after != before).any()
        before = after
        assert_pixels_true(canvas)


def test_the_exported_picture_has_all_detail_at_any_zoom(make: Make) -> None:
    bench = make(designs.one_server())
    canvas = bench.canvas
    near = canvas.image(1.0)
    canvas.set_view(View(0.02, 0, 0, 1400, 860))
    assert canvas.image(1.0) == near
    bench.select("gpu0")
    part = canvas.image(2.0, selected_only=True)
    assert part.width() < near.width()


def test_an_empty_design_is_shown_too(make: Make) -> None:
    bench = make(Design(name="empty"))
    canvas = bench.canvas
    canvas.grab()
    canvas.zoom_to_fit()
    canvas.image()
    assert canvas.add_part("gpu")
    assert set(bench.session.design.parts) == {"gpu0"}
    bench.session.select_all()
    canvas.zoom_to_selection()
    assert_pixels_true(canvas)
