"""Export a report: where, in which formats, with whose settings and prices; written next to the window, and stopped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import QUrl
from PySide6.QtGui import QCloseEvent, QDesktopServices, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QDialog, QFileDialog, QFormLayout, QHBoxLayout, QLineEdit, QPushButton, QWidget

from designer import atomic
from designer.errors import Cancelled, ReportError
from designer.gui.controls import Button
from designer.gui.layouts import in_column, in_row
from designer.gui.search_job import SearchJob
from designer.gui.session import Session
from designer.gui.workers import Cancelled_
from designer.interchange.native.envelope import written_by
from designer.report.assembly import Given, compose_report
from designer.report.settings import load_settings
from designer.report.writing import rendered

_FORMATS: Final = ((".html", "HTML", True), (".pdf", "PDF", True), (".md", "Markdown", False))
#: share of the progress until the report is put together; the rest is writing it
_COMPOSED: Final = 0.8


class ReportDialog(QDialog):
    """The report of one document.

    Parameters
    ----------
    folder
        Where it is written unless another place is named.
    """

    def __init__(self, session: Session, folder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export report")
        self.session = session
        self.job = SearchJob(self, "Write", self.run, self._take)
        self.go, self.problem, self.state = self.job.go, self.job.problem, self.job.state
        self.go.setDefault(True)
        place = session.file.parent if session.file is not None else Path(folder)
        self.file, self.settings, self.prices = QLineEdit(), QLineEdit(), QLineEdit()
        self.file.setText(str(place / f"{session.design.name}-report"))
        self.settings.setPlaceholderText("TOML: logo, chapters, targets, cost, energy")
        self.prices.setPlaceholderText("CSV: part, currency, price, date, valid until")
        self.formats = {suffix: QCheckBox(title) for suffix, title, _ in _FORMATS}
        for suffix, _, on in _FORMATS:
            self.formats[suffix].setChecked(on)
        self.look = Button("Open", self.open_written, tip="Show what was written in the program that shows such files")
        self.look.setAutoDefault(False)
        self.look.setEnabled(False)
        self.written: list[Path] = []
        self._asked: list[Path] = []
        #: files that are there already and may be replaced
        self._agreed: set[Path] = set()
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setSpacing(8)
        for title, line, browse in (
            ("File", self.file, self._browse_file),
            ("Settings", self.settings, partial(self._browse, self.settings, "Settings", "TOML (*.toml)")),
            ("Price list", self.prices, partial(self._browse, self.prices, "Price list", "CSV (*.csv)")),
        ):
            line.setAccessibleName(title)
            form.addRow(title, self._with_browse(line, browse))
        form.addRow("Formats", in_row(*self.formats.values(), 1, spacing=14))
        self.problem.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self.job.buttons.addWidget(self.look)
        below = (self.problem, self.job.progress, self.state, 1, self.job.buttons)
        in_column(form, *below, on=self, margins=(16, 14, 16, 14), spacing=10)
        self.file.textChanged.connect(self._agreed.clear)
        self.resize(560, 300)

    def _with_browse(self, line: QLineEdit, run: Callable[[], None]) -> QHBoxLayout:
        button = QPushButton("Browse…")
        button.setAutoDefault(False)
        button.clicked.connect(lambda: run())
        return in_row((line, 1), button)

    def _browse_file(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self,
            "Report",
            self.file.text(),
            "Reports (*.html *.pdf *.md)",
            options=QFileDialog.Option.DontConfirmOverwrite,
        )
        if name:
            self.file.setText(name)

    def _browse(self, line: QLineEdit, title: str, kinds: str) -> None:
        name, _ = QFileDialog.getOpenFileName(self, title, line.text(), f"{kinds};;All files (*)")
        if name:
            line.setText(name)

    @property
    def files(self) -> list[Path]:
        """What would be written: the name with the end of each format; an end that it has already says which."""
        stated = Path(self.file.text().strip())
        if not self.file.text().strip():
            return []
        if stated.suffix.lower() in self.formats:
            stated = stated.with_suffix("")
        return [stated.with_name(stated.name + suffix) for suffix, box in self.formats.items() if box.isChecked()]

    # ---- running

    def run(self) -> None:
        """Write it; what is written already is stopped."""
        files = self.files
        if not files:
            self.job.refuse(ReportError("there is nothing to write", remedy="name a file and choose a format"))
            return
        known = [f for f in files if f.exists() and f not in self._agreed and f not in self.written]
        if known:
            self._agreed.update(known)
            names = " and ".join(f.name for f in known)
            there = "is there already" if len(known) == 1 else "are there already"
            self.job.refuse(
                ReportError(f"{names} {there}", remedy="press Write again to replace, or name another file")
            )
            return
        design, shown = self.session.design, self.session.file.name if self.session.file is not None else ""
        settings, prices = self.settings.text().strip(), self.prices.text().strip()

        tell = self.job.report

        def job(cancelled: Cancelled_) -> object:
            chosen = load_settings(Path(settings) if settings else None, Path(prices) if prices else None)
            report = compose_report(
                [Given(design, shown)],
                chosen,
                version=written_by(),
                progress=lambda share, text: tell(share * _COMPOSED, text),
                cancelled=cancelled,
            )
            for n, file in enumerate(files):
                tell(_COMPOSED + (1 - _COMPOSED) * n / len(files), f"writing {file.name}")
                data = rendered(report, file.suffix)
                if cancelled():
                    raise Cancelled("stopped")
                atomic.write(file, data)
            return files

        self._asked = files
        self.look.setEnabled(False)
        self.job.begin(job, "Analysing…")

    def _take(self, result: object) -> None:
        self.written = [*self._asked]
        self.job.end(f"Wrote {' and '.join(f.name for f in self.written)} into {self.written[0].parent}.")
        self.look.setEnabled(True)

    def open_written(self) -> None:
        """Show the first file that was written."""
        if self.written:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.written[0])))

    @property
    def busy(self) -> bool:
        """True while it is written."""
        return self.job.busy

    def close_jobs(self) -> None:
        """Stop what runs, for good."""
        self.job.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc stops what runs first, and closes then."""
        if not self.job.stopped_by(event):
            super().keyPressEvent(event)

    def done(self, result: int) -> None:
        """Close, and stop what runs."""
        self.job.close()
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Close, and stop what runs."""
        self.job.close()
        super().closeEvent(event)
