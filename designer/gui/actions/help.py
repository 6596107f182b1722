"""Help: shortcuts, the documentation and about."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtGui import QDesktopServices

from designer.errors import DesignerError
from designer.gui.actions._action import Action, Menu, Window
from designer.gui.workers import Newest


def _open_pages(window: Window) -> None:
    """Open the documentation in the browser; builds it in the background if this version is not built yet."""
    from designer.present.site import front_page

    jobs = Newest(QCoreApplication.instance())

    def opened(_: int, result: object) -> None:
        if isinstance(result, Path):
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(result)))
        elif isinstance(result, DesignerError):
            window.warn(str(result))
        else:
            window.warn(f"The documentation cannot be built: {result}")
        jobs.close()
        jobs.deleteLater()

    jobs.finished.connect(opened)
    jobs.submit(lambda _: front_page())


ACTIONS = (
    Action("help.shortcuts", "All commands and shortcuts", lambda w: w.command_palette(), ("F1",), icon="search"),
    Action("help.pages", "Documentation", _open_pages, words=("manual", "tutorial", "gallery", "glossary")),
    Action("help.about", "About designer", lambda w: w.about(), icon="info"),
)
MENU = Menu("help", "Help", 60, ACTIONS)
