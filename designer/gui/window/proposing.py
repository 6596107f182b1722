"""The dialog of proposals of a window: one, whose chosen designs open as new documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from designer.design.document import Design
    from designer.gui.dialogs.propose_dialog import ProposeDialog
    from designer.gui.theme import Theme


class Proposing:
    """Opens it beside a window, and closes it."""

    def __init__(self, window: QWidget, take: Callable[[Design], object]) -> None:
        self._window, self._take = window, take
        self.dialog: ProposeDialog | None = None

    def ask(self, theme: Theme, base: Design | None) -> ProposeDialog:
        """Show the dialog; it comes to the front, or is made."""
        from designer.gui.dialogs.propose_dialog import ProposeDialog

        if self.dialog is None:
            self.dialog = ProposeDialog(theme, base, self._window)
            self.dialog.wanted.connect(self._take)
            self.dialog.finished.connect(self.close)
        self.dialog.base = base
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()
        return self.dialog

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        if self.dialog is not None:
            self.dialog.set_theme(theme)

    def close(self, *_: object) -> None:
        """Close it."""
        dialog, self.dialog = self.dialog, None
        if dialog is not None:
            dialog.close_jobs()
            dialog.close()
            dialog.deleteLater()
