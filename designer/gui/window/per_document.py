"""Dialogs next to a window, one a document at most, closed with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtWidgets import QDialog, QWidget

if TYPE_CHECKING:
    from designer.gui.session import Session

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
