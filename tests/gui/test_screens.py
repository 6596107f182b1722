"""Screens look as they did: small windows, usual ones and large ones, in each theme; the pictures stand next to
them."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from designer.design.address import Ref
from designer.gui import theme
from designer.gui.dialogs.settings_dialog import SettingsDialog
from designer.gui.dialogs.workload_dialog import WorkloadDialog
from designer.gui.main_window import MainWindow
from designer.gui.settings import Settings
from tests.gui.looks import PICTURES, difference, looks_as_kept

#: a screen of 3840 × 2160 at 200 % shows as much as one of half its size
SIZES = {"1024": (1024, 700), "1440": (1440, 900), "3840": (1920, 1080)}
WIDTH = 480
#: share that may look otherwise; another panel is twice as much
MOST = 0.01


@pytest.mark.platform
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("look", ["light", "dark", "contrast"])
def test_screens_look_as_they_did(window: MainWindow, qtbot: QtBot, look: str, size: str) -> None:
    window.resize(*SIZES[size])
    window.set_theme(look)
    window.open_template("hgx-h100-8")
    document = window.document
    assert document is not None
    session = document.session
    session.set_workload("resnet-50")
    qtbot.waitUntil(lambda: session.analysis is not None and not session.stale, timeout=60_000)
    assert window.places is not None
    assert window.canvas is not None
    session.select([((), Ref("parts", "gpu0"))])
    for panel in ("answer", "links"):
        window.show_panel(panel)
        window.places.panels[panel].flush()
        window.places.inspector.flush()
        qtbot.wait(60)
        window.canvas.settle()
        window.toasts.hide()
        looks_as_kept(window, f"screen-{size}-{look}-{panel}", WIDTH, MOST)


# not on an X server: without a window manager it draws frames and fonts of a small dialog otherwise
@pytest.mark.parametrize("look", [theme.LIGHT, theme.DARK, theme.CONTRAST], ids=lambda look: look.name)
def test_dialogs_look_as_they_did(
    window: MainWindow, settings: Settings, qapp: QApplication, qtbot: QtBot, look: theme.Theme
) -> None:
    window.open_template("hgx-h100-8")
    assert window.document is not None
    design = window.document.session.design
    theme.apply(qapp, look)
    settings.theme = look.name
    for name, dialog in (
        ("settings", SettingsDialog(settings, window)),
        ("workload", WorkloadDialog(design.workloads["resnet-50"], window, design=design)),
    ):
        dialog.show()
        qtbot.wait(40)
        looks_as_kept(dialog, f"dialog-{look.name}-{name}", 360, MOST)
        dialog.close()
        dialog.deleteLater()


def test_another_screen_is_told_apart() -> None:
    """The comparison can fail: another theme, another size and another panel are other pictures."""
    known = QImage(str(PICTURES / "screen-1440-light-answer.png"))
    for name in ("screen-1440-dark-answer", "screen-1024-light-answer", "screen-1440-light-links"):
        assert difference(known, QImage(str(PICTURES / f"{name}.png"))) > MOST, name
