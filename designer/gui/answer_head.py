"""The head of the side panel: which workload is shown, and the state of its answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QProgressBar,
    QSizePolicy,
    QStyle,
    QStyleOptionToolButton,
    QToolButton,
    QWidget,
)

from designer.gui.controls import ChoiceBox, plain
from designer.gui.layouts import in_column, in_row
from designer.gui.theme import Theme
from designer.gui.viewmodels.workloads import choices
from designer.present.blocks import State
from designer.units import format_quantity

if TYPE_CHECKING:
    from designer.gui.documents import Document

#: an analysis shows its progress after this [s]
_LONG: Final = 0.4
_ADD: Final = "+"


class Freshness(QToolButton):
    """State of the answer. Its colour changes twice with each edit, and a style sheet would cost far more."""

    def __init__(self) -> None:
        super().__init__()
        self.colour = ""
        self.setObjectName("freshness")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._state = ""
        self._detail = ""

    def show_state(self, state: str, detail: str = "") -> None:
        """Show a state, and how long it took where there is room for both."""
        self._state, self._detail = state, detail
        self._fit()

    def _fit(self) -> None:
        whole = f"{self._state}   {self._detail}" if self._detail else self._state
        self.setText(whole if self.fontMetrics().horizontalAdvance(whole) <= self.width() else self._state)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self._state), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        option.text = ""
        with QPainter(self) as painter:
            self.style().drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option, painter, self)
            painter.setPen(QColor(self.colour or self.palette().color(QPalette.ColorRole.ButtonText)))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self.text())


class AnswerHead(QWidget):
    """Follows one document at a time.

    Signals
    -------
    add_wanted
        A new workload is wanted.
    chosen
        Another workload was chosen: its answer is wanted.
    """

    add_wanted = Signal()
    chosen = Signal()

    def __init__(self, edit: QAction, run: Callable[[str], object], theme: Theme) -> None:
        super().__init__()
        self.setObjectName("panel")
        self.theme = theme
        self._document: Document | None = None
        self._connections: list[tuple[Any, Callable[..., object]]] = []
        self.chooser = ChoiceBox()
        self.chooser.setAccessibleName("Workload shown")
        self.chooser.setToolTip("Workload shown")
        self.chooser.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.chooser.setMinimumContentsLength(8)
        self.chooser.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.chooser.activated.connect(self._choose)
        button = QToolButton()
        button.setDefaultAction(edit)
        self.live = Freshness()
        self.live.setToolTip("State of the answer; click to compute it now (F5)")
        self.live.clicked.connect(partial(run, "analyze.run"))
        self.progress = QProgressBar()
        self.progress.setAccessibleName("Progress of the analysis")
        self.progress.setTextVisible(False)
        self.progress.setRange(0, 100)
        self.progress.setFixedWidth(90)
        self.progress.hide()
        self._busy_since = 0.0
        in_column(
            in_row((self.chooser, 1), button, spacing=4),
            in_row((self.live, 1), self.progress, spacing=4),
            on=self,
            margins=(14, 8, 10, 0),
            spacing=2,
        )

    def follow(self, document: Document | None) -> None:
        """Show the state of a document from now on."""
        for signal, slot in self._connections:
            signal.disconnect(slot)
        self._connections.clear()
        self._document = document
        if document is not None:
            session, live = document.session, document.live
            for signal, slot in (
                (session.design_changed, self._design_changed),
                (session.workload_changed, self.fill),
                (session.state_changed, self.freshness),
                (session.awaited_changed, self.freshness),
                (live.timed, self.freshness),
                (live.progressed, self.progressed),
                (live.busy_changed, self.busy),
            ):
                signal.connect(slot)
                self._connections.append((signal, slot))
            self.fill()
            self.freshness()
        self.busy(False)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.theme = theme
        self.freshness()

    def fill(self, *_: object) -> None:
        """List the workloads of the design."""

        if self._document is None:
            return
        session = self._document.session
        self.chooser.blockSignals(True)
        self.chooser.clear()
        for key, title in choices(session.design):
            self.chooser.addItem(title, key)
        if not self.chooser.count():
            self.chooser.addItem("No workload", "")
        self.chooser.insertSeparator(self.chooser.count())
        self.chooser.addItem("Add a workload…", _ADD)
        self.chooser.setCurrentIndex(max(0, self.chooser.findData(session.workload)))
        self.chooser.blockSignals(False)

    def freshness(self, *_: object) -> None:
        """Show the state of the answer."""
        if self._document is None:
            return
        session, live, colours = self._document.session, self._document.live, self.theme
        state = session.state
        detail = ""
        if state is State.NONE:
            text, colour = "no workload", colours.faint
        elif state is State.COMPUTING:
            text, colour = "computing", colours.accent
        elif state is State.STALE:
            text, colour = ("updating" if session.awaited else "out of date"), colours.warn
        elif state is State.REFUSED:
            text, colour = "no answer", colours.bad
        elif state is State.UNFIT:
            text, colour = "cannot run", colours.bad
        else:
            text, colour = "up to date", colours.good
            detail = format_quantity(live.took / 1e3, "duration")
        self.live.show_state(f"● {text}", detail)
        if colour != self.live.colour:
            self.live.colour = colour
            self.live.update()

    def progressed(self, share: float, what: str) -> None:
        """Show how far a long analysis is, and what it does to those who point at it."""
        self.progress.setValue(round(share * 100))
        self.progress.setToolTip(plain(f"{what} – Shift+F5 stops"))
        # a bar that only flashes disturbs
        if time.monotonic() - self._busy_since > _LONG:
            self.progress.setVisible(True)

    def busy(self, busy: bool) -> None:
        """An analysis has begun or is over."""
        self._busy_since = time.monotonic()
        if not busy:
            self.progress.setVisible(False)

    def _design_changed(self, changes: Any) -> None:
        if changes["workloads"] or "default_workload" in changes.properties:
            self.fill()

    def _choose(self, at: int) -> None:
        key = str(self.chooser.itemData(at) or "")
        if self._document is None:
            return
        if key == _ADD:
            self.fill()
            self.add_wanted.emit()
        elif key:
            self._document.session.set_workload(key)
            self.chosen.emit()
