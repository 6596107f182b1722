"""Dialogs next to a window, one a document at most, closed with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtWidgets import QDialog, QWidget

if TYPE_CHECKING:
    from designer.gui.dialogs.bill_dialog import BillDialog
    from designer.gui.dialogs.racks_dialog import RacksDialog
    from designer.gui.dialogs.report_dialog import ReportDialog
    from designer.gui.session import Session
    from designer.gui.theme import Theme

D = TypeVar("D", bound=QDialog)


class PerDocument(Generic[D]):
    """Opens dialogs of one kind, and closes them.

    Parameters
    ----------
    window
        The window in front of which they are shown.
    """

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self.open: dict[Session, D] = {}

    def bring(self, session: Session, make: Callable[[], D]) -> D:
        """The dialog of a document in front of all others, made where there is none."""
        dialog = self.open.get(session)
        if dialog is None:
            dialog = self.open[session] = make()
            dialog.finished.connect(lambda: self.close(session))
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()
        return dialog

    def release(self, dialog: D) -> None:
        """What a dialog that is about to close must let go of."""
        raise NotImplementedError

    def close(self, session: Session) -> None:
        """Close the dialog of a document."""
        dialog = self.open.pop(session, None)
        if dialog is not None:
            self.release(dialog)
            dialog.close()
            dialog.deleteLater()

    def close_all(self) -> None:
        """Close them all."""
        for session in list(self.open):
            self.close(session)


# The bills of materials of a window.


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


# The racks dialogs of a window.


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


# The report dialogs of a window.


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
