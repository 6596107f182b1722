"""The sweep dialogs of a window: one a document, closed with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from designer.gui.dialogs.sweep_dialog import SweepDialog
    from designer.gui.session import Session
    from designer.gui.theme import Theme
    from designer.gui.viewmodels.sweep import Varied


class Sweeps:
    """Opens them beside a window, and closes them."""

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self.open: dict[Session, SweepDialog] = {}

    def ask(self, session: Session, theme: Theme, varied: Varied | None) -> SweepDialog:
        """Ask about a value of a document; its dialog comes to the front, or is made."""
        from designer.gui.dialogs.sweep_dialog import SweepDialog

        dialog = self.open.get(session)
        if dialog is None:
            dialog = self.open[session] = SweepDialog(session, theme, varied, self._window)
            dialog.finished.connect(lambda: self.close(session))
        elif varied is not None:
            dialog.ask(varied)
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()
        dialog.first.range.setFocus()
        dialog.first.range.selectAll()
        return dialog

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        for dialog in self.open.values():
            dialog.set_theme(theme)

    def close(self, session: Session) -> None:
        """Close the dialog of a document."""
        dialog = self.open.pop(session, None)
        if dialog is not None:
            dialog.close_jobs()
            dialog.close()
            dialog.deleteLater()

    def close_all(self) -> None:
        """Close them all."""
        for session in list(self.open):
            self.close(session)
