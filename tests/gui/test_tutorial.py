"""The tutorial's window half, walked by keys and mouse as it is written: an empty canvas, a machine, a report."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.gui.main_window import MainWindow
from tests.gui.test_journeys import LEFT, Keys, User

pytestmark = pytest.mark.platform

#: what the page says to type, in its order
NAMES = ("server", "xeon-spr", "ddr5-4800-8ch", "h100 pcie", "h100 pcie", "nvme gen4")


@pytest.fixture
def user(window: MainWindow, qtbot: QtBot) -> User:
    window.resize(1440, 900)
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window, timeout=5000)
    return User(window, qtbot)


def test_from_an_empty_canvas_to_a_report(user: User, qtbot: QtBot, tmp_path: Path) -> None:
    keys = Keys(user)
    keys.press("Ctrl+N")
    for name in NAMES:
        keys.place(name)
    (server,) = user.ids("server")
    inside = {p.id for p in user.session.design.parts.values() if p.parent == server}
    assert inside == set(user.session.design.parts) - {server}, (
        "what is placed one after the other stands in the server"
    )

    keys.press("Esc")
    user.fit()
    (cpu,) = user.ids("cpu")
    for kind in ("memory", "gpu", "drive"):
        for part in user.ids(kind):
            user.connect(cpu, part)
    links = user.session.design.links
    assert {x.kind for x in links.values() if "memory" in x.id} == {"memory_bus"}, "its usual connection, not CXL"

    # the second GPU gets half the lanes
    slow = f"{cpu}--{user.ids('gpu')[1]}"
    user.session.select([((), Ref("links", slow))])
    user.inspector.flush()
    lanes = user.inspector.rows["lanes"].value
    assert isinstance(lanes, QLineEdit)
    qtbot.mouseDClick(lanes, LEFT)
    keys.type("8")
    keys.press("Return")
    assert user.session.design.links[slow].lanes == 8

    user.fill_dialog({"from": "memory", "to": "gpus"})
    result = user.settled()
    assert {b.id for b in result.binding} == {f"{slow}:ab"}
    before = result.metrics["rate"].value

    # undone, both GPUs are fed alike
    user.session.select([((), Ref("links", slow))])
    user.inspector.flush()
    lanes = user.inspector.rows["lanes"].value
    assert isinstance(lanes, QLineEdit)
    qtbot.mouseDClick(lanes, LEFT)
    keys.type("16")
    keys.press("Return")
    assert user.settled().metrics["rate"].value == pytest.approx(before * 4 / 3, rel=0.01), (
        "three quarters before: 16 + 8 lanes of 32"
    )

    user.canvas.setFocus()
    keys.press("Ctrl+Shift+E")
    dialog = user.window.reporting.open[user.session]
    dialog.file.selectAll()
    qtbot.keyClicks(dialog.file, str(tmp_path / "mine"))
    qtbot.keyClick(dialog.file, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not dialog.busy, timeout=120_000)
    assert "Wrote mine.html and mine.pdf" in dialog.state.text()
