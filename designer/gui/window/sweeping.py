"""The sweep dialogs of a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from designer.gui.window.per_document import PerDocument

if TYPE_CHECKING:
    from designer.gui.dialogs.sweep_dialog import SweepDialog
    from designer.gui.session import Session
    from designer.gui.theme import Theme
    from designer.gui.viewmodels.sweep import Varied


class Sweeps(PerDocument["SweepDialog"]):
    """Asks which values of documents are to be varied."""

    def ask(self, session: Session, theme: Theme, varied: Varied | None) -> SweepDialog:
        """Ask about a value of a document."""
        from designer.gui.dialogs.sweep_dialog import SweepDialog

        known = self.open.get(session)
        if known is not None and varied is not None:
            known.ask(varied)
        dialog = self.bring(session, lambda: SweepDialog(session, theme, varied, self._window))
        dialog.first.range.setFocus()
        dialog.first.range.selectAll()
        return dialog

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        for dialog in self.open.values():
            dialog.set_theme(theme)

    def release(self, dialog: SweepDialog) -> None:
        """Runs that are under way are stopped."""
        dialog.close_jobs()
