"""A value swept: what the shown workload does while one or two values vary, drawn as it comes; a run is a card."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFormLayout, QLineEdit, QWidget

from designer import atomic
from designer.decisions.answers import make_task
from designer.decisions.row_files import to_csv
from designer.decisions.runs import grid
from designer.decisions.variables import make_variable
from designer.errors import DesignerError, WriteError
from designer.gui.completing import CompletedChoice
from designer.gui.controls import Button, plain
from designer.gui.figures.marked_slider import MarkedSlider
from designer.gui.layouts import FLUSH, Wrap, in_column, in_row, scrolled
from designer.gui.panels._cards import Cards, apply_change
from designer.gui.panels._widgets import WidgetColumn
from designer.gui.search_job import SearchJob
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import sweep
from designer.gui.viewmodels.sweep import Along, Varied, along, has_frontier, run_change
from designer.gui.workers import Cancelled_
from designer.interchange.overrides import overridden
from designer.present.blocks import Change

if TYPE_CHECKING:
    from designer.decisions.answers import Row, Task
    from designer.gui.figures.sweep_plot import SweepPlots

#: rows are drawn together if they come this close [ms]; height of each plot [px]
_DRAW: Final = 120
_HIGH: Final = 420
#: more runs than this are a mistake at the window
RUNS_LIMIT: Final = 5000


class ValueRow(QWidget):
    """Which value varies and over what."""

    def __init__(self, name: str, may_be_none: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.known: tuple[Varied, ...] = ()
        self._may_be_none = may_be_none
        self.value = CompletedChoice()
        self.value.setAccessibleName(f"{name}: value")
        self.value.setMinimumContentsLength(12)
        self.range = QLineEdit()
        self.range.setAccessibleName(f"{name}: values")
        self.range.setPlaceholderText("64, 128 or 32..1024*2")
        self.range.setToolTip(
            plain("A list: 64, 128, 256\nA factor: 32..1024*2\nA step: 1 GB..8 GB+1 GB\nSo many: 100 Gb/s..800 Gb/s:8")
        )
        in_column(self.value, self.range, on=self, margins=FLUSH, spacing=4)
        self.value.activated.connect(self._chosen)
        line = self.value.lineEdit()
        assert line is not None
        line.editingFinished.connect(self._tell_chosen)

    def fill(self, known: Sequence[Varied], first: Varied | None) -> None:
        """Offer these values; `first` is chosen."""
        self.known = tuple(known)
        self.value.clear()
        if self._may_be_none:
            self.value.addItem("nothing else", "")
        for varied in known:
            self.value.addItem(varied.title, varied.path)
        self.value.offer([(v.path, v.title) for v in known])
        self.value.setCurrentIndex(max(0, self.value.findData(first.path)) if first is not None else 0)
        self._chosen()

    @property
    def varied(self) -> Varied | None:
        """The value chosen."""
        path = str(self.value.currentData() or "")
        return next((v for v in self.known if v.path == path), None)

    def values(self) -> str:
        """What it is set to in turn, with units."""
        return sweep.with_units(self.varied, self.range.text()) if self.varied is not None else ""

    def _tell_chosen(self) -> None:
        """Words that are no value do not stay: the field shows what varies."""
        at = self.value.currentIndex()
        if self.value.currentText() != self.value.itemText(at):
            self.value.setEditText(self.value.itemText(at))

    def _chosen(self, *_: object) -> None:
        varied = self.varied
        self.range.setText(sweep.suggested(varied) if varied is not None else "")
        self.range.setEnabled(varied is not None)
        line = self.value.lineEdit()
        if line is not None:
            # of a long name the beginning is read
            line.setCursorPosition(0)
        now = f"now {varied.now}" if varied is not None and varied.now else ""
        self.value.setToolTip(plain("\n".join(t for t in (varied.path if varied else "", now) if t)))


class SweepPage(QWidget):
    """The sweep of the shown workload: the form, its plots, and the run that the slider is at as a card."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.session: Session | None = None
        self.task: Task | None = None
        self.rows: list[Row] = []
        self._titles: tuple[str, ...] = ()
        self._count = 0
        #: the workload that the form is filled for
        self._workload: str | None = None
        self.job = SearchJob(self, "Run", self.run, self._done, self._halted)
        self._timer = QTimer(self, singleShot=True, interval=_DRAW)
        self._timer.timeout.connect(self._draw)
        self.first, self.second = ValueRow("Vary", False), ValueRow("And", True)
        self.metrics: dict[str, QCheckBox] = {}
        self._metrics = WidgetColumn()
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow("Vary", self.first)
        form.addRow("And", self.second)
        form.addRow("Answers", self._metrics)
        self.plots: SweepPlots | None = None
        self.slider: MarkedSlider | None = None
        self.way = Along()
        self.best = QCheckBox("Frontier only")
        self.best.setToolTip("Only runs that no other run beats in both of the first two answers")
        self.best.toggled.connect(self._follow)
        self.cards = Cards()
        self.cards.chosen.connect(self._apply)
        self.whole = Button("Show all", self._whole, tip="Back from any zoom. Ctrl and the wheel zoom, dragging moves.")
        self.apart = Button("Own window", self.pop_out, tip="Keep these plots in a window of their own")
        self.command = Button("Copy command", self.copy_command, tip="The same sweep as a command for a terminal")
        self.save = Button("Save CSV…", self._ask_save)
        self.below = Wrap(self.whole, self.apart, self.command, self.save)
        self.way_page = QWidget()
        self._way_line = in_row(self.best, spacing=10)
        in_column(self._way_line, self.cards, on=self.way_page, margins=FLUSH, spacing=4)
        page = QWidget()
        page.setObjectName("panel")
        self._lines = in_column(
            form,
            self.job.problem,
            self.job.buttons,
            self.job.progress,
            self.job.state,
            self.way_page,
            self.below,
            1,
            on=page,
            margins=(14, 6, 12, 10),
            spacing=7,
        )
        in_column((scrolled(page), 1), on=self, margins=FLUSH)
        for text in (self.first.range, self.second.range):
            text.returnPressed.connect(self.run)
        self.way_page.hide()
        self._enable()

    # ---- what is asked

    def follow(self, session: Session | None) -> None:
        """Sweep values of another document."""
        self.job.cancel()
        self.session, self._workload = session, None
        self._clear()

    def ask(self, varied: Varied | None = None) -> None:
        """Ask about a value; None: the first setting of the shown workload, which is the batch of a training."""
        session = self.session
        if session is None:
            return
        if varied is None and self._workload == session.workload:
            return
        if self._workload != session.workload:
            self.job.cancel()
            self._clear()
        self._workload = session.workload
        known = sweep.of_workload(session.design, session.workload)
        if varied is not None and varied.path not in [v.path for v in known]:
            if varied.path.startswith("workloads."):
                varied = None
            else:
                known = (varied, *known)
        self.first.fill(known, varied)
        self.second.fill(known, None)
        self._offer_metrics(session)

    def _offer_metrics(self, session: Session) -> None:
        self._metrics.let_go()
        self.metrics = {}
        offered = sweep.metrics_of(session.design, session.workload)
        chosen = sweep.first_metrics([name for name, _, _ in offered])
        order = {name: k for k, name in enumerate(chosen)}
        for name, title, means in sorted(offered, key=lambda known: order.get(known[0], len(order))):
            box = self.metrics[name] = QCheckBox(title)
            box.setToolTip(plain(means))
            box.setChecked(name in chosen)
        self._metrics.put(Wrap(*self.metrics.values(), spacing=10))

    def _clear(self) -> None:
        self.task, self.rows = None, []
        if self.plots is not None:
            self.plots.set_view(None, fresh=True)
            self.plots.hide()
        self.way_page.hide()
        self._enable()

    # ---- running

    def run(self) -> None:
        """Run the sweep; what runs already is stopped."""

        session = self.session
        if session is None:
            return
        asked = [row for row in (self.first, self.second) if row.varied is not None]
        try:
            variables = [make_variable(row.varied.path, row.values()) for row in asked if row.varied]
            metrics = [name for name, box in self.metrics.items() if box.isChecked()]
            if not metrics:
                raise DesignerError("no answer is asked for", remedy="choose one behind Answers")
            runs = grid(variables)
            if len(runs) > RUNS_LIMIT:
                raise DesignerError(f"{len(runs):,} runs", remedy=f"at most {RUNS_LIMIT:,} here; more in a terminal")
            task = make_task(session.design, session.workload, [v.path for v in variables], metrics, overridden)
        except DesignerError as error:
            self.job.refuse(error)
            return
        self._make_plots().set_view(None, fresh=True)
        self.task, self.rows, self._count = task, [], len(runs)
        self._titles = tuple(row.varied.title for row in asked if row.varied)
        self._follow()

        def job(cancelled: Cancelled_) -> object:
            from designer.decisions.sweep import rows_of

            for row in rows_of(task, runs, jobs=1, cancelled=cancelled):
                self.job.call(partial(self._arrived, task, row))
            return None

        self.job.progress.setRange(0, len(runs))
        self.job.begin(job, f"0 of {len(runs):,} runs")
        self._enable()

    def _make_plots(self) -> SweepPlots:
        """The plots, and the slider that goes from run to run; made at the first run."""
        if self.plots is None:
            from designer.gui.figures.sweep_plot import SweepPlots

            self.plots = SweepPlots(self._theme)
            self._lines.insertWidget(self._lines.indexOf(self.way_page), self.plots)
            self.slider = MarkedSlider()
            self.slider.setAccessibleName("Run looked at")
            self.slider.setToolTip("Go from run to run; marks are where the bottleneck changes")
            self.slider.valueChanged.connect(self._look)
            self._way_line.addWidget(self.slider, 1)
        self.plots.setFixedHeight(_HIGH)
        self.plots.show()
        return self.plots

    def _halted(self) -> None:
        """Stopped: the runs that have come stay."""
        self._end(f"Stopped after {len(self.rows):,} of {self._count:,} runs.")

    def _arrived(self, task: Task, row: Row) -> None:
        if task is not self.task or not self.job.busy:
            return
        self.rows.append(row)
        self.job.progress.setValue(len(self.rows))
        self.job.state.setText(f"{len(self.rows):,} of {self._count:,} runs")
        if not self._timer.isActive():
            self._timer.start()

    def _done(self, _result: object) -> None:
        self._end(f"{len(self.rows):,} runs")

    def _end(self, text: str) -> None:
        self.job.end(text)
        self._timer.stop()
        self._draw()
        self._enable()

    def _draw(self) -> None:
        if self.task is not None and self.plots is not None:
            self.plots.set_view(sweep.view(self.task, self.rows, self._titles))
            self._follow()

    def _enable(self) -> None:
        self.below.setVisible(bool(self.rows) or self.task is not None)
        for button in (self.whole, self.apart, self.save):
            button.setEnabled(bool(self.rows))

    def outdate(self) -> None:
        """The design has changed: the runs are about the one before."""
        if self.rows and not self.job.busy:
            self.job.state.setText("The design has changed since: run it again to follow.")

    # ---- from run to run

    @property
    def run_looked_at(self) -> Row | None:
        """The run the slider is at."""
        at = self.slider.value() if self.slider is not None else -1
        return self.way.rows[at] if 0 <= at < len(self.way.rows) else None

    def _follow(self, *_: object) -> None:
        """The way of the slider, for the rows there are; it stays at its run."""
        if self.task is None or self.slider is None:
            return
        kept = self.run_looked_at
        self.best.setVisible(has_frontier(self.task))
        self.way = along(self.task, self.rows, self.best.isChecked())
        self.way_page.setVisible(len(self.way.rows) > 1)
        self.slider.blockSignals(True)
        self.slider.setRange(0, max(0, len(self.way.rows) - 1))
        numbers = [row.number for row in self.way.rows]
        self.slider.setValue(numbers.index(kept.number) if kept is not None and kept.number in numbers else 0)
        self.slider.blockSignals(False)
        self.slider.set_marks(self.way.breaks, self._theme.bad)
        self._look()

    def _look(self, *_: object) -> None:
        """Show the run the slider is at."""
        row, task = self.run_looked_at, self.task
        if row is None or task is None or self.plots is None:
            self.cards.show_changes((), self._theme)
            return
        self.cards.show_changes((run_change(task, row, self._titles),), self._theme)
        view = self.plots.view
        places = {text: at for at, text in view.places} if view is not None else {}
        self.plots.point_at(places.get(row.settings[0]))

    def _apply(self, change: Change) -> None:
        """Put the values of the run looked at into the design, as one step."""
        if self.session is not None:
            apply_change(self.session, change)

    # ---- what comes of it

    def _whole(self) -> None:
        if self.plots is not None:
            self.plots.show_all()

    def pop_out(self) -> QWidget:
        """The plots as they are now, in a window of their own."""
        from designer.gui.figures.sweep_plot import SweepPlots

        page = QWidget(self, Qt.WindowType.Window)
        page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        plots = SweepPlots(self._theme)
        in_column(plots, on=page, margins=(6, 6, 6, 6))
        if self.plots is not None:
            page.setWindowTitle(self.plots.accessibleName())
            plots.set_view(self.plots.view, fresh=True)
        page.resize(760, 560)
        page.show()
        return page

    def csv(self) -> str:
        """The rows as CSV."""

        return to_csv(self.task, self.rows) if self.task is not None else ""

    def _ask_save(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Save rows", "sweep.csv", "CSV (*.csv)")
        if name:
            try:
                atomic.write(name, self.csv().encode())
            except WriteError as error:
                self.job.refuse(error)

    def copy_command(self) -> None:
        """Put the command that does the same on the clipboard."""
        if self.session is None:
            return
        asked = [(row.varied.path, row.values()) for row in (self.first, self.second) if row.varied is not None]
        metrics = [name for name, box in self.metrics.items() if box.isChecked()]
        file = str(self.session.file or "FILE.design.json")
        QGuiApplication.clipboard().setText(sweep.command_line(file, self.session.workload, asked, metrics))
        self.job.state.setText("The command is on the clipboard.")

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        if self.plots is not None:
            self.plots.set_theme(theme)

    def close_jobs(self) -> None:
        """Stop what runs, for good."""
        self._timer.stop()
        self.job.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc stops what runs first."""
        if not self.job.stopped_by(event):
            super().keyPressEvent(event)
