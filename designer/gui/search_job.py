"""A search next to the window, for pages and dialogs: a job that can be stopped, how far it is, why it was refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QProgressBar, QWidget

from designer.errors import Cancelled, DesignerError
from designer.gui.controls import Button, Label
from designer.gui.layouts import in_row
from designer.gui.workers import Cancelled_, Newest

_THOUSANDTHS: Final = 1000


class SearchJob(QObject):
    """A job with the buttons that run and stop it, its progress and its messages; the owner lays these out.

    Parameters
    ----------
    run
        Starts the job by `begin`.
    take
        Shows what the job returned.
    halted
        Called after the job was stopped.
    """

    def __init__(
        self,
        owner: QWidget,
        start: str,
        run: Callable[[], object],
        take: Callable[[object], object],
        halted: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(owner)
        self._take, self._halted = take, halted
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._finished)
        self._ticket = 0
        self.problem = Label(role="bad", wrap=True)
        self.problem.hide()
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setRange(0, _THOUSANDTHS)
        self.state = Label(role="muted", wrap=True)
        self.go, self.stop = Button(start, lambda: run()), Button("Stop", lambda: self.halt())
        self.go.setProperty("primary", True)
        self.stop.setEnabled(False)
        self.buttons = in_row(self.go, self.stop, 1)

    def halt(self) -> None:
        """Stop, and say so."""
        self.cancel()
        self.state.setText("Stopped.")
        self._halted()

    def cancel(self) -> None:
        """Stop without a word; nothing comes of what ran."""
        self._jobs.cancel()
        self.end("")

    @property
    def busy(self) -> bool:
        """True while it runs."""
        return self.stop.isEnabled()

    def begin(self, job: Callable[[Cancelled_], object], text: str) -> None:
        """Run a job instead of the one that runs; `text` says what is done first."""
        self.problem.hide()
        self._ticket = self._jobs.submit(job)
        self.state.setText(text)
        self.stop.setEnabled(True)

    def end(self, text: str) -> None:
        """The job has ended, with a last word."""
        self.stop.setEnabled(False)
        self.progress.setValue(0)
        self.state.setText(text)

    def report(self, share: float, text: str) -> None:
        """Show how far the job is; for jobs to call from their thread."""
        self._jobs.call(partial(self._report, share, text))

    def _report(self, share: float, text: str) -> None:
        if self.busy:
            self.progress.setValue(round(share * self.progress.maximum()))
            self.state.setText(text)

    def _finished(self, ticket: int, result: object) -> None:
        if ticket != self._ticket or not self.busy:
            return
        if not isinstance(result, Exception):
            self._take(result)
            return
        self.end("")
        if not isinstance(result, Cancelled):
            self.refuse(result)

    def refuse(self, error: Exception) -> None:
        """Say why there is no answer, and what to do."""
        text = f"{error.text} — {error.remedy}" if isinstance(error, DesignerError) and error.remedy else str(error)
        if isinstance(error, DesignerError) and error.file and error.remedy:
            text = f"{error.file}: {text}"
        self.problem.setText(text)
        self.problem.show()

    def call(self, call: Callable[[], object]) -> None:
        """Have something called on the thread of the window; from the thread of the job."""
        self._jobs.call(call)

    def stopped_by(self, event: QKeyEvent) -> bool:
        """Whether a key was Esc and stopped what runs."""
        if event.key() == Qt.Key.Key_Escape and self.busy:
            self.halt()
            return True
        return False

    def close(self) -> None:
        """Stop what runs, for good."""
        self._jobs.close()
