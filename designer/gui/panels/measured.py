"""The measured: measurements of one's own, or published ones, next to what the program predicts for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFileDialog,
    QProgressBar,
    QPushButton,
    QSplitter,
    QStackedLayout,
    QWidget,
)

from designer.decisions.validation import predict, score
from designer.errors import Cancelled
from designer.gui.controls import Button, plain
from designer.gui.layouts import FLUSH, in_column, in_row, scrolled
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._widgets import Table, quiet
from designer.gui.theme import Theme
from designer.gui.viewmodels import measured
from designer.gui.viewmodels.table import sentence_case
from designer.gui.workers import Cancelled_, Newest
from designer.interchange.cases import gathered
from designer.report.figures.predicted_measured import figures_of

if TYPE_CHECKING:
    from designer.decisions.validation import Validation
    from designer.gui.figures.view import FigureView

#: the least width of a figure next to the table [px]
_FIGURE = 460
_INTRO = (
    "Compare predictions with measurements: a file of cases as “designer validate” reads them, JSON or TOML. "
    "Each names a design, a workload and what was measured."
)


class MeasuredPanel(Panel):
    """A table of measurements with their predictions, and the figure of one over the other."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.intro = quiet(_INTRO)
        self.intro.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.intro.setMaximumWidth(520)
        self.opener = Button("Open measurements…", self.ask)
        first = QWidget()
        first.setObjectName("panel")
        # in the middle, as wide as is read well: an alignment would give it the width of a few words
        line = in_row(1, (self.intro, 100), 1)
        opener = (self.opener, 0, Qt.AlignmentFlag.AlignHCenter)
        in_column(1, line, opener, 1, on=first, margins=(14, 12, 14, 12), spacing=10)
        self.headline = quiet("")
        self.bar = QProgressBar()
        self.bar.setAccessibleName("Progress of the predictions")
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 1000)
        self.bar.setFixedWidth(90)
        self.again, self.stopper = QPushButton("Open others…"), QPushButton("Stop")
        self.again.clicked.connect(self.ask)
        self.stopper.clicked.connect(self.stop)
        head = in_row((self.headline, 1), self.bar, self.stopper, self.again, margins=(10, 6, 8, 2))
        # the columns are stated with the first rows: what they are about need not be loaded before
        self.table = Table((), theme, "Measurements and predictions", shrink=0.75)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._split = QSplitter()
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self.table)
        second = QWidget()
        second.setObjectName("panel")
        in_column(head, (self._split, 1), on=second, margins=FLUSH, spacing=2)
        self._stack = QStackedLayout(self)
        area = scrolled(first)
        self._stack.addWidget(area)
        self._stack.addWidget(second)
        self._views: list[FigureView] = []
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._arrived)
        self._found: tuple[Validation, tuple[str, ...]] | None = None

    def close_jobs(self) -> None:
        """Stop what runs."""
        self._jobs.close()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        for view in self._views:
            view.set_theme(theme)
        super().set_theme(theme)

    def entry(self) -> QWidget | None:
        """The button that opens measurements, or the table of those opened."""
        return self.table if self._found is not None else self.opener

    def ask(self) -> None:
        """Ask for files of measurements and predict them."""
        names, _ = QFileDialog.getOpenFileNames(
            self, "Open measurements", str(Path.home()), "Measurements (*.json *.toml);;All files (*)"
        )
        if names:
            self.predict([Path(name) for name in names])

    def predict(self, files: Sequence[Path]) -> None:
        """Predict what was measured, next to the window's own work."""

        def job(cancelled: Cancelled_) -> object:
            read, wrong = gathered(files)
            problems = (*map(str, wrong), *(str(p) for file in read for p in file.problems))
            cases = [case for file in read for case in file.cases]
            outcomes = []
            for number, (design, case) in enumerate(cases):
                if cancelled():
                    raise Cancelled("the predictions were stopped")
                self._jobs.call(partial(self._progress, number, len(cases)))
                outcomes.append(predict(design, case))
            return score(outcomes), problems

        self._stack.setCurrentIndex(1)
        self._busy(True)
        self.headline.setText("Reading the measurements…")
        self._jobs.submit(job)

    def stop(self) -> None:
        """Leave it: what was there before stays."""
        self._jobs.cancel()
        self._busy(False)
        self.outdate()
        if self._found is None:
            self._stack.setCurrentIndex(0)

    def _busy(self, on: bool) -> None:
        self.bar.setVisible(on)
        self.stopper.setVisible(on)
        self.again.setVisible(not on)
        self.bar.setValue(0)

    def _progress(self, number: int, of: int) -> None:
        if not self.stopper.isHidden():
            self.bar.setValue(1000 * number // max(of, 1))
            self.headline.setText(f"Predicting {number + 1} of {of}…")

    def _arrived(self, _ticket: int, result: object) -> None:
        self._busy(False)
        if isinstance(result, Exception):
            self.headline.setText(sentence_case(str(result)))
            return
        self._found = result  # type: ignore[assignment]
        self.flush()

    def refresh(self) -> None:
        """Show what was found."""
        self.table.set_theme(self.theme)
        if self._found is None or not self.stopper.isHidden():
            return

        found, problems = self._found
        self.headline.setText(measured.headline(found, problems))
        self.headline.setToolTip(plain("\n".join(problems[:12])))
        self.table.lines.set_lines(measured.lines(found), measured.COLUMNS)
        self.table.fit_columns()
        self._draw(found)

    def _draw(self, found: Validation) -> None:
        from designer.gui.figures.view import FigureView

        figures = sorted(figures_of(found), key=lambda f: -sum(len(line.x) for line in f.lines))
        # the one with most points, and others where there is room
        figures = figures[: max(1, self.width() // _FIGURE - 1)]
        while len(self._views) < len(figures):
            view = FigureView(self.theme)
            self._views.append(view)
            self._split.addWidget(view)
        for number, view in enumerate(self._views):
            view.set_figure(figures[number] if number < len(figures) else None)
            view.setVisible(number < len(figures))
        wide = max(1, self._split.width())
        share = 0.55 if len(figures) < 2 else 0.4
        self._split.setSizes(
            [round(wide * share), *([round(wide * (1 - share) / max(1, len(figures)))] * len(figures))]
        )


PANEL = PanelKind("measured", "Measured", Place.CHECKS, 30, lambda s: MeasuredPanel(s.theme))
