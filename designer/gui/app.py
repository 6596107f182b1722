"""Starts the window."""

from __future__ import annotations

import faulthandler
import gc
import sys
from collections.abc import Callable
from types import TracebackType

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from designer.gui import theme
from designer.gui.main_window import MainWindow
from designer.gui.settings import Settings

#: threads take turns this often, so that a running analysis does not make the window stutter [s]
SWITCH = 0.0005


def make_application() -> QApplication:
    """The Qt application with name, font and colours."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(sys.argv[:1])
    app.setApplicationName("designer")
    app.setApplicationDisplayName("designer")
    app.setDesktopFileName("designer")
    return app


def make_window(app: QApplication, settings: Settings | None = None) -> MainWindow:
    """The window in the look of the settings, not shown yet."""
    settings = settings or Settings()
    theme.base_font(app, settings.font_scale)
    theme.apply(app, theme.resolve(settings.theme))
    return MainWindow(settings)


def run(files: list[str]) -> int:
    """Open the window with files or templates; the value is the exit code."""
    if sys.stderr is not None:
        faulthandler.enable()
    sys.setswitchinterval(SWITCH)
    app = make_application()
    window = make_window(app)
    sys.excepthook = report_to(window.warn)
    if not window.isMaximized():
        window.fit_screen(window.screen().availableGeometry())
    window.show()

    def begin() -> None:
        window.begin(files)
        # what is loaded now stays: the collector need not look at it again and again
        gc.freeze()

    QTimer.singleShot(0, window, begin)
    try:
        return app.exec()
    finally:
        window.shut_down()


def report_to(
    warn: Callable[[str], None],
) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
    """An exception hook that describes a mistake in the program and goes on; the work stays in the journal."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        sys.__excepthook__(kind, error, trace)
        if not issubclass(kind, KeyboardInterrupt):
            warn(f"Something went wrong inside the program: {kind.__name__}: {error}")

    return hook
