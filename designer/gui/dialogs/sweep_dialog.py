"""Sweep a value: what a workload does while one or two values vary, run beside the window and drawn as it comes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from designer import atomic
from designer.errors import Cancelled, DesignerError, WriteError
from designer.gui.completing import CompletedChoice
from designer.gui.controls import Button, ChoiceBox, Label, plain
from designer.gui.dialogs._search_dialog import SearchDialog
from designer.gui.figures.marked_slider import MarkedSlider
from designer.gui.figures.sweep_plot import SweepPlots
from designer.gui.layouts import FLUSH, in_column, in_row, scrolled
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import sweep, workloads
from designer.gui.viewmodels.along import Along, along, has_frontier, run_text
from designer.gui.viewmodels.sweep import Varied
from designer.gui.workers import Cancelled_

if TYPE_CHECKING:
    from designer.decisions.answers import Row, Task

#: rows are drawn together if they come this close [ms]
_DRAW: Final = 120
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
        self.value.setMinimumContentsLength(16)
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
        """Words that are no value do not stay: what stands there is what varies."""
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


class SweepDialog(SearchDialog):
    """The sweep of a document; stays open beside the window.

    Parameters
    ----------
    varied
        The value asked about; None: the first setting of the workload shown, which is the batch of a training.
    """

    def __init__(self, session: Session, theme: Theme, varied: Varied | None, parent: QWidget | None = None) -> None:  # noqa: PLR0915
        super().__init__("Sweep", "Run", parent)
        self.session, self._theme = session, theme
        self.task: Task | None = None
        self.rows: list[Row] = []
        self._titles: tuple[str, ...] = ()
        self._count = 0
        self._timer = QTimer(self, singleShot=True, interval=_DRAW)
        self._timer.timeout.connect(self._draw)
        self.workload = ChoiceBox()
        self.workload.setAccessibleName("Workload")
        self.workload.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.workload.setMinimumContentsLength(16)
        self.first, self.second = ValueRow("Vary", False), ValueRow("And", True)
        self.metrics: dict[str, QCheckBox] = {}
        self._metric_page = QWidget()
        self._metric_page.setObjectName("panel")
        around, self._metric_lines = QVBoxLayout(self._metric_page), QVBoxLayout()
        around.setContentsMargins(8, 6, 8, 6)
        around.addLayout(self._metric_lines)
        around.addStretch(1)
        area = scrolled(self._metric_page)
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.addRow("Workload", self.workload)
        form.addRow("Vary", self.first)
        form.addRow("And", self.second)
        side = QWidget()
        in_column(
            form,
            Label("Answers"),
            (area, 1),
            self.problem,
            self.buttons,
            self.progress,
            self.state,
            on=side,
            margins=(14, 12, 10, 12),
            spacing=8,
        )
        self.plots = SweepPlots(theme)
        self.whole, self.apart = QPushButton("Show all"), QPushButton("Own window")
        self.save, self.command = QPushButton("Save CSV…"), QPushButton("Copy command")
        self.whole.setToolTip("Back from any zoom; a double click does the same. The wheel zooms, dragging moves.")
        self.apart.setToolTip("Keep these plots in a window of their own")
        self.command.setToolTip("The same sweep as a command for a terminal")
        below = in_row(1, margins=(8, 0, 10, 10))
        for button in (self.whole, self.apart, self.command, self.save):
            button.setAutoDefault(False)
            below.addWidget(button)
        shown = QWidget()
        in_column((self.plots, 1), self._make_way(), below, on=shown, margins=FLUSH)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(side)
        split.addWidget(shown)
        split.setStretchFactor(1, 1)
        split.setSizes([300, 620])
        in_column(split, on=self, margins=FLUSH)
        self.resize(940, 600)
        self.whole.clicked.connect(self.plots.show_all)
        self.apart.clicked.connect(self.pop_out)
        self.save.clicked.connect(self._ask_save)
        self.command.clicked.connect(self.copy_command)
        for text in (self.first.range, self.second.range):
            text.returnPressed.connect(self.run)
        self.workload.activated.connect(lambda: self._fill(self.first.varied))
        session.design_changed.connect(self._outdated)
        for name, title in workloads.choices(session.design):
            self.workload.addItem(title, name)
        at = self.workload.findData(session.workload)
        self.workload.setCurrentIndex(max(at, 0))
        self._fill(varied)
        self._enable()

    def _make_way(self) -> QWidget:
        """The slider that goes from run to run."""
        self.way = Along()
        self.slider = MarkedSlider()
        self.slider.setAccessibleName("Run looked at")
        self.slider.setToolTip("Go from run to run; marks tell where the bottleneck becomes another")
        self.best = QCheckBox("Frontier only")
        self.best.setToolTip("Only runs that no other run beats in both of the first two answers")
        self.use = Button("Use these values", tip="Put the values of this run into the design; undo takes them back")
        self.use.setAutoDefault(False)
        self.looked = Label(wrap=True)
        self.looked.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self.looked.setAlignment(Qt.AlignmentFlag.AlignTop)
        line = in_row(self.best, (self.slider, 1), self.use, spacing=10)
        self.way_page = QWidget()
        in_column(line, self.looked, on=self.way_page, margins=(8, 0, 10, 0), spacing=4)
        self.way_page.hide()
        self.slider.valueChanged.connect(self._look)
        self.best.toggled.connect(self._follow)
        self.use.clicked.connect(self._take)
        return self.way_page

    # ---- going along

    @property
    def run_looked_at(self) -> Row | None:
        """The run the slider stands at."""
        at = self.slider.value()
        return self.way.rows[at] if 0 <= at < len(self.way.rows) else None

    def _follow(self, *_: object) -> None:
        """The way of the slider, for the rows there are; it stays at its run."""
        if self.task is None:
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
        """Show the run the slider stands at."""
        row, task = self.run_looked_at, self.task
        if row is None or task is None:
            self.looked.setText("")
            self.plots.point_at(None)
            return
        self.looked.setText(run_text(task, row, self._titles))
        view = self.plots.view
        places = {text: at for at, text in view.places} if view is not None else {}
        self.plots.point_at(places.get(row.settings[0]))

    def _take(self) -> None:
        """Put the values of the run looked at into the design."""
        from designer.design.edits.replace import Replace
        from designer.interchange.overrides import overridden

        row, task = self.run_looked_at, self.task
        if row is None or task is None:
            return
        try:
            values = [f"{path}={value}" for path, value in zip(task.paths, row.settings, strict=True)]
            design = overridden(self.session.design, values)
        except DesignerError as error:
            self._refuse(error)
            return
        with self.session.transaction(f"Take {', '.join(row.settings)} from the sweep"):
            self.session.apply(Replace(design))

    # ---- what is asked

    @property
    def workload_id(self) -> str:
        """The workload asked."""
        return str(self.workload.currentData() or "")

    def ask(self, varied: Varied | None) -> None:
        """Ask about another value."""
        self._fill(varied)

    def _fill(self, varied: Varied | None) -> None:
        known = sweep.of_workload(self.session.design, self.workload_id)
        if varied is not None and varied.path not in [v.path for v in known]:
            if varied.path.startswith("workloads."):
                varied = None
            else:
                known = (varied, *known)
        self.first.fill(known, varied)
        self.second.fill(known, None)
        for box in self.metrics.values():
            self._metric_lines.removeWidget(box)
            box.hide()
            box.deleteLater()
        self.metrics = {}
        offered = sweep.metrics_of(self.session.design, self.workload_id)
        chosen = sweep.first_metrics([name for name, _, _ in offered])
        order = {name: k for k, name in enumerate(chosen)}
        for name, title, means in sorted(offered, key=lambda known: order.get(known[0], len(order))):
            box = self.metrics[name] = QCheckBox(title)
            box.setToolTip(plain(means))
            box.setChecked(name in chosen)
            self._metric_lines.addWidget(box)

    # ---- running

    def run(self) -> None:
        """Run the sweep; what runs already is stopped."""
        from designer.decisions.answers import make_task
        from designer.decisions.runs import grid
        from designer.decisions.variables import make_variable
        from designer.interchange.overrides import overridden

        self.problem.hide()
        asked = [row for row in (self.first, self.second) if row.varied is not None]
        try:
            variables = [make_variable(row.varied.path, row.values()) for row in asked if row.varied]
            metrics = [name for name, box in self.metrics.items() if box.isChecked()]
            if not metrics:
                raise DesignerError("no answer is asked for", remedy="choose one below Answers")
            runs = grid(variables)
            if len(runs) > RUNS_LIMIT:
                raise DesignerError(f"{len(runs):,} runs", remedy=f"at most {RUNS_LIMIT:,} here; more in a terminal")
            task = make_task(self.session.design, self.workload_id, [v.path for v in variables], metrics, overridden)
        except DesignerError as error:
            self._refuse(error)
            return
        self.task, self.rows, self._count = task, [], len(runs)
        self._titles = tuple(row.varied.title for row in asked if row.varied)
        self.plots.set_view(None, fresh=True)
        self._follow()

        def job(cancelled: Cancelled_) -> object:
            from designer.decisions.sweep import rows_of

            for row in rows_of(task, runs, jobs=1, cancelled=cancelled):
                self._jobs.call(partial(self._arrived, task, row))
            return None

        self._ticket = self._jobs.submit(job)
        self.progress.setRange(0, len(runs))
        self.progress.setValue(0)
        self.state.setText(f"0 of {len(runs):,} runs")
        self.stop.setEnabled(True)
        self._enable()

    def halt(self) -> None:
        """Stop; what has come stays."""
        self._jobs.cancel()
        self._end(f"Stopped after {len(self.rows):,} of {self._count:,} runs.")

    def _arrived(self, task: Task, row: Row) -> None:
        if task is not self.task or not self.busy:
            return
        self.rows.append(row)
        self.progress.setValue(len(self.rows))
        self.state.setText(f"{len(self.rows):,} of {self._count:,} runs")
        if not self._timer.isActive():
            self._timer.start()

    def _finished(self, ticket: int, result: object) -> None:
        if ticket != self._ticket:
            return
        if isinstance(result, Exception) and not isinstance(result, Cancelled):
            self._end("")
            self._refuse(result)
            return
        self._end(f"{len(self.rows):,} runs")

    def _end(self, text: str) -> None:
        self.stop.setEnabled(False)
        self.state.setText(text)
        self._timer.stop()
        self._draw()
        self._enable()

    def _draw(self) -> None:
        if self.task is not None:
            self.plots.set_view(sweep.view(self.task, self.rows, self._titles))
            self._follow()

    def _enable(self) -> None:
        for button in (self.whole, self.apart, self.save):
            button.setEnabled(bool(self.rows))

    def _outdated(self, changes: object) -> None:
        if self.rows and not self.busy and not getattr(changes, "only_placement", False):
            self.state.setText("The design has changed since: run it again to follow.")

    # ---- what comes of it

    def pop_out(self) -> QWidget:
        """The plots as they are now, in a window of their own."""
        page = QWidget(self, Qt.WindowType.Window)
        page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        plots = SweepPlots(self._theme)
        in_column(plots, on=page, margins=(6, 6, 6, 6))
        page.setWindowTitle(self.plots.accessibleName())
        page.resize(760, 560)
        plots.set_view(self.plots.view, fresh=True)
        page.show()
        return page

    def csv(self) -> str:
        """The rows as CSV."""
        from designer.decisions.row_files import to_csv

        return to_csv(self.task, self.rows) if self.task is not None else ""

    def _ask_save(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Save rows", "sweep.csv", "CSV (*.csv)")
        if name:
            try:
                atomic.write(name, self.csv().encode())
            except WriteError as error:
                self._refuse(error)

    def copy_command(self) -> None:
        """Put the command that does the same on the clipboard."""
        asked = [(row.varied.path, row.values()) for row in (self.first, self.second) if row.varied is not None]
        metrics = [name for name, box in self.metrics.items() if box.isChecked()]
        file = str(self.session.file or "FILE.design.json")
        QGuiApplication.clipboard().setText(sweep.command_line(file, self.workload_id, asked, metrics))
        self.state.setText("The command is on the clipboard.")

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        self.plots.set_theme(theme)

    def close_jobs(self) -> None:
        """Stop what runs, for good."""
        self._timer.stop()
        super().close_jobs()
