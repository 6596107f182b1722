"""A template that is opened fills the canvas, and the canvas most of the window."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from designer.gui.main_window import MainWindow

#: window [px]; least share of it that is canvas; least scale at which a server of eight GPUs is shown whole, where text
#: of 13 px has 9 px; least share of the canvas next to the tools that its drawing covers.
#: By hand, 1440 × 900: the canvas is 1440 − 340 wide and 900 − 40 − 30 high, 70.4 %; the server is 1424 units wide with
#: 16 px at both sides, 1068 / 1424 = 0.75.
SIZES = {
    (1440, 900): (0.70, 0.74, 0.74),
    (1024, 700): (0.79, 0.62, 0.85),
    # a screen of 3840 × 2160 at 200 %
    (1920, 1080): (0.74, 1.02, 0.85),
}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("template", ["hgx-h100-8", "hgx-b200-8", "dgx-h200", "dell-xe9680"])
def test_a_server_fills_the_canvas(window: MainWindow, qtbot: QtBot, template: str, size: tuple[int, int]) -> None:
    window.resize(*size)
    window.open_template(template)
    canvas = window.canvas
    assert canvas is not None
    qtbot.waitUntil(canvas.shows_all)
    share, scale, filled = SIZES[size]
    assert canvas.width() * canvas.height() >= share * size[0] * size[1]
    assert canvas.view.scale >= scale
    _, _, wide, high = canvas.scene.view_state.bounds
    left, top, right, bottom = canvas.free
    room = (canvas.width() - left - right) * (canvas.height() - top - bottom)
    assert wide * high * canvas.view.scale**2 >= filled * room


def test_small_designs_are_shown_larger_but_not_huge(window: MainWindow, qtbot: QtBot) -> None:
    window.open_template("cluster-1024")
    canvas = window.canvas
    assert canvas is not None
    qtbot.waitUntil(canvas.shows_all)
    assert 1.0 < canvas.view.scale <= 1.5


def test_the_list_of_parts_opens_over_the_drawing(window: MainWindow, qtbot: QtBot) -> None:
    """What was in sight keeps its place and size."""
    window.resize(1440, 900)
    window.open_template("hgx-h100-8")
    canvas, listed = window.canvas, window.area
    assert canvas is not None
    qtbot.waitUntil(canvas.shows_all)
    before = canvas.camera.target
    window.show_panel("parts")
    assert listed.palette_ is not None
    qtbot.waitUntil(listed.palette_.isVisible)
    assert canvas.camera.target == before
    window.leave_panels()
    qtbot.waitUntil(listed.palette_.isHidden)
    assert canvas.camera.target == before
