"""The bills of materials of a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from designer.gui.window.per_document import PerDocument

if TYPE_CHECKING:
    from designer.gui.dialogs.bill_dialog import BillDialog
    from designer.gui.session import Session
    from designer.gui.theme import Theme


class Billing(PerDocument["BillDialog"]):
    """Shows what documents consist of."""

    def show(self, session: Session, theme: Theme, folder: str) -> BillDialog:
        """The bill of materials of a document."""
        from designer.gui.dialogs.bill_dialog import BillDialog

        dialog = self.bring(session, lambda: BillDialog(session, theme, folder, self._window))
        dialog.table.setFocus()
        return dialog

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        for dialog in self.open.values():
            dialog.set_theme(theme)

    def release(self, dialog: BillDialog) -> None:
        """It no longer follows the document."""
        dialog.close_jobs()
