"""Two designs side by side: the open one against another open document, a file, or itself as it was saved."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QPushButton, QSizePolicy, QStackedWidget, QWidget

from designer.analysis.study import analyze
from designer.decisions.comparing import compare as compare_designs
from designer.design.document import Design
from designer.gui.controls import ChoiceBox, Label, MarkedLabel
from designer.gui.layouts import FLUSH, in_column, in_row
from designer.gui.panels._panel import Other, Panel, PanelKind, Place
from designer.gui.panels._widgets import Table
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import compare
from designer.gui.viewmodels.compare import pictures
from designer.gui.workers import Cancelled_, Newest
from designer.plain_text import shortened

#: how far titles of lines give way: beside them both designs fit into the narrowest panel
_SHRINK: Final = 0.3


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
        heads = compare.columns("This design", "The other")
        self.table = Table(heads, theme, "Comparison of two designs", shrink=_SHRINK, wrap=True, spare=True)
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
        self.connect_signal(session.workload_changed, self.outdate)

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
            session.workload,
        )
        self.table.lines.set_lines(rows, heads)
        self._draw()


PANEL = PanelKind("compare", "Compare", Place.IMPROVE, 30, lambda s: ComparePanel(s.theme, s.others))

# Two pictures next to each other, as large as the room allows, with a word about what is lit.


class Pane(QWidget):
    """A picture, scaled down to fit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.picture = QImage()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        """The size it asks for."""
        return QSize(320, 200)

    def place(self) -> QRectF:
        """Where the picture is painted."""
        size = self.picture.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        if size.width() > self.picture.width():
            size = self.picture.size()
        left, top = (self.width() - size.width()) / 2, (self.height() - size.height()) / 2
        return QRectF(left, top, size.width(), size.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint it."""
        if self.picture.isNull():
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            ratio, place = self.devicePixelRatioF(), self.place()
            # scaled by itself first: a painter takes few of the points and loses thin lines
            small = self.picture.scaled(
                round(place.width() * ratio),
                round(place.height() * ratio),
                Qt.AspectRatioMode.KeepAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
            painter.drawImage(place, small)


class PicturePair(QWidget):
    """Two panes with titles."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.titles, self.panes = (MarkedLabel(), MarkedLabel()), (Pane(), Pane())
        self.state = Label(role="muted")
        self.state.setAlignment(Qt.AlignmentFlag.AlignCenter)
        grid = QGridLayout(self)
        grid.setContentsMargins(10, 2, 10, 6)
        grid.setSpacing(6)
        for column, (title, pane) in enumerate(zip(self.titles, self.panes, strict=True)):
            title.setWordWrap(True)
            grid.addWidget(title, 0, column)
            grid.addWidget(pane, 1, column)
            grid.setColumnStretch(column, 1)
        grid.setRowStretch(1, 1)
        grid.addWidget(self.state, 2, 0, 1, 2)
        self.show_nothing()

    def set_titles(self, first: str, second: str, colours: tuple[str, str, str]) -> None:
        """Say which is which and what the colours mean; the pictures are on their way."""
        *own, changed = colours
        for label, title, colour, pane in zip(self.titles, (first, second), own, self.panes, strict=True):
            name = html.escape(shortened(title, 60))
            label.setText(
                f"<b>{name}</b> &nbsp; <span style='color:{colour}'>■</span> only here"
                f" &nbsp; <span style='color:{changed}'>■</span> other values"
            )
            pane.setAccessibleName(f"Drawing of {title}")
        self.state.setText("Drawing…")
        self.state.show()

    def set_pictures(self, first: bytes, second: bytes) -> None:
        """Show two PNG pictures."""
        for pane, data in zip(self.panes, (first, second), strict=True):
            pane.picture = QImage.fromData(data)
            pane.update()
        self.state.hide()

    def show_nothing(self) -> None:
        """There is nothing to compare with."""
        for label, pane in zip(self.titles, self.panes, strict=True):
            label.setText("")
            pane.picture = QImage()
            pane.update()
        self.state.setText("Choose what to compare with.")
        self.state.show()
