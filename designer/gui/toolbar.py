"""The toolbar: tools, the workload shown, how fresh its numbers are, findings, progress and a hint."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QPainter, QPaintEvent, QPalette, QShowEvent
from PySide6.QtWidgets import (
    QProgressBar,
    QSizePolicy,
    QStyle,
    QStyleOptionToolButton,
    QToolBar,
    QToolButton,
    QWidget,
)

from designer.gui import icons
from designer.gui.controls import ChoiceBox, plain
from designer.gui.theme import Theme
from designer.gui.viewmodels.answer_state import AnswerState
from designer.units import format_quantity

if TYPE_CHECKING:
    from designer.gui.documents import Document

_ACTIONS: Final = (
    "edit.undo",
    "edit.redo",
    "",
    "view.fit",
    "",
)
#: an analysis shows its progress after this [s]
_LONG: Final = 0.4
_ADD: Final = "+"
#: room beside the hint [px]
_AIR: Final = 8


class SteadyButton(QToolButton):
    """A button whose extent does not depend on what it says just now: an edit changes the texts of some, and a button
    of another extent makes the window lay out all its docks anew.

    Parameters
    ----------
    action
        What it does; none for a button of one's own.
    widest
        The widest text it has room for; without one it is as large as its icon.
    """

    def __init__(self, action: QAction | None = None, widest: str = "") -> None:
        super().__init__()
        self._widest = widest
        if action is not None:
            self.setDefaultAction(action)
            self.setAutoRaise(True)

    def _steady(self) -> None:
        extent = self.sizeHint()
        if self._widest:
            metrics = self.fontMetrics()
            more = metrics.horizontalAdvance(self._widest) - metrics.horizontalAdvance(self.text())
            extent += QSize(more, 0)
        self.setFixedSize(extent)

    def showEvent(self, event: QShowEvent) -> None:
        self._steady()
        super().showEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._steady()


class Freshness(SteadyButton):
    """How fresh the numbers are. Its colour changes twice with each edit, and a style sheet would cost far more."""

    def __init__(self) -> None:
        super().__init__(widest="● up to date   888.8 ms")
        self.colour = ""

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        option.text = ""
        with QPainter(self) as painter:
            self.style().drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option, painter, self)
            painter.setPen(QColor(self.colour or self.palette().color(QPalette.ColorRole.ButtonText)))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())


class Hint(QWidget):
    """What can be done now, in the room the buttons leave; a text that has none is shortened, its tip tells all."""

    def __init__(self) -> None:
        super().__init__()
        self._text = ""
        # a tool bar gives what is left only to those that want to expand; a label would also ask for its whole text
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(0)

    def text(self) -> str:
        """The whole text."""
        return self._text

    def setText(self, text: str) -> None:
        """Show another text."""
        self._text = text
        self.setToolTip(plain(text))
        self.setAccessibleName(text)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(0, self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        room = self.rect().adjusted(_AIR, 0, -_AIR, 0)
        shown = self.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideRight, room.width())
        with QPainter(self) as painter:
            painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
            painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, shown)


class ToolBar(QToolBar):
    """Follows one document at a time."""

    #: somebody wants to draw up a new workload
    add_wanted = Signal()

    def __init__(self, actions: Mapping[str, QAction], run: Callable[[str], object], theme: Theme) -> None:
        super().__init__("Tools")
        self.theme = theme
        self.setObjectName("tools")
        self.setMovable(False)
        self.setIconSize(self.iconSize() * 0.75)
        self._document: Document | None = None
        self._connections: list[tuple[Any, Callable[..., object]]] = []
        for action_id in _ACTIONS:
            if action_id:
                self._add(actions[action_id])
            else:
                self.addSeparator()
        self.chooser = ChoiceBox()
        self.chooser.setAccessibleName("Workload shown")
        self.chooser.setToolTip("Workload shown")
        self.chooser.setMinimumWidth(280)
        self.chooser.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.chooser.activated.connect(self._choose)
        self.addWidget(self.chooser)
        self._add(actions["analyze.edit"])
        self.live = Freshness()
        self.live.setToolTip("How fresh the numbers are; click to analyze now")
        self.live.clicked.connect(partial(run, "analyze.run"))
        self._counted: tuple[int, str, Theme] | None = None
        self.findings = QToolButton()
        self.findings.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.hint = Hint()
        self.addSeparator()
        self.addWidget(self.live)
        self.addWidget(self.findings)
        self.progress = QProgressBar()
        self.progress.setAccessibleName("Progress of the analysis")
        self.progress.setTextVisible(False)
        self.progress.setRange(0, 100)
        self.progress.setFixedWidth(90)
        self._progress = self.addWidget(self.progress)
        self._progress.setVisible(False)
        self._busy_since = 0.0
        self.addWidget(self.hint)

    def _add(self, action: QAction) -> None:
        button = SteadyButton(action)
        button.setIconSize(self.iconSize())
        self.addWidget(button)

    def add_tools(self, actions: Sequence[QAction]) -> None:
        """Put tools in front; the first document brings them."""
        first = self.actions()[0]
        for action in actions:
            button = SteadyButton(action)
            button.setIconSize(self.iconSize())
            self.insertWidget(first, button)
        self.insertSeparator(first)

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
        from designer.gui.viewmodels.workloads import choices

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
        """Tell how fresh the numbers are."""
        if self._document is None:
            return
        session, live, colours = self._document.session, self._document.live, self.theme
        state = session.state
        text, colour = f"up to date   {format_quantity(live.took / 1e3, 'duration')}", colours.good
        if state is AnswerState.NONE:
            text, colour = "no workload", colours.faint
        elif state is AnswerState.COMPUTING:
            text, colour = "computing", colours.accent
        elif state is AnswerState.STALE:
            text, colour = ("updating" if session.awaited else "out of date"), colours.warn
        elif state is AnswerState.REFUSED:
            text, colour = "no answer", colours.bad
        elif state is AnswerState.UNFIT:
            text, colour = "cannot run", colours.bad
        self.live.setText(f"● {text}")
        if colour != self.live.colour:
            self.live.colour = colour
            self.live.update()

    def progressed(self, share: float, what: str) -> None:
        """How far a long analysis is; what it is at, for those who point at it."""
        self.progress.setValue(round(share * 100))
        self.progress.setToolTip(plain(f"{what} – Shift+F5 stops"))
        # a bar that only flashes disturbs
        if time.monotonic() - self._busy_since > _LONG:
            self._progress.setVisible(True)

    def busy(self, busy: bool) -> None:
        """An analysis has begun or is over."""
        self._busy_since = time.monotonic()
        if not busy:
            self._progress.setVisible(False)

    def count(self, count: int, text: str, errors: bool = False) -> None:
        """How many findings there are, in the colour of the worst."""
        computing = self._document is not None and self._document.session.state is AnswerState.COMPUTING
        text = "not known yet" if computing and not count else text
        if (count, text, self.theme) == self._counted:
            return
        if self._counted is None or self._counted[2] != self.theme:
            # room for three digits: rules answer after an edit, and another width would lay the window out anew
            self.findings.setIcon(icons.icon("warning", self.theme.warn))
            self.findings.setText("999")
            self.findings.setFixedSize(self.findings.sizeHint())
        self._counted = (count, text, self.theme)
        self.findings.setText(str(count) if count else "")
        icon, colour = ("warning", self.theme.warn) if count else ("check", self.theme.good)
        if errors:
            icon, colour = "error", self.theme.bad
        elif not count and computing:
            colour = self.theme.faint
        self.findings.setIcon(icons.icon(icon, colour))
        self.findings.setToolTip(plain(f"Findings: {text}"))
        self.findings.setAccessibleName(f"Findings: {text}")

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
