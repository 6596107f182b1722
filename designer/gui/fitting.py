"""Looks for settings with which a workload fits, as soon as its answer says that it does not."""

from __future__ import annotations

from PySide6.QtCore import QObject

from designer.errors import Cancelled, DesignerError
from designer.gui.session import Session
from designer.gui.workers import Cancelled_, Newest
from designer.present.blocks import State


class FittingFinder(QObject):
    """Keeps `Session.fitting` up to date; the analyses it takes run on a thread of its own."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._arrived)
        self._wanted: tuple[object, str] | None = None
        session.analysis_changed.connect(self._look)
        session.state_changed.connect(self._look)

    def _look(self, *_: object) -> None:
        session = self.session
        if session.state not in (State.UNFIT, State.REFUSED):
            if self._wanted is not None:
                self._wanted = None
                self._jobs.cancel()
            return
        design, workload = session.design, session.workload
        if self._wanted is not None and self._wanted[0] is design and self._wanted[1] == workload:
            return
        self._wanted = (design, workload)
        session.set_fitting(None)

        def job(cancelled: Cancelled_) -> object:
            from designer.decisions.fitting import fitting_settings

            return fitting_settings(design, workload, cancelled=cancelled)

        self._jobs.submit(job)

    def _arrived(self, _ticket: int, result: object) -> None:
        if self._wanted is None or self._wanted[0] is not self.session.design or isinstance(result, Cancelled):
            return
        if isinstance(result, Exception) and not isinstance(result, DesignerError):
            self.session.warned.emit(f"Something went wrong in the search for settings that fit: {result!r}")
        # a refusal says no more than the answer itself: nothing that fits is known
        self.session.set_fitting(result if isinstance(result, tuple) else ())

    def close(self) -> None:
        """Stop for good."""
        self._jobs.close()
