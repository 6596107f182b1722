"""Keeps the layer of virtual machines up to date, on a thread next to the window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from designer.drawing.machines import Machines, machines_of
from designer.gui.session import Session
from designer.gui.workers import Cancelled_, Newest

if TYPE_CHECKING:
    from designer.design.diff import Diff


class MachineWatch(QObject):
    """States the hosts of the machines of a session's design after each edit that matters; no thread without machines.

    Parameters
    ----------
    show
        Takes the machines, or None where there are none or the design cannot be elaborated.
    """

    def __init__(self, session: Session, show: Callable[[Machines | None], object], parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._show = session, show
        self._ticket = 0
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._arrived)
        session.design_changed.connect(self._changed)
        self.refresh()

    def refresh(self) -> None:
        """Ask for the present design."""
        design = self._session.design
        if not design.vms:
            self._jobs.cancel()
            self._ticket = 0
            self._show(None)
            return

        def job(_cancelled: Cancelled_) -> object:
            return machines_of(design)

        self._ticket = self._jobs.submit(job)

    def close(self) -> None:
        """Stop for good."""
        self._session.design_changed.disconnect(self._changed)
        self._jobs.close()

    def _changed(self, changes: Diff) -> None:
        if not changes.only_placement:
            self.refresh()

    def _arrived(self, ticket: int, result: object) -> None:
        if ticket == self._ticket:
            self._show(result if isinstance(result, Machines) else None)
