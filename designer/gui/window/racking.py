"""The racks dialogs of a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from designer.gui.window.per_document import PerDocument

if TYPE_CHECKING:
    from designer.gui.dialogs.racks_dialog import RacksDialog
    from designer.gui.session import Session
    from designer.gui.theme import Theme


class Racking(PerDocument["RacksDialog"]):
    """Shows the racks of documents."""

    def show(self, session: Session, theme: Theme) -> RacksDialog:
        """The racks of a document."""
        from designer.gui.dialogs.racks_dialog import RacksDialog

        dialog = self.bring(session, lambda: RacksDialog(session, theme, self._window))
        dialog.view.setFocus()
        return dialog

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        for dialog in self.open.values():
            dialog.set_theme(theme)

    def release(self, dialog: RacksDialog) -> None:
        """It no longer follows the document."""
        dialog.close_links()
