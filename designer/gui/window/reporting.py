"""The report dialogs of a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from designer.gui.window.per_document import PerDocument

if TYPE_CHECKING:
    from designer.gui.dialogs.report_dialog import ReportDialog
    from designer.gui.session import Session


class Reporting(PerDocument["ReportDialog"]):
    """Asks what to report of documents, and where to."""

    def show(self, session: Session, folder: str) -> ReportDialog:
        """The dialog of a document, with the name of the file to be typed."""
        from designer.gui.dialogs.report_dialog import ReportDialog

        dialog = self.bring(session, lambda: ReportDialog(session, folder, self._window))
        dialog.file.setFocus()
        dialog.file.selectAll()
        return dialog

    def release(self, dialog: ReportDialog) -> None:
        """A report that is being written is stopped."""
        dialog.close_jobs()
