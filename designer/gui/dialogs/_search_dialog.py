"""What dialogs that search beside the window share: a job that can be stopped, how far it is, why it was refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QDialog, QProgressBar, QPushButton, QWidget

from designer.errors import Cancelled, DesignerError
from designer.gui.controls import Label
from designer.gui.layouts import in_row
from designer.gui.workers import Cancelled_, Newest

_THOUSANDTHS: Final = 1000


class SearchDialog(QDialog):
    """Stays open beside the window. Esc stops what runs first; nothing goes on running once it is closed.

    Parameters
    ----------
    start
        What the button says that starts the search.
    """

    def __init__(self, title: str, start: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._finished)
        self._ticket = 0
        self.problem = Label(role="bad", wrap=True)
        self.problem.hide()
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.state = Label(role="muted", wrap=True)
        self.go = QPushButton(start)
        self.go.setDefault(True)
        self.go.clicked.connect(self.run)
        self.stop = QPushButton("Stop")
        self.stop.setEnabled(False)
        self.stop.clicked.connect(self.halt)
        self.buttons = in_row(self.go, self.stop, 1)

    def run(self) -> None:
        """Search; what runs already is stopped."""
        raise NotImplementedError

    def halt(self) -> None:
        """Stop; what has come stays."""
        raise NotImplementedError

    def _finished(self, ticket: int, result: object) -> None:
        """A job has ended; an earlier one is known by its ticket."""
        raise NotImplementedError

    @property
    def busy(self) -> bool:
        """True while it searches."""
        return self.stop.isEnabled()

    def _refuse(self, error: Exception) -> None:
        text = f"{error.text} — {error.remedy}" if isinstance(error, DesignerError) and error.remedy else str(error)
        if isinstance(error, DesignerError) and error.file and error.remedy:
            text = f"{error.file}: {text}"
        self.problem.setText(text)
        self.problem.show()

    def close_jobs(self) -> None:
        """Stop what runs, for good."""
        self._jobs.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc stops what runs first, and closes then."""
        if event.key() == Qt.Key.Key_Escape and self.busy:
            self.halt()
            return
        super().keyPressEvent(event)

    def done(self, result: int) -> None:
        """Close, and stop the search."""
        self.close_jobs()
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Close, and stop the search."""
        self.close_jobs()
        super().closeEvent(event)


class OneAnswerDialog(SearchDialog):
    """A search with one answer at its end, which tells how far it is as a share of the whole."""

    def __init__(self, title: str, start: str, parent: QWidget | None = None) -> None:
        super().__init__(title, start, parent)
        self.progress.setRange(0, _THOUSANDTHS)

    def _begin(self, job: Callable[[Cancelled_], object], text: str) -> None:
        """Run a job instead of the one that runs; `text` says what is done first."""
        self._ticket = self._jobs.submit(job)
        self.state.setText(text)
        self.stop.setEnabled(True)

    def _take(self, result: object) -> None:
        """Show the answer."""
        raise NotImplementedError

    def halt(self) -> None:
        """Stop; nothing comes of what ran."""
        self._jobs.cancel()
        self._end("Stopped.")

    def _progress(self, share: float, text: str) -> None:
        if self.busy:
            self.progress.setValue(round(share * _THOUSANDTHS))
            self.state.setText(text)

    def _finished(self, ticket: int, result: object) -> None:
        if ticket != self._ticket or not self.busy:
            return
        if not isinstance(result, Exception):
            self._take(result)
            return
        self._end("")
        if not isinstance(result, Cancelled):
            self._refuse(result)

    def _end(self, text: str) -> None:
        self.stop.setEnabled(False)
        self.progress.setValue(0)
        self.state.setText(text)
