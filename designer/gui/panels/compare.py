"""Two designs side by side: the open one against another open document, a file, or itself as it was saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QComboBox, QPushButton, QStackedWidget, QWidget

from designer.design.document import Design
from designer.gui.controls import ChoiceBox
from designer.gui.figures.picture_pair import PicturePair
from designer.gui.layouts import FLUSH, in_column, in_row
from designer.gui.panels._panel import Other, Panel, PanelKind, Place
from designer.gui.panels._widgets import Table
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import compare
from designer.gui.workers import Cancelled_, Newest


class ComparePanel(Panel):
    """A chooser of what to compare with, and a table."""

    def __init__(self, theme: Theme, others: Callable[[], Sequence[Other]], parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._others = others
        self._known: list[Other] = []
        self._answer: tuple[object, object] | None = None
        self.chooser = ChoiceBox()
        self.chooser.setAccessibleName("Compare with")
        self.chooser.setToolTip("Compare with")
        self.chooser.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.chooser.setMinimumContentsLength(12)
        self.chooser.activated.connect(lambda: self._compare())
        self.table = Table(
            compare.columns("This design", "The other"), theme, "Comparison of two designs", wrap=True, spare=True
        )
        self.table.setSortingEnabled(False)
        head = in_row((self.chooser, 1), margins=(10, 8, 8, 2), spacing=8)
        self.pictured = QPushButton("Pictures")
        self.pictured.setCheckable(True)
        self.pictured.setToolTip("Both drawings side by side, with what differs highlighted")
        self.pictured.toggled.connect(self._turn)
        head.addWidget(self.pictured)
        self.pair = PicturePair()
        self._pages = QStackedWidget()
        self._pages.addWidget(self.table)
        self._pages.addWidget(self.pair)
        in_column(head, (self._pages, 1), on=self, margins=FLUSH, spacing=2)
        self._jobs, self._whys, self._drawings = Newest(self), Newest(self), Newest(self)
        self._jobs.finished.connect(self._arrived)
        self._whys.finished.connect(self._explained)
        self._drawings.finished.connect(self._arrived_pictures)
        self._other: Design | None = None
        #: the two designs the reasons and the drawings are about
        self._why_of: tuple[object, object] | None = None
        self._pictures_of: tuple[object, object, str] | None = None
        self._reasons: compare.Reasons | None = None

    def close_jobs(self) -> None:
        """Stop what runs."""
        for jobs in (self._jobs, self._whys, self._drawings):
            jobs.close()

    def _turn(self, *_: object) -> None:
        self._pages.setCurrentIndex(int(self.pictured.isChecked()))
        self._draw()

    def _explain(self) -> None:
        """Ask why the numbers moved, once for each two designs."""
        session, other = self.session, self._other
        if session is None or other is None or session.stale:
            return
        this = session.design
        if self._why_of is not None and self._why_of[0] is this and self._why_of[1] is other:
            return
        self._why_of, self._reasons = (this, other), None

        def job(cancelled: Cancelled_) -> object:
            from designer.decisions.comparing import compare as compare_designs

            return compare.reasons_of(compare_designs(this, other, 0, cancelled))

        self._whys.submit(job)

    def _explained(self, _ticket: int, result: object) -> None:
        # a workload that cannot be run explains nothing: its own message is in the findings
        self._reasons = {} if isinstance(result, Exception) else result  # type: ignore[assignment]
        self._show(self._answer[1] if self._answer is not None else None)

    def _draw(self) -> None:
        """Draw both, if they can be seen."""
        session, other = self.session, self._other
        if not self.pictured.isChecked():
            return
        if session is None or other is None:
            self.pair.show_nothing()
            return
        this, look = session.design, self.theme.name
        if self._pictures_of is not None and self._pictures_of[0] is this and self._pictures_of[1:] == (other, look):
            return
        self._pictures_of = (this, other, look)
        colours = (self.theme.bad, self.theme.good, self.theme.accent)
        self.pair.set_titles(session.title, self.chooser.currentText(), colours)

        def job(_cancelled: Cancelled_) -> object:
            from designer.gui.viewmodels.lit_pictures import pictures

            return pictures(this, other, look, colours)

        self._drawings.submit(job)

    def _arrived_pictures(self, _ticket: int, result: object) -> None:
        if isinstance(result, tuple):
            self.pair.set_pictures(*result)
        else:
            self.pair.show_nothing()

    def watch(self, session: Session) -> None:
        """Follow the analysis."""
        self.connect_signal(session.analysis_changed, self.outdate)

    def let_go(self) -> None:
        """Forget the other design and what was worked out about both."""
        for jobs in (self._jobs, self._whys, self._drawings):
            jobs.cancel()
        self._other = self._answer = self._why_of = self._pictures_of = self._reasons = None

    def refresh(self) -> None:
        """List what there is to compare with, and compare."""
        chosen = self.chooser.currentText()
        known = list(self._others())
        if [title for title, _ in known] != [title for title, _ in self._known]:
            self.chooser.clear()
            self.chooser.addItems([title for title, _ in known])
        self._known = known
        at = self.chooser.findText(chosen)
        self.chooser.setCurrentIndex(max(0, at) if self._known else -1)
        self.table.set_theme(self.theme)
        self._compare()

    def choose(self, title: str) -> None:
        """Compare with one of the others, by its title."""
        self.refresh()
        at = self.chooser.findText(title)
        if at >= 0:
            self.chooser.setCurrentIndex(at)
            self._compare()

    def _compare(self) -> None:
        session, at = self.session, self.chooser.currentIndex()
        self._other = self._known[at][1]() if session is not None and 0 <= at < len(self._known) else None
        if session is None or self._other is None:
            self.table.lines.set_lines([])
            self._draw()
            return
        other = self._other
        if self._answer is not None and self._answer[0] is other:
            # what still runs is about another choice
            self._jobs.cancel()
            self._show(self._answer[1])
            return

        def job(cancelled: Cancelled_) -> object:
            from designer.analysis.study import analyze

            return analyze(other, curves=False, cancelled=cancelled) if other.workloads else None

        self._show(None)
        self._jobs.submit(job)

    def _arrived(self, _ticket: int, result: object) -> None:
        answer = None if isinstance(result, Exception) else result
        # the other design stays as it is while this one is edited: its answer holds
        self._answer = (self._other, answer)
        self._show(answer)

    def _show(self, answer: object) -> None:
        session = self.session
        if session is None or self._other is None:
            return
        heads = compare.columns(session.title, self.chooser.currentText())
        self._explain()
        rows = compare.lines(
            session.design,
            self._other,
            session.analysis,
            answer,  # type: ignore[arg-type]
            self._reasons,
        )
        self.table.lines.set_lines(rows, heads)
        self._draw()


PANEL = PanelKind("compare", "Compare", Place.IMPROVE, 30, lambda s: ComparePanel(s.theme, s.others))
